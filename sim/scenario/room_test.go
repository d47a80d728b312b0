package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// A Scenario with three pods on the default cluster of three nodes: as many as pods is what it
// has, and twice and three times as many are tried.
func TestTheNumberOfMadeUpNodesIsVaried(t *testing.T) {
	t.Parallel()
	const web = altWeb // two pods, policy Cluster
	for _, tt := range []struct {
		what, scenario, want string
	}{
		{"by default there are three", "", "2, as many as pods; 4, twice as many as pods; 6, three times as many as pods"},
		{"a number that is given is not varied", "nodes: {count: 4}", ""},
		{"a node that something is done to stays", "actions: [{at: 10s, crashNode: node-3}]", "4, twice as many as pods; 6, three times as many as pods"},
		{"a kubelet that is paused stays", "actions: [{at: 10s, for: 5s, component: {name: kubelet/node-3, pause: true}}]", "4, twice as many as pods; 6, three times as many as pods"},
		{"a node where clients run stays", "traffic: [{from: pods, to: shop/web:80, nodes: [node-3]}]", "4, twice as many as pods; 6, three times as many as pods"},
		{"a node that is slower than others stays", "nodes: {overrides: [{node: node-3, latency: {watch: 8s}}]}", "4, twice as many as pods; 6, three times as many as pods"},
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  " + tt.scenario + "\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(web)}}, manifest.Options{})
		scenarios, problems := Parse(objects, Options{})
		if len(scenarios) != 1 {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		before := Normal(scenarios[0])
		var got []string
		for _, a := range Alternatives(scenarios[0]) {
			if a.ID != "nodes" {
				continue
			}
			got = append(got, a.Value)
			names := nodeNames(a.Scenario.Nodes)
			for i := range a.Scenario.Traffic {
				for _, n := range a.Scenario.Traffic[i].Nodes {
					if !nearestExact(n, names) {
						t.Errorf("%s: clients on %s, of %v", tt.what, n, names)
					}
				}
			}
			if zone := a.Scenario.Nodes[1].Zone; zone != "b" {
				t.Errorf("%s: node-2 is in zone %q", tt.what, zone)
			}
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, strings.Join(got, "; "), tt.want)
		}
		if Normal(scenarios[0]) != before {
			t.Errorf("%s: the Scenario itself was changed", tt.what)
		}
	}
}
