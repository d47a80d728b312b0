package cluster

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func sleepHook(d engine.Time) world.Hook {
	return world.Hook{Kind: "sleep", Duration: engine.Constant(d)}
}

func ignores(a *world.App) { a.IgnoresSIGTERM, a.Listener = true, world.ListenerStays }

// Reference: Kubernetes 1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer,
// executePreStopHook; kuberuntime_manager.go, minimumGracePeriodInSeconds = 2;
// pod_workers.go, calculateEffectiveGracePeriod. The pod is deleted at 10 s; its app ignores
// SIGTERM.
func TestGraceArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		grace      int64
		hook       world.Hook
		term, kill engine.Time // after the deletion
	}{
		{"no hook", 30, world.Hook{}, 0, 30 * sec},
		{"a hook that is shorter", 30, sleepHook(10 * sec), 10 * sec, 30 * sec},
		{"a hook's time counts in whole seconds", 30, sleepHook(10*sec + 900*ms), 10*sec + 900*ms, 30*sec + 900*ms},
		{"a hook that ends 2 s before", 30, sleepHook(28 * sec), 28 * sec, 30 * sec},
		{"a hook that ends 1 s before: 2 s remain", 30, sleepHook(29 * sec), 29 * sec, 31 * sec},
		{"a hook as long as the grace period", 30, sleepHook(30 * sec), 30 * sec, 32 * sec},
		{"a hook that overruns is not waited for", 30, sleepHook(300 * sec), 30 * sec, 32 * sec},
		{"grace 0 is 1, and then 2", 0, world.Hook{}, 0, 2 * sec},
		{"grace 0 with a hook: cut off after 1 s", 0, sleepHook(5 * sec), sec, 3 * sec},
		{"grace 1", 1, world.Hook{}, 0, 2 * sec},
		{"a program that is missing gives no delay", 30, world.Hook{Kind: "missing", Duration: engine.Constant(9 * sec)}, 0, 30 * sec},
		{"tcpSocket is no hook", 30, world.Hook{Kind: "tcpSocket", Duration: engine.Constant(9 * sec)}, 0, 30 * sec},
	} {
		w := newBuild(1).grace(c.grace).hook("app", c.hook).app(ignores).start(t, 1)
		w.do(10*sec, "delete", "web#0", "")
		w.run(400 * sec)
		if term, kill := w.when("r0 0 SIGTERM")-10*sec, w.when("r0 0 ended killed")-10*sec; term != c.term || kill != c.kill {
			t.Errorf("%s: SIGTERM after %s s and SIGKILL after %s s, want %s and %s", c.name, term.Seconds(), kill.Seconds(), c.term.Seconds(), c.kill.Seconds())
		}
	}
}

// Reference: Kubernetes 1.36 pkg/kubelet/pod_workers.go, podWorkerLoop: a pod is worked on when
// the runtime cache is newer than its last sync; the relists are at .4 s of every second.
func TestTerminationBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		at, begin engine.Time
	}{
		{"at once for a pod that was idle", 20 * sec, 20 * sec},
		{"at once when a relist came after the last sync", 10*sec + 1450*ms, 10*sec + 1450*ms},
		{"at the next relist when none did", 10*sec + 1000*ms, 10*sec + 1400*ms},
	} {
		b := newBuild(1)
		b.Latency.Sandbox = engine.Constant(100 * ms)
		w := b.start(t, 1)
		w.kubelets[0].Phase = 400 * ms
		// The pod r1 0 starts at 10.1 s and is worked on at 10.4 s.
		w.do(10*sec, "rolloutRestart", "web", "")
		w.at(c.at, func() { w.deletePod(w.owner, 1) })
		w.run(60 * sec)
		if got := w.when("r1 0 SIGTERM"); got != c.begin {
			t.Errorf("%s: SIGTERM at %s s, want %s", c.name, got.Seconds(), c.begin.Seconds())
		}
	}
}

