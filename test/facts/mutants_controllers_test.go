package facts

var rolloutMutants = []mutant{
	{"maxSurge rounds down", []string{"controllers 2 maxSurge"}, "sim/world", "TestFencepostsOfAllSmallDeployments", []edit{
		{"sim/world/rollout.go", "scaled(maxSurge, replicas, true)", "scaled(maxSurge, replicas, false)"},
	}},
	{"maxUnavailable rounds up", []string{"controllers 2 maxUnavailable"}, "sim/world", "TestFencepostsOfAllSmallDeployments", []edit{
		{"sim/world/rollout.go", "scaled(maxUnavailable, replicas, false)", "scaled(maxUnavailable, replicas, true)"},
	}},
	{"both fenceposts may be 0", []string{"controllers 2 maxUnavailable"}, "sim/world", "TestFencepostsOfAllSmallDeployments", []edit{
		{"sim/world/rollout.go", "\tif surge == 0 && unavailable == 0 {\n\t\tunavailable = 1\n", "\tif surge == 0 && unavailable == 0 {\n\t\tunavailable = 0\n"},
	}},
	{"maxUnavailable exceeds the replicas", []string{"controllers 2 maxUnavailable"}, "sim/world", "TestFencepostsOfAllSmallDeployments", []edit{
		{"sim/world/rollout.go", "return surge, min(unavailable, replicas)", "return surge, unavailable"},
	}},
	{"surge is not counted in", []string{"controllers 2 Max total", "controllers 2.1"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "room := max(0, in.replicas+in.surge-in.total())", "room := max(0, in.replicas-in.total())"},
	}},
	{"a new ReplicaSet may exceed the replicas", []string{"controllers 2.1"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "min(room, in.replicas-in.newRS.Replicas)", "room"},
	}},
	{"the first ReplicaSet is created with nothing", []string{"controllers 2.1"}, cluster, "TestRollingUpdateStory|TestRolloutStories", []edit{
		{"sim/control/deployment.go", "\t\trs.Replicas = newSize(in)\n", ""},
	}},
	{"a new ReplicaSet begins with a pod without any surge", []string{"measured 1 new ReplicaSet"}, cluster, "TestRolloutStories", []edit{
		{"sim/control/deployment.go", "\t\trs.Replicas = newSize(in)\n", "\t\trs.Replicas = max(1, newSize(in))\n"},
	}},
	{"a restart changes nothing", []string{"controllers 2 Rollout restart"}, cluster, "TestRollingUpdateStory", []edit{
		{"sim/cluster/action.go", "d.Become(w.nextRevision(d.Workload)) })", "d.Become(d.Revision) })"},
	}},
	{"new pods that are not available are not counted", []string{"controllers 2.2", "controllers 2 minAvailable"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "in.total() - minAvailable - (in.newRS.Replicas - in.newRS.Available)", "in.total() - minAvailable"},
	}},
	{"unhealthy old pods are not cleaned up", []string{"controllers 2.2a"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "take := min(budget, rs.Replicas-rs.Available)", "take := min(0, budget, rs.Replicas-rs.Available)"},
	}},
	{"the clean-up exceeds its budget", []string{"controllers 2.2a"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "take := min(budget, rs.Replicas-rs.Available)", "take := rs.Replicas - rs.Available"},
	}},
	{"one pod too many is taken", []string{"controllers 2.2b"}, "sim/control", "TestRollingUpdateStep", []edit{
		{"sim/control/rollout.go", "allowed := in.available() - minAvailable", "allowed := in.available() - minAvailable + 1"},
	}},
	{"minReadySeconds from the nanosecond", []string{"measured 1 minReadySeconds"}, cluster, "TestMinReadySeconds", []edit{
		{"sim/control/rollout.go", "return readySince.TruncateToSecond() + minReady", "return readySince + minReady"},
	}},
	{"minReadySeconds is ignored", []string{"controllers 2 \"available\"", "controllers 3 Availability recheck"}, cluster, "TestMinReadySeconds", []edit{
		{"sim/control/rollout.go", "return readySince.TruncateToSecond() + minReady", "return readySince.TruncateToSecond() + minReady/1000"},
	}},
	{"nobody comes back when minReadySeconds are over", []string{"controllers 3 Availability recheck"}, cluster, "TestMinReadySeconds", []edit{
		{"sim/control/replicaset.go", "if s.next != api.Never {\n\t\tc.react.AddAt", "if s.next != api.Never && s.next < 0 {\n\t\tc.react.AddAt"},
	}},
	{"Recreate does not wait for terminating pods", []string{"controllers 2 Recreate"}, cluster, "TestRecreateWaits", []edit{
		{"sim/control/deployment.go", "p.Revision != d.Revision && !p.Phase.Terminal()", "p.Revision != d.Revision && !p.Deleting() && !p.Phase.Terminal()"},
	}},
	{"Recreate waits until the objects have gone", []string{"measured 1 Recreate"}, cluster, "TestRecreateWaits", []edit{
		{"sim/control/deployment.go", "p.Revision != d.Revision && !p.Phase.Terminal()", "p.Revision != d.Revision"},
	}},
	{"proportions round down", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRescale", []edit{
		{"sim/control/rollout.go", "return (2*a + b) / (2 * b)", "return a / b"},
	}},
	{"a new ReplicaSet is saturated before it is available", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRescale", []edit{
		{"sim/control/rollout.go", "n.Desired == in.replicas && n.Available == in.replicas {", "n.Desired == in.replicas {"},
	}},
	{"one old ReplicaSet stays where the new one is to have no pod", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRescale", []edit{
		{"sim/control/rollout.go", "func(rs *api.ReplicaSet) bool { return rs == n })\n\t\treturn", "func(rs *api.ReplicaSet) bool { return rs == active[len(active)-1] })\n\t\treturn"},
	}},
	{"more than what is left is shared out", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRescaleOfAllSmallDeployments", []edit{
		{"sim/control/rollout.go", "share = min(fraction(rs, in.replicas, allowed), left)", "share = fraction(rs, in.replicas, allowed)"},
	}},
	{"the clean-up takes no heed of another's", []string{"controllers 2.2a"}, "sim/control", "TestARollingUpdateTakesTheLargestStepAllowed", []edit{
		{"sim/control/rollout.go", "\t\tsize[i] -= take\n\t\tbudget -= take\n", "\t\tsize[i] -= take\n"},
	}},
	{"a small per cent of a StatefulSet takes none away", []string{"controllers 4 maxUnavailable"}, "sim/world", "TestMaxUnavailableOfAllSmallStatefulSets", []edit{
		{"sim/world/rollout.go", "return max(1, scaled(*maxUnavailable, replicas, false))", "return scaled(*maxUnavailable, replicas, false)"},
	}},
	{"what rounding leaves goes to the smallest", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRoundingGoesToTheLargest", []edit{
		{"sim/control/rollout.go", "out[0].size = max(0, out[0].size+left)", "out[len(out)-1].size = max(0, out[len(out)-1].size+left)"},
	}},
	{"the smallest is scaled first", []string{"controllers 2 Scaling during rollout"}, "sim/control", "TestRescale", []edit{
		{"sim/control/rollout.go", "return b.Replicas - a.Replicas", "return a.Replicas - b.Replicas"},
	}},
	{"a paused Deployment goes on", []string{"controllers 2 Paused"}, cluster, "TestRolloutStories|TestPaused", []edit{
		{"sim/control/deployment.go", "case d.Paused || scaling(in):", "case scaling(in):"},
	}},
}

