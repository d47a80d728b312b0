package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A readiness gate goes with a fix where some of the new runs find the load balancer without a target, and none does with it.
func TestAGateGoesWithWhatLeavesNoTarget(t *testing.T) {
	t.Parallel()
	const noTarget, stale = "no-healthy-target", "stale-lb"
	type left struct {
		runs  int
		cause string
	}
	for name, x := range map[string]struct {
		alone, with left
		hasGate     bool
		want        bool
	}{
		"two runs, and none with the gate":    {left{2, noTarget}, left{}, true, true},
		"another cause":                       {left{2, stale}, left{}, true, false},
		"as many with the gate":               {left{2, noTarget}, left{2, stale}, true, false},
		"fewer, and without a target again":   {left{2, noTarget}, left{1, noTarget}, true, false},
		"fewer, and with a target":            {left{2, noTarget}, left{1, stale}, true, true},
		"nothing is left":                     {left{}, left{}, true, false},
		"the load balancer knows of no gates": {left{2, noTarget}, left{}, false, false},
	} {
		hook, gate := fix.Change{ID: "preStop", Title: "hook"}, fix.Change{ID: fix.ReadinessGate, Title: "gate"}
		u := &unit{}
		confirmedAs := func(l left) *confirmed {
			c := &confirmed{saving: saving{before: 100, runs: 10, newRuns: 200, after: uint64(l.runs)}}
			c.fixed.Confirm = record.Confirm{Runs: 200, WithLoss: l.runs}
			if l.cause != "" {
				c.fixed.Confirm.Left = []string{l.cause}
			}
			return c
		}
		s := &search{units: []*unit{u}, light: true, confirmed: map[confirmation]*confirmed{{u, "hook"}: confirmedAs(x.alone), {u, "hook; gate"}: confirmedAs(x.with)}}
		if x.hasGate {
			s.singles = []*attempt{{changes: []fix.Change{hook}}, {changes: []fix.Change{gate}}}
		}
		a := &attempt{changes: []fix.Change{hook}}
		f, helps := s.confirm(a)
		if !helps {
			t.Fatalf("%s: the hook alone does not help", name)
		}
		got, told := s.gated(a, &f)
		if slices.Contains(got.ids(), fix.ReadinessGate) != x.want || (told != &f) != x.want || told.Alone != "" {
			t.Errorf("%s: %q, %+v", name, got.ids(), told)
		}
		if again, _ := s.gated(got, told); again != got {
			t.Errorf("%s: a gate beside a gate: %q", name, again.ids())
		}
	}
}
