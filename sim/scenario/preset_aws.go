package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// nlb is what every NLB does, however its targets are found.
func nlb() (world.LoadBalancer, []claim) {
	lb := world.LoadBalancer{
		Controller: watching(), Registration: nlbRegistration(), Propagation: nlbDeregistration(), HealthPropagation: nlbHealthLag(), Reported: nlbReports(),
		Drain: engine.Never, CutUnhealthy: true, FailOpen: true, NoTarget: world.NoTargetTimeout, Hash: world.HashFlow, ICMPFiltered: true,
		Idle: 350 * engine.Second, IdleForgets: true,
	}
	return lb, []claim{
		{recalled, "4 AWS NLB: idle timeout 350 s, then a reset", "idle idleEnds"},
		{reported, "4 AWS NLB measured: registration 90-180 s, deregistration 110-300 s, health 30-40 s later (issue texts)", "registration propagation healthPropagation"},
		{documented, "4 AWS NLB: flows outlive the deregistration delay (300 s) unless connection termination is switched on", "drain"},
		{documented, "4 AWS NLB: targets that are unhealthy", "cutUnhealthy"},
		{documented, "3 AWS NLB", "allUnhealthy"},
		{documented, "4 AWS NLB: 5-tuple and TCP sequence number", "hash"},
		{inferred, "3: nothing answers", "noTarget"},
		{inferred, "docs/model/kube-proxy.md 3: reject through a load balancer", "icmpFiltered"},
		{inferred, "4: health checks, no announcement", "announce"},
	}
}

func nlbPresets() []presetRow {
	lb, claims := nlb()
	lb.Target, lb.Members = world.TargetPods, world.MembersReadyPods
	lb.Check = world.HealthCheck{Probe: world.ProbePod, Interval: 10 * engine.Second, Timeout: 10 * engine.Second, Healthy: 3, Unhealthy: 3}
	rows := []presetRow{{
		id: "aws-nlb-ip", what: "AWS NLB, ip targets (AWS Load Balancer Controller)", lb: lb,
		claims: append(claims,
			claim{verified, "1 AWS NLB ip target: lbc pkg/service/model_builder.go", "target probe interval timeout healthy unhealthy"},
			claim{verified, "2 lbc, ip targets: pkg/backend/endpoint_resolver.go", "members nodesLeave"},
			claim{inferred, "2 lbc, ip targets: deregistered at once", "controller controllerHold"}),
	}}
	rows[0].claims = append(rows[0].claims, albGate(&rows[0].lb)...)
	rows = append(rows, both("aws-nlb-instance", "AWS NLB, instance targets (AWS Load Balancer Controller)", nlbInstance)...)
	return append(rows, both("aws-nlb-in-tree", "AWS NLB of the cloud provider, without the AWS Load Balancer Controller", nlbInTree)...)
}

// nlbNodes is an NLB with nodes as targets.
func nlbNodes(check world.HealthCheck, row string) (world.LoadBalancer, []claim) {
	lb, claims := nlb()
	lb.Target, lb.Members, lb.Check = world.TargetNodes, world.MembersAllNodes, check
	return lb, append(claims, claim{verified, row, "target probe interval timeout healthy unhealthy"})
}

func nlbInstance(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	check := world.HealthCheck{Probe: world.ProbeNodePort, Interval: 10 * engine.Second, Timeout: 10 * engine.Second, Healthy: 3, Unhealthy: 3}
	if policy == policyLocal {
		check = world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 10 * engine.Second, Timeout: 6 * engine.Second, Healthy: 2, Unhealthy: 2}
	}
	lb, claims := nlbNodes(check, "1 AWS NLB instance, "+string(policy)+": lbc pkg/service/model_builder.go")
	lb.NodesLeave = world.NodesNotReady
	return lb, append(claims,
		claim{verified, "2 lbc, instance targets: pkg/backend/endpoint_utils.go", "members nodesLeave"},
		claim{inferred, "2 lbc, instance targets: it watches nodes", "controller controllerHold"})
}

func nlbInTree(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	check := world.HealthCheck{Probe: world.ProbeNodePort, Interval: 30 * engine.Second, Timeout: 10 * engine.Second, Healthy: 3, Unhealthy: 3}
	if policy == policyLocal {
		check = world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 10 * engine.Second, Timeout: 10 * engine.Second, Healthy: 2, Unhealthy: 2}
	}
	lb, claims := nlbNodes(check, "1 AWS in-tree NLB, "+string(policy)+": cloud-provider-aws pkg/providers/v1")
	return lb, append(claims,
		claim{verified, "2 Service controller", "members nodesLeave"},
		claim{inferred, "2 Service controller: only nodes that come and go matter", "controller controllerHold"})
}

