package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// newBare numbers and names a Pod that nobody keeps.
func (w *World) newBare(workload int) *api.Pod {
	return w.NewNamed(api.ReplicaSetID{Workload: workload}, w.sc.Workloads[workload].Name(), 0)
}

// createPod is kubectl create of a bare Pod. One whose node is said needs no scheduler.
func (w *World) createPod(o world.CreatePod) {
	for i := range w.sc.Workloads {
		if !w.sc.Workloads[i].Created || w.sc.Workloads[i].Name() != o.Pod {
			continue
		}
		p := w.newBare(i)
		if node := w.workloads[i].spec.Spec.NodeName; node != "" {
			p.Node = w.numberOf(node)
		}
		w.store.Write(w.owner, "create pod", api.PodKey(p.ID), func(api.Object) api.Object {
			created := *p
			created.Created = w.eng.Now()
			w.bare[i], w.begun[i] = p.ID, true
			return &created
		}, nil)
	}
}
