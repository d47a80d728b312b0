package cluster

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Entry is where a stream of requests enters the cluster: a Service port, over its ClusterIP
// from a pod or over a node port from outside.
type Entry struct {
	External bool

	service int // number in the scenario
	name    endpoints.ServiceName
	port    uint16
	// targetPort is the pods' port behind it.
	targetPort uint16
	nodePort   uint16
	protocol   endpoints.Protocol
	workloads  []int // that the Service selects
	nodes      []int // that clients go to, or run on
	headless   bool  // clients resolve its name
	healthy    bool  // only those whose health-check node port says so
	asked      bool  // those ports are asked, by the clients or by their load balancer
}

// Entry finds where a stream enters; ok is false when there is no such Service,
// or none of its nodes.
func (w *World) Entry(t world.Traffic) (e Entry, ok bool) {
	for s := range w.sc.Services {
		svc := w.sc.Services[s].Service
		if svc.Namespace+"/"+svc.Name != t.Service {
			continue
		}
		e = Entry{
			External: t.External, service: s, targetPort: w.targetPort(s, t.Port), name: endpoints.ServiceName{Namespace: svc.Namespace, Name: svc.Name},
			port: uint16(t.Port), protocol: t.Protocol, nodePort: w.NodePort(s, uint16(t.Port), t.Protocol),
		}
		for wl := range w.sc.Workloads {
			if w.selects(s, wl) {
				e.workloads = append(e.workloads, wl)
			}
		}
		e.setHeadless(w, s)
		e.healthy = t.HealthyNodesOnly
		e.asked = t.HealthyNodesOnly || t.LB != nil && t.LB.Check.Probe == world.ProbeHealthPort
		for n := range w.sc.Nodes {
			standing := !w.sc.Nodes[n].Joins && !w.sc.Nodes[n].Apart
			if t.Nodes == nil && standing || slices.Contains(t.Nodes, w.sc.Nodes[n].Name) {
				e.nodes = append(e.nodes, n)
			}
		}
		return e, len(e.nodes) > 0
	}
	return Entry{}, false
}

// targetPort is the pods' port behind a Service's port, 0 when there is none.
func (w *World) targetPort(service, port int) uint16 {
	info := &w.services[service]
	for i, p := range w.sc.Services[service].Service.Spec.Ports {
		if int(p.Port) == port && i < len(info.ports) {
			return uint16(*info.ports[i].Port)
		}
	}
	return 0
}

// NodesFor lists the nodes that a stream's new connections go to now: as a load balancer
// without any delay sees them, if the stream asks for that, by the answers that the nodes'
// health-check node ports give with the rules in force. To all of them when none is healthy.
func (w *World) NodesFor(e Entry) []int {
	if !e.healthy {
		return e.nodes
	}
	var healthy []int
	for _, n := range e.nodes {
		if w.NodeHealthy(e, n) {
			healthy = append(healthy, n)
		}
	}
	if len(healthy) == 0 {
		return e.nodes
	}
	return healthy
}

// Endpoints lists what a view says of the port, IPv4 only.
func (e *Entry) Endpoints(v *nodeproxy.View) []endpoints.Endpoint {
	svc := v.Snapshot.Service(e.name)
	if svc == nil {
		return nil
	}
	for i := range svc.Ports {
		if p := &svc.Ports[i]; p.Port == e.port && p.Name.Protocol == e.protocol && p.Family == endpoints.IPv4 {
			return p.Endpoints
		}
	}
	return nil
}

// Tracked lists the endpoints whose flows over UDP a node's proxy leaves alone after a sync, by the view that it has installed: those
// that serve. Other flows of a Service that has some are forgotten, whatever the traffic policy says; those of a Service without any
// stay. (Kubernetes 1.36 pkg/proxy/conntrack/cleanup.go, docs/model/kube-proxy.md 7.)
func (e *Entry) Tracked(v *nodeproxy.View) []netip.AddrPort {
	var list []netip.AddrPort
	for _, ep := range e.Endpoints(v) {
		if ep.Conditions.Serving() {
			list = append(list, ep.Addr)
		}
	}
	return list
}

// Changing says whether NodesFor may give something else after a proxy's sync.
func (e *Entry) Changing() bool { return e.healthy }

// Installs counts the ends of the proxies' syncs: while it stays, so do all rules in force.
func (w *World) Installs() uint64 { return w.installs }

// outsideClient is an address outside of everything (TEST-NET-1, RFC 5737), insideClient one in
// the pod range that no server has. No rule looks at the source port.
var (
	outsideClient = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 40000)
	insideClient  = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 255, 255, 254}), 40000)
)

// Enter evaluates a new connection on the rules in force on a node.
func (w *World) Enter(e Entry, node int) memory.Decision { return decide(w.Rules(node), e) }

// decide evaluates a new connection on a Plan.
func decide(p *plan.Plan, e Entry) memory.Decision {
	pkt := packet.Packet{Src: insideClient, Protocol: protocolNumber(e.protocol)}
	if e.External {
		pkt.Src = outsideClient
		// The Plan may be shared with other nodes of its kind: its own address stands for theirs.
		pkt.Dst = netip.AddrPortFrom(p.Node().Addresses[0], e.nodePort)
		d := memory.Decide(p, pkt)
		if d.Verdict == packet.None { // no rule is for the port, and nobody on the node listens there
			d.Verdict = packet.Reject
		}
		return d
	}
	svc := p.Service(e.name)
	if svc == nil {
		return memory.Decision{Verdict: packet.None}
	}
	for i := range svc.Frontends {
		if f := &svc.Frontends[i]; f.Kind == plan.ClusterIP && f.Key.Addr.Is4() { // the address has ports beside those of the Service
			pkt.Dst = netip.AddrPortFrom(f.Key.Addr, e.port)
			return memory.Decide(p, pkt)
		}
	}
	return memory.Decision{Verdict: packet.None}
}

func protocolNumber(p endpoints.Protocol) packet.Protocol {
	switch p {
	case endpoints.UDP:
		return packet.UDP
	case endpoints.SCTP:
		return packet.SCTP
	default:
		return packet.TCP
	}
}
