package sweep

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
)

// Where nothing leaves nearly nothing lost, the first change is taken that leaves at most a twentieth of the loss more than the
// best one does: smaller sets of changes come first.
func TestTheSmallestOfThoseThatHelpNearlyAlike(t *testing.T) {
	t.Parallel()
	of := func(id string, lost uint64) *attempt {
		return &attempt{changes: []fix.Change{{ID: id}}, lost: lost, ran: true}
	}
	stuck, unrun := of("stuck", 0), of("unrun", 0)
	stuck.stuck, unrun.ran = 1, false
	for name, c := range map[string]struct {
		singles []*attempt
		want    string
	}{
		"a twentieth more":                 {[]*attempt{of("a", 110), of("b", 60)}, "a"},
		"more than that":                   {[]*attempt{of("a", 111), of("b", 60)}, "b"},
		"the first one is the best":        {[]*attempt{of("a", 60), of("b", 110)}, "a"},
		"others get stuck or were not run": {[]*attempt{stuck, unrun, of("a", 110), of("b", 60)}, "a"},
		"nothing was run":                  {[]*attempt{stuck, unrun}, ""},
	} {
		s := &search{before: 1000, shown: 1, budget: -1} // not a single set of two can be afforded
		got := ""
		for _, a := range s.best(c.singles) {
			got += a.changes[0].ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
