package cluster

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// openDaemons starts the DaemonSet controller where there is a DaemonSet.
func (w *World) openDaemons() {
	if !slices.ContainsFunc(w.sc.Workloads, func(o world.Workload) bool { return o.Kind() == world.DaemonSet }) {
		return
	}
	w.daemons = control.NewDaemonSets(w.control)
	w.enroll("daemonset-controller", w.daemons.Owner)
}

// placedAs is the pod of the input that the n-th of a workload is, nil for none: a DaemonSet's are told apart by their nodes.
func (w *World) placedAs(p *api.Pod, n int) *world.Placed {
	of := &w.sc.Workloads[p.Workload]
	if p.Only == 0 {
		return of.PlacedAt(n)
	}
	i := slices.IndexFunc(of.Placed, func(x world.Placed) bool { return x.Node == w.sc.Nodes[p.Place()].Name })
	if i < 0 {
		return nil
	}
	return &of.Placed[i]
}
