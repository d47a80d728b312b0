package facts

import "github.com/lameduck-proxy/lameduck/test/mutate"

// mutant is a mistake somebody could make in what a facts row says. The tests of one package have
// to notice it: those that run names, which are quick.
type mutant struct {
	name  string
	facts []string // IDs of docs/model, or sections of it: "simulator 2"
	pkg   string   // from the root, such as sim/cluster
	run   string   // -run
	edits []edit
}

// edit replaces a text that occurs exactly once in a file, named from the root.
type edit = mutate.Edit

func mutants() []mutant {
	var all []mutant
	for _, table := range [][]mutant{
		graceMutants, terminationMutants, probeMutants, podMutants, hopMutants, restartMutants, rolloutMutants, replicaSetMutants, rankingMutants, scheduleMutants, placementMutants, scoreMutants, labelMutants, writeMutants,
		sliceMutants, hintMutants, shareMutants, proxyMutants, configMutants, healthMutants, hookMutants, inferMutants, profileMutants, namedMutants, gateMutants, progressMutants, componentMutants, defaultMutants, clientMutants, idleMutants, ingressMutants, versionMutants, ownMutants, presetMutants, balancerMutants, nodeMutants, disruptionMutants, takerMutants, statefulMutants, daemonMutants, servedMutants, verdictMutants,
		lapseMutants, verbMutants, volumeMutants,
	} {
		all = append(all, table...)
	}
	return all
}

const (
	cluster     = "sim/cluster"
	scenario    = "sim/scenario"
	serverFacts = "sim/servers"
	manifest    = "endpoints/manifest"
	health      = "healthcheck"

	starting    = "sim/kubelet/start.go"
	kubelet     = "sim/kubelet/kubelet.go"
	terminate   = "sim/kubelet/terminate.go"
	probe       = "sim/kubelet/probe.go"
	restart     = "sim/kubelet/restart.go"
	rollout     = "sim/control/rollout.go"
	deployment  = "sim/control/deployment.go"
	replicaSet  = "sim/control/replicaset.go"
	ranking     = "sim/control/ranking.go"
	slicer      = "sim/endpointslice/controller.go"
	endpointOf  = "sim/endpointslice/endpoint.go"
	nodeProxy   = "sim/nodeproxy/proxy.go"
	loop        = "proxier/owner.go"
	cleanUp     = "proxier/conntrack/stale.go"
	store       = "sim/api/store.go"
	hook        = "sim/servers/hook.go"
	programs    = "sim/servers/program.go"
	profiles    = "sim/servers/profile.go"
	routes      = "proxier/plan/build.go"
	world       = "sim/cluster/world.go"
	versions    = "endpoints/version.go"
	evaluate    = "proxier/memory/evaluate.go"
	client      = "sim/traffic/traffic.go"
	pool        = "sim/traffic/pool.go"
	calmPool    = "sim/traffic/calm_pool.go"
	habits      = "sim/scenario/clients.go"
	hints       = "sim/endpointslice/hints.go"
	hintModes   = "sim/world/hints.go"
	network     = "sim/network.go"
	proxyConfig = "proxier/kubeproxy"
)

