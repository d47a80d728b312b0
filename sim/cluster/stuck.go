package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
)

// StuckRollout returns the first rollout, or change of size, that was begun and cannot end: the
// controllers have nothing to do, and what they wait for never comes. It is nil when there is none,
// and while something is under way that may change it.
func (w *World) StuckRollout() *control.Stuck {
	if w.store.Down() || w.store.AnyFrozen() {
		return nil
	}
	for i := range w.sc.Workloads {
		d, ok := w.asked(i)
		if !ok || !w.begun[i] || d.Paused || !w.waits(d) {
			continue
		}
		if s := w.hindrance(d); s != nil {
			s.Workload = i
			return s
		}
	}
	return nil
}

// waits says that a workload's controllers have done what they can do: no ReplicaSet is to have
// another size, and there are as many pods as they ask for, none of them on its way out.
func (w *World) waits(d *api.Workload) bool {
	pods, ok := w.keeperOf(d.Workload).AtRest(d)
	if !ok {
		return false
	}
	c := w.census(d)
	return c.leaving == "" && c.active == pods
}

// hindrance finds what a workload waits for that never comes, nil for nothing.
func (w *World) hindrance(d *api.Workload) *control.Stuck {
	var homeless []*api.Pod
	keeper := w.keeperOf(d.Workload)
	for _, id := range w.sched.Pending() {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); ok && p.Workload == d.Workload && p.Active() && p.Node < 0 {
			homeless = append(homeless, p)
		}
	}
	if len(homeless) > 0 {
		if w.anyLeaving() {
			return nil // a node may have room when it has gone
		}
		return w.sched.Unschedulable(d, homeless, keeper.Step(d))
	}
	if !keeper.UnderWay(d) {
		return nil // it was complete: what happens later is no rollout
	}
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || p.Revision != d.Revision || !p.Active() || p.Ready {
			continue
		}
		if s := w.neverReady(d, p); s != nil {
			return s
		}
	}
	return keeper.Hindrance(d)
}

// anyLeaving says whether a pod of any workload is on its way out.
func (w *World) anyLeaving() bool {
	return slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		return ok && p.Deleting()
	})
}

// neverReady says why a new pod that is not ready will not be, nil when it may be yet.
func (w *World) neverReady(d *api.Workload, p *api.Pod) *control.Stuck {
	server := fmt.Sprintf("spec.template.spec.containers[%d]", w.Server(d.Workload))
	const back = "an image that does, or kubectl rollout undo"
	if gates := p.ClosedGates(); p.ContainersReady && len(gates) > 0 && !w.kept(d.Workload, gates[0]) {
		return &control.Stuck{
			Why:  fmt.Sprintf("the new pod waits for its readiness gate %s, which nothing sets", gates[0]),
			What: "the controller that sets it, or no such readiness gate", Path: "spec.template.spec.readinessGates",
		}
	}
	if s := neverAsked(w.PodSpec(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision})); s != nil {
		return s
	}
	i := w.PodInstance(p.ID)
	switch {
	case p.Restarts >= crashLoop && i != nil && w.killedByProbe(p):
		return &control.Stuck{
			Why:  fmt.Sprintf("the new pod has been restarted %d times by its liveness or startup probe and never stays ready", p.Restarts),
			What: "a startupProbe with time enough, or kubectl rollout undo", Path: cmp.Or(probePath(w, d, server), server),
		}
	case p.Restarts >= crashLoop:
		return &control.Stuck{Why: fmt.Sprintf("the new pod has crashed %d times and never stays ready", p.Restarts), What: back, Path: server}
	case w.overdue(d.Workload) == "":
		return nil
	case i == nil || !i.Listening:
		return &control.Stuck{Why: "the new pod does not listen, " + w.patience(d), What: back, Path: server}
	default:
		return &control.Stuck{Why: "the new pod is not ready, " + w.patience(d), What: "a pod that becomes ready, or kubectl rollout undo", Path: server + ".readinessProbe"}
	}
}

// patience says how long a rollout has waited.
func (w *World) patience(d *api.Workload) string {
	return fmt.Sprintf("%d s after the last progress (progressDeadlineSeconds)", w.deploy.Deadline(d.Workload, d.Revision))
}

// killedByProbe says that the kubelet restarted the server of a pod for a probe.
func (w *World) killedByProbe(p *api.Pod) bool {
	wk := w.kubelets[p.Node].Worker(p.ID)
	return wk != nil && wk.KilledByProbe()
}

func probePath(w *World, d *api.Workload, server string) string {
	c := &w.PodSpec(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}).Containers[w.Server(d.Workload)]
	switch {
	case c.StartupProbe != nil:
		return server + ".startupProbe"
	case c.LivenessProbe != nil:
		return server + ".livenessProbe"
	default:
		return ""
	}
}
