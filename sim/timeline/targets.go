package timeline

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// targetKey is a target of a load balancer, that of the streams which share it with Stream, or of an ingress controller's pod.
type targetKey struct{ stream, proxy, member int }

// target is what was heard of one.
type target struct {
	states, gets spans
}

// hearTarget hears of a target, and who gets new connections.
func (r *Recorder) hearTarget(e *event.Event) {
	if e.Kind == event.Target {
		if t := r.target(targetKey{e.Stream, e.Proxy, e.Member}); t != nil {
			t.states.set(e.At, e.State)
		}
		return
	}
	r.hearDry(e)
	for _, m := range e.Members {
		r.target(targetKey{e.Stream, e.Proxy, m})
	}
	for _, k := range r.order {
		if k.stream != e.Stream || k.proxy != e.Proxy {
			continue
		}
		is := ""
		if slices.Contains(e.Members, k.member) {
			if is = getsNew; e.Fallback {
				is = FailsOpen
			}
		}
		r.targets[k].gets.set(e.At, is)
	}
}

// dry is when a load balancer, or an ingress controller's pod, had no target.
type dry struct {
	stream, proxy int
	spans         spans
}

// hearDry hears of a load balancer that has no target from now on, or has one again.
func (r *Recorder) hearDry(e *event.Event) {
	at := slices.IndexFunc(r.dry, func(d *dry) bool { return d.stream == e.Stream && d.proxy == e.Proxy })
	is := ""
	if len(e.Members) == 0 {
		is = NoTarget
	}
	if at < 0 {
		if is == "" || len(r.dry) == mostTargets {
			return // it has always had one, or has no lane
		}
		at = len(r.dry)
		r.dry = append(r.dry, &dry{stream: e.Stream, proxy: e.Proxy})
	}
	r.dry[at].spans.set(e.At, is)
}

// NoTarget is what the Spans of a DryLane say.
const NoTarget = "no target"

// dryLanes are those of load balancers that had no target for some time.
func (b *builder) dryLanes() []DryLane {
	out := []DryLane{}
	for _, d := range b.r.dry {
		k := targetKey{d.stream, d.proxy, -1}
		lane := DryLane{Balancer: balancerName(b.r.balancer(k)), Proxy: -1, Clients: b.through(k), Spans: d.spans.until(b.end)}
		if d.proxy != traffic.NoProxy {
			lane.Proxy, lane.Balancer = d.proxy, b.called(api.PodID(d.proxy))
		}
		if len(lane.Spans) > 0 {
			out = append(out, lane)
		}
	}
	return out
}

// What Gets says.
const (
	getsNew = "new connections"
	// FailsOpen is a time in which no target was healthy, and all were sent to.
	FailsOpen = "fails open"
)

// target finds what is known of one, nil where it has no lane.
func (r *Recorder) target(k targetKey) *target {
	if t := r.targets[k]; t != nil {
		return t
	}
	spec := r.balancer(k)
	pods := spec.Target == world.TargetPods
	switch {
	case len(r.order) == mostTargets, pods && r.lane(api.PodID(k.member)) < 0, r.focus != nil && !pods && !slices.Contains(r.focus.Nodes, k.member):
		return nil
	}
	r.targets[k] = &target{}
	r.order = append(r.order, k)
	return r.targets[k]
}

func (r *Recorder) balancer(k targetKey) *world.LoadBalancer {
	if k.proxy == traffic.NoProxy {
		return r.sc.Traffic[k.stream].LB
	}
	return r.sc.Traffic[k.stream].Ingress.Proxy
}

// targetLanes are the lanes of load balancers' targets, in the order in which they were heard of.
func (b *builder) targetLanes() []TargetLane {
	out := []TargetLane{}
	for _, k := range b.r.order {
		t, spec := b.r.targets[k], b.r.balancer(k)
		lane := TargetLane{
			Balancer: balancerName(spec), Proxy: -1, Clients: b.through(k), Pod: -1, Node: -1,
			States: t.states.until(b.end), Gets: t.gets.until(b.end),
		}
		if k.proxy != traffic.NoProxy {
			lane.Proxy = k.proxy
			lane.Balancer = b.called(api.PodID(k.proxy))
		}
		if spec.Target == world.TargetPods {
			lane.Pod, lane.Name = k.member, b.called(api.PodID(k.member))
		} else {
			lane.Node, lane.Name = k.member, b.r.sc.Nodes[k.member].Name
		}
		out = append(out, lane)
	}
	return out
}

func balancerName(lb *world.LoadBalancer) string {
	if lb.Preset != "" {
		return lb.Preset
	}
	return "load balancer"
}

// through are the clients whose connections go through a target's load balancer.
func (b *builder) through(k targetKey) []int {
	var out []int
	for i := range b.r.sc.Traffic {
		t := &b.r.sc.Traffic[i]
		if i == k.stream || k.proxy == traffic.NoProxy && t.LB != nil && t.LB == b.r.sc.Traffic[k.stream].LB && t.Port == b.r.sc.Traffic[k.stream].Port {
			out = append(out, i)
		}
	}
	return out
}
