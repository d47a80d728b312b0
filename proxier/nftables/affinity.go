package nftables

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// identityMask is what of a slot says whose it is. A slot is the identity of a service port
// with affinity in the upper half and, in the lower, a number for one of its endpoints: a rule
// can find the key of the memory in what it read from it, and one memory serves all addresses
// of a service port.
const identityMask = 0xffff0000

// maxHalf bounds identities, and slots of each. Beyond it a service port has no affinity in
// the kernel, or an endpoint is not remembered: 65,535 service ports with affinity, or so many
// endpoints in one of them, are more than a cluster has.
const maxHalf = 1<<16 - 1

// identity is a service port as affinity sees it.
type identity struct {
	name   endpoints.ServicePortName
	number uint16 // 0 if there was none left
	uses   int    // frontends
	// slots holds the slot of each endpoint, 0 where there was none left.
	slots map[netip.AddrPort]uint16
	ring  ring
}

// identities are those of a table.
type identities struct {
	of   map[endpoints.ServicePortName]*identity
	ring ring
}

func newIdentities() identities {
	return identities{of: map[endpoints.ServicePortName]*identity{}, ring: newRing()}
}

// ring hands out numbers from 1 to maxHalf, each as late as possible after it came back: what
// packets remembered by it should be forgotten by then.
type ring struct {
	last  uint16
	taken map[uint16]bool
}

func newRing() ring { return ring{taken: map[uint16]bool{}} }

// next returns a number, 0 if there is none.
func (r *ring) next() uint16 {
	if len(r.taken) == maxHalf {
		return 0
	}
	for {
		r.last++
		if r.last != 0 && !r.taken[r.last] {
			r.taken[r.last] = true
			return r.last
		}
	}
}

func (r *ring) release(n uint16) { delete(r.taken, n) }

// slot returns what stands for an endpoint of the service port; ok is false for none.
func (i *identity) slot(a netip.AddrPort) (slot uint32, ok bool) {
	n, known := i.slots[a]
	if !known {
		n = i.ring.next()
		i.slots[a] = n
	}
	return i.base() | uint32(n), n != 0 && i.number != 0
}

// base is a slot without its lower half.
func (i *identity) base() uint32 { return uint32(i.number) << 16 }

// affinity finds the identities of both sides of a frontend's change, and keeps sticky-ids.
func (u *update) affinity(old, next *plan.Frontend, was, is *side) {
	if old != nil && stickySeconds(old) > 0 {
		was.identity = u.ports.of[old.Service]
		was.identity.uses--
		if _, ok := u.touched[was.identity]; !ok {
			u.touched[was.identity] = nil
		}
	}
	if next != nil && stickySeconds(next) > 0 {
		is.identity = u.identify(next.Service)
		is.identity.uses++
		u.touched[is.identity] = next.Lists
	}
	before, after := was.remembering(), is.remembering()
	if before == after {
		return
	}
	if before != nil {
		u.tx.rows.take(stickyIDs).vip(old.Key)
	}
	if after != nil {
		u.tx.rows.put(stickyIDs).vip(next.Key).number(after.base())
	}
}

// remembering is the side's identity if its class uses it: not without any endpoint.
func (f *side) remembering() *identity {
	if f.class.sticky == 0 || f.identity == nil || f.identity.number == 0 {
		return nil
	}
	return f.identity
}

// identify returns a service port's identity.
func (u *update) identify(name endpoints.ServicePortName) *identity {
	i := u.ports.of[name]
	if i == nil {
		i = &identity{name: name, number: u.ports.ring.next(), slots: map[netip.AddrPort]uint16{}, ring: newRing()}
		u.ports.of[name] = i
	}
	return i
}

// writeSlots keeps what a list with affinity has beside its endpoints: the slot at each index,
// and the endpoint of each slot. Indices are those of the endpoints.
func (u *update) writeSlots(key listKey, was, is *side, old, next []netip.AddrPort) {
	before, after := was.remembering(), is.remembering()
	if before == nil {
		old = nil
	}
	if after == nil {
		next = nil
	}
	if len(old) == 0 && len(next) == 0 {
		return
	}
	base := list{local: key.local}.offset()
	for i := range max(len(old), len(next)) {
		if i < len(old) && i < len(next) && old[i] == next[i] && before == after {
			continue
		}
		index := base + uint32(i) // an index of a list
		if i < len(old) {
			if _, ok := before.slot(old[i]); ok {
				u.tx.rows.take(stickySlots).vip(key.key).number(index)
			}
		}
		if i < len(next) {
			if slot, ok := after.slot(next[i]); ok {
				u.tx.rows.put(stickySlots).vip(key.key).number(index).number(slot)
			}
		}
	}
	u.writeSlotEndpoints(key, before, after, old, next)
}

func (u *update) writeSlotEndpoints(key listKey, before, after *identity, old, next []netip.AddrPort) {
	in := stickyEndpoints
	if key.local {
		in = stickyLocalEndpoints
	}
	stays := func(a netip.AddrPort, other []netip.AddrPort) bool {
		return before == after && slices.Contains(other, a)
	}
	for _, a := range old {
		if slot, ok := before.slot(a); ok && !stays(a, next) {
			u.tx.rows.take(in).vip(key.key).number(slot)
		}
	}
	for _, a := range next {
		if slot, ok := after.slot(a); ok && !stays(a, old) {
			u.tx.rows.put(in).vip(key.key).number(slot).target(a)
		}
	}
}

// releaseSlots forgets the slots of endpoints that left their service port, and identities
// that nothing uses: what packets remember of them leads nowhere from now on, also if the
// endpoint comes back.
func (u *update) releaseSlots() {
	for i, lists := range u.touched { // order: what is released does not depend on what was before
		switch {
		case i.uses == 0:
			u.ports.ring.release(i.number)
			delete(u.ports.of, i.name)
		case lists != nil:
			i.keep(lists)
		}
	}
}

// keep releases the slots of all endpoints but those of the lists.
func (i *identity) keep(l *plan.Lists) {
	stay := make(map[netip.AddrPort]bool, len(l.Cluster)+len(l.Local))
	for _, list := range [][]plan.Target{l.Cluster, l.Local} {
		for _, t := range list {
			stay[t.Addr] = true
		}
	}
	for a, slot := range i.slots { // order: releases do not depend on each other
		if !stay[a] {
			i.ring.release(slot)
			delete(i.slots, a)
		}
	}
}