var replicaSetMutants = []mutant{
	{"a webhook that does not answer is passed over", []string{"controllers 3 Webhooks"}, cluster, "TestAWebhookThatDoesNotAnswerKeepsPodsFromBeingMade", []edit{
		{"sim/control/replicaset.go", "if c.d.Vetoed != nil && c.d.Vetoed() {", "if c.d.Vetoed != nil && left < 0 {"},
	}},
	{"nobody tries again when a webhook answers", []string{"controllers 3 Webhooks"}, cluster, "TestAWebhookThatDoesNotAnswerKeepsPodsFromBeingMade", []edit{
		{"sim/cluster/usable.go", "w.sets.Readmit()", "w.sets.Refused(workload)"},
	}},
	{"terminating pods count", []string{"controllers 3 Active pods", "controllers 3 Replacement", "controllers 2 Terminating pods", "controllers 2 spec.podReplacementPolicy", "measured 2 pod deletionTimestamp -> replacement"}, cluster, "TestReplacement", []edit{
		{"sim/api/objects.go", "return p.DeletedAt == Never && !p.Phase.Terminal()", "return !p.Phase.Terminal()"},
	}},
	{"a missing pod is created again before the watch shows it", []string{"controllers 3 Replacement"}, cluster, "TestReplacement", []edit{
		{"sim/control/replicaset.go", "case !e.met() || diff == 0:", "case diff == 0:"},
	}},
	{"batches grow by one", []string{"controllers 3 Create"}, cluster, "TestSlowStart", []edit{
		{"sim/control/replicaset.go", "c.createBatch(id, left-n, 2*size, done)", "c.createBatch(id, left-n, size+1, done)"},
	}},
	{"pods are deleted by slow start, too", []string{"controllers 3 Delete"}, cluster, "TestRateLimit", []edit{
		{"sim/control/replicaset.go", "c.deletePods(id, s.active, min(-diff, burstReplicas), status)", "c.deletePods(id, s.active, 1, status)"},
	}},
	{"50 requests a second", []string{"controllers 9.2 Controller client QPS", "measured 1 client QPS"}, cluster, "TestRateLimit", []edit{
		{"sim/control/replicaset.go", "controllerQPS   = 20", "controllerQPS   = 50"},
	}},
	{"bursts of 20", []string{"controllers 9.2 Controller client QPS", "measured 1 client QPS"}, cluster, "TestRateLimit", []edit{
		{"sim/control/replicaset.go", "controllerBurst = 30", "controllerBurst = 20"},
	}},
	{"terminating pods are not reported", []string{"measured 1 terminatingReplicas", "controllers 2 status.terminatingReplicas"}, cluster, "TestEverythingSettles|TestTerminatingReplicas", []edit{
		{"sim/api/podlist.go", "if p.Deleting() && !p.Phase.Terminal() {\n\t\t\tn++", "if p.Deleting() && p.Phase.Terminal() {\n\t\t\tn++"},
	}},
}

