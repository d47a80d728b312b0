package backendtest

import (
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Subject is the dataplane of one node under test. An error is a failure to do what was
// asked, not a packet that was refused.
type Subject interface {
	// Apply puts a Plan in force. The delta is what differs from the Plan before it, at
	// first from a Plan without Services.
	Apply(p *plan.Plan, d plan.Delta) error
	// Probe finds out all that can become of a new flow whose first packet this is. Flows it
	// opens for that are closed again. Hops may be left out; they are printed when a row fails.
	// Rows do not probe Services with session affinity.
	Probe(p packet.Packet) (packet.Trace, error)
	// Send lets a packet through and returns what became of it: the Targets hold the one
	// endpoint it got. The first packet with its addresses opens a flow, others continue it.
	Send(p packet.Packet) (packet.Trace, error)
	// Close ends a flow and whatever remembers it.
	Close(f packet.Flow) error
	// Advance lets time pass.
	Advance(d time.Duration) error
}

// Need is something a case asks of its Subject beside Services and packets.
type Need string

// The needs.
const (
	// NeedSCTP is sending SCTP packets.
	NeedSCTP Need = "SCTP"
	// NeedClock is letting hours pass.
	NeedClock Need = "a clock to turn"
	// NeedMartians is packets for 127.0.0.0/8 that come in by an interface.
	NeedMartians Need = "packets for loopback addresses from outside the node"
	// NeedAccept is telling a packet that a rule lets in from one that no rule meets.
	NeedAccept Need = "telling accepted packets from untouched ones"
	// NeedSharedAffinity is affinity that spans all addresses of a service port.
	NeedSharedAffinity Need = "session affinity across the addresses of a service port"
)

// Backend makes Subjects of one kind.
type Backend struct {
	// Dialects are those it speaks; nil is all.
	Dialects []plan.Dialect
	// Families are those it is held to; nil is both.
	Families []endpoints.IPFamily
	// Lacks says for each Need that it cannot meet why not.
	Lacks map[Need]string
	// Serial keeps cases from running in parallel.
	Serial bool
	// New returns a Subject for a node, without any Services.
	New func(t *testing.T, node *plan.Node) Subject
}
