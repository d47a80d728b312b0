package cluster

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A pod that has no node yet is gone with its deletion. Reference: Kubernetes 1.36
// pkg/registry/core/pod/strategy.go, CheckGracefulDelete; docs/model/pod-lifecycle.md 1.3.
func TestDeletedBeforeItIsBound(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.Schedule = engine.Constant(engine.Minute)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "scale", "web", "2")
	w.at(20*sec, func() { w.deletePod(w.owner, 1) })
	w.run(30 * sec)
	w.want("r0 1", "10 r0 1 created", "20 r0 1 gone")
}

// A pod is ready when all of its containers are, sidecars included. Reference: Kubernetes 1.36
// pkg/kubelet/status/generate.go; docs/model/pod-lifecycle.md 4 and 2.4.
func TestReadinessOfAllContainersCounts(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	slow := probe(20, 1, 1, 1)
	for name, add := range map[string]func(*corev1.PodSpec){ // order: each is a world of its own
		"a second container": func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "other", ReadinessProbe: slow})
		},
		"a sidecar": func(s *corev1.PodSpec) {
			s.InitContainers = append(s.InitContainers, corev1.Container{Name: "proxy", RestartPolicy: &always, ReadinessProbe: slow})
		},
	} {
		b := newBuild(1)
		add(&b.d.Spec.Template.Spec)
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		w := b.start(t, 1)
		w.kubelets[0].Phase = 400 * ms
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		if got := w.when("r1 0 running ready=true"); got != 30400*ms {
			t.Errorf("%s: ready at %s s, want 30.4", name, got.Seconds())
		}
	}
}

// What failed its liveness probe is not asked again until it is a new container: nothing that
// happens while it is being killed counts. Reference: Kubernetes 1.36 prober/worker.go, onHold;
// docs/model/pod-lifecycle.md 3.2.8.
func TestProbesHold(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(30).hook("app", sleepHook(10*sec)).app(func(a *world.App) {
		a.LivenessFollows, a.DependsOn = true, []string{"db"}
	})
	b.container().LivenessProbe = probe(0, 1, 1, 2)
	b.Latency.ContainerStart = engine.Constant(100 * ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	c := w.kubelets[0].Worker(0).Main
	c.Liveness.Phase = 0
	w.do(10500*ms, "dependency", "db", "down")
	w.do(20*sec, "dependency", "db", "up")
	var failed []string
	w.hears(func(e event.Event) {
		if e.Probe == b.container().LivenessProbe && !e.OK {
			failed = append(failed, e.At.Seconds())
		}
	}, event.Probed)
	w.run(60 * sec)
	if want := []string{"11", "12"}; !slices.Equal(failed, want) {
		t.Errorf("the liveness probe failed at %v s, want %v: it is held until the next container", failed, want)
	}
	w.want("r0 0 SIGTERM|ended", "22 r0 0 SIGTERM", "22 r0 0 ended liveness")
}

// A terminating pod is not killed for its liveness probe: it has its grace period. Reference:
// Kubernetes 1.36 prober_manager.go, StopLivenessAndStartup; docs/model/pod-lifecycle.md 2d and
// 3.4.
func TestLivenessDoesNotCutTheGracePeriod(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(30).app(func(a *world.App) {
		ignores(a)
		a.LivenessFollows, a.DependsOn = true, []string{"db"}
	})
	p, own := probe(0, 1, 1, 1), int64(1)
	p.TerminationGracePeriodSeconds = &own
	b.container().LivenessProbe = p
	w := b.start(t, 1)
	w.do(10*sec, "delete", "web#0", "")
	w.do(12*sec, "dependency", "db", "down")
	w.run(60 * sec)
	w.want("r0 0 ended", "40 r0 0 ended killed")
}

// A ReplicaSet says how many of its pods are terminating, until they have reached their terminal
// phase. Reference: docs/model/measured.md 1 terminatingReplicas.
func TestTerminatingReplicas(t *testing.T) {
	t.Parallel()
	w := newBuild(3).hook("app", sleepHook(5*sec)).start(t, 1)
	w.do(10*sec, "scale", "web", "1")
	for _, c := range []struct {
		at   engine.Time
		want int
	}{{9 * sec, 0}, {12 * sec, 2}, {20 * sec, 0}} {
		w.run(c.at)
		if got := as[*api.ReplicaSet](w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: 0, Revision: 0}))).Terminating; got != c.want {
			t.Errorf("at %s s: %d terminating, want %d", c.at.Seconds(), got, c.want)
		}
	}
}

