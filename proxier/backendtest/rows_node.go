package backendtest

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

const detectorDocs = "kube-proxy 1.36 util/localdetector.go; cmd/kube-proxy/app/server_linux.go, getLocalDetectors (verified)"

func detecting(d plan.LocalDetector) func(*plan.Node, endpoints.IPFamily) {
	return func(n *plan.Node, _ endpoints.IPFamily) { n.Detector = d }
}

// localAndRemote is a Service whose external traffic tells pods, the node and the outside apart.
var localAndRemote = []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal()}

// nodeRows are about what the node knows of its pods, and masqueradeAll.
var nodeRows = []row{
	{
		name:      "with the cluster CIDR every pod of the cluster counts as a pod",
		reference: detectorDocs,
		node:      detecting(plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: clusterCIDRs()}),
		cluster:   localAndRemote,
		steps: []step{
			probe{from: from(PodC, RemoteB), to: to(VIPA.port(80), ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(NodePrimary), to: to(VIPA.port(80), ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)},
			probe{from: from(Client), to: to(VIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "with the node's CIDR remote pods count as outside",
		reference: detectorDocs,
		node:      detecting(plan.LocalDetector{Mode: plan.DetectNodeCIDR, CIDRs: nodeCIDRs()}),
		cluster:   localAndRemote,
		steps: []step{
			probe{from: from(PodC), to: to(VIPA.port(80), ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(RemoteB, Client), to: to(VIPA.port(80)), want: reach(PodA)},
			probe{from: from(RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)},
		},
	},
	{
		name:      "with a bridge what comes in by it is a pod, whatever its address",
		reference: detectorDocs,
		node:      detecting(plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: PodInterface}),
		cluster:   localAndRemote,
		steps: []step{
			probe{from: from(PodC), to: to(VIPA.port(80), ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(RemoteB, Client), to: to(VIPA.port(80)), want: reach(PodA)},
			probe{from: from(RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)},
			probe{from: from(NodePrimary), to: to(VIPA.port(80)), want: masquerade(PodA, RemoteA)},
		},
	},
	{
		name:      "with an interface prefix what comes in by such an interface is a pod",
		reference: detectorDocs,
		node:      detecting(plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: PodInterface[:3]}),
		cluster:   localAndRemote,
		steps: []step{
			probe{from: from(PodC), to: to(VIPA.port(80), ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(RemoteB, Client), to: to(VIPA.port(80)), want: reach(PodA)},
			probe{from: from(RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)},
		},
	},
	{
		name:      "a node that cannot tell pods treats them as outside, and masquerades nobody to a ClusterIP",
		reference: detectorDocs,
		node:      detecting(plan.LocalDetector{}),
		cluster: []service{
			web(ready(PodA), ready(RemoteA)).exposed().externalLocal(),
			web(ready(RemoteA)).named("other").atClusterIPB().loadBalancer(VIPB).externalLocal(),
		},
		steps: []step{
			probe{from: from(PodC, RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(PodC, RemoteB, Client), to: to(VIPA.port(80)), want: reach(PodA)},
			probe{from: from(PodC, RemoteB, Client), to: to(VIPB.port(80)), want: dropped},
			probe{from: from(NodePrimary), to: to(VIPB.port(80)), want: masquerade(RemoteA)},
		},
	},
	{
		name:      "a CIDR of the other family tells nothing in this one",
		reference: detectorDocs,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.Detector.CIDRs = clusterCIDRs()[other(f) : other(f)+1]
		},
		cluster: localAndRemote,
		steps: []step{
			probe{from: from(PodC, Client), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(PodC), to: to(VIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "of several CIDRs of a family only the first counts",
		reference: detectorDocs,
		node: func(n *plan.Node, _ endpoints.IPFamily) {
			n.Detector.CIDRs = append(nodeCIDRs(), clusterCIDRs()...)
		},
		cluster: localAndRemote,
		steps: []step{
			probe{from: from(PodC), to: to(VIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(RemoteB), to: to(VIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "a node whose own address is in the cluster CIDR counts as a pod: the rules ask that first",
		reference: policyDocs,
		node: func(n *plan.Node, f endpoints.IPFamily) {
			n.Detector.CIDRs = append(n.Detector.CIDRs[:0], NodePrimary.only(f))
		},
		cluster: localAndRemote,
		steps: []step{
			probe{from: from(NodePrimary), to: to(VIPA.port(80), ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(NodeSecond), to: to(VIPA.port(80)), want: masquerade(PodA, RemoteA)},
		},
	},
	{
		name:      "masqueradeAll masquerades everybody to ClusterIPs and changes nothing elsewhere",
		reference: policyDocs,
		node:      func(n *plan.Node, _ endpoints.IPFamily) { n.MasqueradeAll = true },
		cluster:   localAndRemote,
		steps: []step{
			probe{from: from(PodC, RemoteB, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)},
			probe{from: from(PodC), to: to(VIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(Client), to: to(VIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "masqueradeAll does not need to know pods",
		reference: policyDocs,
		node: func(n *plan.Node, _ endpoints.IPFamily) {
			n.MasqueradeAll, n.Detector = true, plan.LocalDetector{}
		},
		cluster: localAndRemote,
		steps:   []step{probe{from: from(PodC, Client), to: to(ClusterIPA.port(80)), want: masquerade(PodA, RemoteA)}},
	},
}
