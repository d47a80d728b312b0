package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Karpenter replaces nodes for consolidation in the cases of manifests. Where a NodePool has a terminationGracePeriod, drift would end
// otherwise, and that is said first.
func TestTheReasonOfAReplacementIsNamed(t *testing.T) {
	t.Parallel()
	pool := func(grace string) string {
		return "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {" + grace + "}}}\n"
	}
	for text, want := range map[string]string{"terminationGracePeriod: 5m": "terminationGracePeriod, 5m0s", "": ""} {
		cases, problems := casesIn(t, altWeb+pool(text), Options{Actions: []string{"karpenter"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(problems)
		}
		said := ""
		for _, n := range cases[0].Scenario.NotModelled {
			if n.ID == world.Drift && world.Foremost(n.ID) {
				said = n.What
			}
		}
		if !strings.Contains(said, want) || (said == "") != (want == "") {
			t.Errorf("%q: %q", text, said)
		}
	}
}
