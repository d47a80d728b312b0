package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
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
	s := &search{pool: p, workload: u.record.Workload, units: units, reruns: rerunning, mostNew: p.opts.ConfirmRuns, confirmed: map[confirmation]*confirmed{}}
	got := s.confirmOn(u, &attempt{})
	if got.runs != runs || got.newRuns != runs || got.before == 0 {
		t.Fatalf("%d runs that lost %d requests, %d new ones", got.runs, got.before, got.newRuns)
	}
	s.confirmedAsItWas(t, u, got, runs)
	s.confirmedOnce(t, u, got)
	if got.after == got.before || got.fixed.Confirm.LostSeconds == got.fixed.Before {
		t.Errorf("new runs lost as much as the others, %d requests, %+v", got.after, got.fixed.Before)
	}
}

// confirmedAsItWas wants the figures of no change: those of the case on its own seeds.
func (s *search) confirmedAsItWas(t *testing.T, u *unit, got *confirmed, runs int) {
	t.Helper()
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
}

// confirmedOnce wants what has been confirmed to be known, and another attempt to be another.
func (s *search) confirmedOnce(t *testing.T, u *unit, got *confirmed) {
	t.Helper()
	if s.confirmOn(u, &attempt{}) != got {
		t.Error("what has been confirmed is run again")
	}
	replicas := fix.Change{Title: "3 replicas"}
	if other := s.confirmOn(u, &attempt{changes: []fix.Change{replicas}}); other == got || len(s.confirmed) != 2 {
		t.Error("another attempt is taken for the same")
	}
}

// What the cases of a workload say of a fix is put together: it has to lose half as much in new runs over all of them, and each of these has to end.
func TestAFixIsConfirmedByAllCasesTogether(t *testing.T) {
	t.Parallel()
	one, two := &unit{}, &unit{}
	for _, c := range []struct {
		name   string
		a, b   confirmed
		longer engine.Time
		helps  bool
	}{
		{"both lose less", confirmed{saving: saving{before: 10, runs: 2, newRuns: 2}, longer: []int64{5, 1}}, confirmed{saving: saving{before: 10, runs: 2, after: 9, newRuns: 2}, longer: []int64{9, -3, 4}}, 4, true},
		{"half as much is enough", confirmed{saving: saving{before: 10, runs: 2, after: 5, newRuns: 2}, longer: []int64{7}}, confirmed{}, 7, true},
		{"more than half", confirmed{saving: saving{before: 10, runs: 2, after: 6, newRuns: 2}, longer: []int64{7, 8}}, confirmed{}, 7, false},
		{"as much in twice as many runs", confirmed{saving: saving{before: 10, runs: 2, after: 10, newRuns: 4}}, confirmed{}, 0, true},
		{"one loses more than the other less", confirmed{saving: saving{before: 10, runs: 2, newRuns: 2}}, confirmed{saving: saving{before: 1, runs: 2, after: 9, newRuns: 2}}, 0, false},
		{"one of two is halved, the other as before", confirmed{saving: saving{before: 10, runs: 2, after: 10, newRuns: 2}}, confirmed{saving: saving{before: 8, runs: 2, after: 1, newRuns: 2}}, 0, true},
		{"nothing was run", confirmed{saving: saving{before: 10, runs: 2}}, confirmed{}, 0, false},
		{"a new run that does not end", confirmed{saving: saving{before: 10, runs: 2, newRuns: 2}, fixed: record.FixedCase{Confirm: record.Confirm{Stuck: 1}}}, confirmed{}, 0, false},
	} {
		s := &search{units: []*unit{one, two}, light: true, confirmed: map[confirmation]*confirmed{{unit: one}: &c.a, {unit: two}: &c.b}}
		f, helps := s.confirm(&attempt{})
		if f.Longer != c.longer || helps != c.helps || len(f.Cases) != 2 {
			t.Errorf("%s: helps %v, longer by %d, %d cases", c.name, helps, f.Longer, len(f.Cases))
		}
	}
}

// What is only for other values of what was assumed is named last.
func TestWhatIsForOtherValuesComesLast(t *testing.T) {
	t.Parallel()
	a := &attempt{changes: []fix.Change{{ID: "budget", Otherwise: true}, {ID: "preStop"}, {ID: "readinessGate"}}}
	s := &search{before: 100}
	if got, alone := s.firstOf(a); strings.Join(got.ids(), " ") != "preStop readinessGate budget" || alone != nil {
		t.Errorf("%v, %v", got.ids(), alone)
	}
	s.singles = []*attempt{{changes: []fix.Change{{ID: "readinessGate", Title: "gate"}}, ran: true}}
	if got, alone := s.firstOf(a); strings.Join(got.ids(), " ") != "readinessGate preStop budget" || alone != s.singles[0] {
		t.Errorf("%v, %v", got.ids(), alone)
	}
}