var graceMutants = []mutant{
	{"1 s after SIGTERM at least", []string{"pod-lifecycle 2.1 After preStop", "pod-lifecycle 2.1 Every kill"}, cluster, "TestGraceArithmetic|TestSidecarOrder", []edit{
		{"sim/kubelet/kubelet.go", "minimumGrace = 2 * engine.Second", "minimumGrace = engine.Second"},
	}},
	{"no second of a hook is known of beforehand", []string{"pod-lifecycle 2.1 Effective grace"}, "sim/scenario", "TestAHookHasASecondAtLeast", []edit{
		{"sim/world/workload.go", "max(w.Grace(), engine.Second)", "max(w.Grace(), 0)"},
	}},
	{"uWSGI takes no notice of SIGTERM", []string{"propagation 5 uWSGI"}, "sim", "TestUWSGIReloadsAtSIGTERM", []edit{
		{"sim/kubelet/terminate.go", "if i.App.Reloads() && i.Listening {", "if i.App.Reloads() && !i.Listening {"},
	}},
	{"uWSGI is loaded again at once", []string{"propagation 5 uWSGI"}, "sim", "TestUWSGIReloadsAtSIGTERM", []edit{
		{"sim/kubelet/requests.go", "max(now, i.Back)", "now"},
	}},
	{"1.28 has sidecars", []string{"pod-lifecycle 2.4 Versions with sidecars"}, "sim/scenario", "TestASidecarNeedsAVersionThatHasThem", []edit{
		{"sim/scenario/lifecycle.go", "endpoints.Version{Major: 1, Minor: 28}, endpoints.Version{Major: 1, Minor: 29}", "endpoints.Version{Major: 1, Minor: 27}, endpoints.Version{Major: 1, Minor: 28}"},
	}},
	{"a proxy answers without the app behind it", []string{"pod-lifecycle 2.1 Behind a proxy"}, "sim", "TestAProxyAnswersWithErrorsWhenTheAppBehindItHasEnded", []edit{
		{"sim/kubelet/terminate.go", "\ti.Alone = true\n", ""},
	}},
	{"a proxy passes requests on to what a Service leads to", []string{"pod-lifecycle 2.1 Behind a proxy"}, "sim/scenario", "TestWhatAProxyPassesItsRequestsOnTo", []edit{
		{"sim/scenario/behind.go", " && !b.world.leadTo(w, c)", ""},
	}},
	{"grace 0 is none", []string{"pod-lifecycle 2.1 Effective grace", "pod-lifecycle 2.1 Every kill"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", "wk.killAll(max(p.Grace, engine.Second))", "wk.killAll(p.Grace)"},
	}},
	{"the hook's time counts to the nanosecond", []string{"pod-lifecycle 2.1 preStop runs"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", "done(grace - (now - begun).TruncateToSecond())", "done(grace - (now - begun))"},
	}},
	{"the hook's time is not taken off the grace period", []string{"pod-lifecycle 2.1 preStop runs"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", "done(grace - (now - begun).TruncateToSecond())", "done(grace + 0*(now-begun))"},
	}},
	{"a hook that overruns is waited for", []string{"pod-lifecycle 2.1 preStop runs", "pod-lifecycle 2.1 When preStop overruns"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", "min(c.hook.Duration.Sample(draws.Draw(n)), grace)", "c.hook.Duration.Sample(draws.Draw(n))"},
	}},
	{"a hook that is missing takes its time", []string{"pod-lifecycle 2.1 preStop failure"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", `case "missing", "tcpSocket":`, `case "tcpSocket":`},
	}},
	{"a tcpSocket hook takes its time", []string{"pod-lifecycle 2.2 tcpSocket"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/kubelet/terminate.go", `case "missing", "tcpSocket":`, `case "missing":`},
	}},
	{"a probe's own grace period is ignored", []string{"pod-lifecycle 2.1 Liveness/startup-probe kills"}, cluster, "TestLivenessGrace", []edit{
		{"sim/kubelet/restart.go", "s := c.condemned.TerminationGracePeriodSeconds; s != nil", "s := c.condemned.TerminationGracePeriodSeconds; s != nil && *s < 0"},
	}},
	{"no hook when a probe kills", []string{"pod-lifecycle 2.1 Liveness/startup-probe kills"}, cluster, "TestLivenessRestart", []edit{
		{"sim/kubelet/restart.go", "c.runHook(grace, func(left", "func(do func(engine.Time)) { do(grace) }(func(left"},
	}},
	{"a hook when the container exits by itself", []string{"pod-lifecycle 2.1 preStop is not run"}, cluster, "TestCrashBackoff", []edit{
		{"sim/kubelet/terminate.go", "\tcase !c.wk.terminating:\n\t\tc.wk.noticed()", "\tcase !c.wk.terminating:\n\t\tc.runHook(30*engine.Second, func(engine.Time) { c.wk.k.after(30*engine.Second, \"\", c.wk.noticed) })"},
	}},
}