// A pod's way out: status writes in order, the object last. Reference: Kubernetes 1.36
// pkg/kubelet/kubelet.go, SyncTerminatingPod, SyncTerminatedPod; status/status_manager.go.
func TestWayOut(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("app", sleepHook(5*sec))
	b.Latency.StatusWrite = engine.Constant(50 * ms)
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.run(30 * sec)
	w.want("r0 0",
		"10.01 r0 0 running ready=true deleting=true restarts=0",
		"15.01 r0 0 listening false",
		"15.01 r0 0 SIGTERM",
		"15.01 r0 0 ended by itself",
		"15.01 r0 0 sandbox down",
		"15.06 r0 0 terminal ready=false",
		"15.51 r0 0 gone", // relist at 15.4, clean-up 0.1, a write
	)
	if w.store.Get(api.PodKey(0)) != nil {
		t.Error("the store keeps a pod that is gone")
	}
}

// The apps' ways to end. Reference: docs/model/simulator.md 5.5; the profile decides, SIGKILL ends
// all.
func TestAppProfiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		app      func(*world.App)
		inFlight engine.Time // after SIGTERM
		closed   engine.Time
		ended    engine.Time
	}{
		{"closes and finishes", func(*world.App) {}, 3 * sec, 0, 3 * sec},
		{"cuts", func(a *world.App) { a.InFlight = world.InFlightCut }, 3 * sec, 0, 0},
		{"finishes within a limit", func(a *world.App) { a.FinishWithin = 2 * sec }, 3 * sec, 0, 2 * sec},
		{"drains first", func(a *world.App) { a.Listener, a.DrainFor = world.ListenerDrains, 5*sec }, 3 * sec, 5 * sec, 5 * sec},
		{"stays open until it ends", func(a *world.App) { a.Listener = world.ListenerStays }, 3 * sec, 3 * sec, 3 * sec},
		{"lingers", func(a *world.App) { a.Linger = 10 * sec }, 3 * sec, 0, 13 * sec},
		{"is killed at the end of grace", func(*world.App) {}, 50 * sec, 0, 30 * sec},
		{"ignores it", ignores, 3 * sec, 30 * sec, 30 * sec},
	} {
		w := newBuild(1).app(c.app).start(t, 1)
		w.do(10*sec, "delete", "web#0", "")
		w.inFlight = 10*sec + c.inFlight
		w.run(100 * sec)
		if closed, ended := w.when("r0 0 listening false")-10*sec, w.when("r0 0 ended")-10*sec; closed != c.closed || ended != c.ended {
			t.Errorf("%s: closed after %s s and ended after %s s, want %s and %s", c.name, closed.Seconds(), ended.Seconds(), c.closed.Seconds(), c.ended.Seconds())
		}
	}
}

// An app that finishes its requests within a limit ends when that is over, counted from SIGTERM,
// though new requests keep coming over open connections.
func TestTheLimitToFinishCountsFromSIGTERM(t *testing.T) {
	t.Parallel()
	w := newBuild(1).app(func(a *world.App) { a.FinishWithin = 2 * sec }).start(t, 1)
	w.do(10*sec, "delete", "web#0", "")
	w.inFlight = 10*sec + 900*ms
	for at := 10*sec + 500*ms; at < 20*sec; at += 500 * ms {
		w.at(at, func() { w.inFlight = at + 900*ms })
	}
	w.run(100 * sec)
	if ended := w.when("r0 0 ended") - 10*sec; ended != 2*sec {
		t.Errorf("ended after %s s, want 2", ended.Seconds())
	}
}

