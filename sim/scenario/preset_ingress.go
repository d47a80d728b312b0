package scenario

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// ingressPresets are proxies that run inside of the cluster: no provider's load balancer knows
// the pods, they do (docs/model/load-balancers.md 5).
func ingressPresets() []presetRow {
	return []presetRow{ingressNginx(), envoyGateway(), genericProxy()}
}

// insideProxy is what they have in common: they go by endpoints alone.
func insideProxy(l world.Layer7) (world.LoadBalancer, []claim) {
	l.Ingress = true
	return world.LoadBalancer{Target: world.TargetPods, Drain: engine.Never, NoTarget: world.NoTarget503, Layer7: &l}, []claim{
		{inferred, "5: it goes by endpoints, without health checks of its own", "probe interval timeout healthy unhealthy healthPropagation cutUnhealthy allUnhealthy"},
		{inferred, "5: requests in flight continue", "drain"},
		{inferred, "a proxy has a connection of its own", "icmpFiltered"},
		{inferred, "5: endpoints, no announcement", "announce"},
		{inferred, "5: it runs inside of the cluster", "ingress"},
	}
}

func ingressNginx() presetRow {
	lb, claims := insideProxy(world.Layer7{Retries: 2, RetryOn: world.RetryReset, ConnectTimeout: 5 * engine.Second, UpstreamIdle: engine.Minute})
	lb.Members, lb.Hash = world.MembersReadyPods, world.HashRoundRobin
	lb.Controller, lb.ControllerHold, lb.Registration, lb.Propagation = quickly(), nginxSync, nginxWorkers(), nginxWorkers()
	return presetRow{
		id: "ingress-nginx", what: "ingress-nginx (kubernetes/ingress-nginx)", lb: lb,
		claims: append(claims,
			claim{verified, "5.1 Upstream selection: ready only, terminating pods are removed at once", "target members nodesLeave"},
			claim{verified, "5.1 Upstream selection: a worker's timer of 1 s, balancer.lua BACKENDS_SYNC_INTERVAL", "registration propagation"},
			claim{verified, "https://github.com/kubernetes/ingress-nginx/tree/HEAD/pkg/flags: --sync-rate-limit 0.3, a token bucket of one", "controllerHold"},
			claim{inferred, "5.1 Upstream selection: without a reload", "controller"},
			claim{verified, "https://github.com/kubernetes/ingress-nginx/tree/HEAD/internal/ingress/controller/config: round_robin", "hash"},
			claim{recalled, "not in docs/model: 503 without endpoints", "noTarget"},
			claim{verified, "https://github.com/kubernetes/ingress-nginx/tree/HEAD/internal/ingress/controller/config: proxy-next-upstream error timeout, tries 3, of requests that may be repeated", "retries retryOn"},
			claim{verified, "https://github.com/kubernetes/ingress-nginx/tree/HEAD/internal/ingress/controller/config: proxy-connect-timeout 5", "connectTimeout"},
			claim{verified, "https://github.com/kubernetes/ingress-nginx/tree/HEAD/internal/ingress/controller/config: upstream-keepalive-timeout 60", "upstreamIdle"}),
	}
}

func envoyGateway() presetRow {
	lb, claims := insideProxy(world.Layer7{ConnectTimeout: 10 * engine.Second, UpstreamIdle: engine.Hour})
	lb.Members, lb.Hash = world.MembersServingPods, world.HashRandom
	lb.Controller, lb.Registration, lb.Propagation = watching(), quickly(), quickly()
	return presetRow{
		id: "envoy-gateway", what: "Envoy Gateway (envoyproxy/gateway)", lb: lb,
		claims: append(claims,
			claim{verified, "5.2 Backend endpoints: terminating or not serving is draining", "target members nodesLeave"},
			claim{inferred, "not in docs/model: a translation, and a push to each Envoy", "controller controllerHold registration propagation"},
			claim{recalled, "not in docs/model: least request, which is by chance where all are alike", "hash"},
			claim{recalled, "not in docs/model: 503 without endpoints", "noTarget"},
			claim{recalled, "not in docs/model: none without a BackendTrafficPolicy", "retries retryOn"},
			claim{recalled, "not in docs/model: 10 s without a BackendTrafficPolicy", "connectTimeout"},
			claim{recalled, "not in docs/model: 1 h, Envoy's default", "upstreamIdle"}),
	}
}

// genericProxy is any other: nothing is known of it.
func genericProxy() presetRow {
	lb, claims := insideProxy(world.Layer7{ConnectTimeout: 5 * engine.Second, UpstreamIdle: engine.Minute})
	lb.Members, lb.Hash = world.MembersReadyPods, world.HashRoundRobin
	lb.Controller, lb.Registration, lb.Propagation = watching(), envoyUpdate(), envoyUpdate()
	return presetRow{
		id: "l7-generic", what: "any other ingress controller or gateway", lb: lb,
		claims: append(claims,
			claim{inferred, "docs/model/simulator.md 1: ready endpoints, a small delay, no retries", "target members nodesLeave controller controllerHold registration propagation hash noTarget"},
			claim{inferred, "docs/model/simulator.md 1: ready endpoints, a small delay, no retries", "retries retryOn connectTimeout upstreamIdle"}),
	}
}
