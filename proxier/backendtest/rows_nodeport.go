package backendtest

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

var (
	onlyIPv4 = []endpoints.IPFamily{endpoints.IPv4}
	onlyIPv6 = []endpoints.IPFamily{endpoints.IPv6}
)

// onPrimary is nodePortAddresses: primary, the default of nftables mode.
func onPrimary(n *plan.Node, _ endpoints.IPFamily) {
	n.NodePortAddresses = n.PrimaryNodePortAddresses()
}

func onLocalhost(n *plan.Node, _ endpoints.IPFamily) { n.LocalhostNodePorts = true }

const nodePortDocs = "kube-proxy 1.36 util/nodeport_addresses.go; nftables/proxier.go and iptables/proxier.go, node ports (verified)"

// nodePortRows are about where node ports answer, and about health-check node ports.
var nodePortRows = []row{
	{
		name:      "node ports answer on every address of the node, localhost apart",
		reference: nodePortDocs,
		cluster:   []service{web(ready(RemoteA)).nodePort(nodePort)},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(nodePort), NodeSecond.port(nodePort)), want: masquerade(RemoteA)},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched},
			probe{from: from(Client, PodC, NodePrimary), to: to(OtherNode.port(nodePort)), want: untouched},
			probe{from: from(Client), to: to(NodePrimary.port(nodePort)), protocol: packet.UDP, want: untouched},
		},
	},
	{
		name:      "node ports on the primary address only are nothing on the others",
		reference: nodePortDocs,
		node:      onPrimary,
		cluster:   []service{web(ready(RemoteA)).nodePort(nodePort)},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(nodePort)), want: masquerade(RemoteA)},
			probe{from: from(Client, PodC, NodePrimary), to: to(NodeSecond.port(nodePort)), want: untouched},
		},
	},
	{
		name:      "node ports in ranges answer on the node's addresses in them",
		reference: nodePortDocs,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.NodePortAddresses = []netip.Prefix{NodeSecond.only(f), OtherNode.only(f)}
		},
		cluster: []service{web(ready(RemoteA)).nodePort(nodePort)},
		steps: []step{
			probe{from: from(Client, PodC), to: to(NodeSecond.port(nodePort)), want: masquerade(RemoteA)},
			probe{from: from(Client, PodC), to: to(NodePrimary.port(nodePort), OtherNode.port(nodePort)), want: untouched},
		},
	},
	{
		name:      "a range of everything sets no limit, whatever stands beside it",
		reference: nodePortDocs,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			everything, _ := NodePrimary.Addr(f).Prefix(0) // cannot fail: zero fits every family
			n.NodePortAddresses = []netip.Prefix{NodeSecond.only(f), everything}
		},
		cluster: []service{web(ready(RemoteA)).nodePort(nodePort)},
		steps:   []step{probe{from: from(Client), to: to(NodePrimary.port(nodePort), NodeSecond.port(nodePort)), want: masquerade(RemoteA)}},
	},
	{
		name:      "node port ranges of the other family only set no limit here",
		reference: nodePortDocs,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.NodePortAddresses = []netip.Prefix{NodeSecond.only(other(f))}
		},
		cluster: []service{web(ready(RemoteA)).nodePort(nodePort)},
		steps:   []step{probe{from: from(Client), to: to(NodePrimary.port(nodePort), NodeSecond.port(nodePort)), want: masquerade(RemoteA)}},
	},
	{
		name:      "on addresses that take no node ports iptables mode still rejects those without endpoints",
		reference: "kube-proxy 1.36 iptables/proxier.go: KUBE-EXTERNAL-SERVICES matches every local address; nftables/proxier.go, nodePortEndpointsCheckChain (verified)",
		node:      onPrimary,
		cluster:   []service{web().nodePort(nodePort)},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(nodePort)), want: rejected},
			probe{from: from(Client, PodC, NodePrimary), to: to(NodeSecond.port(nodePort)), want: untouched, difference: unacceptedNodePort, inIPTables: rejected},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched, difference: unacceptedNodePort, inIPTables: rejected},
		},
	},
	{
		name:      "on addresses that take no node ports iptables mode drops everybody when no endpoint is local: nothing short-circuits there",
		reference: "kube-proxy 1.36 iptables/proxier.go: KUBE-EXTERNAL-SERVICES matches every local address and no source (verified)",
		node:      onPrimary,
		cluster:   []service{web(ready(RemoteA)).nodePort(nodePort).externalLocal()},
		steps: []step{
			probe{from: from(Client), to: to(NodePrimary.port(nodePort)), want: dropped},
			probe{from: from(PodC), to: to(NodePrimary.port(nodePort)), want: reach(RemoteA)},
			probe{from: from(Client, PodC, NodePrimary), to: to(NodeSecond.port(nodePort)), want: untouched, difference: unacceptedNodePort, inIPTables: dropped},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched, difference: unacceptedNodePort, inIPTables: dropped},
		},
	},
	{
		name:      "localhost takes node ports in iptables mode over IPv4 when told to",
		reference: "kube-proxy 1.36 iptables/proxier.go, localhostNodePorts (verified)", families: onlyIPv4,
		node: onLocalhost,
		cluster: []service{
			web(ready(PodA)).nodePort(nodePort),
			web(ready(RemoteA)).named("other").atClusterIPB().externalLocal().nodePort(nodePort + 1),
		},
		steps: []step{
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched, difference: localhostNodePort, inIPTables: masquerade(PodA)},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort + 1)), want: untouched, difference: localhostNodePort, inIPTables: masquerade(RemoteA)},
			probe{from: from(Client), to: to(NodePrimary.port(nodePort)), want: masquerade(PodA)},
		},
	},
	{
		name:      "localhost never takes node ports over IPv6",
		reference: "kube-proxy 1.36 iptables/proxier.go, localhostNodePorts (verified)", families: onlyIPv6,
		node:    onLocalhost,
		cluster: []service{web(ready(PodA)).nodePort(nodePort)},
		steps:   []step{probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched}},
	},
	{
		name:      "node ports on localhost open 127.0.0.0/8 to the network, so iptables mode closes it again",
		reference: "kube-proxy 1.36 iptables/proxier.go, KUBE-FIREWALL; kubernetes issue 90259 (verified)", families: onlyIPv4,
		needs:   []Need{NeedMartians},
		node:    onLocalhost,
		cluster: []service{web(ready(PodA)).nodePort(nodePort), web().named("empty").atClusterIPB().nodePort(nodePort + 1)},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodeLoopback.port(1234)), want: untouched, difference: localnet, inIPTables: dropped},
			probe{from: from(Client), to: to(NodeLoopback.port(nodePort + 1)), want: untouched, difference: localnet, inIPTables: dropped},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(1234)), want: untouched},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort + 1)), want: untouched, difference: unacceptedNodePort, inIPTables: rejected},
			// What is translated is no packet for 127.0.0.0/8 any more.
			probe{from: from(Client), to: to(NodeLoopback.port(nodePort)), want: untouched, difference: localhostNodePort, inIPTables: masquerade(PodA)},
		},
	},
	{
		name:      "127.0.0.0/8 needs no closing where node ports do not use it",
		reference: "kube-proxy 1.36 iptables/proxier.go, NewProxier: ContainsIPv4Loopback (verified)", families: onlyIPv4,
		needs:   []Need{NeedMartians},
		node:    func(n *plan.Node, f endpoints.IPFamily) { onLocalhost(n, f); onPrimary(n, f) },
		cluster: []service{web(ready(PodA)).nodePort(nodePort)},
		steps: []step{
			probe{from: from(Client, PodC), to: to(NodeLoopback.port(1234)), want: untouched},
			probe{from: from(NodeLoopback), to: to(NodeLoopback.port(nodePort)), want: untouched},
		},
	},
	{
		name:      "IPv6 has no localnet to close",
		reference: "kube-proxy 1.36 iptables/proxier.go, KUBE-FIREWALL (verified)", families: onlyIPv6,
		needs:   []Need{NeedMartians},
		node:    onLocalhost,
		cluster: []service{web(ready(PodA)).nodePort(nodePort)},
		steps:   []step{probe{from: from(Client, PodC), to: to(NodeLoopback.port(1234)), want: untouched}},
	},
	{
		name:      "iptables mode lets packets in to health-check node ports, nftables mode has no rule for them",
		reference: "kube-proxy 1.36 iptables/proxier.go, healthCheckNodePort (verified)",
		needs:     []Need{NeedAccept},
		cluster:   []service{web(ready(RemoteA)).exposed().healthChecked()},
		steps: []step{
			probe{from: from(Client, PodC, NodePrimary), to: to(NodePrimary.port(healthPort), NodeSecond.port(healthPort)), want: untouched, difference: healthCheckPort, inIPTables: accepted},
			probe{from: from(Client), to: to(NodePrimary.port(healthPort)), protocol: packet.UDP, want: untouched},
			probe{from: from(Client), to: to(VIPA.port(healthPort), OtherNode.port(healthPort)), want: untouched},
		},
	},
}
