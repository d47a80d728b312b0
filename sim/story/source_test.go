package story

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// server makes a workload of three replicas with a sidecar before its server.
func server(edit func(*world.Workload)) *world.Workload {
	d := &appsv1.Deployment{}
	replicas, none, one := int32(3), intstr.FromInt32(0), intstr.FromInt32(1)
	d.Spec.Replicas = &replicas
	d.Spec.Strategy = appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &none},
	}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "sidecar", ReadinessProbe: &corev1.Probe{}}, {Name: "web"}}
	w := &world.Workload{Resource: d, Server: "web", Hooks: map[string]world.Hook{}}
	if edit != nil {
		edit(w)
	}
	return w
}

// What in the manifest a loss comes from depends on its cause, and on what stands there.
func TestWhatInTheManifestALossComesFrom(t *testing.T) {
	t.Parallel()
	const at = "spec.template.spec.containers[1]"
	elsewhere := func(c ledger.Cause) ledger.Blame { return ledger.Blame{Cause: c, Elsewhere: true} }
	grace, unavailable, one, none := int64(5), intstr.FromString("50%"), int32(1), int64(0)
	hook := func(w *world.Workload) { w.Hooks["web"] = world.Hook{Kind: "sleep", Why: "sleep 5"} }
	cut := func(w *world.Workload) {
		w.Hooks["web"] = world.Hook{Kind: "exec", Why: "sleep 9", Duration: engine.Constant(9 * sec)}
		w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	}
	atOnce := func(seconds engine.Time) func(*world.Workload) {
		return func(w *world.Workload) {
			w.Hooks["web"] = world.Hook{Kind: "exec", Why: fmt.Sprintf("sleep %d", seconds), Duration: engine.Constant(seconds * sec)}
			w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &none
		}
	}
	for _, c := range []struct {
		name       string
		edit       func(*world.Workload)
		blame      ledger.Blame
		what, path string
	}{
		{"stale rules", nil, elsewhere(ledger.StaleRules), "no preStop", at},
		{"stale rules, and a hook of another container", func(w *world.Workload) { w.Hooks["log"] = world.Hook{Kind: "sleep", Why: "sleep 5"} }, elsewhere(ledger.StaleRules),
			"no preStop of container web, which the Service leads to", at},
		{"stale rules, and a postStart hook of another container", func(w *world.Workload) { w.Hooks["log"] = world.Hook{After: world.PostStart{Why: "sleep 5"}} }, elsewhere(ledger.StaleRules),
			"no preStop", at},
		{"stale rules, and a hook", hook, elsewhere(ledger.StaleRules), "preStop: sleep 5", at + ".lifecycle.preStop"},
		{"stale rules, and a hook that the grace period cuts", cut, elsewhere(ledger.StaleRules), "preStop: sleep 9; terminationGracePeriodSeconds cuts it at 5 s", at + ".lifecycle.preStop"},
		{"stale rules, and a hook that the kubelet's least grace period cuts", atOnce(9), elsewhere(ledger.StaleRules),
			"preStop: sleep 9; terminationGracePeriodSeconds cuts it at 1 s, the least there is", at + ".lifecycle.preStop"},
		{"stale rules, and a hook as long as that", atOnce(1), elsewhere(ledger.StaleRules), "preStop: sleep 1", at + ".lifecycle.preStop"},
		{"a load balancer that is late", nil, elsewhere(ledger.StaleLB), "", ""},
		{"a load balancer that is late, and a hook that takes its time", hook, elsewhere(ledger.StaleLB), "", ""},
		{"a load balancer that is late, and a hook that the grace period cuts", cut, elsewhere(ledger.StaleLB), "preStop: sleep 9; terminationGracePeriodSeconds cuts it at 5 s", at + ".lifecycle.preStop"},
		{"stale rules, and a hook as long as the grace period", func(w *world.Workload) {
			w.Hooks["web"] = world.Hook{Kind: "exec", Why: "sleep 5", Duration: engine.Constant(5 * sec)}
			w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
		}, elsewhere(ledger.StaleRules), "preStop: sleep 5", at + ".lifecycle.preStop"},
		{"a load balancer that is late, and a hook that fails", func(w *world.Workload) {
			w.Hooks["web"] = world.Hook{Kind: "missing", Why: "there is no sleep: it fails at once"}
		}, elsewhere(ledger.StaleLB),
			"preStop: there is no sleep: it fails at once", at + ".lifecycle.preStop"},
		{"idle connections, and a hook", hook, elsewhere(ledger.KeepaliveRace), "preStop: sleep 5", at + ".lifecycle.preStop"},
		{"a listener that is closed, though others could answer", nil, elsewhere(ledger.ListenerClosed), "no preStop", at},
		{"a listener that is closed", nil, ledger.Blame{Cause: ledger.ListenerClosed}, "3 replicas", "spec.replicas"},
		{"no endpoint", nil, elsewhere(ledger.NoEndpoint), "3 replicas", "spec.replicas"},
		{"no endpoint, and one replica", func(w *world.Workload) { w.Deployment().Spec.Replicas = &one }, ledger.Blame{Cause: ledger.NoEndpoint}, "1 replica", "spec.replicas"},
		{"no endpoint, and the default of replicas", func(w *world.Workload) { w.Deployment().Spec.Replicas = nil }, ledger.Blame{Cause: ledger.NoEndpoint}, "1 replica", "spec.replicas"},
		{"no endpoint on the node", nil, ledger.Blame{Cause: ledger.NoLocalEndpoint}, "3 replicas", "spec.replicas"},
		{"no endpoint, and pods may be missing", func(w *world.Workload) { w.Deployment().Spec.Strategy.RollingUpdate.MaxUnavailable = &unavailable }, ledger.Blame{Cause: ledger.NoEndpoint},
			"maxUnavailable 50% of 3 replicas", "spec.strategy.rollingUpdate.maxUnavailable"},
		{"no endpoint, and Recreate", func(w *world.Workload) { w.Deployment().Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }, ledger.Blame{Cause: ledger.NoEndpoint},
			"strategy Recreate", "spec.strategy.type"},
		{"no endpoint, and an app that crashes", func(w *world.Workload) { w.App.CrashAfter = sec }, ledger.Blame{Cause: ledger.NoEndpoint}, "minReadySeconds 0", "spec.minReadySeconds"},
		{"no endpoint, and a new app that crashes", func(w *world.Workload) {
			w.Revisions = map[string]world.App{"new": {CrashAfter: sec}}
			w.Deployment().Spec.MinReadySeconds = 7
		}, ledger.Blame{Cause: ledger.ListenerClosed}, "minReadySeconds 7", "spec.minReadySeconds"},
		{"no endpoint, and no revision crashes", func(w *world.Workload) { w.Revisions = map[string]world.App{"new": {}} }, ledger.Blame{Cause: ledger.NoEndpoint}, "3 replicas", "spec.replicas"},
		{"no endpoint, and a volume that was late though any node may have it", nil, ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.VolumeAttach}, "3 replicas", "spec.replicas"},
		{"killed", nil, ledger.Blame{Cause: ledger.KilledInFlight}, "terminationGracePeriodSeconds 30", "spec.template.spec.terminationGracePeriodSeconds"},
		{"killed early", func(w *world.Workload) { w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace }, ledger.Blame{Cause: ledger.KilledInFlight},
			"terminationGracePeriodSeconds 5", "spec.template.spec.terminationGracePeriodSeconds"},
		{"it ended", nil, ledger.Blame{Cause: ledger.ExitInFlight}, "the app does not finish its requests after SIGTERM", at},
		{"it does not listen yet, and nobody asks it", func(w *world.Workload) {
			w.Container().ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
		}, ledger.Blame{Cause: ledger.NotListeningYet}, "a readinessProbe that does not ask the server", at + ".readinessProbe"},
		{"it does not listen yet", nil, ledger.Blame{Cause: ledger.NotListeningYet}, "no readinessProbe", at},
		{"it does not listen yet, and is asked", func(w *world.Workload) {
			w.Deployment().Spec.Template.Spec.Containers[1].ReadinessProbe = &corev1.Probe{}
		},
			ledger.Blame{Cause: ledger.NotListeningYet}, "readinessProbe", at + ".readinessProbe"},
		{"it was restarted", nil, ledger.Blame{Cause: ledger.LivenessRestart}, "livenessProbe", at + ".livenessProbe"},
		{"it crashed", nil, ledger.Blame{Cause: ledger.Crashed}, "minReadySeconds 0", "spec.minReadySeconds"},
		{"something of the cluster", nil, ledger.Blame{Cause: ledger.NodeGone}, "", ""},
		{"the first container serves", func(w *world.Workload) { w.Server = "" }, ledger.Blame{Cause: ledger.NotListeningYet}, "readinessProbe", "spec.template.spec.containers[0].readinessProbe"},
		{"a sidecar of the new kind serves", func(w *world.Workload) {
			spec := &w.Deployment().Spec.Template.Spec
			spec.InitContainers, spec.Containers = spec.Containers[1:], spec.Containers[:1]
		}, ledger.Blame{Cause: ledger.LivenessRestart}, "livenessProbe", "spec.template.spec.initContainers[0].livenessProbe"},
	} {
		if what, path := culprit(server(c.edit), c.blame, true); what != c.what || path != c.path {
			t.Errorf("%s: %q at %s, want %q at %s", c.name, what, path, c.what, c.path)
		}
	}
}

