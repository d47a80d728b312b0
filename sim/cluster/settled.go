package cluster

import (
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// The settled state is what the same functions give on the API server's objects at this
// instant with every delay zero. Only failures ask for it, so it is computed when asked.

// Settled returns the Plan a node would have if every delay were zero.
func (w *World) Settled(node int) *plan.Plan {
	return w.planOf(w.settledView(), node)
}

// settledView brings a second cache up to what the pods in the API amount to.
func (w *World) settledView() *View {
	if w.settled != nil && w.settledAt == w.podWrites {
		return w.settled
	}
	for service := range w.sc.Services {
		want := w.settledEndpoints(service)
		c := &sliceController{w: w, written: make([]map[PodID]endpointState, len(w.sc.Services)), place: make([]map[PodID]int, len(w.sc.Services))}
		c.written[service] = want
		c.place[service] = map[PodID]int{}
		w.settledCache.SetSlice(c.build(service, 0)) // one slice of any size: packing does not matter here
	}
	w.settled = &View{At: w.eng.Now(), Snapshot: w.settledCache.Snapshot()}
	w.settledAt = w.podWrites
	return w.settled
}

func (w *World) settledEndpoints(service int) map[PodID]endpointState {
	want := map[PodID]endpointState{}
	for _, id := range w.livePods {
		p, ok := w.store.get(key{kindPod, int(id), 0}).(*Pod)
		if !ok || !w.selects(service, p.Workload) {
			continue
		}
		if e, in := endpointOf(p, w.publishesNotReady(service)); in {
			want[id] = e
		}
	}
	return want
}

// slicesSettled says whether the slices in the API say what the pods in the API amount to.
func (w *World) slicesSettled() bool {
	for service := range w.sc.Services {
		want := w.settledEndpoints(service)
		for _, part := range w.sliceState[service] { // order: any difference decides
			for id, e := range part { // order: any difference decides
				if have, ok := want[id]; !ok || have != e {
					return false
				}
				delete(want, id)
			}
		}
		if len(want) > 0 {
			return false
		}
	}
	return true
}
