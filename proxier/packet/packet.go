// Package packet holds the words of packet tracing: the packet that arrives, the flow it
// belongs to, the hops it takes through a node's service rules and the verdict.
//
// It decides nothing. What evaluates packets (the in-memory dataplane, a kernel under
// test) speaks these types, so that one expectation can be held against all of them.
package packet

import (
	"net/netip"
	"strings"
)

// Protocol is a transport protocol by its IP protocol number.
type Protocol uint8

// The protocols that Services carry, with their IANA numbers.
const (
	TCP  Protocol = 6
	UDP  Protocol = 17
	SCTP Protocol = 132
)

// String returns "tcp", "udp" or "sctp", as packet filters write it.
func (p Protocol) String() string {
	switch p {
	case UDP:
		return "udp"
	case SCTP:
		return "sctp"
	default:
		return "tcp"
	}
}

// ParseProtocol reads a protocol's name in any case; ok is false for an unknown one.
func ParseProtocol(s string) (p Protocol, ok bool) {
	for _, p := range []Protocol{TCP, UDP, SCTP} {
		if strings.EqualFold(s, p.String()) {
			return p, true
		}
	}
	return 0, false
}

// Packet is the first packet of a flow as it meets a node: before any rule has touched it.
type Packet struct {
	Src, Dst netip.AddrPort
	Protocol Protocol
	// InInterface names the interface the packet came in by; "" for a packet that the node
	// itself sends, and where it is not known.
	InInterface string
}

// Flow identifies a connection by its original direction, as conntrack does.
type Flow struct {
	Src, Dst netip.AddrPort
	Protocol Protocol
}

// Flow returns the flow that the packet starts or continues.
func (p Packet) Flow() Flow { return Flow{p.Src, p.Dst, p.Protocol} }

// Verdict is what becomes of a packet.
type Verdict uint8

// The verdicts.
const (
	None      Verdict = iota // no service rule meets the packet: it goes on as if there were no proxy
	Endpoints                // sent on to one of the endpoints
	Reject                   // refused at once: ICMP port unreachable
	Drop                     // swallowed: the client waits and repeats
	Accept                   // let in to the node by an explicit rule (iptables, health-check node port)
)

// String returns the verdict's stable word.
func (v Verdict) String() string {
	switch v {
	case Endpoints:
		return "endpoints"
	case Reject:
		return "reject"
	case Drop:
		return "drop"
	case Accept:
		return "accept"
	default:
		return "none"
	}
}

// Hop is one step of a packet through the service rules.
type Hop struct {
	Stage  string // where: "source", "firewall", "frontend", "policy", "masquerade", ...
	Detail string // what happened there and why, one clause
}

// Target is one endpoint a packet may be sent to.
type Target struct {
	Addr netip.AddrPort
	// Masquerade says that a packet sent to this endpoint leaves with the node's address
	// as its source.
	Masquerade bool
}

// Trace is the path of a new flow's first packet: every result it can have, not the one a
// random draw would pick.
type Trace struct {
	Verdict Verdict
	// Service names the service port that met the packet, "" when none did.
	Service string
	// Targets lists every possible endpoint in address order; empty unless Verdict is Endpoints.
	Targets []Target
	Hops    []Hop
}

// Masquerade says whether the packet leaves with the node's source address whichever
// endpoint it gets; false when there is none.
func (t Trace) Masquerade() bool {
	for _, target := range t.Targets {
		if !target.Masquerade {
			return false
		}
	}
	return len(t.Targets) > 0
}

// Tracer traces the first packet of a new flow.
type Tracer interface {
	Trace(Packet) Trace
}
