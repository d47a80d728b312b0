package nftables

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// span is a range of addresses, both ends included.
type span struct{ first, last netip.Addr }

// spansOf merges ranges into spans that neither overlap nor touch, in order: the kernel takes
// no two elements that overlap.
func spansOf(ranges []netip.Prefix) []span {
	all := make([]span, 0, len(ranges))
	for _, r := range ranges {
		all = append(all, span{r.Masked().Addr(), lastOf(r)})
	}
	slices.SortFunc(all, func(a, b span) int { return a.first.Compare(b.first) })
	var out []span
	for _, s := range all {
		if n := len(out); n > 0 && (s.first.Compare(out[n-1].last) <= 0 || out[n-1].last.Next() == s.first) {
			if s.last.Compare(out[n-1].last) > 0 {
				out[n-1].last = s.last
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// lastOf is the last address of a range.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(b) // cannot fail: it is as long as the address it was made from
	return a
}

// allowList is one list of source ranges that frontends have in common. Each has a small set and a
// chain of its own, since the kernel takes its time to remove ranges from a large set
// (README.md, hazard 5), and many Services share a list.
type allowList struct {
	number uint32
	uses   int
	stands bool // in the kernel
	spans  []span
}

func (w *allowList) chain() string  { return fmt.Sprintf("firewall-%d", w.number) }
func (w *allowList) ranges() string { return fmt.Sprintf("source-ranges-%d", w.number) }

// allowLists are those of a table, by what they admit.
type allowLists struct {
	of      map[string]*allowList
	numbers map[uint32]bool
	touched []string // in this transaction, maybe more than once
}

func newAllowLists() allowLists {
	return allowLists{of: map[string]*allowList{}, numbers: map[uint32]bool{}}
}

// number returns the number for a list of ranges. It follows from the list, unless another one
// has it already: a packet on its way may have the number from before a restart.
func (w *allowLists) number(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash never fails
	n := h.Sum32()
	for n == 0 || w.numbers[n] {
		n++
	}
	w.numbers[n] = true
	return n
}

// nameSpans is what a list of spans is known by.
func nameSpans(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.first.String() + "-" + s.last.String() + " ")
	}
	return b.String()
}

// firewall keeps which list of source ranges a frontend's key is under.
func (u *update) firewall(old, next *plan.Frontend) {
	if old != nil && next != nil && (old.Allowed == nil) == (next.Allowed == nil) && slices.Equal(old.Allowed, next.Allowed) {
		return
	}
	var was, is *allowList
	if old != nil && old.Allowed != nil {
		was = u.allowLists.find(old.Allowed)
		was.uses--
	}
	if next != nil && next.Allowed != nil {
		is = u.allowLists.find(next.Allowed)
		is.uses++
	}
	if was == is {
		return
	}
	if was != nil {
		u.tx.rows.take(firewalled).vip(old.Key)
	}
	if is != nil {
		u.tx.rows.put(firewalled).vip(next.Key).number(is.number)
	}
}

func (w *allowLists) find(ranges []netip.Prefix) *allowList {
	spans := spansOf(ranges)
	name := nameSpans(spans)
	found := w.of[name]
	if found == nil {
		found = &allowList{number: w.number(name), spans: spans}
		w.of[name] = found
	}
	w.touched = append(w.touched, name)
	return found
}

// settleAllowLists builds the allowLists that have come into use and takes down the others.
func (u *update) settleAllowLists() {
	for _, name := range u.allowLists.touched {
		w := u.allowLists.of[name]
		switch {
		case w == nil:
			continue // touched twice, and gone
		case w.uses > 0 && !w.stands:
			w.stands = true
			u.tx.sets = append(u.tx.sets, rangeSet(w.ranges()))
			u.tx.ranges = append(u.tx.ranges, rangeElements{w.ranges(), w.spans})
			u.tx.chains = append(u.tx.chains, firewall(w.chain(), w.ranges()))
			u.tx.addVerdicts = append(u.tx.addVerdicts, verdictElement{firewalls, w.number, verdict{jump, w.chain()}})
		case w.uses == 0:
			if w.stands {
				u.tx.delVerdicts = append(u.tx.delVerdicts, verdictElement{firewalls, w.number, verdict{jump, w.chain()}})
				u.tx.dropChains = append(u.tx.dropChains, w.chain())
				u.tx.dropSets = append(u.tx.dropSets, w.ranges())
			}
			delete(u.allowLists.of, name)
			delete(u.allowLists.numbers, w.number)
		}
	}
	u.allowLists.touched = nil
}