// The order in which a ReplicaSet deletes.
var rankingMutants = []mutant{
	{"unbound pods are no special victims", []string{"controllers 3.1"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "\t\tboolFirst(x.Node < 0, y.Node < 0),\n", ""},
	}},
	{"the phase does not matter", []string{"controllers 3.2"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "\t\tcmp.Compare(phaseRank(x.Phase), phaseRank(y.Phase)),\n", ""},
	}},
	{"readiness does not matter", []string{"controllers 3.3"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "\t\tboolFirst(!x.Ready, !y.Ready),\n", ""},
	}},
	{"the dearest goes first", []string{"controllers 3.4"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "cmp.Compare(x.DeletionCost, y.DeletionCost)", "cmp.Compare(y.DeletionCost, x.DeletionCost)"},
	}},
	{"the loneliest goes first", []string{"controllers 3.5"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "cmp.Compare(b.rank, a.rank)", "cmp.Compare(a.rank, b.rank)"},
	}},
	{"only the own revision counts on a node", []string{"controllers 3.5", "measured 1 rule 5"}, "sim/control", "TestRankCountsAllRevisions", []edit{
		{"sim/control/replicaset.go", "if other.Workload == id.Workload && !bare {", "if other == id && !bare {"},
	}},
	{"ages are compared exactly", []string{"controllers 3.6"}, "sim/control", "TestVictims|TestLogAge", []edit{
		{"sim/control/ranking.go", "return bits.Len64(uint64(age)) - 1", "return bits.Len64(uint64(age)) - 1 + int(age)"},
	}},
	{"the longest ready goes first", []string{"controllers 3.6"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "cmp.Compare(a.log, b.log)", "cmp.Compare(b.log, a.log)"},
	}},
	{"the higher UID goes first", []string{"controllers 3.6"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "return cmp.Compare(uidA, uidB)", "return cmp.Compare(uidB, uidA)"},
	}},
	{"UIDs decide between equal times", []string{"measured 1 UID tie-break"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "\tif a.second == b.second {\n\t\treturn 0\n\t}\n", ""},
	}},
	{"who restarted least goes first", []string{"controllers 3.7"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "cmp.Compare(y.Restarts, x.Restarts)", "cmp.Compare(x.Restarts, y.Restarts)"},
	}},
	{"creation does not matter", []string{"controllers 3.8"}, "sim/control", "TestVictims", []edit{
		{"sim/control/ranking.go", "return compareAges(a.created, b.created, x.UID, y.UID)", "return 0"},
	}},
}

var sliceMutants = []mutant{
	{"a terminating pod is ready while it serves", []string{"controllers 9.1 Ready, deleting"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "if publishNotReady || p.Ready && !p.Deleting() {", "if publishNotReady || p.Ready {"},
	}},
	{"a terminating pod does not serve", []string{"controllers 9.1 Ready, deleting"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "\tif p.Ready {\n\t\tc |= endpoints.Serving", "\tif p.Ready && !p.Deleting() {\n\t\tc |= endpoints.Serving"},
	}},
	{"a ready pod is not", []string{"controllers 9.1 Ready"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "if publishNotReady || p.Ready && !p.Deleting() {", "if publishNotReady {"},
	}},
	{"what is not ready serves", []string{"controllers 9.1 not Ready", "controllers 9.1 not Ready, deleting"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "\tif p.Ready {\n\t\tc |= endpoints.Serving", "\tif p != nil {\n\t\tc |= endpoints.Serving"},
	}},
	{"slices of 1.19 to 1.21 have no terminating pod, published or not", []string{"controllers 9.1 publishNotReadyAddresses", "kube-proxy 11 EndpointSliceTerminatingCondition"}, "endpoints", "TestSlicesOfAnOldVersionListNoTerminatingEndpoint", []edit{
		{"endpoints/decision.go", "c.Terminating() && !c.Ready()", "c.Terminating()"},
	}},
	{"publishNotReadyAddresses does nothing", []string{"controllers 9.1 publishNotReadyAddresses"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "if publishNotReady || p.Ready && !p.Deleting() {", "if p.Ready && !p.Deleting() {"},
	}},
	{"pods without an address are in", []string{"controllers 9.1 In:"}, cluster, "TestEndpointConditions", []edit{
		{"sim/endpointslice/endpoint.go", "!p.IP.IsValid() || ", ""},
	}},
	{"pods stay in after their terminal phase", []string{"controllers 9.1 Out:", "controllers 9.1 A terminating pod"}, cluster, "TestEndpointConditions|TestEndpointPath", []edit{
		{"sim/endpointslice/endpoint.go", " || p.Phase.Terminal() {\n\t\treturn State{}, false", " {\n\t\treturn State{}, false"},
	}},
	{"terminating pods leave", []string{"controllers 9.1 A terminating pod"}, cluster, "TestEndpointConditions|TestEndpointPath", []edit{
		{"sim/endpointslice/endpoint.go", "!p.IP.IsValid() || ", "p.Deleting() || !p.IP.IsValid() || "},
	}},
	{"a readiness change is nothing", []string{"controllers 9.2 Relevant pod changes"}, cluster, "TestEverythingSettles", []edit{
		{"sim/endpointslice/controller.go", "old.Ready != p.Ready ||", "old.Ready && p.Ready && false ||"},
	}},
	{"the slice controller waits half a second", []string{"controllers 9.2 Batch period"}, cluster, "TestEndpointPath|TestStaleCache", []edit{
		{"sim/endpointslice/controller.go", "c.react.Add(s)\n\t\t}", "c.react.AddAt(c.d.Engine.Now()+engine.Second/2, s)\n\t\t}"},
	}},
	{"no stale cache", []string{"controllers 9.2 Stale cache", "measured 1 stale cache", "propagation 1.3b"}, cluster, "TestStaleCache", []edit{
		{"sim/endpointslice/controller.go", "if c.inFlight[service] > 0 {", "if c.inFlight[service] > 1000 {"},
	}},
	{"the stale cache's back-off is 100 ms", []string{"controllers 9.2 Stale cache", "controllers 9.2 Failure back-off"}, "sim/endpointslice", "TestBackOffOfAStaleCache", []edit{
		{"sim/endpointslice/controller.go", "staleBackoff   = engine.Second", "staleBackoff   = engine.Second / 10"},
	}},
	{"the stale cache's back-off does not double", []string{"controllers 9.2 Failure back-off"}, "sim/endpointslice", "TestBackOffOfAStaleCache", []edit{
		{"sim/endpointslice/controller.go", "max(staleBackoff, 2*c.backoff[service])", "staleBackoff"},
	}},
	{"a pod without the named port is an endpoint", []string{"controllers 9.3 Named ports"}, "sim/world", "TestPodsWithoutAPort", []edit{
		{"sim/world/workload.go", "\treturn !without\n", "\treturn !without || true\n"},
	}},
	{"slices of 1000", []string{"controllers 9.3"}, "sim/endpointslice", "TestPacking", []edit{
		{"sim/endpointslice/pack.go", "const MaxEndpoints = 100", "const MaxEndpoints = 1000"},
	}},
	{"the loosest fit", []string{"controllers 9.3"}, "sim/endpointslice", "TestPacking", []edit{
		{"sim/endpointslice/pack.go", "room >= 0 && room < closest {", "room >= 0 && (best < 0 || room > closest) {"},
	}},
	{"the emptiest is filled first", []string{"controllers 9.3"}, "sim/endpointslice", "TestPacking", []edit{
		{"sim/endpointslice/pack.go", "return counts[b] - counts[a]", "return counts[a] - counts[b]"},
	}},
	{"what changes anyway is not filled first", []string{"controllers 9.3"}, "sim/endpointslice", "TestPacking", []edit{
		{"sim/endpointslice/pack.go", "\tfor _, n := range changing {\n\t\tfill(n)\n\t}\n", "\t_ = changing\n"},
	}},
	{"every slice is written each time", []string{"controllers 9.3"}, "sim/endpointslice", "TestPacking", []edit{
		{"sim/endpointslice/pack.go", "if a.unhinted() != b.unhinted() {", "if a.unhinted() != b.unhinted() || a.Slice >= 0 {"},
	}},
}

