package plan

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// ForPort returns what leads to one service port, as Build plans it among the Service's others.
func ForPort(sp *endpoints.ServicePort, node *Node) []Frontend {
	frontends, _ := buildPort(make([]Frontend, 0, frontendCount(sp)), sp, node)
	return frontends
}

// buildService plans one Service for a node by itself.
func buildService(svc *endpoints.Service, node *Node) *Service {
	s := &Service{Name: svc.Name, hash: hashName(svc.Name), source: svc, Ports: make([]Port, len(svc.Ports))}
	n := 0
	for i := range svc.Ports {
		n += frontendCount(&svc.Ports[i])
	}
	s.Frontends = make([]Frontend, 0, n)
	for _, f := range endpoints.Families() {
		s.HealthCheckNodePorts[f] = svc.HealthCheckNodePort(f)
	}
	for i := range svc.Ports {
		s.Frontends, s.Ports[i] = buildPort(s.Frontends, &svc.Ports[i], node)
	}
	return s
}

// buildPort appends the frontends of a port.
func buildPort(dst []Frontend, sp *endpoints.ServicePort, node *Node) ([]Frontend, Port) {
	sel := endpoints.Select(sp, endpoints.NodeInfo{Name: node.Name, Zone: node.Zone}, node.Options)
	p := portPlan{sp: sp, node: node, hasAny: sel.HasAny, lists: listsOf(sp, &sel, node.Name)}
	return p.frontends(dst), p.summary()
}

func frontendCount(sp *endpoints.ServicePort) int {
	n := 1 + len(sp.ExternalIPs) + len(sp.LoadBalancerIPs)
	if sp.NodePort != 0 {
		n++
	}
	return n
}

// listsOf copies the selected endpoints out of the Selection, into one allocation.
func listsOf(sp *endpoints.ServicePort, sel *endpoints.Selection, nodeName string) *Lists {
	nc, nl := len(sel.Cluster.Index), len(sel.Local.Index)
	if nc+nl == 0 {
		return &Lists{}
	}
	buf := make([]Target, 0, nc+nl)
	for _, index := range [][]int32{sel.Cluster.Index, sel.Local.Index} {
		for _, i := range index {
			e := &sp.Endpoints[i]
			buf = append(buf, Target{Addr: e.Addr, Local: e.IsLocal(nodeName)})
		}
	}
	l := &Lists{ClusterFallback: sel.Cluster.Fallback, LocalFallback: sel.Local.Fallback}
	if nc > 0 {
		l.Cluster = buf[:nc:nc]
	}
	if nl > 0 {
		l.Local = buf[nc:]
	}
	return l
}

// portPlan is one service port on its way to frontends.
type portPlan struct {
	sp     *endpoints.ServicePort
	node   *Node
	hasAny bool
	lists  *Lists
}

func (p *portPlan) summary() Port {
	return Port{
		Name: p.sp.Name, Family: p.sp.Family, HasAny: p.hasAny, Lists: p.lists,
		NoLocalInternal: p.hasAny && p.sp.InternalPolicy == endpoints.PolicyLocal && len(p.lists.Local) == 0,
		NoLocalExternal: p.hasAny && p.sp.ExternalPolicy == endpoints.PolicyLocal && len(p.lists.Local) == 0,
	}
}

// frontends appends the port's frontends: ClusterIP, load-balancer IPs, external IPs, node port.
func (p *portPlan) frontends(dst []Frontend) []Frontend {
	sp := p.sp
	dst = append(dst, p.frontend(ClusterIP, Key{sp.ClusterIP, sp.Name.Protocol, sp.Port}))
	for i, ip := range sp.LoadBalancerIPs {
		if slices.Contains(sp.LoadBalancerIPs[:i], ip) {
			continue // listed twice
		}
		f := p.frontend(LoadBalancerIP, Key{ip, sp.Name.Protocol, sp.Port})
		f.Allowed = p.allowed()
		dst = append(dst, f)
	}
	for i, ip := range sp.ExternalIPs {
		if slices.Contains(sp.ExternalIPs[:i], ip) {
			continue
		}
		dst = append(dst, p.frontend(ExternalIP, Key{ip, sp.Name.Protocol, sp.Port}))
	}
	if sp.NodePort != 0 {
		// Node ports are never subject to source ranges.
		dst = append(dst, p.frontend(NodePort, NodePortKey(sp.Family, sp.Name.Protocol, sp.NodePort)))
	}
	return dst
}

