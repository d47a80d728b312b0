package plan

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// table is a persistent map of Services by name: a hash trie. To set one Service copies the
// nodes on its path, three or four of them at any size that occurs; an ordered tree would
// compare names at every level, and each comparison of a name nobody looked at lately is a
// wait for memory. The order of names is kept elsewhere, since it seldom changes.
//
// A copied table may be changed without the original noticing; the original must not be
// changed after that.
type table struct {
	root  *tableNode
	owner uint64 // whose nodes may be changed in place: those made since the last copy
	len   int
}

const (
	tableBits = 4 // of the hash, per level
	tableFan  = 1 << tableBits
	hashBits  = 64
)

type tableNode struct {
	owner uint64
	slots [tableFan]tableSlot
	rest  []*Service // below the last bit of the hash: all Services that share it
}

// tableSlot holds nothing, one Service, or the node where several part ways.
type tableSlot struct {
	service *Service
	node    *tableNode
}

// hashName is FNV-1a over namespace and name. Which hash it is shows nowhere.
func hashName(n endpoints.ServiceName) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, s := range [...]string{n.Namespace, n.Name} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ '/') * prime
	}
	return h ^ h>>32 // the low bits choose the path, and FNV's best are not there
}

// copy returns a table that may be changed.
func (t table) copy() table {
	t.owner++
	return t
}

// get returns the named Service, nil when there is none.
func (t *table) get(hash uint64, name endpoints.ServiceName) *Service {
	n := t.root
	for shift := 0; n != nil && shift < hashBits; shift += tableBits {
		slot := &n.slots[hash>>shift%tableFan]
		if slot.service != nil && slot.service.Name == name {
			return slot.service
		}
		n = slot.node
	}
	if n != nil {
		for _, s := range n.rest {
			if s.Name == name {
				return s
			}
		}
	}
	return nil
}

// set puts a Service in, in the place of one with its name.
func (t *table) set(s *Service) {
	n := t.own(&t.root)
	for shift := 0; shift < hashBits; shift += tableBits {
		slot := &n.slots[s.hash>>shift%tableFan]
		switch {
		case slot.node != nil:
			n = t.own(&slot.node)
		case slot.service == nil:
			slot.service = s
			t.len++
			return
		case slot.service.Name == s.Name:
			slot.service = s
			return
		default: // two Services have come this far together
			n = t.own(&slot.node)
			n.place(slot.service, shift+tableBits)
			slot.service = nil
		}
	}
	n.rest = slices.Clone(n.rest)
	if i := n.indexInRest(s.Name); i >= 0 {
		n.rest[i] = s
		return
	}
	n.rest = append(n.rest, s)
	t.len++
}

// place puts a Service into a node that has just been made.
func (n *tableNode) place(s *Service, shift int) {
	if shift < hashBits {
		n.slots[s.hash>>shift%tableFan].service = s
	} else {
		n.rest = []*Service{s}
	}
}

// delete takes a Service out, if it is there. Nodes that become empty stay: Services tend to
// be as many tomorrow.
func (t *table) delete(hash uint64, name endpoints.ServiceName) {
	if t.get(hash, name) == nil {
		return
	}
	t.len--
	n := t.own(&t.root)
	for shift := 0; shift < hashBits; shift += tableBits {
		slot := &n.slots[hash>>shift%tableFan]
		if slot.node == nil {
			slot.service = nil
			return
		}
		n = t.own(&slot.node)
	}
	i := n.indexInRest(name)
	n.rest = slices.Delete(slices.Clone(n.rest), i, i+1)
}

func (n *tableNode) indexInRest(name endpoints.ServiceName) int {
	return slices.IndexFunc(n.rest, func(s *Service) bool { return s.Name == name })
}

// own returns the node at a place as one that may be changed, and leaves it there.
func (t *table) own(at **tableNode) *tableNode {
	switch n := *at; {
	case n == nil:
		*at = &tableNode{owner: t.owner}
	case n.owner != t.owner:
		c := *n
		c.owner = t.owner
		*at = &c
	}
	return *at
}
