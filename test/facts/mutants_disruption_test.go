package facts

const (
	budgets    = "sim/world/budget.go"
	disruption = "sim/control/disruption.go"
	evictions  = "sim/control/eviction.go"
	drains     = "sim/control/drain.go"
)

// What disruption budgets allow, the eviction API says and kubectl drain does.
var disruptionMutants = []mutant{
	{"minAvailable expects the scale", []string{"controllers 6.1 minAvailable int", "measured 1 PDB minAvailable int"}, "sim/world", "TestWhatABudgetWants", []edit{
		{budgets, "return pods, scaled(*spec.MinAvailable, 0, true)", "return scale, scaled(*spec.MinAvailable, 0, true)"},
	}},
	{"minAvailable in per cent rounds down", []string{"controllers 6.1 minAvailable %"}, "sim/world", "TestWhatABudgetWants", []edit{
		{budgets, "return scale, scaled(*spec.MinAvailable, scale, true)", "return scale, scaled(*spec.MinAvailable, scale, false)"},
	}},
	{"maxUnavailable rounds down", []string{"controllers 6.1 maxUnavailable"}, "sim/world", "TestWhatABudgetWants", []edit{
		{budgets, "scale-scaled(*spec.MaxUnavailable, scale, true)", "scale-scaled(*spec.MaxUnavailable, scale, false)"},
	}},
	{"maxUnavailable is of the pods that there are", []string{"controllers 6.1 maxUnavailable"}, "sim/world", "TestWhatABudgetWants", []edit{
		{budgets, "return scale, max(0, scale-scaled", "return pods, max(0, pods-scaled"},
	}},
	{"a budget without a selector covers all", []string{"controllers 6.2 no PDB"}, "sim/world", "TestWhichPodsABudgetCovers", []edit{
		{budgets, "return err == nil && selector.Matches(labels.Set(podLabels))", "return err == nil && (b.Value.Spec.Selector == nil || selector.Matches(labels.Set(podLabels)))"},
	}},
	{"a pod that is being deleted is healthy", []string{"controllers 6.1 currentHealthy"}, cluster, "TestBudgetStatus", []edit{
		{disruption, "\t\t\tif p.Deleting() {\n\t\t\t\tcontinue\n\t\t\t}\n", ""},
	}},
	{"pods that terminate are not expected", []string{"measured 1 PDB minAvailable int"}, cluster, "TestBudgetStatus", []edit{
		{disruption, "if !c.covers(n, p) {", "if !c.covers(n, p) || p.Deleting() {"},
	}},
	{"more may go than are healthy", []string{"controllers 6.1 disruptionsAllowed"}, cluster, "TestBudgetStatus", []edit{
		{disruption, "max(0, s.Healthy-s.Desired)", "max(0, s.Healthy-s.Desired+1)"},
	}},
	{"a pod that is noted is healthy", []string{"controllers 6.1 disruptedPods"}, cluster, "TestADisruptedPodDoesNotCount", []edit{
		{disruption, "} else if p.Ready {", "}\n\t\t\tif p.Ready {"},
	}},
	{"a note counts for an hour", []string{"controllers 6.1 disruptedPods"}, cluster, "TestADisruptedPodDoesNotCount", []edit{
		{disruption, "deletionTimeout   = 2 * engine.Minute", "deletionTimeout   = 60 * engine.Minute"},
	}},
	{"both budgets are refreshed", []string{"measured 1 two PDBs"}, cluster, "TestTheSecondBudgetOfAPod", []edit{
		{disruption, "if of := c.of(o); len(of) > 0 {\n\t\t\tc.react.Add(of[0])\n", "for _, n := range c.of(o) {\n\t\t\tc.react.Add(n)\n"},
	}},
	{"a budget is asked of a pod that is being deleted", []string{"controllers 6.2 pod Succeeded"}, cluster, "TestEvictionTable", []edit{
		{evictions, "p.Phase == api.PhasePending, p.Deleting(), len", "p.Phase == api.PhasePending, len"},
	}},
	{"a budget is asked of a pod that is Pending", []string{"controllers 6.2 pod Succeeded"}, cluster, "TestEvictionTable", []edit{
		{evictions, "p.Phase == api.PhasePending, p.Deleting(), len", "p.Deleting(), len"},
	}},
	{"a pod without a node is not met by those who delete and evict", []string{"controllers 6.2 pod Succeeded"}, cluster, "TestPodsWithoutANode", []edit{
		{"sim/cluster/action.go", "!w.isCalled(p.Workload, pods.Workload) || p.Deleting() {", "!w.isCalled(p.Workload, pods.Workload) || p.Deleting() || p.Node < 0 {"},
	}},
	{"nobody is evicted without a budget", []string{"controllers 6.2 no PDB"}, cluster, "TestEvictionTable", []edit{
		{evictions, "len(budgets) == 0:\n\t\te.remove(r)", "len(budgets) == 0:\n\t\tif len(budgets) > 0 {\n\t\t\te.remove(r)\n\t\t}"},
	}},
	{"the first of two budgets counts", []string{"controllers 6.2 > 1 PDB"}, cluster, "TestEvictionTable", []edit{
		{evictions, "case len(budgets) > 1:", "case len(budgets) > 2:"},
	}},
	{"AlwaysAllow is not known", []string{"controllers 6.2 AlwaysAllow"}, cluster, "TestEvictionTable", []edit{
		{evictions, "*policy == policyv1.AlwaysAllow {", "*policy != policyv1.AlwaysAllow {"},
	}},
	{"AlwaysAllow has always been known", []string{"controllers 6.2 AlwaysAllow"}, cluster, "TestEvictionTable", []edit{
		{evictions, "const PolicySince = 27", "const PolicySince = 19"},
	}},
	{"an unready pod counts against the budget", []string{"controllers 6.2 IfHealthyBudget"}, cluster, "TestEvictionTable", []edit{
		{evictions, "return b.Healthy >= b.Desired && b.Desired > 0", "return b.Healthy > b.Desired && b.Desired > 0"},
	}},
	{"a budget that is used up allows one more", []string{"controllers 6.2 disruptionsAllowed == 0"}, cluster, "TestEvictionTable", []edit{
		{evictions, "case base.Allowed == 0:", "case base.Allowed < 0:"},
	}},
	{"an eviction takes nothing from the budget", []string{"controllers 6.2 disruptionsAllowed > 0"}, cluster, "TestAnEvictionTakesOneOfTheBudget", []edit{
		{evictions, "\t\tnext.Allowed--\n\t\tnext.Disrupted = noted(base.Disrupted, api.Disrupted{Pod: r.pod.ID, At: e.d.Engine.Now().TruncateToSecond()})\n", ""},
	}},
	{"a budget that is behind its spec is asked all the same", []string{"controllers 6.2 observedGeneration"}, cluster, "TestABudgetThatIsStillBeingProcessed", []edit{
		{evictions, "case base.Behind():", "case base.Behind() && n < 0:"},
	}},
	{"the controller does not say which spec it saw", []string{"controllers 6.2 observedGeneration"}, cluster, "TestABudgetThatIsStillBeingProcessed", []edit{
		{"sim/control/disruption.go", "\ts.Observed = c.work[n].seen.Spec\n", ""},
	}},
	{"the controller goes by the budget of the manifests", []string{"controllers 6.2 observedGeneration"}, cluster, "TestABudgetThatIsStillBeingProcessed", []edit{
		{"sim/control/disruption.go", "c.d.BudgetOf(c.work[n].seen).Desired(", "c.d.Budgets[n].Desired("},
	}},
	{"a change that changes nothing is one", []string{"controllers 6.2 observedGeneration"}, cluster, "TestABudgetThatIsStillBeingProcessed", []edit{
		{"sim/control/budget.go", "if !changed {", "if !changed && n < 0 {"},
	}},
	{"the client asks again for ever", []string{"controllers 6.2 Retry-After"}, cluster, "TestRetryAfterIsTheClients", []edit{
		{evictions, "mostRetries = 10", "mostRetries = 1000"},
	}},
	{"kubectl hears of Retry-After", []string{"controllers 6.2 Retry-After"}, cluster, "TestRetryAfterIsTheClients", []edit{
		{evictions, "mostRetries = 10", "mostRetries = 0"},
	}},
	{"a drain that waits for Retry-After cannot end", []string{"controllers 6.2 Retry-After"}, cluster, "TestRetryAfterIsTheClients", []edit{
		{drains, "l.refuse != nil && !l.refuse.Again && r.until", "l.refuse != nil && r.until"},
	}},
	{"conflicts are not noticed", []string{"controllers 6.2 conflicts", "measured 1 evictions that conflict"}, cluster, "TestEvictionsThatComeTogether", []edit{
		{evictions, "if conflict = o != api.Object(base); conflict {", "if conflict = o == nil; conflict {"},
	}},
	{"after a conflict it is tried again at once", []string{"controllers 6.2 conflicts"}, cluster, "TestEvictionsThatComeTogether", []edit{
		{evictions, "shortestConflict = 500 * engine.Millisecond\n\tlongestConflict  = 550 * engine.Millisecond", "shortestConflict = 5 * engine.Millisecond\n\tlongestConflict  = 6 * engine.Millisecond"},
	}},
	{"conflicts are met for ever", []string{"controllers 6.2 conflicts"}, controllers, "TestAnEvictionThatMeetsConflictsOnly", []edit{
		{evictions, "mostConflicts    = 20", "mostConflicts    = 2000"},
	}},
	{"one conflict less is met", []string{"controllers 6.2 conflicts"}, controllers, "TestAnEvictionThatMeetsConflictsOnly", []edit{
		{evictions, "mostConflicts    = 20", "mostConflicts    = 19"},
	}},
	{"any number of disrupted pods may be recorded", []string{"controllers 6.2 disruptedPods > 2000"}, controllers, "TestABudgetWithTooManyDisruptedPods", []edit{
		{evictions, "mostDisrupted    = 2000", "mostDisrupted    = 20000"},
	}},
	{"2,000 disrupted pods are too many", []string{"controllers 6.2 disruptedPods > 2000"}, controllers, "TestABudgetWithTooManyDisruptedPods", []edit{
		{evictions, "len(base.Disrupted) > mostDisrupted", "len(base.Disrupted) >= mostDisrupted"},
	}},
	{"a pod that is not there cannot be evicted", []string{"controllers 6.2 pod missing"}, controllers, "TestAnEvictionOfAPodThatIsNotThere", []edit{
		{evictions, "answered(Answer{Code: Absent})", "answered(Answer{Code: Impossible})"},
	}},
	{"a drain fails for a pod that has gone", []string{"controllers 6.2 pod missing"}, cluster, "TestADrainOfAPodThatHasGone", []edit{
		{drains, "\t\tcase Absent:\n\t\t\tr.over(l, \"\")", "\t\tcase Absent:\n\t\t\tr.over(l, \"not found\")"},
	}},
	{"a budget that was changed is behind for ever", []string{"measured 1 new PDB"}, cluster, "TestAnEvictionThatComesAfterTheController", []edit{
		{"sim/api/objects.go", "return b.Observed < b.Spec", "return b.Spec > 0"},
	}},
	{"the disruption controller reacts at once", []string{"measured 2 pod Ready change -> PDB status"}, cluster, "TestABudgetFollowsItsPods", []edit{
		{"sim/control/disruption.go", `"disruption-controller", d.Latencies.Controller,`, `"disruption-controller", engine.Dist{},`},
	}},
	{"an eviction is one write", []string{"measured 2 eviction request", "controllers 6.2 disruptionsAllowed > 0"}, controllers, "TestAnEvictionTakesItsWrites", []edit{
		{evictions, `e.d.API.Write(r.owner, "evict: budget status",`, `e.d.API.WriteAfter(0, r.owner, "evict: budget status",`},
	}},
	{"all slices are written for one pod", []string{"measured 2 same with 120 pods"}, cluster, "TestTwoSlicesOf120Pods", []edit{
		{slicer, "touched = all(want, touched)\n\t}\n", "}\n\ttouched = all(want, touched)\n"},
	}},
	{"nodes are cordoned one by one", []string{"controllers 7 Order"}, cluster, "TestKubectlDrain", []edit{
		{drains, "if i == len(r.nodes) {\n\t\tr.empty()", "if i == 1 {\n\t\tr.empty()"},
	}},
	{"pods are evicted one by one", []string{"controllers 7 Pods of one node"}, cluster, "TestKubectlDrain", []edit{
		{drains, "\t\tfor _, l := range slices.Clone(r.pods) {\n\t\t\tr.ask(l)\n\t\t}", "\t\tfor i, l := range slices.Clone(r.pods) {\n\t\t\tr.d.Engine.After(engine.Time(i)*engine.Second, engine.ClassTimer, r.Owner, \"evict\", func() { r.ask(l) })\n\t\t}"},
	}},
	{"kubectl asks again after 10 s", []string{"controllers 7 Retry", "measured 2 kubectl drain"}, cluster, "TestARefusedEvictionIsAskedAgain", []edit{
		{drains, "evictAgain = 5 * engine.Second", "evictAgain = 10 * engine.Second"},
	}},
	{"kubectl looks each 5 s", []string{"controllers 7 Wait"}, cluster, "TestKubectlDrain", []edit{
		{drains, "goneAgain  = engine.Second", "goneAgain  = 5 * engine.Second"},
	}},
	{"the grace period of kubectl is not sent", []string{"controllers 7 Grace"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "r.evict.Evict(r.Owner, l.pod.ID, r.of.GracePeriod,", "r.evict.Evict(r.Owner, l.pod.ID, world.OwnGrace,"},
	}},
	{"emptyDirs always go", []string{"controllers 7 Filters", "measured 1 drain"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "if !r.of.KeepEmptyDir || p.Phase.Terminal() {", "if !r.of.KeepEmptyDir || !p.Phase.Terminal() {"},
	}},
	{"bare Pods always go", []string{"controllers 7 Filters"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "case !r.of.Force && r.d.Unmanaged(p)", "case r.of.Force && r.d.Unmanaged(p)"},
	}},
	{"bare Pods never go", []string{"controllers 7 Filters"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "case !r.of.Force && r.d.Unmanaged(p)", "case r.d.Unmanaged(p)"},
	}},
	{"--disable-eviction asks budgets", []string{"controllers 7 --disable-eviction"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "case r.of.DisableEviction:", "case r.of.DisableEviction && len(pods) < 0:"},
	}},
	{"--pod-selector selects all", []string{"controllers 7 --pod-selector"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "return selector.Matches(labels.Set(", "return selector.Empty() || !selector.Matches(labels.Set("},
	}},
	{"kubectl waits for late pods", []string{"controllers 7 Skip"}, cluster, "TestKubectlDoesNotWaitForLatePods", []edit{
		{drains, "case !there, r.skips(p):", "case !there, !r.skips(p) && p == nil:"},
	}},
	{"late is from the deletion on", []string{"controllers 7 Skip"}, cluster, "TestKubectlDoesNotWaitForLatePods", []edit{
		{drains, "(p.DeletedAt+p.Grace).TruncateToSecond()", "p.DeletedAt.TruncateToSecond()"},
	}},
	{"--timeout is never over", []string{"controllers 7 Retry"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{drains, "r.until != engine.Never && r.d.Engine.Now() >= r.until", "r.until != engine.Never && r.until < 0"},
	}},
	{"a cordon keeps nothing off", []string{"controllers 7 Cordon effect"}, cluster, "TestACordonedNode", []edit{
		{obstacles, "case at.cordoned && !world", "case at.left && !world"},
	}},
	{"nothing tolerates a cordon", []string{"controllers 7 Cordon effect"}, cluster, "TestACordonedNode", []edit{
		{obstacles, "case at.cordoned && !world.Tolerates(tolerations, unschedulable[:]):", "case at.cordoned:"},
	}},
	{"the emptiest node is drained", []string{"simulator 5.4"}, "sim", "TestTheFullestNodeIsDrained", []edit{
		{"sim/cluster/drain.go", "if pods > most {", "if most < 0 || pods < most {"},
	}},
	{"the last of the fullest nodes is drained", []string{"simulator 5.4"}, "sim", "TestTheFullestNodeIsDrained", []edit{
		{"sim/cluster/drain.go", "if pods > most {", "if pods >= most {"},
	}},
	{"clients stay on a node that is drained", []string{"simulator 5.4"}, "sim", "TestClientsOnADrainedNode", []edit{
		{"sim/world/room.go", "!n.Joins && !slices.Contains(drained, n.Name) && (", "!n.Joins && ("},
	}},
}

