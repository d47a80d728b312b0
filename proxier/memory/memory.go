// Package memory is a dataplane that exists only in memory: it evaluates packets on a Plan,
// with the order of rules and hooks that kube-proxy's chains have, and keeps a flow table.
//
// Trace answers what can become of a new flow's first packet; it is `lameduck trace`. Send
// lets a packet through: a new flow follows the rules and one draw, an established flow stays
// on its endpoint whatever the rules say by then, as conntrack has it. That is the
// simulator's dataplane.
//
//	Plan, Packet -> evaluate -> Trace | Send -> flow table
//
// It does no I/O, reads no clock and draws no numbers: time and chance are arguments.
package memory

import (
	"math/bits"
	"net/netip"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Dataplane is one node's service rules and connection table. It has one owner.
type Dataplane struct {
	plan  *plan.Plan
	flows map[packet.Flow]Connection
	// sticky remembers, per service port and client, when each endpoint was last chosen for a
	// new connection. kube-proxy keeps one such memory per endpoint, too: a client that used
	// both lists may be remembered by two endpoints.
	sticky map[portID]map[netip.Addr]map[netip.AddrPort]time.Duration
}

// portID is the scope of session affinity: a service port, whatever address led to it.
type portID struct {
	name   endpoints.ServicePortName
	family endpoints.IPFamily
}

// Connection is where an established flow goes.
type Connection struct {
	Endpoint   netip.AddrPort
	Masquerade bool
	Service    endpoints.ServicePortName
}

// New returns a dataplane with the rules of a Plan and no flows.
func New(p *plan.Plan) *Dataplane {
	return &Dataplane{
		plan:   p,
		flows:  map[packet.Flow]Connection{},
		sticky: map[portID]map[netip.Addr]map[netip.AddrPort]time.Duration{},
	}
}

// Plan returns the rules in force.
func (d *Dataplane) Plan() *plan.Plan { return d.plan }

// Apply replaces the rules. changed names the Services that differ, as plan.Delta does:
// endpoints that left them are forgotten by session affinity, even if they come back, and
// so is all of it where it is turned off.
// Established flows are not touched.
func (d *Dataplane) Apply(p *plan.Plan, changed []endpoints.ServiceName) {
	d.plan = p
	if len(d.sticky) == 0 {
		return
	}
	for _, name := range changed {
		d.forgetLeft(name)
	}
}

// forgetLeft drops the affinity of endpoints that a Service's ports no longer reach.
func (d *Dataplane) forgetLeft(name endpoints.ServiceName) {
	reachable := map[portID]map[netip.AddrPort]bool{}
	if svc := d.plan.Service(name); svc != nil {
		for i := range svc.Frontends {
			f := &svc.Frontends[i]
			if id := (portID{f.Service, f.Family()}); f.Affinity > 0 && reachable[id] == nil {
				reachable[id] = targetSet(f.Lists)
			}
		}
	}
	for id, clients := range d.sticky { // order: each entry is pruned by itself
		if id.name.ServiceName != name {
			continue
		}
		if reachable[id] == nil {
			delete(d.sticky, id)
			continue
		}
		for _, remembered := range clients { // order: each entry is pruned by itself
			for endpoint := range remembered { // order: each entry is pruned by itself
				if !reachable[id][endpoint] {
					delete(remembered, endpoint)
				}
			}
		}
	}
}

func targetSet(l *plan.Lists) map[netip.AddrPort]bool {
	set := make(map[netip.AddrPort]bool, len(l.Cluster)+len(l.Local))
	for _, list := range [][]plan.Target{l.Cluster, l.Local} {
		for _, t := range list {
			set[t.Addr] = true
		}
	}
	return set
}

// Result is what became of one packet.
type Result struct {
	Verdict packet.Verdict
	// Connection says where the packet went; zero unless Verdict is Endpoints.
	Connection
	// Established says that the flow table decided, not the rules.
	Established bool
}

// Send lets a packet through at a time on the caller's clock. A packet of a known flow
// follows its flow. A new one follows the rules, and where they leave a choice, draw makes
// it: any uint64, uniform draws giving uniform choices. Only flows that reach an endpoint
// are remembered.
func (d *Dataplane) Send(p packet.Packet, now time.Duration, draw uint64) Result {
	flow := p.Flow()
	if c, ok := d.flows[flow]; ok {
		return Result{Verdict: packet.Endpoints, Connection: c, Established: true}
	}
	e := evaluate(d.plan, p)
	if e.verdict != packet.Endpoints {
		return Result{Verdict: e.verdict}
	}
	target := d.pick(&e, p.Src.Addr().Unmap(), now, draw)
	c := Connection{
		Endpoint:   target.Addr,
		Masquerade: e.masquerades(d.plan, target),
		Service:    e.frontend.Service,
	}
	d.flows[flow] = c
	return Result{Verdict: packet.Endpoints, Connection: c}
}

// pick chooses a target for a new flow: the one the client is remembered for, else the one
// the draw falls on. Every endpoint has the same chance; there are no weights.
func (d *Dataplane) pick(e *evaluation, client netip.Addr, now time.Duration, draw uint64) plan.Target {
	targets := e.targets()
	chosen := targets[scale(draw, len(targets))]
	timeout := e.frontend.Affinity
	if timeout == 0 {
		return chosen
	}
	id := portID{e.frontend.Service, e.frontend.Family()}
	if d.sticky[id] == nil {
		d.sticky[id] = map[netip.Addr]map[netip.AddrPort]time.Duration{}
	}
	if d.sticky[id][client] == nil {
		d.sticky[id][client] = map[netip.AddrPort]time.Duration{}
	}
	remembered := d.sticky[id][client]
	for _, t := range targets { // the first one in the list that knows the client has it
		if last, ok := remembered[t.Addr]; ok && now-last < timeout {
			chosen = t
			break
		}
	}
	remembered[chosen.Addr] = now // only new connections refresh it
	return chosen
}

// scale maps a draw to 0..n-1 without a division, and without the bias of a remainder: the
// high word of the product.
func scale(draw uint64, n int) int {
	high, _ := bits.Mul64(draw, uint64(n))
	return int(high)
}

// Lookup returns where an established flow goes.
func (d *Dataplane) Lookup(f packet.Flow) (Connection, bool) {
	c, ok := d.flows[f]
	return c, ok
}

// Close forgets a flow: its connection ended or its conntrack entry was deleted. The next
// packet with these addresses is a new flow.
func (d *Dataplane) Close(f packet.Flow) { delete(d.flows, f) }

// Flows returns the number of established flows.
func (d *Dataplane) Flows() int { return len(d.flows) }
