package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gkePresets are Google's load balancers.
func gkePresets() []presetRow {
	rows := both("gke-l4", "GKE L4 (passthrough, subsetting)", gkeL4)
	rows = append(rows, both("gke-legacy-external", "GKE legacy external (target pool)", gkeLegacy(false))...)
	rows = append(rows, both("gke-legacy-internal", "GKE legacy internal (instance groups)", gkeLegacy(true))...)
	return append(rows, gkeL7()...)
}

// passthrough claims what Google's passthrough load balancers do with flows.
func passthrough(allUnhealthy claim) []claim {
	return []claim{
		allUnhealthy,
		{documented, "4 GCP passthrough", "hash cutUnhealthy"},
		{inferred, "docs/model/kube-proxy.md 3: reject through a load balancer", "icmpFiltered"},
		{inferred, "2: what checks find takes effect at once", "healthPropagation"},
		{inferred, "4: health checks, no announcement", "announce"},
		{recalled, "2 gce controller: operations take several to tens of seconds", "registration propagation"},
	}
}

func gkeL4(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	lb := world.LoadBalancer{
		Target: world.TargetNodes, NodesLeave: world.NodesTainted, Controller: watching(), Registration: gceOperation(), Propagation: gceOperation(),
		Drain: 30 * engine.Second, FailOpen: true, NoTarget: world.NoTargetTimeout, Hash: world.HashFlow, ICMPFiltered: true,
	}
	claims := passthrough(claim{recalled, "3 GCP external passthrough: documented for internal, recalled for external", "allUnhealthy"})
	if policy == policyLocal {
		lb.Members = world.MembersLocalNodes
		lb.Check = world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 3 * engine.Second, Timeout: engine.Second, Healthy: 1, Unhealthy: 2}
		return lb, append(claims,
			claim{verified, "1 GKE L4 (subsetting), Local: ingress-gce pkg/l4/healthchecks, pkg/l4/backends", "target probe interval timeout healthy unhealthy drain"},
			claim{verified, "2 GKE subsetting Local: terminating endpoints do not count, an empty group times out", "members nodesLeave noTarget"},
			claim{inferred, "2 GKE subsetting Local: it watches EndpointSlices", "controller controllerHold"})
	}
	lb.Members = world.MembersAllNodes
	lb.Check = world.HealthCheck{Probe: world.ProbeProxyHealth, Interval: 8 * engine.Second, Timeout: engine.Second, Healthy: 1, Unhealthy: 3}
	return lb, append(claims,
		claim{verified, "1 GKE L4 (subsetting), Cluster: ingress-gce pkg/l4/healthchecks, pkg/neg/syncers", "target probe interval timeout healthy unhealthy drain"},
		claim{verified, "2 GKE subsetting Cluster: a subset of the nodes, independent of pods; all of a small cluster", "members nodesLeave"},
		claim{verified, "2 GKE subsetting Local: an empty group times out", "noTarget"},
		claim{inferred, "2 GKE subsetting Cluster: pods do not matter", "controller controllerHold"})
}

func gkeLegacy(internal bool) func(corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	return func(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
		lb := world.LoadBalancer{
			Target: world.TargetNodes, Members: world.MembersAllNodes, Controller: watching(), Registration: gceOperation(), Propagation: gceOperation(),
			Check:    world.HealthCheck{Probe: world.ProbeProxyHealth, Interval: 8 * engine.Second, Timeout: engine.Second, Healthy: 1, Unhealthy: 3},
			FailOpen: true, NoTarget: world.NoTargetTimeout, Hash: world.HashFlow, ICMPFiltered: true,
		}
		if policy == policyLocal {
			lb.Check.Probe = world.ProbeHealthPort
		}
		open, drain, row := claim{recalled, "3 GCP external passthrough", "allUnhealthy"}, claim{recalled, "1 GKE legacy external: target pools have no draining", "drain"},
			"1 GKE legacy external: cloud-provider-gcp providers/gce"
		if internal {
			open.status, open.source = documented, "3 GCP internal passthrough"
			drain.status, drain.source = verified, "1 GKE legacy internal: none set by the controller"
			row = "1 GKE legacy internal: cloud-provider-gcp"
		}
		return lb, append(passthrough(open), drain,
			claim{verified, row, "target members nodesLeave probe interval timeout healthy unhealthy"},
			claim{inferred, "2 Service controller: only nodes that come and go matter", "controller controllerHold"},
			claim{inferred, "3: nothing answers", "noTarget"})
	}
}

// gkeL7 are the ways of Google's HTTP load balancer.
func gkeL7() []presetRow {
	lb := world.LoadBalancer{
		Controller: watching(), Registration: gceOperation(), Propagation: gceOperation(), NoTarget: world.NoTarget503, Hash: world.HashRoundRobin, ICMPFiltered: true,
	}
	claims := []claim{
		{recalled, "3 GCP L7: failed_to_pick_backend", "allUnhealthy noTarget"},
		{recalled, "not in docs/model: requests in turn", "hash"},
		{inferred, "a proxy has a connection of its own", "icmpFiltered cutUnhealthy"},
		{inferred, "2: what checks find takes effect at once", "healthPropagation"},
		{inferred, "4: health checks, no announcement", "announce"},
		{recalled, "2 gce controller: operations take several to tens of seconds", "registration propagation"},
		{inferred, "2 GKE NEG L7: it watches EndpointSlices", "controller controllerHold"},
		{recalled, "not in docs/model: a GET whose connection fails is tried once more; ingress-gce issue 769 fits with that, and not without", "retries retryOn"},
		{inferred, "not in docs/model: some seconds", "connectTimeout"},
		{documented, "https://cloud.google.com/load-balancing/docs/https: HTTP keep-alive to backends, 600 s", "upstreamIdle"},
		{inferred, "it is a provider's", "ingress"},
	}
	neg, group := lb, lb
	neg.Layer7 = &world.Layer7{Retries: 1, ConnectTimeout: 5 * engine.Second, UpstreamIdle: 10 * engine.Minute}
	group.Layer7 = &world.Layer7{Retries: 1, ConnectTimeout: 5 * engine.Second, UpstreamIdle: 10 * engine.Minute}
	neg.Target, neg.Members = world.TargetPods, world.MembersLivePods
	neg.Check = world.HealthCheck{Probe: world.ProbePod, Interval: 15 * engine.Second, Timeout: 15 * engine.Second, Healthy: 1, Unhealthy: 2}
	gates := negGate(&neg)
	group.Target, group.Members = world.TargetNodes, world.MembersAllNodes
	group.Check = world.HealthCheck{Probe: world.ProbeNodePort, Interval: engine.Minute, Timeout: engine.Minute, Healthy: 1, Unhealthy: 10}
	return []presetRow{
		{
			id: "gke-l7-neg", what: "GKE L7, container-native (NEG)", lb: neg,
			claims: append([]claim{
				{verified, "1 GKE L7 container-native NEG: ingress-gce pkg/translator; drain by BackendConfig", "target probe interval timeout healthy unhealthy drain"},
				{inferred, "2 GKE NEG L7: terminating pods are removed (verified), pods that are not ready stay", "members nodesLeave"},
			}, slices.Concat(claims, gates)...),
		},
		{
			id: "gke-l7-instance-group", what: "GKE L7, instance groups", lb: group,
			claims: append([]claim{
				{verified, "1 GKE L7 instance group: ingress-gce pkg/translator; drain by BackendConfig", "target members nodesLeave probe interval timeout healthy unhealthy drain"},
			}, claims...),
		},
	}
}
