package endpoints

import "fmt"

// Reason says why a list uses an endpoint or does not. Its String is a stable code for
// programs; Sentence is for people.
type Reason uint8

// The reasons. The first two use the endpoint, all others do not.
const (
	reasonUndecided Reason = iota

	ReasonReady    // ready: what a list uses by default
	ReasonFallback // serving and terminating, and nothing ready is in the list's scope (KEP-1669)

	ReasonPolicyUnused          // the port sends no traffic by this list's policy
	ReasonRemote                // not on this node, and the list is Local
	ReasonNotReady              // not ready, not serving, not terminating: readiness fails or has not succeeded yet
	ReasonServingNotReady       // serving but neither ready nor terminating; only foreign slice writers make it
	ReasonTerminatingNotServing // terminating and its readiness fails: the pod opted out
	ReasonReadyPreferred        // serving and terminating, but ready endpoints are in scope
	ReasonFallbackOff           // serving and terminating, nothing ready in scope, and no KEP-1669 here
	ReasonOtherZone             // ready, but hinted for other zones while this node's zone has its own
	ReasonOtherNode             // ready, but hinted for other nodes while this node has its own
	ReasonDuplicate             // another entry with the same address and port counts instead
	ReasonNotInSlices           // terminating: EndpointSlices of this version do not list it

	reasonEnd
)

var reasonCodes = [reasonEnd]string{
	reasonUndecided:             "undecided",
	ReasonReady:                 "ready",
	ReasonFallback:              "terminating-fallback",
	ReasonPolicyUnused:          "policy-unused",
	ReasonRemote:                "remote",
	ReasonNotReady:              "not-ready",
	ReasonServingNotReady:       "serving-not-ready",
	ReasonTerminatingNotServing: "terminating-not-serving",
	ReasonReadyPreferred:        "ready-preferred",
	ReasonFallbackOff:           "fallback-off",
	ReasonOtherZone:             "other-zone",
	ReasonOtherNode:             "other-node",
	ReasonDuplicate:             "duplicate",
	ReasonNotInSlices:           "not-in-slices",
}

// Reasons lists every reason once, in code order.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonEnd-1)
	for r := ReasonReady; r < reasonEnd; r++ {
		all = append(all, r)
	}
	return all
}

// String returns the reason's stable code.
func (r Reason) String() string {
	if r >= reasonEnd {
		return fmt.Sprintf("reason(%d)", r)
	}
	return reasonCodes[r]
}

// Used says whether an endpoint with this reason is in the list.
func (r Reason) Used() bool { return r == ReasonReady || r == ReasonFallback }

// ListKind names one of the two lists of a Selection.
type ListKind uint8

// The two lists.
const (
	ClusterList ListKind = iota
	LocalList
)

// String returns "Cluster" or "Local".
func (k ListKind) String() string { return TrafficPolicy(k).String() }

// Sentence says the reason in words, for the given list. It carries no names or numbers,
// so that it can stand beside any endpoint.
func (r Reason) Sentence(list ListKind) string {
	scope := "anywhere"
	if list == LocalList {
		scope = "on this node"
	}
	switch r {
	case ReasonReady:
		return "ready"
	case ReasonFallback:
		return "still serving though terminating: nothing ready " + scope + " (KEP-1669)"
	case ReasonPolicyUnused:
		return "no traffic of this port uses the " + list.String() + " list"
	case ReasonRemote:
		return "not on this node"
	case ReasonNotReady:
		return "not ready"
	case ReasonServingNotReady:
		return "serving but neither ready nor terminating: only terminating endpoints may stand in for ready ones"
	case ReasonTerminatingNotServing:
		return "terminating and readiness fails: a terminating pod that is not serving is never used"
	case ReasonReadyPreferred:
		return "terminating, and there are ready endpoints " + scope
	case ReasonFallbackOff:
		return "terminating, and nothing ready " + scope + "; without KEP-1669 a terminating endpoint is never used"
	case ReasonOtherZone:
		return "hinted for another zone, and this node's zone has its own"
	case ReasonOtherNode:
		return "hinted for another node, and this node has its own"
	case ReasonDuplicate:
		return "another entry with the same address counts instead"
	case ReasonNotInSlices:
		return "terminating: EndpointSlices of this version do not list it"
	default:
		return r.String()
	}
}

// Decision says, for one endpoint, what each list does with it and why.
type Decision struct {
	Cluster, Local Reason
}

// Of returns the reason of one list.
func (d Decision) Of(list ListKind) Reason {
	if list == LocalList {
		return d.Local
	}
	return d.Cluster
}

// Used says whether any list uses the endpoint.
func (d Decision) Used() bool { return d.Cluster.Used() || d.Local.Used() }

