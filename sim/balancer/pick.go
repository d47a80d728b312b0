package balancer

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Active lists the members that get new connections, in order. The caller does not change it.
func (b *Balancer) Active() []int { return b.actives() }

// actives lists the members that get new connections. The caller does not change it.
func (b *Balancer) actives() []int {
	if !b.stale {
		return b.active
	}
	b.stale = false
	b.active, b.opens = b.sendsTo(func(*member) bool { return true }, func(m *member) bool { return m.serves })
	return b.active
}

// sendsTo lists those of some members that get new connections if there are no others, of which some are well; opens says that they are all
// there are, for none is well.
func (b *Balancer) sendsTo(of, well func(*member) bool) (list []int, opens bool) {
	var present, healthy []int
	for _, m := range b.members {
		if m.removed || !of(m) {
			continue
		}
		if !m.initial {
			present = append(present, m.id)
		}
		if well(m) {
			healthy = append(healthy, m.id)
		}
	}
	opens = len(healthy) == 0 && len(present) > 0 && b.spec.FailOpen
	return b.announced(b.open(present, healthy)), opens
}

// FailsOpen says that new connections go to all members there are, for none is healthy.
func (b *Balancer) FailsOpen() bool {
	b.actives()
	return b.opens
}

// open is what a load balancer makes of its members, those left out whose first checks are not
// finished where that matters, and of those that are healthy.
func (b *Balancer) open(present, healthy []int) []int {
	if len(healthy) == 0 && b.spec.FailOpen {
		return present
	}
	return healthy
}

// announced leaves, of the nodes that could, the one that answers ARP.
func (b *Balancer) announced(nodes []int) []int {
	if b.spec.Announce != world.AnnounceL2 || len(nodes) < 2 {
		return nodes
	}
	return []int{slices.MinFunc(nodes, func(x, y int) int {
		h, k := b.election(x), b.election(y)
		return bytes.Compare(h[:], k[:])
	})}
}

// election is the number by which MetalLB's speakers agree on one node
// (docs/model/load-balancers.md 2: the lowest hash of node and address).
func (b *Balancer) election(node int) [32]byte {
	return sha256.Sum256([]byte(fmt.Sprint(b.cluster.Address(node), "#", b.spec.Service)))
}

// changed makes what follows from a change of the members; before is whom they were.
func (b *Balancer) changed(before []int) {
	b.stale = true
	after := b.actives()
	if !slices.Equal(before, after) {
		b.observer.Sends(after)
	}
	if b.spec.Announce == world.AnnounceNone || slices.Equal(before, after) || len(before) == 0 {
		return
	}
	b.observer.Moved(func(flow uint64, member int) bool {
		return len(after) == 0 || after[engine.Below(flow, len(after))] != member
	})
}

// Pick returns the member that a new connection goes to, ok false when there is none. A flow
// that was sent to a member before stays with it while it is active, or longer (keeps); last is
// that member, -1 for none.
func (b *Balancer) Pick(flow uint64, last int) (member int, ok bool) {
	list := b.actives()
	switch {
	case last >= 0 && b.keeps(last):
		return last, true
	case len(list) == 0:
		return -1, false
	case last >= 0 && b.spec.Hash == world.HashFlow && slices.Contains(list, last):
		return last, true
	default:
		return list[engine.Below(flow, len(list))], true
	}
}

// keeps says whether a connection that has had no answer yet stays with its member, whoever gets new ones by now: the
// proxy's own, whose kernel repeats the SYN to one address, and those that stay while open ones do.
func (b *Balancer) keeps(member int) bool {
	switch m := b.member(member); {
	case b.spec.Layer7 != nil:
		return true
	case b.spec.RepeatedSYN == world.SYNAfresh:
		return false
	case m == nil:
		return b.spec.Drain == engine.Never
	default:
		return m.serves || !b.spec.CutUnhealthy
	}
}

// settled lists the members that would get new connections if nothing were late.
func (b *Balancer) settled() []int {
	members := b.choose(b.cluster.Settled(), true)
	if b.spec.Check.Probe == world.ProbeNone {
		return b.announced(members)
	}
	var healthy []int
	for _, id := range members {
		if b.wouldServe(id) {
			healthy = append(healthy, id)
		}
	}
	return b.announced(b.open(members, healthy))
}

// wouldServe says whether a member would be healthy if nothing were late: each one is where nobody asks.
func (b *Balancer) wouldServe(member int) bool {
	return b.spec.Check.Probe == world.ProbeNone || b.cluster.WouldAnswer(b.spec.Check.Probe, member)
}

