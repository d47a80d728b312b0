package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// balancer is a load balancer of any make: most of what is drawn no provider sells.
func (w *world) balancer() *scenario.LoadBalancer {
	svc := w.Services[0].Service
	lb := &scenario.LoadBalancer{
		Service: "default/web", Target: of(w.draws, scenario.TargetNodes, scenario.TargetPods),
		Controller: w.dist(0, 2*sec), ControllerHold: of(w.draws, 0, 0, 3*sec), Registration: w.dist(0, 5*sec), Propagation: w.dist(0, 5*sec),
		Drain: of(w.draws, 0, 2*sec, 10*sec, engine.Never), CutUnhealthy: w.chance(30), FailOpen: w.chance(40),
		NoTarget: of(w.draws, scenario.NoTargetTimeout, scenario.NoTargetRefused, scenario.NoTarget503),
		Hash:     of(w.draws, scenario.HashFlow, scenario.HashRandom), ICMPFiltered: w.chance(50),
		Check: scenario.HealthCheck{
			Interval: w.span(500*ms, 5*sec), Timeout: w.span(100*ms, sec), Healthy: 1 + w.pick(3), Unhealthy: 1 + w.pick(3),
		},
	}
	if w.chance(40) {
		lb.HealthPropagation = w.dist(0, 3*sec)
	}
	if lb.Target == scenario.TargetPods {
		lb.Members = of(w.draws, scenario.MembersReadyPods, scenario.MembersLivePods, scenario.MembersServingPods)
		lb.Check.Probe = of(w.draws, scenario.ProbeNone, scenario.ProbePod, scenario.ProbePod)
		if w.chance(40) {
			lb.Layer7 = w.proxy()
		}
		return lb
	}
	lb.Members = of(w.draws, scenario.MembersAllNodes, scenario.MembersAllNodes, scenario.MembersLocalNodes, scenario.MembersServing)
	lb.Check.Probe = of(w.draws, scenario.ProbeNone, scenario.ProbeProxyHealth, scenario.ProbeNodePort, scenario.ProbeNodePort)
	if svc.Spec.HealthCheckNodePort > 0 && w.chance(70) {
		lb.Check.Probe = scenario.ProbeHealthPort
	}
	if lb.Check.Probe == scenario.ProbeNone {
		lb.Announce = of(w.draws, scenario.AnnounceNone, scenario.AnnounceL2, scenario.AnnounceBGP)
	}
	if lb.Announce == scenario.AnnounceNone && w.chance(20) {
		lb.Layer7 = w.proxy()
	}
	return lb
}

// proxy is what a proxy of HTTP requests does with them.
func (w *world) proxy() *scenario.Layer7 {
	return &scenario.Layer7{
		Retries: w.pick(3), RetryOn: of(w.draws, scenario.RetryConnect, scenario.RetryReset),
		ConnectTimeout: w.span(100*ms, 2*sec), UpstreamIdle: w.span(0, 10*sec), Ingress: w.chance(50),
	}
}
