package sweep

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// gated is an attempt that helps together with a readiness gate, where that leaves less: of the new runs with the attempt alone some find
// the load balancer without a target, because it does not know the new pods yet. Samples show that seldom: they are those runs that
// lost most before.
func (s *search) gated(a *attempt, f *record.Fix) (*attempt, *record.Fix) {
	gate := slices.IndexFunc(s.singles, func(one *attempt) bool { return one.changes[0].ID == fix.ReadinessGate })
	if gate < 0 || a.contains(s.singles[gate]) || !leftWithoutTarget(f) {
		return a, f
	}
	b := &attempt{changes: append(slices.Clone(a.changes), s.singles[gate].changes...)}
	with, helps := s.confirm(b)
	if !helps || losing(&with) >= losing(f) || leftWithoutTarget(&with) {
		return a, f
	}
	with.Alone = "" // the attempt alone leaves what the gate takes away
	return b, &with
}

// leftWithoutTarget says that in some of the new runs with a fix the load balancer had no target to send to.
func leftWithoutTarget(f *record.Fix) bool {
	return slices.ContainsFunc(f.Cases, func(c record.FixedCase) bool { return slices.Contains(c.Confirm.Left, ledger.NoHealthyTarget.String()) })
}

// losing counts the new runs that lose something with a fix.
func losing(f *record.Fix) int {
	n := 0
	for i := range f.Cases {
		n += f.Cases[i].Confirm.WithLoss
	}
	return n
}
