package swarm

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Objects that somebody changes while they are in use: labels of pods, selectors and ports of Services, disruption budgets, Pods that are made.
// They are drawn from a stream of their own, so that the rest of a seed's world is what it would be without them.

// alter changes objects of some worlds.
func (w *swarmWorld) alter(seed uint64) {
	d := newDraws(seed, "changes")
	if len(w.Budgets) > 0 && d.chance(40) {
		w.Actions = append(w.Actions, w.loosened(d))
	}
	if d.chance(50) {
		w.nameTargets(d)
	}
	if !d.chance(12) {
		return
	}
	w.altered = true
	at := w.Warmup
	for range d.pick(3) + 1 {
		at += d.span(0, 8*sec)
		if a, ok := w.alteration(d, at); ok {
			w.Actions = append(w.Actions, a)
		}
	}
	if d.chance(30) {
		w.Workloads = append(w.Workloads, w.extra(d))
		w.Actions = append(w.Actions, world.Action{At: at + d.span(0, 5*sec), Operation: world.CreatePod{Pod: "default/extra"}})
		w.Creates()
	}
	for _, a := range w.Actions {
		w.Until = max(w.Until, a.At+a.For+40*sec)
	}
}

// loosened makes a budget another one.
func (w *swarmWorld) loosened(d *draws) world.Action {
	bound := intstr.Parse(of(d, "0", "1", "1", "2", "25%", "50%"))
	o := world.SetBudget{Budget: "default/" + w.Budgets[d.pick(len(w.Budgets))].Value.Name}
	switch d.pick(3) {
	case 0:
		o.MinAvailable = &bound
	case 1:
		o.MaxUnavailable = &bound
	default:
		o.Policy = "AlwaysAllow"
	}
	return world.Action{At: w.Warmup + d.span(0, 20*sec), Operation: o}
}

// nameTargets has the Service lead to a port by the name that the containers have for it: nothing else changes by that.
func (w *swarmWorld) nameTargets(d *draws) {
	for i := range w.Workloads {
		c := &w.Workloads[i].Template().Spec.Containers[0]
		if len(c.Ports) == 0 {
			return
		}
		c.Ports[0].Name = "http"
	}
	if d.chance(50) {
		w.Services[0].Service.Spec.Ports[0].TargetPort = intstr.FromString("http")
	}
}

func (w *swarmWorld) alteration(d *draws, at engine.Time) (world.Action, bool) {
	pods := world.Pods{Workload: w.Workloads[0].Name(), Number: of(d, world.AllPods, 0, 0, 1)}
	switch d.pick(4) {
	case 0:
		return world.Action{At: at, Operation: world.Relabel{Pods: pods, Set: of(d, map[string]string{"app": "quarantine"}, map[string]string{"app": "web"}, map[string]string{"name": "other"})}}, true
	case 1:
		return world.Action{At: at, Operation: world.Relabel{Pods: pods, Remove: []string{of(d, "app", "name", "nothing")}}}, true
	case 2:
		selector := of(d, map[string]string{"app": "web"}, map[string]string{"app": "web", "name": "web"}, map[string]string{"name": "api"}, map[string]string{"app": "none"})
		return world.Action{At: at, Operation: world.SetSelector{Service: "default/web", Selector: selector}}, true
	default:
		if w.Services[0].Service.Spec.ClusterIP == corev1.ClusterIPNone || w.Ingressed() || slices.ContainsFunc(w.Traffic, func(t world.Traffic) bool { return t.LB != nil && t.LB.Target == world.TargetPods }) {
			return world.Action{}, false
		}
		p := &w.Services[0].Service.Spec.Ports[0]
		return world.Action{At: at, Operation: world.SetPort{Service: "default/web", Port: int(p.Port), Protocol: p.Protocol, Target: of(d, 8080, 9090)}}, true
	}
}

// Ingressed says that some clients ask through an ingress controller.
func (w *swarmWorld) Ingressed() bool {
	return slices.ContainsFunc(w.Traffic, func(t world.Traffic) bool { return t.Ingress != nil })
}

// extra is a Pod that the Service selects and no controller does.
func (w *swarmWorld) extra(d *draws) world.Workload {
	wl := world.Workload{App: w.Workloads[0].App, Hooks: map[string]world.Hook{}, Revisions: map[string]world.App{}, Server: "app"}
	wl.App.CrashAfter, wl.App.Init = 0, engine.Dist{}
	grace := int64(of(d, 1, 5, 30))
	wl.Resource = world.NewBarePod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "extra", Labels: map[string]string{"app": "web", "name": "extra"}},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{
			{Name: "app", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}},
		}},
	})
	world.Default(wl.Resource)
	return wl
}

// While the controller has not seen a budget's change no pod is evicted that is ready and that it covers (docs/model/controllers.md 6.2
// observedGeneration): not by an eviction that was asked for after the change was written.
func (j *judge) evictedBehind(at engine.Time, before, now *api.Pod) {
	if before == nil || before.Deleting() || !now.Deleting() || !before.Ready || before.Phase == api.PhasePending || !j.undisturbed() {
		return
	}
	late := j.w.Latency.APIWrite.Max() + 100*ms
	for i := range j.w.Budgets {
		b := j.disruptions.budgets[i]
		if b != nil && b.Behind() && j.disruptions.changed[i]+late < at && j.covers(&j.w.Budgets[i], now.Workload) {
			j.fail("eviction", "%s is deleted at %s s, and the controller has not seen the change of budget %d at %s s", now.Name, at.Seconds(), i, j.disruptions.changed[i].Seconds())
		}
	}
}
