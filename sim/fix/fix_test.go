package fix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// web is a manifest with holes for a test's own lines.
const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
STRATEGY
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
GRACE
      containers:
      - name: web
        image: nginx
        ports: [{containerPort: 8080}]
CONTAINER
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

// fill puts lines into the holes of web; holes without one go.
func fill(lines map[string]string) string {
	var out []string
	for _, l := range strings.Split(web, "\n") {
		if l == "STRATEGY" || l == "GRACE" || l == "CONTAINER" {
			if l = lines[l]; l == "" {
				continue
			}
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

func worldOf(t *testing.T, text string, opts scenario.Options) (*world.Scenario, *world.Workload) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := scenario.Infer(objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 1 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases[0].Scenario, cases[0].Scenario.Workload("shop/web")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const readiness = "        readinessProbe: {httpGet: {path: /, port: 8080}}\n"
	for name, c := range map[string]struct {
		lines   map[string]string
		version string
		late    engine.Time
		want    string // titles; one edit as "path@line: from -> to"
		edit    string
	}{
		"the usual manifest": {
			map[string]string{"CONTAINER": readiness}, "", 1300 * engine.Millisecond,
			"preStop: sleep 5|minReadySeconds: 3|terminationGracePeriodSeconds: 60",
			"spec.template.spec.containers[0].lifecycle.preStop@11:  -> {sleep: {seconds: 5}}",
		},
		"a removal that takes as long as a step has a second to spare": {
			map[string]string{"CONTAINER": readiness}, "", 2 * engine.Second,
			"preStop: sleep 5|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"a hook that is long enough stays": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {sleep: {seconds: 15}}}"}, "", engine.Second,
			"minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"a program that is not known stays, after the sleep: it may have the server stop accepting": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {exec: {command: [/bin/drain]}}}"}, "", engine.Second,
			"preStop: sleep 5 before its hook|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"what closes the listener comes after the sleep": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {exec: {command: [/wait-shutdown]}}}"}, "", engine.Second,
			"preStop: sleep 5 before its hook|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"what a hook does that is known not to end the server stays, with the sleep after it": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {exec: {command: [sh, -c, 'date >> /tmp/ends; sync']}}}"}, "", engine.Second,
			"preStop: sleep 5 after its hook|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"a request is made by a program after the sleep": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {httpGet: {path: /bye, port: 8080}}}"}, "", 3 * engine.Second,
			"preStop: sleep 5 before its hook (if the image has wget)|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"a sleep that is too short is named": {
			map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {sleep: {seconds: 1}}}"}, "", 3 * engine.Second,
			"preStop: sleep 5 instead of sleep 1|minReadySeconds: 3|terminationGracePeriodSeconds: 60", "",
		},
		"a grace period without room for it grows": {
			map[string]string{"CONTAINER": readiness, "GRACE": "      terminationGracePeriodSeconds: 10"}, "", 3 * engine.Second,
			"preStop: sleep 5, terminationGracePeriodSeconds: 15|minReadySeconds: 3|terminationGracePeriodSeconds: 60",
			"spec.template.spec.terminationGracePeriodSeconds@10: 10 -> 15",
		},
		"before 1.30 the hook needs a program": {
			map[string]string{"CONTAINER": readiness}, "1.29", engine.Second,
			"preStop: sleep 5|minReadySeconds: 3|terminationGracePeriodSeconds: 60",
			`spec.template.spec.containers[0].lifecycle.preStop@11:  -> {exec: {command: [sleep, "5"]}}`,
		},
		"pods that may be missing": {
			map[string]string{"CONTAINER": readiness, "STRATEGY": "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"}, "", engine.Second,
			"maxUnavailable: 0, maxSurge: 1 (needs room for one pod more)|preStop: sleep 5|minReadySeconds: 3|terminationGracePeriodSeconds: 60",
			"spec.strategy.rollingUpdate.maxUnavailable@6: 1 -> 0",
		},
		"strategy Recreate": {
			map[string]string{"CONTAINER": readiness, "STRATEGY": "  strategy: {type: Recreate}"}, "", engine.Second,
			"strategy RollingUpdate, maxUnavailable: 0|preStop: sleep 5|readinessProbe.periodSeconds: 1|terminationGracePeriodSeconds: 60",
			"spec.strategy.type@6: Recreate -> RollingUpdate",
		},
		"strategy Recreate, asked every second": {
			map[string]string{
				"CONTAINER": "        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}", "STRATEGY": "  strategy: {type: Recreate}",
			}, "", engine.Second,
			"strategy RollingUpdate, maxUnavailable: 0|preStop: sleep 5|terminationGracePeriodSeconds: 60", "",
		},
		"strategy Recreate, asked late": {
			map[string]string{
				"CONTAINER": "        readinessProbe: {httpGet: {path: /, port: 8080}, initialDelaySeconds: 10}", "STRATEGY": "  strategy: {type: Recreate}",
			}, "", engine.Second,
			"strategy RollingUpdate, maxUnavailable: 0|preStop: sleep 5|readinessProbe.periodSeconds: 1, initialDelaySeconds: 0|terminationGracePeriodSeconds: 60", "",
		},
		"strategy Recreate, asked late and every second": {
			map[string]string{
				"CONTAINER": "        readinessProbe: {httpGet: {path: /, port: 8080}, initialDelaySeconds: 10, periodSeconds: 1}", "STRATEGY": "  strategy: {type: Recreate}",
			}, "", engine.Second,
			"strategy RollingUpdate, maxUnavailable: 0|preStop: sleep 5|readinessProbe.initialDelaySeconds: 0|terminationGracePeriodSeconds: 60", "",
		},
		"all pods at once": {
			map[string]string{"CONTAINER": readiness, "STRATEGY": "  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 2}}"}, "", engine.Second,
			"maxUnavailable: 0|preStop: sleep 5|minReadySeconds: 3|readinessProbe.periodSeconds: 1|terminationGracePeriodSeconds: 60", "",
		},
		"no readiness probe, and a liveness probe": {
			map[string]string{"CONTAINER": "        livenessProbe: {tcpSocket: {port: 8080}}"}, "", engine.Second,
			"preStop: sleep 5|minReadySeconds: 3|readinessProbe on port 8080|startupProbe like the livenessProbe, 300 s|terminationGracePeriodSeconds: 60", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, w := worldOf(t, fill(c.lines), scenario.Options{KubernetesVersion: c.version})
			var titles []string
			found := c.edit == ""
			for _, change := range Changes(sc, w, c.late) {
				titles = append(titles, change.Title)
				for _, e := range change.Edits {
					found = found || c.edit == fmt.Sprintf("%s@%d: %s -> %s", e.Path, e.Line, e.From, e.To)
				}
				if after := Apply(sc, "shop/web", []Change{change}).Workload("shop/web"); cmp.Equal(after.Deployment(), w.Deployment()) {
					t.Errorf("%s changes nothing", change.Title)
				}
			}
			if got := strings.Join(titles, "|"); got != c.want {
				t.Errorf("changes\n%s, want\n%s", got, c.want)
			}
			if !found {
				t.Errorf("no edit %q", c.edit)
			}
		})
	}
}

