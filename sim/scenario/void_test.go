package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What kubectl refuses is refused, and not run as if it were done: nothing would happen, and nothing be lost.
func TestActionsThatDoNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, actions, want string }{
		{"no revision", "{at: 5s, rollback: deployment/web}", "no rollout history found"},
		{"a restart before it", "{at: 5s, rolloutRestart: deployment/web}, {at: 9s, rollback: deployment/web}", ""},
		{"a restart after it", "{at: 9s, rolloutRestart: deployment/web}, {at: 5s, rollback: deployment/web}", "no rollout history found"},
		{"not paused", "{at: 5s, resume: deployment/web}", "it is not paused"},
		{"paused", "{at: 4s, pause: deployment/web}, {at: 5s, resume: deployment/web}", ""},
		{"paused, and over", "{at: 2s, for: 2s, pause: deployment/web}, {at: 5s, resume: deployment/web}", "it is not paused"},
		{"paused twice", "{at: 2s, pause: deployment/web}, {at: 5s, pause: deployment/web}", "it is paused already"},
		{"a selector of nobody", "{at: 5s, drain: {nodes: [node-1, node-2], podSelector: app=nobody}}", "selects no pod of any workload: nothing would leave node-1 node-2"},
		{"a selector", "{at: 5s, drain: {nodes: [node-1], podSelector: app=web}}", ""},
		{"a selector, and new labels", "{at: 2s, relabelPod: {of: deployment/web, pod: 0, labels: {app: nobody}}}, {at: 5s, drain: {nodes: [node-1], podSelector: app=nobody}}", ""},
		{"a Node twice", "{at: 5s, deleteNode: node-1}, {at: 9s, deleteNode: node-1}", "deleteNode of node-1: an earlier action deletes it"},
		{"another Node", "{at: 5s, deleteNode: node-1}, {at: 9s, deleteNode: node-2}", ""},
		{"a machine that is back", "{at: 1s, for: 3m, crashNode: node-1}, {at: 9s, deleteNode: node-1}, {at: 200s, deleteNode: node-1}", ""},
		{"a Service twice", "{at: 5s, deleteService: service/web}, {at: 9s, deleteService: service/web}", "deleteService of shop/web: an earlier action deletes it"},
		{"a Service that is made again", "{at: 5s, for: 2s, deleteService: service/web}, {at: 9s, deleteService: service/web}", ""},
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s, namespace: shop}\nspec:\n  until: 10m\n  actions: [" + tt.actions + "]\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
		_, problems := parseKept(t, objects, Options{})
		var got []string
		for _, p := range problems {
			if p.Severity == manifest.Error {
				got = append(got, p.String())
			}
		}
		if all := strings.Join(got, "\n"); (all == "") != (tt.want == "") || !strings.Contains(all, tt.want) || len(got) > 1 {
			t.Errorf("%s: %q, want %q", tt.what, all, tt.want)
		}
	}
}

// A selector that cannot be read is refused elsewhere, and one of everything finds pods.
func TestSelectorsOfADrainThatFindPods(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]bool{"": true, "a in (": true, "app=web": false} {
		b := &builder{out: &world.Scenario{}, world: &inventory{}}
		if got := b.selectsPods(selector); got != want {
			t.Errorf("%q: %t", selector, got)
		}
	}
}

// Where nobody asks nothing can be lost: a Scenario before a headless Service is refused unless it says who asks, whatever is warned of beside it.
func TestAScenarioInWhichNobodyAsksIsRefused(t *testing.T) {
	t.Parallel()
	headless := strings.Replace(altWeb, "spec:\n  selector: {app: web}\n  ports", "spec:\n  clusterIP: None\n  selector: {app: web}\n  ports", 1)
	warned := strings.NewReplacer("example.com/web", "gcr.io/distroless/static:nonroot", "[/bin/drain]", "[sleep, \"10\"]")
	const refused = "s.yaml:4:1: Scenario s: spec.traffic: there is no traffic, and no Service in the manifests whose traffic could be assumed: " +
		"clients of the headless Service shop/web choose the pod; say in spec.traffic who asks, such as {to: shop/web:80, from: pods}"
	for _, tt := range []struct {
		what, traffic, manifests, want string
		warns                          bool
	}{
		{"headless", "", headless, refused, false},
		{"headless, and a warning", "", warned.Replace(headless), refused, true},
		{"headless, and what is asked for instead", "  traffic: [{to: shop/web:80, from: pods}]\n", warned.Replace(headless), "", true},
		{"an address of its own, and a warning", "", warned.Replace(altWeb), "", true},
		{"a Service without pods", "", strings.Replace(headless, "selector: {app: web}\n  ports", "selector: {app: api}\n  ports", 1),
			"s.yaml:4:1: Scenario s: spec.traffic: there is no traffic, and no Service in the manifests whose traffic could be assumed", false},
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s, namespace: shop}\nspec:\n  actions: [{at: 5s, crashNode: node-1}]\n" + tt.traffic
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(tt.manifests)}}, manifest.Options{})
		_, problems := parseKept(t, objects, Options{})
		var got []string
		warned := false
		for _, p := range problems {
			if p.Severity == manifest.Error {
				got = append(got, p.String())
			}
			warned = warned || p.Severity == manifest.Warning
		}
		if all := strings.Join(got, "\n"); all != tt.want || warned != tt.warns {
			t.Errorf("%s: %q, want %q; warned %t", tt.what, all, tt.want, warned)
		}
	}
}
