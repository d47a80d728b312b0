package facts

const (
	scheduler = "sim/control/scheduler.go"
	obstacles = "sim/placement/cycle.go"
	placed    = "sim/placement"
	spreads   = "sim/placement/spread.go"
	scores    = "sim/placement/score.go"
	asked     = "sim/world/requests.go"
	hostPorts = "sim/world/hostport.go"
	stuck     = "sim/cluster/stuck.go"
	history   = "sim/control/history.go"
	nodeKind  = "sim/world/nodeaffinity.go"
	recorded  = "sim/control/recorder.go"
)

// Where pods find a node, and what is said of rollouts that cannot go on.
var scheduleMutants = []mutant{
	{"host ports do not count", []string{"simulator 9", "controllers 5 Host port"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{obstacles, "case t.clash(at) >= 0:", "case t.clash(at) >= 1000:"},
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
		{"sim/placement/cluster.go", "if n.ports[port] += more; n.ports[port] == 0 {", "if n.ports[port] += max(0, more); n.ports[port] == 0 {"},
	}},
	{"a pending pod is not tried again", []string{"simulator 9"}, cluster, "TestAPendingPodIsBoundWhenAnotherHasGone", []edit{
		{"sim/control/scheduler.go", "\t\ts.forget(p.ID)\n\t\ts.retry()\n", "\t\ts.forget(p.ID)\n"},
	}},
	{"anti-affinity is within a workload", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{obstacles, "return k.apart[i].of(other, c.known)", "return k.apart[i].of(other, c.known) && k.Group == other.Group"},
		{obstacles, "own.of(k, c.known) {\n\t\t\t\tt.keepOff", "own.of(k, c.known) && k.Group == other.Group {\n\t\t\t\tt.keepOff"},
	}},
	{"pods of a revision are never kept apart", []string{"simulator 9"}, cluster, "TestPodsThatAreKeptApart", []edit{
		{obstacles, "return k.apart[i].of(other, c.known)", "return k.apart[i].of(other, c.known) && other != k"},
		{obstacles, "own.of(k, c.known) {\n\t\t\t\tt.keepOff", "own.of(k, c.known) && other != k {\n\t\t\t\tt.keepOff"},
	}},
	{"nobody heeds whom others want to be apart from", []string{"simulator 9"}, cluster, "TestPodsThatAreKeptApart", []edit{
		{obstacles, "own.of(k, c.known) {\n\t\t\t\tt.keepOff", "own.of(k, c.known) && k == nil {\n\t\t\t\tt.keepOff"},
	}},
	{"matchLabelKeys do not matter", []string{"simulator 9"}, cluster, "TestARolloutThatFindsNoNodeIsStuck", []edit{
		{"sim/placement/term.go", "alike(out.selector, t.MatchLabelKeys, selection.In, own)", "alike(out.selector, nil, selection.In, own)"},
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
	{"a program that is not there answers", []string{"pod-lifecycle 3.2.7 error"}, cluster, "TestAProgramThatTheImageDoesNotHave", []edit{
		{"sim/kubelet/probe.go", "missing != \"\" || c.wk.k.d.Specs.Lacks(c.spec, spec.Exec)", "missing != \"\" || c == nil"},
	}},
	{"a postStart hook that fails is no harm", []string{"pod-lifecycle 4.2 postStart"}, cluster, "TestAProgramThatTheImageDoesNotHave", []edit{
		{starting, "case c.hook.After.Fails && c.Running:", "case c.hook.After.Fails && !c.Running:"},
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

// Where pods find a node by requests, spread and affinity.
var placementMutants = []mutant{
	{"what a full node has left does not matter", []string{"controllers 5 Requests"}, cluster, "TestASurgeWithoutRoom", []edit{
		{obstacles, "r.Amount > n.room[r.resource]-n.used[r.resource]", "r.Amount > n.room[r.resource]"},
	}},
	{"the last bit is not given away", []string{"controllers 5 Requests"}, placed, "TestWhyNoNodeWillDo", []edit{
		{obstacles, "r.Amount > n.room[r.resource]-n.used[r.resource]", "r.Amount >= n.room[r.resource]-n.used[r.resource]"},
	}},
	{"made-up nodes have no room", []string{"controllers 5 Requests"}, placed, "TestWhyNoNodeWillDo", []edit{
		{obstacles, " && n.room[r.resource] != unlimited && ", " && "},
	}},
	{"init containers are added to the others", []string{"controllers 5 Requests"}, "sim/world", "TestWhatAPodAsksFor", []edit{
		{asked, "\tsum.most(initial.list())\n", "\tsum.add(initial.list())\n"},
	}},
	{"init containers run without the sidecars", []string{"controllers 5 Requests"}, "sim/world", "TestWhatAPodAsksFor", []edit{
		{asked, "\t\twhile.add(sidecars.list())\n", ""},
	}},
	{"sidecars ask for nothing", []string{"controllers 5 Requests"}, "sim/world", "TestWhatAPodAsksFor", []edit{
		{asked, "\t\t\tsum.add(own)\n\t\t\tsidecars", "\t\t\tsidecars"},
	}},
	{"a runtime class costs nothing", []string{"controllers 5 Requests"}, "sim/world", "TestWhatAPodAsksFor", []edit{
		{asked, "\tsum.add(overhead)\n", ""},
	}},
	{"a limit is no request", []string{"controllers 5 Requests"}, "sim/world", "TestWhatAPodAsksFor", []edit{
		{asked, "range r.Limits {", "range corev1.ResourceList(nil) {"},
	}},
	{"a node that says what it has has any device", []string{"controllers 5 Requests"}, "sim/world", "TestWhatANodeHas", []edit{
		{asked, "\tdefault:\n\t\treturn 0, true\n", "\tdefault:\n\t\treturn 0, false\n"},
	}},
	{"a node takes one pod more", []string{"controllers 5 Pods per node"}, cluster, "TestASurgeWithoutRoom", []edit{
		{obstacles, "at.pods >= at.most:", "at.pods > at.most:"},
	}},
	{"a node takes 250 pods", []string{"controllers 5 Pods per node"}, "sim/world", "TestWhatANodeHas", []edit{
		{asked, "const usualPods = 110", "const usualPods = 250"},
	}},
	{"spread is looked at before requests", []string{"controllers 5 Order of filters"}, placed, "TestWhyNoNodeWillDo", []edit{
		{obstacles, "\tcase at.cordoned && !world", "\tcase len(at.taints) > 0 && !world.Tolerates(tolerations, at.taints):\n\t\treturn Tainted\n\tcase at.cordoned && !world"},
	}},
	{"only the first resource that is missing is named", []string{"controllers 5 FailedScheduling"}, placed, "TestWhyNoNodeWillDo", []edit{
		{obstacles, "out = append(out, Obstacle{Why: Insufficient,", "return append(out, Obstacle{Why: Insufficient,"},
	}},
	{"reasons stand in the order of the filters", []string{"controllers 5 FailedScheduling"}, placed, "TestWhyNoNodeWillDo", []edit{
		{"sim/placement/words.go", "\tslices.Sort(parts)\n", "\tslices.Sort(parts)\n\tslices.Reverse(parts)\n"},
	}},
	{"one pod more than maxSkew is let in", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "-t.spread[i].least > h.maxSkew", "-t.spread[i].least > h.maxSkew+1"},
	}},
	{"the pod itself does not count", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "\t\t\town = 1\n", "\t\t\town = 0\n"},
	}},
	{"minDomains do not matter", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "if len(pods) < minDomains {", "if len(pods) < min(minDomains, 0) {"},
	}},
	{"pods of other namespaces count for spread", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "return other.Namespace == namespace && ", "return "},
	}},
	{"matchLabelKeys do not matter for spread", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "alike(selectorOf(t.LabelSelector), t.MatchLabelKeys, selection.In, own)", "alike(selectorOf(t.LabelSelector), nil, selection.In, own)"},
	}},
	{"a node without one of the labels counts for the others", []string{"controllers 5 Topology spread"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "c.nodes[n].gone() || !c.hasKeys(n, all)", "c.nodes[n].gone()"},
	}},
	{"pods that terminate count for spread", []string{"controllers 5 Terminating pods"}, placed, "TestPodsThatLeave", []edit{
		{spreads, "pods += other.on[n] - other.leaving[n]\n\t\t\t}\n\t\t\tout[i]", "pods += other.on[n]\n\t\t\t}\n\t\t\tout[i]"},
	}},
	{"a cordoned node is no domain", []string{"controllers 5 Node inclusion policies"}, cluster, "TestADrainAgainstTopologySpread", []edit{
		{spreads, "(!t.tolerated || !at.marked && world", "(!at.marked && world"},
	}},
	{"nodeTaintsPolicy does not matter", []string{"controllers 5 Node inclusion policies"}, cluster, "TestADrainAgainstTopologySpread", []edit{
		{spreads, "(!t.tolerated || !at.marked && world", "(k != nil || world"},
	}},
	{"nodes of another kind are domains", []string{"controllers 5 Node inclusion policies"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{spreads, "return !(t.alike && k.unlike[n]) && ", "return "},
	}},
	{"the first of those who want to be together waits for ever", []string{"controllers 5 Affinity"}, placed, "TestWhyNoNodeWillDo", []edit{
		{obstacles, "return all || t.fresh", "return all"},
	}},
	{"one term of several is enough", []string{"controllers 5 Affinity"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{"sim/placement/term.go", "return len(terms) > 0 && !slices.ContainsFunc(terms, func(t term) bool { return !t.of(k, known) })", "return slices.ContainsFunc(terms, func(t term) bool { return t.of(k, known) })"},
	}},
	{"nobody is tried again when company has come", []string{"controllers 5 Affinity"}, cluster, "TestAPodWaitsForCompany", []edit{
		{scheduler, "return k.Waits() })", "return k == nil })"},
	}},
	{"anti-affinity is by node alone", []string{"controllers 5 Anti-affinity by any key"}, cluster, "TestASurgeWithoutRoom", []edit{
		{"sim/placement/term.go", "out := term{key: t.TopologyKey, ", "out := term{key: corev1.LabelHostname, "},
	}},
	{"mismatchLabelKeys do not matter", []string{"controllers 5 Anti-affinity by any key"}, placed, "TestFeasibleNodesAreThoseOfThePlainRules", []edit{
		{"sim/placement/term.go", "t.MismatchLabelKeys, selection.NotIn, own)", "nil, selection.NotIn, own)"},
	}},
	{"a term without namespaces is about all", []string{"controllers 5 Namespaces of a term"}, placed, "TestNamespacesOfATerm", []edit{
		{"sim/placement/term.go", "out.namespaces = []string{namespace}", "out.spaces = labels.Everything()"},
	}},
	{"a namespaceSelector selects all", []string{"controllers 5 Namespaces of a term"}, placed, "TestNamespacesOfATerm", []edit{
		{"sim/placement/term.go", "\tif found {\n\t\treturn s.Matches(set)\n\t}\n", "\tif found {\n\t\treturn true\n\t}\n"},
	}},
}

