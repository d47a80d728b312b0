package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
)

// Usable says how many pods of a workload could serve, over a run. A pod is usable while it
// accepts connections and the API shows it as Ready, terminating or not.
type Usable struct {
	Of  int         // replicas at the start
	Min int         // the fewest at any moment
	For engine.Time // how long there were only Min in all
	Now int         // at this moment
	// Staying is how few were ready and not about to go, at any moment: while there is one, new connections go to these alone.
	Staying int
}

// usablePods counts one workload's usable pods.
type usablePods struct {
	pods  map[api.PodID]bool
	stay  map[api.PodID]bool
	since engine.Time // when the number last changed
	dark  darkPods
	Usable
}

// Usable returns the figures of a workload until now.
func (w *World) Usable(workload int) Usable {
	u := w.usable[workload]
	u.settle(w.eng.Now())
	u.Now = len(u.pods)
	return u.Usable
}

// settle accounts for the time since the last change.
func (u *usablePods) settle(now engine.Time) {
	if len(u.pods) == u.Min {
		u.For += now - u.since
	}
	u.since = now
}

// countUsable looks at a pod again after its listener or its readiness in the API changed.
func (w *World) countUsable(workload int, id api.PodID, usable bool) {
	u := &w.usable[workload]
	if u.pods[id] == usable {
		return
	}
	now := w.eng.Now()
	u.settle(now)
	u.dark.change(now, w.calledPod(id), usable)
	if usable {
		u.pods[id] = true
		if len(w.sc.Vetoes) > 0 && w.vetoing() < 0 {
			w.sets.Readmit()
		}
		return
	}
	delete(u.pods, id)
	if len(u.pods) < u.Min {
		u.Min, u.For = len(u.pods), 0
	}
}

// listenerChanged and podWritten are the two things that usable pods follow.
func (w *World) listenerChanged(i *kubelet.Instance) {
	p, ok := w.store.Get(api.PodKey(i.Pod)).(*api.Pod)
	w.countUsable(i.Workload, i.Pod, ok && p.Ready && i.Accepts() && w.claimed(p))
}

func (w *World) podWritten(p *api.Pod) {
	i := w.Instance(p.IP)
	w.countUsable(p.Workload, p.ID, !p.Gone && p.Ready && i != nil && i.Pod == p.ID && i.Accepts() && w.claimed(p))
	w.usable[p.Workload].stays(p.ID, !p.Gone && !p.Deleting() && p.Ready)
}

// stays notes whether a pod is ready and not about to go.
func (u *usablePods) stays(id api.PodID, stays bool) {
	if stays {
		u.stay[id] = true
		return
	}
	delete(u.stay, id)
	u.Staying = min(u.Staying, len(u.stay))
}
