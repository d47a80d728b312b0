package sim

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// placed returns the Scenario with the nodes named that are emptied, or end, by what is on them at the beginning. Clients inside of the cluster
// that run anywhere run on the others: they are pods, and would be evicted, too.
func placed(sc *world.Scenario, w *cluster.World) *world.Scenario {
	var out *world.Scenario
	for i, a := range sc.Actions {
		of := world.FullestOf(a.Operation)
		if of == "" {
			continue
		}
		if out == nil {
			out = sc.Clone()
		}
		var among []string
		if o, ok := a.Operation.(world.Consolidate); ok {
			among = o.Pool
		}
		node := w.FullestNode(of, among)
		out.Actions[i].Operation = world.OnNode(a.Operation, node)
		for k := range out.Traffic {
			world.TakeOff(&out.Traffic[k], out.Nodes, []string{node})
		}
	}
	if out == nil {
		return sc
	}
	return out
}

// likeTheirs returns the Scenario with nodes that join made like those in whose place they come, where what is on these decides which they are:
// that is looked up in a world that is not run.
func likeTheirs(sc *world.Scenario, seed uint64) *world.Scenario {
	joins := slices.ContainsFunc(sc.Actions, func(a world.Action) bool {
		o, ok := a.Operation.(world.Consolidate)
		return ok && o.Fullest != "" && o.Replacements > 0
	})
	if !joins {
		return sc
	}
	eng := engine.New(seed, engine.Limits{Events: maxEvents})
	nobody := &run{sc: sc, eng: eng}
	out := placed(sc, cluster.New(sc, eng, nil, (*observer)(nobody)))
	out.Muster()
	return out
}