// Ready's transition time is that of the change, whatever is looked at later. Reference:
// pkg/api/v1/pod/util.go; docs/model/pod-lifecycle.md 4.
func TestTransitionTime(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	b.d.Spec.Template.Spec.Containers = append(b.d.Spec.Template.Spec.Containers, corev1.Container{Name: "other"})
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	wk := w.kubelets[0].Worker(0)
	since := func() engine.Time { return as[*api.Pod](w.store.Get(api.PodKey(0))).ReadySince }
	w.at(10*sec, func() { wk.Instance.Forced = true; wk.Wake() })
	w.at(20*sec, func() { wk.Instance.Forced = false; wk.Wake() })
	w.run(25 * sec)
	first := since()
	w.at(30*sec, wk.RequestSync)
	w.run(40 * sec)
	if first < 20*sec || first > 21*sec || since() != first {
		t.Errorf("ready since %s s, and since %s s after another look", first.Seconds(), since().Seconds())
	}
}

// Every hop of a rollout takes its own time, and nothing else: the times below are sums of the
// latencies. Reference: docs/model/measured.md 2, docs/model/propagation.md 1,
// docs/model/pod-lifecycle.md 4.2.
func TestEachHopTakesItsTime(t *testing.T) {
	t.Parallel()
	b := newBuild(1).strategy("1", "0").hook("app", sleepHook(5*sec))
	b.Latency = world.Latencies{
		APIWrite: engine.Constant(ms), Watch: engine.Constant(10 * ms), Controller: engine.Constant(100 * ms),
		SliceController: engine.Constant(200 * ms), StatusWrite: engine.Constant(5 * ms), Schedule: engine.Constant(50 * ms),
		Sandbox: engine.Constant(sec), ContainerStart: engine.Constant(500 * ms), ProxySync: engine.Constant(40 * ms),
	}
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.pods()
	w.story()
	w.store.Subscribe("test slices", w.eng.Register("slices"), engine.Dist{}, func(api.Object) {
		w.note("slice of %d", len(w.sliceState[0][0]))
	}, api.KindSlices)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(15 * sec)
	p := w.Proxies[0]
	for before := p.Installed(); p.Installed() == before; {
		if _, err := w.eng.Step(); err != nil {
			t.Fatal(err)
		}
	}
	w.note("rules installed")
	w.run(30 * sec)
	w.want("r1 0 c|r1 0 b|r1 0 r|size|slice|deleting=true|SIGTERM|terminal|rules",
		"10.112 size r1 1",    // Deployment written 10.001, heard of 10.011, worked on 10.111, written
		"10.223 r1 0 created", // heard of 10.122, worked on 10.222
		"10.284 r1 0 bound",   // heard of 10.233, scheduled 10.283
		"12.405 r1 0 running ready=true deleting=false restarts=0", // heard of 10.294, sandbox 11.294, container 11.794, relist 12.4
		"12.616 slice of 2", // heard of 12.415, worked on 12.615
		"12.627 size r0 0",  // ReplicaSet's status 12.516, heard of 12.526, worked on 12.626
		"12.738 r0 0 running ready=true deleting=true restarts=0", // heard of 12.637, worked on 12.737
		"12.949 slice of 2",   // heard of 12.748, worked on 12.948
		"17.748 r0 0 SIGTERM", // the hook began with the news
		"17.753 r0 0 terminal ready=false",
		"17.964 slice of 1",      // heard of 17.763, worked on 17.963
		"18.014 rules installed", // heard of 17.974, 40 ms of sync
	)
}