var terminationMutants = []mutant{
	{"a sidecar's wait costs it nothing", []string{"pod-lifecycle 2.4 Each sidecar"}, cluster, "TestASidecarsGrace", []edit{
		{terminate, "t.signal(s.c, s.left-(d.Engine.Now()-s.since).TruncateToSecond())", "t.signal(s.c, s.left)"},
	}},
	{"what an app has to finish begins again with each request", []string{"simulator 5.5"}, cluster, "TestTheLimitToFinish", []edit{
		{"sim/kubelet/terminate.go", "limit := since + i.App.FinishWithin", "limit := now + i.App.FinishWithin"},
	}},
	{"the kubelet always reacts at once", []string{"pod-lifecycle 2b", "propagation 1.3a"}, cluster, "TestTerminationBegins", []edit{
		{"sim/kubelet/kubelet.go", "if next-relistPeriod > wk.lastSync && wk.busy == 0 {", "if next > 0 {"},
	}},
	{"the kubelet always waits for the relist", []string{"pod-lifecycle 2b", "propagation 1.3a"}, cluster, "TestTerminationBegins", []edit{
		{"sim/kubelet/kubelet.go", "wk.busy == 0 {\n\t\treturn now", "wk.busy == 0 {\n\t\treturn next"},
	}},
	{"a pod is unready from its deletion on", []string{"pod-lifecycle 2c", "pod-lifecycle 3.4 With no readiness probe"}, cluster, "TestNoReadinessProbeStaysReady|TestWayOut", []edit{
		{"sim/kubelet/terminate.go", "wk.terminating = true\n\tnow :=", "wk.terminating = true\n\ts := wk.status\n\ts.ready = false\n\twk.k.setStatus(wk, s)\n\tnow :="},
	}},
	{"readiness probes stop at the termination", []string{"pod-lifecycle 2d", "pod-lifecycle 3.4 Readiness keeps running"}, cluster, "TestReadinessDuringTermination", []edit{
		{"sim/kubelet/terminate.go", "[]*Prober{c.Liveness, c.startup}", "[]*Prober{c.Liveness, c.startup, c.Readiness}"},
	}},
	{"a liveness probe kills within the grace period", []string{"pod-lifecycle 3.4 Liveness and startup", "pod-lifecycle 2d"}, cluster, "TestLivenessDoesNotCutTheGracePeriod", []edit{
		{"sim/kubelet/terminate.go", "[]*Prober{c.Liveness, c.startup}", "[]*Prober{c.startup}"},
		{"sim/kubelet/probe.go", "\t\tp.c.wk.RequestSync()\n\t}\n}\n\n// set", "\t\tif p.c.condemned != nil && p.c.wk.terminating {\n\t\t\tp.c.killForProbe()\n\t\t\tp.c.signal(minimumGrace, event.Liveness)\n\t\t}\n\t\tp.c.wk.RequestSync()\n\t}\n}\n\n// set"},
	}},
	{"containers are stopped one after the other", []string{"pod-lifecycle 2e", "pod-lifecycle 2.4 Main containers"}, cluster, "TestNoReadinessProbeStaysReady|TestSidecarOrder", []edit{
		{"sim/kubelet/terminate.go", "\tfor _, c := range running {\n\t\tt.stop(c, grace)\n\t}", "\tfor i, c := range running {\n\t\tt.wk.k.after(engine.Time(i)*engine.Second, \"\", func() { t.stop(c, grace) })\n\t}"},
	}},
	{"the sandbox stays", []string{"pod-lifecycle 2g"}, cluster, "TestSandboxOutlivesTheContainers", []edit{
		{terminate, "\t\td.sandboxGone(wk.Instance)\n", ""},
	}},
	{"the last status is still ready", []string{"pod-lifecycle 2h", "pod-lifecycle 4 Terminal phase"}, cluster, "TestWayOut", []edit{
		{"sim/kubelet/terminate.go", "s.phase, s.containersReady, s.ready = phase, false, false", "s.phase = phase"},
	}},
	{"the object goes without a newer cache", []string{"pod-lifecycle 2i"}, cluster, "TestWayOut", []edit{
		{"sim/kubelet/terminate.go", "wk.cleanedUp = wk.k.NextRelist(now) + cleanupPoll", "wk.cleanedUp = now"},
	}},
	{"the object goes before the end is written", []string{"pod-lifecycle 2j"}, cluster, "TestWayOut|TestStatusOrderOverAnOutage", []edit{
		{"sim/kubelet/terminate.go", "\twk.k.setStatus(wk, s)\n\tif gone", "\twk.k.setStatus(wk, s)\n\twk.remove()\n\tif gone"},
	}},
	{"sidecars end in the order of declaration", []string{"pod-lifecycle 2.4 A sidecar gets SIGTERM"}, cluster, "TestSidecarOrder", []edit{
		{"sim/kubelet/terminate.go", "other.index > c.index", "other.index < c.index"},
	}},
	{"sidecars are signalled with the main containers", []string{"pod-lifecycle 2.4 A sidecar gets SIGTERM"}, cluster, "TestSidecarOrder", []edit{
		{"sim/kubelet/terminate.go", "c.sidecar && left > 0 && !t.turn(c)", "c.sidecar && left < 0"},
	}},
	{"a sidecar's hook waits for its turn", []string{"pod-lifecycle 2.4 A sidecar's preStop"}, cluster, "TestSidecarOrder", []edit{
		{"sim/kubelet/terminate.go", "func (t *termination) stop(c *Container, grace engine.Time) {\n", "func (t *termination) stop(c *Container, grace engine.Time) {\n\tif c.sidecar && grace > 0 && !t.turn(c) {\n\t\tt.wk.k.after(engine.Second, \"\", func() { t.stop(c, grace-engine.Second) })\n\t\treturn\n\t}\n"},
	}},
	{"waiting sidecars have 2 s more", []string{"pod-lifecycle 2.4 If the grace runs out", "pod-lifecycle 2.4 Each sidecar"}, cluster, "TestSidecarOrder", []edit{
		{"sim/kubelet/terminate.go", `t.wk.k.after(left, "grace over for sidecar"`, `t.wk.k.after(left+minimumGrace, "grace over for sidecar"`},
	}},
	{"status writes of a node go in parallel", []string{"pod-lifecycle 4 Status writes"}, cluster, "TestStatusWritesAreSerial", []edit{
		{"sim/kubelet/kubelet.go", "if k.writing || len(k.dirty) == 0 {", "if len(k.dirty) == 0 {"},
	}},
	{"SIGKILL never comes", []string{"pod-lifecycle 2.3 After the StopContainer", "propagation 4 Kill time", "propagation 5 kubelet-side"}, cluster, "TestAppProfiles", []edit{
		{"sim/kubelet/terminate.go", `c.kill = k.inPod(left, "SIGKILL"`, `c.kill = k.inPod(left+engine.Hour, "SIGKILL"`},
	}},
	{"PID 1 without a handler dies of SIGTERM", []string{"pod-lifecycle 2.3 PID 1"}, cluster, "TestAppProfiles", []edit{
		{"sim/kubelet/terminate.go", "if i.App.IgnoresSIGTERM {", "if i.App.IgnoresSIGTERM && i.App.NotAServer {"},
	}},
}

