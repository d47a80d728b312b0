package facts

const (
	daemonUpdate  = "sim/control/daemonupdate.go"
	daemonSets    = "sim/control/daemonset.go"
	daemonNodes   = "sim/world/daemon.go"
	daemonRollout = "sim/world/rollout.go"
)

// What the DaemonSet controller does.
var daemonMutants = []mutant{
	{"maxUnavailable of a DaemonSet rounds down", []string{"controllers 5 Percentages"}, "sim/control", "TestADaemonSetUpdateKeepsItsPromise", []edit{
		{daemonRollout, "surge, unavailable = scaled(maxSurge, nodes, true), scaled(maxUnavailable, nodes, true)", "surge, unavailable = scaled(maxSurge, nodes, true), scaled(maxUnavailable, nodes, false)"},
	}},
	{"maxSurge of a DaemonSet rounds down", []string{"controllers 5 Percentages"}, "sim/control", "TestADaemonSetUpdateKeepsItsPromise", []edit{
		{daemonRollout, "surge, unavailable = scaled(maxSurge, nodes, true), scaled", "surge, unavailable = scaled(maxSurge, nodes, false), scaled"},
	}},
	{"a new pod of a DaemonSet that is not available does not count", []string{"controllers 5 maxSurge 0"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "case fresh != nil && !in.available(fresh):\n\t\t\tunavailable++\n", "case fresh != nil && !in.available(fresh):\n"},
	}},
	{"an old pod of a DaemonSet that is not available waits for its turn", []string{"controllers 5 maxSurge 0"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "\t\t\tout.remove = append(out.remove, old)\n\t\t\tunavailable++\n\t\tdefault:", "\t\t\tunavailable++\n\t\tdefault:"},
	}},
	{"a node without a pod does not count", []string{"controllers 5 maxSurge 0"}, "sim/control", "TestADaemonSetUpdateTakesTheLargestStepAllowed", []edit{
		{daemonUpdate, "return !n.gone && n.runs || len(n.pods) > 0", "return len(n.pods) > 0"},
	}},
	{"new pods that are not available do not count against maxSurge", []string{"controllers 5 maxSurge"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "case fresh != nil:\n\t\t\tsurge++\n", "case fresh != nil:\n"},
	}},
	{"an old pod stays beside the new one", []string{"controllers 5 maxSurge"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "case fresh != nil && in.available(fresh), fresh == nil", "case fresh == nil"},
	}},
	{"an old pod that is not available needs its turn for a surge", []string{"controllers 5 maxSurge"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "case !in.available(old):\n\t\t\tout.create = append(out.create, n.number)", "case !in.available(old):\n\t\t\tcandidates = append(candidates, n.number)"},
	}},
	{"a node that is left loses its pod before others have one", []string{"controllers 5 Nodes that are left"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "sunset[:min(len(sunset), max(0, available-in.desired))]", "sunset"},
	}},
	{"a node that is gone does not stop a surge", []string{"controllers 5 Nodes that are left"}, "sim/control", "TestOneStepOfADaemonSetUpdate", []edit{
		{daemonUpdate, "case fresh == nil && n.gone:\n\t\t\treturn daemonStep{}\n", ""},
	}},
	{"the youngest of several pods stays", []string{"controllers 5 One pod a node"}, "sim/control", "TestADaemonSetHasAPodOnEachNode", []edit{
		{daemonUpdate, "out.remove = append(out.remove, running[1:]...)", "out.remove = append(out.remove, running[:len(running)-1]...)"},
	}},
	{"a pod comes beside one that is on its way out", []string{"controllers 5 One pod a node", "measured 1 DaemonSet maxSurge 0"}, "sim/control", "TestADaemonSetHasAPodOnEachNode", []edit{
		{daemonUpdate, "case n.runs && len(n.pods) == 0:", "case n.runs && len(staying(n.pods)) == 0:"},
	}},
	{"a surge waits for pods on their way out", []string{"controllers 5 One pod a node"}, "sim/control", "TestADaemonSetHasAPodOnEachNode", []edit{
		{daemonUpdate, "case in.surges && len(running) == 0 && n.runs:", "case in.surges && len(n.pods) == 0 && n.runs:"},
	}},
	{"a pod that has failed stays", []string{"controllers 5 One pod a node"}, "sim/control", "TestADaemonSetHasAPodOnEachNode", []edit{
		{daemonUpdate, "out.remove, out.failed = append(out.remove, p), append(out.failed, n.number)", "out.failed = append(out.failed, n.number)"},
	}},
	{"the new pod comes when the old object is gone", []string{"measured 1 DaemonSet maxSurge 0", "measured 2 DaemonSet old pod terminal"}, cluster, "TestADaemonSetIsUpdatedInPlace", []edit{
		{daemonSets, "n >= 0 && !(p.Phase.Terminal() && p.Deleting())", "n >= 0"},
	}},
	{"a taint drives the pods of a DaemonSet away", []string{"controllers 5 Nodes"}, "sim/world", "TestWhereADaemonSetRuns", []edit{
		{daemonNodes, "return t.Effect != corev1.TaintEffectNoExecute }", "return false }"},
	}},
	{"a DaemonSet does not look at nodeName", []string{"controllers 5 Nodes"}, "sim/world", "TestWhereADaemonSetRuns", []edit{
		{daemonNodes, `pod.NodeName != "" && pod.NodeName != n.Name || `, ""},
	}},
	{"a DaemonSet does not tolerate a cordon", []string{"controllers 5 Tolerations", "controllers 5 Drain"}, cluster, "TestWhichNodesADaemonSetIsFor", []edit{
		{daemonNodes, "corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable)", "corev1.TaintNodePIDPressure)"},
	}},
	{"all pods of DaemonSets tolerate that there is no network", []string{"controllers 5 Tolerations"}, "sim/world", "TestWhereADaemonSetRuns", []edit{
		{daemonNodes, "if pod.HostNetwork {\n\t\tadd(", "{\n\t\tadd("},
	}},
	{"a DaemonSet's pod is for any node", []string{"controllers 5 Binding"}, cluster, "TestASurgeOfADaemonSetWithAHostPortIsStuck", []edit{
		{daemonSets, "\tp.Only = node + 1\n", ""},
	}},
	{"OnDelete is a rolling update", []string{"controllers 5 OnDelete"}, cluster, "TestOnDeleteReplacesWhatIsDeleted", []edit{
		{daemonSets, "return c.strategy(of).Type != appsv1.OnDeleteDaemonSetStrategyType", "return true"},
		{daemonSets, "in := &daemonInput{revision", "in := &daemonInput{unavailable: 1, revision"},
	}},
	{"minReadySeconds of a DaemonSet count from the transition", []string{"controllers 5 minReadySeconds"}, cluster, "TestADaemonSetComesBackAfterMinReadySeconds", []edit{
		{daemonSets, "c.react.AddAt(now+minReady, s.of.Workload)", "c.react.AddAt(now.TruncateToSecond()+minReady, s.of.Workload)"},
	}},
	{"a sync of a DaemonSet has no bound", []string{"controllers 5 Burst"}, "sim/control", "TestASyncOfADaemonSetIsBounded", []edit{
		{daemonSets, "const burstDaemons = 250", "const burstDaemons = 2500"},
	}},
	{"failed pods are deleted again and again", []string{"controllers 5 Failed pods"}, "sim/control", "TestFailedPodsOfADaemonSetAreLeftAloneForAWhile", []edit{
		{daemonSets, "b.span = min(2*b.span, longestBackOff)", "b.span = shortestBackOff"},
	}},
	{"a sync does not wait for its own status", []string{"controllers 5 Own writes"}, "sim/control", "TestADaemonSetWaitsForItsOwnWrites", []edit{
		{daemonSets, "case !s.met() || s.status != s.set.Daemon:", "case !s.met():"},
	}},
	{"all revisions of a DaemonSet are kept", []string{"controllers 5 History"}, "sim/control", "TestWhichRevisionsOfADaemonSetAreKept", []edit{
		{daemonSets, "old = old[max(0, len(old)-int(*d.Spec.RevisionHistoryLimit)):]", "_ = old"},
	}},
	{"a drain evicts DaemonSets", []string{"controllers 5 Drain"}, cluster, "TestADrainLeavesTheDaemonSet", []edit{
		{drains, "\tpods = slices.DeleteFunc(pods, r.isDaemon)\n", ""},
	}},
	{"the order of nodes is that of their names", []string{"measured 1 DaemonSet order"}, cluster, "TestTheOrderOfNodesIsChance", []edit{
		{daemonSets, "cmp.Compare(draws[a.number], draws[b.number])", "cmp.Compare(a.number, b.number)"},
	}},
	{"a DaemonSet has two pods away by default", []string{"controllers 1 DaemonSet"}, "endpoints/manifest", "TestDefaults", []edit{
		{"endpoints/manifest/defaults_workload.go", "setPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})", "setPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{MaxUnavailable: &[]intstr.IntOrString{intstr.FromInt32(2)}[0]})"},
	}},
}
