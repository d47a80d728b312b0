package backendtest

import "github.com/lameduck-proxy/lameduck/endpoints"

// selectionRows are about which endpoints a list holds, as far as packets show it; package
// endpoints has the rest.
var selectionRows = []row{
	{
		name:      "conditions that are not set mean ready",
		reference: "kube-proxy 1.36 endpointslicecache.go, addEndpoints (verified)",
		cluster:   []service{web(unset(PodA), notReady(PodB))},
		steps:     []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)}},
	},
	{
		name:      "the Cluster list falls back to serving terminating endpoints when nothing is ready anywhere",
		reference: kep1669,
		cluster:   []service{web(draining(PodA), draining(RemoteA), gone(PodB), notReady(RemoteB)).exposed()},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(Client, PodC, NodePrimary), to: external(), want: masquerade(PodA, RemoteA)},
		},
	},
	{
		name:      "one ready endpoint anywhere takes all traffic of the Cluster list",
		reference: kep1669,
		cluster:   []service{web(draining(PodA), draining(PodB), ready(RemoteA)).exposed()},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(RemoteA)},
			probe{from: from(Client), to: external(), want: masquerade(RemoteA)},
		},
	},
	{
		name:      "the Local list of external traffic falls back for itself, although endpoints are ready elsewhere",
		reference: kep1669,
		cluster:   []service{web(draining(PodA), ready(RemoteA)).exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client), to: external(), want: reach(PodA)},
			probe{from: from(PodC), to: external(), want: reach(RemoteA)},
			probe{from: from(NodePrimary), to: external(), want: masquerade(RemoteA)},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(RemoteA)},
		},
	},
	{
		name:      "the Local list of internal traffic falls back for itself too",
		reference: kep1669,
		cluster:   []service{web(draining(PodA), ready(RemoteA)).internalLocal()},
		steps:     []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)}},
	},
	{
		name:      "the Local list never falls back to another node",
		reference: kep1669,
		cluster:   []service{web(gone(PodA), draining(RemoteA)).exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client), to: external(), want: dropped},
			probe{from: from(PodC), to: external(), want: reach(RemoteA)},
		},
	},
	{
		name:      "a ready endpoint on the node keeps terminating ones out of the Local list",
		reference: kep1669,
		cluster:   []service{web(ready(PodA), draining(PodB), draining(RemoteA)).exposed().externalLocal().internalLocal()},
		steps: []step{
			probe{from: from(Client), to: external(), want: reach(PodA)},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)},
		},
	},
	{
		name:      "an endpoint that serves without being ready or terminating is never used",
		reference: kep1669,
		cluster:   []service{web(oddlyServing(PodA)).exposed()},
		steps:     []step{probe{from: from(PodC, Client), to: to(ClusterIPA.port(80), VIPA.port(80)), want: rejected}},
	},
	{
		name:      "terminating endpoints whose readiness fails are never used",
		reference: kep1669,
		cluster:   []service{web(gone(PodA), gone(RemoteA)).exposed().externalLocal()},
		steps:     []step{probe{from: from(PodC, Client), to: external(), want: rejected}},
	},
	{
		name:      "without KEP-1669 serving terminating endpoints are as good as none",
		reference: "docs/model/kube-proxy.md 11: behaviour before 1.26",
		options:   func(o *endpoints.Options) { o.TerminatingFallback = endpoints.FallbackNone },
		cluster: []service{
			web(draining(PodA), ready(RemoteA)).exposed().externalLocal(),
			web(draining(PodA), draining(RemoteA)).named("other").atClusterIPB(),
		},
		steps: []step{
			probe{from: from(Client), to: external(), want: dropped},
			probe{from: from(PodC), to: external(), want: reach(RemoteA)},
			probe{from: from(PodC), to: to(ClusterIPB.port(80)), want: rejected},
		},
	},
	{
		name:      "KEP-1669's alpha falls back for external traffic to the Local list and for nothing else",
		reference: "KEP-1669, graduation criteria: alpha (scope recalled)",
		options:   func(o *endpoints.Options) { o.TerminatingFallback = endpoints.FallbackExternalLocal },
		cluster:   []service{web(draining(PodA)).exposed().externalLocal()},
		steps: []step{
			probe{from: from(Client), to: external(), want: reach(PodA)},
			probe{from: from(PodC), to: external(), want: dropped},
			probe{from: from(NodePrimary), to: to(NodePrimary.port(nodePort)), want: dropped},
			probe{from: from(NodePrimary), to: to(ExternalIP.port(80), VIPA.port(80)), want: dropped, difference: nodeToNothing, inIPTables: untouched},
			probe{from: from(PodC, Client, NodePrimary), to: to(ClusterIPA.port(80)), want: dropped},
		},
	},
	{
		name:      "zone hints narrow the Cluster list and not the Local list",
		reference: "kube-proxy 1.36 topology.go, topologyModeFromHints (verified)",
		cluster: []service{web(
			ready(PodA).forZones(zone), ready(PodB).forZones(otherZone), ready(RemoteA).forZones(zone), ready(RemoteB).forZones(otherZone),
		).exposed().externalLocal()},
		steps: []step{
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)},
			probe{from: from(PodC), to: external(), want: reach(PodA, RemoteA)},
			probe{from: from(Client), to: external(), want: reach(PodA, PodB)},
		},
	},
	{
		name:      "node hints come before zone hints",
		reference: "kube-proxy 1.36 topology.go, topologyModeFromHints (verified)",
		cluster: []service{web(
			ready(PodA).forZones(zone).forNodes(NodeName), ready(PodB).forZones(zone).forNodes(RemoteNodeName), ready(RemoteA).forZones(zone).forNodes(RemoteNodeName),
		)},
		steps: []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA)}},
	},
	{
		name:      "one ready endpoint without a hint turns hints off",
		reference: "kube-proxy 1.36 topology.go, topologyModeFromHints (verified)",
		cluster:   []service{web(ready(PodA).forZones(zone), ready(RemoteA).forZones(otherZone), ready(RemoteB))},
		steps:     []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA, RemoteB)}},
	},
	{
		name:      "hints for other zones only are ignored",
		reference: "kube-proxy 1.36 topology.go, topologyModeFromHints (verified)",
		cluster:   []service{web(ready(RemoteA).forZones(otherZone), ready(PodA).forZones(otherZone))},
		steps:     []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)}},
	},
	{
		name:      "the fallback ignores hints",
		reference: kep1669,
		cluster:   []service{web(draining(PodA).forZones(zone), draining(RemoteA).forZones(otherZone))},
		steps:     []step{probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: reach(PodA, RemoteA)}},
	},
}