// Which of several nodes a pod gets.
var scoreMutants = []mutant{
	{"preferences do not matter", []string{"controllers 5 Scores"}, placed, "TestWhichNodeIsChosen", []edit{
		{scores, "out[i] += p.weight * s", "out[i] += 0 * p.weight * s"},
	}},
	{"anti-affinity that is preferred draws pods near", []string{"controllers 5 Scores"}, placed, "TestWhichNodeIsChosen", []edit{
		{"sim/placement/term.go", "newTerm(&list[i].PodAffinityTerm, sign*int64(list[i].Weight)", "newTerm(&list[i].PodAffinityTerm, sign*sign*int64(list[i].Weight)"},
	}},
	{"required affinity of others does not count", []string{"controllers 5 Scores"}, placed, "TestWhichNodeIsChosen", []edit{
		{scores, "t.c.weigh(sums, its.key, other, requiredWeight)", "t.c.weigh(sums, its.key, other, 0)"},
	}},
	{"the first of equals is taken", []string{"controllers 5 Scores"}, placed, "TestWhichNodeIsChosen", []edit{
		{"sim/placement/choose.go", "return best[draw(len(best))]", "return best[0*draw(len(best))]"},
	}},
	{"what others ask for is not used up", []string{"controllers 5 Scores"}, placed, "TestScoresOfRequests", []edit{
		{scores, "out = append(out, share{used[i] + extra, n.has[i]})", "out = append(out, share{0*used[i] + extra, n.has[i]})"},
	}},
	{"a container that does not say asks for nothing", []string{"controllers 5 Scores"}, placed, "TestScoresOfRequests", []edit{
		{"sim/world/requests.go", "UnsaidMemory = 200 << 20", "UnsaidMemory = 1"},
	}},
	{"all domains weigh the same", []string{"controllers 5 Default spread"}, placed, "TestScoresOfSpread", []edit{
		{scores, "engine.Ln(uint64(size+2))", "engine.Ln(uint64(0*size+2))"},
	}},
	{"the default maxSkew of zones is that of nodes", []string{"controllers 5 Default spread"}, placed, "TestScoresOfSpread", []edit{
		{spreads, "index: -1, maxSkew: 5,", "index: -1, maxSkew: 3,"},
	}},
	{"pods that terminate weigh as others do", []string{"controllers 5 Default spread", "controllers 5 Terminating pods"}, placed, "TestScoresOfSpread", []edit{
		{scores, "pods += other.on[n] - other.leaving[n]", "pods += other.on[n]"},
	}},
}