// What hooks do to the server before SIGTERM. Reference: scenario.Hook.
func TestHooksAct(t *testing.T) {
	t.Parallel()
	base := sleepHook(8 * sec)
	h := func(edit func(*world.Hook)) world.Hook {
		x := base
		edit(&x)
		return x
	}
	for _, c := range []struct {
		name  string
		hook  world.Hook
		lines []string
	}{
		{"closes the listener", h(func(h *world.Hook) { h.ClosesListener = true }),
			[]string{"10 r0 0 listening false", "18 r0 0 SIGTERM", "18 r0 0 ended by itself"}},
		{"closes the listener a little later", h(func(h *world.Hook) { h.ClosesListener, h.ActsAfter = true, engine.Constant(2*sec) }),
			[]string{"12 r0 0 listening false", "18 r0 0 SIGTERM", "18 r0 0 ended by itself"}},
		{"signals the server: it ends, and the kubelet waits for the hook", h(func(h *world.Hook) { h.SignalsServer = true }),
			[]string{"10 r0 0 listening false", "10 r0 0 SIGTERM", "13 r0 0 ended by itself"}},
		{"goes on until no request is served", h(func(h *world.Hook) { h.Duration, h.WaitsForRequests = engine.Constant(sec), true }),
			[]string{"13 r0 0 listening false", "13 r0 0 SIGTERM", "13 r0 0 ended by itself"}},
	} {
		w := newBuild(1).hook("app", c.hook).start(t, 1)
		w.inFlight = 13 * sec
		w.do(10*sec, "delete", "web#0", "")
		w.run(60 * sec)
		t.Log(c.name)
		w.want("r0 0 listening|r0 0 SIGTERM|r0 0 ended", c.lines...)
	}
}

// Reference: Kubernetes 1.36 pkg/kubelet/kuberuntime/kuberuntime_termination_order.go and
// killContainer: hooks run in parallel; a sidecar is signalled when the main containers and
// the sidecars after it have ended, or when what is left of grace is over.
func TestSidecarOrder(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	b := newBuild(1).hook("late", sleepHook(4*sec))
	b.d.Spec.Template.Spec.InitContainers = []corev1.Container{
		{Name: "init"}, {Name: "early", RestartPolicy: &always}, {Name: "late", RestartPolicy: &always},
	}
	for _, c := range []struct {
		name              string
		hook              engine.Time // of the main container
		app               func(*world.App)
		inFlight          engine.Time
		main, late, early engine.Time
	}{
		{"in reverse order after the main container", 0, func(*world.App) {}, 6 * sec, 6 * sec, 6 * sec, 6 * sec},
		{"its own hook holds a sidecar, and the one before it", 0, func(*world.App) {}, sec, sec, 4 * sec, 4 * sec},
		{"the main container is killed, then they go", 0, ignores, 0, 30 * sec, 30 * sec, 30 * sec},
		{"grace runs out while they wait, the main container has 1 s more", 29 * sec, ignores, 0, 31 * sec, 30 * sec, 30 * sec},
	} {
		w := b.app(c.app).hook("app", sleepHook(c.hook)).start(t, 1)
		w.do(10*sec, "delete", "web#0", "")
		w.inFlight = 10*sec + c.inFlight
		var at [3]engine.Time
		wk := w.kubelets[0].Worker(0)
		for step := 10 * sec; step < 45*sec; step += 100 * ms {
			w.run(step)
			for i, ct := range wk.All {
				if !ct.Running && at[i] == 0 {
					at[i] = ct.Finished - 10*sec
				}
			}
		}
		if at != [3]engine.Time{c.main, c.early, c.late} {
			t.Errorf("%s: app, early, late ended after %v, want %v", c.name, at, [3]engine.Time{c.main, c.early, c.late})
		}
	}
}

// A sidecar that waited for the others gets with its SIGTERM what is left of the grace period, the
// wait counted in whole seconds, and never less than 2 s. Reference: as above, and
// minimumGracePeriodInSeconds.
func TestASidecarsGraceIsWhatItsWaitLeft(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	for _, c := range []struct{ finishes, left engine.Time }{{20500 * ms, 10 * sec}, {29500 * ms, 2 * sec}} {
		b := newBuild(1)
		b.d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "mesh", RestartPolicy: &always}}
		w := b.start(t, 1)
		w.do(10*sec, "delete", "web#0", "")
		w.inFlight = 10*sec + c.finishes
		var got []string
		w.hears(func(e event.Event) {
			if e.Kind == event.Signalled && e.At >= 10*sec && e.Pod == 0 {
				got = append(got, fmt.Sprintf("%s after %s s: %s s", e.Container.Name, (e.At-10*sec).Seconds(), e.Grace.Seconds()))
			}
		})
		w.run(60 * sec)
		want := []string{"app after 0 s: 30 s", fmt.Sprintf("mesh after %s s: %s s", c.finishes.Seconds(), c.left.Seconds())}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// All hooks begin at once: the main container's takes 5 s, those of the sidecars 3 and 8 s. The
