package memory

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// stage says which rules gave the verdict; explain.go puts it into words.
type stage uint8

const (
	stageNone        stage = iota // no rule of ours
	stageFirewall                 // loadBalancerSourceRanges
	stageFrontend                 // a frontend's route
	stageHooks                    // a frontend's reject or drop, at none of whose hooks the packet passes
	stageHealthCheck              // health-check node port
	stageClusterIPs               // a ClusterIP's undefined port
	stageServiceCIDR              // an unallocated ClusterIP
	stageLocalnet                 // 127.0.0.0/8 from elsewhere
)

// evaluation is what the rules make of the first packet of a flow.
type evaluation struct {
	packet   packet.Packet
	source   plan.Source
	sent     bool // by the node itself
	dstOwned bool // for the node itself
	hooks    plan.Hooks

	verdict  packet.Verdict
	stage    stage
	frontend *plan.Frontend        // nil unless stage is firewall, frontend or hooks
	route    *plan.Route           // the frontend's, nil unless stage is frontend or hooks
	health   endpoints.ServiceName // with stageHealthCheck
}

// Decision is what the rules of a Plan make of the first packet of a flow, before one of the
// targets is chosen.
type Decision struct {
	Verdict  packet.Verdict
	Frontend *plan.Frontend // that decided; nil when none did
	Source   plan.Source
	// Targets is the list to choose from, each with the same chance; empty unless Verdict is
	// Endpoints. It belongs to the Plan.
	Targets []plan.Target
}

// Decide evaluates the first packet of a flow on a Plan, without a flow table. It is what
// Trace and Send do for a new flow; between two changes of the rules its answer is the same
// for packets from the same source to the same destination.
func Decide(p *plan.Plan, pkt packet.Packet) Decision {
	e := evaluate(p, pkt)
	d := Decision{Verdict: e.verdict, Frontend: e.frontend, Source: e.source}
	if e.verdict == packet.Endpoints {
		d.Targets = e.targets()
	}
	return d
}

// evaluate walks the packet through the rules in the order of kube-proxy's chains:
// source ranges, address translation, no-endpoint rules, and last what guards ClusterIPs.
func evaluate(p *plan.Plan, pkt packet.Packet) evaluation {
	pkt.Src = netip.AddrPortFrom(pkt.Src.Addr().Unmap(), pkt.Src.Port())
	pkt.Dst = netip.AddrPortFrom(pkt.Dst.Addr().Unmap(), pkt.Dst.Port())
	e := evaluation{packet: pkt}
	e.place(p.Node())
	vip, nodePort := e.frontends(p)
	switch {
	case e.firewall(vip):
	case e.translate(p.Node(), vip, nodePort):
	case e.localnet(p.Node()):
	case e.filter(p.Node(), vip, nodePort):
	default:
		e.guard(p)
	}
	return e
}

// place works out where the packet comes from and which filter hooks it will pass.
func (e *evaluation) place(n *plan.Node) {
	src, dst := e.packet.Src.Addr(), e.packet.Dst.Addr()
	e.source = n.SourceOf(src, e.packet.InInterface)
	e.sent = n.Owns(src) && e.packet.InInterface == ""
	e.dstOwned = n.Owns(dst)
	switch {
	case e.sent && e.dstOwned:
		e.hooks = plan.Output | plan.Input
	case e.sent:
		e.hooks = plan.Output
	case e.dstOwned:
		e.hooks = plan.Input
	default:
		e.hooks = plan.Forwarding
	}
}

// frontends finds what the packet may be for: an address of a Service and, on this node, a
// node port. What is neither TCP, UDP nor SCTP has no port and is for neither.
func (e *evaluation) frontends(p *plan.Plan) (vip, nodePort *plan.Frontend) {
	dst := e.packet.Dst
	protocol, ok := protocolOf(e.packet.Protocol)
	if !ok {
		return nil, nil
	}
	if e.dstOwned {
		nodePort = p.Frontend(plan.NodePortKey(endpoints.FamilyOf(dst.Addr()), protocol, dst.Port()))
	}
	return p.Frontend(plan.Key{Addr: dst.Addr(), Protocol: protocol, Port: dst.Port()}), nodePort
}

// firewall drops what loadBalancerSourceRanges do not admit.
func (e *evaluation) firewall(vip *plan.Frontend) bool {
	if vip == nil || vip.Admits(e.packet.Src.Addr()) {
		return false
	}
	e.settle(packet.Drop, stageFirewall, vip, nil)
	return true
}

