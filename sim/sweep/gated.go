package sweep

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// gated is an attempt that helps together with a readiness gate, where that leaves less: of the new runs with the attempt alone some find
// the load balancer without a target, because it does not know the new pods yet, or would if it took as long as is reported. Samples show that
// seldom: they are those runs that lost most before.
func (s *search) gated(a *attempt, f *record.Fix) (*attempt, *record.Fix) {
	gate := slices.IndexFunc(s.singles, func(one *attempt) bool { return one.changes[0].ID == fix.ReadinessGate })
	if gate < 0 || a.contains(s.singles[gate]) {
		return a, f
	}
	without := leftWithoutTarget(f)
	if !without && (s.light || s.leftByTheBalancer(a) == 0) {
		return a, f
	}
	b := &attempt{changes: append(slices.Clone(a.changes), s.singles[gate].changes...)}
	with, helps := s.confirm(b)
	if !helps || leftWithoutTarget(&with) || without && losing(&with) >= losing(f) {
		return a, f
	}
	if !without && (losing(&with) > losing(f) || s.leftByTheBalancer(b) >= s.leftByTheBalancer(a)) {
		return a, f
	}
	with.Alone = "" // the attempt alone leaves what the gate takes away
	return b, &with
}

// sufficient is the change of an attempt that does as much by itself, where it does so with all other values, too: nothing else is needed. Where it
// does not, the fix says with which.
func (s *search) sufficient(a *attempt, f *record.Fix) (*attempt, *record.Fix) {
	_, alone := s.firstOf(a)
	if s.light || f.Alone == "" || alone == nil {
		return a, f
	}
	if f.AloneNot = append(s.notWith(alone), s.brokenBy(alone)...); len(f.AloneNot) > 0 {
		return a, f
	}
	if by, helps := s.confirm(alone); helps && losing(&by) <= losing(f) {
		return alone, &by
	}
	return a, f
}

// leftByTheBalancer counts the other values of the load balancer with which an attempt does not do what it does as assumed.
func (s *search) leftByTheBalancer(a *attempt) int {
	n := 0
	for _, o := range append(s.notWith(a), s.brokenBy(a)...) {
		if strings.HasPrefix(o.ID, "lb.") {
			n++
		}
	}
	return n
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
