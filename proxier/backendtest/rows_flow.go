package backendtest

import (
	"time"
)

const (
	conntrackDocs = "docs/model/kube-proxy.md 7: address translation is decided by a flow's first packet, filter rules match new flows only"
	affinityDocs  = "kube-proxy 1.36 nftables/proxier.go, affinity sets; iptables/proxier.go, recent matches (verified)"
)

// flowRows are about flows that live longer than the rules they began under.
var flowRows = []row{
	{
		name:      "a flow stays with its endpoint when the Service has none left, while new ones are rejected",
		reference: conntrackDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA)).exposed()},
		steps: []step{
			open{flow: "pod's", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			open{flow: "client's", from: Client, to: VIPA.port(80), want: masquerade(PodA)},
			change{set: []service{web().exposed()}},
			again{"pod's"},
			again{"client's"},
			probe{from: from(PodC, Client), to: to(ClusterIPA.port(80), VIPA.port(80)), want: rejected},
		},
	},
	{
		name:      "a flow stays when its Service is deleted, while new ones are on their own",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			open{flow: "kept", from: Client, to: NodePrimary.port(nodePort), want: masquerade(PodA)},
			change{delete: []string{"web"}},
			again{"kept"},
			probe{from: from(Client), to: external(), want: untouched},
			probe{from: from(PodC), to: to(ClusterIPA.port(80)), want: untouched},
		},
	},
	{
		name:      "a flow stays with a terminating endpoint, while new ones go to the ready one",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA))},
		steps: []step{
			open{flow: "kept", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			change{set: []service{web(draining(PodA), ready(RemoteA))}},
			again{"kept"},
			open{flow: "new", from: PodC, to: ClusterIPA.port(80), want: reach(RemoteA)},
			again{"kept"},
			again{"new"},
		},
	},
	{
		name:      "a flow stays when the node's last local endpoint leaves, while new ones are dropped",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal()},
		steps: []step{
			open{flow: "kept", from: Client, to: VIPA.port(80), want: reach(PodA)},
			change{set: []service{web(ready(RemoteA)).exposed().externalLocal()}},
			again{"kept"},
			probe{from: from(Client), to: to(VIPA.port(80)), want: dropped},
		},
	},
	{
		name:      "a flow stays when source ranges shut its client out, while new ones are dropped",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			open{flow: "kept", from: Client, to: VIPA.port(80), want: masquerade(PodA)},
			change{set: []service{web(ready(PodA)).exposed().from(sourceRange{of: Stranger})}},
			again{"kept"},
			probe{from: from(Client), to: to(VIPA.port(80)), want: dropped},
		},
	},
	{
		name:      "a flow keeps the source it was given when the policy changes",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA)).exposed()},
		steps: []step{
			open{flow: "kept", from: Client, to: VIPA.port(80), want: masquerade(PodA)},
			change{set: []service{web(ready(PodA)).exposed().externalLocal()}},
			again{"kept"},
			open{flow: "new", from: Client, to: VIPA.port(80), want: reach(PodA)},
		},
	},
	{
		name:      "a flow that has ended is a new one when its addresses come back",
		reference: conntrackDocs,
		cluster:   []service{web(ready(PodA))},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			change{set: []service{web(ready(RemoteA))}},
			again{"first"},
			closing{"first"},
			reopen{flow: "first", want: reach(RemoteA)},
			closing{"first"},
			change{set: []service{web()}},
			reopen{flow: "first", want: rejected},
		},
	},
	{
		name:      "new flows reach every endpoint",
		reference: "docs/model/kube-proxy.md 4: uniform random choice per new connection", protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal()},
		steps: []step{
			spread{flow: "pod's", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA)},
			spread{flow: "node's", from: NodePrimary, to: VIPA.port(80), want: masquerade(PodA, RemoteA)},
		},
	},
}

const stay = 3 * time.Hour