var probeMutants = []mutant{
	{"the first probe comes a period after admission", []string{"pod-lifecycle 3.2.3"}, cluster, "TestReadinessOfANewPod|TestManualTriggerAtEveryPhase", []edit{
		{"sim/kubelet/probe.go", "p := &Prober{c: c, kind: kind, spec: spec, Phase: now,", "p := &Prober{c: c, kind: kind, spec: spec, Phase: now + 700*engine.Millisecond,"},
	}},
	{"a probe of the process asks the app", []string{"pod-lifecycle 3.3 exec"}, cluster, "TestALivenessProbeOfTheProcessEndsNoSlowStart", []edit{
		{"sim/kubelet/probe.go", "i.App.NotAServer || p.process:", "i.App.NotAServer:"},
	}},
	{"a file that is not there is made by nobody", []string{"pod-lifecycle 3.3 exec absence"}, cluster, "TestAProbeForAFileThatIsNotThere", []edit{
		{"sim/kubelet/probe.go", "case p.kind == readinessProbe && c.unready && world.AsksForAbsence(p.spec):", "case p.kind == readinessProbe && c.unready && p.unasked:"},
	}},
	{"a probe for a file that is not there asks the app", []string{"pod-lifecycle 3.3 exec absence"}, "sim/world", "TestWhatAnExecProbeAsks", []edit{
		{"sim/world/probe.go", "!saysAbsent(words) && (!liveness", "(!liveness"},
	}},
	{"every program of a readiness probe is known", []string{"pod-lifecycle 3.3 exec readiness"}, "sim/scenario", "TestWhatAReadinessProbeIsTakenToAsk", []edit{
		{"sim/scenario/execprobe.go", "w.App.NotAServer || w.App.ReadinessAsks", "w.App.NotAServer || p != nil || w.App.ReadinessAsks"},
	}},
	{"a readiness probe of which nothing is known never passes at once", []string{"pod-lifecycle 3.3 exec readiness"}, "sim/scenario", "TestWhatAReadinessProbeIsTakenToAsk", []edit{
		{"sim/scenario/execprobe.go", "w.App.ReadinessAsks, changed = world.AsksNothing, true", "w.App.ReadinessAsks, changed = world.AsksServer, true"},
	}},
	{"no program is known to ask a server", []string{"pod-lifecycle 3.3 exec readiness"}, "sim/servers", "TestWhichProbesAskAServer", []edit{
		{"sim/servers/image_programs.go", "\"curl\", \"wget\", \"nc\",", "\"nc\","},
	}},
	{"initialDelay counts from the nanosecond", []string{"pod-lifecycle 3.2.4"}, cluster, "TestInitialDelayCountsFromTheWholeSecond", []edit{
		{"sim/kubelet/probe.go", "return age.TruncateToSecond() < ", "return age < "},
		{"sim/kubelet/kubelet.go", "c.Running, c.startAt.TruncateToSecond()", "c.Running, c.startAt"},
	}},
	{"initialDelay is ignored", []string{"pod-lifecycle 3.2.4"}, cluster, "TestReadinessOfANewPod", []edit{
		{"sim/kubelet/probe.go", "return age.TruncateToSecond() < engine.Time(p.spec.InitialDelaySeconds)*engine.Second", "return age < 0"},
	}},
	{"readiness does not wait for the startup probe", []string{"pod-lifecycle 3.2.5"}, cluster, "TestReadinessOfANewPod", []edit{
		{"sim/kubelet/kubelet.go", "s.started = c.Running && (c.startup == nil || c.startup.generation == c.Generation && c.startup.result)", "s.started = c.Running"},
	}},
	{"a new container begins ready", []string{"pod-lifecycle 3.2.6"}, cluster, "TestReadinessOfANewPod|TestLivenessRestart", []edit{
		{"sim/kubelet/probe.go", "p.generation, p.hold = generation, false\n\tp.result = p.kind == livenessProbe", "p.generation, p.hold = generation, false\n\tp.result = p.kind != startupProbe"},
	}},
	{"liveness begins with failure", []string{"pod-lifecycle 3.2.6"}, cluster, "TestLivenessRestart", []edit{
		{"sim/kubelet/probe.go", "case livenessProbe: // success is what it began with: no news", "case livenessProbe:\n\t\tp.apply(false)"},
	}},
	{"successThreshold is 1", []string{"pod-lifecycle 3.2.7"}, cluster, "TestReadinessOfANewPod|TestReadinessDuringTermination", []edit{
		{"sim/kubelet/probe.go", "threshold = p.spec.SuccessThreshold", "threshold = 1"},
	}},
	{"failureThreshold is one more", []string{"pod-lifecycle 3.2.7"}, cluster, "TestReadinessDuringTermination|TestLivenessRestart", []edit{
		{"sim/kubelet/probe.go", "threshold := p.spec.FailureThreshold", "threshold := p.spec.FailureThreshold + 1"},
	}},
	{"results need not be in a row", []string{"pod-lifecycle 3.2.7"}, cluster, "TestReadinessDuringTermination", []edit{
		{"sim/kubelet/probe.go", "p.last, p.row = answer, 1", "p.last, p.row = answer, p.row+1"},
	}},
	{"a container that failed liveness is probed on", []string{"pod-lifecycle 3.2.8"}, cluster, "TestProbesHold", []edit{
		{"sim/kubelet/probe.go", "p.hold, p.row, p.result = true, 0, answer", "p.row, p.result = 0, answer"},
	}},
	{"no manual trigger", []string{"pod-lifecycle 3.2.9"}, cluster, "TestReadinessOfANewPod|TestManualTriggerAtEveryPhase", []edit{
		{"sim/kubelet/kubelet.go", "\tfor _, p := range poke {\n\t\tp.poke()\n\t}\n", "\t_ = poke\n"},
	}},
	{"the manual trigger leaves the ticker alone", []string{"pod-lifecycle 3.2.9"}, cluster, "TestReadinessOfANewPod|TestManualTriggerAtEveryPhase", []edit{
		{probe, "p.Phase, p.ticked = d.Engine.Now(), d.Engine.Now()", "p.ticked = d.Engine.Now()"},
	}},
	{"a container without a readiness probe is never ready", []string{"pod-lifecycle 3.2.10"}, cluster, "TestReadinessOfANewPod", []edit{
		{"sim/kubelet/kubelet.go", "s.ready = s.started && (c.Readiness == nil ||", "s.ready = s.started && c.Readiness != nil && (c.Readiness == nil ||"},
	}},
	{"a dead container is not probed in termination", []string{"pod-lifecycle 3.4 While the kubelet"}, cluster, "TestDeadContainerIsProbedInTermination", []edit{
		{"sim/kubelet/terminate.go", "\tcase stopped != nil:\n", "\tcase stopped != nil:\n\t\tif c.Readiness != nil {\n\t\t\tc.Readiness.stop()\n\t\t}\n"},
	}},
	{"a pod is ready when one of its containers is", []string{"pod-lifecycle 4 Pod Ready", "pod-lifecycle 2.4 Sidecars may"}, cluster, "TestReadinessOfAllContainersCounts", []edit{
		{"sim/kubelet/kubelet.go", "containers = containers && c.shown.ready", "containers = containers && (c.shown.ready || c != wk.Main)"},
	}},
	{"a readiness change waits for the relist", []string{"pod-lifecycle 4 A readiness change"}, cluster, "TestReadinessDuringTermination|TestLivenessRestart", []edit{
		{"sim/kubelet/probe.go", "p.c.shown.ready = result\n\tp.c.wk.update()", "p.c.shown.ready = result"},
	}},
	{"Ready's time is that of the last look", []string{"pod-lifecycle 4 Ready.lastTransitionTime"}, cluster, "TestMinReadySeconds|TestTransitionTime", []edit{
		{"sim/kubelet/kubelet.go", "if s.ready && !wk.status.ready {", "if s.ready {"},
	}},
	{"the relist comes every 2 s", []string{"pod-lifecycle 4.1 PLEG relist"}, cluster, "TestTerminationBegins|TestReadinessOfANewPod", []edit{
		{"sim/kubelet/kubelet.go", "relistPeriod = engine.Second ", "relistPeriod = 2 * engine.Second "},
	}},
	{"what does not listen passes its probes", []string{"pod-lifecycle 3.3 tcp"}, cluster, "TestClosedListenerFailsReadiness", []edit{
		{"sim/kubelet/instance.go", "if !i.Running || !i.Listening {", "if !i.Running {"},
	}},
}

