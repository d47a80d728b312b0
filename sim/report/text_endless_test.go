package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
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
