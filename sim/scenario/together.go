package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/sim/placement"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Places is the ID of the assumption that pods of which the input shows none are spread over the nodes.
const Places = "places"

// assumePlaces says of a workload whose pods leave their node, or go with it, that they are taken to be spread over the nodes: the
// input has none of them, and there is a node on which several may be.
func (b *builder) assumePlaces(does world.Operation) {
	if !empties(does) && world.FullestOf(does) == "" {
		return
	}
	if w, _, n := crowd(b.out); w != nil && n > 1 {
		b.assume(Places, "spread over the nodes")
	}
}

// together is the Scenario with the pods that something is done to on one node, as many as find room there: so they are after other
// nodes were emptied.
func together(s *world.Scenario) []Alternative {
	changed := s.Clone()
	w, node, n := crowd(changed)
	if w == nil || n < 2 {
		return nil
	}
	w.Placed = nil
	for range n {
		w.Placed = append(w.Placed, world.Placed{Node: node, Ready: true})
	}
	count := "all"
	if n < w.Replicas() {
		count = fmt.Sprint(n)
	}
	return []Alternative{{Places, count + " on one node", changed}}
}

// crowd is the workload that something is done to where the input has none of its pods, nil for none; and the node of those that go
// on which most of its pods find room with nothing else in the cluster, with how many these are.
func crowd(s *world.Scenario) (w *world.Workload, node string, n int) {
	i := slices.IndexFunc(s.Workloads, func(w world.Workload) bool { return !w.Aside })
	if i < 0 || len(s.Actions) == 0 {
		return nil, "", 0
	}
	w = &s.Workloads[i]
	if len(w.Placed) > 0 || w.Kind() == world.DaemonSet {
		return nil, "", 0
	}
	nodes := s.Standing()
	cluster := placement.New(nodes, nil)
	spec := w.Template().Spec
	spec.Tolerations = world.TolerationsOf(w.Resource)
	own := labels.Set(w.Template().Labels)
	kind := cluster.Add(placement.Pods{Namespace: w.Namespace(), Labels: own, Spec: &spec, Owner: labels.SelectorFromSet(own)})
	for at := range nodes {
		if drain, ok := s.Actions[0].Operation.(world.Drain); ok && len(drain.Nodes) > 0 && nodes[at].Name != drain.Nodes[0] || nodes[at].Silent() {
			continue
		}
		holds := func(pods int) bool { // which it does of fewer, too
			cluster.Count(kind, at, false, pods-1)
			defer cluster.Count(kind, at, false, 1-pods)
			return cluster.Try(kind).Fits(at)
		}
		for more := 1; more > 0; {
			if n+more <= w.Replicas() && holds(n+more) {
				node, n, more = nodes[at].Name, n+more, 2*more
			} else {
				more /= 2
			}
		}
	}
	return w, node, n
}