var podMutants = []mutant{
	{"deletion grants a second more", []string{"pod-lifecycle 1.1"}, cluster, "TestGraceArithmetic", []edit{
		{"sim/cluster/pods.go", "next.DeletedAt, next.Grace = w.eng.Now(), grace", "next.DeletedAt, next.Grace = w.eng.Now(), grace+engine.Second"},
	}},
	{"the grace period counts from the deletion", []string{"pod-lifecycle 2.1 The countdown is local"}, cluster, "TestGraceCountsFromTheKubelet", []edit{
		{"sim/kubelet/terminate.go", "wk.killAll(max(p.Grace, engine.Second))", "wk.killAll(max(p.Grace-(wk.k.d.Engine.Now()-p.DeletedAt), engine.Second))"},
	}},
	{"an unbound pod waits for a kubelet", []string{"pod-lifecycle 1.3"}, cluster, "TestDeletedBeforeItIsBound", []edit{
		{"sim/cluster/pods.go", "next.Grace, next.Gone = 0, true", "next.Grace, next.Gone = 0, false"},
	}},
	{"a pod goes on starting when it is deleted", []string{"pod-lifecycle 2a"}, cluster, "TestNothingStartsAfterTheDeletion", []edit{
		{"sim/kubelet/start.go", "\t\tif !wk.terminating {\n\t\t\twk.beginFrom(0)\n\t\t}\n", "\t\twk.beginFrom(0)\n"},
	}},
	{"a terminal phase is written at SIGTERM", []string{"pod-lifecycle 4 The API phase"}, cluster, "TestWayOut", []edit{
		{"sim/kubelet/terminate.go", "\tt := &termination{wk: wk, failed: !wk.initialized() || wk.failed}\n", "\tt := &termination{wk: wk, failed: !wk.initialized() || wk.failed}\n\ts := wk.status\n\ts.phase = api.PhaseFailed\n\twk.k.setStatus(wk, s)\n"},
	}},
	{"probers have a start delay", []string{"pod-lifecycle 3.2.2"}, cluster, "TestReadinessOfANewPod|TestManualTriggerAtEveryPhase", []edit{
		{"sim/kubelet/probe.go", "spec: spec, Phase: now,", "spec: spec, Phase: now + engine.Time(spec.PeriodSeconds)*engine.Second/2,"},
	}},
	{"the ticker begins with the container", []string{"pod-lifecycle 3.2.1", "pod-lifecycle 3.2.3"}, cluster, "TestReadinessOfANewPod|TestInitialDelay|TestManualTriggerAtEveryPhase", []edit{
		{"sim/kubelet/kubelet.go", "\tc.condemned = nil\n\tc.tell(", "\tc.condemned = nil\n\tfor _, p := range c.probers {\n\t\tp.Phase = d.Engine.Now()\n\t}\n\tc.tell("},
	}},
	{"the app's own answer does not matter", []string{"pod-lifecycle 3.3 http"}, cluster, "TestReadinessDuringTermination", []edit{
		{"sim/kubelet/instance.go", "if !liveness && (i.Forced || d.Engine.Now() < i.readyFrom) {", "if !liveness && d.Engine.Now() < i.readyFrom {"},
	}},
	{"all init containers run at once", []string{"pod-lifecycle 4.2"}, cluster, "TestInitContainersRunOneAfterAnother", []edit{
		{"sim/kubelet/start.go", "c == nil && wk.init.ended {", "c == nil {"},
	}},
	{"an image is pulled for each container", []string{"pod-lifecycle 4.2 Image pulls"}, cluster, "TestANodePullsEachImageOnce", []edit{
		{"sim/kubelet/start.go", "if !known {", "if !known || at > 0 {"},
	}},
	{"images are pulled at the same time", []string{"pod-lifecycle 4.2 Image pulls"}, cluster, "TestANodePullsEachImageOnce", []edit{
		{"sim/kubelet/start.go", "at = max(begin, k.pulled) +", "at = begin +"},
	}},
	{"nobody waits for a postStart hook", []string{"pod-lifecycle 4.2 postStart"}, cluster, "TestAPostStartHook", []edit{
		{"sim/kubelet/start.go", `c.wk.k.after(span, "postStart ended"`, `c.wk.k.after(span-span, "postStart ended"`},
	}},
	{"containers do not wait for each other's postStart hooks", []string{"pod-lifecycle 4.2 postStart"}, cluster, "TestAPostStartHookHoldsThePodUp", []edit{
		{"sim/kubelet/start.go", "c.posted(func() { wk.beginFrom(at + 1) })\n\t\t\t\treturn", "c.posted(func() { wk.syncDone() })"},
	}},
	{"a postStart hook of which nothing is known takes no time", []string{"pod-lifecycle 4.2 postStart"}, scenario, "TestHowLongAPostStartHookTakes", []edit{
		{"sim/servers/hook.go", "Undetermined: after.Undetermined, Why", "Why"},
	}},
	{"a sidecar holds nobody up", []string{"pod-lifecycle 4.2"}, cluster, "TestASidecarHoldsTheNextOneUpUntilItIsStarted", []edit{
		{"sim/kubelet/start.go", "c != nil && c.shown.started ||", "c != nil ||"},
	}},
	{"init containers take no time", []string{"pod-lifecycle 4.2"}, cluster, "TestInitContainersRunOneAfterAnother", []edit{
		{"sim/kubelet/start.go", "wk.init.timer = wk.k.inPod(span,", "wk.init.timer = wk.k.inPod(span-span,"},
	}},
	{"containers start before their sandbox", []string{"pod-lifecycle 4.2"}, cluster, "TestEachHopTakesItsTime", []edit{
		{"sim/kubelet/start.go", `k.after(before+begin, "containers started"`, `k.after(begin, "containers started"`},
	}},
	{"deleting a pod crashes it", []string{"pod-lifecycle 7 kubectl delete"}, cluster, "TestWayOut", []edit{
		{"sim/cluster/action.go", "w.deletePod(w.owner, p.ID)\n", "w.kubelets[max(0, p.Node)].Worker(p.ID).Crash()\n"},
	}},
	{"SIGTERM comes before the hook", []string{"propagation 3", "propagation 4 No refused connections", "propagation 5 preStop running"}, "sim", "TestPreStopOutlastsThePropagation", []edit{
		{"sim/kubelet/terminate.go", "c.runHook(grace, func(left engine.Time) {\n\t\tswitch {", "func(do func(engine.Time)) { do(grace) }(func(left engine.Time) {\n\t\tswitch {"},
	}},
	{"SIGKILL comes at half the grace period", []string{"propagation 4 No cut requests"}, "sim", "TestKillAfterGraceCutsWhatTakesLonger", []edit{
		{"sim/kubelet/terminate.go", `c.kill = k.inPod(left, "SIGKILL"`, `c.kill = k.inPod(left/2, "SIGKILL"`},
	}},
	{"who ignores SIGTERM closes its listener", []string{"propagation 5 after SIGTERM, server that ignores it"}, cluster, "TestAppProfiles", []edit{
		{"sim/kubelet/terminate.go", "if i.App.IgnoresSIGTERM {\n", "if i.App.IgnoresSIGTERM {\n\t\tc.closeListener(ClosedOnTerm)\n"},
	}},
}