// Hints of each endpoint.
var hintMutants = []mutant{
	{"nobody is hinted for a zone", []string{"controllers 9.4 trafficDistribution"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "return Hint{Zone: nodes[node].Zone}\n", "return Hint{Zone: nodes[0].Zone}\n"},
	}},
	{"PreferClose is unknown", []string{"controllers 9.4 trafficDistribution"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/hints.go", "case d == corev1.ServiceTrafficDistributionPreferClose:", "case d == \"preferClose\":"},
	}},
	{"node hints without zone hints", []string{"controllers 9.4 PreferSameNode"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "return Hint{Zone: nodes[node].Zone, Node: true}", "return Hint{Node: true}"},
	}},
	{"PreferSameNode is PreferSameZone", []string{"controllers 9.4 PreferSameNode"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "return Hint{Zone: nodes[node].Zone, Node: true}", "return Hint{Zone: nodes[node].Zone}"},
	}},
	{"PreferSameZone from the beginning", []string{"controllers 9.4 Gate"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/hints.go", "corev1.ServiceTrafficDistributionPreferSameZone && k.Options.NodeHints", "corev1.ServiceTrafficDistributionPreferSameZone"},
	}},
	{"terminating endpoints keep their hints", []string{"controllers 9.4 Non-ready"}, cluster, "TestHintsFollowReadiness|TestZoneWithoutAPodUsesAll", []edit{
		{"sim/endpointslice/endpoint.go", "\tif e.Conditions.Ready() {\n", "\tif e.Conditions.Serving() {\n"},
	}},
	{"endpoints that are not ready are hinted", []string{"controllers 9.4 Non-ready"}, cluster, "TestHintsFollowReadiness", []edit{
		{"sim/endpointslice/endpoint.go", "\tif e.Conditions.Ready() {\n", "\tif e.Conditions.Ready() || !e.Conditions.Terminating() {\n"},
	}},
	{"the field goes before the annotation", []string{"controllers 9.4 Annotation"}, "sim/world", "TestHintModeOf", []edit{
		{"sim/world/hints.go", `case mode == "Auto" || mode == "auto":`, `case svc.Spec.TrafficDistribution == nil && (mode == "Auto" || mode == "auto"):`},
	}},
	{"the newer annotation goes first", []string{"controllers 9.4 Annotation"}, "sim/world", "TestHintModeOf", []edit{
		{"sim/world/hints.go", "\tif !set {\n", "\tif _, newer := svc.Annotations[corev1.AnnotationTopologyMode]; !set || newer {\n"},
	}},
	{"annotations count before hints were on", []string{"controllers 9.4 Annotation"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/hints.go", "if k.Options.ZoneHints {", "if mode != \"\" {"},
	}},
}

