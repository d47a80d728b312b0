package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const altWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        lifecycle: {preStop: {exec: {command: [/bin/drain]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

func altScenario(t *testing.T, opts Options) *world.Scenario {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := inferKept(t, objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 1 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases[0].Scenario
}

func TestEveryVariedAssumptionChangesItsScenarioAndNoOther(t *testing.T) {
	t.Parallel()
	s := altScenario(t, Options{})
	before := Normal(s)
	var ids []string
	for _, a := range Alternatives(s) {
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
		if Normal(a.Scenario) == before {
			t.Errorf("%s %s changes nothing", a.ID, a.Value)
		}
	}
	if Normal(s) != before {
		t.Error("the scenario itself was changed")
	}
	if want := "kubernetes proxy nodes timeout connect-timeout keepalive-repeat syn-repeats dead-address serve start image sigterm prestop churn latency.watch latency.proxySync"; strings.Join(ids, " ") != want {
		t.Errorf("varied %s, want %s", strings.Join(ids, " "), want)
	}
}

func TestWhatTheInputSaysIsNotVaried(t *testing.T) {
	t.Parallel()
	s := altScenario(t, Options{Profile: "nginx", Set: []string{"start=1s", "prestop.web=3s", "latency.watch=1ms", "latency.imagePull=1s"}})
	for _, a := range Alternatives(s) {
		if slices.Contains([]string{"sigterm", "start", "prestop", "latency.watch", "image"}, a.ID) {
			t.Errorf("%s is said, and was varied to %s", a.ID, a.Value)
		}
	}
}

// The runner of kube-proxy decides what a rollout loses (docs/model/kube-proxy.md 6): where nobody
// says the version, the last one with the earlier runner is tried, too.
func TestTheVersionIsVariedUnlessItIsSaid(t *testing.T) {
	t.Parallel()
	versions := func(opts Options) (out []string) {
		for _, a := range Alternatives(altScenario(t, opts)) {
			if k := a.Scenario.Kubernetes; a.ID == "kubernetes" {
				out = append(out, fmt.Sprintf("%s is %s, hold %v, fallback %s", a.Value, k.Version, k.Options.HoldAfterSync, k.Options.TerminatingFallback))
			}
		}
		return out
	}
	if got, want := versions(Options{}), []string{"1.33 is 1.33, hold false, fallback on"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := versions(Options{FeatureGates: map[string]bool{"ProxyTerminatingEndpoints": false}}), []string{"1.33 is 1.33, hold false, fallback off"}; !slices.Equal(got, want) {
		t.Errorf("with a gate: %v, want %v", got, want)
	}
	if got := versions(Options{KubernetesVersion: "1.35"}); got != nil {
		t.Errorf("it is said: %v", got)
	}
}

func TestAnotherProfileKeepsWhatIsNoMatterOfSIGTERM(t *testing.T) {
	t.Parallel()
	s := altScenario(t, Options{Set: []string{"apps.web.serve=7ms", "start=3s"}})
	found := false
	for _, a := range Alternatives(s) {
		if a.ID != "sigterm" || !strings.HasPrefix(a.Value, "ignores") {
			continue
		}
		found = true
		app := a.Scenario.Workloads[0].App
		if !app.IgnoresSIGTERM || app.Profile != "ignores" || app.Start.Mean() != 3*engine.Second || app.Serve.Mean() != 7*engine.Millisecond {
			t.Errorf("%+v", app)
		}
	}
	if !found {
		t.Error("an unknown image may ignore SIGTERM")
	}
}

func TestAnEditedDeploymentIsReadAgain(t *testing.T) {
	t.Parallel()
	s := altScenario(t, Options{})
	edited := Edited(s, "shop/web", func(r world.Resource) {
		d, _ := r.(*appsv1.Deployment)
		d.Spec.Template.Spec.Containers[0].Lifecycle = nil
		d.Spec.Strategy = appsv1.DeploymentStrategy{}
	})
	if h := edited.Workloads[0].Hooks["web"]; h.Kind != "" {
		t.Errorf("hook %+v", h)
	}
	if edited.Workloads[0].Deployment().Spec.Strategy.RollingUpdate == nil {
		t.Error("defaults were not applied")
	}
	if s.Workloads[0].Hooks["web"].Kind != "exec" {
		t.Error("the scenario itself was changed")
	}
}
