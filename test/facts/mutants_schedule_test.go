package facts

const (
	scheduler = "sim/control/scheduler.go"
	obstacles = "sim/control/obstacle.go"
	hostPorts = "sim/world/hostport.go"
	stuck     = "sim/cluster/stuck.go"
	history   = "sim/control/history.go"
	nodeKind  = "sim/world/nodeaffinity.go"
	recorded  = "sim/control/recorder.go"
)

// Where pods find a node, and what is said of rollouts that cannot go on.
var scheduleMutants = []mutant{
	{"host ports do not count", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/control/obstacle.go", "case s.clash(n, need) >= 0:", "case s.clash(n, need) >= 1000:"},
	}},
	{"hostNetwork takes no port", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/world/hostport.go", "number, path = p.ContainerPort, \"spec.template.spec.hostNetwork\"", "path = \"spec.template.spec.hostNetwork\""},
	}},
	{"host ports of two protocols clash", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestHostPortsThatDoNotClash", []edit{
		{"sim/world/hostport.go", " && p.Protocol == other.Protocol", ""},
	}},
	{"host ports of two addresses clash", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestHostPortsThatDoNotClash", []edit{
		{"sim/world/hostport.go", "(p.IP == other.IP || p.IP == everyAddress", "(p.IP == other.IP || p.IP != everyAddress || p.IP == everyAddress"},
	}},
	{"one address does not clash with all", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestHostPortsThatDoNotClash", []edit{
		{"sim/world/hostport.go", "p.IP == other.IP || p.IP == everyAddress || other.IP == everyAddress", "p.IP == other.IP"},
	}},
	{"a host port stays taken", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestAPendingPodIsBoundWhenAnotherHasGone", []edit{
		{"sim/control/scheduler.go", "if s.ports[node][port] += more; s.ports[node][port] == 0 {", "if s.ports[node][port] += max(0, more); s.ports[node][port] == 0 {"},
	}},
	{"a pending pod is not tried again", []string{"simulator 9"}, cluster, "TestAPendingPodIsBoundWhenAnotherHasGone", []edit{
		{"sim/control/scheduler.go", "\t\ts.forget(p.ID)\n\t\ts.retry()\n", "\t\ts.forget(p.ID)\n"},
	}},
	{"anti-affinity is within a workload", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/control/obstacle.go", "case mine && !revision, its && !itsRevision:", "case (mine && !revision || its && !itsRevision) && i == id.Workload:"},
	}},
	{"pods of a revision are never kept apart", []string{"simulator 9"}, cluster, "TestPodsThatAreKeptApart", []edit{
		{"sim/control/obstacle.go", "return need.apartInSet && ", "return need.apartInSet && n < 0 && "},
	}},
	{"nobody heeds whom others want to be apart from", []string{"simulator 9"}, cluster, "TestPodsThatAreKeptApart", []edit{
		{"sim/control/obstacle.go", ", its && !itsRevision:", ", its && !itsRevision && false:"},
	}},
	{"matchLabelKeys do not matter", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/world/workload.go", "if !slices.Contains(t.MatchLabelKeys, appsv1.DefaultDeploymentUniqueLabelKey) {", "if w != nil {"},
	}},
	{"nodeSelector does not matter", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/world/nodeaffinity.go", "if !labels.SelectorFromSet(pod.NodeSelector).Matches(have) {", "if labels.SelectorFromSet(pod.NodeSelector) == nil {"},
	}},
	{"a Node without a label of its system is another one", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/world/nodeaffinity.go", "corev1.LabelOSStable: \"linux\", ", ""},
	}},
	{"a pod that finds no node at the beginning runs", []string{"simulator 9"}, cluster, "TestPodsWithoutANodeArePendingFromTheBeginning", []edit{
		{"sim/cluster/begin.go", "p.Node = w.sched.Place(p)", "p.Node = max(0, w.sched.Place(p))"},
	}},
	{"a probe finds a port that is not there", []string{"pod-lifecycle 3.3 http"}, cluster, "TestAProbeOfANamedPort", []edit{
		{"sim/kubelet/probeport.go", "if port.Type != intstr.String {", "if port.Type == intstr.String {"},
	}},
	{"a port that is not there is asked", []string{"pod-lifecycle 3.3 http"}, cluster, "TestAProbeOfANamedPort", []edit{
		{"sim/kubelet/probe.go", "s.started == (p.kind == startupProbe) || p.unasked:", "s.started == (p.kind == startupProbe):"},
	}},
	{"old ReplicaSets are kept", []string{"controllers 2.3"}, cluster, "TestOldReplicaSetsGoByTheHistoryLimit", []edit{
		{"sim/control/history.go", "old[:len(old)-int(*limit)]", "old[:0]"},
	}},
	{"the ReplicaSet made first goes first", []string{"controllers 2.3"}, cluster, "TestOldReplicaSetsGoByTheHistoryLimit", []edit{
		{"sim/control/history.go", "return slices.Index(d.History, a.ID.Revision) - slices.Index(d.History, b.ID.Revision)", "return a.ID.Revision - b.ID.Revision"},
	}},
	{"deleting a ReplicaSet takes no token", []string{"controllers 2.3"}, cluster, "TestDeletingReplicaSetsTakesTokens", []edit{
		{history, `c.d.API.Limited(&c.Client, c.Owner, "delete replicaset"`, `c.d.API.Write(c.Owner, "delete replicaset"`},
	}},
	{"a rollback goes to what is gone", []string{"controllers 2.3"}, cluster, "TestARollbackToWhatIsGone", []edit{
		{"sim/cluster/keeper.go", "return there", "return there || revision >= 0"},
	}},
	{"what is paused is stuck", []string{"simulator 9"}, cluster, "TestWhatARolloutWaitsForInVain", []edit{
		{stuck, "!w.begun[i] || d.Paused ||", "!w.begun[i] ||"},
	}},
	{"what waits for a pod to go is stuck", []string{"simulator 9"}, cluster, "TestAPendingPodIsBoundWhenAnotherHasGone", []edit{
		{stuck, "return c.leaving == \"\" && c.active == pods", "return c.active == pods"},
		{stuck, "if w.anyLeaving() {", "if w.anyLeaving() && w == nil {"},
	}},
	{"who failed after the rollout is stuck", []string{"simulator 9"}, cluster, "TestWhatARolloutWaitsForInVain", []edit{
		{progress, "return p != nil && !p.done && p.revision == d.Revision", "return p != nil && p.revision == d.Revision"},
	}},
	{"a pod that is not ready yet never is", []string{"simulator 9"}, "sim", "TestARolloutThatMissesItsDeadline", []edit{
		{stuck, "\tcase !w.outOfPatience(d, p):\n\t\treturn nil\n", ""},
	}},
	{"a rollout without a node goes on until the hour is over", []string{"simulator 9"}, "sim", "TestARolloutWithoutANodeEndsSoonAndIsStuck", []edit{
		{"sim/run.go", "stuck := next > stop && (r.cluster.Overdue() || r.cluster.CannotEnd() != nil)", "stuck := next > stop && r.cluster.Overdue()"},
	}},
}