// awsPresets are AWS's other load balancers.
func awsPresets() []presetRow {
	return append(both("aws-classic", "AWS classic ELB of the cloud provider", classicELB), albPresets()...)
}

func classicELB(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim) {
	lb := world.LoadBalancer{
		Target: world.TargetNodes, Members: world.MembersAllNodes, Controller: watching(), Registration: otherOperation(), Propagation: otherOperation(),
		Check:        world.HealthCheck{Probe: world.ProbeNodePort, Interval: 10 * engine.Second, Timeout: 5 * engine.Second, Healthy: 2, Unhealthy: 6},
		CutUnhealthy: true, NoTarget: world.NoTargetRefused, Hash: world.HashRoundRobin, ICMPFiltered: true, Idle: engine.Minute,
	}
	if policy == policyLocal {
		lb.Check.Probe = world.ProbeHealthPort
	}
	return lb, []claim{
		{verified, "1 AWS classic ELB: cloud-provider-aws pkg/providers/v1; draining is off", "target probe interval timeout healthy unhealthy drain"},
		{verified, "2 Service controller", "members nodesLeave"},
		{inferred, "2 Service controller: only nodes that come and go matter", "controller controllerHold"},
		{inferred, "not in docs/model: some seconds", "registration propagation"},
		{inferred, "2: what checks find takes effect at once", "healthPropagation"},
		{documented, "4 Classic ELB: requests are finished only where draining is on", "cutUnhealthy"},
		{recalled, "3 Classic ELB: 503 or no connection", "allUnhealthy noTarget"},
		{documented, "4 Classic ELB: TCP in turn", "hash"},
		{recalled, "not in docs/model: idle timeout 60 s", "idle idleEnds"},
		{inferred, "docs/model/kube-proxy.md 3: reject through a load balancer", "icmpFiltered"},
		{inferred, "4: health checks, no announcement", "announce"},
	}
}

func albPresets() []presetRow {
	lb := world.LoadBalancer{
		Controller: watching(), Registration: albOperation(), Propagation: albOperation(), Reported: albReports(),
		Check: world.HealthCheck{Interval: 15 * engine.Second, Timeout: 5 * engine.Second, Healthy: 2, Unhealthy: 2},
		Drain: 300 * engine.Second, FailOpen: true, InitialWaits: true, NoTarget: world.NoTarget503, Hash: world.HashRoundRobin, ICMPFiltered: true,
	}
	claims := []claim{
		{verified, "1 AWS ALB: lbc pkg/ingress/model_builder.go", "target probe interval timeout healthy unhealthy"},
		{verified, "2 lbc, ip targets: pkg/backend", "members nodesLeave"},
		{inferred, "2 lbc, ip targets: deregistered at once", "controller controllerHold"},
		{reported, "4 AWS ALB: 5-40 s for a change of the targets (issue texts)", "registration propagation"},
		{inferred, "2: what checks find takes effect at once; quay pull request 6871 hints at some seconds more", "healthPropagation"},
		{documented, "1 AWS ALB: 300 s deregistration delay", "drain"},
		{inferred, "4 AWS ALB: requests in flight continue", "cutUnhealthy"},
		{documented, "3 AWS ALB: fails open to unhealthy targets; initial ones get nothing (issue texts)", "allUnhealthy"},
		{recalled, "4 AWS ALB: 502, 503 and 504", "noTarget"},
		{documented, "4 AWS ALB: requests in turn", "hash"},
		{inferred, "a proxy has a connection of its own", "icmpFiltered"},
		{inferred, "4: health checks, no announcement", "announce"},
		{recalled, "not in docs/model: requests are not repeated", "retries retryOn"},
		{recalled, "4 AWS ALB: 504 on a connect timeout; of 10 s", "connectTimeout"},
		{documented, "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html: idle timeout 60 s, to targets, too", "upstreamIdle"},
		{inferred, "it is a provider's", "ingress"},
	}
	ip, instance := lb, lb
	ip.Layer7 = &world.Layer7{ConnectTimeout: 10 * engine.Second, UpstreamIdle: engine.Minute}
	instance.Layer7 = &world.Layer7{ConnectTimeout: 10 * engine.Second, UpstreamIdle: engine.Minute}
	ip.Target, ip.Members, ip.Check.Probe = world.TargetPods, world.MembersReadyPods, world.ProbePod
	gates := albGate(&ip)
	instance.Target, instance.Members, instance.Check.Probe = world.TargetNodes, world.MembersAllNodes, world.ProbeNodePort
	instance.NodesLeave = world.NodesNotReady
	return []presetRow{
		{id: "aws-alb-ip", what: "AWS ALB, ip targets", lb: ip, claims: slices.Concat(claims, gates)},
		{id: "aws-alb-instance", what: "AWS ALB, instance targets", lb: instance, claims: claims},
	}
}
