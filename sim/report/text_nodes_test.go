package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// homeless is a case whose new pod finds no node.
func homeless(verdict record.Verdict) *record.Case {
	return &record.Case{
		Verdict: verdict, Stuck: &record.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 3 node(s) were unschedulable", What: "one node more", File: "web.yaml", Line: 9},
		Assumptions: []world.Assumption{{ID: "nodes", Value: "3: the least", Settle: "--nodes, or Node objects"}, {ID: "zones", Value: "a, b, c"}},
	}
}

// Of what cannot end for want of a node it is said that nobody chose how many there are, and with how many it ends; not again under
// Unless.
func TestAHeadlineSaysHowManyNodesAreMadeUp(t *testing.T) {
	t.Parallel()
	other := func(value string, verdict record.Verdict) record.Alternative {
		return record.Alternative{ID: "nodes", Value: value, Verdict: verdict, Effect: record.VerdictEffect}
	}
	for name, c := range map[string]struct {
		edit func(*record.Case)
		want []string
	}{
		"another number lets it end": {func(c *record.Case) {
			c.Alternatives = []record.Alternative{other("6, twice as many as pods", record.Holds), other("12, more", record.Stalled), other("4, one more", record.Drops)}
		}, []string{"3 nodes, for the input has no Node; with 4 or 6 it is not stuck (--nodes)"}},
		"none does": {func(c *record.Case) {
			c.Alternatives = []record.Alternative{other("6, twice as many as pods", record.Stalled), other("9, more", record.Stalled), other("4, one more", record.Stalled)}
		}, []string{"3 nodes, for the input has no Node; with 4, 6 or 9 it is stuck, too (--nodes)"}},
		"none was tried":               {func(*record.Case) {}, []string{"3 nodes, for the input has no Node (--nodes)"}},
		"it is about zones":            {func(c *record.Case) { c.Stuck.What = "a node with another topology.kubernetes.io/zone" }, []string{"3 nodes in the zones a, b, c, for the input has no Node (--nodes)"}},
		"the input has Nodes":          {func(c *record.Case) { c.Assumptions = c.Assumptions[1:] }, nil},
		"it waits for something else":  {func(c *record.Case) { c.Stuck.Why = "the budget allows nothing" }, nil},
		"it comes to its end all same": {func(c *record.Case) { c.Verdict = record.Drops }, nil},
	} {
		x := homeless(record.Stalled)
		c.edit(x)
		text := newText(&record.Simulation{Cases: []record.Case{*x}, Wording: flags()}, TextOptions{}, everything)
		if got := text.madeUp(x); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := unless(x); x.Waits() && noNode(x) && len(got) > 0 {
			t.Errorf("%s: said twice: %q", name, got)
		}
	}
}

// Pods that can only stand on the node that is drained come back with it, and the others serve meanwhile. So it is only where they find no
// node, and where the node stays.
func TestPodsComeBackWithTheirNode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit              func(*record.Case)
		sentence, waiting string
	}{
		"drained":         {func(*record.Case) {}, ": not all of its pods come back until the node is uncordoned or replaced; 2 of 3 serve meanwhile.", "not all pods come back until the node is uncordoned or replaced"},
		"it was the last": {func(c *record.Case) { c.Usable.Now = 0 }, ": not all of its pods come back until the node is uncordoned or replaced.", "come back until the node is uncordoned or replaced"},
		"it never starts": {func(c *record.Case) { c.Stuck.Why = "the new pod crashes" }, ": not all of its pods come back.", "not all pods come back"},
		"it starts late": {func(c *record.Case) {
			c.Stuck.TakenToListen = "15 s"
			c.Stuck.Why = "it kills what does not listen 10-15 s after its start, by chance, and the server is taken to listen after 15 s; never"
		},
			": not all of its pods come back, if its server takes 15 s to listen, as is assumed.", "not all pods come back"},
		"its node is gone": {func(c *record.Case) { c.Action = "spot notice" }, ": not all of its pods come back.", "not all pods come back"},
	} {
		x := homeless(record.Stalled)
		x.Action, x.Usable = scenario.ActionDrain, record.Usable{Of: 3, Min: 2, Now: 2}
		c.edit(x)
		if got := sentence(x, flags()); !strings.HasPrefix(got, c.sentence) {
			t.Errorf("%s: %q", name, got)
		}
		if got, _ := waiting(x); !strings.HasSuffix(got, c.waiting) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