// From a pod's readiness to the status of its budget: the watch, the controller's reaction and a write. Reference: docs/model/measured.md 2
// pod Ready change -> PDB status.
func TestABudgetFollowsItsPods(t *testing.T) {
	t.Parallel()
	b := newBuild(3).budget("maxUnavailable 1").drained(nil)
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	b.Latency = world.Latencies{APIWrite: engine.Constant(ms), Watch: engine.Constant(10 * ms), Controller: engine.Constant(100 * ms), StatusWrite: engine.Constant(5 * ms)}
	w := b.acts(t)
	w.store.Subscribe("test budgets", w.eng.Register("budgets"), engine.Dist{}, func(o api.Object) {
		w.note("budget: %d of %d", as[*api.Budget](o).Healthy, as[*api.Budget](o).Expected)
	}, api.KindBudget)
	w.do(20*sec, "setReady", "web#0", "false")
	w.run(30 * sec)
	if got := w.when("budget: 2 of 3") - w.when("r0 0 running ready=false"); got != 111*ms {
		t.Errorf("%v", w.lines)
	}
}

// 120 pods fill two slices. A pod's change has the slice written that it is in, and no other, after the same hops as in a small Service.
// Reference: docs/model/measured.md 2 same with 120 pods.
func TestTwoSlicesOf120Pods(t *testing.T) {
	t.Parallel()
	b := newBuild(120)
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	b.Latency = world.Latencies{APIWrite: engine.Constant(ms), Watch: engine.Constant(10 * ms), SliceController: engine.Constant(200 * ms), StatusWrite: engine.Constant(5 * ms)}
	w := b.start(t, 1)
	w.pods()
	written := 0
	w.store.Subscribe("test slices", w.eng.Register("slices"), engine.Dist{}, func(api.Object) {
		written++
		w.note("slice")
	}, api.KindSlices)
	if first, second := len(w.sliceState[0][0]), len(w.sliceState[0][1]); first != 100 || second != 20 {
		t.Fatalf("%d and %d endpoints", first, second)
	}
	for i, pod := range []int{3, 110} {
		written, w.lines = 0, nil
		at := engine.Time(10+20*i) * sec
		w.do(at, "setReady", fmt.Sprintf("web#%d", pod), "false")
		w.run(at + 10*sec)
		if got := w.when("slice") - w.when("ready=false"); got != 211*ms || written != 1 {
			t.Errorf("pod %d: after %s s, %d slices", pod, got.Seconds(), written)
		}
	}
}

