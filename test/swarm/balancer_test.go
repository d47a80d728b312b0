package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// balancer is a load balancer of any make: most of what is drawn no provider sells.
func (w *swarmWorld) balancer() *world.LoadBalancer {
	svc := w.Services[0].Service
	lb := &world.LoadBalancer{
		Service: "default/web", Target: of(w.draws, world.TargetNodes, world.TargetPods),
		Controller: w.dist(0, 2*sec), ControllerHold: of(w.draws, 0, 0, 3*sec), Registration: w.dist(0, 5*sec), Propagation: w.dist(0, 5*sec),
		Drain: of(w.draws, 0, 2*sec, 10*sec, engine.Never), CutUnhealthy: w.chance(50), FailOpen: w.chance(40),
		NoTarget: of(w.draws, world.NoTargetTimeout, world.NoTargetRefused, world.NoTarget503),
		Hash:     of(w.draws, world.HashFlow, world.HashRandom), ICMPFiltered: w.chance(50),
		Check: world.HealthCheck{
			Interval: w.span(500*ms, 5*sec), Timeout: w.span(100*ms, sec), Healthy: 1 + w.pick(3), Unhealthy: 1 + w.pick(3),
		},
	}
	if w.chance(40) {
		lb.HealthPropagation = w.dist(0, 3*sec)
	}
	if lb.Target == world.TargetPods {
		lb.Members = of(w.draws, world.MembersReadyPods, world.MembersLivePods, world.MembersServingPods)
		lb.Check.Probe = of(w.draws, world.ProbeNone, world.ProbePod, world.ProbePod)
		if w.chance(40) {
			lb.Layer7 = w.proxy()
		}
		return lb
	}
	lb.Members = of(w.draws, world.MembersAllNodes, world.MembersAllNodes, world.MembersLocalNodes, world.MembersServing)
	lb.Check.Probe = of(w.draws, world.ProbeNone, world.ProbeProxyHealth, world.ProbeNodePort, world.ProbeNodePort)
	if svc.Spec.HealthCheckNodePort > 0 && w.chance(70) {
		lb.Check.Probe = world.ProbeHealthPort
	}
	if lb.Check.Probe == world.ProbeNone {
		lb.Announce = of(w.draws, world.AnnounceBGP, world.AnnounceL2, world.AnnounceBGP)
	}
	if lb.Announce == world.AnnounceNone && w.chance(20) {
		lb.Layer7 = w.proxy()
	}
	return lb
}

// proxy is what a proxy of HTTP requests does with them.
func (w *swarmWorld) proxy() *world.Layer7 {
	p := &world.Layer7{
		Retries: w.pick(3), RetryOn: of(w.draws, world.RetryConnect, world.RetryReset),
		ConnectTimeout: w.span(100*ms, 2*sec), UpstreamIdle: w.span(0, 10*sec), Ingress: w.chance(50),
	}
	p.WholeLists = p.Ingress
	return p
}
