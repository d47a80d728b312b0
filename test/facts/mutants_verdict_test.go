package facts

const (
	pairs    = "sim/record/pair.go"
	verdict  = "sim/record/verdict.go"
	checking = "sim/record"
	sweeping = "sim/sweep"
)

// verdictMutants are of what is made of runs: what the action costs, the word for it, the number of runs, what counts as a fix,
// and what makes the exit code 1.
var verdictMutants = []mutant{
	{"a fix is confirmed on the seeds that it was found with", []string{"simulator 3"}, sweeping, "TestFixesAreConfirmedOnOtherSeeds", []edit{
		{"sim/sweep/confirm.go", "s.pool.opts.Seed + newSeeds + i", "s.pool.opts.Seed + i"},
	}},
	{"what fails without the action is its loss", []string{"simulator 9"}, checking, "TestWhatFailsWithoutTheActionIsNotItsLoss", []edit{
		{pairs, "return without[q.Number] })", "return without[q.Number] && false })"},
	}},
	{"runs are not compared with the same without the action", []string{"simulator 9"}, sweeping, "TestANodeThatNeverAnswersIsNoLossOfTheRollout", []edit{
		{"sim/sweep/pair.go", "return c.Kind != kindScenario", "return c.Kind == kindScenario"},
	}},
	{"what chance makes of failures is the action's loss", []string{"simulator 9"}, checking, "TestAsManyOtherFailuresAreChance", []edit{
		{pairs, "more <= 0 || more*more <= 9*2*chance", "more <= 0"},
	}},
	{"a node that comes alight makes up for one that goes dark", []string{"simulator 9"}, checking, "TestANodeThatComesAlightDoesNotMakeUpForAnother", []edit{
		{pairs, "wentDark(nodes, q) && !dark[q.Node]", "wentDark(nodes, q) && false"},
	}},
	{"a node that joins is asked without the action, too", []string{"simulator 9"}, checking, "TestANodeThatComesAlightDoesNotMakeUpForAnother", []edit{
		{pairs, "nodes[q.Node].Joins", "q.Node < 0"},
	}},
	{"one run of ten is rare", []string{"simulator 9"}, checking, "TestTheWordsOfManyRuns", []edit{
		{verdict, "oneInRare = 20", "oneInRare = 10"},
	}},
	{"a fifth of a second is rare", []string{"simulator 9"}, checking, "TestTheWordsOfManyRuns", []edit{
		{verdict, "rareBelow = 100 * engine.Millisecond", "rareBelow = 200 * engine.Millisecond"},
	}},
	{"stuck in some runs is stuck", []string{"simulator 9"}, checking, "TestTheWordsOfManyRuns", []edit{
		{verdict, "case oneInRare*n.stuck > n.runs:", "case oneInRare*n.stuck >= n.runs:"},
	}},
	{"another value of an assumption makes it depend", []string{"simulator 9"}, checking, "TestAnAssumptionDecidesWhereOneValueLosesAndTheOtherDoesNot", []edit{
		{"sim/record/alternative.go", "	c.Alternatives = append(c.Alternatives, a)", "	c.Alternatives = append(c.Alternatives, a)\n	if a.Effect == VerdictEffect {\n		c.Verdict = Depends\n	}"},
	}},
	{"a value that loses in some runs only is tried on few seeds", []string{"simulator 9"}, checking, "TestWhatClearlyChangesNothingIsToldFromWhatMay", []edit{
		{"sim/record/alternative.go", " && own.WithLoss%len(runs) == 0 && alike", " && alike"},
	}},
	{"a value close to the border of an effect is tried on few seeds", []string{"simulator 9"}, checking, "TestWhatClearlyChangesNothingIsToldFromWhatMay", []edit{
		{"sim/record/alternative.go", " && !Differ(here, there+(there-here))", ""},
	}},
	{"a run that loses little is not compared with one without the action", []string{"simulator 9"}, sweeping, "TestARunThatLosesLittleIsComparedThoughTheWorldIsCalm", []edit{
		{"sim/sweep/pair.go", "which == pairedSmall && with.run.LostSeconds() >= much", "which == pairedSmall"},
	}},
	{"no run is compared after twenty, whatever fails without the action", []string{"simulator 9"}, sweeping, "TestWhereANodeNeverAnswersEachRunIsPaired", []edit{
		{"sim/sweep/pair.go", "len(runs) >= calmRuns && calm(runs)", "len(runs) >= calmRuns"},
	}},
	{"load balancers that agree make it depend", []string{"simulator 9"}, sweeping, "TestEveryLoadBalancerThatItMightBeHasItsVerdict", []edit{
		{"sim/sweep/unit.go", "if u.record.Verdict != worst.record.Verdict {", "if u.record.Verdict != record.Holds {"},
	}},
	{"load balancers that differ do not", []string{"simulator 9"}, sweeping, "TestEveryLoadBalancerThatItMightBeHasItsVerdict", []edit{
		{"sim/sweep/unit.go", "c.Verdict, c.Reason = record.Depends, \"\"", "c.Reason = \"\""},
	}},
	{"workloads with other probes are alike", []string{"simulator 9"}, "sim/scenario", "TestWorkloadsAreAlikeButForNamesAndPorts", []edit{
		{"sim/scenario/alike.go", "\"annotations\", \"creationTimestamp\"", "\"annotations\", \"readinessProbe\", \"creationTimestamp\""},
	}},
	{"a fix saves a third", []string{"simulator 9"}, sweeping, "TestAFixHalvesTheLoss", []edit{
		{"sim/sweep/confirm.go", "2*after*runs <= before*newRuns", "3*after*runs <= 2*before*newRuns"},
	}},
	{"a fix need not be better in more runs than chance", []string{"simulator 9"}, sweeping, "TestAFixHalvesTheLoss", []edit{
		{"sim/sweep/search.go", "more > 0 && more*more > 2*(a.better+a.worse)-s.few()", "more > 0"},
	}},
	{"a fix that fails with other values is not marked", []string{"simulator 9"}, sweeping, "TestAFixThatHoldsAsAssumedOnlyIsMarked", []edit{
		{"sim/sweep/otherwise.go", "left[i] > s.bearable(a, s.part(a, others[i].lost), len(others[i].seeds))", "left[i] > 2*others[i].lost"},
	}},
	{"depends is no finding where one load balancer loses", []string{"simulator 9"}, checking, "TestFailOnNamesTheMildestVerdictThatFails", []edit{
		{verdict, "if c.Families[i].Case.Fails(l) {", "if l.FailOn == Depends && c.Families[i].Case.Fails(l) {"},
	}},
	{"what is rare fails", []string{"simulator 9"}, checking, "TestFailOnNamesTheMildestVerdictThatFails", []edit{
		{verdict, "failOn = Drops", "failOn = Rare"},
	}},
	{"what is not judged fails by itself", []string{"simulator 9"}, checking, "TestFailOnNamesTheMildestVerdictThatFails", []edit{
		{verdict, "return failOn == NotJudged", "return true"},
	}},
	{"a limit of loss excuses a rollout that is stuck", []string{"simulator 9"}, checking, "TestLimitsOfTheMedianRun", []edit{
		{verdict, "case c.Verdict.Endless() || c.Verdict == Depends:", "case c.Verdict == Depends:"},
	}},
	{"fifty runs are enough", []string{"simulator 9"}, sweeping, "TestAsManyRunsAsItTakes", []edit{
		{"sim/sweep/central.go", "stages = [...]int{fewestRuns,", "stages = [...]int{fewestRuns / 2,"},
	}},
	{"a case on the border has all the runs there may be", []string{"simulator 9"}, sweeping, "TestTheWordIsTheSameWithOtherSeeds", []edit{
		{"sim/sweep/central.go", "!u.record.Worthwhile(mostRuns)", "u.record.Enough()"},
	}},
	{"the word need not be the same with other seeds", []string{"simulator 9"}, checking, "TestEnoughRunsForTheWord", []edit{
		{verdict, "1000*off*off > 6636*int64(n)*int64(in-1)", "1000*off*off > 0*int64(n)*int64(in-1)"},
	}},
	{"a load balancer drains for no longer than the app says", []string{"simulator 9"}, "sim/fix", "TestDrainingIsOfferedBehindGooglesHTTPLoadBalancer", []edit{
		{"sim/fix/balancer.go", "d := max(t.w.App.FinishWithin, spare)", "d := t.w.App.FinishWithin"},
	}},
	{"what is tried is not what is written", []string{"simulator 9"}, "sim/fix", "TestTextOfAFixIsTheDeploymentThatWasTried", []edit{
		{"sim/edit/apply.go", "		v.Set(value.Elem())\n", ""},
	}},
	{"a rollout in place of Recreate needs more room than is said", []string{"simulator 9"}, "sim/fix", "TestARecreatedWorkloadIsRolledOneByOne", []edit{
		{"sim/fix/fix.go", "const asDefault = 4", "const asDefault = 40"},
	}},
	{"a longer hook takes the time after SIGTERM", []string{"simulator 9"}, "sim/fix", "TestALongerHookLeavesTheTimeAfterSIGTERM", []edit{
		{"sim/fix/timeafter.go", "needed = max(needed, grace+added)", "needed = max(needed, grace)"},
	}},
	{"what is left of the default grace is not said", []string{"simulator 9"}, "sim/fix", "TestALongerHookLeavesTheTimeAfterSIGTERM", []edit{
		{"sim/fix/timeafter.go", "2*after < before", "after < 0"},
	}},
	{"a way from outside to one pod is not named", []string{"simulator 5.1"}, scenario, "TestAServiceFromOutsideToOnePodIsNamed", []edit{
		{"sim/scenario/leftout.go", "if outside >= 0 {", "if outside > 0 {"},
	}},
	{"ports of the node's network have no clients", []string{"simulator 5.1"}, scenario, "TestWhatIsLeftOutIsSaidFirst", []edit{
		{"sim/scenario/hostports.go", "p.HostPort = p.ContainerPort // as", "// as"},
	}},
	{"a process that ignores SIGTERM is given more time", []string{"pod-lifecycle 2.3 After the StopContainer"}, "sim/fix", "TestAProcessThatIgnoresSIGTERMNeedsAHandlerNotTime", []edit{
		{"sim/fix/fix.go", "have >= longGrace || t.w.App.IgnoresSIGTERM && hook == 0 {", "have >= longGrace {"},
	}},
	{"a change that leaves a rollout stuck is a fix", []string{"simulator 9"}, sweeping, "TestWhatIsStuckGetsAWayOut", []edit{
		{"sim/sweep/search.go", "			a.stuck++\n", ""},
	}},
	{"what is stuck has no way out", []string{"simulator 9"}, sweeping, "TestWhatIsStuckGetsAWayOut", []edit{
		{"sim/sweep/unblock.go", "c.Kind != scenario.KindNode && c.Verdict.Endless()", "c.Kind != scenario.KindNode && !c.Verdict.Endless()"},
	}},
	{"a node's last pod makes it late", []string{"simulator 9"}, "sim/fix", "TestLatenessIsWhenTheLastWayToADeletedPodCloses", []edit{
		{"sim/fix/lateness.go", "e.Fallback && !w.balanced && len(w.healthy) == 0", "e.Fallback && w.balanced && len(w.healthy) == 0"},
	}},
	{"a run ends before a server listens that is taken to be ready", []string{"simulator 1.1 End"}, "sim", "TestQuietIsNotSettled", []edit{
		{"sim/cluster/audit.go", "case c.starting != \"\":", "case false:"},
	}},
	{"a story leaves out what the loss comes from", []string{"simulator 9"}, "sim/report", "TestLinesOfAStoryThatAreNeverLeftOut", []edit{
		{"sim/report/text_why.go", "l.Origin || l.Blamed ||", "l.Origin ||"},
	}},
}