// An eviction, or a machine that goes, heeds no setting of a rollout: what leaves too few pods is how many there are.
func TestADrainIsNoRollout(t *testing.T) {
	t.Parallel()
	unavailable, none := intstr.FromInt32(1), intstr.FromInt32(0)
	w := server(func(w *world.Workload) {
		w.Deployment().Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: &unavailable, MaxSurge: &none}
	})
	b := ledger.Blame{Cause: ledger.ListenerClosed}
	if what, path := culprit(w, b, false); what != "3 replicas" || path != "spec.replicas" {
		t.Errorf("%q at %s", what, path)
	}
	if what, path := culprit(w, b, true); what != "maxUnavailable 1 of 3 replicas" {
		t.Errorf("of a rollout: %q at %s", what, path)
	}
}

// Where a pod that serves is not ready yet, the probe with the longest way to its second try is named; one that is asked often is none to blame.
func TestTheProbeBehindAPodThatIsNotReady(t *testing.T) {
	t.Parallel()
	const at = "spec.template.spec.containers[1]"
	b := ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.KubeletProbe}
	for _, x := range []struct {
		startup, readiness *corev1.Probe
		blame              ledger.Blame
		words, path        string
	}{
		{nil, &corev1.Probe{InitialDelaySeconds: 3, PeriodSeconds: 30}, b, "readinessProbe of initialDelaySeconds 3, periodSeconds 30", at + ".readinessProbe"},
		{nil, &corev1.Probe{PeriodSeconds: 10}, b, "readinessProbe of periodSeconds 10", at + ".readinessProbe"},
		{nil, &corev1.Probe{PeriodSeconds: 9}, b, "", ""},
		{nil, &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 5}, b, "readinessProbe of initialDelaySeconds 5, periodSeconds 5", at + ".readinessProbe"},
		{&corev1.Probe{InitialDelaySeconds: 30, PeriodSeconds: 10}, &corev1.Probe{PeriodSeconds: 10}, b, "startupProbe of initialDelaySeconds 30, periodSeconds 10", at + ".startupProbe"},
		{&corev1.Probe{PeriodSeconds: 9}, nil, b, "", ""},
		{&corev1.Probe{PeriodSeconds: 10}, nil, b, "startupProbe of periodSeconds 10", at + ".startupProbe"},
		{&corev1.Probe{PeriodSeconds: 1}, &corev1.Probe{PeriodSeconds: 10}, b, "readinessProbe of periodSeconds 10", at + ".readinessProbe"},
		{nil, nil, b, "", ""},
		{nil, &corev1.Probe{PeriodSeconds: 10}, ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.ProxyWait}, "", ""},
		{nil, &corev1.Probe{PeriodSeconds: 10}, ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.KubeletProbe}, "", ""},
	} {
		w := server(func(w *world.Workload) {
			c := &w.Deployment().Spec.Template.Spec.Containers[1]
			c.StartupProbe, c.ReadinessProbe = x.startup, x.readiness
		})
		if words, path := probeBehind(w, x.blame); words != x.words || path != x.path {
			t.Errorf("%+v, %+v: %q at %s, want %q at %s", x.startup, x.readiness, words, path, x.words, x.path)
		}
		if c, ok := CulpritOf(w, x.blame, true); ok && c.Probe != x.words {
			t.Errorf("%+v: %+v", x.readiness, c)
		}
	}
}