// The hops of a rollout.
var hopMutants = []mutant{
	{"the Deployment controller reacts at once", []string{"measured 2 Deployment spec change", "measured 2 pod Ready -> next rescale", "measured 2 pod Ready -> old pod"}, cluster, "TestEachHopTakesItsTime", []edit{
		{deployment, `"deployment-controller", d.Latencies.Controller,`, `"deployment-controller", engine.Dist{},`},
	}},
	{"the ReplicaSet controller reacts at once", []string{"measured 2 ReplicaSet raised", "measured 2 ReplicaSet lowered", "measured 2 pod Ready -> ReplicaSet status"}, cluster, "TestEachHopTakesItsTime", []edit{
		{replicaSet, `"replicaset-controller", d.Latencies.Controller,`, `"replicaset-controller", engine.Dist{},`},
	}},
	{"the slice controller reacts at once", []string{"measured 2 pod running -> in slice", "measured 2 pod Ready -> slice write", "measured 2 pod deletionTimestamp -> slice write", "measured 2 pod terminal -> out"}, cluster, "TestEachHopTakesItsTime", []edit{
		{slicer, `"endpointslice-controller", d.Latencies.SliceController,`, `"endpointslice-controller", engine.Dist{},`},
	}},
	{"the scheduler binds at once", []string{"measured 2 pod created -> bound"}, cluster, "TestEachHopTakesItsTime", []edit{
		{"sim/control/scheduler.go", "delay := s.d.Latencies.Schedule.Sample(s.draws.Draw(s.count))", "delay := 0 * s.d.Latencies.Schedule.Sample(s.draws.Draw(s.count))"},
	}},
	{"a sync takes no time", []string{"propagation 1.6"}, cluster, "TestEachHopTakesItsTime", []edit{
		{nodeProxy, "p.eng.Now()+took,", "p.eng.Now()+0*took,"},
	}},
}