// initialDelaySeconds count from the whole second in which the container started: that is all its
// status keeps. Reference: Kubernetes 1.36 prober/worker.go, doProbe;
// docs/model/pod-lifecycle.md 3.2.4.
func TestInitialDelayCountsFromTheWholeSecond(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.container().ReadinessProbe = probe(3, 1, 1, 1)
	b.Latency.Sandbox = engine.Constant(1700 * ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(30 * sec)
	// Started at 11.7 s, seen and probed for the first time at 12.4 s, then each second; at 14.4 s
	// three seconds have passed since 11 s.
	if got := w.when("r1 0 running ready=true"); got != 14400*ms {
		t.Errorf("ready at %s s, want 14.4", got.Seconds())
	}
}

// A server that has closed its listener fails its readiness probe while it finishes what it has.
// Reference: docs/model/pod-lifecycle.md 3.3 and 3.4.
func TestClosedListenerFailsReadiness(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.container().ReadinessProbe = probe(0, 1, 1, 2)
	w := b.start(t, 1)
	w.kubelets[0].Worker(0).Main.Readiness.Phase = 0
	w.inFlight = 20 * sec
	w.pods()
	w.do(10500*ms, "delete", "web#0", "")
	w.run(60 * sec)
	w.want("r0 0 running|terminal",
		"10.5 r0 0 running ready=true deleting=true restarts=0",
		"12 r0 0 running ready=false deleting=true restarts=0", // at 11 and 12 s
		"20 r0 0 terminal ready=false")
}

// The sandbox, and with it the pod's address, is there until all containers have ended. Reference:
// Kubernetes 1.36 kuberuntime_manager.go, killPodWithSyncResult; docs/model/pod-lifecycle.md 2g.
func TestSandboxOutlivesTheContainers(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("other", sleepHook(20*sec))
	b.d.Spec.Template.Spec.Containers = append(b.d.Spec.Template.Spec.Containers, corev1.Container{Name: "other"})
	w := b.start(t, 1)
	i := w.kubelets[0].Worker(0).Instance
	w.do(10*sec, "delete", "web#0", "")
	for _, c := range []struct {
		at               engine.Time
		running, sandbox bool
	}{{9 * sec, true, true}, {29 * sec, false, true}, {31 * sec, false, false}} {
		w.run(c.at)
		if i.Running != c.running || i.Sandbox != c.sandbox {
			t.Errorf("at %s s: the server runs %v, sandbox %v", c.at.Seconds(), i.Running, i.Sandbox)
		}
	}
}

// The grace period counts from when the kubelet begins to stop the containers, not from the
// deletion. Reference: Kubernetes 1.36 kuberuntime_container.go; docs/model/pod-lifecycle.md 2.1.
func TestGraceCountsFromTheKubelet(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(10).app(ignores)
	b.Latency.Watch = engine.Constant(2 * sec)
	w := b.start(t, 1)
	w.do(10*sec, "delete", "web#0", "")
	w.run(60 * sec)
	w.want("r0 0 SIGTERM|r0 0 ended", "12 r0 0 SIGTERM", "22 r0 0 ended killed")
}

// A health-check node port answers by the rules in force, not by what is on its way to them.
// Reference: Kubernetes 1.36 pkg/proxy/nftables/proxier.go, the end of syncProxyRules;
// docs/model/kube-proxy.md 5.1.
func TestHealthCheckFollowsTheRules(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).hook("app", sleepHook(20*sec))
	b.svc.Spec.Type, b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	b.svc.Spec.HealthCheckNodePort, b.svc.Spec.Ports[0].NodePort = 32000, 30080
	b.Latency.ProxySync = engine.Constant(500 * ms)
	b.Latency.Sandbox = engine.Constant(engine.Hour)
	w := b.start(t, 1)
	e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: true, HealthyNodesOnly: true})
	if !ok {
		t.Fatal("no entry")
	}
	w.at(10*sec, func() { w.deletePod(w.owner, 0) })
	for _, c := range []struct {
		at    engine.Time
		nodes int
	}{{9 * sec, 2}, {10400 * ms, 2}, {10600 * ms, 1}} {
		w.run(c.at)
		if got := w.NodesFor(e); len(got) != c.nodes {
			t.Errorf("at %s s: nodes %v, want %d", c.at.Seconds(), got, c.nodes)
		}
	}
}

// Neither a cordon nor a taint nor the deletion of its object makes a node's health-check node port
// fail. Reference: Kubernetes 1.36 pkg/proxy/healthcheck/service_health.go;
// docs/model/kube-proxy.md 5.1.
func TestHealthCheckDoesNotLookAtTheNode(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(4).cpu("4", "4", "4", "4")
	b.svc.Spec.Type, b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	b.svc.Spec.HealthCheckNodePort, b.svc.Spec.Ports[0].NodePort = 32000, 30080
	now := metav1.Unix(0, 0)
	b.Nodes[0].Object.Spec.Unschedulable = true
	b.Nodes[1].Object.Spec.Taints = []corev1.Taint{{Key: healthcheck.ToBeDeletedTaint, Effect: corev1.TaintEffectNoSchedule}}
	b.Nodes[2].Object.DeletionTimestamp = &now
	b.d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} // or they would run elsewhere
	w := b.start(t, 1)
	e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: true, HealthyNodesOnly: true})
	if !ok {
		t.Fatal("no entry")
	}
	w.run(9 * sec)
	for n := range w.sc.Nodes {
		if !w.NodeHealthy(e, n) {
			t.Errorf("%s fails", w.sc.Nodes[n].Name)
		}
	}
}

// A deletion stops the start under way: what has not been started is not. Reference: Kubernetes
// 1.36 pkg/kubelet/pod_workers.go, UpdatePod; docs/model/pod-lifecycle.md 2a.
func TestNothingStartsAfterTheDeletion(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.Sandbox, b.Latency.ContainerStart = engine.Constant(sec), engine.Constant(sec)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.do(10*sec, "rolloutRestart", "web", "")
	w.at(11500*ms, func() { w.deletePod(w.owner, 1) }) // the container would start at 12 s
	w.run(60 * sec)
	w.want("r1 0", "12.4 r1 0 sandbox down") // at the next relist
}