// Judge says whether a failed new connection is the load balancer's: it had no target (member
// -1), or its target is not among the settled ones and one of those would have helped
// (docs/model/simulator.md 2, rules 7 and 8).
func (b *Balancer) Judge(member int) (cause ledger.Cause, actor ledger.Actor, ok bool) {
	cause, actor, ok = b.judge(member)
	if b.spec.Layer7 != nil && b.spec.Layer7.Ingress && actor != ledger.Spec && actor != ledger.VolumeAttach {
		actor = ledger.Ingress
	}
	return cause, actor, ok
}

func (b *Balancer) judge(member int) (cause ledger.Cause, actor ledger.Actor, ok bool) {
	settled := b.settled()
	if member >= 0 && slices.Contains(settled, member) {
		return ledger.NoCause, ledger.Spec, false
	}
	helps := slices.ContainsFunc(settled, b.cluster.Reaches)
	switch {
	case member < 0 && helps:
		return ledger.NoHealthyTarget, b.late(settled), true
	case member < 0:
		return ledger.NoHealthyTarget, b.cluster.Missing(), true
	case helps && !b.leavingHelps():
		return ledger.NoHealthyTarget, b.late(settled), true
	case helps:
		return ledger.StaleLB, b.lateWith(member, settled), true
	default:
		return ledger.NoCause, ledger.Spec, false
	}
}

// leavingHelps says that a new connection would reach a pod that accepts if the load balancer had left at once whom it is to leave, and were as
// late as it is with those that take their place. Where a proxy is told whole lists, both are one change.
func (b *Balancer) leavingHelps() bool {
	if b.spec.Layer7 != nil && b.spec.Layer7.WholeLists {
		return true
	}
	stay := b.choose(b.cluster.Settled(), true)
	list, _ := b.sendsTo(func(m *member) bool { return slices.Contains(stay, m.id) }, func(m *member) bool { return m.serves && b.wouldServe(m.id) })
	return slices.ContainsFunc(list, b.cluster.Reaches)
}

// late is whose lateness it is that a settled member is not used yet.
func (b *Balancer) late(settled []int) ledger.Actor {
	for _, id := range settled {
		m := b.member(id)
		switch {
		case !slices.Contains(b.wanted, id):
			return ledger.LBController
		case m == nil || m.removed: // it is being registered, for the first time or again
			return ledger.LBPropagation
		case !m.healthy:
			return ledger.LBProbe
		case !m.serves:
			return ledger.LBPropagation
		}
	}
	if b.spec.Check.Probe == world.ProbeNone { // all are used by now, and nobody had to ask them
		return ledger.LBPropagation
	}
	return ledger.LBProbe
}

// lateWith is whose lateness it is that a member is used yet which is no settled one. One that is to be removed and fails its health checks is
// left when the first of both is over: the other makes no difference.
func (b *Balancer) lateWith(member int, settled []int) ledger.Actor {
	m := b.member(member)
	stays := slices.Contains(b.choose(b.cluster.Settled(), true), member)
	switch {
	case b.wouldServe(member) && stays: // it is announced, since the settled one is not used yet
		return b.late(settled)
	case m == nil && stays:
		return ledger.LBProbe
	case !stays && (m == nil || !m.serves || b.wouldServe(member) || b.removedAt(m) <= b.failedAt(m)):
		if slices.Contains(b.wanted, member) {
			return ledger.LBController
		}
		return ledger.LBPropagation
	case m.healthy:
		return ledger.LBProbe
	case m.serves:
		return ledger.LBPropagation
	default: // used because nobody seems to be healthy
		return b.late(settled)
	}
}

// removedAt is when the removal of a member that is wanted no longer takes effect: where the controller has not acted on it yet, as it would if it
// heard of it now.
func (b *Balancer) removedAt(m *member) engine.Time {
	if !slices.Contains(b.wanted, m.id) {
		return m.leaves
	}
	at, next := b.due, b.reacted
	if !b.waiting {
		at, next = b.eng.Now()+b.spec.Controller.Sample(b.draw(-1, "controller", next)), next+1
	}
	return at + b.spec.Propagation.Sample(b.draw(m.id, "propagation", next))
}

// failedAt is when a member that fails every health check from now on gets no new connection any more.
func (b *Balancer) failedAt(m *member) engine.Time {
	if !m.healthy {
		return m.known
	}
	tick := m.first + engine.Time(b.nextTick(m))*max(1, b.spec.Check.Interval)
	more := max(1, b.spec.Check.Unhealthy) - m.row - 1
	at := tick + engine.Time(more)*b.spec.Check.Interval
	if b.cluster.Answer(b.spec.Check.Probe, m.id, b.draw(m.id, "probe", m.ticked)).Late {
		at += b.spec.Check.Timeout
	}
	return at + b.spec.HealthPropagation.Sample(b.draw(m.id, "health propagation", m.flips+1))
}