var restartMutants = []mutant{
	{"the first back-off is 20 s", []string{"pod-lifecycle 4.1 Crash-loop back-off"}, "sim/kubelet", "TestBackoff", []edit{
		{"sim/kubelet/restart.go", "firstBackoff   = 10 * engine.Second", "firstBackoff   = 20 * engine.Second"},
	}},
	{"the back-off does not double", []string{"pod-lifecycle 4.1 Crash-loop back-off"}, "sim/kubelet", "TestBackoff", []edit{
		{"sim/kubelet/restart.go", "min(maximumBackoff, 2*b.pause)", "min(maximumBackoff, b.pause)"},
	}},
	{"the back-off has no end", []string{"pod-lifecycle 4.1 Crash-loop back-off"}, "sim/kubelet", "TestBackoff", []edit{
		{"sim/kubelet/restart.go", "min(maximumBackoff, 2*b.pause)", "max(maximumBackoff, 2*b.pause)"},
	}},
	{"the back-off is forgotten after 5 min", []string{"pod-lifecycle 4.1 Crash-loop back-off"}, "sim/kubelet", "TestBackoff", []edit{
		{"sim/kubelet/restart.go", "forgetBackoff  = 2 * maximumBackoff", "forgetBackoff  = maximumBackoff"},
	}},
	{"a crash is seen at once", []string{"pod-lifecycle 7 OOM kill"}, cluster, "TestCrashBackoff", []edit{
		{"sim/kubelet/terminate.go", "\tcase !c.wk.terminating:\n\t\tc.wk.noticed()", "\tcase !c.wk.terminating:\n\t\tc.wk.sync()"},
	}},
}
