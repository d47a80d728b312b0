package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// slowStart is a case with a value of its start at which its rollout never ends, and one that makes no difference.
func slowStart(verdict record.Verdict) *record.Case {
	return &record.Case{
		Workload: "shop/web", Verdict: verdict, Action: "rollout", Runs: make([]record.Run, 2), LostSeconds: record.Range{Median: int64(engine.Second)},
		Assumptions: []world.Assumption{{ID: "start", Value: "2s", Settle: "--set start="}},
		Alternatives: []record.Alternative{
			{ID: "timeout", Value: "5s", Verdict: verdict, LostSeconds: record.Range{Median: 9 * int64(engine.Second)}, Effect: record.SizeEffect},
			{ID: "start", Value: "500ms", Verdict: verdict, Effect: record.NoEffect},
			{
				ID: "start", Value: "20s", Verdict: record.Stalled, Effect: record.VerdictEffect,
				Stuck: &record.Stuck{Why: "the new pod has been restarted by its livenessProbe", What: "a startupProbe", File: "web.yaml", Line: 29},
			},
		},
	}
}

// A value at which a rollout never ends is no value with which nothing is lost, and what would let it go on is to do.
func TestWhatHoldsNamesTheValueAtWhichItNeverEnds(t *testing.T) {
	t.Parallel()
	c := slowStart(record.Holds)
	c.Alternatives = c.Alternatives[1:]
	x := newText(&record.Simulation{}, TextOptions{}, everything)
	why := strings.Join(x.whyItHolds(c), "|")
	const never = "the rollout never ends if containers listen after 20 s: the new pod has been restarted by its livenessProbe (web.yaml:29)"
	if !strings.Contains(why, never) || !strings.Contains(why, "nothing is lost with any of the 1 other value either that were tried") {
		t.Error(why)
	}
	if todo := x.todo(c); len(todo) != 1 || todo[0] != "nothing as assumed; where it would never end: a startupProbe" {
		t.Errorf("%q", todo)
	}
}

// What never ends comes before what only loses more, and says what it waits for.
func TestUnlessBeginsWithWhatNeverEnds(t *testing.T) {
	t.Parallel()
	got := unless(slowStart(record.Drops))
	if len(got) != 2 || got[0] != "containers listen after 20 s: stuck: the new pod has been restarted by its livenessProbe (web.yaml:29) (--set start=)" {
		t.Errorf("%q", got)
	}
}

// That something is stuck in so few runs that the verdict is another one is said all the same, with what it waits for and what lets it go on.
func TestWhatIsRarelyStuckIsSaid(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[record.Verdict]string{
		record.Rare:  ": the rollout does not finish in 2 of 100 runs: the new pod is not ready. Nothing is lost.",
		record.Drops: " loses 0.5 s of traffic in every rollout. The rollout does not finish in 2 of 100 runs: the new pod is not ready.",
	} {
		c := &record.Case{Workload: "web", Action: "rollout", Clients: []record.Client{{Rate: 100_000}}, Runs: make([]record.Run, 100)}
		for i := range c.Runs {
			c.Runs[i] = record.Run{Seed: uint64(i + 1), Settled: true, Streams: []record.Stream{{}}}
			if verdict == record.Drops {
				c.Runs[i].Streams[0].Failed, c.Runs[i].Streams[0].LostSeconds = 50, 500*engine.Millisecond
			}
		}
		c.Runs[3].Stuck = &record.Stuck{Why: "the new pod is not ready", What: "a startupProbe", File: "web.yaml", Line: 29}
		c.Runs[9].Stuck = c.Runs[3].Stuck
		c.Close()
		if got := sentence(c, scenario.Wording{}); c.Verdict != verdict || got != want {
			t.Errorf("%s: %q", c.Verdict, got)
		}
		todo := newText(&record.Simulation{}, TextOptions{}, everything).todo(c)
		if verdict == record.Rare && (len(todo) != 1 || todo[0] != "a startupProbe (web.yaml:29)") {
			t.Errorf("%q", todo)
		}
	}
}

// That nothing is lost with any other value is not said where something is, in however few of the runs.
func TestThatNothingIsLostWithAnyIsNotSaidWhereSomethingIs(t *testing.T) {
	t.Parallel()
	c := &record.Case{Verdict: record.Holds, Runs: make([]record.Run, 100), Alternatives: []record.Alternative{
		{ID: "churn", Value: "2/s", Verdict: record.Rare, Effect: record.NoEffect, Runs: 100, WithLoss: 1}, {ID: "serve", Value: "1s", Verdict: record.Holds, Effect: record.NoEffect, Runs: 20},
	}}
	some := &text{sim: &record.Simulation{}}
	if why := strings.Join(some.whyItHolds(c), "; "); why != "with 1 of the 2 other values that were tried something is lost in few runs (-v)" {
		t.Errorf("%q", why)
	}
}

// An outage that ends may leave a pod waiting for ever: that is said beside it, with what would let it. Where the outage does not end it is what the
// headline is about.
func TestAnOutageThatLeavesAPodWaiting(t *testing.T) {
	t.Parallel()
	stuck := &record.Stuck{Why: "the new pod waits for its volume", What: "a volume that several nodes may have", File: "web.yaml", Line: 18}
	runs := make([]record.Run, 2)
	for i := range runs {
		runs[i].Usable = record.Usable{Of: 2, Now: 1}
	}
	const reason = ": the new pod waits for its volume (web.yaml:18); what would let it: a volume that several nodes may have"
	for name, x := range map[string]struct {
		c    record.Case
		want string
	}{
		"a rollout": {record.Case{Verdict: record.Outage, Action: scenario.ActionRollout, Stuck: stuck, Runs: runs}, "a rolling restart never finishes" + reason},
		"a drain":   {record.Case{Verdict: record.Outage, Action: "node drain", Stuck: stuck, Runs: runs}, "after a node drain not all pods come back" + reason},
		"nobody":    {record.Case{Verdict: record.Outage, Action: "node drain", Runs: runs}, ""},
		"stuck":     {record.Case{Verdict: record.Stalled, Action: scenario.ActionRollout, Stuck: stuck, Runs: runs}, ""},
		"for good":  {record.Case{Verdict: record.Outage, Action: scenario.ActionRollout, Stuck: stuck, Runs: []record.Run{{Stuck: stuck}}}, ""},
	} {
		out := newText(&record.Simulation{Cases: []record.Case{x.c}}, TextOptions{}, everything)
		if got := strings.Join(out.endless(&out.sim.Cases[0]), "|"); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// A headline of an outage names the clients without an answer where others are answered all the time.
func TestAnOutageOfOneKindOfClients(t *testing.T) {
	t.Parallel()
	of := func(outages ...engine.Time) *record.Case {
		c := &record.Case{Runs: make([]record.Run, 1)}
		for i, outage := range outages {
			c.Clients = append(c.Clients, record.Client{Name: []string{"new connections", "keep-alive"}[i]})
			c.Runs[0].Streams = append(c.Runs[0].Streams, record.Stream{LongestOutage: outage})
		}
		return c
	}
	for name, x := range map[string]struct {
		c    *record.Case
		want string
	}{
		"those who keep theirs": {of(0, 5*engine.Second), " over connections kept open"},
		"new ones":              {of(5*engine.Second, 999*engine.Millisecond), ""},
		"all":                   {of(5*engine.Second, engine.Second), ""},
		"nobody for long":       {of(0, 0), ""},
		"there is one kind":     {of(5 * engine.Second), ""},
	} {
		if got := overSome(x.c); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
