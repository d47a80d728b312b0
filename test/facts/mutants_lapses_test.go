package facts

const (
	lifecycle = "sim/control/nodelifecycle.go"
	evictor   = "sim/control/tainteviction.go"
	machine   = "sim/kubelet/machine.go"
	reconcile = "sim/kubelet/reconcile.go"
	shutdowns = "sim/kubelet/shutdown.go"
	powerOffs = "sim/cluster/shutdown.go"
)

// What becomes of pods when their node fails, is silent or comes back.
var lapseMutants = []mutant{
	{"a kubelet may be silent for 40 s", []string{"pod-lifecycle 6 Controller decides NotReady", "measured 1 silent node"}, cluster, "TestHowLongANodeMayBeSilent", []edit{
		{lifecycle, "\treturn 50 * engine.Second", "\treturn 40 * engine.Second"},
	}},
	{"1.31 waits for as long as 1.32", []string{"pod-lifecycle 6 Controller decides NotReady"}, cluster, "TestHowLongANodeMayBeSilent", []edit{
		{lifecycle, "if minor < longGraceSinceMinor {", "if minor < longGraceSinceMinor-1 {"},
	}},
	{"the node lifecycle controller looks each second", []string{"pod-lifecycle 6 Controller decides NotReady", "measured 1 silent node"}, cluster, "TestHowLongANodeMayBeSilent", []edit{
		{lifecycle, "monitor      = 5 * engine.Second", "monitor      = 1 * engine.Second"},
	}},
	{"leases are renewed each 5 s", []string{"pod-lifecycle 4.1 Node lease"}, cluster, "TestHowLongANodeMayBeSilent", []edit{
		{lifecycle, "renewal      = 10 * engine.Second", "renewal      = 5 * engine.Second"},
	}},
	{"pods of a node that is not ready stay ready", []string{"pod-lifecycle 6 Pods not ready"}, cluster, "TestPodsOfANodeThatCrashes|TestASilentKubelet", []edit{
		{lifecycle, "\t\t\tc.markPods(c.d.Specs.PodsOn(node))\n", ""},
	}},
	{"containers on a node that is not ready are not, either", []string{"pod-lifecycle 6 Pods not ready"}, cluster, "TestASilentKubelet", []edit{
		{lifecycle, "next.Ready = false", "next.Ready, next.ContainersReady = false, false"},
	}},
	{"pods are bound to nodes that are not ready", []string{"pod-lifecycle 6 Taints"}, cluster, "TestPodsOfANodeThatCrashes", []edit{
		{"sim/placement/cycle.go", ", len(at.lapse) > 0 && !world.Tolerates(tolerations, at.lapse):", ":"},
	}},
	{"a node that is back drives pods away for ever", []string{"pod-lifecycle 6 Taints", "measured 1 silent node"}, cluster, "TestANodeThatComesBack", []edit{
		{lifecycle, "\tif n.Drives != n.Condition() {", "\tif n.Drives != n.Condition() && n.NotReady {"},
	}},
	{"pods tolerate a silent node for 200 s", []string{"pod-lifecycle 6 Taint eviction"}, cluster, "TestHowLongAPodToleratesASilentNode", []edit{
		{"sim/world/taint.go", "const defaultPatience = 300 * engine.Second", "const defaultPatience = 200 * engine.Second"},
	}},
	{"tolerationSeconds is not read", []string{"pod-lifecycle 6 Taint eviction"}, cluster, "TestHowLongAPodToleratesASilentNode", []edit{
		{"sim/world/taint.go", "case tolerations[i].TolerationSeconds == nil, ", "case tolerations[i].TolerationSeconds == nil || i >= 0, "},
	}},
	{"taint eviction gives no grace", []string{"pod-lifecycle 7 Taint-based"}, cluster, "TestPodsOfANodeThatCrashes", []edit{
		{evictor, "c.d.Specs.Deletion(id, world.OwnGrace)", "c.d.Specs.Deletion(id, world.OwnGrace+1)"},
	}},
	{"all nodes of a zone drive pods away at once", []string{"pod-lifecycle 6 Zone eviction rate"}, cluster, "TestHowManyNodesAreTaintedAtOnce", []edit{
		{lifecycle, "\t\tc.paces[zone] = now + pace\n", ""},
	}},
	{"most of a zone may drive pods away", []string{"pod-lifecycle 6 Zone eviction rate"}, cluster, "TestHowManyNodesAreTaintedAtOnce", []edit{
		{lifecycle, "case bad == all || bad < fewestUnhealthy ||", "case bad <= all || bad < fewestUnhealthy ||"},
	}},
	{"pods are driven away where no node is ready", []string{"pod-lifecycle 6 Zone eviction rate"}, cluster, "TestHowManyNodesAreTaintedAtOnce", []edit{
		{lifecycle, "\tcase c.AllSilent():\n\t\tc.excuseAll()\n", ""},
		{lifecycle, "\tcase c.AllSilent():\n\t\treturn engine.Never\n", ""},
	}},
	{"a crash of the only node is over when the run is quiet", []string{"pod-lifecycle 6 Zone eviction rate"}, cluster, "TestACrashOfTheOnlyNodeDoesNotEnd", []edit{
		{"sim/cluster/stuck.go", "allSilent := w.lapses.lifecycle.AllSilent()", "allSilent := !w.lapses.lifecycle.AllSilent()"},
	}},
	{"a pod that tolerates for ever is gone one day", []string{"pod-lifecycle 6 Taint eviction"}, cluster, "TestAPodThatToleratesASilentNodeForEver", []edit{
		{"sim/cluster/stuck.go", "|| !w.control.Clings(p) {", "|| w.control.Clings(p) {"},
	}},
	{"a dead kubelet hears of deletions", []string{"pod-lifecycle 1.8", "pod-lifecycle 6 Deleted pods on a dead node"}, cluster, "TestPodsOfANodeThatCrashes", []edit{
		{kubelet, "\tif !ok || k.down {", "\tif !ok {"},
	}},
	{"connections to a pod outlive its machine", []string{"pod-lifecycle 7 Abrupt VM loss"}, "sim/traffic", "TestAServerThatGoesWithItsMachine", []edit{
		{nodesGone, "return via == node || t.muted(to) }", "return via == node }"},
	}},
	{"a router answers for a machine that is gone", []string{"pod-lifecycle 7 Abrupt VM loss"}, "sim/traffic", "TestAServerThatGoesWithItsMachine", []edit{
		{client, " || t.muted(a.target) {", " {"},
	}},
	{"containers are not made anew when their machine is back", []string{"pod-lifecycle 6 Return of a node"}, cluster, "TestANodeThatComesBack", []edit{
		{machine, "\t\twk.startUp(p)\n", ""},
	}},
	{"what was deleted meanwhile stays when the machine is back", []string{"pod-lifecycle 6 Return of a node"}, cluster, "TestANodeThatComesBack", []edit{
		{machine, "\tcase p.Deleting():\n\t\twk.terminate(p)\n", "\tcase p.Deleting():\n"},
	}},
	{"a kubelet believes what others write of its pods", []string{"pod-lifecycle 6 Return of a node"}, cluster, "TestASilentKubelet", []edit{
		{reconcile, "return wk.seenReady != wk.status.ready", "return wk.seenReady && !wk.status.ready"},
	}},
	{"statuses are reconciled each minute", []string{"pod-lifecycle 6 Return of a node"}, cluster, "TestASilentKubelet", []edit{
		{reconcile, "const reconcilePeriod = 10 * engine.Second", "const reconcilePeriod = 60 * engine.Second"},
	}},
	{"a kubelet that is restarted leaves the SIGKILL that was to come", []string{"pod-lifecycle 2.1 Kubelet restart"}, cluster, "TestAKubeletThatIsRestartedWithinTheGrace", []edit{
		{machine, "for _, h := range []*engine.Handle{&c.kill, &c.acts} {", "for _, h := range []*engine.Handle{&c.acts} {"},
		{"sim/kubelet/terminate.go", "\tk.d.Engine.Cancel(c.kill)\n", ""},
	}},
	{"a kubelet of 1.34 takes over what a status says", []string{"pod-lifecycle 2.1 Kubelet restart"}, cluster, "TestReadinessWhereAKubeletIsRestarted", []edit{
		{"sim/cluster/lapse.go", "const keepsStatusSince = 35", "const keepsStatusSince = 34"},
	}},
	{"a kubelet that is restarted forgets pods that start", []string{"pod-lifecycle 2.1 Kubelet restart"}, cluster, "TestAKubeletThatIsRestartedFinishesWhatItHadBegun", []edit{
		{machine, "\tcase !wk.initialized() && !wk.initBegun():\n\t\twk.startNext(0)\n", ""},
	}},
	{"a kubelet ends its pods at a shutdown without being set to it", []string{"pod-lifecycle 5 Inactive unless set"}, cluster, "TestAShutdownWithoutTheKubelet", []edit{
		{powerOffs, "\tif len(groups) == 0 {\n", "\tif groups = append(groups, world.ShutdownGroup{Grace: engine.Minute}); len(groups) == 0 {\n"},
	}},
	{"Karpenter waits for the new node at a spot notice", []string{"controllers 8.1 Interruption"}, cluster, "TestKarpenterEmptiesANodeAtItsSpotNotice", []edit{
		{"sim/world/taking.go", "Joins: []string{\"replacement-1\"}, AtOnce: 1,", "Joins: []string{\"replacement-1\"}, Ahead: 1, AtOnce: 1,"},
	}},
	{"a budget keeps a spot machine", []string{"controllers 8.1 Interruption"}, cluster, "TestASpotMachineGoesBeforeItsPods", []edit{
		{"sim/control/taken.go", "\tif t.of.Forced {\n\t\treturn nil\n\t}\n", ""},
	}},
	{"whoever empties a spot machine waits for pods that went with it", []string{"controllers 8.1 Interruption"}, cluster, "TestASpotMachineGoesBeforeItsPods", []edit{
		{powerOffs, "\t\tw.disrupts.takers.Gone(node)\n", ""},
	}},
	{"Karpenter has a queue whatever its controller says", []string{"pod-lifecycle 5 Spot handlers"}, "sim/scenario", "TestWhoReactsToASpotNotice", []edit{
		{"sim/scenario/spot_handler.go", "case hasQueue(c):", "case true:"},
	}},
	{"a reboot takes as long as it takes", []string{"pod-lifecycle 6 Reboot"}, "sim/scenario", "TestHowLongARebootTakesIsAssumedAndVaried", []edit{
		{"sim/scenario/reboot.go", "a.For, changed = t, true", "changed = true"},
	}},
	{"critical pods are ended first", []string{"pod-lifecycle 5 Groups"}, cluster, "TestHowLongAShutdownGivesEachPod", []edit{
		{"sim/world/outage.go", "\treturn max(0, i-1)\n", "\treturn max(0, i)\n"},
	}},
	{"a group without pods is waited for", []string{"pod-lifecycle 5 Groups"}, cluster, "TestHowLongAShutdownGivesEachPod|TestAGracefulShutdown|TestSpotNotices", []edit{
		{shutdowns, "\tif left == 0 {\n\t\tgoOn()\n\t\treturn\n\t}\n", ""},
	}},
	{"a pod has its own grace period at a shutdown", []string{"pod-lifecycle 5 Per pod grace"}, cluster, "TestHowLongAShutdownGivesEachPod", []edit{
		{shutdowns, "wk.shutDown(min(world.GraceOf(wk.spec), s.groups[group].Grace))", "wk.shutDown(world.GraceOf(wk.spec))"},
	}},
	{"pods that a shutdown ended are deleted", []string{"pod-lifecycle 5 No deletionTimestamp", "pod-lifecycle 7 Graceful node shutdown"}, cluster, "TestAGracefulShutdown", []edit{
		{shutdowns, "wk.terminating, wk.failed, wk.kept = true, true, true", "wk.terminating, wk.failed = true, true"},
	}},
	{"a node that shuts down has its pods be not ready", []string{"pod-lifecycle 5 terminating=false", "pod-lifecycle 5 Ready=False"}, cluster, "TestAGracefulShutdown", []edit{
		{shutdowns, "wk.terminating, wk.failed, wk.kept = true, true, true\n", "wk.terminating, wk.failed, wk.kept = true, true, true\n\twk.k.setStatus(wk, podStatus{phase: wk.status.phase, ip: wk.status.ip})\n"},
	}},
	{"a node that shuts down is ready", []string{"pod-lifecycle 5 Ready=False"}, cluster, "TestAGracefulShutdown", []edit{
		{powerOffs, "func(n *api.Node) { n.NotReady = true })", "func(n *api.Node) { n.NotReady = false })"},
	}},
	{"a spot machine goes at its notice", []string{"pod-lifecycle 5 Spot"}, cluster, "TestSpotNotices", []edit{
		{powerOffs, "\t\tcase !o.Sudden:\n\t\t\tw.shutdownNode(node, gone)\n\t\tcase", "\t\tcase o.Notice < 0:\n\t\t\tw.shutdownNode(node, gone)\n\t\tcase"},
		{powerOffs, "\tif o.Sudden {\n", "\tif o.Notice > 0 {\n"},
	}},
	{"the Node of a spot machine stays", []string{"pod-lifecycle 5 Spot"}, cluster, "TestSpotNotices", []edit{
		{powerOffs, "\t\tw.cloudLooks(node)\n\t}\n", "\t}\n"},
	}},
	{"pods of a missing node are collected at once", []string{"pod-lifecycle 6 PodGC"}, cluster, "TestANodeThatIsDeletedUnderItsPods", []edit{
		{"sim/control/podgc.go", "quarantine = 40 * engine.Second", "quarantine = 20 * engine.Second"},
	}},
	{"no quarantine is missed", []string{"pod-lifecycle 6 PodGC"}, cluster, "TestANodeThatIsDeletedUnderItsPods", []edit{
		{"sim/control/podgc.go", "\t\t\t\t\tuntil++\n", ""},
	}},
	{"the garbage collector deletes without a word", []string{"measured 1 PodGC"}, cluster, "TestANodeThatIsDeletedUnderItsPods", []edit{
		{"sim/control/podgc.go", "\t\tnext.Phase = api.PhaseFailed\n", ""},
	}},
	{"a slice has pods of a missing node", []string{"pod-lifecycle 6 A pod whose Node object is missing"}, cluster, "TestANodeThatIsDeletedUnderItsPods", []edit{
		{"sim/cluster/slicetable.go", "w.missing[p.Node] && !s.publishAll", "w.missing[p.Node] && s.publishAll"},
	}},
	{"the deletion of a node touches the slices", []string{"measured 1 node object missing"}, cluster, "TestANodeThatIsDeletedUnderItsPods", []edit{
		{"sim/endpointslice/controller.go", "\td.API.Subscribe(\"endpointslice-controller\", c.Owner, d.Latencies.Watch, c.deliver, api.KindPod, api.KindSlices, api.KindService)\n", "\td.API.Subscribe(\"endpointslice-controller\", c.Owner, d.Latencies.Watch, c.deliver, api.KindPod, api.KindSlices, api.KindService)\n\td.API.Subscribe(\"nodes\", c.Owner, d.Latencies.Watch, func(api.Object) { c.react.Add(0) }, api.KindNode)\n"},
	}},
}