// Labels that actions change, and selectors.
var labelMutants = []mutant{
	{"a pod stays in its Service whatever its labels", []string{"controllers 9.1 Removing the label", "controllers 9.1 Out:"}, cluster, "TestAPodThatIsRelabelled", []edit{
		{"sim/cluster/label.go", "if !w.relabels || p == nil {", "if !w.relabels || p == nil || p.Labels != nil {"},
	}},
	{"a label that is taken off does not matter", []string{"controllers 9.1 Removing the label"}, cluster, "TestAPodThatIsRelabelled", []edit{
		{"sim/api/objects.go", "return (p.Labels == nil) == (o.Labels == nil) && maps", "return maps"},
	}},
	{"changed labels are no news", []string{"controllers 9.1 Removing the label"}, cluster, "TestAPodThatIsRelabelled", []edit{
		{"sim/endpointslice/controller.go", " || !old.SameLabels(p)", ""},
	}},
	{"a ReplicaSet keeps a pod whatever its labels", []string{"controllers 3 Claims"}, cluster, "TestAPodThatIsRelabelled", []edit{
		{"sim/control/claim.go", "return p.Labels == nil || world", "return p.Labels != nil || p.Labels == nil || world"},
	}},
	{"nobody takes a pod back", []string{"controllers 3 Claims"}, cluster, "TestAPodThatComesBack", []edit{
		{"sim/control/claim.go", "if p.Active() && c.d.claims(p) {", "if p.Gone && c.d.claims(p) {"},
	}},
	{"any label has a pod released", []string{"controllers 3 Claims"}, cluster, "TestAPodThatComesBack", []edit{
		{"sim/world/label.go", "return !changed && Matches(SelectorOf(r), have)", "return !changed && have == nil"},
	}},
	{"the settled state keeps the selector of before", []string{"controllers 9.1 Selector"}, cluster, "TestAServiceWithAnotherSelector", []edit{
		{services, "\t\tw.settledOf[service].outdate()\n", ""},
	}},
	{"no controller hears of a selector", []string{"controllers 9.1 Selector"}, cluster, "TestAServiceWithAnotherSelector", []edit{
		{"sim/endpointslice/controller.go", "\t\tc.seen[o.Number] = o\n", ""},
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
