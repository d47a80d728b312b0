package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Of a remedy with several parts each may do little alone, and two of them not enough: what is best of all that was tried is added to as long as
// a part more halves what is left, and no further; a part that keeps an action from its end is none.
func TestARemedyGrowsAsLongAsItHalvesWhatIsLeft(t *testing.T) {
	t.Parallel()
	lost := func(n uint64) *record.Run {
		return &record.Run{Groups: []ledger.Group{{Count: n}}}
	}
	parts := []string{"strategy", "gate", "hook", "probe", "budget"}
	left := func(ids []string) uint64 { // of 1,000 requests in each of two runs
		switch slices.Sort(ids); strings.Join(ids, "+") {
		case "gate+strategy":
			return 400
		case "gate+hook+strategy":
			return 100
		case "gate+hook+probe+strategy":
			return 60
		case "budget+gate+strategy":
			return 0
		default:
			return 900
		}
	}
	u := &unit{record: record.Case{Runs: []record.Run{{Seed: 1}, {Seed: 2}}}}
	s := &search{units: []*unit{u}, samples: [][]record.Run{u.record.Runs}, before: 2000, budget: 1000, done: map[tryID]*record.Run{}}
	var singles []*attempt
	of := func(ids ...string) *attempt {
		a := &attempt{ran: true}
		for _, id := range ids {
			a.changes = append(a.changes, fix.Change{ID: id, Title: id})
		}
		return a
	}
	for _, id := range parts {
		singles = append(singles, of(id))
	}
	have := of("strategy", "gate")
	have.lost = 800
	for _, more := range [][]string{{"hook"}, {"probe"}, {"budget"}, {"hook", "probe"}, {"hook", "budget"}} {
		ids := append([]string{"strategy", "gate"}, more...)
		for seed := range uint64(2) {
			run := lost(left(slices.Clone(ids)))
			if slices.Contains(more, "budget") {
				run.Stuck = &record.Stuck{}
			}
			y := try{changes: of(ids...).changes, seed: seed + 1}
			s.done[y.id()] = run
		}
	}
	s.pool = &pool{ctx: context.Background(), opts: &Options{}}
	for budget, want := range map[int]string{1000: "strategy gate hook", 2: "strategy gate"} {
		s.budget = budget
		found := s.grown([]*attempt{have}, singles)
		if got := strings.Join(found[0].ids(), " "); got != want {
			t.Errorf("with a budget of %d: %s, want %s", budget, got, want)
		}
	}
	have.lost = 40 // of 2,000: nearly nothing
	if found := s.grown([]*attempt{have}, singles); len(found[0].changes) != 2 {
		t.Errorf("what leaves nearly nothing lost is added to: %v", found[0].ids())
	}
}

// What ends a loss as assumed may leave a tenth of it with another value, but no more than a second of traffic in a run: a tenth of two minutes is no end.
func TestATenthOfALongLossIsNoEnd(t *testing.T) {
	t.Parallel()
	slow, fast := &world.Scenario{Traffic: []world.Traffic{{Rate: 10_000}}}, &world.Scenario{Traffic: []world.Traffic{{Rate: 5_000}, {Rate: 100_000}}}
	s := &search{before: 10_000, units: []*unit{{sc: slow}, {sc: fast}}}
	for name, c := range map[string]struct{ lost, part, want uint64 }{
		"a long loss, which it ends": {200, 60_000, 500},
		"a short one":                {200, 70, 70},
		"one that it does not end":   {201, 60_000, 60_000},
	} {
		if got := s.bearable(&attempt{lost: c.lost}, c.part, 5); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A part of a remedy that does as much by itself, with the other values, too, is all of it; else the fix says with which it does not. Nothing is asked
// again of a workload that is the same as another one.
func TestAPartThatDoesAsMuchIsAllOfIt(t *testing.T) {
	t.Parallel()
	part := func(id string, lost uint64) *attempt {
		return &attempt{changes: []fix.Change{{ID: id, Title: id}}, lost: lost, ran: true}
	}
	hook, budget := part("hook", 0), part("budget", 900)
	both := &attempt{changes: []fix.Change{hook.changes[0], budget.changes[0]}, ran: true}
	for name, c := range map[string]struct {
		light, holds bool
		want, not    string
	}{
		"with every other value":                    {false, true, "hook", ""},
		"not with one of them":                      {false, false, "hook budget", "60s"},
		"of a workload that is the same as another": {true, true, "hook budget", ""},
	} {
		other := &world.Scenario{}
		s := &search{
			before: 1000, light: c.light, singles: []*attempt{hook, budget}, done: map[tryID]*record.Run{}, confirmed: map[confirmation]*confirmed{},
			pool:      &pool{ctx: context.Background(), opts: &Options{}},
			otherwise: []otherwise{{Alternative: scenario.Alternative{ID: "start", Value: "60s", Scenario: other}, seeds: []uint64{1}, lost: 1000}},
		}
		y := try{of: other, changes: hook.changes, seed: 1}
		if s.done[y.id()] = (&record.Run{}); !c.holds {
			s.done[y.id()] = &record.Run{Groups: []ledger.Group{{Count: 500}}}
		}
		u := &unit{sc: &world.Scenario{Traffic: []world.Traffic{{Rate: 100_000}}}, record: record.Case{Runs: []record.Run{{Seed: 1}}}}
		s.units = []*unit{u}
		s.confirmed[confirmation{u, "hook"}] = &confirmed{saving: saving{before: 1000, runs: 1, newRuns: 1}}
		got, f := s.sufficient(both, &record.Fix{Alone: "hook"})
		if ids := strings.Join(got.ids(), " "); ids != c.want {
			t.Errorf("%s: %s, want %s", name, ids, c.want)
		}
		if not := ""; len(f.AloneNot) > 0 {
			if not = f.AloneNot[0].Value; not != c.not {
				t.Errorf("%s: not with %s, want %s", name, not, c.not)
			}
		} else if c.not != "" {
			t.Errorf("%s: nothing is said of %s", name, c.not)
		}
	}
}

// A hook is long enough for nodes that write their rules every 10 s, though hardly a request meets that: of what makes no difference to a case
// nothing else counts.
func TestAHookIsLongEnoughForSlowNodes(t *testing.T) {
	t.Parallel()
	u := unitsOf([]scenario.Case{oneCase(t, "  replicas: 2", readiness, scenario.Options{})[0]})[0]
	for i := range u.everyAlternative() {
		u.indifferent = append(u.indifferent, i)
	}
	var got []string
	for _, a := range mattering(u) {
		got = append(got, a.Value)
	}
	if want := []string{"minSyncPeriod 0s", "minSyncPeriod 10s"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