// What the control plane writes beside the objects themselves, and forced deletions.
var writeMutants = []mutant{
	{"grace 0 waits for the kubelet", []string{"pod-lifecycle 1.6"}, cluster, "TestAForcedDeletionDoesNotWaitForTheKubelet", []edit{
		{"sim/cluster/pods.go", "\t\t\tw.forceOff(id)\n", ""},
	}},
	{"a forced deletion is one step", []string{"pod-lifecycle 1.6", "measured 1 force delete"}, cluster, "TestAForcedDeletionDoesNotWaitForTheKubelet", []edit{
		{"sim/cluster/pods.go", "\t\t\tw.forceOff(id)\n", "\t\t\tnext.Gone = true\n"},
	}},
	{"no sync waits for its status", []string{"simulator 1"}, cluster, "TestASyncEndsWithItsStatus", []edit{
		{"sim/control/deployment.go", "\tif c.wrote[d.Workload] == s {\n", "\tif c.wrote[d.Workload] == s || s.of != nil {\n"},
	}},
	{"a status is of the counts only", []string{"simulator 1"}, cluster, "TestASyncEndsWithItsStatus", []edit{
		{"sim/control/deployment.go", "s := deploymentStatus{of: d, rolloutCounts: countsOf(in)}", "s := deploymentStatus{rolloutCounts: countsOf(in)}"},
	}},
	{"Events take no tokens", []string{"simulator 1"}, "sim/control", "TestEventsTakeTokensOfTheirController", []edit{
		{"sim/control/recorder.go", "delay := r.limit.Take(now) - now + ", "delay := now - now + "},
	}},
	{"all Events are written at once", []string{"simulator 1"}, "sim/control", "TestEventsTakeTokensOfTheirController", []edit{
		{"sim/control/recorder.go", "if r.waiting++; r.waiting == 1 {", "if r.waiting++; r.waiting > 0 {"},
	}},
	{"Events are not filtered", []string{"simulator 1"}, "sim/control", "TestEventsTakeTokensOfTheirController", []edit{
		{recorded, "if !f.Spare(r.d.Engine.Now()) {", "if f == nil {"},
	}},
	{"the filter is never filled again", []string{"simulator 1"}, "sim/control", "TestEventsTakeTokensOfTheirController", []edit{
		{"sim/control/recorder.go", "spamInterval = 300 * engine.Second", "spamInterval = 3000 * engine.Second"},
	}},
	{"the oldest of equal pods is the victim", []string{"measured 1 UID tie-break"}, cluster, "TestEqualVictimsAreDrawn", []edit{
		{replicaSet, "\treturn c.byChance(a.pod, b.pod)\n", "\treturn cmp.Compare(a.pod.ID, b.pod.ID)\n"},
	}},
	{"a server that has drained goes on serving its connections", []string{"simulator 1"}, "sim", "TestAServerThatDrainsClosesItsConnections", []edit{
		{"sim/network.go", "if i.Running && !i.Listening && i.Term >= 0 {", "if i.Running && !i.Listening && i.Term >= 0 && o == nil {"},
	}},
	{"a server that listens until its end never comes to it", []string{"simulator 1"}, "sim", "TestAServerThatDrainsClosesItsConnections", []edit{
		{"sim/network.go", "if !i.Listening || i.App.Listener == world.ListenerStays {", "if !i.Listening || i.App.Listener == world.ListenerStays && i.Term < 0 {"},
	}},
}
