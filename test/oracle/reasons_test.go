package oracle

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// checkDecisions checks the parts of an answer that kube-proxy has no counterpart for: that
// Select agrees with Decide, and with itself on the same port built by NewService; that
// indexes ascend; and that every reason says something true.
func checkDecisions(sp, again *endpoints.ServicePort, n endpoints.NodeInfo, o endpoints.Options, decisions []endpoints.Decision) error {
	s := endpoints.Select(sp, n, o)
	decided, _ := endpoints.Decide(sp, n, o, nil)
	rebuilt := endpoints.Select(again, n, o)
	wrong := func(format string, args ...any) error {
		return &difference{
			kind:  "lameduck's own word",
			where: fmt.Sprintf("%s (%s) on %q", sp.Name, sp.Family, n.Name),
			ours:  fmt.Sprintf(format, args...),
		}
	}
	if !sameSelection(s, decided) || !sameSelection(s, rebuilt) {
		return wrong("Select: %+v\nDecide: %+v\nSelect after NewService: %+v", s, decided, rebuilt)
	}
	if len(decisions) != len(sp.Endpoints) {
		return wrong("%d decisions on %d endpoints", len(decisions), len(sp.Endpoints))
	}
	for _, index := range [][]int32{s.Cluster.Index, s.Local.Index, s.Reachable} {
		if !ascending(index) || index != nil && len(index) == 0 {
			return wrong("index %v is not ascending, or empty instead of nil", index)
		}
	}
	for _, kind := range []endpoints.ListKind{endpoints.ClusterList, endpoints.LocalList} {
		l := s.Cluster
		if kind == endpoints.LocalList {
			l = s.Local
		}
		var used []int32
		for i, d := range decisions {
			if d.Of(kind).Used() {
				used = append(used, int32(i))
			}
			if !reasonHolds(sp, i, n, s, l, kind, d.Of(kind)) {
				return wrong("%s list, endpoint %d (%s, %s): reason %q does not hold, selection %+v",
					kind, i, sp.Endpoints[i].Addr, sp.Endpoints[i].Conditions, d.Of(kind), s)
			}
		}
		if !slices.Equal(used, l.Index) {
			return wrong("%s list holds %v, its reasons use %v", kind, l.Index, used)
		}
	}
	return nil
}

func sameSelection(a, b endpoints.Selection) bool {
	return a.HasAny == b.HasAny && a.Topology == b.Topology && slices.Equal(a.Reachable, b.Reachable) &&
		sameList(a.Cluster, b.Cluster) && sameList(a.Local, b.Local)
}

func sameList(a, b endpoints.List) bool {
	return a.Used == b.Used && a.Fallback == b.Fallback && slices.Equal(a.Index, b.Index)
}

func ascending(index []int32) bool {
	for i := 1; i < len(index); i++ {
		if index[i-1] >= index[i] {
			return false
		}
	}
	return true
}

// facts are what a reason about one endpoint and one list can be checked against.
type facts struct {
	ready, serving, terminating bool
	inScope                     bool // the list looks at the endpoint's node
	duplicate                   bool // another entry could replace this one
	forZone, forNode            bool // hinted for the node that looks
	kind                        endpoints.ListKind
	list                        endpoints.List
	topology                    endpoints.TopologyMode
}

// truths say when a reason holds. They read the selection as given, having been compared
// with kube-proxy's, and the endpoint's own state; they share no code with Decide. Reasons
// of older versions are missing: they never hold.
var truths = map[endpoints.Reason]func(f facts) bool{
	endpoints.ReasonPolicyUnused: func(f facts) bool { return !f.list.Used },
	endpoints.ReasonDuplicate:    func(f facts) bool { return f.duplicate },
	endpoints.ReasonRemote:       func(f facts) bool { return f.kind == endpoints.LocalList && !f.inScope },
	endpoints.ReasonReady:        func(f facts) bool { return f.inScope && f.ready && !f.list.Fallback },
	endpoints.ReasonFallback:     func(f facts) bool { return f.draining() && f.list.Fallback },
	endpoints.ReasonReadyPreferred: func(f facts) bool {
		return f.draining() && !f.list.Fallback && len(f.list.Index) > 0
	},
	endpoints.ReasonNotReady:              func(f facts) bool { return f.unready(false, false) },
	endpoints.ReasonServingNotReady:       func(f facts) bool { return f.unready(true, false) },
	endpoints.ReasonTerminatingNotServing: func(f facts) bool { return f.unready(false, true) },
	endpoints.ReasonOtherZone: func(f facts) bool {
		return f.kind == endpoints.ClusterList && f.ready && f.topology == endpoints.PreferSameZone && !f.forZone
	},
	endpoints.ReasonOtherNode: func(f facts) bool {
		return f.kind == endpoints.ClusterList && f.ready && f.topology == endpoints.PreferSameNode && !f.forNode
	},
}

func (f facts) unready(serving, terminating bool) bool {
	return f.inScope && !f.ready && f.serving == serving && f.terminating == terminating
}

func (f facts) draining() bool { return f.unready(true, true) }

// reasonHolds says whether a reason is true of endpoint i for one list.
func reasonHolds(sp *endpoints.ServicePort, i int, n endpoints.NodeInfo, s endpoints.Selection, l endpoints.List, kind endpoints.ListKind, r endpoints.Reason) bool {
	e := &sp.Endpoints[i]
	holds := truths[r]
	if holds == nil || !l.Used && r != endpoints.ReasonPolicyUnused {
		return false
	}
	return holds(facts{
		ready: e.Conditions.Ready(), serving: e.Conditions.Serving(), terminating: e.Conditions.Terminating(),
		inScope: kind == endpoints.ClusterList || e.IsLocal(n.Name),
		duplicate: slices.ContainsFunc(neighbours(sp, i), func(j int) bool {
			return replaces(&sp.Endpoints[j], e, j > i)
		}),
		forZone: slices.Contains(e.Meta.ForZones, n.Zone), forNode: slices.Contains(e.Meta.ForNodes, n.Name),
		kind: kind, list: l, topology: s.Topology,
	})
}

// neighbours are the other entries with the address of entry i.
func neighbours(sp *endpoints.ServicePort, i int) []int {
	var out []int
	for j := range sp.Endpoints {
		if j != i && sp.Endpoints[j].Addr == sp.Endpoints[i].Addr {
			out = append(out, j)
		}
	}
	return out
}

// replaces says whether kube-proxy 1.36, visiting b after or before e, could keep b.
func replaces(b, e *endpoints.Endpoint, after bool) bool {
	if after {
		return !b.Conditions.Terminating()
	}
	return e.Conditions.Terminating()
}
