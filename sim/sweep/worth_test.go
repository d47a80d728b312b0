package sweep

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// What a change saves on average counts: of the loss of a run's worst client as much as there are fewer requests lost with it.
func TestWhatAChangeSavesOnAverage(t *testing.T) {
	t.Parallel()
	run := func(lost ...engine.Time) record.Run {
		out := record.Run{}
		for _, l := range lost {
			out.Streams = append(out.Streams, record.Stream{LostSeconds: l})
		}
		return out
	}
	runs := []record.Run{run(100*engine.Millisecond, 20*engine.Millisecond), run(0, 300*engine.Millisecond)}
	for name, c := range map[string]struct { // order: each for itself
		saving saving
		want   engine.Time
	}{
		"half of it":            {saving{before: 40, runs: 2, after: 40, newRuns: 4}, 100 * engine.Millisecond},
		"all of it":             {saving{before: 40, runs: 2, after: 0, newRuns: 200}, 200 * engine.Millisecond},
		"more is lost with it":  {saving{before: 40, runs: 2, after: 100, newRuns: 4}, 0},
		"nothing was lost":      {saving{before: 0, runs: 2, after: 0, newRuns: 4}, 0},
		"it was not run anew":   {saving{before: 40, runs: 2}, 0},
		"as much as without it": {saving{before: 40, runs: 2, after: 80, newRuns: 4}, 0},
	} {
		if got := c.saving.onAverage(runs); got != c.want {
			t.Errorf("%s: %s s, want %s s", name, got.Seconds(), c.want.Seconds())
		}
	}
}
