package memory

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// kubeProxy is a second evaluator to hold the first against: kube-proxy 1.36's chains one
// after the other, over every service port there is, without a Plan. It is as slow and as
// plain as it can be, and knows nothing of routes, frontends or stages.
type kubeProxy struct {
	snap *endpoints.Snapshot
	node *plan.Node
	pkt  packet.Packet
	mark bool // KUBE-MARK-MASQ, or the mark of nftables mode
}

// lists is what both modes work out about a service port before they write a rule.
type lists struct {
	*endpoints.ServicePort
	cluster, local []int32
	hasAny         bool
}

func (k *kubeProxy) ports(yield func(lists) bool) {
	for svc := range k.snap.Services() {
		for i := range svc.Ports {
			sp := &svc.Ports[i]
			if sp.Family != endpoints.FamilyOf(k.pkt.Dst.Addr()) || sp.Name.Protocol.String() != map[packet.Protocol]string{packet.TCP: "TCP", packet.UDP: "UDP", packet.SCTP: "SCTP"}[k.pkt.Protocol] {
				continue
			}
			sel := endpoints.Select(sp, endpoints.NodeInfo{Name: k.node.Name, Zone: k.node.Zone}, k.node.Options)
			if !yield(lists{sp, sel.Cluster.Index, sel.Local.Index, sel.HasAny}) {
				return
			}
		}
	}
}

func (l lists) hasInternal() bool {
	return l.hasAny && (l.InternalPolicy == endpoints.PolicyCluster || len(l.local) > 0)
}

func (l lists) hasExternal() bool {
	return l.hasAny && (l.ExternalPolicy == endpoints.PolicyCluster || len(l.local) > 0)
}

func (k *kubeProxy) fromPod() bool {
	return k.node.Detector.Detects(k.pkt.Src.Addr(), k.pkt.InInterface)
}

func (k *kubeProxy) canTellPods() bool {
	return k.node.Detector.Implemented(endpoints.FamilyOf(k.pkt.Dst.Addr()))
}

func (k *kubeProxy) forNode() bool { return k.node.Owns(k.pkt.Dst.Addr()) }
func (k *kubeProxy) sent() bool    { return k.node.Owns(k.pkt.Src.Addr()) && k.pkt.InInterface == "" }

// isClusterIP says whether the packet is for a ClusterIP of anybody, any port.
func (k *kubeProxy) isClusterIP() bool {
	for svc := range k.snap.Services() {
		for i := range svc.Ports {
			if svc.Ports[i].ClusterIP == k.pkt.Dst.Addr() {
				return true
			}
		}
	}
	return false
}

func (k *kubeProxy) isFor(l lists, a netip.Addr) bool {
	return k.pkt.Dst == netip.AddrPortFrom(a, l.Port)
}

func (k *kubeProxy) isForAny(l lists, addrs []netip.Addr) bool {
	return slices.ContainsFunc(addrs, func(a netip.Addr) bool { return k.isFor(l, a) })
}

// verdict lets the packet through.
func (k *kubeProxy) verdict() (packet.Verdict, []packet.Target) {
	if k.node.Dialect == plan.NFTables && k.shutOut(false) {
		return packet.Drop, nil
	}
	if l, index := k.nat(); len(index) > 0 {
		var targets []packet.Target
		for _, i := range index {
			e := &l.Endpoints[i]
			hairpin := e.Addr.Addr() == k.pkt.Src.Addr() && (k.node.Dialect == plan.IPTables || e.IsLocal(k.node.Name))
			targets = append(targets, packet.Target{Addr: e.Addr, Masquerade: k.mark || hairpin})
		}
		return packet.Endpoints, targets
	}
	if k.node.Dialect == plan.NFTables {
		return k.filterNFTables(), nil
	}
	return k.filterIPTables(), nil
}

// shutOut is the firewall chain: of all Services, or in iptables mode of those with endpoints.
func (k *kubeProxy) shutOut(onlyWithEndpoints bool) bool {
	for l := range k.ports {
		if len(l.SourceRanges) == 0 || !k.isForAny(l, l.LoadBalancerIPs) || onlyWithEndpoints && !l.hasAny {
			continue
		}
		admitted, nodeMay := false, false
		for _, r := range l.SourceRanges {
			admitted = admitted || r.Contains(k.pkt.Src.Addr())
			nodeMay = nodeMay || r.Contains(k.node.PrimaryAddress(l.Family))
		}
		if !admitted && !(nodeMay && slices.Contains(l.LoadBalancerIPs, k.pkt.Src.Addr())) {
			return true
		}
	}
	return false
}