// translate sends the packet to an endpoint if a frontend forwards it. Addresses come
// before node ports.
func (e *evaluation) translate(n *plan.Node, vip, nodePort *plan.Frontend) bool {
	f := vip
	if !e.captures(n, vip) && nodePort != nil && n.AcceptsNodePorts(e.packet.Dst.Addr()) {
		f = nodePort
	}
	if f == nil || f.Routes[e.source].Action != plan.Forward {
		return false
	}
	e.settle(packet.Endpoints, stageFrontend, f, &f.Routes[e.source])
	return true
}

// captures says whether a Service address keeps the node port of the same number out of the
// packet. Without a route to an endpoint only nftables mode's external addresses do: they
// are gone to (goto), and there is no coming back; in iptables mode they are jumped to.
func (e *evaluation) captures(n *plan.Node, vip *plan.Frontend) bool {
	if vip == nil {
		return false
	}
	switch vip.Routes[e.source].Action {
	case plan.Forward:
		return true
	case plan.Drop:
		return n.Dialect == plan.NFTables && vip.Kind.External()
	default:
		return false
	}
}

// localnet closes 127.0.0.0/8 to the network: node ports on localhost need route_localnet,
// which opens it (kube-proxy 1.36 iptables/proxier.go, KUBE-FIREWALL; kubernetes issue 90259).
func (e *evaluation) localnet(n *plan.Node) bool {
	src, dst := e.packet.Src.Addr(), e.packet.Dst.Addr()
	if !dst.Is4() || !dst.IsLoopback() || src.IsLoopback() || !n.AcceptsNodePorts(localhost()) {
		return false
	}
	e.settle(packet.Drop, stageLocalnet, nil, nil)
	return true
}

func localhost() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// filter rejects or drops what has no endpoint to go to, where the rule is attached.
func (e *evaluation) filter(n *plan.Node, vip, nodePort *plan.Frontend) bool {
	if nodePort != nil && n.Dialect == plan.NFTables && !n.AcceptsNodePorts(e.packet.Dst.Addr()) {
		nodePort = nil // iptables mode refuses on every local address, nftables only where it accepts
	}
	first, second := vip, nodePort
	if n.Dialect == plan.NFTables && !e.sent {
		first, second = nodePort, vip // input asks for node ports first; in iptables mode the order is nobody's
	}
	for _, f := range []*plan.Frontend{first, second} {
		if f == nil {
			continue
		}
		r := &f.Routes[e.source]
		if r.Action == plan.Forward {
			// A node port on an address that takes none: nobody is short-circuited there, and
			// the rule asks for no source.
			r = &f.Routes[plan.FromOutside]
		}
		switch {
		case r.Action == plan.Forward:
			continue
		case r.Hooks&e.hooks == 0:
			e.settle(packet.None, stageHooks, f, r)
			continue
		case r.Action == plan.Reject:
			e.settle(packet.Reject, stageFrontend, f, r)
		default:
			e.settle(packet.Drop, stageFrontend, f, r)
		}
		return true
	}
	return false
}

// guard holds the rules that belong to no frontend.
func (e *evaluation) guard(p *plan.Plan) {
	n, dst := p.Node(), e.packet.Dst.Addr()
	if n.Dialect == plan.IPTables {
		e.guardIPTables(p)
		return
	}
	if e.hooks&(plan.Forwarding|plan.Output) == 0 {
		return
	}
	contains := func(c netip.Prefix) bool { return c.Contains(dst) }
	switch {
	case p.IsClusterIP(dst):
		e.settle(packet.Reject, stageClusterIPs, nil, nil)
	case slices.ContainsFunc(n.ServiceCIDRs, contains):
		e.settle(packet.Drop, stageServiceCIDR, nil, nil)
	}
}

func (e *evaluation) guardIPTables(p *plan.Plan) {
	dst := e.packet.Dst
	if e.hooks&plan.Input == 0 || e.packet.Protocol != packet.TCP {
		return
	}
	if name, ok := p.HealthCheckNodePort(endpoints.FamilyOf(dst.Addr()), dst.Port()); ok {
		e.settle(packet.Accept, stageHealthCheck, nil, nil)
		e.health = name
	}
}

func (e *evaluation) settle(v packet.Verdict, s stage, f *plan.Frontend, r *plan.Route) {
	e.verdict, e.stage, e.frontend, e.route = v, s, f, r
}

// targets is the list a forwarded packet is picked from; never empty then.
func (e *evaluation) targets() []plan.Target {
	return e.frontend.Lists.Of(e.route.List)
}

func (e *evaluation) masquerades(p *plan.Plan, t plan.Target) bool {
	return e.route.Masquerade || p.Hairpin(e.packet.Src.Addr(), t)
}

func protocolOf(p packet.Protocol) (endpoints.Protocol, bool) {
	switch p {
	case packet.TCP:
		return endpoints.TCP, true
	case packet.UDP:
		return endpoints.UDP, true
	case packet.SCTP:
		return endpoints.SCTP, true
	default:
		return 0, false
	}
}
