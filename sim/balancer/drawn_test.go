package balancer

import (
	"math/rand/v2"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawSpec draws each field of a load balancer that decides when something happens, or who gets connections.
func drawSpec(r *rand.Rand) world.LoadBalancer {
	delay := func() engine.Dist {
		d := engine.Time(r.IntN(8)) * sec
		return oneOf(r, engine.Dist{}, engine.Constant(d), engine.Must(engine.Uniform(d, d+3*sec)))
	}
	spec := world.LoadBalancer{
		Target: oneOf(r, world.TargetNodes, world.TargetPods), NodesLeave: oneOf(r, world.NodesDeleted, world.NodesTainted),
		Controller: delay(), ControllerHold: oneOf(r, 0, 0, 6*sec), Registration: delay(), Propagation: delay(), HealthPropagation: delay(),
		Drain: oneOf(r, 0, 10*sec, 30*sec, engine.Never), CutUnhealthy: r.IntN(2) == 0, FailOpen: r.IntN(2) == 0, InitialWaits: r.IntN(2) == 0,
		Hash: oneOf(r, world.HashFlow, world.HashRandom), RepeatedSYN: oneOf(r, world.SYNAfresh, world.SYNStays), Service: "shop/web",
	}
	spec.Members = oneOf(r, world.MembersAllNodes, world.MembersLocalNodes, world.MembersServing)
	if spec.Target == world.TargetPods {
		spec.Members = oneOf(r, world.MembersReadyPods, world.MembersLivePods, world.MembersServingPods)
		if r.IntN(2) == 0 {
			spec.ReadinessGate, spec.GateRecheck, spec.GateTimeout = "example.com/one", 15*sec, oneOf(r, 0, 40*sec)
		}
	}
	if r.IntN(4) > 0 {
		every := engine.Time(1+r.IntN(6)) * sec
		spec.Check = world.HealthCheck{
			Probe: oneOf(r, world.ProbeHealthPort, world.ProbePod), Interval: every, Timeout: engine.Time(r.IntN(8)) * sec, Healthy: r.IntN(4), Unhealthy: r.IntN(4),
		}
	} else {
		spec.Announce = oneOf(r, world.AnnounceNone, world.AnnounceL2, world.AnnounceBGP)
	}
	if r.IntN(3) == 0 {
		spec.Layer7 = &world.Layer7{Ingress: r.IntN(2) == 0, WholeLists: r.IntN(2) == 0}
	}
	return spec
}

// drawEndpoints draws what becomes of three pods, and of up to two more.
func drawEndpoints(r *rand.Rand, now engine.Time) (list []Endpoint) {
	for pod := range 3 + r.IntN(3) {
		e := Endpoint{Pod: pod, Node: pod % 3, Ready: true, Serving: true, ContainersReady: true, Gated: r.IntN(3) == 0, Created: now - engine.Time(r.IntN(30))*sec}
		switch r.IntN(6) {
		case 0:
			continue
		case 1:
			e.Ready, e.Terminating, e.Serving = false, true, r.IntN(2) == 0
		case 2:
			e.Ready, e.Serving, e.ContainersReady = false, false, r.IntN(2) == 0
			e.Closed = e.Gated
		default:
		}
		list = append(list, e)
	}
	return list
}

// happens changes something of a cluster, and has its load balancer hear of it, or not yet.
func (f *fake) happens(r *rand.Rand, b *Balancer) {
	member := r.IntN(5)
	switch r.IntN(10) {
	case 0, 1:
		f.settled = drawEndpoints(r, f.eng.Now())
		if r.IntN(3) > 0 {
			f.endpoints = f.settled
			b.Hear()
		}
	case 2:
		f.endpoints = f.settled
		b.Hear()
	case 3:
		f.unheard = r.IntN(3) == 0
		b.HearPod()
	case 4, 5, 6:
		f.ok[member] = r.IntN(2) == 0
		f.would[member] = f.ok[member] || r.IntN(3) == 0
		f.late = r.IntN(2) == 0
		b.Wake()
	case 7:
		f.reaches[member] = r.IntN(2) == 0
	case 8:
		f.gone[member] = r.IntN(2) == 0
		f.left[member] = f.gone[member] && r.IntN(2) == 0
		b.HearNode()
	default:
		if b.paused {
			b.Resume()
		} else if r.IntN(2) == 0 {
			b.Pause()
		}
	}
}

// Load balancers of every kind in clusters in which anything may happen at any time.
func TestDrawnLoadBalancers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // the same each time
		f := newFake(1)
		f.left, f.gone = map[int]bool{}, map[int]bool{}
		f.endpoints, f.sure = drawEndpoints(r, 0), r.IntN(2) == 0
		f.settled = f.endpoints
		for member := range 5 {
			f.ok[member] = r.IntN(4) > 0
			f.would[member], f.reaches[member] = f.ok[member], f.ok[member]
		}
		spec := drawSpec(r)
		b := f.balances(t, spec)
		f.ask()
		b.Introduce()
		for now := sec; now < 150*sec; now += engine.Time(r.IntN(12000)) * engine.Millisecond {
			f.run(now)
			f.happens(r, b)
			f.ask()
		}
		f.run(300 * sec)
		f.endpoints = f.settled
		b.Resume()
		b.HearNode()
		b.Wake()
		f.run(600 * sec)
		if what := b.Unrest(); what != "" && f.sure && !f.unheard && spec.ReadinessGate == "" && spec.Check.Probe == world.ProbeNone {
			t.Errorf("seed %d: at rest %s", seed, what)
		}
	}
}