// main container ends after its own; then it is the last sidecar's turn, whose hook takes 3 s
// more; the first one, past its own hook, has waited for both. A hook of 8.8 s moves both.
func TestSidecarHooksRunInParallel(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	for _, late := range []engine.Time{8 * sec, 8800 * ms} {
		b := newBuild(1).hook("app", sleepHook(5*sec)).hook("early", sleepHook(3*sec)).hook("late", sleepHook(late))
		b.d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "early", RestartPolicy: &always}, {Name: "late", RestartPolicy: &always}}
		w := b.start(t, 1)
		w.do(10*sec, "delete", "web#0", "")
		all := w.kubelets[0].Worker(0).All
		w.run(60 * sec)
		got := [3]engine.Time{all[0].Finished - 10*sec, all[1].Finished - 10*sec, all[2].Finished - 10*sec}
		if want := [3]engine.Time{5 * sec, late, late}; got != want {
			t.Errorf("app, early, late ended after %v, want %v", got, want)
		}
	}
}

// A container that ends inside the grace period is not started again, though the pod has 30 s
// more: it ends. One that ends a little before the deletion is.
func TestACrashInsideTheGracePeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		crash    engine.Time
		restarts int
	}{{11 * sec, 0}, {9 * sec, 1}} {
		b := newBuild(1).hook("app", sleepHook(20*sec))
		w := b.start(t, 1)
		wk := w.kubelets[0].Worker(0)
		w.kubelets[0].Phase = 400 * ms
		w.do(10*sec, "delete", "web#0", "")
		w.at(c.crash, func() { wk.Crash() })
		w.run(60 * sec)
		if got := wk.Main.Generation - 1; got != c.restarts || wk.Main.Running {
			t.Errorf("crash at %s s: %d restarts", c.crash.Seconds(), got)
		}
	}
}

// A deletion that comes before the containers have started. The pod never runs.
func TestDeletedWhileStarting(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]engine.Time{ // order: each is a world of its own
		"before the kubelet knows it":            10*sec + 5*ms,
		"before the sandbox":                     10*sec + 500*ms,
		"between sandbox and container start":    11*sec + 500*ms,
		"just after the containers have started": 12*sec + 100*ms,
	} {
		b := newBuild(1)
		b.Latency.Sandbox, b.Latency.ContainerStart = engine.Constant(sec), engine.Constant(sec)
		w := b.start(t, 1)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.at(at, func() { w.deletePod(w.owner, 1) })
		w.run(30 * sec)
		gone := w.when("r1 0 gone")
		if term := w.when("r1 0 terminal"); term > gone || gone > at+3*sec {
			t.Errorf("%s: terminal at %s, gone at %s", name, term.Seconds(), gone.Seconds())
		}
		if i := w.Instance(kubelet.Address(1)); i != nil && (i.Sandbox || i.Listening) {
			t.Errorf("%s: it still runs", name)
		}
		if w.livePods[len(w.livePods)-1] != 2 {
			t.Errorf("%s: no successor: %v", name, w.livePods)
		}
	}
}

