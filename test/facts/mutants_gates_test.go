package facts

const (
	gates     = "sim/cluster/gates.go"
	progress  = "sim/control/progress.go"
	component = "sim/cluster/component.go"

	balancerGates = "sim/balancer/gates.go"
)

var gateMutants = []mutant{
	{"gates do not matter", []string{"pod-lifecycle 4 Pod Ready"}, cluster, "TestReadinessGates", []edit{
		{"sim/kubelet/kubelet.go", "ready := containers && wk.gatesOpen()", "ready := containers"},
	}},
	{"one open gate is enough", []string{"pod-lifecycle 4 Pod Ready"}, cluster, "TestReadinessGates", []edit{
		{"sim/kubelet/gates.go", "\t\tif !slices.Contains(wk.open, g) {\n\t\t\treturn false\n\t\t}\n\t}\n\treturn true", "\t\tif slices.Contains(wk.open, g) {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn len(wk.gates) == 0"},
	}},
	{"a pod with an open gate is ready whatever its containers are", []string{"pod-lifecycle 4 Pod Ready"}, cluster, "TestReadinessOfAllContainersCounts|TestReadinessOfANewPod", []edit{
		{"sim/kubelet/kubelet.go", "ready := containers && wk.gatesOpen()", "ready := containers || wk.gatesOpen()"},
	}},
	{"new pods are born with open gates", []string{"pod-lifecycle 4 Pod Ready"}, cluster, "TestReadinessGates|TestRolloutWaitsForTheGate", []edit{
		{"sim/cluster/pods.go", "\t\tGates: w.gatesOf(id),\n", "\t\tGates: w.gatesOf(id), Open: w.gatesOf(id),\n"},
	}},
	{"the kubelet does not look at conditions", []string{"pod-lifecycle 4 External readiness-gate"}, cluster, "TestReadinessGates|TestTheWayOfAGate", []edit{
		{"sim/kubelet/gates.go", "\twk.open = p.Open\n\twk.RequestSync()\n", "\twk.RequestSync()\n"},
	}},
	{"a condition is written into the status at once, without work on the pod", []string{"pod-lifecycle 4 External readiness-gate"}, cluster, "TestAGateWaitsForTheRelist", []edit{
		{"sim/kubelet/gates.go", "\twk.open = p.Open\n\twk.RequestSync()\n", "\twk.open = p.Open\n\twk.update()\n"},
	}},
	{"nothing sets a gate that nothing of the input sets", []string{"simulator 5.3 Keeper"}, cluster, "TestWhatIsNotInTheInputSetsAGate", []edit{
		{gates, "\tif len(gates) == 0 {\n\t\treturn\n\t}\n\tw.pods", "\tif len(gates) >= 0 {\n\t\treturn\n\t}\n\tw.pods"},
	}},
	{"it sets them at once", []string{"simulator 5.3 Keeper"}, cluster, "TestWhatIsNotInTheInputSetsAGate", []edit{
		{gates, "\tw.eng.After(after, engine.ClassTimer", "\tw.eng.After(after-after, engine.ClassTimer"},
	}},
	{"it sets those of actions, too", []string{"simulator 5.3 Keeper"}, cluster, "TestWhatIsNotInTheInputSetsAGate", []edit{
		{"sim/world/gates.go", "return s.Keeper.After != nil && !s.ByAction(w, gate)", "return s.Keeper.After != nil && w != nil && gate != \"\""},
	}},
	{"a closing gate is not written", []string{"pod-lifecycle 4 External readiness-gate"}, cluster, "TestReadinessGates", []edit{
		{"sim/kubelet/gates.go", "\tif slices.Equal(wk.open, p.Open) {", "\tif len(p.Open) <= len(wk.open) {"},
	}},
	{"a pod is no target before its gate is open", []string{"pod-lifecycle 4 External readiness-gate"}, balancers, "TestMembersWithAGate|TestAGateOpens", []edit{
		{"sim/balancer/balancer.go", "(e.Ready || e.Gated && e.ContainersReady) && !e.Terminating", "e.Ready && !e.Terminating"},
	}},
	{"a pod is a target before its containers are ready", []string{"pod-lifecycle 4 External readiness-gate"}, balancers, "TestMembersWithAGate", []edit{
		{"sim/balancer/balancer.go", "(e.Ready || e.Gated && e.ContainersReady) && !e.Terminating", "(e.Ready || e.Gated) && !e.Terminating"},
	}},
	{"a gate opens when its pod is registered", []string{"pod-lifecycle 4 External readiness-gate"}, balancers, "TestAGateOpens|TestGatesSleep", []edit{
		{balancerGates, "m != nil && m.healthy && !m.removed", "m != nil && !m.removed"},
	}},
	{"a gate opens as soon as its pod is healthy", []string{"pod-lifecycle 4 External readiness-gate", "load-balancers 2 lbc readiness gate"}, balancers, "TestAGateOpens", []edit{
		{"sim/balancer/check.go", "\tb.recheck()\n", "\tb.keepGates()\n"},
	}},
	{"a gate's timeout counts from when it is seen", []string{"pod-lifecycle 4 External readiness-gate", "load-balancers 2 GKE NEG L7"}, balancers, "TestGateTimeout", []edit{
		{balancerGates, "late := e.Created + b.spec.GateTimeout", "late := b.gates.origin + b.spec.GateTimeout"},
	}},
	{"one of two controllers opens a gate", []string{"pod-lifecycle 4 External readiness-gate"}, "sim", "TestAGateOfTwoLoadBalancers", []edit{
		{"sim/gates.go", "&& f.run.allFound(id, gate)", "&& (f.run.allFound(id, gate) || f.opened[id])"},
	}},
	{"nobody injects gates", []string{"pod-lifecycle 4 External readiness-gate"}, cluster, "TestInjectedGate", []edit{
		{gates, "if gate := t.LB.InjectedGate(t.Port); gate != \"\" {", "if gate := t.LB.InjectedGate(t.Port); gate == \"none\" {"},
	}},
}