// A server that closes its port before its readiness probe has failed often enough is named with both numbers; its hook only begins it.
func TestTheArgumentByWhichAServerClosesUnseen(t *testing.T) {
	t.Parallel()
	b := ledger.Blame{Cause: ledger.ListenerClosed, Elsewhere: true}
	for grace, want := range map[engine.Time]string{20 * sec: "--shutdown-grace-period=20", 30 * sec: "no preStop"} { // order: each for itself
		w := server(func(w *world.Workload) {
			c := &w.Deployment().Spec.Template.Spec.Containers[1]
			c.Args = []string{"/nginx-ingress-controller", "--shutdown-grace-period=20"}
			c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 10, FailureThreshold: 3}
			w.App = world.App{Profile: "ingress-nginx", Listener: world.ListenerDrains, DrainFor: grace, ReadinessFails: true}
			w.Hooks = nil
		})
		c, _ := CulpritOf(w, b, true)
		if probed := c.Probe == "readinessProbe of periodSeconds 10, failureThreshold 3"; c.What != want || probed != (want != "no preStop") {
			t.Errorf("%v: %+v", grace, c)
		}
	}
}

// asked is a Deployment with everything that an event may come from, a field a line.
const asked = `apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: asked}
spec:
  traffic: [{name: inside, from: pods, to: "web:80", rate: 10/s}]
  actions:
  - {at: 5s, rolloutRestart: deployment/web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  progressDeadlineSeconds: 60
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 20
      readinessGates:
      - conditionType: example.com/a
      - conditionType: example.com/b
      volumes:
      - name: logs
        emptyDir: {}
      - name: data
        persistentVolumeClaim: {claimName: data}
      containers:
      - name: web
        image: nginx:1.29
        livenessProbe: {httpGet: {port: 8080}}
        readinessProbe: {httpGet: {port: 8080}}
        lifecycle:
          preStop: {exec: {command: [sleep, "5"]}}
      - name: log
        image: fluentd:1
        lifecycle:
          preStop: {exec: {command: [sleep, "6"]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`