// Reference: Kubernetes 1.36 pkg/kubelet/prober/worker.go and prober_manager.go,
// UpdatePodStatus. A pod whose container starts at 11 s, on a kubelet that relists at .4 s;
// the app listens some time later. Ready is when the status is written.
func TestReadinessOfANewPod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		start              engine.Time
		readiness, startup *corev1.Probe
		ready              engine.Time // after the container start
	}{
		{"no probe: at the relist", 5 * sec, nil, nil, 400 * ms},
		{"an app that listens at once: at the relist, by the manual trigger", 0, probe(0, 10, 1, 3), nil, 400 * ms},
		{"a second later: the next relist triggers again", sec, probe(0, 10, 1, 3), nil, 1400 * ms},
		{"later still: each period after that", 2 * sec, probe(0, 10, 1, 3), nil, 11400 * ms},
		{"with a period of 1 s", 2 * sec, probe(0, 1, 1, 3), nil, 2400 * ms},
		{"initialDelay 10, period 10", 0, probe(10, 10, 1, 3), nil, 11400 * ms},
		{"initialDelay counts whole seconds", 0, probe(3, 1, 1, 3), nil, 3400 * ms},
		{"three successes in a row: two triggers and a tick", 0, probe(0, 1, 3, 3), nil, 2400 * ms},
		// The startup probe ticks from the pod's admission at 10 s.
		{"a startup probe gates it, and its success triggers it", 3500 * ms, probe(0, 10, 1, 3), probe(0, 2, 1, 30), 5000 * ms},
	} {
		b := newBuild(1).app(func(a *world.App) { a.Start = engine.Constant(c.start) })
		b.container().ReadinessProbe, b.container().StartupProbe = c.readiness, c.startup
		b.Latency.Sandbox = engine.Constant(sec)
		w := b.start(t, 1)
		w.kubelets[0].Phase = 400 * ms
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		if got := w.when("r1 0 running ready=true") - 11*sec; got != c.ready {
			t.Errorf("%s: after %s s, want %s", c.name, got.Seconds(), c.ready.Seconds())
		}
	}
}

// initialDelaySeconds 10, periodSeconds 10, no startup probe: Ready 10-12 s after the
// container's start, whenever the kubelet relists. Reference: pod-lifecycle 3.2.9.
func TestManualTriggerAtEveryPhase(t *testing.T) {
	t.Parallel()
	for phase := engine.Time(0); phase < sec; phase += 50 * ms {
		b := newBuild(1).app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
		b.container().ReadinessProbe = probe(10, 10, 1, 3)
		b.Latency.Sandbox = engine.Constant(1234 * ms)
		w := b.start(t, 1)
		w.kubelets[0].Phase = phase
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(40 * sec)
		if got := w.when("r1 0 running ready=true") - 11234*ms; got < 10*sec || got > 12*sec {
			t.Errorf("phase %s: Ready after %s s", phase.Seconds(), got.Seconds())
		}
	}
}

// The same over relist phases that are drawn. The first relist after the start shows the
// container to the prober, which is news; at the next one the kubelet works on the pod again
// and triggers the probe, whose ticker counts from there: 10 s later it has waited for more than 10 s.
// So Ready comes 11 s after the start and up to one relist later, evenly: 11.5 s on average,
// with a standard deviation of 1 s / sqrt(12). A period of 11 s would make it 12.5.
func TestReadyOfAnInitialDelay(t *testing.T) {
	t.Parallel()
	const seeds = 400
	for _, period := range []int32{10, 11} {
		var sum engine.Time
		for seed := range uint64(seeds) {
			b := newBuild(1).app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
			b.container().ReadinessProbe = probe(10, period, 1, 3)
			b.Latency.Sandbox = engine.Constant(1234 * ms)
			w := b.startOne(t, seed+1)
			w.pods()
			w.do(10*sec, "rolloutRestart", "web", "")
			w.run(30 * sec)
			after := w.when("r1 0 running ready=true") - 11234*ms
			if period == 10 && (after < 10*sec || after > 12*sec) {
				t.Errorf("seed %d: Ready %s s after the start", seed+1, after.Seconds())
			}
			sum += after
		}
		mean := sum / seeds
		off := max(mean-11500*ms, 11500*ms-mean)
		const fourErrors = 58 * ms // 4 x 0.2887 s / sqrt(400); 1 % would be 115 ms
		if holds := off <= fourErrors; holds != (period == 10) {
			t.Errorf("period %d: Ready %s s after the start on average", period, mean.Seconds())
		}
	}
}

