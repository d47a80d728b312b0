package cluster

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Readiness gates are conditions that a controller other than the kubelet writes into a pod's status.
// The pod is Ready when its containers are and every one of them is True; one that nobody has
// written yet is not (Kubernetes 1.36 pkg/kubelet/status/generate.go; verified). Here a condition
// is True or it is not: why it is not makes no difference to anybody.

// gatesOf lists the readiness gates of the pods of a revision: those of the template, and those
// that a webhook gives to the pods behind a load balancer.
func (w *World) gatesOf(id api.ReplicaSetID) []string {
	var gates []string
	for _, g := range w.PodSpec(id).ReadinessGates {
		gates = append(gates, string(g.ConditionType))
	}
	for i := range w.sc.Traffic {
		t := w.sc.Traffic[i].ClientSide()
		if t.LB == nil || !w.behind(&t, id.Workload) || slices.ContainsFunc(gates, t.LB.Keeps) {
			continue
		}
		if gate := t.LB.InjectedGate(t.Port); gate != "" {
			gates = append(gates, gate)
		}
	}
	return gates
}

// behind says whether a stream's clients connect to a workload's pods.
func (w *World) behind(t *world.Traffic, workload int) bool {
	return slices.ContainsFunc(w.ServicesOf(workload), func(s int) bool {
		svc := w.sc.Services[s].Service
		return svc.Namespace+"/"+svc.Name == t.Service
	})
}

// SetGate has a controller write one condition of a pod.
func (w *World) SetGate(owner engine.Owner, id api.PodID, gate string, open bool) {
	w.store.Write(owner, "pod condition", api.PodKey(id), func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || slices.Contains(p.Open, gate) == open {
			return nil
		}
		next := *p
		next.Open = slices.DeleteFunc(slices.Clone(p.Open), func(g string) bool { return g == gate })
		if open {
			next.Open = append(next.Open, gate)
		}
		return &next
	}, nil)
}

// kept says whether a controller in this world sets a readiness gate of a workload's pods.
func (w *World) kept(workload int, gate string) bool {
	for i := range w.sc.Traffic {
		if t := w.sc.Traffic[i].ClientSide(); t.LB != nil && t.LB.Keeps(gate) && w.behind(&t, workload) {
			return true
		}
	}
	return false
}

// foreign says that something which is not in the input is taken to set a readiness gate of a workload's pods.
func (w *World) foreign(workload int, gate string) bool {
	return w.sc.ByKeeper(&w.sc.Workloads[workload], gate) && !w.kept(workload, gate)
}

// askKeeper has what is not in the input set the readiness gates of a pod, some time after its containers are ready, once.
func (w *World) askKeeper(p *api.Pod) {
	if w.sc.Keeper.After == nil || !p.ContainersReady || w.pods[p.ID].asked {
		return
	}
	gates := slices.DeleteFunc(p.ClosedGates(), func(g string) bool { return !w.foreign(p.Workload, g) })
	if len(gates) == 0 {
		return
	}
	w.pods[p.ID].asked = true
	id, after := p.ID, w.sc.Keeper.After.Sample(w.eng.Stream(p.Name, "readiness gate").Draw(0))
	w.eng.After(after, engine.ClassTimer, w.owner, "readiness gate", func() {
		for _, g := range gates {
			w.SetGate(w.owner, id, g, true)
		}
	})
}

// gateWords says which readiness gate keeps a pod from being ready that would be otherwise, ""
// for none.
func (w *World) gateWords(p *api.Pod) string {
	closed := p.ClosedGates()
	if !p.ContainersReady || len(closed) == 0 {
		return ""
	}
	words := fmt.Sprintf("%s waits for its readiness gate %s", p.Called(), closed[0])
	if !w.kept(p.Workload, closed[0]) && !w.foreign(p.Workload, closed[0]) {
		words += ", which nothing in this input sets"
	}
	return words
}

// noteGates records the readiness gates that a write of a pod opens or closes.
func (w *World) noteGates(old, p *api.Pod) {
	for _, g := range p.Gates {
		if was, is := slices.Contains(old.Open, g), slices.Contains(p.Open, g); was != is {
			w.log.Tell(event.Event{Kind: event.Gate, Pod: p.ID, Node: -1, Stream: -1, Gate: g, OK: is})
		}
	}
}
