package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// placed returns the Scenario with the nodes named that it drains by what is on them at the beginning. Clients inside of the cluster
// that run anywhere run on the others: they are pods, and would be evicted, too.
func placed(sc *world.Scenario, w *cluster.World) *world.Scenario {
	var out *world.Scenario
	for i, a := range sc.Actions {
		drain, ok := a.Operation.(world.Drain)
		if !ok || drain.Fullest == "" {
			continue
		}
		if out == nil {
			out = sc.Clone()
		}
		drain.Nodes, drain.Fullest = []string{w.FullestNode(drain.Fullest)}, ""
		out.Actions[i].Operation = drain
		for k := range out.Traffic {
			world.TakeOff(&out.Traffic[k], out.Nodes, drain.Nodes)
		}
	}
	if out == nil {
		return sc
	}
	return out
}
