package backendtest

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// firewallRows are about loadBalancerSourceRanges.
var firewallRows = []row{
	{
		name:      "source ranges guard load-balancer IPs and nothing else",
		reference: policyDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA)).exposed().from(sourceRange{of: Client}, sourceRange{of: PodB})},
		steps: []step{
			probe{from: from(Client, PodB), to: to(VIPA.port(80)), want: masquerade(PodA)},
			probe{from: from(Stranger, PodC, NodePrimary), to: to(VIPA.port(80)), want: dropped},
			probe{from: from(Stranger, PodC, NodePrimary), to: to(ExternalIP.port(80), NodePrimary.port(nodePort)), want: masquerade(PodA)},
			probe{from: from(Stranger, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA)},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "source ranges come before the policy, and admit to it",
		reference: policyDocs,
		cluster:   []service{web(ready(RemoteA)).exposed().externalLocal().from(sourceRange{of: Client}, sourceRange{of: PodB})},
		steps: []step{
			probe{from: from(Client, Stranger, PodC), to: to(VIPA.port(80)), want: dropped},
			probe{from: from(PodB), to: to(VIPA.port(80)), want: reach(RemoteA)},
		},
	},
	{
		name:      "without endpoints source ranges still drop in nftables mode, while iptables mode rejects everybody",
		reference: "kube-proxy 1.36 nftables/proxier.go and iptables/proxier.go, usesFWChain (verified)",
		cluster:   []service{web().exposed().from(sourceRange{of: Client})},
		steps: []step{
			probe{from: from(Client), to: to(VIPA.port(80)), want: rejected},
			probe{from: from(Stranger, PodC), to: to(VIPA.port(80)), want: dropped, difference: rangesWithoutEndpoints, inIPTables: rejected},
			probe{from: from(NodePrimary), to: to(VIPA.port(80)), want: dropped, difference: rangesWithoutEndpoints, inIPTables: untouched},
		},
	},
	{
		name:      "where the node may, its VIPs may too: a VIP bound to the node is the source of its calls",
		reference: "kube-proxy 1.36 nftables/proxier.go and iptables/proxier.go, allowFromNode (verified)",
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.Addresses = append(n.Addresses, VIPA.Addr(f), VIPB.Addr(f))
		},
		cluster: []service{web(ready(PodA)).loadBalancer(VIPA, VIPB).from(sourceRange{of: NodePrimary})},
		steps: []step{
			probe{from: from(NodePrimary, VIPA, VIPB), to: to(VIPA.port(80), VIPB.port(80)), want: masquerade(PodA)},
			probe{from: from(Client, PodC, NodeSecond), to: to(VIPA.port(80), VIPB.port(80)), want: dropped},
		},
	},
	{
		name:      "where the node's primary address may not, its VIPs may not either",
		reference: "kube-proxy 1.36 nftables/proxier.go and iptables/proxier.go, allowFromNode (verified)",
		node:      func(n *plan.Node, f endpoints.IPFamily) { n.Addresses = append(n.Addresses, VIPA.Addr(f)) },
		cluster:   []service{web(ready(PodA)).loadBalancer(VIPA).from(sourceRange{of: NodeSecond})},
		steps: []step{
			probe{from: from(VIPA, NodePrimary), to: to(VIPA.port(80)), want: dropped},
			probe{from: from(NodeSecond), to: to(VIPA.port(80)), want: masquerade(PodA)},
		},
	},
	{
		name:      "a range of everything admits everybody, whatever stands beside it",
		reference: "kube-proxy 1.36 serviceport.go; util IsZeroCIDR (verified)",
		cluster:   []service{web(ready(PodA)).exposed().from(sourceRange{of: Client}, sourceRange{everyone: true})},
		steps:     []step{probe{from: from(Client, Stranger, PodC, NodePrimary), to: to(VIPA.port(80)), want: masquerade(PodA)}},
	},
	{
		name:      "ranges of the other family only do not guard this one",
		reference: "kube-proxy 1.36 serviceport.go (verified)",
		cluster:   []service{web(ready(PodA)).exposed().from(sourceRange{of: Client, otherFamily: true})},
		steps:     []step{probe{from: from(Client, Stranger, PodC), to: to(VIPA.port(80)), want: masquerade(PodA)}},
	},
}
