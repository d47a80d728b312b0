package endpoints

import "slices"

// This file says a second time, as plainly as possible, which endpoints a node uses. It is
// written from the sentences of docs/model/kube-proxy.md 1, 2, 2.1 and 11, shares no code with
// the package, and has no virtue but being easy to believe.

type plainEndpoint struct {
	id                          int
	addr                        string
	ready, serving, terminating bool
	node                        string
	zones, nodes                []string
}

type plainPort struct {
	internalLocal, externalLocal, accessible bool
}

type plainAnswer struct {
	usesCluster, usesLocal         bool
	cluster, local                 []int // ids, in order; nil when empty
	clusterFellBack, localFellBack bool
	hasAny                         bool
	topology                       string
	whyCluster, whyLocal           []Reason // by id
}

func filter(eps []plainEndpoint, keep func(plainEndpoint) bool) []plainEndpoint {
	var out []plainEndpoint
	for _, e := range eps {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

func ids(eps []plainEndpoint) []int {
	var out []int
	for _, e := range eps {
		out = append(out, e.id)
	}
	return out
}

func has(eps []plainEndpoint, id int) bool {
	return slices.ContainsFunc(eps, func(e plainEndpoint) bool { return e.id == id })
}

func isReady(e plainEndpoint) bool              { return e.ready }
func isServingTerminating(e plainEndpoint) bool { return e.serving && e.terminating }

// plainly answers for one port, its endpoints in order, seen from one node.
func plainly(all []plainEndpoint, port plainPort, node NodeInfo, o Options) plainAnswer {
	var a plainAnswer

	// "Before 1.22 slices did not contain terminating pods at all."
	listed := filter(all, func(e plainEndpoint) bool { return !e.terminating || e.ready || o.TerminatingInSlices })
	eps := withoutDuplicates(listed, node, o)
	ready := filter(eps, isReady)

	// "Uses Cluster list if internalTrafficPolicy is Cluster or the service is externally
	// accessible. Uses Local list if internalTrafficPolicy is Local, or externalTrafficPolicy
	// Local and externally accessible."
	a.usesCluster = !port.internalLocal || port.accessible
	a.usesLocal = port.internalLocal || (port.externalLocal && port.accessible)

	clusterMayFallBack, localMayFallBack := mayFallBack(port, o)

	// "Cluster: all ready endpoints (after topology filter); if that is empty: all endpoints
	// serving AND terminating, ignoring topology."
	if a.usesCluster {
		a.topology = plainTopology(ready, node, o)
		list := filter(ready, func(e plainEndpoint) bool { return inTopology(e, a.topology, node) })
		if len(list) == 0 && clusterMayFallBack {
			list = filter(eps, isServingTerminating)
			a.clusterFellBack = len(list) > 0
		}
		a.cluster = ids(list)
	}

	// "Local: local ready endpoints (no topology filter); if none: local endpoints serving
	// AND terminating; never remote."
	here := filter(eps, func(e plainEndpoint) bool { return onNode(e, node) })
	if a.usesLocal {
		list := filter(here, isReady)
		if len(list) == 0 && localMayFallBack {
			list = filter(here, isServingTerminating)
			a.localFellBack = len(list) > 0
		}
		a.local = ids(list)
	}

	// "Cluster list non-empty, or any endpoint anywhere is ready or serving+terminating",
	// the latter where the version knows a fallback for the port.
	a.hasAny = len(a.cluster) > 0 || len(ready) > 0 ||
		(clusterMayFallBack || localMayFallBack) && len(filter(eps, isServingTerminating)) > 0

	readyHere := len(filter(here, isReady)) > 0
	for _, e := range all {
		var why Reason
		switch {
		case !has(listed, e.id):
			why = ReasonNotInSlices
		case !has(eps, e.id):
			why = ReasonDuplicate
		}
		cluster := plainScope{a.usesCluster, true, len(ready) > 0, clusterMayFallBack, a.topology}
		local := plainScope{a.usesLocal, onNode(e, node), readyHere, localMayFallBack, ""}
		a.whyCluster = append(a.whyCluster, plainReason(e, why, cluster, node))
		a.whyLocal = append(a.whyLocal, plainReason(e, why, local, node))
	}
	return a
}

// "ProxyTerminatingEndpoints: off; external Local only; Cluster too."
func mayFallBack(port plainPort, o Options) (cluster, local bool) {
	switch o.TerminatingFallback {
	case FallbackAll:
		return true, true
	case FallbackExternalLocal:
		return false, port.externalLocal && port.accessible
	default:
		return false, false
	}
}

// "local: endpoint.nodeName equals this node's name; nil nodeName = never local."
func onNode(e plainEndpoint, node NodeInfo) bool { return e.node != "" && e.node == node.Name }

// "Same IP:port twice: a non-terminating entry replaces an existing one; a terminating one
// never replaces." Before 1.36 it was the local one that replaced.
func withoutDuplicates(eps []plainEndpoint, node NodeInfo, o Options) []plainEndpoint {
	byAddr := map[string]plainEndpoint{}
	for _, e := range eps {
		_, exists := byAddr[e.addr]
		replaces := !e.terminating
		if o.Duplicates == DuplicatesPreferLocal {
			replaces = onNode(e, node)
		}
		if !exists || replaces {
			byAddr[e.addr] = e
		}
	}
	return filter(eps, func(e plainEndpoint) bool { return byAddr[e.addr].id == e.id })
}

// The four numbered sentences of docs/model/kube-proxy.md 2.1.
func plainTopology(ready []plainEndpoint, node NodeInfo, o Options) string {
	if len(ready) == 0 {
		return ""
	}
	all := func(of func(plainEndpoint) bool) bool { return len(filter(ready, of)) == len(ready) }
	one := func(of func(plainEndpoint) bool) bool { return len(filter(ready, of)) > 0 }
	if o.NodeHints &&
		all(func(e plainEndpoint) bool { return len(e.nodes) > 0 }) &&
		one(func(e plainEndpoint) bool { return slices.Contains(e.nodes, node.Name) }) {
		return "PreferSameNode"
	}
	if o.ZoneHints &&
		all(func(e plainEndpoint) bool { return len(e.zones) > 0 }) &&
		one(func(e plainEndpoint) bool { return slices.Contains(e.zones, node.Zone) }) {
		return "PreferSameZone"
	}
	return ""
}

func inTopology(e plainEndpoint, topology string, node NodeInfo) bool {
	switch topology {
	case "PreferSameNode":
		return slices.Contains(e.nodes, node.Name)
	case "PreferSameZone":
		return slices.Contains(e.zones, node.Zone)
	default:
		return true
	}
}

// plainScope is what a list's reasons depend on beside the endpoint.
type plainScope struct {
	used, inScope, readyInScope, mayFallBack bool
	topology                                 string
}

// plainReason says why a list does with e what it does, given why e is not looked at, if
// it is not.
func plainReason(e plainEndpoint, why Reason, list plainScope, node NodeInfo) Reason {
	switch {
	case !list.used:
		return ReasonPolicyUnused
	case why != 0:
		return why
	case !list.inScope:
		return ReasonRemote
	case e.ready && !inTopology(e, list.topology, node) && list.topology == "PreferSameNode":
		return ReasonOtherNode
	case e.ready && !inTopology(e, list.topology, node):
		return ReasonOtherZone
	case e.ready:
		return ReasonReady
	case e.serving && e.terminating && list.readyInScope:
		return ReasonReadyPreferred
	case e.serving && e.terminating && !list.mayFallBack:
		return ReasonFallbackOff
	case e.serving && e.terminating:
		return ReasonFallback
	}
	return plainNeverUsed(e)
}

// The rows of the truth table that are in neither column.
func plainNeverUsed(e plainEndpoint) Reason {
	switch {
	case !e.serving && e.terminating:
		return ReasonTerminatingNotServing
	case e.serving && !e.terminating:
		return ReasonServingNotReady
	default:
		return ReasonNotReady
	}
}
