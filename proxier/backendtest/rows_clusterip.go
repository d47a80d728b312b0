package backendtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Where rows come from more than once.
const (
	policyDocs = "kube-proxy 1.36 nftables/proxier.go and iptables/proxier.go, syncProxyRules (verified)"
	nftChains  = "kube-proxy 1.36 nftables/proxier.go, nftablesJumpChains; iptables/proxier.go, iptablesJumpChains (verified)"
	kep1669    = "KEP-1669; kube-proxy 1.36 topology.go, CategorizeEndpoints (verified)"
)

// everyProtocol is for the elementary rows.
var everyProtocol = []packet.Protocol{packet.TCP, packet.UDP, packet.SCTP}

// icmp stands for what is neither TCP, UDP nor SCTP. Its packets have no ports.
const icmp packet.Protocol = 1

var clusterIPRows = []row{
	{
		name:      "a ClusterIP with policy Cluster leads to every ready endpoint, and shows them pods as they are",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(PodB), ready(RemoteA))},
		steps: []step{
			probe{from: from(PodC, RemoteB), to: to(ClusterIPA.port(80)), want: reach(PodA, PodB, RemoteA)},
			// A route to the service range may lead clients to any node; the reply has to come back this way.
			probe{from: from(Client, OtherNode, NodePrimary, NodeSecond), to: to(ClusterIPA.port(80)), want: masquerade(PodA, PodB, RemoteA)},
		},
	},
	{
		name:      "a ClusterIP with policy Cluster and nothing usable anywhere is rejected",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(notReady(PodA), gone(RemoteA))},
		steps:   []step{probe{from: from(PodC, RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: rejected}},
	},
	{
		name:      "a ClusterIP with policy Local leads to the endpoints of this node only",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(PodB), ready(RemoteA)).internalLocal()},
		steps: []step{
			probe{from: from(PodC, RemoteB), to: to(ClusterIPA.port(80)), want: reach(PodA, PodB)},
			probe{from: from(Client, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA, PodB)},
		},
	},
	{
		name:      "a ClusterIP with policy Local and endpoints elsewhere only drops",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(RemoteA)).internalLocal()},
		steps:   []step{probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: dropped}},
	},
	{
		name:      "a ClusterIP with policy Local and nothing anywhere is rejected",
		reference: policyDocs,
		cluster:   []service{web().internalLocal()},
		steps:     []step{probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: rejected}},
	},
	{
		name:      "a ClusterIP with policy Local and only serving terminating endpoints elsewhere drops",
		reference: kep1669,
		cluster:   []service{web(draining(RemoteA)).internalLocal()},
		steps:     []step{probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: dropped}},
	},
	{
		name:      "a port that a ClusterIP's Service does not have is rejected by nftables mode and unknown to iptables mode",
		reference: "kube-proxy 1.36 nftables/proxier.go, clusterIPsCheckChain (verified)",
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(81), ClusterIPA.port(nodePort)), want: rejected, difference: undefinedPort, inIPTables: untouched},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), protocol: packet.UDP, want: rejected, difference: undefinedPort, inIPTables: untouched},
		},
	},
	{
		name:      "an address of the service CIDR that no Service has drops in nftables mode, if it knows the CIDR",
		reference: "kube-proxy 1.36 nftables/proxier.go, clusterIPsCheckChain (verified)",
		node:      func(n *plan.Node, _ endpoints.IPFamily) { n.ServiceCIDRs = serviceCIDRs() },
		cluster:   []service{web(ready(PodA))},
		steps: []step{
			probe{from: from(PodC, Client, NodePrimary), to: to(FreeClusterIP.port(80)), want: dropped, difference: unallocatedClusterIP, inIPTables: untouched},
			probe{from: from(PodC), to: to(FreeClusterIP.port(0)), protocol: icmp, want: dropped, difference: unallocatedClusterIP, inIPTables: untouched},
			probe{from: from(PodC), to: to(ClusterIPA.port(81)), want: rejected, difference: undefinedPort, inIPTables: untouched},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "an address of an unknown service CIDR is any address",
		reference: "kube-proxy 1.36 nftables/proxier.go, serviceCIDRs (verified)",
		cluster:   []service{web(ready(PodA))},
		steps:     []step{probe{from: from(PodC, Client, NodePrimary), to: to(FreeClusterIP.port(80)), want: untouched}},
	},
	{
		name:      "ICMP belongs to no Service port: only nftables mode's guard of ClusterIPs meets it",
		reference: "kube-proxy 1.36 nftables/proxier.go, clusterIPsCheckChain (verified); what a real ping sees is recalled",
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(0)), protocol: icmp, want: rejected, difference: clusterIPPing, inIPTables: untouched},
			probe{from: from(PodC, Client, NodePrimary), to: to(ExternalIP.port(0), VIPA.port(0), NodePrimary.port(0), PodA.port(0)), protocol: icmp, want: untouched},
		},
	},
	{
		name:      "a ClusterIP that the node has itself is only guarded where packets for it still pass",
		reference: nftChains,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.Addresses = append(n.Addresses, ClusterIPA.Addr(f), ClusterIPB.Addr(f)) // a node-local DNS cache does this
		},
		cluster: []service{web(), web(ready(PodA)).named("other").atClusterIPB()},
		steps: []step{
			// Addressed to the node, packets pass input: nftables mode looks there, iptables mode does not.
			probe{from: from(PodC, Client), to: to(ClusterIPA.port(80)), want: rejected, difference: localClusterIP, inIPTables: untouched},
			probe{from: from(NodePrimary), to: to(ClusterIPA.port(80)), want: rejected},
			probe{from: from(PodC, Client), to: to(ClusterIPA.port(81)), want: untouched},
			probe{from: from(NodePrimary), to: to(ClusterIPA.port(81)), want: rejected, difference: undefinedPort, inIPTables: untouched},
			probe{from: from(PodC), to: to(ClusterIPB.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "a pod that gets itself as the endpoint is masqueraded then, and only then",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(PodB), ready(RemoteA))},
		steps:   []step{probe{from: from(PodA), to: to(ClusterIPA.port(80)), want: masquerade(PodA).or(reach(PodB, RemoteA))}},
	},
	{
		name:      "a remote endpoint whose packets pass here is masqueraded to itself in iptables mode only",
		reference: "kube-proxy 1.36 nftables/proxier.go, hairpinConnectionsSet; iptables/proxier.go, endpoint chains (verified)",
		cluster:   []service{web(ready(PodA), ready(RemoteA))},
		steps: []step{probe{
			from: from(RemoteA), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA),
			difference: remoteHairpin, inIPTables: reach(PodA).or(masquerade(RemoteA)),
		}},
	},
	{
		name:      "an endpoint on the host network has the node's address, so the node calling it is a hairpin",
		reference: policyDocs,
		node:      func(n *plan.Node, _ endpoints.IPFamily) { n.Detector = plan.LocalDetector{} },
		cluster:   []service{web(ready(NodePrimary), ready(RemoteA))},
		steps: []step{
			probe{from: from(NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(NodePrimary).or(reach(RemoteA))},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(NodePrimary, RemoteA)},
		},
	},
	{
		name:      "each port of a Service leads to its own target port",
		reference: "core/v1 Service, spec.ports; kube-proxy 1.36 endpointslicecache.go (verified)",
		cluster: []service{web(ready(PodA), ready(RemoteA)).with(
			port{name: "http", port: 80, to: 8080}, port{name: "metrics", port: 9090, to: 9091})},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(PodC), to: to(ClusterIPA.port(9090)), want: reach(PodA, RemoteA).onPort(9091)},
		},
	},
	{
		name:      "the same port number of two protocols is two service ports",
		reference: "core/v1 Service, spec.ports; kube-proxy 1.36 serviceport.go (verified)",
		cluster: []service{
			web(ready(PodA)).with(port{name: "dns-tcp", protocol: corev1.ProtocolTCP, port: 53, to: 5353},
				port{name: "dns", protocol: corev1.ProtocolUDP, port: 53, to: 5354}),
			web().named("other").atClusterIPB().with(port{name: "dns", protocol: corev1.ProtocolUDP, port: 53, to: 5354}),
		},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(53)), protocol: packet.TCP, want: reach(PodA).onPort(5353)},
			probe{from: from(PodC), to: to(ClusterIPA.port(53)), protocol: packet.UDP, want: reach(PodA).onPort(5354)},
			probe{from: from(PodC), to: to(ClusterIPB.port(53)), protocol: packet.UDP, want: rejected},
		},
	},
	{
		name:      "addresses that no Service has are left alone",
		reference: policyDocs,
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			probe{from: from(PodC, Client, NodePrimary), to: to(PodA.port(targetPort), RemoteA.port(targetPort), Nowhere.port(80), ClusterIPB.port(80)), want: untouched},
			probe{from: from(PodC, Client, NodePrimary), to: to(NodePrimary.port(80), OtherNode.port(nodePort)), want: untouched},
		},
	},
	{
		name:      "a dual-stack Service has addresses and endpoints of each family for itself",
		reference: "kube-proxy 1.36 serviceport.go; one proxier per family (verified)",
		cluster:   []service{web(ready(PodA)).exposed().dualStack(), web(ready(PodB)).named("elsewhere").atClusterIPB().onlyOtherFamily()},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
			probe{from: from(Client), to: external(), want: masquerade(PodA)},
			probe{from: from(PodC), to: to(ClusterIPB.port(80)), want: rejected},
		},
	},
}
