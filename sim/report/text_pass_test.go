package report

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Where little is lost and nothing in the manifest helps, what lets a pipeline pass is named, with the value for all that fails.
func TestWhatLetsAPipelinePass(t *testing.T) {
	t.Parallel()
	of := func(lost engine.Time, requests int64) record.Case {
		return record.Case{Workload: "shop/web", Verdict: record.Drops, LostSeconds: record.Range{Median: int64(lost)}, RequestsLost: record.Range{Median: requests}}
	}
	const ms = engine.Millisecond
	families := record.Case{Workload: "shop/web", Verdict: record.Depends, Families: []record.Family{{Case: of(20*ms, 3)}, {Case: record.Case{Verdict: record.Holds}}}}
	endless := of(0, 0)
	endless.Verdict = record.Stalled
	for name, c := range map[string]struct {
		cases []record.Case
		fixes []*record.Fix
		l     record.Limits
		want  string
	}{
		"few runs lose a request":                {[]record.Case{of(0, 0)}, nil, record.Limits{}, "--max-drops 1"},
		"two requests, and more in another case": {[]record.Case{of(20*ms, 2), of(50*ms, 5)}, nil, record.Limits{}, "--max-drops 5"},
		"behind one of the load balancers":       {[]record.Case{families}, nil, record.Limits{}, "--max-drops 3"},
		"more than is allowed":                   {[]record.Case{of(20*ms, 2)}, nil, record.Limits{MaxDrops: 1}, "--max-drops 2"},
		"as much as is allowed":                  {[]record.Case{of(20*ms, 2)}, nil, record.Limits{MaxDrops: 2}, ""},
		"no little loss":                         {[]record.Case{of(200*ms, 20)}, nil, record.Limits{}, ""},
		"another case loses much":                {[]record.Case{of(20*ms, 2), of(engine.Second, 100)}, nil, record.Limits{}, ""},
		"another case cannot end":                {[]record.Case{of(20*ms, 2), endless}, nil, record.Limits{}, ""},
		"a change helps":                         {[]record.Case{of(20*ms, 2)}, []*record.Fix{{Workload: "shop/web", Title: "preStop: sleep 5"}}, record.Limits{}, ""},
	} { // order: each for itself
		s := &record.Simulation{Cases: c.cases, Wording: flags(), NoHelp: []record.NoHelp{{Workload: "shop/web"}}}
		for _, f := range c.fixes {
			s.Fixes = append(s.Fixes, *f)
		}
		got := newText(s, TextOptions{Limits: c.l}, everything).passes(&s.Cases[0])
		if c.want == "" && got != nil || c.want != "" && !slices.Equal(got, []string{"the exit code is 1 for this; to allow it, in a pipeline: " + c.want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	unlooked := []record.Case{of(0, 0)}
	x := newText(&record.Simulation{Cases: unlooked, Wording: flags()}, TextOptions{}, everything)
	if got := x.passes(&unlooked[0]); got != nil {
		t.Errorf("where no change was looked for: %q", got)
	}
	unlooked[0].Causes = []record.Cause{{Blame: ledger.Blame{Cause: ledger.KeepaliveRace}}}
	if got := x.passes(&unlooked[0]); len(got) != 1 {
		t.Errorf("where none would have to do with it: %q", got)
	}
}
