package check

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Endpoint is an entry of an EndpointSlice as the rules of one node see it.
type Endpoint struct {
	Addr                        netip.AddrPort
	Local                       bool // on this node
	Ready, Serving, Terminating bool
}

// Flows checks where new connections go: never to an endpoint that the slices in force on the
// node do not allow, and never nowhere while they allow one. It works that out a second time,
// in plain loops. Topology hints only narrow what is allowed, and never to nothing. It has one
// owner.
type Flows struct {
	look    func(stream, node int) ([]Endpoint, bool, bool)
	inForce []*rules            // by stream and node
	byView  []map[uint64]*rules // by stream: what all nodes with that state of the slices have in common; nil where nodes differ
	kept    []int               // by stream: endpoints in byView
	nodes   int
	err     error
}

// rules are what is known of a node's rules for one stream.
type rules struct {
	view    uint64           // the state of the slices that the list follows from
	allowed []netip.AddrPort // in order
}

// keptAllowed bounds what is remembered of old states, in endpoints: nodes are a few states apart, and older
// ones are not met again.
const keptAllowed = 1 << 19

// NewFlows returns the checks of some streams on some nodes. look returns the endpoints in force
// on a node for a stream, in a list that may be overwritten at the next call, whether only local ones
// count, and whether serving ones that terminate may stand in when none is ready (KEP-1669). differ says, by stream, whether nodes with the same
// slices differ in that.
func NewFlows(differ []bool, nodes int, look func(stream, node int) (list []Endpoint, local, fallback bool)) *Flows {
	f := &Flows{look: look, nodes: nodes, inForce: make([]*rules, len(differ)*nodes), byView: make([]map[uint64]*rules, len(differ)), kept: make([]int, len(differ))}
	for i, own := range differ {
		if !own {
			f.byView[i] = map[uint64]*rules{}
		}
	}
	return f
}

// Err returns the first connection that went where it may not, nil if none did.
func (f *Flows) Err() error { return f.err }

// Began checks a connection at the moment it begins. view numbers the state of the slices that
// is in force on the node, from 1; target is the zero address when it goes nowhere.
func (f *Flows) Began(stream, node int, view uint64, target netip.AddrPort) {
	if r := f.rulesIn(stream, node, view); !r.allows(target) {
		f.wrong(stream, node, r, target)
	}
}

// Leads checks the endpoints to which a node's rules lead connections from now on. In the order of their
// addresses they cost less than each on its own: there may be thousands for each state of the slices.
func (f *Flows) Leads(stream, node int, view uint64, targets []netip.AddrPort) {
	r, next := f.rulesIn(stream, node, view), 0
	for _, at := range targets {
		for next < len(r.allowed) && r.allowed[next] != at && r.allowed[next].Compare(at) < 0 {
			next++
		}
		if (next == len(r.allowed) || r.allowed[next] != at) && !r.allows(at) {
			f.wrong(stream, node, r, at)
		}
	}
}

// rulesIn returns what a node's slices allow.
func (f *Flows) rulesIn(stream, node int, view uint64) *rules {
	r := f.inForce[stream*f.nodes+node]
	if r == nil || r.view != view {
		r = f.rulesOf(stream, node, view)
		f.inForce[stream*f.nodes+node] = r
	}
	return r
}

// wrong keeps the first connection that went where it may not.
func (f *Flows) wrong(stream, node int, r *rules, target netip.AddrPort) {
	where := "nowhere"
	if target.IsValid() {
		where = target.String()
	}
	if f.err == nil {
		f.err = fmt.Errorf("stream %d, node %d: a new connection went to %s, the slices in force (state %d) allow %v", stream, node, where, r.view, r.allowed)
	}
}

// rulesOf works out what a node's slices allow, once for all nodes that have the same.
func (f *Flows) rulesOf(stream, node int, view uint64) *rules {
	common := f.byView[stream]
	if r := common[view]; r != nil {
		return r
	}
	r := &rules{view: view, allowed: Allowed(f.look(stream, node))}
	sorted.ShortBy(r.allowed, netip.AddrPort.Compare)
	if common != nil {
		if f.kept[stream] += len(r.allowed) + 1; f.kept[stream] > keptAllowed {
			clear(common)
			f.kept[stream] = len(r.allowed) + 1
		}
		common[view] = r
	}
	return r
}

// Forget drops what is known of a node's rules, which are others now.
func (f *Flows) Forget(node int) {
	for stream := range f.byView {
		f.inForce[stream*f.nodes+node] = nil
	}
}

// allows says whether a connection may go to a target, the zero address for nowhere.
func (r *rules) allows(target netip.AddrPort) bool {
	if !target.IsValid() {
		return len(r.allowed) == 0
	}
	_, found := slices.BinarySearchFunc(r.allowed, target, netip.AddrPort.Compare)
	return found
}

// Allowed lists the endpoints that a new connection may go to (KEP-1669, "Traffic Policy";
// docs/model/kube-proxy.md 2).
func Allowed(list []Endpoint, local, fallback bool) []netip.AddrPort {
	ready := addresses(list, func(e *Endpoint) bool { return e.Ready && (e.Local || !local) })
	if len(ready) == 0 && fallback {
		return addresses(list, func(e *Endpoint) bool { return e.Serving && e.Terminating && (e.Local || !local) })
	}
	return ready
}

// addresses are those of some endpoints, nil for none.
func addresses(list []Endpoint, of func(*Endpoint) bool) []netip.AddrPort {
	var out []netip.AddrPort
	for i := range list {
		if !of(&list[i]) {
			continue
		}
		if out == nil {
			out = make([]netip.AddrPort, 0, len(list)-i) // mostly all the others, too
		}
		out = append(out, list[i].Addr)
	}
	return out
}