// Hints in proportion to CPU.
var shareMutants = []mutant{
	{"nodes count alike, whatever their CPU", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "cpu[n.Zone] += milli", "cpu[n.Zone]++"},
	}},
	{"one zone is enough", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "if len(cpu) < 2 {", "if len(cpu) < 1 {"},
	}},
	{"nodes without a zone are passed over", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "\t\tif n.Zone == \"\" || milli == 0 {\n", "\t\tif n.Zone == \"\" {\n\t\t\tcontinue\n\t\t}\n\t\tif milli == 0 {\n"},
	}},
	{"endpoints without a zone are passed over", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", `if nodes[want[i].Node].Zone == "" {`, "if want[i].Node < 0 {"},
	}},
	{"the control plane counts", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/node.go", `[]string{"node-role.kubernetes.io/control-plane", `, `[]string{`},
	}},
	{"nodes that are not ready count", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/world/node.go", "return c.Status == corev1.ConditionTrue", "return c.Status != \"\""},
	}},
	{"no overload at all", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "(exact*10 + endpoint*12 - 1) / (endpoint * 12)", "(exact + endpoint - 1) / endpoint"},
	}},
	{"least numbers round down", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "(exact*10 + endpoint*12 - 1) / (endpoint * 12)", "exact * 10 / (endpoint * 12)"},
	}},
	{"least numbers may be more than there is", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "return zones, endpoint, left >= 0", "return zones, endpoint, true"},
	}},
	{"endpoints move for any difference", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "if 2*over[from] < endpoint || 2*lack[to] < endpoint || over[from] < endpoint && lack[to] < endpoint {", "if over[from] <= 0 || lack[to] <= 0 {"},
	}},
	{"endpoints move for two halves", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", " || over[from] < endpoint && lack[to] < endpoint {", " {"},
	}},
	{"nothing moves", []string{"controllers 9.4 Auto"}, cluster, "TestHintsOfEachEndpoint", []edit{
		{"sim/endpointslice/hints.go", "if from >= 0 && give[from] > 0 {", "if from < 0 && to < 0 {"},
	}},
	{"slices whose hints do not fit stay", []string{"controllers 9.4 Auto"}, cluster, "TestSharesReachIntoOtherSlices", []edit{
		{"sim/endpointslice/hints.go", "if !fits {", "if !fits && n < 0 {"},
	}},
	{"slices that are not written keep hints when there are none", []string{"controllers 9.4 Auto"}, cluster, "TestSharesReachIntoOtherSlices", []edit{
		{"sim/endpointslice/hints.go", "\t\twant[i].Hint = Hint{}\n\t\tif at, found := slices.BinarySearch(out, want[i].Slice); !found {", "\t\twant[i].Hint = Hint{}\n\t\tif at, found := slices.BinarySearch(out, want[i].Slice); !found && at < 0 {"},
	}},
}

