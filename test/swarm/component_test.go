package swarm

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Readiness gates, and components that are paused. Both are drawn from streams of their own, so
// that the rest of a seed's world is what it would be without them.

// gates of these worlds: those of load balancers, and one that actions set.
const (
	balancerGate = "lb.example.com/*"
	ownGate      = "example.com/own"
)

// gate gives pods of some worlds readiness gates. Nobody may ever open them.
func (w *swarmWorld) gate(seed uint64) {
	d := newDraws(seed, "gates")
	add := func(wl *world.Workload, name string) {
		template := &wl.Deployment().Spec.Template.Spec
		template.ReadinessGates = append(template.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(name)})
	}
	for i := range w.Traffic {
		lb := w.Traffic[i].LB
		if lb == nil || lb.Target != world.TargetPods || d.chance(10) {
			continue
		}
		if !w.endless {
			w.Until += 1800 * sec // each pod of a rollout may wait for its gate's timeout
		}
		lb.ReadinessGate, lb.GateRecheck, lb.GateInjection = balancerGate, d.span(100*ms, 15*sec), world.InjectAlways
		if d.chance(30) {
			lb.GateTimeout = d.span(sec, 60*sec)
		}
		if d.chance(30) {
			lb.GateInjection = world.InjectNever
			add(w.behind(lb), strings.Replace(balancerGate, "*", "own", 1))
		}
	}
	if !d.chance(10) {
		return
	}
	add(&w.Workloads[0], ownGate)
	closes := d.chance(30)
	for at := w.Warmup + d.span(0, 10*sec); d.chance(80); at += d.span(sec, 10*sec) {
		open := !closes || d.chance(70)
		w.Actions = append(w.Actions, world.Action{At: at, Operation: world.SetGate{Pods: world.Pods{Workload: w.Workloads[0].Name(), Number: world.AllPods}, Gate: ownGate, Open: open}})
	}
}

// behind is the workload behind a load balancer.
func (w *swarmWorld) behind(lb *world.LoadBalancer) *world.Workload {
	if lb.Service == ingress {
		return &w.Workloads[len(w.Workloads)-1]
	}
	return &w.Workloads[0]
}

// pause has one component of some worlds get no time for a while, or a proxy restarted.
func (w *swarmWorld) pause(seed uint64) {
	d := newDraws(seed, "components")
	if !d.chance(20) {
		return
	}
	node := w.Nodes[d.pick(len(w.Nodes))].Name
	a := world.Action{At: w.Warmup + d.span(0, 10*sec), For: d.span(100*ms, 20*sec)}
	o := world.Component{Name: of(d, "deployment-controller", "replicaset-controller", "endpointslice-controller", "scheduler", world.LBController,
		world.KubeProxyOf+node, world.KubeProxyOf+node, world.KubeletOf+node), What: world.ComponentPause}
	if strings.HasPrefix(o.Name, world.KubeProxyOf) && d.chance(30) {
		a.For, o.What = 0, world.ComponentRestart
	}
	a.Operation = o
	w.Actions = append(w.Actions, a)
}

// order puts the actions of a world into the order of their times, as a Scenario has them, and
// lets the world go on after the last.
func (w *swarmWorld) order() {
	slices.SortStableFunc(w.Actions, func(a, b world.Action) int { return int((a.At - b.At) / ms) })
	for _, a := range w.Actions {
		w.Until = max(w.Until, a.At+a.For+40*sec)
	}
}

// touched says whether the component of a name is paused or restarted in this world.
func (j *judge) touched(name string) bool {
	return slices.ContainsFunc(j.w.Actions, func(a world.Action) bool {
		return a.Operation == world.Component{Name: name, What: world.ComponentPause} || a.Operation == world.Component{Name: name, What: world.ComponentRestart}
	})
}

// asleep says whether a component is paused at a moment.
func (j *judge) asleep(name string, at engine.Time) bool {
	return slices.ContainsFunc(j.w.Actions, func(a world.Action) bool {
		return a.Operation == world.Component{Name: name, What: world.ComponentPause} && at >= a.At && at < a.At+a.For
	})
}