func (p *portPlan) frontend(kind Kind, key Key) Frontend {
	f := Frontend{Key: key, Kind: kind, Service: p.sp.Name, Lists: p.lists, Affinity: p.sp.AffinityTimeout}
	for s := FromPod; s < numSources; s++ {
		f.Routes[s] = p.route(kind, s)
	}
	return f
}

// route decides what becomes of traffic from one source to one kind of frontend.
func (p *portPlan) route(kind Kind, source Source) Route {
	if !p.hasAny {
		return Route{Action: Reject, Why: NoEndpoints, Hooks: p.hooks(kind)}
	}
	r := Route{Action: Forward}
	switch {
	case kind == ClusterIP:
		r.List = endpoints.ListKind(p.sp.InternalPolicy)
		r.Masquerade = p.masqueradesClusterIP(source)
	case p.sp.ExternalPolicy == endpoints.PolicyCluster:
		// The endpoint may be on another node: the reply has to come back through this one.
		r.List, r.Masquerade = endpoints.ClusterList, true
	case source == FromOutside:
		r.List = endpoints.LocalList
	default:
		// Pods and the node go round the Local policy, as if they had left the cluster and
		// come back through a load balancer. A node's own source address may be the VIP.
		r.List, r.Why, r.Masquerade = endpoints.ClusterList, ShortCircuit, source == FromNode
	}
	if len(p.lists.Of(r.List)) == 0 {
		why := NoLocalEndpoints
		if r.List == endpoints.ClusterList {
			why = NoClusterEndpoints
		}
		return Route{Action: Drop, Why: why, Hooks: p.hooks(kind)}
	}
	return r
}

// masqueradesClusterIP: all of it with masqueradeAll; otherwise what does not come from a
// pod, since a route to the service range may lead off-cluster clients to any node. A node
// that cannot tell its pods' traffic masquerades none.
func (p *portPlan) masqueradesClusterIP(source Source) bool {
	return p.node.MasqueradeAll || p.node.Detector.Implemented(p.sp.Family) && source != FromPod
}

// hooks says where a frontend's reject and drop rules are attached. The chains differ:
// iptables mode meets packets that the node itself sends only for ClusterIPs, nftables mode
// meets node ports only on the way in (kube-proxy 1.36, iptablesJumpChains and
// nftablesJumpChains; verified).
func (p *portPlan) hooks(kind Kind) Hooks {
	switch {
	case p.node.Dialect == IPTables && kind == ClusterIP:
		return Forwarding | Output
	case p.node.Dialect == IPTables:
		return Input | Forwarding
	case kind == NodePort:
		return Input
	default:
		return Input | Forwarding | Output
	}
}

// allowed returns who may talk to the port's load-balancer IPs. If the node itself may, so
// may the load-balancer IPs: where a VIP is bound locally it becomes the source of the
// node's own packets. In iptables mode the rule does not exist without endpoints: reject wins.
func (p *portPlan) allowed() []netip.Prefix {
	ranges := p.sp.SourceRanges
	if len(ranges) == 0 || p.node.Dialect == IPTables && !p.hasAny {
		return nil
	}
	self := p.node.PrimaryAddress(p.sp.Family)
	if !slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(self) }) {
		return ranges
	}
	out := slices.Clone(ranges)
	for _, ip := range p.sp.LoadBalancerIPs {
		out = append(out, netip.PrefixFrom(ip, ip.BitLen()))
	}
	return out
}
