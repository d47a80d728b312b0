package facts

// row is a fact that lameduck models.
type row struct {
	id    string // file, number; or file, section, first words of the row
	what  string // in a few words
	where string // the file that models it, from the root
	tests string // "package: Test Test; package: Test"
}

func modelled() []row {
	var all []row
	for _, table := range [][]row{podRows, probeRows, controllerRows, sliceRows, proxyRows, versionRows, propagationRows, serverRows, measuredRows, balancerRows} {
		all = append(all, table...)
	}
	return all
}

var podRows = []row{
	{"pod-lifecycle 1.1", "deletion sets a deadline, to the second", "sim/cluster/world.go", "sim/cluster: TestGraceArithmetic TestWayOut"},
	{"pod-lifecycle 1.2", "the pod's own grace period, 30 s if it has none", "endpoints/manifest/defaults_pod.go", "endpoints/manifest: TestDefaults; sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 1.3", "a pod without a node goes at once", "sim/cluster/world.go", "sim/cluster: TestDeletedBeforeItIsBound"},
	{"pod-lifecycle 1.6", "grace 0: the object goes within 4 ms, the process when the kubelet ends it", "sim/cluster/world.go", "sim/cluster: TestAForcedDeletionDoesNotWaitForTheKubelet"},
	{"pod-lifecycle 2a", "termination takes over from the pod's sync", "sim/cluster/terminate.go", "sim/cluster: TestNothingStartsAfterTheDeletion TestTerminationBegins"},
	{"pod-lifecycle 2b", "at once for an idle pod, else at the next relist", "sim/cluster/kubelet.go", "sim/cluster: TestTerminationBegins"},
	{"pod-lifecycle 2c", "deletion alone leaves Ready as it is", "sim/cluster/terminate.go", "sim/cluster: TestNoReadinessProbeStaysReady TestWayOut"},
	{"pod-lifecycle 2d", "liveness and startup probes stop, readiness goes on", "sim/cluster/terminate.go", "sim/cluster: TestReadinessDuringTermination"},
	{"pod-lifecycle 2e", "containers are stopped in parallel", "sim/cluster/terminate.go", "sim/cluster: TestNoReadinessProbeStaysReady TestSidecarOrder"},
	{"pod-lifecycle 2g", "the sandbox goes when all containers have ended", "sim/cluster/terminate.go", "sim/cluster: TestSandboxOutlivesTheContainers TestWayOut"},
	{"pod-lifecycle 2h", "the last status: terminal, not ready", "sim/cluster/terminate.go", "sim/cluster: TestWayOut"},
	{"pod-lifecycle 2i", "clean-up before the object goes", "sim/cluster/terminate.go", "sim/cluster: TestWayOut"},
	{"pod-lifecycle 2j", "the object goes after the end is written", "sim/cluster/terminate.go", "sim/cluster: TestWayOut TestStatusOrderOverAnOutage"},
	{"pod-lifecycle 2.1 Effective grace", "at least 1 s", "sim/cluster/terminate.go", "sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 The countdown is local", "grace counts from the kubelet's kill", "sim/cluster/terminate.go", "sim/cluster: TestGraceCountsFromTheKubelet"},
	{"pod-lifecycle 2.1 preStop runs", "within the grace period, its whole seconds taken off", "sim/cluster/terminate.go", "sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 After preStop", "2 s are left at least", "sim/cluster/terminate.go", "sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 Every kill", "2 s after SIGTERM even with grace 0", "sim/cluster/terminate.go", "sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 When preStop overruns", "it is no longer waited for", "sim/cluster/terminate.go", "sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 preStop failure", "a failing hook is no delay", "sim/scenario/program.go", "sim/scenario: TestHookOf; sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.1 Liveness/startup-probe kills", "the probe's own grace, and the hook", "sim/cluster/restart.go", "sim/cluster: TestLivenessGrace TestLivenessRestart"},
	{"pod-lifecycle 2.1 preStop is not run", "an exit by itself runs no hook", "sim/cluster/terminate.go", "sim/cluster: TestCrashBackoff"},
	{"pod-lifecycle 2.2 exec", "argv and sh -c are read", "sim/scenario/hook.go", "sim/scenario: TestHookOf TestShell"},
	{"pod-lifecycle 2.2 httpGet", "waits for the answer, whatever it says", "sim/scenario/hook.go", "sim/scenario: TestHooksThatAreNoProgram"},
	{"pod-lifecycle 2.2 sleep", "exact", "sim/scenario/hook.go", "sim/scenario: TestHooksThatAreNoProgram; sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.2 tcpSocket", "fails at once", "sim/scenario/hook.go", "sim/scenario: TestHooksThatAreNoProgram; sim/cluster: TestGraceArithmetic"},
	{"pod-lifecycle 2.3 After the StopContainer", "SIGKILL when the grace is over", "sim/cluster/terminate.go", "sim/cluster: TestAppProfiles; sim: TestKillAfterGraceCutsWhatTakesLonger"},
	{"pod-lifecycle 2.3 nginx", "the image's signal is the graceful one", "sim/scenario/profile.go", "sim/scenario: TestProfileByImageAndCommand"},
	{"pod-lifecycle 2.3 PID 1", "SIGTERM ignored without a handler, shells included", "sim/scenario/profile.go", "sim/scenario: TestProfileByImageAndCommand; sim/cluster: TestAppProfiles"},
	{"pod-lifecycle 2.4 Main containers", "hooks and signals in parallel", "sim/cluster/terminate.go", "sim/cluster: TestSidecarOrder"},
	{"pod-lifecycle 2.4 A sidecar's preStop", "runs at once, too", "sim/cluster/terminate.go", "sim/cluster: TestSidecarOrder"},
	{"pod-lifecycle 2.4 A sidecar gets SIGTERM", "after the main containers, last declared first", "sim/cluster/terminate.go", "sim/cluster: TestSidecarOrder"},
	{"pod-lifecycle 2.4 If the grace runs out", "all waiting sidecars are signalled", "sim/cluster/terminate.go", "sim/cluster: TestSidecarOrder"},
	{"pod-lifecycle 2.4 Each sidecar", "has what is left of the grace", "sim/cluster/terminate.go", "sim/cluster: TestSidecarOrder TestASidecarsGraceIsWhatItsWaitLeft"},
	{"pod-lifecycle 2.4 Sidecars may", "their readiness counts", "sim/cluster/kubelet.go", "sim/cluster: TestReadinessOfAllContainersCounts"},
}