// A component that is paused hears nothing, and the rules of a node stay as they are while its
// proxy is.
func (j *judge) hearPaused(e event.Event) {
	switch e.Kind {
	case event.Delivered:
		name := e.Name
		for prefix, called := range map[string]string{"proxy ": world.KubeProxyOf, "kubelet ": world.KubeletOf, "load balancer": ""} { // order: at most one fits
			if rest, ok := strings.CutPrefix(e.Name, prefix); ok {
				name = called + rest
			}
			if called == "" && strings.HasPrefix(e.Name, prefix) {
				name = world.LBController
			}
		}
		if j.asleep(name, e.At) {
			j.fail("paused", "%s hears of something at %s s", name, e.At.Seconds())
		}
	case event.SyncBegan, event.SyncEnded:
		if name := world.KubeProxyOf + j.w.Nodes[e.Node].Name; j.asleep(name, e.At) {
			j.fail("paused", "%s syncs at %s s", name, e.At.Seconds())
		}
	case event.Probed, event.Decided, event.Stopping, event.Signalled:
		if n := j.pods[e.Pod].api.Node; n >= 0 && j.asleep(world.KubeletOf+j.w.Nodes[n].Name, e.At) {
			j.fail("paused", "the kubelet of %s works at %s s", j.w.Nodes[n].Name, e.At.Seconds())
		}
	default:
	}
}

// kubeletPaused says whether the kubelet of a pod's node is paused at some time.
func (j *judge) kubeletPaused(p *pod) bool {
	return p.api.Node >= 0 && j.touched(world.KubeletOf+j.w.Nodes[p.api.Node].Name)
}

// closedGates lists the readiness gates of a pod that are not True.
func closedGates(p *api.Pod) int {
	n := 0
	for _, g := range p.Gates {
		if !slices.Contains(p.Open, g) {
			n++
		}
	}
	return n
}

// closes says whether somebody closes gates in this world: then news of that may be late.
func (j *judge) closes() bool {
	return slices.ContainsFunc(j.w.Actions, func(a world.Action) bool { o, ok := a.Operation.(world.SetGate); return ok && !o.Open })
}

// A pod with a gate that has never been opened is not ready, and one whose gates are all open is,
// when its containers are (docs/model/pod-lifecycle.md 4).
func (j *judge) hearGates(at engine.Time, now *api.Pod) {
	closed := closedGates(now)
	if closed > 0 && now.Ready && !j.closes() {
		j.fail("gates", "%s is ready at %s s, with %d gates closed", now.Name, at.Seconds(), closed)
	}
	if len(now.Gates) == 0 || closed > 0 || now.Ready || !now.ContainersReady || now.Deleting() || j.does("apiserver") || j.does("component") || j.closes() || j.w.goes {
		return
	}
	late := 3*sec + j.w.Latency.Watch.Max() + 10*j.w.Latency.StatusWrite.Max() // one status after the other
	if watch := j.w.Nodes[now.Node].Watch; watch != nil {
		late += watch.Max()
	}
	j.requests.later(at+late, func(at engine.Time) {
		p := j.pods[now.ID]
		if q := p.api; q.ContainersReady && !q.Ready && !q.Deleting() && !q.Gone && p.changed <= at-late && !p.beingStopped() {
			j.fail("gates", "%s is not ready at %s s, its containers are, and its gates are open", q.Name, at.Seconds())
		}
	})
}

// beingStopped says whether the kubelet stops a container of the pod, which may take its whole grace
// period: until then it does not work on the pod (docs/model/pod-lifecycle.md 2b).
func (p *pod) beingStopped() bool {
	for _, c := range p.containers { // order: any one decides
		if c.disturbed {
			return true
		}
	}
	return false
}

// No slice shows a pod as ready that has a gate that has never been opened.
func (j *judge) hearGatedSlices(at engine.Time, in func(ip string) (endpoints.Conditions, bool)) {
	if j.closes() {
		return
	}
	for _, id := range j.order {
		p := j.pods[id].api
		if c, ok := in(p.IP.String()); ok && !j.publishes(p) && closedGates(p) > 0 && (c.Ready() || c.Serving()) {
			j.fail("gates", "the slices show %s as ready at %s s, with a gate closed", p.Name, at.Seconds())
		}
	}
}
