package facts

const (
	statefulStep = "sim/control/statefulstep.go"
	stateful     = "sim/control/statefulset.go"
	controllers  = "sim/control"
	oneSync      = "TestOneSyncOfAStatefulSet"
)

// What the StatefulSet controller does, and bare ReplicaSets.
var statefulMutants = []mutant{
	{"a StatefulSet is Parallel unless it says otherwise", []string{"controllers 1 StatefulSet"}, manifest, "TestDefaults", []edit{
		{"endpoints/manifest/defaults_workload.go", "setDefault(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)", "setDefault(&spec.PodManagementPolicy, appsv1.ParallelPodManagement)"},
	}},
	{"a pod that is being deleted is available", []string{"controllers 4 Unavailable"}, controllers, oneSync, []edit{
		{statefulStep, "return p == nil || !s.isAvailable(p) || p.Deleting()", "return p == nil || !s.isAvailable(p)"},
	}},
	{"a StatefulSet does not wait for minReadySeconds", []string{"controllers 4 Unavailable"}, controllers, oneSync, []edit{
		{statefulStep, "return p.Ready && availableAt(p.ReadySince, s.minReady) <= s.now", "return p.Ready"},
	}},
	{"OrderedReady makes a pod before those below are ready", []string{"controllers 4 OrderedReady create"}, controllers, oneSync, []edit{
		{statefulStep, "\t\tcase s.isUnavailable(r.pod):\n\t\t\treturn\n\t\t}\n\t}\n\tif len(s.condemned)", "\t\t}\n\t}\n\tif len(s.condemned)"},
	}},
	{"the lowest ordinal goes first", []string{"controllers 4 Scale-down"}, controllers, oneSync, []edit{
		{statefulStep, "return cmp.Compare(b.Ordinal, a.Ordinal)", "return cmp.Compare(a.Ordinal, b.Ordinal)"},
	}},
	{"an unhealthy pod that is too many stays", []string{"controllers 4 Scale-down"}, controllers, oneSync, []edit{
		{statefulStep, "(s.isAvailable(p) || p == s.unhealthy)", "s.isAvailable(p)"},
	}},
	{"every unhealthy pod that is too many goes", []string{"controllers 4 Scale-down"}, controllers, oneSync, []edit{
		{statefulStep, "(s.isAvailable(p) || p == s.unhealthy)", "(s.isAvailable(p) || p != nil)"},
	}},
	{"an update begins with the lowest ordinal", []string{"controllers 4 Rolling update"}, cluster, "TestStatefulSetRollingUpdate", []edit{
		{statefulStep, "for i := len(s.replicas) - 1; i >= s.partition; i-- {\n\t\tr := s.replicas[i]", "for i := s.partition; i < len(s.replicas); i++ {\n\t\tr := s.replicas[i]"},
	}},
	{"an update does not wait for the new pod", []string{"controllers 4 Rolling update", "controllers 4 Parallel"}, controllers, oneSync, []edit{
		{statefulStep, "\t\tcase s.isUnavailable(r.pod):\n\t\t\treturn\n\t\t}\n\t}\n}\n", "\t\t}\n\t}\n}\n"},
	}},
	{"an update goes on below the partition", []string{"controllers 4 Rolling update"}, controllers, oneSync, []edit{
		{statefulStep, "for i := len(s.replicas) - 1; i >= s.partition; i-- {", "for i := len(s.replicas) - 1; i >= 0; i-- {"},
	}},
	{"a pod below the partition comes back new", []string{"controllers 4 Partition"}, controllers, oneSync, []edit{
		{statefulStep, "case s.rolling && ordinal < s.start+s.partition:", "case s.rolling && ordinal < 0:"},
	}},
	{"the partition counts from ordinal 0", []string{"controllers 4 Partition"}, controllers, "TestOrdinalsThatBeginElsewhere", []edit{
		{statefulStep, "ordinal < s.start+s.partition:", "ordinal < s.partition:"},
	}},
	{"the status does not keep a pod old", []string{"controllers 4 Partition"}, controllers, "TestAPodComesBackOldWhileTheStatusCountsIt", []edit{
		{statefulStep, "ordinal < s.start+s.ofThat:", "ordinal < s.start:"},
	}},
	{"OnDelete replaces pods", []string{"controllers 4 OnDelete"}, controllers, oneSync, []edit{
		{statefulStep, "\tcase s.onDelete:\n", ""},
	}},
	{"a pod is made before the old object has gone", []string{"controllers 4 Same-name replacement"}, cluster, "TestScalingAStatefulSet", []edit{
		{statefulStep, "\tfor _, p := range s.pods {\n\t\tif i :=", "\tfor _, p := range s.pods {\n\t\tif p.Deleting() {\n\t\t\tcontinue\n\t\t}\n\t\tif i :="},
	}},
	{"maxUnavailable is heeded without its gate", []string{"controllers 4 maxUnavailable"}, controllers, "TestMaxUnavailableNeedsItsGate", []edit{
		{stateful, "if c.several && u.MaxUnavailable != nil {", "if u.MaxUnavailable != nil {"},
	}},
	{"maxUnavailable of a StatefulSet rounds up", []string{"controllers 4 maxUnavailable"}, controllers, "TestMaxUnavailableOfAStatefulSet", []edit{
		{"sim/world/rollout.go", "max(1, scaled(*maxUnavailable, replicas, false))", "max(1, scaled(*maxUnavailable, replicas, true))"},
	}},
	{"maxUnavailable of a StatefulSet may be 0", []string{"controllers 4 maxUnavailable"}, controllers, "TestMaxUnavailableOfAStatefulSet", []edit{
		{"sim/world/rollout.go", "max(1, scaled(*maxUnavailable, replicas, false))", "scaled(*maxUnavailable, replicas, false)"},
	}},
	{"pods that are unavailable already do not count", []string{"controllers 4 maxUnavailable"}, controllers, oneSync, []edit{
		{statefulStep, "\t\tif s.isUnavailable(r.pod) {\n\t\t\tleft--\n", "\t\tif r.pod == nil {\n\t\t\tleft--\n"},
	}},
	{"Parallel makes all pods at once", []string{"controllers 4 Parallel"}, controllers, oneSync, []edit{
		{statefulStep, "for i, size := 0, 1; i < n;", "for i, size := 0, n; i < n;"},
	}},
	{"a failed pod stays", []string{"controllers 4 Failed"}, controllers, oneSync, []edit{
		{statefulStep, "return deed{pod: r.pod}, r.pod.Phase.Terminal() && !r.pod.Deleting()", "return deed{}, false"},
	}},
	{"OrderedReady leaves a failed pod", []string{"controllers 4 Failed"}, controllers, oneSync, []edit{
		{statefulStep, "\t\t\tif !r.pod.Deleting() {\n\t\t\t\ts.do(deed{pod: r.pod})\n\t\t\t}\n", ""},
	}},
	{"a rollout is over when all pods are new", []string{"controllers 4 Status"}, controllers, "TestTheStatusOfAStatefulSet", []edit{
		{statefulStep, "st.updated == len(s.replicas) && st.ready == len(s.replicas)", "st.updated <= len(s.replicas) && st.ready == len(s.replicas)"},
	}},
	{"the status counts a pod that the update deletes", []string{"controllers 4 Status"}, controllers, "TestTheStatusOfAStatefulSet", []edit{
		{statefulStep, "\tst.current -= s.plan.replaced\n", ""},
	}},
	{"ControllerRevisions are kept for ever", []string{"controllers 4 History"}, cluster, "TestAStatefulSetsHistory", []edit{
		{stateful, "if more <= 0 {", "if more <= 100 {"},
	}},
	{"ControllerRevisions are not kept", []string{"controllers 4 History"}, cluster, "TestAStatefulSetsHistory", []edit{
		{stateful, "if more <= 0 {", "if more < 0 || len(old) == 0 {"},
	}},
	{"a rollback by itself is said to help", []string{"controllers 4 Rollback"}, cluster, "TestAStuckStatefulSet", []edit{
		{"sim/cluster/stuck.go", "\tcase !w.heedsAll(d):\n", "\tcase true:\n"},
	}},
	{"an unhealthy old pod does not block", []string{"measured 1 StatefulSet roll-out"}, cluster, "TestAnUnhealthyPodBlocksAnOrderedReadyUpdate", []edit{
		{stateful, "in.parallel = s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement", "in.parallel = s.Spec.PodManagementPolicy != \"\""},
	}},
	{"Parallel waits for every pod", []string{"measured 1 StatefulSet roll-out"}, cluster, "TestAnUnhealthyPodBlocksAnOrderedReadyUpdate", []edit{
		{stateful, "in.parallel = s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement", "in.parallel = s.Spec.PodManagementPolicy == \"\""},
	}},
	{"a StatefulSet's pod is made again at once", []string{"measured 2 StatefulSet pod gone"}, cluster, "TestTheGapOfAStatefulSetsPod", []edit{
		{stateful, "\"statefulset-controller\", d.Latencies.Controller, c.sync)", "\"statefulset-controller\", engine.Dist{}, c.sync)"},
	}},
	{"a bare ReplicaSet counts its pods on a node", []string{"measured 1 rule 5"}, controllers, "TestABareReplicaSetDoesNotCountItsPodsOnANode", []edit{
		{replicaSet, "== world.ReplicaSet\n", "== world.Deployment\n"},
	}},
	{"a bare Pod has a scale", []string{"controllers 6.1 Pods without a controller"}, cluster, "TestABudgetOverABarePod", []edit{
		{"sim/cluster/drain.go", "scales = append(scales, w.scale(i))", "scales = append(scales, w.replicas(i))"},
	}},
	{"a bare ReplicaSet keeps the size that it had", []string{"controllers 3 Bare"}, cluster, "TestBareReplicaSetsAndPods", []edit{
		{"sim/cluster/action.go", "out.Replicas = next.Replicas", "out.Replicas = rs.Replicas"},
	}},
}
