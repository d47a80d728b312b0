package story

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
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
	grace, unavailable, one := int64(5), intstr.FromString("50%"), int32(1)
	hook := func(w *world.Workload) { w.Hooks["web"] = world.Hook{Kind: "sleep", Why: "sleep 5"} }
	cut := func(w *world.Workload) {
		w.Hooks["web"] = world.Hook{Kind: "exec", Why: "sleep 9", Duration: engine.Constant(9 * sec)}
		w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
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
		{"a load balancer that is late", nil, elsewhere(ledger.StaleLB), "", ""},
		{"a load balancer that is late, and a hook that takes its time", hook, elsewhere(ledger.StaleLB), "", ""},
		{"a load balancer that is late, and a hook that the grace period cuts", cut, elsewhere(ledger.StaleLB), "preStop: sleep 9; terminationGracePeriodSeconds cuts it at 5 s", at + ".lifecycle.preStop"},
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
		{"killed", nil, ledger.Blame{Cause: ledger.KilledInFlight}, "terminationGracePeriodSeconds 30", "spec.template.spec.terminationGracePeriodSeconds"},
		{"killed early", func(w *world.Workload) { w.Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace }, ledger.Blame{Cause: ledger.KilledInFlight},
			"terminationGracePeriodSeconds 5", "spec.template.spec.terminationGracePeriodSeconds"},
		{"it ended", nil, ledger.Blame{Cause: ledger.ExitInFlight}, "the app does not finish its requests after SIGTERM", at},
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
