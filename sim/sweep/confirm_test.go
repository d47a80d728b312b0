package sweep

import (
	"context"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A fix is confirmed on seeds that nobody has seen: with no change at all, the case's own seeds give
// what they gave, and the others something else.
func TestFixesAreConfirmedOnOtherSeeds(t *testing.T) {
	t.Parallel()
	const runs = 6
	p := &pool{ctx: context.Background(), opts: &Options{Seed: 3, Runs: runs, ConfirmRuns: runs}}
	units := unitsOf(oneCase(t, "  replicas: 2", readiness, scenario.Options{}))
	if errs := central(p, units); len(errs) > 0 {
		t.Fatal(errs)
	}
	u := units[0]
	s := &search{pool: p, workload: u.record.Workload, units: units, reruns: rerunning, confirmed: map[confirmation]*confirmed{}}
	got := s.confirmOn(u, &attempt{})
	if got.runs != runs || got.newRuns != runs || got.before == 0 {
		t.Fatalf("%d runs that lost %d requests, %d new ones", got.runs, got.before, got.newRuns)
	}
	own := got.fixed
	if own.After != own.Before || !slices.Equal(got.longer, make([]int64, runs)) {
		t.Errorf("the same runs lost %+v, and now %+v; longer by %v", own.Before, own.After, got.longer)
	}
	was := closed(u.record.Runs)
	if own.ID != u.record.ID || own.StuckBefore != 0 || own.Stuck != 0 || own.Before != was.LostSeconds || own.WithLoss != was.WithLoss || own.WithLoss == 0 || own.Runs != runs {
		t.Errorf("its own runs: %+v, want those of %+v", own, was.LostSeconds)
	}
	if c := own.Confirm; c.Runs != runs || c.Stuck != 0 || c.WithLoss == 0 || !slices.Equal(c.Left, left(&was)) || len(c.Left) == 0 {
		t.Errorf("its new runs: %+v", c)
	}
	if s.confirmOn(u, &attempt{}) != got {
		t.Error("what has been confirmed is run again")
	}
	replicas := fix.Change{Title: "3 replicas"}
	if other := s.confirmOn(u, &attempt{changes: []fix.Change{replicas}}); other == got || len(s.confirmed) != 2 {
		t.Error("another attempt is taken for the same")
	}
	if got.after == got.before || own.Confirm.LostSeconds == own.Before {
		t.Errorf("new runs lost as much as the others, %d requests, %+v", got.after, own.Before)
	}
}