var proxyMutants = []mutant{
	{"the interval counts from the beginning of a sync", []string{"kube-proxy 6", "propagation 1.5"}, cluster, "TestNodeProxy", []edit{
		{"proxier/pace/state.go", "s.Synced, s.LastEnd, s.Failed, s.Took = true, now, failed, now-s.began", "s.Synced, s.LastEnd, s.Failed, s.Took = true, s.began, failed, now-s.began"},
	}},
	{"a sync programs what comes while it runs", []string{"kube-proxy 6", "propagation 1.6"}, cluster, "TestNodeProxy", []edit{
		{"sim/nodeproxy/proxy.go", "p.installed, p.syncing = p.syncing, nil", "p.installed, p.syncing = p.received, nil"},
	}},
	{"an idle proxy waits", []string{"kube-proxy 6", "propagation 1.5"}, cluster, "TestNodeProxy", []edit{
		{"sim/nodeproxy/proxy.go", "at, _, never := p.Pace.Next(p.state)\n", "at, _, never := p.Pace.Next(p.state)\n\tat = max(at, p.eng.Now().Duration()+p.Pace.MinInterval)\n"},
	}},
	{"no minimum interval", []string{"kube-proxy 6"}, "proxier/pace", "TestNext", []edit{
		{"proxier/pace/pace.go", "earliest := s.LastEnd + p.MinInterval\n\tif p.Burst == 0 {", "earliest := s.LastEnd\n\tif p.Burst == 0 {"},
	}},
	{"two syncs may follow each other from 1.34 on", []string{"kube-proxy 6"}, "endpoints", "TestDefaultsOfEachVersion", []edit{
		{"endpoints/version.go", "On: 34, Source: \"pkg/proxy/runner", "On: 37, Source: \"pkg/proxy/runner"},
	}},
	{"the simulated proxy has no token bucket up to 1.33", []string{"kube-proxy 6"}, "sim", "TestTwoSyncsFollowEachOtherUpTo133", []edit{
		{nodeProxy, "Burst: pace.BurstOf(s.Options.HoldAfterSync),", "Burst: pace.BurstOf(true),"},
	}},
	{"the real proxy has no token bucket up to 1.33", []string{"kube-proxy 6"}, "cmd/lameduck/internal/cli", "TestTheRunnerOfAnOldVersion", []edit{
		{proxyConfig + "/node.go", "p.Burst = pace.BurstOf(o.HoldAfterSync)", "p.Burst = pace.BurstOf(true)"},
	}},
	{"syncs for other Services do not hold the next one back", []string{"kube-proxy 6"}, cluster, "TestAProxySyncsForOtherServicesAsForItsOwn|TestASingleDeletionWaitsWhereOtherServicesChange", []edit{
		{"sim/nodeproxy/churn.go", "\tp.state.End(at.Duration(), true, false)\n", "\tat0 := p.state.LastEnd\n\tp.state.End(at.Duration(), true, false)\n\tp.state.LastEnd = at0\n"},
	}},
	{"other Services change while the API server is away", []string{"propagation 1.1"}, cluster, "TestOtherServicesAndFaults", []edit{
		{"sim/nodeproxy/churn.go", "if at >= o.from && at < o.to {", "if at >= o.from && at < o.from {"},
	}},
	{"three tokens", []string{"kube-proxy 6"}, "proxier/pace", "TestWhatTheRunnersMakeOfTwoChangesInARow", []edit{
		{"proxier/pace/pace.go", "const EarlierBurst = 2", "const EarlierBurst = 3"},
	}},
	{"a token comes back an interval after the sync's end", []string{"kube-proxy 6"}, "proxier/pace", "TestWhatTheRunnersMakeOfTwoChangesInARow", []edit{
		{"proxier/pace/pace.go", "max(s.Asked, s.LastEnd), s.Full-time.Duration", "max(s.Asked, s.LastEnd), s.LastEnd+p.MinInterval+0*time.Duration"},
	}},
	{"who found no token does not ask again at the next change", []string{"kube-proxy 6"}, "proxier/pace", "TestWhatTheRunnersMakeOfTwoChangesInARow|TestTheTokenBucketIsThatOfTheEarlierRunner", []edit{
		{"proxier/pace/state.go", "{ s.Pending, s.Asked = true, now }", "{\n\tif !s.Pending {\n\t\ts.Pending, s.Asked = true, now\n\t}\n}"},
	}},
	{"a failed sync is retried at once", []string{"kube-proxy 6"}, "proxier/pace", "TestNext", []edit{
		{"proxier/pace/pace.go", "at = max(earliest, s.LastEnd+p.retry(s.Failures))", "at = earliest"},
	}},
	{"a failed sync is retried in part", []string{"kube-proxy 6"}, "proxier/pace", "TestNext", []edit{
		{"proxier/pace/pace.go", "return at, s.Failed || hasFull && at >= fullAt, false", "return at, hasFull && at >= fullAt, false"},
	}},
	{"the real proxy writes rules before everything is listed", []string{"kube-proxy 6"}, "proxier", "TestNothingIsProgrammedBeforeAllIsDelivered", []edit{
		{loop, "if !o.synced || o.node == nil {", "if o.node == nil {"},
	}},
	{"the real proxy keeps its rules when its node is another", []string{"kube-proxy 6"}, "proxier", "TestAnotherNodeMeansOtherRules", []edit{
		{loop, "o.node, o.rebuild = &node, true", "o.node, o.rebuild = &node, o.plan == nil"},
	}},
	{"the real proxy answers probes before its rules are in force", []string{"kube-proxy 5.1 Update moment"}, "proxier", "TestProbesHearOfAChangeAfterTheRules", []edit{
		{loop, "\to.syncing = s\n", "\to.syncing, o.status.Table = s, o.table\n\to.show()\n"},
	}},
	{"the real proxy is healthy while a sync hangs", []string{"kube-proxy 5.2 /livez"}, "proxier", "TestAProxyThatHangsIsUnhealthy", []edit{
		{loop, "o.status.Proxy = o.status.Proxy.Queued(f, since)", "o.status.Proxy = o.status.Proxy.Updated(f, s.End)"},
	}},
	{"the real clean-up follows policies", []string{"kube-proxy 7 UDP: after"}, "proxier/conntrack", "TestWhichFlowsAreStale", []edit{
		{cleanUp, "if serves(&sp.Endpoints[i]) {", "if serves(&sp.Endpoints[i]) && sp.Endpoints[i].IsLocal(j.now.Node().Name) {"},
	}},
	{"the real clean-up moves flows away from pods that terminate", []string{"kube-proxy 7 UDP flows"}, "proxier/conntrack", "TestWhichFlowsAreStale|TestWhenItIsWorthLooking", []edit{
		{cleanUp, "return e.Conditions.Ready() || e.Conditions.Serving()", "return e.Conditions.Ready()"},
	}},
	{"the real clean-up does not look when an endpoint stops serving", []string{"kube-proxy 7 UDP: after"}, "proxier/conntrack", "TestWhenItIsWorthLooking", []edit{
		{cleanUp, "\t\tif !serving[old.Endpoints[i].Addr] {", "\t\tif !serving[old.Endpoints[i].Addr] && len(serving) == 0 {"},
	}},
	{"news may overtake news", []string{"propagation 1.2", "propagation 1.4"}, cluster, "TestWatchKeepsTheOrder", []edit{
		{"sim/api/store.go", "at := max(w.last, s.eng.Now().Add(w.latency.Sample(n.draw)))", "at := s.eng.Now().Add(w.latency.Sample(n.draw))"},
	}},
	{"watches have no delay", []string{"propagation 1.2", "propagation 1.4"}, cluster, "TestWatch|TestOutageAndPause", []edit{
		{"sim/api/store.go", "at := max(w.last, s.eng.Now().Add(w.latency.Sample(n.draw)))", "at := max(w.last, s.eng.Now())"},
	}},
	{"writes have no delay", []string{"propagation 1.1"}, cluster, "TestSlowStart", []edit{
		{"sim/api/store.go", "s.eng.AfterWith(r.delay, engine.ClassDelivery,", "s.eng.AfterWith(0*r.delay, engine.ClassDelivery,"},
	}},
	{"traffic from outside keeps its source under policy Cluster", []string{"kube-proxy 4 outside -> nodePort"}, "proxier/memory", "TestConformance", []edit{
		{routes, "r.List, r.Masquerade = endpoints.ClusterList, true", "r.List, r.Masquerade = endpoints.ClusterList, false"},
	}},
	{"no short-circuit", []string{"kube-proxy 3 same, from a pod", "kube-proxy 4 pod on this node", "kube-proxy 4 node itself"}, "proxier/memory", "TestConformance", []edit{
		{routes, "r.List, r.Why, r.Masquerade = endpoints.ClusterList, ShortCircuit,", "r.List, r.Why, r.Masquerade = endpoints.LocalList, ShortCircuit,"},
	}},
	{"the node's own traffic keeps its source", []string{"kube-proxy 4 node itself"}, "proxier/memory", "TestConformance", []edit{
		{routes, "ShortCircuit, source == FromNode", "ShortCircuit, false"},
	}},
	{"pods are masqueraded on their way to a ClusterIP", []string{"kube-proxy 4 pod/node -> ClusterIP"}, "proxier/memory", "TestConformance", []edit{
		{routes, "p.node.Detector.Implemented(p.sp.Family) && source != FromPod", "p.node.Detector.Implemented(p.sp.Family)"},
	}},
	{"traffic from outside loses its source under policy Local", []string{"kube-proxy 4 outside -> same"}, "proxier/memory", "TestConformance", []edit{
		{routes, "case source == FromOutside:\n\t\tr.List = endpoints.LocalList", "case source == FromOutside:\n\t\tr.List, r.Masquerade = endpoints.LocalList, true"},
	}},
	{"minSyncPeriod 10 s", []string{"kube-proxy 6 iptables", "kube-proxy 6 nftables"}, "proxier/pace", "TestDefault", []edit{
		{"proxier/pace/pace.go", "Policy{MinInterval: time.Second,", "Policy{MinInterval: 10 * time.Second,"},
	}},
	{"Services without endpoints drop", []string{"kube-proxy 3 ClusterIP:port, internal Cluster", "kube-proxy 3 external IP / LB VIP / nodePort, external Cluster"}, "proxier/memory", "TestConformance", []edit{
		{routes, "return Route{Action: Reject, Why: NoEndpoints", "return Route{Action: Drop, Why: NoEndpoints"},
	}},
	{"policy Local rejects when all are elsewhere", []string{"kube-proxy 3 ClusterIP:port, internal Local", "kube-proxy 3 external IP / LB VIP / nodePort, external Local"}, "proxier/memory", "TestConformance", []edit{
		{routes, "return Route{Action: Drop, Why: why", "return Route{Action: Reject, Why: why"},
	}},
	{"source ranges admit everybody", []string{"kube-proxy 3 LB VIP, source"}, "proxier/memory", "TestConformance", []edit{
		{evaluate, "if vip == nil || vip.Admits(e.packet.Src.Addr()) {", "if vip == nil || vip.Key.Port > 0 {"},
	}},
	{"source ranges without endpoints in iptables mode", []string{"kube-proxy 3 LB VIP, source"}, "proxier/plan", "TestAllowedSources", []edit{
		{routes, "len(ranges) == 0 || p.node.Dialect == IPTables && !p.hasAny", "len(ranges) == 0"},
	}},
	{"source ranges on node ports", []string{"kube-proxy 3 nodePort"}, "proxier/memory", "TestConformance", []edit{
		{routes, "dst = append(dst, p.frontend(NodePort, NodePortKey(sp.Family, sp.Name.Protocol, sp.NodePort)))",
			"f := p.frontend(NodePort, NodePortKey(sp.Family, sp.Name.Protocol, sp.NodePort))\n\t\tf.Allowed = p.allowed()\n\t\tdst = append(dst, f)"},
		{evaluate, "\tcase e.firewall(vip):\n", "\tcase e.firewall(vip):\n\tcase e.firewall(nodePort):\n"},
	}},
	{"other ports of a ClusterIP are left alone", []string{"kube-proxy 3 ClusterIP, port"}, "proxier/memory", "TestConformance", []edit{
		{evaluate, "case p.IsClusterIP(dst):", "case false && p.IsClusterIP(dst):"},
	}},
	{"unallocated ClusterIPs are rejected", []string{"kube-proxy 3 Unallocated IP"}, "proxier/memory", "TestConformance", []edit{
		{evaluate, "e.settle(packet.Drop, stageServiceCIDR, nil, nil)", "e.settle(packet.Reject, stageServiceCIDR, nil, nil)"},
	}},
	{"no rule accepts health checks in iptables mode", []string{"kube-proxy 3 healthCheckNodePort"}, "proxier/memory", "TestConformance", []edit{
		{evaluate, "if e.hooks&plan.Input == 0 || e.packet.Protocol != packet.TCP {", "if e.hooks != 0 || e.packet.Protocol != packet.TCP {"},
	}},
	{"no hairpin", []string{"kube-proxy 4 pod -> own service"}, "proxier/memory", "TestConformance", []edit{
		{evaluate, "e.route.Masquerade || p.Hairpin(", "e.route.Masquerade || false && p.Hairpin("},
	}},
	{"endpoints in the order of their text", []string{"kube-proxy 1 Endpoints are sorted"}, "endpoints", "TestEndpointsAreInAddressOrder", []edit{
		{"endpoints/slice.go", "return a.Addr.Compare(b.Addr) }", "return cmp.Compare(a.Addr.String(), b.Addr.String()) }"},
	}},
	{"an edited Service keeps the conditions that it had", []string{"kube-proxy 1 Endpoints are sorted"}, "endpoints", "TestAnEditedServiceEqualsOneBuiltFromAllItsSlices", []edit{
		{"endpoints/edit.go", "\t\t\tg.counts.add(&old[at], -1)\n", ""},
	}},
	{"an address of two slices is put in twice", []string{"kube-proxy 1 Endpoints are sorted"}, "endpoints", "TestAnEditedServiceEqualsOneBuiltFromAllItsSlices|TestOneSliceOfManyIsAnEdit", []edit{
		{"endpoints/edit.go", "if n := len(list); found || n > 0", "if n := len(list); false && found || n > 0"},
	}},
	{"health-check node ports know before the rules do", []string{"kube-proxy 5.1 Update moment", "propagation 1.7"}, cluster, "TestHealthCheckFollowsTheRules", []edit{
		{"sim/cluster/outside.go", "w.healthyIn(w.Proxies[node].Installed(),", "w.healthyIn(w.Proxies[node].Received(),"},
	}},
	{"affinity lasts an hour", []string{"kube-proxy 4"}, "endpoints", "TestWhatAServicePortCarries|TestServiceDetails", []edit{
		{"endpoints/service.go", "defaultAffinityTimeout = 10800 * time.Second", "defaultAffinityTimeout = 3600 * time.Second"},
	}},
}

