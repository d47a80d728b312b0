package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// noReplicas has nothing to restart, and its Service nothing to send to.
const noReplicas = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: w, ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`

func inferText(t *testing.T, text string, opts Options) ([]Case, []manifest.Problem) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return inferKept(t, objects, opts)
}

// What cannot be judged is said once, and not for each action again.
func TestWhatIsNotJudgedIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, actions := range [][]string{{"rollout"}, {"rollout", "evict"}, {"evict", "crash", "rollout"}} {
		cases, _ := inferText(t, noReplicas, Options{Actions: actions})
		if len(cases) != 1 || cases[0].Verdict != NotJudged || cases[0].Reason != "nothing to restart or drain: replicas is 0 (:5)" {
			t.Errorf("%q: %+v", actions, cases)
		}
		judged, _ := inferText(t, strings.Replace(noReplicas, "replicas: 0", "replicas: 2", 1), Options{Actions: actions})
		if len(judged) != len(actions) || judged[0].Verdict == NotJudged {
			t.Errorf("%q: %d cases with replicas: %+v", actions, len(judged), judged)
		}
	}
}

// A disruption budget that covers no pod is warned of where its selector stands; one without a selector, for having none.
func TestABudgetThatCoversNoPod(t *testing.T) {
	t.Parallel()
	const budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec:\n  maxUnavailable: 1\n"
	for selector, want := range map[string][]string{ // order: each for itself
		"  selector: {matchLabels: {app: web}}\n": nil,
		"  selector: {}\n":                        nil, // it covers all of its namespace
		"  selector: {matchLabels: {app: wbe}}\n": {"web.yaml:21:3: PodDisruptionBudget shop/web: spec.selector: it covers no pod of the input"},
		"": {"web.yaml:16:1: PodDisruptionBudget shop/web: it has no selector, and covers no pod"},
	} {
		_, problems := inferText(t, noReplicas+budget+selector, Options{Actions: []string{"rollout"}})
		var got []string
		for _, p := range problems {
			if p.Kind == "PodDisruptionBudget" {
				got = append(got, p.String())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", selector, got, want)
		}
	}
}

// A Service without a selector leads to what its EndpointSlices have, where these are in the input.
func TestAServiceWithoutASelectorLeadsToItsSlices(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
	slice := func(name, of string) string {
		return "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + name + ", namespace: shop, labels: {kubernetes.io/service-name: " + of + "}}\n" +
			"addressType: IPv4\nports: [{port: 80}]\nendpoints: [{addresses: [192.0.2.42]}]\n"
	}
	for text, want := range map[string]string{ // order: each for itself
		service:                       "it has no selector: what is behind it is not in the input; no case for it",
		service + slice("db-1", "dx"): "it has no selector: what is behind it is not in the input; no case for it",
		service + slice("db-1", "db") + slice("db-2", "db"): "it has no selector: it leads to the addresses of EndpointSlice db-1, db-2, which are no pods of the input; no case for it",
	} {
		_, problems := inferText(t, text, Options{})
		if len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%v, want %s", problems, want)
		}
	}
}
