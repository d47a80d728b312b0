package sim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/balancer"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// watchGates has the controller of a load balancer that sets readiness gates look at pods, where
// any of them can have such a gate.
func (f *forwarder) watchGates(name string) {
	f.opened = map[api.PodID]bool{}
	if f.gated = f.gatesMatter(); f.gated {
		f.watch.WatchPods(name+" pods", f.owner, func() { f.b.HearPod() })
	}
}

// gatesMatter says whether any pod of this run may have a readiness gate that the controller sets.
func (f *forwarder) gatesMatter() bool {
	sc := f.run.sc
	has := func(t *corev1.PodTemplateSpec) bool {
		return slices.ContainsFunc(t.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
			return f.spec.Keeps(string(g.ConditionType))
		})
	}
	return f.spec.ReadinessGate != "" && (f.spec.GateInjection == world.InjectAlways ||
		slices.ContainsFunc(sc.Workloads, func(w world.Workload) bool { return has(w.Template()) }) ||
		slices.ContainsFunc(sc.Actions, func(a world.Action) bool {
			r := world.Applied(a.Operation)
			return r != nil && has(world.TemplateOf(r))
		}))
}

// addGates adds to an endpoint what its pod says of readiness gates, if the controller knows it.
func (f *forwarder) addGates(e *balancer.Endpoint, p *api.Pod) {
	switch {
	case !f.gated:
		return
	case p == nil: // not seen yet: it may wait
		e.Gated, e.Closed, e.Created = true, true, f.run.eng.Now()
		return
	}
	e.ContainersReady, e.Created = p.ContainersReady, p.Created
	e.Gated = slices.ContainsFunc(p.Gates, f.spec.Keeps)
	e.Closed = slices.ContainsFunc(p.ClosedGates(), f.spec.Keeps)
}

// Open sets the readiness gates of a pod that are this controller's. One that several controllers
// look after opens when all of them have found the pod healthy.
func (f *forwarder) Open(pod int) bool {
	id := api.PodID(pod)
	p := f.watch.Pod(id)
	if p == nil {
		return false
	}
	f.opened[id] = true
	for _, gate := range p.ClosedGates() {
		if f.spec.Keeps(gate) && f.run.allFound(id, gate) {
			f.run.cluster.SetGate(f.owner, id, gate, true)
		}
	}
	return true
}

// allFound says whether every load balancer before a pod that sets one of its readiness gates has
// found it healthy.
func (r *run) allFound(id api.PodID, gate string) bool {
	for f := range r.allForwarders() {
		if f.spec.Keeps(gate) && r.cluster.Behind(f.entry, id) && !f.opened[id] {
			return false
		}
	}
	return true
}