// What is to be pasted has the fields above it that the manifest lacks, and nothing that it has.
func TestTheYAMLToPasteHasItsPlace(t *testing.T) {
	t.Parallel()
	const readiness = "        readinessProbe: {httpGet: {path: /, port: 8080}}\n"
	for name, c := range map[string]struct {
		lines   map[string]string
		version string
		id      string
		want    []string
	}{
		"no lifecycle":        {map[string]string{"CONTAINER": readiness}, "", "preStop", []string{"lifecycle:", "  preStop:", "    sleep: {seconds: 5}"}},
		"a lifecycle":         {map[string]string{"CONTAINER": readiness + "        lifecycle: {postStart: {exec: {command: [x]}}}"}, "", "preStop", []string{"preStop: {sleep: {seconds: 5}}"}},
		"another hook":        {map[string]string{"CONTAINER": readiness + "        lifecycle: {preStop: {sleep: {seconds: 1}}}"}, "", "preStop", []string{"preStop: {sleep: {seconds: 5}}"}},
		"before 1.30":         {map[string]string{"CONTAINER": readiness}, "1.29", "preStop", []string{"lifecycle:", "  preStop:", `    exec: {command: [sleep, "5"]}`}},
		"a field of the spec": {map[string]string{"CONTAINER": readiness}, "", "minReadySeconds", []string{"minReadySeconds: 3"}},
		"one that is there": {
			map[string]string{"CONTAINER": readiness, "STRATEGY": "  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"}, "", "maxUnavailable", nil,
		},
		"no probe": {map[string]string{}, "", "readinessProbe", []string{"readinessProbe:", "  tcpSocket: {port: 8080}", "  periodSeconds: 5"}},
	} {
		sc, w := worldOf(t, fill(c.lines), scenario.Options{KubernetesVersion: c.version})
		found := false
		for _, change := range Changes(sc, w, engine.Second) {
			if change.ID == c.id {
				found = true
				if got := change.Edits[0].YAML(); !cmp.Equal(got, c.want) {
					t.Errorf("%s: %q, want %q", name, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no %s", name, c.id)
		}
	}
}

func TestAHookSleepsAsLongAsPeopleKnow(t *testing.T) {
	t.Parallel()
	for late, want := range map[engine.Time]int64{0: 5, 3 * engine.Second: 5, 4 * engine.Second: 5, 4*engine.Second + 1: 10, 12 * engine.Second: 15, 20 * engine.Second: 30, 302 * engine.Second: 310} {
		if got := Sleep(late); got != want {
			t.Errorf("%s s late: sleep %d, want %d", late.Seconds(), got, want)
		}
	}
}

func TestAProcessThatIgnoresSIGTERMNeedsAHandlerNotTime(t *testing.T) {
	t.Parallel()
	sc, w := worldOf(t, fill(map[string]string{}), scenario.Options{Profile: "ignores"})
	handler := false
	for _, c := range Changes(sc, w, engine.Second) {
		if c.ID == "terminationGracePeriodSeconds" {
			t.Errorf("%s", c.Title)
		}
		if c.ID == "sigterm" {
			handler = true
			remedies := scenario.TerminationRemedies(&w.App)
			if !strings.HasPrefix(remedies[0], c.Title) || !strings.Contains(c.Cost, remedies[1]) {
				t.Errorf("%s (%s), of %q", c.Title, c.Cost, remedies)
			}
			if after := Apply(sc, "shop/web", []Change{c}).Workload("shop/web"); after.App.IgnoresSIGTERM || !w.App.IgnoresSIGTERM {
				t.Error("the handler changes nothing, or the workload that it was made from")
			}
		}
	}
	if !handler {
		t.Error("no handler")
	}
}

// The pod leaves the rules of both nodes, the second one 3 s after its deletion; where clients
// ask health ports, a node that says 503 is no way to it any more, unless all do.
func TestLatenessIsWhenTheLastWayToADeletedPodCloses(t *testing.T) {
	t.Parallel()
	rules := func(at engine.Time, node int, pods ...api.PodID) event.Event {
		return event.Event{At: at * engine.Second, Kind: event.Rules, Node: node, Targets: pods}
	}
	health := func(at engine.Time, node int, ok bool) event.Event {
		return event.Event{At: at * engine.Second, Kind: event.HealthPort, Node: node, OK: ok}
	}
	balancer := func(at engine.Time, node int, pod api.PodID, ok bool) event.Event {
		return event.Event{At: at * engine.Second, Kind: event.Balancer, Node: node, Pod: pod, OK: ok}
	}
	last := func(e event.Event) event.Event { // no other pod is in scope
		e.Fallback = true
		return e
	}
	deleted := event.Event{At: 10 * engine.Second, Kind: event.Deleted, Pod: 7}
	for name, c := range map[string]struct {
		events []event.Event
		want   engine.Time
	}{
		"no pod is deleted":           {[]event.Event{rules(0, 0, 7), rules(12, 0, 8)}, 0},
		"the slowest node counts":     {[]event.Event{rules(0, 0, 7), rules(0, 1, 7, 8), deleted, rules(11, 0, 8), rules(13, 1, 8)}, 3},
		"a node that never led to it": {[]event.Event{rules(0, 0, 7), rules(0, 1, 8), deleted, rules(11, 0, 8), rules(19, 1)}, 1},
		"a health port that leads clients away": {
			[]event.Event{rules(0, 0, 7), rules(0, 1, 8), health(0, 0, true), health(0, 1, true), deleted, health(12, 0, false), rules(19, 0)}, 2,
		},
		"a load balancer that leaves the node after its rules have closed": {
			[]event.Event{rules(0, 0, 7), balancer(0, 0, -1, true), deleted, rules(15, 0), balancer(19, 0, -1, false)}, 5,
		},
		"a load balancer that leaves the node while its rules still lead there": {
			[]event.Event{rules(0, 0, 7), balancer(0, 0, -1, true), deleted, balancer(14, 0, -1, false), rules(15, 0)}, 4,
		},
		"a load balancer that sends to pods": {
			[]event.Event{rules(0, 0, 7), balancer(0, -1, 7, true), deleted, rules(11, 0, 8), balancer(98, -1, 7, false)}, 88,
		},
		"a node that knows, and has no other pod in scope until it ends": {[]event.Event{rules(0, 0, 7), deleted, last(rules(11, 0, 7)), rules(99, 0)}, 1},
		"a load balancer that asks who serves, and stays until the pod ends": {
			[]event.Event{rules(0, 0, 7), balancer(0, 0, -1, true), deleted, last(rules(11, 0, 7)), {At: 40 * engine.Second, Kind: event.Term, Pod: 7}, rules(41, 0), balancer(42, 0, -1, false)}, 0,
		},
		"... behind a load balancer that has been told, and leaves later": {
			[]event.Event{rules(0, 0, 7), health(0, 0, true), balancer(0, 0, -1, true), deleted, last(rules(11, 0, 7)), health(11, 0, false), balancer(29, 0, -1, false)}, 19,
		},
		"all health ports say no, until another pod is ready": {
			[]event.Event{rules(0, 0, 7), rules(0, 1), health(0, 0, true), health(0, 1, false), deleted, health(12, 0, false), rules(16, 1, 8), health(16, 1, true)}, 6,
		},
	} {
		if got := Lateness(c.events); got != c.want*engine.Second {
			t.Errorf("%s: %s s, want %d", name, got.Seconds(), c.want)
		}
	}
}

// Behind a load balancer that learns of new pods late, and sets readiness gates where it is told to, the gate is a change.
func TestAReadinessGateIsOfferedBehindALoadBalancerThatSetsIt(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fill(map[string]string{}), "  selector: {app: web}\n", "  type: LoadBalancer\n  selector: {app: web}\n", 1)
	offered := func(lb string) *Change {
		sc, w := worldOf(t, text, scenario.Options{LB: lb})
		for _, c := range Changes(sc, w, engine.Second) {
			if c.ID == "readinessGate" {
				after := Apply(sc, "shop/web", []Change{c})
				if before := sc.Traffic[0].LB.GateInjection; before == after.Traffic[0].LB.GateInjection {
					t.Error("the gate changes nothing")
				}
				return &c
			}
		}
		return nil
	}
	if c := offered("aws-nlb-ip"); c == nil || len(c.Edits) != 1 || len(c.Edits[0].YAML()) == 0 {
		t.Errorf("aws-nlb-ip: %+v", c)
	}
	if c := offered("gke-l4"); c != nil {
		t.Errorf("gke-l4: %+v", c)
	}
}

// Google's HTTP load balancer cuts the connections to a pod that it forgets: draining is a change of the Service, or of its
// BackendConfig, and of each Scenario that it is tried on.
func TestDrainingIsOfferedBehindGooglesHTTPLoadBalancer(t *testing.T) {
	t.Parallel()
	behind := func(class, more string) (*world.Scenario, *Change) {
		text := strings.Replace(fill(map[string]string{}), "metadata: {name: web, namespace: shop}\nspec:\n  selector", "metadata:\n  name: web\n  namespace: shop\n  annotations: "+
			"{cloud.google.com/neg: '{\"ingress\": true}', cloud.google.com/backend-config: '{\"default\": \"c\"}'}\nspec:\n  selector", 1) + `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: ` + class + `, defaultBackend: {service: {name: web, port: {number: 80}}}}
` + more
		sc, w := worldOf(t, text, scenario.Options{})
		for _, c := range Changes(sc, w, engine.Second) {
			if c.ID == "connectionDraining" {
				return sc, &c
			}
		}
		return sc, nil
	}
	config := func(spec string) string {
		return "---\napiVersion: cloud.google.com/v1\nkind: BackendConfig\nmetadata: {name: c, namespace: shop}\nspec: {" + spec + "}\n"
	}
	sc, c := behind("gce", config("timeoutSec: 40"))
	if c == nil || len(c.Edits) != 1 || c.Edits[0].Path != "spec.connectionDraining.drainingTimeoutSec" || c.Edits[0].Line == 0 {
		t.Fatalf("%+v", c)
	}
	if before, after := sc.Traffic[0].LB.Drain, Apply(sc, "shop/web", []Change{*c}).Traffic[0].LB.Drain; before != 0 || after != spare {
		t.Errorf("it drains for %s s, and for %s s with the change", before.Seconds(), after.Seconds())
	}
	if _, c := behind("gce", config("connectionDraining: {drainingTimeoutSec: 60}")); c != nil {
		t.Errorf("it drains for 60 s already: %s", c.Title)
	}
	if _, c := behind("nginx", config("timeoutSec: 40")); c != nil {
		t.Errorf("another maker's: %s", c.Title)
	}
}

// A workload without containers of its own has nothing that could be changed.
func TestAWorkloadWithoutContainersIsNotChanged(t *testing.T) {
	t.Parallel()
	w := &world.Workload{Resource: &appsv1.Deployment{}}
	if got := Changes(&world.Scenario{}, w, engine.Second); got != nil {
		t.Errorf("%+v", got)
	}
	if got := Shorter(&world.Scenario{}, w, 5); got != nil {
		t.Errorf("%+v", got)
	}
}

// What a hook costs is what it adds to the one that is there.
func TestHowMuchLongerAPodTakesToStop(t *testing.T) {
	t.Parallel()
	sleep := func(least, most engine.Time) world.Hook {
		d, err := engine.Uniform(least*engine.Second, most*engine.Second)
		if err != nil {
			t.Fatal(err)
		}
		return world.Hook{Duration: d}
	}
	for want, hook := range map[string]world.Hook{
		"each pod takes 30 s longer to stop":       {},
		"each pod takes 15 s longer to stop":       sleep(15, 15),
		"each pod takes 25 s less to stop":         sleep(55, 55),
		"each pod takes up to 30 s longer to stop": sleep(0, 15),
		"each pod takes up to 20 s longer to stop": sleep(10, 15),
		"each pod takes 30 s less to stop":         sleep(86400, 86400), // the grace period ends it
	} {
		if got := longerBy(hook, engine.Minute, 30); got != want {
			t.Errorf("%+v: %q, want %q", hook, got, want)
		}
	}
}
