package facts

// Where load balancers are: their numbers, and what follows from them.
const (
	presetTests = "sim/scenario: TestPresets TestPresetsHaveTheNumbersOfTheFacts; sim/balancer: TestDetectionOfEveryPreset TestDrainingOfEveryPreset"
	gkePreset   = "sim/scenario/preset_gke.go"
	awsPreset   = "sim/scenario/preset_aws.go"
	otherPreset = "sim/scenario/preset_other.go"
	balancer    = "sim/balancer/balancer.go"
	nodesGo     = "sim/nodes.go"
	leaves      = " TestNodesThatLeave; sim: TestWhenALoadBalancerLeavesANode"
	checks      = "sim/balancer/check.go"
	picks       = "sim/balancer/pick.go"
	membership  = "sim/balancer: TestMembership"
	twoStages   = "sim: TestARolloutBehindAController TestAnAppsPodEndsBehindAController"
	nobodyWell  = "sim/balancer: TestWithoutAHealthyMember; sim: TestAllUnhealthy"
	drains      = "sim/balancer: TestDrainingOfEveryPreset TestComingBack; sim: TestDrainCutsWhatTakesLonger TestDrainCutsSharedConnections"
)

var balancerRows = []row{
	{"load-balancers 1 GKE L4 (subsetting), Local", "3 s, 2 failures; drains 30 s", gkePreset, presetTests},
	{"load-balancers 1 GKE L4 (subsetting), Cluster", "the service proxy's health, 8 s, 3 failures; drains 30 s", gkePreset, presetTests},
	{"load-balancers 1 GKE legacy external", "8 s, 3 failures; no draining", gkePreset, presetTests},
	{"load-balancers 1 GKE legacy internal", "8 s, 3 failures; no draining", gkePreset, presetTests},
	{"load-balancers 1 AWS NLB ip target", "pods, 10 s, 3 failures", awsPreset, presetTests},
	{"load-balancers 1 AWS NLB instance, Cluster", "node ports, 10 s, 3 failures", awsPreset, presetTests},
	{"load-balancers 1 AWS NLB instance, Local", "health ports, 10 s, 2 failures", awsPreset, presetTests},
	{"load-balancers 1 AWS classic ELB", "10 s, 6 failures; no draining", awsPreset, presetTests},
	{"load-balancers 1 AWS in-tree NLB, Cluster", "node ports, 30 s, 3 failures", awsPreset, presetTests},
	{"load-balancers 1 AWS in-tree NLB, Local", "health ports, 10 s, 2 failures", awsPreset, presetTests},
	{"load-balancers 1 Azure Standard LB, Local", "health ports, 5 s, 2 failures", otherPreset, presetTests},
	{"load-balancers 1 Azure Standard LB, Cluster", "node ports, 5 s, 2 failures", otherPreset, presetTests},
	{"load-balancers 1 MetalLB", "no checks", otherPreset, presetTests},
	{"load-balancers 1 cloud-provider-kind", "2 s, 2 failures", otherPreset, presetTests},

	{"load-balancers 2 Service controller", "every node is a member, whatever the endpoints, until its object is deleted; the taint is no reason to look", nodesGo, membership + leaves},
	{"load-balancers 2 GKE subsetting Local", "nodes with an endpoint that does not terminate", balancer, membership + " TestRemoval"},
	{"load-balancers 2 GKE subsetting Cluster", "independent of pods", balancer, membership},
	{"load-balancers 2 lbc, instance targets", "nodes that are tainted or not ready leave", nodesGo, "sim: TestWhenALoadBalancerLeavesANode; sim/scenario: TestPresets"},
	{"load-balancers 2 lbc, ip targets", "ready pods that do not terminate", balancer, membership + "; sim: TestDeregistrationOfAPod"},
	{"load-balancers 2 Azure", "every node", balancer, membership},
	{"load-balancers 2 MetalLB", "nodes with an endpoint that is ready or serving; the lowest hash answers", balancer, membership + " TestAnnouncements"},
	{"load-balancers 2 MetalLB consequence", "announced until the last pod ceases to serve", balancer, membership},
	{"load-balancers 2 cloud-provider-kind", "every node", balancer, membership},

	{"load-balancers 3 GCP internal passthrough", "fails open", picks, nobodyWell},
	{"load-balancers 3 GCP external passthrough", "fails open", picks, nobodyWell},
	{"load-balancers 3 AWS NLB", "fails open; zones do not matter", picks, nobodyWell},
	{"load-balancers 3 AWS ALB", "fails open to targets whose first checks are finished, and has none before", picks, "sim/balancer: TestATargetThatIsInitialGetsNothing TestFirstChecksAreUnrest; sim/scenario: TestPresets"},
	{"load-balancers 3 Classic ELB", "fails closed", picks, nobodyWell},
	{"load-balancers 3 Azure Standard", "no new flows", picks, nobodyWell},
	{"load-balancers 3 cloud-provider-kind", "fails closed", picks, nobodyWell},
	{"load-balancers 3 MetalLB", "nobody answers", picks, "sim/balancer: TestAnnouncements"},

	{"load-balancers 4 GCP passthrough", "by flow; connections outlive a node's health, and its removal by the drain", balancer, drains + "; sim/balancer: TestAFlowStaysWithItsMember"},
	{"load-balancers 4 AWS NLB", "resets connections to what is unhealthy; no end to draining", checks, drains + "; sim/balancer: TestDetectionOfEveryPreset"},
	{"load-balancers 4 AWS NLB registration", "minutes until the first checks", awsPreset, presetTests},
	{"load-balancers 4 AWS NLB measured", "115 to 145 s to be left, 110 and 300 s as other values; 30 to 40 s more to be found unhealthy", "sim/scenario/preset_reported.go", presetTests + "; sim/scenario: TestWhatIsOnlyReportedIsVariedOverItsRange"},
	{"load-balancers 4 AWS ALB", "requests in turn; 5 to 40 s for a change of the targets, both ends as other values", "sim/scenario/preset_reported.go", presetTests + "; sim/scenario: TestWhatIsOnlyReportedIsVariedOverItsRange"},
	{"load-balancers 4 Classic ELB", "cut at once without draining", balancer, drains},
	{"load-balancers 4 Azure Standard", "flows outlive health, and not removal", balancer, drains + "; sim/balancer: TestDetectionOfEveryPreset"},
	{"load-balancers 4 MetalLB L2", "one node answers; another one knows of no flow", picks, "sim/balancer: TestAnnouncements"},
	{"load-balancers 4 MetalLB BGP", "routers hash anew", picks, "sim/balancer: TestAnnouncements"},
	{"load-balancers 4 cloud-provider-kind", "each connection at random", picks, presetTests},

	{"load-balancers 5.1 Chart preStop", "/wait-shutdown sends SIGTERM and waits", "sim/scenario/program.go", "sim/scenario: TestHookOf"},
	{"load-balancers 5.1 On SIGTERM", "unready at once, the grace of its argument, 10 s more", "sim/scenario/profile.go", "sim/scenario: TestProfileByImageAndCommand"},
	{"load-balancers 5.1 worker-shutdown-timeout", "240 s", "sim/scenario/profile.go", "sim/scenario: TestProfileByImageAndCommand"},
	{"load-balancers 5.1 Upstream selection", "each pod asks ready endpoints that do not terminate, as it has heard of them", "sim/controllers.go", twoStages + "; " + membership},
	{"load-balancers 5.2 First action", "unready at once, drains 60 s", "sim/scenario/profile.go", "sim/scenario: TestProfileByLabelsAndVariables"},
	{"load-balancers 5.2 Backend endpoints", "pods that terminate or do not serve get nothing new; what is in flight goes on", balancer, membership + "; " + twoStages},
}