// What a KubeProxyConfiguration leaves out.
var configMutants = []mutant{
	{"node ports on localhost have to be asked for", []string{"kube-proxy 10"}, proxyConfig, "TestDefaults", []edit{
		{proxyConfig + "/defaults.go", "IPTables.LocalhostNodePorts, true)", "IPTables.LocalhostNodePorts, false)"},
	}},
	{"node ports answer everywhere in nftables mode", []string{"kube-proxy 10"}, proxyConfig, "TestDefaults", []edit{
		{proxyConfig + "/defaults.go", "if c.Mode == NFTables && len(c.NodePortAddresses) == 0 {", "if c.Mode == NFTables && len(c.NodePortAddresses) < 0 {"},
	}},
	{"a configuration without a mode is nftables", []string{"kube-proxy 10"}, proxyConfig, "TestDefaults", []edit{
		{proxyConfig + "/defaults.go", "orDefault(&c.Mode, IPTables)", "orDefault(&c.Mode, NFTables)"},
	}},
	{"syncs are a second apart in mode ipvs's section, too", []string{"kube-proxy 10"}, proxyConfig, "TestDefaults", []edit{
		{proxyConfig + "/defaults.go", "orDefault(&c.NFTables.MinSyncPeriod.Duration, minSyncPeriod)", "orDefault(&c.IPVS.MinSyncPeriod.Duration, minSyncPeriod)"},
	}},
	{"simulated proxies sync without a minimum interval", []string{"kube-proxy 10"}, scenario, "TestGolden", []edit{
		{"sim/scenario/nodes.go", "MinSyncPeriod: engine.Second, SyncPeriod", "MinSyncPeriod: 0, SyncPeriod"},
	}},
	{"simulated proxies are nftables", []string{"kube-proxy 10"}, scenario, "TestGolden", []edit{
		{"sim/scenario/nodes.go", `world.Proxy{Mode: "iptables",`, `world.Proxy{Mode: "nftables",`},
	}},
}

