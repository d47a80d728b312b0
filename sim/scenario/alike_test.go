package scenario

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What a node would be that joins during the run tells two worlds apart, even before one does.
func TestWorldsWithOtherNodesToComeAreNotAlike(t *testing.T) {
	t.Parallel()
	s := firstCase(t, func(s string) string { return s })
	other := s.Clone()
	spare := *s.Spare
	spare.Has = map[corev1.ResourceName]int64{corev1.ResourceCPU: 2000}
	other.Spare = &spare
	if Alike(s) == Alike(other) {
		t.Error("alike, though further nodes have other room")
	}
}

// alikeOf is Alike of the first case that is simulated, of a Deployment web behind a Service web.
func alikeOf(t *testing.T, change func(string) string) string {
	t.Helper()
	return Alike(firstCase(t, change))
}

// firstCase is the first case that is simulated.
func firstCase(t *testing.T, change func(string) string) *world.Scenario {
	t.Helper()
	const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 20
      containers:
      - name: server
        image: example.com/web:1
        env: [{name: A, value: "1"}]
        ports: [{name: main, containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: main}, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: main}]
`
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(change(text))}}, manifest.Options{})
	cases, more := inferKept(t, objects, Options{LB: "gke-l4", Actions: []string{"rollout"}})
	at := slices.IndexFunc(cases, func(c Case) bool { return c.Scenario != nil })
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || at < 0 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases[at].Scenario
}

// Names, ports and images are all that two workloads may differ in to be alike; whatever a run depends on tells them apart.
func TestWorkloadsAreAlikeButForNamesAndPorts(t *testing.T) {
	t.Parallel()
	first := alikeOf(t, func(s string) string { return s })
	if first == "" {
		t.Fatal("not known what it is like")
	}
	for old, changed := range map[string]string{
		"web":        "basket",
		"app: web":   "app: other",
		"shop":       "store",
		"server":     "main",
		"main":       "http",
		"8080":       "9000",
		"port: 80,":  "port: 8000,",
		"{port: 80":  "{name: http, port: 8080",
		"web:1":      "web:2",
		`value: "1"`: `value: "2"`,
		"---\n":      "---\n# a line more\n",
	} {
		if alikeOf(t, func(s string) string { return strings.ReplaceAll(s, old, changed) }) != first {
			t.Errorf("%s instead of %s: no longer alike", changed, old)
		}
	}
	for old, changed := range map[string]string{
		"replicas: 2":                       "replicas: 3",
		"terminationGracePeriodSeconds: 20": "terminationGracePeriodSeconds: 30",
		"periodSeconds: 5":                  "periodSeconds: 6",
		"path: /,":                          "path: /ready,",
		"image: example.com/web:1":          "image: redis:7",
		"image: example.com/web":            "lifecycle: {preStop: {sleep: {seconds: 5}}}\n        image: example.com/web",
		"port: main}, p":                    "port: 8081}, p",
		"  replicas":                        "  minReadySeconds: 5\n  replicas",
		"  selector: {app: web}":            "  publishNotReadyAddresses: true\n  selector: {app: web}",
		"containerPort: 8080":               "containerPort: 8080, hostPort: 8080",
	} {
		if alikeOf(t, func(s string) string { return strings.Replace(s, old, changed, 1) }) == first {
			t.Errorf("%s instead of %s: still alike", changed, old)
		}
	}
	expressions := func(s string) string {
		return strings.Replace(s, "matchLabels: {app: web}", "matchExpressions: [{key: app, operator: In, values: [web]}]", 1)
	}
	renamed := func(s string) string { return strings.ReplaceAll(expressions(s), "web", "basket") }
	if alikeOf(t, expressions) != alikeOf(t, renamed) {
		t.Error("the value of a label in an expression is a name, too")
	}
	if alikeOf(t, func(s string) string { return s + "  type: LoadBalancer\n" }) != "" {
		t.Error("alike behind a load balancer")
	}
}

// Containers with the same image are pulled once, and are not alike to those with one each.
func TestContainersOfOneImageAreNotLikeThoseOfTwo(t *testing.T) {
	t.Parallel()
	beside := func(server, other string) string {
		return alikeOf(t, func(s string) string {
			s = strings.Replace(s, "example.com/web:1", server, 1)
			return strings.Replace(s, "      containers:\n", "      containers:\n      - {name: other, image: \""+other+"\"}\n", 1)
		})
	}
	two := beside("example.com/web:1", "example.com/log:1")
	if two != beside("example.com/api:2", "example.com/agent:2") || two == beside("example.com/web:1", "example.com/web:1") {
		t.Error("images are told apart by more, or by less, than whether they are the same")
	}
}
