package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// What helps pods that are told to stop is not judged by those that end with their machine: each kind of case has its own changes, and its own
// that do not help.
func TestACrashSpoilsNoChangeForADrain(t *testing.T) {
	t.Parallel()
	s := swept(t, drainedCases(t, web, "drain", "crash"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	hook := slices.IndexFunc(s.Fixes, func(f record.Fix) bool {
		return slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.Action == "node drain" && x.After.Median == 0 })
	})
	if hook < 0 {
		t.Errorf("no change for the drain: %+v, in vain: %+v", s.Fixes, s.NoHelp)
	}
	for _, c := range s.Cases {
		if c.Sudden != (c.Action == "node crash") {
			t.Errorf("%s: sudden %v", c.ID, c.Sudden)
		}
	}
	for _, n := range s.NoHelp {
		if n.Why != "" && !n.Sudden {
			t.Errorf("%+v", n)
		}
	}
}