var healthMutants = []mutant{
	{"a cordon fails the node's health-check node ports", []string{"kube-proxy 5.1 Not included"}, cluster, "TestHealthCheckDoesNotLookAtTheNode", []edit{
		{"sim/cluster/outside.go", "ok && h.OK(proxy,", "ok && h.OK(proxy && (w.sc.Nodes[node].Object == nil || !w.sc.Nodes[node].Object.Spec.Unschedulable),"},
	}},
	{"a taint fails the node's health-check node ports", []string{"kube-proxy 5.1 Not included"}, cluster, "TestHealthCheckDoesNotLookAtTheNode", []edit{
		{"sim/cluster/outside.go", "ok && h.OK(proxy,", "ok && h.OK(proxy && (w.sc.Nodes[node].Object == nil || len(w.sc.Nodes[node].Object.Spec.Taints) == 0),"},
	}},
	{"the node's deletion fails its health-check node ports", []string{"kube-proxy 5.1 Not included"}, cluster, "TestHealthCheckDoesNotLookAtTheNode", []edit{
		{"sim/cluster/outside.go", "ok && h.OK(proxy,", "ok && h.OK(proxy && (w.sc.Nodes[node].Object == nil || w.sc.Nodes[node].Object.DeletionTimestamp == nil),"},
	}},
	{"an unhealthy proxy does not matter to health-check node ports", []string{"kube-proxy 5.1 Status"}, health, "TestServiceAnswer", []edit{
		{"healthcheck/service.go", "s.LocalEndpoints != 0 && (proxyHealthy || !o.ServiceHealthInfo)", "s.LocalEndpoints != 0"},
	}},
	{"500 instead of 503", []string{"kube-proxy 5.1 Old text", "kube-proxy 5.1 Status"}, health, "TestServiceAnswer", []edit{
		{"healthcheck/answer.go", "statusServiceUnavailable = 503", "statusServiceUnavailable = 500"},
	}},
	{"200 without endpoints", []string{"kube-proxy 5.1 Status"}, health, "TestServiceAnswer|TestATerminating", []edit{
		{"healthcheck/service.go", "s.LocalEndpoints != 0 && (proxyHealthy || !o.ServiceHealthInfo)", "proxyHealthy || !o.ServiceHealthInfo"},
	}},
	{"no weight", []string{"kube-proxy 5.1 Headers"}, health, "TestServiceAnswer", []edit{
		{"healthcheck/service.go", `"X-Load-Balancing-Endpoint-Weight"`, `"X-Endpoint-Weight"`},
	}},
	{"the body names the proxy's health otherwise", []string{"kube-proxy 5.1 Body"}, health, "TestServiceAnswer", []edit{
		{"healthcheck/service.go", `\"serviceProxyHealthy\"`, `\"proxyHealthy\"`},
	}},
	{"the timeout is one syncPeriod", []string{"kube-proxy 5.2 /livez", "propagation 2 kube-proxy staleness"}, health, "TestTheTimeout", []edit{
		{"healthcheck/proxy.go", "const Timeout = 2 * SyncPeriod", "const Timeout = SyncPeriod"},
	}},
	{"unhealthy before the first sync", []string{"kube-proxy 5.2"}, health, "TestHealthy", []edit{
		{"healthcheck/proxy.go", "return f.UpdatedAt.IsZero() || f.QueuedAt.IsZero()", "return f.QueuedAt.IsZero()"},
	}},
	{"the autoscaler's taint does not matter", []string{"kube-proxy 5.2 /healthz", "controllers 8 Effect on LBs"}, health, "TestEligible", []edit{
		{"healthcheck/proxy.go", "!slices.Contains(n.Taints, ToBeDeletedTaint)", `!slices.Contains(n.Taints, "")`},
	}},
	{"a node that is being deleted is eligible", []string{"kube-proxy 5.2 /healthz"}, health, "TestEligible", []edit{
		{"healthcheck/proxy.go", "n.Known && !n.Deleting &&", "n.Known &&"},
	}},
	{"an unknown node is eligible", []string{"kube-proxy 5.2 /healthz"}, health, "TestEligible", []edit{
		{"healthcheck/proxy.go", "n.Known && !n.Deleting &&", "!n.Deleting &&"},
	}},
}