var probeRows = []row{
	{"pod-lifecycle 3.1", "defaults of probes", "endpoints/manifest/defaults_pod.go", "endpoints/manifest: TestDefaults"},
	{"pod-lifecycle 3.2.1", "a prober for each probe, from admission", "sim/cluster/kubelet.go", "sim/cluster: TestReadinessOfANewPod"},
	{"pod-lifecycle 3.2.2", "no start jitter on a running kubelet", "sim/cluster/probe.go", "sim/cluster: TestReadinessOfANewPod TestManualTriggerAtEveryPhase"},
	{"pod-lifecycle 3.2.3", "the ticker's origin is the admission", "sim/cluster/probe.go", "sim/cluster: TestReadinessOfANewPod TestManualTriggerAtEveryPhase"},
	{"pod-lifecycle 3.2.4", "when nothing is asked; whole seconds of initialDelay", "sim/cluster/probe.go", "sim/cluster: TestReadinessOfANewPod TestInitialDelayCountsFromTheWholeSecond"},
	{"pod-lifecycle 3.2.5", "the startup probe gates the others", "sim/cluster/kubelet.go", "sim/cluster: TestReadinessOfANewPod"},
	{"pod-lifecycle 3.2.6", "initial results of a new container", "sim/cluster/probe.go", "sim/cluster: TestReadinessOfANewPod TestLivenessRestart"},
	{"pod-lifecycle 3.2.7", "results in a row, thresholds", "sim/cluster/probe.go", "sim/cluster: TestReadinessOfANewPod TestReadinessDuringTermination"},
	{"pod-lifecycle 3.2.8", "hold until a new container", "sim/cluster/probe.go", "sim/cluster: TestLivenessRestart TestProbesHold"},
	{"pod-lifecycle 3.2.9", "the manual trigger probes and restarts the ticker", "sim/cluster/probe.go", "sim/cluster: TestManualTriggerAtEveryPhase TestReadinessOfANewPod"},
	{"pod-lifecycle 3.2.10", "no readiness probe: ready once started", "sim/cluster/kubelet.go", "sim/cluster: TestReadinessOfANewPod"},
	{"pod-lifecycle 3.3 http", "the app's own answer decides", "sim/cluster/instance.go", "sim/cluster: TestReadinessDuringTermination TestAProbeOfANamedPortThatIsNotThereMakesARolloutStuck; sim: TestExampleScenariosTellTheirStory"},
	{"pod-lifecycle 3.3 tcp", "what does not listen fails", "sim/cluster/instance.go", "sim/cluster: TestReadinessOfANewPod TestClosedListenerFailsReadiness"},
	{"pod-lifecycle 3.4 Readiness keeps running", "with its period and thresholds, both ways", "sim/cluster/probe.go", "sim/cluster: TestReadinessDuringTermination"},
	{"pod-lifecycle 3.4 Liveness and startup", "stop at the termination", "sim/cluster/terminate.go", "sim/cluster: TestLivenessDoesNotCutTheGracePeriod"},
	{"pod-lifecycle 3.4 With no readiness probe", "ready until all containers have ended", "sim/cluster/terminate.go", "sim/cluster: TestNoReadinessProbeStaysReady"},
	{"pod-lifecycle 3.4 While the kubelet", "a dead container is probed, and fails by its threshold", "sim/cluster/probe.go", "sim/cluster: TestDeadContainerIsProbedInTermination"},
	{"pod-lifecycle 4 Pod Ready", "all containers ready, all gates open; one that nobody has set is not", "sim/cluster/kubelet.go", "sim/cluster: TestReadinessOfAllContainersCounts TestReadinessGates"},
	{"pod-lifecycle 4 Terminal phase", "forces not ready", "sim/cluster/terminate.go", "sim/cluster: TestWayOut"},
	{"pod-lifecycle 4 Status writes", "one after the other for all pods of a node", "sim/cluster/kubelet.go", "sim/cluster: TestStatusWritesAreSerial"},
	{"pod-lifecycle 4 A readiness change", "is written without waiting for the pod's worker", "sim/cluster/probe.go", "sim/cluster: TestReadinessDuringTermination"},
	{"pod-lifecycle 4 The API phase", "no terminal phase while containers run", "sim/cluster/terminate.go", "sim/cluster: TestWayOut TestStatusOrderOverAnOutage"},
	{"pod-lifecycle 4 Ready.lastTransitionTime", "of the change, to the second", "sim/cluster/kubelet.go", "sim/cluster: TestMinReadySeconds TestTransitionTime"},
	{"pod-lifecycle 4 External readiness-gate", "a controller writes it, the kubelet works on the pod when it sees it", "sim/cluster/gates.go",
		"sim/cluster: TestReadinessGates TestTheWayOfAGate TestAGateWaitsForTheRelist TestRolloutWaitsForTheGate; sim/balancer: TestAGateOpensAtTheTickAfterItsPodIsHealthy TestGateTimeout TestMembersWithAGate; sim: TestAReadinessGateOutlastsRegistration TestAGateOfTwoLoadBalancers"},
	{"pod-lifecycle 4.1 PLEG relist", "each second", "sim/cluster/kubelet.go", "sim/cluster: TestTerminationBegins TestReadinessOfANewPod"},
	{"pod-lifecycle 4.1 Crash-loop back-off", "10 s, doubling to 300 s, forgotten after 10 min", "sim/cluster/restart.go", "sim/cluster: TestCrashBackoff"},
	{"pod-lifecycle 4.2", "scheduler, sandbox, init containers and sidecars one by one, containers, relist, status", "sim/cluster/start.go",
		"sim/cluster: TestEachHopTakesItsTime TestDeletedWhileStarting TestInitContainersRunOneAfterAnother TestASidecarHoldsTheNextOneUpUntilItIsStarted TestAPodThatIsDeletedWhileItInitializesNeverRuns; sim/scenario: TestHowLongInitContainersRunIsAssumedWherePodsHaveSome"},
	{"pod-lifecycle 7 kubectl delete", "a plain deletion", "sim/cluster/action.go", "sim/cluster: TestWayOut TestReplacement"},
	{"pod-lifecycle 7 OOM kill", "seen at the relist, restarted", "sim/cluster/terminate.go", "sim/cluster: TestCrashBackoff"},
}
