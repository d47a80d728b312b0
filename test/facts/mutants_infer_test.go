package facts

// What Infer has in the world of a case.
var inferMutants = []mutant{
	{"a case has its own workload alone", []string{"simulator 9"}, "sim/sweep", "TestACanaryIsATenthOfItsService", []edit{
		{"sim/scenario/owner.go", "c.owners[other].simulated() && !slices.Contains(list, other)", "c.owners[other].simulated() && !slices.Contains(list, other) && i < 0"},
	}},
	{"a budget counts the pods of the case's workload alone", []string{"simulator 5.4"}, scenario, "TestWhatABudgetCountsIsInTheWorld", []edit{
		{"sim/scenario/case_drain.go", "if !slices.ContainsFunc(list, covers) {", "if len(list) > 0 || !slices.ContainsFunc(list, covers) {"},
	}},
	{"pods of kinds that are not simulated are not missed", []string{"simulator 9"}, scenario, "TestGolden/world", []edit{
		{"sim/scenario/owner.go", "if i == own || other.replicas == 0 || other.ends() {", "if i == own || other.replicas == 0 || other.ends() || !other.simulated() {"},
	}},
	{"policy Local has as many nodes as pods", []string{"simulator 9"}, scenario, "TestGolden/world", []edit{
		{"sim/scenario/room.go", "own := room{2 * pods,", "own := room{pods,"},
	}},
	{"workloads that exclude each other share their nodes", []string{"simulator 5.3"}, scenario, "TestWorkloadsThatExcludeEachOtherHaveANodeForEachOfTheirPods", []edit{
		{"sim/scenario/room.go", "nodes += o.replicas", "nodes += 0 * o.replicas"},
	}},
	{"the number of nodes is not varied", []string{"simulator 9"}, scenario, "TestTheNumberOfMadeUpNodesIsVaried", []edit{
		{"sim/scenario/room.go", "if changed := s.Clone(); changed.Resize(count) {", "if changed := s.Clone(); count < 0 && changed.Resize(count) {"},
	}},
	{"an HPA takes a workload away from 0 replicas", []string{"simulator 5.3"}, scenario, "TestGolden/world", []edit{
		{"sim/scenario/scaler.go", "(have > 0 || s.raises)", "(have >= 0 || s.raises)"},
	}},
	{"a port named webhook is the API server's", []string{"simulator 5.1"}, scenario, "TestGolden/ports", []edit{
		{"sim/scenario/class.go", "\tcase w.isWebhook(s):", "\tcase w.isWebhook(s) || isWebhookByName(s):"},
	}},
	{"pools of a slow app stay as they are", []string{"simulator 5.1 Pools"}, scenario, "TestPoolsOfASlowApp", []edit{
		{"sim/scenario/traffic.go", "\tb.growPool(t, false)\n", ""},
	}},
	{"pools grow to what is busy on average", []string{"simulator 5.1 Pools"}, scenario, "TestPoolsOfASlowApp", []edit{
		{"sim/scenario/pool.go", "min(2*busy, slowPool)", "min(busy, slowPool)"},
	}},
	{"a known exporter's port is for users", []string{"simulator 5.1 Scrapes"}, scenario, "TestWhichPortsAreScraped", []edit{
		{"sim/scenario/class.go", "!isPrometheus(s) || exports(s))", "!isPrometheus(s))"},
	}},
	{"profiling is for users", []string{"simulator 5.1"}, scenario, "TestGolden/ports", []edit{
		{"sim/scenario/class.go", "\tcase isAdmin(s) && !w.routed(s):", "\tcase isAdmin(s) && w.routed(s):"},
	}},
	{"clients in a mesh use kube-proxy's rules", []string{"simulator 5.1"}, scenario, "TestGolden/mesh", []edit{
		{"sim/scenario/infer.go", "cmp.Or(b.throughMesh(e), ", "cmp.Or("},
	}},
}