var progressMutants = []mutant{
	{"the deadline is a tenth longer", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "engine.Time(*seconds)*engine.Second + timerSlack", "engine.Time(*seconds)*engine.Second*11/10 + timerSlack"},
	}},
	{"the deadline counts from the beginning", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "\tcase p.paused && !d.Paused, counts.advanced(before): // resuming", "\tcase p.paused && !d.Paused, counts.advanced(before) && p.exceeded: // resuming"},
	}},
	{"a pause does not start the time again", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "\tcase p.paused && !d.Paused, counts.advanced(before): // resuming", "\tcase counts.advanced(before): // resuming"},
	}},
	{"the time runs while it is paused", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "if p.done || p.paused || p.exceeded || seconds == nil {", "if p.done || p.exceeded || seconds == nil {"},
	}},
	{"a rollout that is complete has a deadline", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "\tcase p.done:\n\t\treturn\n", ""},
		{"sim/control/progress.go", "\tp.done = counts.complete(d.Replicas)\n", ""},
	}},
	{"fewer old pods are no progress", []string{"controllers 2 Progress timeout"}, "sim/control", "TestWhatIsProgress", []edit{
		{"sim/control/progress.go", " || c.old < before.old", ""},
	}},
	{"what is ready is no progress", []string{"controllers 2 Progress timeout"}, "sim/control", "TestWhatIsProgress", []edit{
		{"sim/control/progress.go", " || c.ready > before.ready", ""},
	}},
	{"the moment counts, not its second", []string{"controllers 2 Progress timeout"}, cluster, "TestProgressDeadline", []edit{
		{"sim/control/progress.go", "at := p.last.TruncateToSecond() +", "at := p.last +"},
	}},
}

var componentMutants = []mutant{
	{"a component that is paused hears all the same", []string{"simulator 6"}, cluster, "TestPausedComponents|TestPausedProxy|TestOutageAndPause", []edit{
		{"sim/api/store.go", "s.AwakeWith(s.all[number].Owner, s.hand, number)", "s.AwakeWith(s.owner, s.hand, number)"},
	}},
	{"what a component has to do is lost while it is paused", []string{"simulator 6"}, cluster, "TestPausedComponents|TestOutageAndPause", []edit{
		{"sim/api/pause.go", "s.frozen[owner] = append(held, run)", "s.frozen[owner] = held"},
	}},
	{"a paused proxy ends its sync", []string{"simulator 6"}, cluster, "TestPausedInTheMiddleOfASync", []edit{
		{"sim/nodeproxy/proxy.go", "p.api.AwakeWith(p.Owner, run, at)", "run(at)"},
	}},
	{"the containers of a paused kubelet stop, too", []string{"simulator 6"}, cluster, "TestPausedKubelet", []edit{
		{kubelet, "return k.d.Engine.After(d, engine.ClassTimer, k.Owner, name, k.whileUp(run))", "return k.d.Engine.After(d, engine.ClassTimer, k.Owner, name, func() { k.d.API.Awake(k.Owner, run) })"},
	}},
	{"a restarted proxy waits for minSyncPeriod", []string{"simulator 6"}, cluster, "TestRestartedProxy", []edit{
		{"sim/nodeproxy/proxy.go", "p.syncing, p.state, p.restarts = nil, pace.State{}, p.restarts+1", "p.syncing, p.restarts = nil, p.restarts+1"},
	}},
	{"a paused proxy's lateness is the watch's", []string{"simulator 6"}, cluster, "TestPausedProxy", []edit{
		{"sim/cluster/blame.go", "\tcase w.asleep(p.Owner): // the news may be there: the proxy does nothing with it\n\t\treturn ledger.ProxySync\n", ""},
	}},
	{"a paused controller of a load balancer acts", []string{"simulator 6"}, balancers, "TestPausedController", []edit{
		{"sim/balancer/balancer.go", "\tif b.paused {\n", "\tif b.paused && b.waiting {\n"},
	}},
	{"it has forgotten what it heard", []string{"simulator 6"}, balancers, "TestPausedController", []edit{
		{"sim/balancer/balancer.go", "\t\tb.pending = true\n", ""},
	}},
}
