package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/cluster"
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
		node := w.FullestNode(of)
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