const (
	takers  = "sim/control/takers.go"
	takings = "sim/world/taking.go"
	keepers = "sim/control/kept.go"
	turns   = "sim/control/turns.go"
)

// Who takes nodes away, and what becomes of the pods on them.
var takerMutants = []mutant{
	{"the autoscaler evicts at once", []string{"controllers 8 Wait after taint"}, cluster, "TestClusterAutoscalerWithPods", []edit{
		{takings, "Taint: true, Delay: 5 * engine.Second", "Taint: true, Delay: 0 * engine.Second"},
	}},
	{"the autoscaler does not taint", []string{"controllers 8 First action"}, cluster, "TestClusterAutoscalerWithPods", []edit{
		{takings, "Taint: true, Delay", "Taint: false, Delay"},
	}},
	{"the autoscaler does not cordon", []string{"controllers 8 First action"}, cluster, "TestClusterAutoscalerWithPods", []edit{
		{takers, "t.of.Disrupted, !t.of.Disrupted, t.of.Taint", "t.of.Disrupted, t.of.Disrupted, t.of.Taint"},
	}},
	{"the autoscaler looks each second", []string{"controllers 8 Wait for exit"}, cluster, "TestClusterAutoscalerWithPods", []edit{
		{takings, "Look: 5 * engine.Second, AllFirst", "Look: engine.Second, AllFirst"},
	}},
	{"the autoscaler waits for 600 s", []string{"controllers 8 Wait for exit"}, cluster, "TestGraceOfClusterAutoscaler", []edit{
		{takings, "Limit: 630 * engine.Second", "Limit: 600 * engine.Second"},
	}},
	{"the autoscaler asks for 3 minutes", []string{"controllers 8 Eviction"}, cluster, "TestClusterAutoscalerGivesUp", []edit{
		{takings, "Asks: 2 * engine.Minute", "Asks: 3 * engine.Minute"},
	}},
	{"the autoscaler asks each 5 s", []string{"controllers 8 Eviction"}, cluster, "TestClusterAutoscalerGivesUp", []edit{
		{takings, "Again: 10 * engine.Second, AgainMost: 10 * engine.Second, Asks", "Again: 5 * engine.Second, AgainMost: 5 * engine.Second, Asks"},
	}},
	{"a node that was given up stays tainted", []string{"controllers 8 Eviction"}, cluster, "TestClusterAutoscalerGivesUp", []edit{
		{takers, "o.Disrupted, o.Cordoned, o.Tainted, o.Excluded = false, false, false, false", "o.Cordoned = false"},
	}},
	{"the autoscaler sends the pod's own grace period", []string{"controllers 8 Grace"}, cluster, "TestGraceOfClusterAutoscaler", []edit{
		{takers, "e.d.graceOf(p) > e.of.MostGrace {", "e.d.graceOf(p) < 0 {"},
	}},
	{"a machine is off at the call", []string{"controllers 8 Stopping"}, cluster, "TestAMachineRunsOnAfterTheCall", []edit{
		{takers, "e.marked[e.node]+e.of.Least) + e.of.Stop", "e.marked[e.node]+e.of.Least)"},
	}},
	{"an empty machine is off at the call", []string{"controllers 8 Stopping"}, cluster, "TestAMachineRunsOnAfterTheCall", []edit{
		{"sim/cluster/node.go", "if w.sc.MachineStop == 0 {", "if w.sc.MachineStop >= 0 {"},
	}},
	{"a machine that stops forwards nothing", []string{"controllers 8 Stopping"}, "sim", "TestAMachineThatRunsOnForwards", []edit{
		{"sim/cluster/node.go", "w.closing[node] = w.sc.Nodes[node].Name + \" is stopping\"", "w.die(node)"},
	}},
	{"safe-to-evict false is not heeded", []string{"controllers 8 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, `if t.Annotations[safeToEvict] == "false" {`, `if t.Annotations[safeToEvict] == "no" {`},
	}},
	{"safe-to-evict true is not heeded", []string{"controllers 8 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, `t.Annotations[safeToEvict] == "true" {`, `t.Annotations[safeToEvict] == "yes" {`},
	}},
	{"memory is local storage", []string{"controllers 8 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, "v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory", "v.EmptyDir != nil"},
	}},
	{"a budget that is used up keeps nothing", []string{"controllers 8 Kept", "controllers 8.1 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, "k.evict.budget(n).Allowed < 1 {", "k.evict.budget(n).Allowed < 0 {"},
	}},
	{"Karpenter leaves the pods of DaemonSets", []string{"controllers 8 DaemonSet pods"}, cluster, "TestDaemonsOfANodeThatIsTaken", []edit{
		{takings, "Excludes: true, Daemons: DaemonsLast,", "Excludes: true,"},
	}},
	{"the autoscaler waits for pods of DaemonSets", []string{"controllers 8 DaemonSet pods"}, cluster, "TestDaemonsOfANodeThatIsTaken", []edit{
		{takers, "return !l.besides && e.there(l) != nil", "return e.there(l) != nil"},
	}},
	{"a bare Pod goes", []string{"controllers 8 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, "if k.bare() {", "if k.bare() && t == nil {"},
	}},
	{"pods of kube-system go", []string{"controllers 8 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, `namespace == "kube-system" && len(budgets) == 0`, `namespace == "kube-system" && len(budgets) > 0`},
	}},
	{"do-not-disrupt is not heeded", []string{"controllers 8.1 Kept"}, cluster, "TestNodesThatStay", []edit{
		{keepers, `Annotations[doNotDisrupt] == "true"`, `Annotations[doNotDisrupt] == "yes"`},
	}},
	{"Karpenter does not wait for the new node", []string{"controllers 8.1 Order"}, cluster, "TestKarpenterReplacesTwoNodes", []edit{
		{takers, "t.need(t.of.Ahead-1, func() {", "t.need(-1, func() {"},
	}},
	{"Karpenter marks when it empties", []string{"controllers 8.1 Order"}, cluster, "TestKarpenterReplacesTwoNodes", []edit{
		{takings, "Marking: MarkFirst, Disrupted", "Marking: MarkEach, Disrupted"},
	}},
	{"Karpenter evicts critical pods with the others", []string{"controllers 8.1 Turns"}, cluster, "TestTurnsOfKarpenter", []edit{
		{turns, "\tcase critical:\n\t\treturn turnOfCritical\n", "\tcase critical:\n\t\treturn turnOfMost\n"},
	}},
	{"Karpenter evicts DaemonSets' pods last", []string{"controllers 8.1 Turns"}, cluster, "TestTurnsOfKarpenter", []edit{
		{turns, "\tturnOfDaemons\n\tturnOfCritical\n", "\tturnOfCritical\n\tturnOfDaemons\n"},
	}},
	{"Karpenter's turns come at once", []string{"controllers 8.1 Turns"}, cluster, "TestTurnsOfKarpenter", []edit{
		{turns, "if l.spared || e.turnOf(l.pod) == turn {", "if l.spared || e.turnOf(l.pod) >= turn {"},
	}},
	{"drift heeds what keeps a node", []string{"controllers 8.1 Drift"}, cluster, "TestANodeThatHasDrifted", []edit{
		{turns, "return t.of.Drifted && t.of.Limit > 0", "return t.of.Drifted && t.of.Limit < 0"},
	}},
	{"drift goes on without an end", []string{"controllers 8.1 Drift"}, cluster, "TestANodeThatHasDrifted", []edit{
		{turns, "return t.of.Drifted && t.of.Limit > 0", "return t.of.Drifted"},
	}},
	{"consolidation is like drift", []string{"controllers 8.1 Drift"}, cluster, "TestANodeThatHasDrifted", []edit{
		{turns, "return t.of.Drifted && t.of.Limit > 0", "return t.of.Limit > 0"},
	}},
	{"a pod that says do-not-disrupt is evicted", []string{"controllers 8.1 Drift"}, cluster, "TestANodeThatHasDrifted", []edit{
		{turns, `l.spared = e.template(l.pod).Annotations[doNotDisrupt] == "true"; !l.spared`, `l.spared = e.template(l.pod).Annotations[doNotDisrupt] == "yes"; !l.spared`},
	}},
	{"a NodePool's budget for drift counts", []string{"controllers 8.1 Budgets"}, "sim/scenario", "TestGolden|TestBudgetsOfANodePool", []edit{
		{"sim/scenario/nodepool.go", "return !ok || slices.Contains(reasons, any(consolidation))", "return true || !ok || slices.Contains(reasons, any(consolidation))"},
	}},
	{"budgets of which none holds are the default", []string{"controllers 8.1 Budgets"}, "sim/scenario", "TestBudgetsOfANodePool", []edit{
		{"sim/scenario/nodepool.go", "if !said && len(budgets) > 0 {", "if said && len(budgets) > 0 {"},
	}},
	{"nobody says that a name is held by a node that is gone", []string{"pod-lifecycle 6 Deleted pods on a dead node"}, cluster, "TestAStatefulSetOnANodeThatCrashed", []edit{
		{"sim/cluster/stuck.go", "\tcase api.KindStatefulSet:\n\t\tso =", "\tcase api.KindPod:\n\t\tso ="},
	}},
	{"nobody says that Recreate waits for a node that is gone", []string{"controllers 2 Recreate"}, cluster, "TestRecreateWaitsForAPodOfANodeThatIsGone", []edit{
		{"sim/cluster/stuck.go", "!w.waits(d) && !w.waitsForLost(d)", "!w.waits(d)"},
	}},
	{"Contour's shutdown manager is a hook as any other", []string{"load-balancers 5.2 Contour"}, "sim/servers", "TestHooksThatAreNoProgram", []edit{
		{"sim/servers/hook.go", `if get.Path == "/shutdown" && get`, `if get.Path == "/shut" && get`},
	}},
	{"every /shutdown is Contour's", []string{"load-balancers 5.2 Contour"}, "sim/servers", "TestHooksThatAreNoProgram", []edit{
		{"sim/servers/hook.go", "get.Port.IntValue() == contourShutdownPort {", "get.Port.IntValue() < contourShutdownPort {"},
	}},
	{"Karpenter tells no load balancer", []string{"controllers 8.1 Order"}, "sim", "TestTheLabelOfKarpenterIsHeardBeforeTheNodeIsGone", []edit{
		{takings, "Disrupted: true, Excludes: true,", "Disrupted: true, Excludes: false,"},
	}},
	{"Karpenter asks again after a second", []string{"controllers 8.1 Eviction"}, cluster, "TestKarpenterUnderABudget", []edit{
		{takings, "Again: 100 * engine.Millisecond", "Again: engine.Second"},
	}},
	{"Karpenter does not slow down", []string{"controllers 8.1 Eviction"}, cluster, "TestKarpenterUnderABudget", []edit{
		{takers, "min(e.of.Again<<min(tries, 20), e.of.AgainMost)", "min(e.of.Again, e.of.AgainMost)"},
	}},
	{"the instance ends with the last pod", []string{"controllers 8.1 Eviction"}, cluster, "TestKarpenterReplacesTwoNodes", []edit{
		{takings, "Rest: 2 * engine.Second", "Rest: 0 * engine.Second"},
	}},
	{"what tolerates Karpenter's taint goes", []string{"controllers 8.1 Tolerating pods"}, cluster, "TestKarpenterUnderABudget", []edit{
		{takers, "if t.of.Disrupted && world.Tolerates", "if t.of.Taint && world.Tolerates"},
	}},
	{"a NodePool's budget is rounded down", []string{"controllers 8.1 Budgets"}, "sim/world", "TestNodeBudget", []edit{
		{takings, "(nodes*b.Number + 99) / 100", "nodes * b.Number / 100"},
	}},
	{"pods are deleted at the end of the node's time", []string{"controllers 8.1 terminationGracePeriod"}, cluster, "TestKarpenterUnderABudget", []edit{
		{takers, "e.d.Engine.Now() > end-e.d.graceOf(p) {", "e.d.Engine.Now() > end {"},
	}},
	{"GKE takes a node before it adds one", []string{"controllers 8.2 Order"}, "sim/world", "TestThePaceOfAnUpgrade", []edit{
		{takings, "map[string]int{PoolGKE: 1, PoolAKS", "map[string]int{PoolGKE: 0, PoolAKS"},
	}},
	{"nodes join one by one after the first", []string{"controllers 8.2 Order"}, cluster, "TestUpgradesOfManagedPools", []edit{
		{takers, "if !ok {\n\t\t\t\tt.work(worker)", "if !ok || worker >= t.of.Surges {\n\t\t\t\tt.work(worker)"},
	}},
	{"EKS cordons a node at its turn", []string{"controllers 8.2 EKS"}, cluster, "TestUpgradesOfManagedPools", []edit{
		{takings, "Marking: MarkJoined, Excludes", "Marking: MarkEach, Excludes"},
	}},
	{"EKS ends a machine at once", []string{"controllers 8.2 EKS"}, cluster, "TestUpgradesOfManagedPools", []edit{
		{takings, "\"PodEvictionFailure\", Rest: engine.Minute", "\"PodEvictionFailure\", Rest: engine.Second"},
	}},
	{"EKS adds a node a zone", []string{"controllers 8.2 EKS"}, "sim/world", "TestThePaceOfAnUpgrade", []edit{
		{takings, "max(2*s.zones(t.Nodes), unavailable)", "max(s.zones(t.Nodes), unavailable)"},
	}},
	{"a node of AKS stays cordoned", []string{"controllers 8.2 Time of EKS and AKS"}, cluster, "TestTheTimeOfAnUpgrade", []edit{
		{takings, "Limit: 30 * engine.Minute, AtLimit: Reopens}", "Limit: 30 * engine.Minute, AtLimit: Fails}"},
	}},
	{"a node that is cordoned for good stops AKS", []string{"controllers 8.2 Time of EKS and AKS"}, cluster, "TestTheTimeOfAnUpgrade", []edit{
		{takings, "t.AtLimit = Quarantines", "t.AtLimit = Fails"},
	}},
	{"AKS begins under a budget of 0", []string{"controllers 8.2 Budgets of AKS"}, cluster, "TestAKSDoesNotBeginUnderABudgetOfZero", []edit{
		{keepers, "most.Type == intstr.Int && most.IntVal == 0", "most.Type == intstr.Int && most.IntVal < 0"},
	}},
	{"the autoscaler evicts pods that fit nowhere else", []string{"controllers 8 Place"}, cluster, "TestANodeWhosePodsFitNowhereElseStays", []edit{
		{takers, "if k := t.noPlace(); k != nil {", "if k := t.noPlace(); k != nil && t.of.Disrupted {"},
	}},
	{"the nodes that join take no pods of those that go", []string{"controllers 8 Place"}, cluster, "TestANodeWhosePodsFitNowhereElseStays", []edit{
		{"sim/placement/move.go", "for _, n := range joining {", "for _, n := range joining[:0] {"},
	}},
	{"AKS begins with the other nodes", []string{"controllers 8.2 Budgets of AKS"}, cluster, "TestAKSDoesNotBeginUnderABudgetOfZero", []edit{
		{takers, "t.kept, t.nodes = t.kept[:1], nil", "t.kept = t.kept[:1]"},
	}},
	{"a budget that is overruled is not named", []string{"controllers 8.2 Time of GKE"}, "sim/sweep", "TestABudgetThatIsOverruled", []edit{
		{takers, "\te.late = true\n\te.overrules(e.of.Limit)\n", "\te.late = true\n"},
	}},
	{"nodes that have not joined are late", []string{"controllers 8.3 Before and after"}, "sim/sweep", "TestABudgetThatIsOverruled", []edit{
		{"sim/cluster/events.go", "if w.sc.Nodes[node].Joins && w.dead[node] {", "if w.dead == nil {"},
	}},
	{"AKS has an hour", []string{"controllers 8.2 Time of EKS and AKS"}, cluster, "TestTheTimeOfAnUpgrade", []edit{
		{takings, "Limit: 30 * engine.Minute", "Limit: engine.Hour"},
	}},
	{"an upgrade goes on when it has failed", []string{"controllers 8.2 Time of EKS and AKS"}, cluster, "TestTheTimeOfAnUpgrade", []edit{
		{takers, "t.stopped = t.stopped || !ok && (t.of.AtLimit == world.Fails || t.of.AtLimit == world.Reopens)", "t.stopped = t.stopped || ok && t.of.AtLimit == world.GivesBack"},
	}},
	{"GKE gives up", []string{"controllers 8.2 Time of GKE"}, cluster, "TestTheTimeOfAnUpgrade", []edit{
		{takings, "Limit: engine.Hour, AtLimit: DeletesAll", "Limit: engine.Hour, AtLimit: Fails"},
	}},
	{"clients run on a node that has not joined", []string{"controllers 8.3 Before and after"}, "sim", "TestClientsOnADrainedNode", []edit{
		{"sim/world/room.go", "!n.Joins && !slices.Contains(drained, n.Name) && (", "!slices.Contains(drained, n.Name) && ("},
	}},
	{"a NodePool's budget for some hours counts", []string{"controllers 8.1 Budgets"}, "sim/scenario", "TestGolden", []edit{
		{"sim/scenario/nodepool.go", `if rawText(b, "schedule") != "" || `, `if rawText(b, "schedule") == "never" || `},
	}},
	{"the largest budget of a NodePool counts", []string{"controllers 8.1 Budgets"}, "sim/scenario", "TestGolden", []edit{
		{"sim/scenario/nodepool.go", "n.Of(many) < least.Of(many)", "n.Of(many) > least.Of(many)"},
	}},
	{"the gate of EKS Auto Mode is the controller's", []string{"load-balancers 2 EKS Auto Mode readiness gate"}, "sim/scenario", "TestTheGateOfANamespaceIsNamed", []edit{
		{"sim/scenario/gates.go", "return autoModeGateLabel", "return gateLabel"},
	}},
	{"a node is of the first NodePool", []string{"controllers 8.1 Pools"}, "sim/scenario", "TestTheNodePoolOfAWorkload", []edit{
		{"sim/scenario/nodegroup.go", `p.Name == g.name }`, `p == pools[0] }`},
	}},
	{"a node joins like the first", []string{"controllers 8.1 Pools"}, "sim", "TestTheNodeThatJoinsIsLikeTheOneThatGoes", []edit{
		{"sim/run.go", "sc = likeTheirs(sc, seed)\n", ""},
	}},
	{"all nodes are one pool", []string{"controllers 8.2 Pools"}, "sim/scenario", "TestOnePoolIsUpgraded", []edit{
		{"sim/scenario/case_taking.go", "Nodes: g.nodes, Surge", "Surge"},
	}},
	{"pools of Azure are Amazon's", []string{"simulator 5.4"}, "sim/scenario", "TestGolden", []edit{
		{"sim/scenario/case_taking.go", `"azure": world.PoolAKS`, `"azure": world.PoolEKS`},
	}},
	{"clients of nodes that go are judged", []string{"simulator 5.4"}, "sim/scenario", "TestGolden", []edit{
		{"sim/scenario/case_taking.go", "t.External && t.LB == nil {\n\t\t\t\treturn \"its", "!t.External && t.LB == nil {\n\t\t\t\treturn \"its"},
	}},
	{"the autoscaler takes no certain node", []string{"simulator 5.4"}, "sim", "TestTheFullestNodeIsTaken", []edit{
		{takings, "\tcase ScaleDownNode:\n\t\treturn o.Fullest\n", ""},
	}},
	{"pods find a node that has not joined", []string{"controllers 8.3 Before and after"}, cluster, "TestANodeThatJoins", []edit{
		{"sim/placement/cluster.go", "absent: of.Joins || of.Apart}", "absent: of.Apart}"},
	}},
	{"load balancers do not look at a new node", []string{"controllers 8.3 Before and after"}, "sim", "TestALoadBalancerHearsOfANewNode", []edit{
		{"sim/balancer/nodes.go", "return n.Gone || n.Tainted || n.Excluded || n.Joined", "return n.Gone || n.Tainted || n.Excluded"},
		{"sim/balancer/nodes.go", "return n.Gone || n.Excluded || n.Joined", "return n.Gone || n.Excluded"},
	}},
}
