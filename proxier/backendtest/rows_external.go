package backendtest

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// externalRows are about external IPs, load-balancer IPs and node ports, which differ in
// nothing but what makes them.
var externalRows = []row{
	{
		name:      "external addresses with policy Cluster lead everybody to every endpoint, masqueraded",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(RemoteA)).exposed()},
		steps:   []step{probe{from: from(Client, OtherNode, PodC, RemoteB, NodePrimary), to: external(), want: masquerade(PodA, RemoteA)}},
	},
	{
		name:      "external addresses with nothing usable anywhere are rejected",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(notReady(PodA)).exposed()},
		steps: []step{
			probe{from: from(Client, PodC, RemoteB), to: external(), want: rejected},
			probe{from: from(NodePrimary), to: to(NodePrimary.port(nodePort), NodeSecond.port(nodePort)), want: rejected},
		},
	},
	{
		name:      "the node itself calling an external address without endpoints is rejected in nftables mode only",
		reference: nftChains,
		cluster:   []service{web().exposed()},
		// KUBE-EXTERNAL-SERVICES is reached from INPUT and FORWARD, not from OUTPUT: in iptables mode
		// the packet leaves the node untouched, towards the host that has the address.
		steps: []step{probe{
			from: from(NodePrimary), to: to(ExternalIP.port(80), VIPA.port(80)), want: rejected,
			difference: nodeToNothing, inIPTables: untouched,
		}},
	},
	{
		name:      "the node itself calling an external address that is bound to it is rejected in both modes",
		reference: nftChains,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.Addresses = append(n.Addresses, ExternalIP.Addr(f), VIPA.Addr(f))
		},
		cluster: []service{web().exposed()},
		// The packet never leaves, so it passes INPUT after all.
		steps: []step{probe{from: from(NodePrimary, PodC, Client), to: to(ExternalIP.port(80), VIPA.port(80)), want: rejected}},
	},
	{
		name:      "with policy Local the outside gets this node's endpoints unmasqueraded, while pods and the node get all",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(PodB), ready(RemoteA)).exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client, OtherNode), to: external(), want: reach(PodA, PodB)},
			probe{from: from(PodC, RemoteB), to: external(), want: reach(PodA, PodB, RemoteA)},
			probe{from: from(NodePrimary, NodeSecond), to: external(), want: masquerade(PodA, PodB, RemoteA)},
			// The ClusterIP follows the other policy.
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, PodB, RemoteA)},
		},
	},
	{
		name:      "with policy Local and endpoints elsewhere only the outside is dropped, while pods and the node get through",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(RemoteA)).exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client, OtherNode), to: external(), want: dropped},
			probe{from: from(PodC), to: external(), want: reach(RemoteA)},
			probe{from: from(NodePrimary), to: external(), want: masquerade(RemoteA)},
		},
	},
	{
		name:      "with policy Local and nothing anywhere everybody is rejected",
		reference: policyDocs,
		cluster:   []service{web().exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client, PodC), to: external(), want: rejected},
			probe{from: from(NodePrimary), to: to(NodePrimary.port(nodePort)), want: rejected},
			probe{from: from(NodePrimary), to: to(ExternalIP.port(80), VIPA.port(80)), want: rejected, difference: nodeToNothing, inIPTables: untouched},
		},
	},
	{
		name:      "with both policies Local only the ClusterIP keeps pods to their node",
		reference: policyDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal().internalLocal()},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
			probe{from: from(PodC), to: external(), want: reach(PodA, RemoteA)},
			probe{from: from(Client), to: external(), want: reach(PodA)},
		},
	},
	{
		name:      "external addresses with policy Cluster ignore the internal policy",
		reference: policyDocs,
		cluster:   []service{web(ready(RemoteA)).exposed().internalLocal()},
		steps: []step{
			probe{from: from(PodC, Client, NodePrimary), to: external(), want: masquerade(RemoteA)},
			probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: dropped},
		},
	},
	{
		name:      "a short-circuited pod that gets itself is masqueraded",
		reference: policyDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal()},
		steps:     []step{probe{from: from(PodA), to: external(), want: masquerade(PodA).or(reach(RemoteA))}},
	},
	{
		name:      "a ClusterIP Service with an external IP follows externalTrafficPolicy there",
		reference: "kube-proxy 1.36 serviceport.go; apiservice.ExternallyAccessible (verified)",
		cluster:   []service{web(ready(RemoteA)).externalIP(ExternalIP).externalLocal()},
		steps: []step{
			probe{from: from(Client), to: to(ExternalIP.port(80)), want: dropped},
			probe{from: from(PodC), to: to(ExternalIP.port(80)), want: reach(RemoteA)},
		},
	},
	{
		name:      "an external IP may be the node's own address",
		reference: policyDocs,
		cluster:   []service{web(ready(RemoteA)).externalIP(NodePrimary), web().named("empty").atClusterIPB().externalIP(NodeSecond)},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(80)), want: masquerade(RemoteA)},
			probe{from: from(Client, PodC, NodePrimary), to: to(NodeSecond.port(80)), want: rejected},
		},
	},
	{
		name:      "a port that an external address does not have is left alone",
		reference: policyDocs,
		cluster:   []service{web(ready(PodA)).exposed()},
		steps:     []step{probe{from: from(Client, PodC, NodePrimary), to: to(ExternalIP.port(81), VIPA.port(81), VIPA.port(nodePort)), want: untouched}},
	},
	{
		name:      "every VIP of a load balancer leads to the Service",
		reference: policyDocs,
		cluster:   []service{web(ready(PodA)).loadBalancer(VIPA, VIPB)},
		steps:     []step{probe{from: from(Client, PodC), to: to(VIPA.port(80), VIPB.port(80)), want: masquerade(PodA)}},
	},
	{
		name:      "a load-balancer IP with ipMode Proxy is left to the load balancer",
		reference: "KEP-1860; kube-proxy 1.36 serviceport.go (verified)",
		cluster:   []service{web(ready(PodA)).exposed().ingressOf(corev1.LoadBalancerIPModeProxy).from(sourceRange{of: Client})},
		steps: []step{
			probe{from: from(PodC, NodePrimary, Client, Stranger), to: to(VIPA.port(80)), want: untouched},
			probe{from: from(Client), to: to(NodePrimary.port(nodePort), ExternalIP.port(80)), want: masquerade(PodA)},
		},
	},
	{
		name:      "a load-balancer IP with ipMode VIP is the same as one without",
		reference: "KEP-1860; kube-proxy 1.36 serviceport.go (verified)",
		cluster:   []service{web(ready(PodA)).exposed().ingressOf(corev1.LoadBalancerIPModeVIP)},
		steps:     []step{probe{from: from(PodC, NodePrimary, Client), to: to(VIPA.port(80)), want: masquerade(PodA)}},
	},
	{
		name:      "a load balancer known by hostname only is never short-circuited",
		reference: "kube-proxy 1.36 serviceport.go (verified)",
		cluster:   []service{web(ready(PodA)).nodePort(nodePort).loadBalancer(VIPA).hostname("lb.example.com")},
		steps: []step{
			probe{from: from(PodC, NodePrimary, Client), to: to(VIPA.port(80)), want: untouched},
			probe{from: from(Client), to: to(NodePrimary.port(nodePort)), want: masquerade(PodA)},
		},
	},
	{
		name:      "an external IP without endpoints leaves its port to a node port of the same number",
		reference: policyDocs,
		cluster: []service{
			web().externalIP(NodePrimary).with(port{name: "http", port: nodePort, to: targetPort}),
			web(ready(PodA)).named("other").atClusterIPB().nodePort(nodePort),
		},
		steps: []step{probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(nodePort)), want: masquerade(PodA)}},
	},
	{
		name:      "an external IP without local endpoints leaves its port to a node port in iptables mode only",
		reference: "kube-proxy 1.36 nftables/proxier.go, serviceIPsMap (a goto does not return); iptables/proxier.go, external chain (a jump does; verified)",
		cluster: []service{
			web(ready(RemoteA)).externalIP(NodePrimary).externalLocal().with(port{name: "http", port: nodePort, to: targetPort}),
			web(ready(PodA)).named("other").atClusterIPB().nodePort(nodePort),
		},
		steps: []step{
			probe{from: from(Client), to: to(NodePrimary.port(nodePort)), want: dropped, difference: fallThrough, inIPTables: masquerade(PodA)},
			probe{from: from(PodC), to: to(NodePrimary.port(nodePort)), want: reach(RemoteA)},
		},
	},
	{
		name:      "of two Services that claim the same external IP and port the first by name has it",
		reference: "plan.Kind: upstream leaves it to map order",
		cluster: []service{
			web(ready(PodA)).externalIP(ExternalIP),
			web(ready(PodB)).named("another").atClusterIPB().externalIP(ExternalIP),
		},
		steps: []step{
			probe{from: from(Client), to: to(ExternalIP.port(80)), want: masquerade(PodB)},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
			change{delete: []string{"another"}},
			probe{from: from(Client), to: to(ExternalIP.port(80)), want: masquerade(PodA)},
			change{set: []service{web(ready(PodB)).named("another").atClusterIPB().externalIP(ExternalIP)}},
			probe{from: from(Client), to: to(ExternalIP.port(80)), want: masquerade(PodB)},
		},
	},
	{
		name:      "a Service that claims another's ClusterIP as its external IP gets only the ports that are free",
		reference: "plan.Kind: upstream leaves it to map order; CVE-2020-8554 is the misuse",
		cluster: []service{
			web(ready(PodA)),
			web(ready(PodB)).named("another").atClusterIPB().externalIP(ClusterIPA).with(
				port{name: "http", port: 80, to: targetPort}, port{name: "more", port: 81, to: targetPort}),
		},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
			probe{from: from(PodC), to: to(ClusterIPA.port(81)), want: masquerade(PodB)},
			change{delete: []string{"web"}},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: masquerade(PodB)},
		},
	},
}