// Readiness goes by thresholds, also during termination, back and forth. Reference: Kubernetes
// 1.36 pkg/kubelet/prober/worker.go; kubelet.go, SyncTerminatingPod.
func TestReadinessDuringTermination(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(60).hook("app", sleepHook(50*sec))
	b.container().ReadinessProbe = probe(0, 2, 2, 3)
	w := b.start(t, 1)
	wk := w.kubelets[0].Worker(0)
	wk.Main.Readiness.Phase = 0
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	force := func(at engine.Time, v bool) {
		w.at(at, func() { wk.Instance.Forced = v; wk.Wake() })
	}
	force(11*sec, true)  // probes at 12, 14, 16 fail
	force(23*sec, false) // probes at 24, 26 pass
	force(31*sec, true)  // only two fail
	force(35*sec, false)
	w.run(100 * sec)
	w.want("r0 0 running|r0 0 terminal",
		"10 r0 0 running ready=true deleting=true restarts=0",
		"16 r0 0 running ready=false deleting=true restarts=0",
		"26 r0 0 running ready=true deleting=true restarts=0",
		"60 r0 0 terminal ready=false",
	)
}

// Without a readiness probe a pod is Ready until all its containers have ended, even if one
// ends early. Reference: Kubernetes 1.36 status/generate.go; issue kubernetes#129552.
func TestNoReadinessProbeStaysReady(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("other", sleepHook(20*sec))
	b.d.Spec.Template.Spec.Containers = append(b.d.Spec.Template.Spec.Containers, corev1.Container{Name: "other"})
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.run(60 * sec)
	w.want("r0 0 running|r0 0 terminal|r0 0 ended",
		"10 r0 0 running ready=true deleting=true restarts=0",
		"10 r0 0 ended by itself",
		"30 r0 0 terminal ready=false",
	)
}

// A dead container whose status says running is probed, and fails by its threshold.
// Reference: the same issue; prober/worker.go.
func TestDeadContainerIsProbedInTermination(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("other", sleepHook(20*sec))
	b.d.Spec.Template.Spec.Containers = append(b.d.Spec.Template.Spec.Containers, corev1.Container{Name: "other"})
	b.container().ReadinessProbe = probe(0, 2, 1, 3)
	w := b.start(t, 1)
	w.kubelets[0].Worker(0).Main.Readiness.Phase = 0
	w.pods()
	w.do(9*sec, "delete", "web#0", "")
	w.run(60 * sec)
	w.want("r0 0 running|r0 0 terminal",
		"9 r0 0 running ready=true deleting=true restarts=0",
		"14 r0 0 running ready=false deleting=true restarts=0", // 10, 12, 14
		"29 r0 0 terminal ready=false",
	)
}

// Liveness: threshold, the hook and grace of the kill, a new container at once. Reference:
// Kubernetes 1.36 kuberuntime_manager.go, computePodActions, doBackOff.
func TestLivenessRestart(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("app", sleepHook(3500*ms)).app(func(a *world.App) {
		a.LivenessFollows, a.DependsOn = true, []string{"db"}
	})
	b.container().LivenessProbe = probe(0, 5, 1, 3)
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	b.Latency.ContainerStart = engine.Constant(100 * ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	c := w.kubelets[0].Worker(0).Main
	c.Liveness.Phase, c.Readiness.Phase = 0, 0
	w.pods()
	w.do(10500*ms, "dependency", "db", "down")
	w.do(25700*ms, "dependency", "db", "up")
	w.run(60 * sec)
	w.want("r0 0",
		"11 r0 0 running ready=false deleting=false restarts=0",
		// Liveness fails at 15, 20 and 25 s; the pod was last worked on at 11 s.
		"26 r0 0 running ready=true deleting=false restarts=0", // readiness again, while the hook runs
		"28.5 r0 0 listening false",
		"28.5 r0 0 SIGTERM",
		"28.5 r0 0 ended liveness",
		"28.6 r0 0 listening true",
		"29.4 r0 0 running ready=false deleting=false restarts=1",
		"29.4 r0 0 running ready=true deleting=false restarts=1",
	)
}

// A liveness kill takes the probe's grace period, if it has one.
func TestLivenessGrace(t *testing.T) {
	t.Parallel()
	for _, own := range []int64{0, 5} {
		b := newBuild(1).grace(20).app(func(a *world.App) {
			ignores(a)
			a.LivenessFollows, a.DependsOn = true, []string{"db"}
		})
		p := probe(0, 1, 1, 1)
		want := 20 * sec
		if own > 0 {
			p.TerminationGracePeriodSeconds, want = &own, engine.Time(own)*sec
		}
		b.container().LivenessProbe = p
		w := b.start(t, 1)
		w.do(11*sec, "dependency", "db", "down")
		w.run(60 * sec)
		if got := w.when("ended liveness") - w.when("SIGTERM"); got != want {
			t.Errorf("SIGKILL after %s s, want %s", got.Seconds(), want.Seconds())
		}
	}
}

// A crash is seen at the relist, and the container is restarted at once, then after 10 s, 20 s
// ..., counted from its end. Reference: client-go util/flowcontrol/backoff.go.
func TestCrashBackoff(t *testing.T) {
	t.Parallel()
	w := newBuild(1).start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.pods()
	var starts []engine.Time
	var ends []engine.Time
	for range 4 {
		ends = append(ends, w.eng.Now()+5*sec)
		w.run(w.eng.Now() + 5*sec)
		w.Do(world.Action{Operation: world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}})
		for c := w.kubelets[0].Worker(0).Main; !c.Running; {
			if _, err := w.eng.Step(); err != nil {
				t.Fatal(err)
			}
		}
		starts = append(starts, w.eng.Now())
	}
	for i, pause := range []engine.Time{0, 10 * sec, 20 * sec, 40 * sec} {
		got := starts[i] - ends[i]
		if got < pause || got > pause+pause/2+2*sec {
			t.Errorf("restart %d came after %s s, want %s to half as much again", i+1, got.Seconds(), pause.Seconds())
		}
	}
	w.run(w.eng.Now() + 5*sec)
	if got := w.when("ready=true deleting=false restarts=1"); got != 6400*ms {
		t.Errorf("ready again at %s s, want 6.4", got.Seconds())
	}
}

