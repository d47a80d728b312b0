package story

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// byHand is a Deployment, a Pod beside it behind the same Service, and one behind another.
const byHand = `apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: by-hand}
spec:
  traffic: [{name: inside, from: pods, to: "web:80", rate: 10/s}]
  actions: [{at: 5s, createPod: pod/by-hand}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1.29", ports: [{containerPort: 8080}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: by-hand, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - name: web
    image: nginx:1.30
    readinessProbe: {httpGet: {port: 8080}}
---
apiVersion: v1
kind: Pod
metadata: {name: other, labels: {app: other}}
spec: {containers: [{name: other, image: "nginx:1.30"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: other}
spec: {selector: {app: other}, ports: [{port: 80}]}
`

func handmade(t *testing.T) *world.Scenario {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(byHand)}}, manifest.Options{})
	list, more := scenario.Parse(objects, scenario.Options{})
	if len(list) != 1 || len(problems)+len(more) > 0 {
		t.Fatal(problems, more)
	}
	return list[0]
}

// A loss is put down to the manifest of the pod that the request met, which need not be the first workload behind the Service; without one to
// that of the pod that its Service lost last.
func TestWhoseManifestALossComesFrom(t *testing.T) {
	t.Parallel()
	sc := handmade(t)
	of := func(name string) int {
		for i := range sc.Workloads {
			if sc.Workloads[i].Name() == name {
				return i
			}
		}
		t.Fatal(name)
		return -1
	}
	pods := []cluster.PodRef{
		{ID: 0, Name: "default/web r0 0", Workload: of("default/web")}, {ID: 1, Name: "default/by-hand r0", Workload: of("default/by-hand")},
		{ID: 2, Name: "default/other r0", Workload: of("default/other")},
	}
	deleted := func(pod api.PodID) event.Event { return event.Event{At: 5 * sec, Kind: event.Deleted, Pod: pod} }
	for name, c := range map[string]struct {
		request ledger.Request
		events  []event.Event
		want    string
	}{
		"a pod of the Deployment":               {ledger.Request{Pod: "default/web r0 0"}, nil, "default/web"},
		"the bare Pod":                          {ledger.Request{Pod: "default/by-hand r0"}, nil, "default/by-hand"},
		"none":                                  {ledger.Request{}, nil, "default/web"},
		"none, and the bare Pod was deleted":    {ledger.Request{End: 9 * sec}, []event.Event{deleted(1)}, "default/by-hand"},
		"none, and one of another was deleted":  {ledger.Request{End: 9 * sec}, []event.Event{deleted(1), deleted(2)}, "default/by-hand"},
		"none, and that was deleted afterwards": {ledger.Request{End: 4 * sec}, []event.Event{deleted(1)}, "default/web"},
	} {
		tell := &Teller{names: newNames(sc, pods), events: c.events}
		if got := tell.Met(c.request); got == nil || got.Name() != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// What is said of the template of other workloads stands in the Pod itself.
func TestWhereALossOfABarePodComesFrom(t *testing.T) {
	t.Parallel()
	w := handmade(t).Workload("default/by-hand")
	for cause, want := range map[ledger.Cause]Culprit{
		ledger.StaleRules:      {What: "no preStop", Line: 24},
		ledger.KilledInFlight:  {What: "terminationGracePeriodSeconds 5", Line: 22},
		ledger.NotListeningYet: {What: "readinessProbe", Line: 26},
		ledger.NoEndpoint:      {What: "a Pod that no controller keeps", Line: 19},
		ledger.Crashed:         {},
	} {
		if want.What != "" {
			want.File, want.Object = "in.yaml", "default/by-hand"
		}
		if got, _ := CulpritOf(w, ledger.Blame{Cause: cause}, true); got != want {
			t.Errorf("%s: %+v, want %+v", cause, got, want)
		}
	}
	bare := world.NewBarePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "made-up"}})
	if file, line := at(&world.Workload{Resource: bare}, "spec.template.spec"); file != "" || line != 0 {
		t.Errorf("a Pod of no file: %s:%d", file, line)
	}
}

// A probe is behind what is lost to a pod that it had restarted before, unless somebody deleted the pod.
func TestWhichPodAProbeRestarted(t *testing.T) {
	t.Parallel()
	sc := handmade(t)
	by := slices.IndexFunc(sc.Workloads, func(w world.Workload) bool { return w.Name() == "default/by-hand" })
	pods := []cluster.PodRef{{Name: "default/by-hand r0", Workload: by}}
	request := ledger.Request{Pod: "default/by-hand r0", End: 9 * sec}
	at := func(kind event.Kind, when engine.Time) event.Event {
		return event.Event{Kind: kind, At: when, Pod: 0, Ending: event.Liveness}
	}
	for name, c := range map[string]struct {
		events []event.Event
		want   bool
	}{
		"restarted":                 {[]event.Event{at(event.Ended, 5*sec)}, true},
		"not yet":                   {[]event.Event{at(event.Ended, 10*sec)}, false},
		"deleted, and restarted":    {[]event.Event{at(event.Deleted, 4*sec), at(event.Ended, 5*sec)}, false},
		"another end":               {[]event.Event{{Kind: event.Ended, At: 5 * sec, Pod: 0}}, false},
		"nothing happened to it":    {nil, false},
		"restarted, then deleted":   {[]event.Event{at(event.Ended, 5*sec), at(event.Deleted, 6*sec)}, false},
		"restarted, deleted later":  {[]event.Event{at(event.Ended, 5*sec), at(event.Deleted, 10*sec)}, true},
		"restarted, seen as failed": {[]event.Event{at(event.NotReady, 5*sec), at(event.Ended, 5*sec)}, true},
	} {
		tell := &Teller{names: newNames(sc, pods), events: c.events}
		if got, ok := tell.RestartedBy(request); ok != c.want || ok && (got.Object != "default/by-hand" || got.What != Liveness) {
			t.Errorf("%s: %v, %+v", name, ok, got)
		}
	}
}
