package kubelet

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Adopt takes over a pod that runs already. The kubelet's work on it is of no importance until it
// asks for it.
func (k *Kubelet) Adopt(p *api.Pod) {
	i := k.newInstance(p)
	i.Sandbox, i.Running = true, !k.mute
	if k.mute { // nobody knows what runs there: nothing answers
		i.Why = ClosedWithNode
		k.d.Instances.add(i)
		return
	}
	if !i.App.NotAServer {
		i.Listening, i.Why = true, NotClosed
	}
	k.adopted[p.ID] = p
	k.d.Instances.add(i)
}

// Worker returns the work on a pod, nil when there is none.
func (k *Kubelet) Worker(id api.PodID) *Worker {
	if p := k.adopted[id]; p != nil {
		delete(k.adopted, id)
		k.resume(k.workerOf(p, k.d.Instances.Of(id)), p)
	}
	return k.pods[id]
}

// resume makes the work on a pod what it is when the pod has run for a while.
func (k *Kubelet) resume(wk *Worker, p *api.Pod) {
	wk.lastSync, wk.init.at = -engine.Hour, len(wk.spec.InitContainers)
	wk.status = podStatus{phase: p.Phase, containersReady: p.ContainersReady, ready: p.Ready, since: p.ReadySince, ip: p.IP}
	for _, c := range wk.All {
		c.Running, c.Generation, c.startAt = true, 1, p.Created
		c.shown = shown{generation: 1, running: true, started: true, ready: true, startAt: p.Created.TruncateToSecond()}
		for _, pr := range c.probers {
			pr.passed(c.Generation)
			pr.last, pr.row = true, 1
			pr.ticked = -engine.Hour
			pr.Phase = -engine.Time(engine.Below(k.d.Engine.Stream(p.Name, fmt.Sprint("probe phase ", pr.kind)).Draw(0), int(pr.period())))
		}
	}
}