// affinityRows are about sessionAffinity ClientIP.
var affinityRows = []row{
	{
		name:      "session affinity keeps a client with its endpoint",
		reference: affinityDocs, protocols: everyProtocol,
		cluster: []service{web(ready(PodA), ready(PodB), ready(RemoteA)).sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, PodB, RemoteA)},
			open{flow: "next", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, PodB, RemoteA), sameAs: "first", times: trials},
		},
	},
	{
		name:      "session affinity expires",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).sticky()},
		steps: []step{spread{
			flow: "each", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA),
			between: []step{wait(stay + time.Second)},
		}},
	},
	{
		name:      "every new connection prolongs session affinity",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA)},
			wait(stay * 2 / 3),
			open{flow: "second", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA), sameAs: "first"},
			wait(stay * 2 / 3),
			open{flow: "third", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA), sameAs: "first", times: trials},
			wait(stay * 2 / 3),
			open{flow: "last", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA), sameAs: "first", times: trials},
		},
	},
	{
		name:      "packets of an established flow do not prolong session affinity",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).sticky()},
		steps: []step{spread{
			flow: "each", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA),
			between: []step{wait(stay - time.Second), again{"each"}, wait(2 * time.Second)},
		}},
	},
	{
		name:      "session affinity forgets an endpoint that leaves, even if it comes back",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).sticky()},
		steps: []step{spread{
			flow: "each", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA),
			between: []step{
				change{set: []service{web().sticky()}},
				change{set: []service{web(ready(PodA), ready(RemoteA)).sticky()}},
			},
		}},
	},
	{
		name:      "session affinity forgets everything when it is turned off",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).sticky()},
		steps: []step{spread{
			flow: "each", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA),
			between: []step{
				change{set: []service{web(ready(PodA), ready(RemoteA))}},
				change{set: []service{web(ready(PodA), ready(RemoteA)).sticky()}},
			},
		}},
	},
	{
		name:      "session affinity survives changes of other endpoints",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA)).sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			change{set: []service{web(ready(PodA), ready(PodB), ready(RemoteA)).sticky()}},
			open{flow: "next", from: PodC, to: ClusterIPA.port(80), want: reach(PodA), times: trials},
			change{set: []service{web(ready(PodA), ready(RemoteB)).sticky()}},
			open{flow: "next", from: PodC, to: ClusterIPA.port(80), want: reach(PodA), times: trials},
		},
	},
	{
		name:      "session affinity never sends new connections to a terminating endpoint while a ready one exists",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA)).sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			change{set: []service{web(draining(PodA), ready(RemoteA)).sticky()}},
			open{flow: "second", from: PodC, to: ClusterIPA.port(80), want: reach(RemoteA), times: trials},
			again{"first"},
		},
	},
	{
		name:      "session affinity stays with a terminating endpoint while nothing else is left",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA)).sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			change{set: []service{web(draining(PodA), draining(RemoteA)).sticky()}},
			open{flow: "second", from: PodC, to: ClusterIPA.port(80), want: reach(PodA), times: trials},
		},
	},
	{
		name:      "session affinity is one for all addresses of a service port",
		reference: affinityDocs,
		needs:     []Need{NeedSharedAffinity},
		cluster:   []service{web(ready(PodA), ready(RemoteA)).exposed().sticky()},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA)},
			open{flow: "by node port", from: PodC, to: NodePrimary.port(nodePort), want: masquerade(PodA, RemoteA), sameAs: "first", times: trials},
			open{flow: "by VIP", from: PodC, to: VIPA.port(80), want: masquerade(PodA, RemoteA), sameAs: "first", times: trials},
			open{flow: "by ClusterIP", from: PodC, to: ClusterIPA.port(80), want: reach(PodA, RemoteA), sameAs: "first", times: trials},
		},
	},
	{
		name:      "session affinity never leads an outside client out of the Local list",
		reference: affinityDocs,
		cluster:   []service{web(ready(PodA), ready(RemoteA)).exposed().externalLocal().sticky()},
		steps: []step{
			open{flow: "inside", from: Client, to: ClusterIPA.port(80), want: masquerade(PodA, RemoteA)},
			open{flow: "outside", from: Client, to: VIPA.port(80), want: reach(PodA), times: trials},
		},
	},
	{
		name:      "session affinity is each service port's own",
		reference: affinityDocs,
		cluster: []service{
			web(ready(PodA)).sticky(),
			web(ready(PodB)).named("other").atClusterIPB().sticky(),
		},
		steps: []step{
			open{flow: "first", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
			open{flow: "second", from: PodC, to: ClusterIPB.port(80), want: reach(PodB)},
			open{flow: "first's next", from: PodC, to: ClusterIPA.port(80), want: reach(PodA)},
		},
	},
}
