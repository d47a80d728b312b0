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
	var present, healthy []int
	for _, m := range b.members {
		if m.removed {
			continue
		}
		if !m.initial {
			present = append(present, m.id)
		}
		if m.serves {
			healthy = append(healthy, m.id)
		}
	}
	b.opens = len(healthy) == 0 && len(present) > 0 && b.spec.FailOpen
	b.active = b.announced(b.open(present, healthy))
	return b.active
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
	case helps:
		return ledger.StaleLB, b.lateWith(member, settled), true
	default:
		return ledger.NoCause, ledger.Spec, false
	}
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

// lateWith is whose lateness it is that a member is used yet which is no settled one.
func (b *Balancer) lateWith(member int, settled []int) ledger.Actor {
	m := b.member(member)
	switch {
	case slices.Contains(b.choose(b.cluster.Settled(), true), member): // a member, and not healthy any more
		switch {
		case b.wouldServe(member): // healthy as well: it is announced, since the settled one is not used yet
			return b.late(settled)
		case m == nil || m.healthy:
			return ledger.LBProbe
		case m.serves:
			return ledger.LBPropagation
		default: // used because nobody seems to be healthy
			return b.late(settled)
		}
	case slices.Contains(b.wanted, member):
		return ledger.LBController
	default:
		return ledger.LBPropagation
	}
}
