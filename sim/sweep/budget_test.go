package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A fix is confirmed on 200 new seeds, on fewer where each of them is dear with it, and on few where the same case was confirmed
// before with what helps behind another load balancer, or another workload that is the same was.
func TestHowManySeedsConfirmAFix(t *testing.T) {
	t.Parallel()
	light, balanced := record.Run{Events: 500}, &world.Family{Preset: "gke-l4"}
	for name, c := range map[string]struct {
		family    *world.Family
		before    bool // it was confirmed with another set of changes
		events    uint64
		same      bool
		own, anew int
	}{
		"one of few":                           {nil, false, 500, false, 100, confirmRuns},
		"dear with the fix":                    {balanced, false, 2_500, false, 100, confirmRuns},
		"dear with it, twice as much":          {balanced, false, 10_000, false, 100, 100},
		"dearer":                               {balanced, false, 1_000_000, false, 100, fewestNew},
		"again, without a load balancer":       {nil, true, 500, false, lightRuns, lightRuns},
		"again, behind a load balancer":        {balanced, true, 500, false, 100, confirmRuns},
		"a workload that is the same as one":   {balanced, false, 500, true, lightRuns, lightRuns},
		"the same, and dearer than any budget": {balanced, false, 10_000_000, true, lightRuns, lightRuns},
	} {
		u := &unit{of: &scenario.Case{}, family: c.family, sc: &world.Scenario{}}
		for range 100 {
			u.record.Runs = append(u.record.Runs, light)
		}
		s := &search{
			pool: &pool{opts: &Options{ConfirmRuns: confirmRuns}}, preset: "gke-l4", light: c.same, reruns: rerunning, confirms: confirming, mostNew: confirmRuns,
			confirmed: map[confirmation]*confirmed{},
		}
		if c.before {
			s.confirmed[confirmation{unit: u, changes: "preStop: sleep 15; "}] = &confirmed{}
		}
		if own, anew := s.rerunsOf(u), s.newRunsOf(u, []record.Run{{Events: c.events - 1}}); own != c.own || anew != c.anew {
			t.Errorf("%s: %d of its own and %d new seeds, want %d and %d", name, own, anew, c.own, c.anew)
		}
	}
}

// What helps the workloads that matter most is confirmed on all new seeds, what helps others on half of them.
func TestWorkloadsThatMatterLessHaveFewerNewSeeds(t *testing.T) {
	t.Parallel()
	b := &bench{pool: &pool{opts: &Options{ConfirmRuns: 5}}, workloads: []string{"a", "b", "c", "d"}}
	for name, want := range map[string]int{"a": 5, "c": 5, "d": 3} {
		if s := b.searchFor(&group{workload: name}); s.mostNew != want {
			t.Errorf("%s: %d, want %d", name, s.mostNew, want)
		}
	}
}

// With the other values of what a case depends on fewer seeds are run where these are many, or a run is dear.
func TestHowManySeedsAreRunWithOtherValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ runs, others, budget, want int }{
		{100, 10, searching, lateOther}, {100, 10, searching / 300, fewestOther}, {100, 10, 15_000, 3}, {1, 10, searching, 1}, {100, 0, 0, fewestOther},
	} {
		u := &unit{of: &scenario.Case{}, sc: &world.Scenario{}, others: make([]other, c.others)}
		for range c.runs {
			u.record.Runs = append(u.record.Runs, record.Run{Events: 499})
		}
		if n := (&search{budget: c.budget}).seedsWithOthers(u); n != c.want {
			t.Errorf("%+v: %d seeds", c, n)
		}
	}
}

// One run with another value is enough where each run of the unit loses something and it comes to as much, if there is more to try than the
// budget allows.
func TestWhereOneRunWithAnotherValueIsEnough(t *testing.T) {
	t.Parallel()
	lost := func(requests ...uint64) (out []record.Run) {
		for _, n := range requests {
			out = append(out, record.Run{Settled: true, Streams: []record.Stream{{
				Totals: ledger.Totals{Total: 10_000, OK: 10_000 - n, Failed: n}, LostSeconds: engine.Time(n) * 10 * engine.Millisecond,
			}}})
		}
		return out
	}
	for name, c := range map[string]struct {
		own, other []record.Run
		least      int
		enough     bool
	}{
		"as much":                         {lost(500, 480, 530), lost(505), leastSeeds, true},
		"as much, and there is room":      {lost(500, 480, 530), lost(505), fewestSeeds, false},
		"more":                            {lost(500, 480, 530), lost(540), leastSeeds, false},
		"as much, but not in each run":    {lost(500, 0, 530), lost(505), leastSeeds, false},
		"nothing in either, as it may be": {lost(0, 0, 0), lost(0), leastSeeds, false},
		"more runs than one":              {lost(500, 480, 530), lost(500, 480), leastSeeds, false},
	} {
		u := &unit{of: &scenario.Case{}, sc: &world.Scenario{}, record: record.Case{Runs: slices.Repeat(c.own, calmRuns/3+1)}}
		u.record.Close()
		if enough := (&trial{unit: u, runs: c.other}).evident(c.least); enough != c.enough {
			t.Errorf("%s: %t", name, enough)
		}
		if u.record.Runs = c.own; (&trial{unit: u, runs: c.other}).evident(c.least) {
			t.Errorf("%s: enough though the unit has few runs", name)
		}
	}
}
