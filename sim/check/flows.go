package check

import (
	"fmt"
	"net/netip"
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
	look  func(stream, node int) ([]Endpoint, bool, bool)
	rules []rules // by stream and node
	nodes int
	err   error
}

// rules are what is known of one node's rules for one stream.
type rules struct {
	view    uint64 // the state of the slices that the list follows from
	allowed []netip.AddrPort
}

// NewFlows returns the checks of some streams on some nodes. look returns the endpoints in force
// on a node for a stream, whether only local ones count, and whether serving ones that terminate
// may stand in when none is ready (KEP-1669).
func NewFlows(streams, nodes int, look func(stream, node int) (list []Endpoint, local, fallback bool)) *Flows {
	return &Flows{look: look, nodes: nodes, rules: make([]rules, streams*nodes)}
}

// Err returns the first connection that went where it may not, nil if none did.
func (f *Flows) Err() error { return f.err }

// Began checks a connection at the moment it begins. view numbers the state of the slices that
// is in force on the node, from 1; target is the zero address when it goes nowhere.
func (f *Flows) Began(stream, node int, view uint64, target netip.AddrPort) {
	r := &f.rules[stream*f.nodes+node]
	if r.view != view {
		*r = rules{view: view, allowed: Allowed(f.look(stream, node))}
	}
	where := "nowhere"
	if target.IsValid() {
		for _, a := range r.allowed {
			if a == target {
				return
			}
		}
		where = target.String()
	} else if len(r.allowed) == 0 {
		return
	}
	if f.err == nil {
		f.err = fmt.Errorf("stream %d, node %d: a new connection went to %s, the slices in force (state %d) allow %v", stream, node, where, view, r.allowed)
	}
}

// Allowed lists the endpoints that a new connection may go to (KEP-1669, "Traffic Policy";
// kube-proxy.md 2).
func Allowed(list []Endpoint, local, fallback bool) []netip.AddrPort {
	var ready, draining []netip.AddrPort
	for _, e := range list {
		if local && !e.Local {
			continue
		}
		if e.Ready {
			ready = append(ready, e.Addr)
		}
		if e.Serving && e.Terminating {
			draining = append(draining, e.Addr)
		}
	}
	if len(ready) == 0 && fallback {
		return draining
	}
	return ready
}
