package knob

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// The Service leads to the second container; the first one is a sidecar with a port of its own.
const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: metrics, image: m, ports: [{containerPort: 9090}]}
      - name: web
        image: w
        ports: [{name: http, containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: a}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: d}]}
`

func load(t *testing.T) *manifest.Objects {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(web)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	return objects
}

func only(name string) func(string) bool {
	return func(id string) bool { return strings.HasSuffix(id, name) }
}

func TestAKnobChangesOneFieldOfTheWantedWorkloads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sweep, before string
		read          func(*appsv1.Deployment) int64
		want          int64
	}{
		{"prestop=15s", "0s", func(d *appsv1.Deployment) int64 {
			return d.Spec.Template.Spec.Containers[1].Lifecycle.PreStop.Sleep.Seconds
		}, 15},
		{"grace=45s", "30s", func(d *appsv1.Deployment) int64 { return *d.Spec.Template.Spec.TerminationGracePeriodSeconds }, 45},
		{"replicas=7", "3", func(d *appsv1.Deployment) int64 { return int64(*d.Spec.Replicas) }, 7},
		{"minReadySeconds=4s", "0s", func(d *appsv1.Deployment) int64 { return int64(d.Spec.MinReadySeconds) }, 4},
		{"maxSurge=2", "25%", func(d *appsv1.Deployment) int64 { return int64(d.Spec.Strategy.RollingUpdate.MaxSurge.IntVal) }, 2},
		{"maxUnavailable=0", "25%", func(d *appsv1.Deployment) int64 { return int64(d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntVal) }, 0},
		{"readiness.periodSeconds=1s", "5s", func(d *appsv1.Deployment) int64 {
			return int64(d.Spec.Template.Spec.Containers[1].ReadinessProbe.PeriodSeconds)
		}, 1},
		{"readiness.failureThreshold=2", "3", func(d *appsv1.Deployment) int64 {
			return int64(d.Spec.Template.Spec.Containers[1].ReadinessProbe.FailureThreshold)
		}, 2},
	} {
		t.Run(c.sweep, func(t *testing.T) {
			t.Parallel()
			objects := load(t)
			a, err := ParseAxis(c.sweep)
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := a.Knob.Of(objects, only("web")); !ok || before != c.before {
				t.Errorf("it has %q, %v; want %q", before, ok, c.before)
			}
			turned, err := a.Knob.Turn(objects, only("web"), a.Values[0])
			if err != nil || turned != 1 {
				t.Fatalf("%d turned, %v", turned, err)
			}
			if got := c.read(objects.Deployments[0].Value); got != c.want {
				t.Errorf("the field is %d, want %d", got, c.want)
			}
			if after, ok := a.Knob.Of(objects, only("web")); !ok || after != a.Values[0].Text {
				t.Errorf("it has %q afterwards", after)
			}
			if sidecar := objects.Deployments[0].Value.Spec.Template.Spec.Containers[0]; sidecar.Lifecycle != nil || sidecar.ReadinessProbe != nil {
				t.Error("the sidecar was changed")
			}
		})
	}
}

// The surge and the pods that may be unavailable are two fields: who turns one leaves the other, whatever kind of workload it is.
func TestATurnedUpdateKeepsItsOtherNumber(t *testing.T) {
	t.Parallel()
	objects := load(t)
	turn := func(text, name string) {
		t.Helper()
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := a.Knob.Turn(objects, only(name), a.Values[0]); n != 1 || err != nil {
			t.Fatalf("%s of %s: %d turned, %v", text, name, n, err)
		}
	}
	for _, name := range []string{"web", "agent"} {
		for _, text := range []string{"maxUnavailable=2", "maxSurge=3", "maxUnavailable=1"} {
			turn(text, name)
		}
	}
	d, s := objects.Deployments[0].Value.Spec.Strategy.RollingUpdate, objects.DaemonSets[0].Value.Spec.UpdateStrategy.RollingUpdate
	if d.MaxSurge.IntVal != 3 || d.MaxUnavailable.IntVal != 1 || s.MaxSurge.IntVal != 3 || s.MaxUnavailable.IntVal != 1 {
		t.Errorf("Deployment %v and %v, DaemonSet %v and %v", d.MaxSurge, d.MaxUnavailable, s.MaxSurge, s.MaxUnavailable)
	}
	partition := int32(1)
	db := &objects.StatefulSets[0].Value.Spec.UpdateStrategy
	db.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}
	turn("maxUnavailable=2", "db")
	if r := db.RollingUpdate; r.Partition == nil || *r.Partition != 1 || r.MaxUnavailable.IntVal != 2 {
		t.Errorf("StatefulSet %+v", r)
	}
}

func TestPreStopOfZeroIsNoHook(t *testing.T) {
	t.Parallel()
	objects := load(t)
	for _, text := range []string{"prestop=5s", "prestop=0s"} {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Knob.Turn(objects, only("web"), a.Values[0]); err != nil {
			t.Fatal(err)
		}
	}
	if hook := objects.Deployments[0].Value.Spec.Template.Spec.Containers[1].Lifecycle.PreStop; hook != nil {
		t.Errorf("a hook is left: %+v", hook)
	}
}

func TestWhatAWorkloadCannotHaveIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	for sweep, want := range map[string]string{
		"replicas=2":                   "DaemonSet shop/agent: a DaemonSet has a pod on each node",
		"maxSurge=1":                   "StatefulSet shop/db: a StatefulSet's rolling update has no surge",
		"readiness.failureThreshold=1": "it has no readinessProbe",
	} {
		objects := load(t)
		a, err := ParseAxis(sweep)
		if err != nil {
			t.Fatal(err)
		}
		turned, err := a.Knob.Turn(objects, only(""), a.Values[0])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sweep, err, want)
		}
		if turned == 0 {
			t.Errorf("%s: nothing was turned beside it", sweep)
		}
	}
}

func TestDifferentValuesOfSeveralWorkloadsAreNoValue(t *testing.T) {
	t.Parallel()
	objects := load(t)
	k, _ := Find("replicas")
	if v, ok := k.Of(objects, func(id string) bool { return id != "shop/agent" }); ok {
		t.Errorf("3 and 1 replicas are %s", v)
	}
}

func TestAxesHaveTheirValuesInOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"prestop=0s..30s:10s":              "0s 10s 20s 30s",
		"prestop=0s..25s:10s":              "0s 10s 20s",
		"grace=90s..2m:15s":                "90s 105s 120s",
		"prestop=0,5s":                     "0s 5s",
		"latency.proxySync=20ms..1s:490ms": "20ms 510ms 1s",
		"replicas=1..3:1":                  "1 2 3",
		"maxUnavailable=25%,1,0":           "25% 1 0",
		"loadBalancer.preset=gke-l4,x":     "gke-l4 x",
		"PRESTOP=1s":                       "1s",
	} {
		a, err := ParseAxis(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, v := range a.Values {
			got = append(got, v.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

func TestAxesThatAreNoneAreErrorsThatSayWhatIsValid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "NAME=FROM..TO:STEP",
		"prestop":                    "NAME=FROM..TO:STEP",
		"prestop=":                   "NAME is prestop, grace",
		"=1s":                        "NAME=FROM..TO:STEP",
		"prestop=0s..5s":             "want a step",
		"prestop=5s..1s:1s":          "an end not before the beginning",
		"prestop=0s..5s:0s":          "a step above 0",
		"prestop=0s..1h:1s":          "at most 200 values",
		"prestop=1":                  "whole seconds",
		"prestop=500ms":              "whole seconds",
		"prestop=0s..5:1s":           "not both",
		"prestop=1s..0:0":            "an end not before the beginning",
		"prestop=1s..5:1":            "not both",
		"prestop=1..5s:1":            "not both",
		"prestop=1..5:1s":            "not both",
		"replicas=1s":                "a number, such as 3",
		"replicas=-1":                "a number, such as 3",
		"replicas=many":              "a number, such as 3",
		"grace=soon":                 "whole seconds",
		"replicas=2147483648":        "a number, such as 3",
		"maxSurge=1s":                "per cents",
		"prestop=1s,1s":              "stands there twice",
		"prestop=1s,,2s":             "empty",
		"prestop=a..b:c":             "want a duration",
		"x=1..9223372036854775807:1": "at most 200 values",
	} {
		if a, err := ParseAxis(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, a, err, want)
		}
	}
}

func TestAnAxisKnowsWhereAValueStands(t *testing.T) {
	t.Parallel()
	a, err := ParseAxis("grace=30s,60s,90s")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"60s": 1, "1m": 1, "61s": -1, "60": -1, "": -1} {
		if got := a.Index(text); got != want {
			t.Errorf("%q stands at %d, want %d", text, got, want)
		}
	}
	if a.Values[1].Time != 60*engine.Second || a.Values[1].Place != 60 {
		t.Errorf("%+v", a.Values[1])
	}
}

// Two numbers of a rolling update may each be fine, and both together not: what the API server refuses is said once both are turned.
func TestNumbersThatAreRefusedTogether(t *testing.T) {
	t.Parallel()
	const both = "maxUnavailable: must not be 0 when maxSurge is 0"
	for _, c := range []struct{ name, surge, unavailable, want string }{
		{"web", "0", "0", "Deployment shop/web: spec.strategy.rollingUpdate." + both},
		{"web", "0%", "0", "Deployment shop/web: spec.strategy.rollingUpdate." + both},
		{"web", "0", "1", ""},
		{"web", "25%", "0", ""},
		{"web", "1", "1", ""},
		{"agent", "0", "0%", "DaemonSet shop/agent: spec.updateStrategy.rollingUpdate." + both},
		{"agent", "1", "1", "spec.updateStrategy.rollingUpdate.maxSurge: of a DaemonSet must be 0 unless maxUnavailable is 0, and it is 1"},
		{"agent", "1", "0", ""},
		{"agent", "0", "1", ""},
		{"db", "", "0", "StatefulSet shop/db: spec.updateStrategy.rollingUpdate.maxUnavailable: must not be 0"},
		{"db", "", "1", ""},
	} {
		objects := load(t)
		for _, sweep := range []string{"maxSurge=" + c.surge, "maxUnavailable=" + c.unavailable} {
			if strings.HasSuffix(sweep, "=") {
				continue
			}
			a, err := ParseAxis(sweep)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Knob.Turn(objects, only(c.name), a.Values[0]); err != nil {
				t.Fatal(err)
			}
		}
		err := Refused(objects, only(c.name))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "the API server refuses it")) {
			t.Errorf("%s, surge %q, unavailable %q: %v, want %q", c.name, c.surge, c.unavailable, err, c.want)
		}
		if err := Refused(objects, only("another")); err != nil {
			t.Errorf("a workload that is not wanted is looked at: %v", err)
		}
	}
}
