package backendtest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
)

// target is an endpoint a packet may get, and whether that sees the node as its source
// instead of the client.
type target struct {
	at         Place
	port       uint16
	masquerade bool
}

// outcome is all that may become of a packet.
type outcome struct {
	verdict packet.Verdict
	targets []target
}

// The outcomes without an endpoint.
var (
	untouched = outcome{verdict: packet.None}
	rejected  = outcome{verdict: packet.Reject}
	dropped   = outcome{verdict: packet.Drop}
	accepted  = outcome{verdict: packet.Accept}
)

// reach is one of the endpoints at these places; it sees the client's address.
func reach(places ...Place) outcome { return reachPort(targetPort, false, places) }

// masquerade is one of the endpoints at these places; it sees the node's address.
func masquerade(places ...Place) outcome { return reachPort(targetPort, true, places) }

func reachPort(port uint16, masquerade bool, places []Place) outcome {
	o := outcome{verdict: packet.Endpoints}
	for _, p := range places {
		o.targets = append(o.targets, target{p, port, masquerade})
	}
	return o
}

// or adds what else may become of the packet.
func (o outcome) or(p outcome) outcome {
	o.targets = slices.Concat(o.targets, p.targets)
	return o
}

// onPort says that the endpoints listen on another port than usual.
func (o outcome) onPort(port uint16) outcome {
	o.targets = slices.Clone(o.targets)
	for i := range o.targets {
		o.targets[i].port = port
	}
	return o
}

// in returns the targets as a family has them, in address order.
func (o outcome) in(f endpoints.IPFamily) []packet.Target {
	var out []packet.Target
	for _, t := range o.targets {
		out = append(out, packet.Target{Addr: netip.AddrPortFrom(t.at.Addr(f), t.port), Masquerade: t.masquerade})
	}
	slices.SortFunc(out, compareTargets)
	return out
}

func compareTargets(a, b packet.Target) int { return a.Addr.Compare(b.Addr) }

// explains says whether a trace is exactly this outcome.
func (o outcome) explains(t packet.Trace, f endpoints.IPFamily) bool {
	return t.Verdict == o.verdict && slices.Equal(sorted(t.Targets), o.in(f))
}

// allows says whether a trace is one of the results of this outcome.
func (o outcome) allows(t packet.Trace, f endpoints.IPFamily) bool {
	if t.Verdict != o.verdict || o.verdict != packet.Endpoints {
		return t.Verdict == o.verdict
	}
	return len(t.Targets) == 1 && slices.Contains(o.in(f), t.Targets[0])
}

func sorted(list []packet.Target) []packet.Target {
	return slices.SortedFunc(slices.Values(list), compareTargets)
}

// describe says a verdict and its targets on one line.
func describe(v packet.Verdict, targets []packet.Target) string {
	if v != packet.Endpoints {
		return v.String()
	}
	words := make([]string, 0, len(targets))
	for _, t := range targets {
		seen := "sees the client"
		if t.Masquerade {
			seen = "sees the node"
		}
		words = append(words, fmt.Sprintf("%s (%s)", t.Addr, seen))
	}
	return "one of " + strings.Join(words, ", ")
}
