package sweep

import (
	"context"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
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

// Whether a hook leaves too many requests lost is the same whether all samples are asked or the worst alone; and a hook that is much
// too short is tried on no more than these.
func TestAHookThatIsTooShortIsNotTriedOnAllSamples(t *testing.T) {
	t.Parallel()
	c := oneCase(t, "  replicas: 2", readiness, scenario.Options{})[0]
	units := unitsOf([]scenario.Case{c})
	of := func(worlds map[Purpose]int) *search {
		p := &pool{ctx: context.Background(), opts: &Options{Seed: 1}, counts: counts{of: worlds}}
		if units[0].record.Runs == nil {
			p.extend(units, func(*unit) int { return sampleRuns })
		}
		s := &search{pool: p, workload: c.Workload, units: units}
		s.sampled()
		return s
	}
	few, all := map[Purpose]int{}, map[Purpose]int{}
	short, long := 0, 0
	for seconds := range int64(6) {
		hook := fix.Shorter(c.Scenario, c.Scenario.Workload(c.Workload), seconds+1)
		a, b := &attempt{changes: []fix.Change{*hook}}, &attempt{changes: []fix.Change{*hook}}
		s := of(all)
		most := s.before / nearly
		s.screen([]*attempt{b})
		enough := b.ran && b.lost <= most
		before := few[ForSearch]
		if s := of(few); s.leaves(a, most) != enough {
			t.Errorf("%d s: enough on all samples is %v, and not so on the worst", seconds+1, enough)
		}
		switch ran := few[ForSearch] - before; {
		case enough:
			long++
			if ran != sampleRuns || a.lost != b.lost {
				t.Errorf("%d s does, with %d lost of %d samples, want %d lost", seconds+1, a.lost, ran, b.lost)
			}
		case ran < sampleRuns:
			short++
		}
	}
	if short == 0 || long == 0 {
		t.Errorf("%d hooks are tried on few samples, %d on all: the test shows nothing", short, long)
	}
}
