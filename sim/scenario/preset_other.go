package scenario

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func azurePresets() []presetRow {
	return both("azure-standard", "Azure Standard Load Balancer", azureStandard)
}

func azureStandard(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	lb := world.LoadBalancer{
		Target: world.TargetNodes, Members: world.MembersAllNodes, Controller: watching(), Registration: otherOperation(), Propagation: otherOperation(),
		Check:    world.HealthCheck{Probe: world.ProbeNodePort, Interval: 5 * engine.Second, Timeout: 5 * engine.Second, Healthy: 1, Unhealthy: 2},
		NoTarget: world.NoTargetTimeout, Hash: world.HashFlow, ICMPFiltered: true, Idle: 4 * engine.Minute,
	}
	row := "1 Azure Standard LB, Cluster: cloud-provider-azure azure_loadbalancer_healthprobe.go; without shared probe mode"
	if policy == policyLocal {
		lb.Check.Probe, row = world.ProbeHealthPort, "1 Azure Standard LB, Local: cloud-provider-azure"
	}
	return lb, []claim{
		{verified, row, "target probe interval unhealthy"},
		{inferred, "1: Azure names none: no longer than the interval, and one answer", "timeout healthy"},
		{verified, "2 Azure: nodes that are not excluded", "members nodesLeave"},
		{inferred, "2 Service controller: only nodes that come and go matter", "controller controllerHold"},
		{inferred, "not in docs/model: some seconds", "registration propagation"},
		{inferred, "2: what checks find takes effect at once", "healthPropagation"},
		{documented, "4 Azure Standard: removal from the pool drops flows", "drain"},
		{documented, "4 Azure Standard: TCP flows continue", "cutUnhealthy"},
		{documented, "4 Azure Standard: idle 4 min, reset to both sides", "idle idleEnds"},
		{documented, "3 Azure Standard: no new flows", "allUnhealthy"},
		{documented, "4 Azure Standard: 5-tuple", "hash"},
		{inferred, "3 Azure Standard: no new flows", "noTarget"},
		{inferred, "docs/model/kube-proxy.md 3: reject through a load balancer", "icmpFiltered"},
		{inferred, "4: health checks, no announcement", "announce"},
	}
}

func metallbPresets() []presetRow {
	return append(both("metallb-l2", "MetalLB, layer 2", metallb(world.AnnounceL2)), both("metallb-bgp", "MetalLB, BGP", metallb(world.AnnounceBGP))...)
}

func metallb(announce world.Announce) func(corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	return func(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
		lb := world.LoadBalancer{
			Target: world.TargetNodes, Members: world.MembersAllNodes, NodesLeave: world.NodesSilent, Announce: announce, Controller: DefaultLatencies().Watch,
			Registration: l2Failover(), Propagation: l2Failover(), NoTarget: world.NoTargetTimeout, Hash: world.HashFlow,
		}
		moves := claim{verified, "4 MetalLB L2: a few seconds", "registration propagation"}
		cut := claim{recalled, "4 MetalLB L2: old flows land on a node without conntrack", "drain"}
		hash := claim{verified, "4 MetalLB L2: one node gets all", "hash"}
		if announce == world.AnnounceBGP {
			lb.Registration, lb.Propagation = bgpUpdate(), bgpUpdate()
			moves = claim{inferred, "not in docs/model: a route's way", "registration propagation"}
			cut = claim{verified, "4 MetalLB BGP: flows are hashed anew and reset", "drain"}
			hash = claim{verified, "4 MetalLB BGP: the routers' hash", "hash"}
		}
		if policy == policyLocal {
			lb.Members = world.MembersServing
		}
		return lb, []claim{
			moves, cut, hash,
			{verified, "2 MetalLB: speaker, internal/k8s/epslices; announced while an endpoint is ready or serving", "target members nodesLeave announce"},
			{verified, "1 MetalLB: none", "probe interval timeout healthy unhealthy healthPropagation cutUnhealthy"},
			{inferred, "1 MetalLB: the speakers' watch, docs/model/propagation.md 1", "controller controllerHold"},
			{inferred, "3 MetalLB: no ARP answer, no route", "allUnhealthy noTarget"},
			{inferred, "nothing stands between client and node", "icmpFiltered"},
		}
	}
}

func kindPresets() []presetRow {
	return both("kind", "cloud-provider-kind (Envoy)", cloudProviderKind)
}

func cloudProviderKind(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	lb := world.LoadBalancer{
		Target: world.TargetNodes, Members: world.MembersAllNodes, Controller: watching(), Registration: envoyUpdate(), Propagation: envoyUpdate(),
		Check:    world.HealthCheck{Probe: world.ProbeProxyHealth, Interval: 2 * engine.Second, Timeout: 3 * engine.Second, Healthy: 1, Unhealthy: 2},
		NoTarget: world.NoTargetRefused, Hash: world.HashRandom, Idle: engine.Hour,
	}
	if policy == policyLocal {
		lb.Check.Probe = world.ProbeHealthPort
	}
	return lb, []claim{
		{verified, "1 cloud-provider-kind: pkg/loadbalancer/proxy.go", "target probe interval timeout healthy unhealthy drain"},
		{verified, "2 cloud-provider-kind: the service controller's nodes", "members nodesLeave"},
		{inferred, "2 Service controller: only nodes that come and go matter", "controller controllerHold"},
		{inferred, "not in docs/model: a new configuration of Envoy", "registration propagation"},
		{inferred, "2: what checks find takes effect at once", "healthPropagation"},
		{recalled, "4 cloud-provider-kind: open connections continue", "cutUnhealthy"},
		{verified, "3 cloud-provider-kind: panic threshold 0", "allUnhealthy"},
		{inferred, "3 cloud-provider-kind: Envoy closes the connection", "noTarget"},
		{verified, "4 cloud-provider-kind: Envoy RANDOM", "hash"},
		{recalled, "not in docs/model: 1 h, Envoy's default for TCP", "idle idleEnds"},
		{inferred, "Envoy runs beside the nodes", "icmpFiltered"},
		{inferred, "4: health checks, no announcement", "announce"},
	}
}