// Behind an event stands the line that asks for it, of the file that has it, or none.
func TestWhichLineAsksForAnEvent(t *testing.T) {
	t.Parallel()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(asked)}}, manifest.Options{})
	list, more := scenario.Parse(objects, scenario.Options{})
	if len(list) != 1 || len(problems) > 0 || manifest.HasErrors(more) {
		t.Fatal(problems, more)
	}
	sc := list[0]
	plain := *sc
	plain.Workloads = slices.Clone(sc.Workloads)
	plain.Workloads[0].Hooks = nil
	pods := []cluster.PodRef{{ID: 0, Name: "default/web r0 0"}}
	of := func(container string) *corev1.Container { return &corev1.Container{Name: container} }
	for name, c := range map[string]struct {
		sc    *world.Scenario
		event event.Event
		line  int
	}{
		"an action":                            {sc, event.Event{Kind: event.Action, Pod: -1, Node: -1, Action: &sc.Actions[0]}, 7},
		"the deadline of a rollout":            {sc, event.Event{Kind: event.Deadline, Pod: -1, Node: -1}, 13},
		"a hook of the server":                 {sc, event.Event{Kind: event.PreStop, Node: -1, Container: of("web")}, 33},
		"a hook of another container":          {sc, event.Event{Kind: event.PreStop, Node: -1, Container: of("log")}, 37},
		"a hook that fails":                    {sc, event.Event{Kind: event.PreStopFailed, Node: -1, Container: of("log")}, 37},
		"SIGTERM after a hook":                 {sc, event.Event{Kind: event.Term, Node: -1}, 0},
		"SIGTERM at once":                      {&plain, event.Event{Kind: event.Term, Node: -1}, 28},
		"SIGKILL":                              {sc, event.Event{Kind: event.Kill, Node: -1}, 18},
		"a pod that is ready":                  {sc, event.Event{Kind: event.Ready, Node: -1}, 31},
		"a pod that is not":                    {sc, event.Event{Kind: event.NotReady, Node: -1}, 31},
		"a volume":                             {sc, event.Event{Kind: event.Volume, Node: -1}, 25},
		"a gate":                               {sc, event.Event{Kind: event.Gate, Node: -1, Gate: "example.com/b"}, 21},
		"a gate that stands nowhere":           {sc, event.Event{Kind: event.Gate, Node: -1, Gate: "example.com/c"}, 0},
		"an end by itself":                     {sc, event.Event{Kind: event.Ended, Node: -1}, 0},
		"an end by its livenessProbe":          {sc, event.Event{Kind: event.Ended, Node: -1, Ending: event.Liveness}, 30},
		"something that nothing asks for":      {sc, event.Event{Kind: event.Created, Node: -1}, 0},
		"something of a node, and of no pod":   {sc, event.Event{Kind: event.Wait, Pod: -1}, 0},
		"a pod that is ready, on a node of it": {sc, event.Event{Kind: event.Ready}, 31},
	} {
		want := ""
		if c.line > 0 {
			want = "in.yaml"
		}
		l := newNames(c.sc, pods).line(&c.event)
		if l.File != want || l.Line != c.line {
			t.Errorf("%s: %s:%d, want line %d", name, l.File, l.Line, c.line)
		}
	}
	plain.Workloads[0].Claims = nil
	if file, line := newNames(&plain, pods).source(&event.Event{Kind: event.Volume, Node: -1}); file != "" || line != 0 {
		t.Errorf("a volume of any node: %s:%d", file, line)
	}
}