// nat is the chain of services, in both modes: an address of a Service, else a node port.
func (k *kubeProxy) nat() (lists, []int32) {
	for l := range k.ports {
		switch {
		case k.isFor(l, l.ClusterIP) && l.hasInternal():
			k.mark = k.node.MasqueradeAll || k.canTellPods() && !k.fromPod()
			if l.InternalPolicy == endpoints.PolicyLocal {
				return l, l.local
			}
			return l, l.cluster
		case k.isForAny(l, l.ExternalIPs) && l.hasAny,
			k.isForAny(l, l.LoadBalancerIPs) && l.hasAny && !(k.node.Dialect == plan.IPTables && k.shutOut(true)):
			if index := k.external(l); len(index) > 0 || k.node.Dialect == plan.NFTables {
				return l, index // a goto in nftables mode, a jump that returns in iptables mode
			}
		}
	}
	if !k.node.AcceptsNodePorts(k.pkt.Dst.Addr()) {
		return lists{}, nil
	}
	for l := range k.ports {
		if l.NodePort != 0 && l.NodePort == k.pkt.Dst.Port() && l.hasAny {
			return l, k.external(l)
		}
	}
	return lists{}, nil
}

// external is the chain of external traffic of one service port.
func (k *kubeProxy) external(l lists) []int32 {
	switch {
	case l.ExternalPolicy == endpoints.PolicyCluster:
		k.mark = true
		return l.cluster
	case k.canTellPods() && k.fromPod():
		return l.cluster
	case k.node.Owns(k.pkt.Src.Addr()):
		k.mark = true
		return l.cluster
	default:
		return l.local
	}
}

func refusal(l lists) packet.Verdict {
	if l.hasAny {
		return packet.Drop
	}
	return packet.Reject
}

// refused is what the maps and rules of those without endpoints say about the packet.
func (k *kubeProxy) refused(internal, external, nodePorts bool) packet.Verdict {
	for l := range k.ports {
		switch {
		case nodePorts && l.NodePort != 0 && l.NodePort == k.pkt.Dst.Port() && !l.hasExternal(),
			internal && k.isFor(l, l.ClusterIP) && !l.hasInternal(),
			external && (k.isForAny(l, l.ExternalIPs) || k.isForAny(l, l.LoadBalancerIPs)) && !l.hasExternal():
			return refusal(l)
		}
	}
	return packet.None
}

func (k *kubeProxy) filterNFTables() packet.Verdict {
	if k.sent() || !k.forNode() { // output and forward
		switch {
		case k.refused(true, true, false) != packet.None:
			return k.refused(true, true, false)
		case k.isClusterIP():
			return packet.Reject
		case slices.ContainsFunc(k.node.ServiceCIDRs, func(p netip.Prefix) bool { return p.Contains(k.pkt.Dst.Addr()) }):
			return packet.Drop
		}
	}
	if !k.forNode() {
		return packet.None
	}
	if k.node.AcceptsNodePorts(k.pkt.Dst.Addr()) {
		if v := k.refused(false, false, true); v != packet.None {
			return v
		}
	}
	return k.refused(true, true, false)
}

func (k *kubeProxy) filterIPTables() packet.Verdict {
	local := netip.MustParsePrefix("127.0.0.0/8")
	if local.Contains(k.pkt.Dst.Addr()) && !local.Contains(k.pkt.Src.Addr()) && k.node.AcceptsNodePorts(netip.MustParseAddr("127.0.0.1")) {
		return packet.Drop // KUBE-FIREWALL
	}
	if k.shutOut(true) {
		return packet.Drop // KUBE-PROXY-FIREWALL
	}
	if k.sent() || !k.forNode() { // OUTPUT and FORWARD, KUBE-SERVICES
		if v := k.refused(true, false, false); v != packet.None {
			return v
		}
	}
	if !k.sent() || k.forNode() { // INPUT and FORWARD, KUBE-EXTERNAL-SERVICES
		if v := k.refused(false, true, k.forNode()); v != packet.None {
			return v
		}
	}
	if k.forNode() && k.pkt.Protocol == packet.TCP && k.isHealthCheck() {
		return packet.Accept // KUBE-NODEPORTS
	}
	return packet.None
}

func (k *kubeProxy) isHealthCheck() bool {
	for svc := range k.snap.Services() {
		if n := svc.HealthCheckNodePort(endpoints.FamilyOf(k.pkt.Dst.Addr())); n != 0 && n == k.pkt.Dst.Port() {
			return true
		}
	}
	return false
}
