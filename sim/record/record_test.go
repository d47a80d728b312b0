package record

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// runs makes a case whose runs lose so many requests each, with so long an outage.
func runs(outage engine.Time, lost ...uint64) *Case {
	c := &Case{ID: "x", Clients: []Client{{Name: "outside", Rate: 100_000}}, Nodes: []string{"node-1", "node-2"}}
	for i, n := range lost {
		s := Stream{Totals: ledger.Totals{Total: 1000, OK: 1000 - n, Failed: n}, LostSeconds: engine.Time(n) * 10 * engine.Millisecond}
		run := Run{Seed: uint64(i + 1), Settled: true, Usable: Usable{Of: 2, Min: 1, For: engine.Time(i) * engine.Second}}
		if n > 0 {
			s.LongestOutage = outage
			run.Groups = []ledger.Group{{
				Outcome: ledger.Refused, Blame: ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}, Count: n,
				First: engine.Time(n), Last: engine.Time(2 * n), Nodes: map[int]uint64{1: n}, Pods: map[string]uint64{"b": 1, "a": 1},
			}}
		}
		run.Streams = []Stream{s}
		c.Runs = append(c.Runs, run)
	}
	c.Close()
	return c
}

func TestVerdictFollowsFromTheRuns(t *testing.T) {
	t.Parallel()
	unsettled := runs(0, 0, 0)
	unsettled.Verdict = ""
	unsettled.Runs[1].Settled = false
	unsettled.Close()
	silent := &Case{Clients: []Client{{Name: "outside"}}, Runs: []Run{{Settled: true, Streams: []Stream{{Totals: ledger.Totals{Total: 9}, Before: 9}}}}}
	silent.Close()
	for name, c := range map[string]struct {
		got  *Case
		want Verdict
	}{
		"nothing answers, whatever is done":                 {silent, NotJudged},
		"nothing lost in any run":                           {runs(0, 0, 0, 0), Holds},
		"lost in one run":                                   {runs(0, 0, 0, 3), Drops},
		"nothing answered for a second in most runs":        {runs(engine.Second, 100, 100, 0), Outage},
		"nothing answered for a second in half of the runs": {runs(engine.Second, 100, 0), Drops},
		"nothing answered for less than a second":           {runs(engine.Second-1, 100, 100), Drops},
		"nothing lost, but a run had not settled":           {unsettled, NotJudged},
		"no run at all":                                     {runs(0), NotJudged},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, c.got.Verdict, c.want)
		}
	}
}

func TestFiguresOverRuns(t *testing.T) {
	t.Parallel()
	c := runs(0, 7, 0, 3, 10)
	if want := (Range{0, 3, 10}); c.RequestsLost != want {
		t.Errorf("requests lost %v, want %v", c.RequestsLost, want)
	}
	if c.WithLoss != 3 || c.WorstSeed != 4 || c.Bound != 0 {
		t.Errorf("%d runs with loss, worst seed %d, bound %d", c.WithLoss, c.WorstSeed, c.Bound)
	}
	x := c.Causes[0]
	if x.Example.Seed != c.WorstSeed {
		t.Errorf("the example is of seed %d, the worst one is %d", x.Example.Seed, c.WorstSeed)
	}
	if len(c.Causes) != 1 || x.Count != 20 || x.First != 3 || x.Last != 20 || !slices.Equal(x.Nodes, []string{"node-2"}) || !slices.Equal(x.Pods, []string{"a", "b"}) {
		t.Errorf("causes %+v", c.Causes)
	}
}

// 1 - 0.05^(1/n): n = 1 gives 0.95; 20: 1 - e^(-2.995732/20) = 0.139108; 200: 0.014867;
// 300: 0.009936.
func TestLossBound(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]Fraction{1: 950_000, 20: 139_109, 200: 14_868, 300: 9_937} {
		if got := LossBound(n); got < want-1 || got > want+1 {
			t.Errorf("%d runs: %d millionths, want %d", n, got, want)
		}
	}
}

func TestExpectNamesEveryClaimThatDidNotComeTrue(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	span := func(n engine.Time) *engine.Time { return &n }
	c := runs(0, 7, 0, 3, 10)
	for _, x := range []struct {
		expect world.Expect
		unmet  int
	}{
		{world.Expect{}, 0},
		{world.Expect{FailedMax: number(10), FailedMin: number(0), Verdict: "drops", CausesSome: []string{"stale-rules"}, CausesOnly: []string{"stale-rules"}}, 0},
		{world.Expect{FailedMax: number(9), LostSecondsMax: span(99 * engine.Millisecond), LostSecondsMin: span(1)}, 3},
		{world.Expect{FailedMin: number(1), Verdict: "holds"}, 2},
		{world.Expect{CausesSome: []string{"crashed"}, CausesOnly: []string{"crashed"}, CausesNone: []string{"stale-rules"}}, 3},
		{world.Expect{UsablePodsMin: number(1), UsablePodsMax: number(2)}, 0},
		{world.Expect{UsablePodsMin: number(2)}, 1},
		{world.Expect{UsablePodsMax: number(0)}, 1},
	} {
		c.Expectation = &x.expect
		if got := Expect(c); len(got) != x.unmet {
			t.Errorf("%+v: %q, want %d", x.expect, got, x.unmet)
		}
		c.Unmet = Expect(c)
		if c.Fails(Limits{MaxDrops: 1000}) != (x.unmet > 0) {
			t.Errorf("%+v: an expectation alone decides whether it is a finding", x.expect)
		}
	}
	c.Expectation = nil
	if c.Fails(Limits{MaxDrops: 3}) || !c.Fails(Limits{MaxDrops: 2}) {
		t.Error("without an expectation the median run counts, which loses 3 requests")
	}
}