// An event has the name of what it happened to: a pod, else a node, else a workload or what an action is for.
func TestWhatAnEventHappenedTo(t *testing.T) {
	t.Parallel()
	sc := handmade(t)
	names := newNames(sc, []cluster.PodRef{{ID: 0, Name: "default/web r0 0"}})
	for _, c := range []struct {
		event event.Event
		want  string
	}{
		{event.Event{Kind: event.Ready, Pod: 0, Node: 0}, "default/web r0 0"},
		{event.Event{Kind: event.Ready, Pod: 0, Node: -1}, "default/web r0 0"},
		{event.Event{Kind: event.Wait, Pod: -1, Node: 0}, sc.Nodes[0].Name},
		{event.Event{Kind: event.Wait, Pod: -1, Node: 1}, sc.Nodes[1].Name},
		{event.Event{Kind: event.Deadline, Pod: -1, Node: -1, Workload: 1}, sc.Workloads[1].Name()},
		{event.Event{Kind: event.NoHistory, Pod: -1, Node: -1, Workload: 1}, sc.Workloads[1].Name()},
		{event.Event{Kind: event.Action, Pod: -1, Node: -1, Action: &sc.Actions[0]}, sc.Actions[0].Target()},
		{event.Event{Kind: event.Resumed, Pod: -1, Node: -1}, ""},
	} {
		if got := names.object(&c.event); got != c.want {
			t.Errorf("%+v: %q, want %q", c.event, got, c.want)
		}
	}
}

// Behind a pod that says it is not ready while it accepts stands what has it say so, and the probe by which that counts.
func TestWhatHasAPodSayThatItIsNotReady(t *testing.T) {
	t.Parallel()
	probe := func(w *world.Workload) {
		w.Deployment().Spec.Template.Spec.Containers[1].ReadinessProbe = &corev1.Probe{PeriodSeconds: 3, FailureThreshold: 1}
	}
	for name, c := range map[string]struct { // order: each for itself
		edit        func(*world.Workload)
		what, probe string
	}{
		"its hook": {func(w *world.Workload) {
			probe(w)
			w.Hooks["web"] = world.Hook{Kind: "exec", Why: "Envoy's /healthcheck/fail", FailsReadiness: true}
		}, "preStop: Envoy's /healthcheck/fail", "readinessProbe of periodSeconds 3, failureThreshold 1"},
		"SIGTERM": {probe, "a readinessProbe that the server fails from SIGTERM on, of periodSeconds 3, failureThreshold 1", ""},
	} {
		got, ok := CulpritOf(server(c.edit), ledger.Blame{Cause: ledger.NoLocalEndpoint, Actor: ledger.App}, true)
		if !ok || got.What != c.what || got.Probe != c.probe {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A line is the same whichever probe stands beside it.
func TestTheSameLine(t *testing.T) {
	t.Parallel()
	c := Culprit{What: "3 replicas", Object: "shop/web", File: "in.yaml", Line: 7, Probe: "readinessProbe", ProbeFile: "in.yaml", ProbeLine: 9}
	for name, x := range map[string]struct {
		other Culprit
		want  bool
	}{
		"itself":        {c, true},
		"no probe":      {Culprit{What: c.What, Object: c.Object, File: c.File, Line: c.Line}, true},
		"another line":  {Culprit{What: c.What, Object: c.Object, File: c.File, Line: 8}, false},
		"another file":  {Culprit{What: c.What, Object: c.Object, File: "b.yaml", Line: c.Line}, false},
		"another thing": {Culprit{What: "2 replicas", Object: c.Object, File: c.File, Line: c.Line}, false},
	} {
		if got := c.Same(x.other); got != x.want || x.other.Same(c) != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