// A node's status writes come one after the other. Reference: Kubernetes 1.36
// pkg/kubelet/status/status_manager.go, Start, syncBatch.
func TestStatusWritesAreSerial(t *testing.T) {
	t.Parallel()
	b := newBuild(3)
	b.Latency.StatusWrite = engine.Constant(50 * ms)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "scale", "web", "0")
	w.run(20 * sec)
	w.want("terminal",
		"10.05 r0 0 terminal ready=false", "10.1 r0 1 terminal ready=false", "10.15 r0 2 terminal ready=false")
}

// An app that does not end at SIGTERM may fail its readiness from then on all the same, and the
// kubelet goes on asking (docs/model/pod-lifecycle.md 2d).
func TestReadinessOfAnAppThatStaysIsStillAsked(t *testing.T) {
	t.Parallel()
	b := newBuild(1).app(ignores).app(func(a *world.App) { a.ReadinessFails = true })
	b.container().ReadinessProbe = probe(0, 1, 1, 2)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.run(100 * sec)
	failed, term := w.when("r0 0 running ready=false deleting=true"), w.when("r0 0 SIGTERM")
	if failed <= term || failed > term+2*sec {
		t.Errorf("not ready at %s s, SIGTERM at %s s", failed.Seconds(), term.Seconds())
	}
}

// Whoever listens hears first of what there is, and then of everything, without a change.
func TestHearingChangesNothing(t *testing.T) {
	t.Parallel()
	hash := func(listen bool) (string, map[event.Kind]int) {
		w := newBuild(2).drawn().start(t, 1)
		heard := map[event.Kind]int{}
		if listen {
			w.hears(func(e event.Event) { heard[e.Kind]++ })
			if heard[event.Known] != 3 {
				t.Errorf("%d objects at the beginning, want 2 pods and a ReplicaSet", heard[event.Known])
			}
		}
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(100 * sec)
		return w.eng.Hash().String(), heard
	}
	silent, _ := hash(false)
	loud, heard := hash(true)
	if silent != loud {
		t.Error("listening changes the run")
	}
	for _, k := range []event.Kind{
		event.Wrote, event.Delivered, event.SyncBegan, event.SyncEnded, event.Started, event.Stopping, event.Signalled, event.Ended, event.Decided,
	} {
		if heard[k] == 0 {
			t.Errorf("nothing of kind %d was heard", k)
		}
	}
}