// Decide is Select with one Decision per entry of sp.Endpoints, in the same order,
// appended to dst. The lists of the Selection are exactly the endpoints whose reason is
// Used.
func Decide(sp *ServicePort, node NodeInfo, o Options, dst []Decision) (Selection, []Decision) {
	skip := exclusions(sp, node.Name, o)
	var s Selection
	t := s.choose(sp, &node, o, skip)
	clusterFallback, localFallback := fallbacks(sp, o)
	if cap(dst)-len(dst) < len(sp.Endpoints) {
		dst = append(make([]Decision, 0, len(dst)+len(sp.Endpoints)), dst...)
	}
	for i := range sp.Endpoints {
		e := &sp.Endpoints[i]
		if !counts(skip, i) {
			dst = append(dst, Decision{Cluster: orUnused(skip[i], s.Cluster.Used), Local: orUnused(skip[i], s.Local.Used)})
			continue
		}
		d := Decision{Cluster: ReasonPolicyUnused, Local: ReasonPolicyUnused}
		if s.Cluster.Used {
			d.Cluster = e.reason(t.ready.n > 0, clusterFallback)
			if d.Cluster == ReasonReady && !e.inMode(s.Topology, &node) {
				d.Cluster = s.Topology.excludes()
			}
		}
		if s.Local.Used {
			d.Local = ReasonRemote
			if e.IsLocal(node.Name) {
				d.Local = e.reason(t.localReady.n > 0, localFallback)
			}
		}
		dst = append(dst, d)
	}
	return s, dst
}

func orUnused(r Reason, used bool) Reason {
	if used {
		return r
	}
	return ReasonPolicyUnused
}

// reason judges an endpoint by its conditions, given whether something ready is in scope.
func (e *Endpoint) reason(readyInScope, fallback bool) Reason {
	switch c := e.Conditions; {
	case c.Ready():
		return ReasonReady
	case c.Draining() && readyInScope:
		return ReasonReadyPreferred
	case c.Draining() && fallback:
		return ReasonFallback
	case c.Draining():
		return ReasonFallbackOff
	case c.Terminating():
		return ReasonTerminatingNotServing
	case c.Serving():
		return ReasonServingNotReady
	default:
		return ReasonNotReady
	}
}

func (m TopologyMode) excludes() Reason {
	if m == PreferSameNode {
		return ReasonOtherNode
	}
	return ReasonOtherZone
}

// exclusions returns nil when every entry counts, else one reason per entry:
// reasonUndecided for those that count, otherwise why the entry is not even looked at.
// Both cases are rare, so the mask is only allocated when one of them occurs.
func exclusions(sp *ServicePort, nodeName string, o Options) []Reason {
	unlisted := sp.traits&hasTerminating != 0 && !o.TerminatingInSlices
	if sp.traits&hasDuplicates == 0 && !unlisted {
		return nil
	}
	return exclude(sp, nodeName, o, unlisted)
}

// exclude says why entries are not looked at. Before 1.22 a terminating pod was in no slice, but in those of a Service with
// publishNotReadyAddresses, as one that is ready (ShouldPodBeInEndpoints in pkg/controller/util/endpoint/controller_utils.go of
// 1.19 to 1.21: "Terminating pods are only included if publishNotReady is true"); no other entry is both.
func exclude(sp *ServicePort, nodeName string, o Options, unlisted bool) []Reason {
	skip := make([]Reason, len(sp.Endpoints))
	if unlisted {
		for i := range sp.Endpoints {
			if c := sp.Endpoints[i].Conditions; c.Terminating() && !c.Ready() {
				skip[i] = ReasonNotInSlices
			}
		}
	}
	markDuplicates(sp, nodeName, o, skip)
	return skip
}

// markDuplicates leaves one entry of each run of equal addresses. The rule is kube-proxy's,
// applied in the order of sp.Endpoints; upstream visits slices in map order, so where its
// rule depends on order ("undefined" in its own comment) this one is defined: of entries
// that replace one another, the last in order counts.
//
// Since 1.36 a non-terminating entry replaces what is there and a terminating one never
// does (endpointslicecache.go, addEndpoints; verified). Before, a local entry did, and
// no other.
func markDuplicates(sp *ServicePort, nodeName string, o Options, skip []Reason) {
	winner := -1
	for i := range sp.Endpoints {
		if skip[i] != reasonUndecided {
			continue
		}
		e := &sp.Endpoints[i]
		if winner < 0 || sp.Endpoints[winner].Addr != e.Addr {
			winner = i
			continue
		}
		replaces := !e.Conditions.Terminating()
		if o.Duplicates == DuplicatesPreferLocal {
			replaces = e.IsLocal(nodeName)
		}
		if replaces {
			skip[winner], winner = ReasonDuplicate, i
		} else {
			skip[i] = ReasonDuplicate
		}
	}
}
