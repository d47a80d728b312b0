package cluster

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// shuts has kubelets wait for so long at a shutdown, the last part for critical pods.
func (b build) shuts(whole, critical engine.Time) build {
	b.Shutdown = []world.ShutdownGroup{{Grace: whole - critical}, {Priority: world.CriticalPriority, Grace: critical}}
	return b
}

// A kubelet that is set to it ends its pods when the machine shuts down: nobody deletes them, they stay ready and their endpoints are not
// terminating until their processes have ended; then they are Failed and stay, and others are made. The node is not ready at once, kube-proxy's
// ports are closed when the critical pods' turn comes, and the machine is off a second later. Reference: docs/model/pod-lifecycle.md 5.
func TestAGracefulShutdown(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(3).drawn().hook("app", sleepHook(5*sec)).shuts(30*sec, 10*sec).does(world.ShutdownNode{Node: "node-1"}, 0)
	w := b.acts(t)
	w.nodesNoted()
	w.run(14 * sec)
	if p := w.pod(0); !p.Ready || p.Deleting() || p.Phase != api.PhaseRunning || w.Dead(0) {
		t.Errorf("%+v", p)
	}
	if e := w.slicesInAPI(0)[0]; e.Conditions != endpoints.Ready|endpoints.Serving {
		t.Errorf("%v", e.Conditions)
	}
	if n := w.NodeInAPI(0); !n.NotReady || n.Unknown || n.Barred != api.NotReady {
		t.Errorf("%+v", n)
	}
	if a := w.ProbeProxy(0); !a.OK {
		t.Errorf("%+v", a)
	}
	w.run(60 * sec)
	w.isOff(t)
	w.run(400 * sec) // it is silent, and then its taint drives away what is Failed
	if w.pod(0) != nil || !w.NodeInAPI(0).Unknown {
		t.Errorf("%+v, %+v", w.pod(0), w.NodeInAPI(0))
	}
}

// isOff looks at the first pod of a node that has shut down, and at the one in its place.
func (w *testWorld) isOff(t *testing.T) {
	t.Helper()
	if term := w.when("r0 0 SIGTERM"); term < 15*sec || term > 16*sec+100*ms {
		t.Errorf("SIGTERM at %s s", term.Seconds())
	}
	if p := w.pod(0); p.Phase != api.PhaseFailed || p.Deleting() || p.Ready {
		t.Errorf("%+v", p)
	}
	if !w.Dead(0) || w.pod(3) == nil || !w.pod(3).Ready || w.pod(3).Node == 0 || len(w.slicesInAPI(0)) != 3 {
		t.Errorf("dead %v, %+v", w.Dead(0), w.pod(3))
	}
	if s, err := w.Unrest(), w.Stuck(); s != "" || err != nil {
		t.Error(s, err)
	}
}

// critical gives the pods the priority of those that end last, and 5 s in which they still serve.
func (b build) critical() build {
	priority := int32(world.CriticalPriority)
	b.d.Spec.Template.Spec.Priority = &priority
	return b.hook("app", sleepHook(5*sec))
}

// kube-proxy ends when the critical pods' turn comes, and its ports are closed from then on: no health check node port answers for a pod that is
// ready yet, to which the rules still lead. Whatever the version answers of a proxy that does not keep up, this one answers nothing.
// Reference: docs/model/pod-lifecycle.md 5.
func TestAHealthPortIsClosedWithTheProxy(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{36, 25} {
		b := newBuild(2).nodes(2).critical().version(minor).shuts(30*sec, 10*sec).does(world.ShutdownNode{Node: "node-1"}, 0)
		b.svc.Spec.Type, b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
		b.svc.Spec.HealthCheckNodePort, b.svc.Spec.Ports[0].NodePort = 32000, 30080
		w := b.acts(t)
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: true, HealthyNodesOnly: true, Nodes: world.NodeNames(w.sc.Nodes)})
		if !ok {
			t.Fatal("no entry")
		}
		var closed engine.Time
		w.log.Subscribe(func(ev event.Event) {
			if ev.Node == 0 && !ev.OK && closed == 0 {
				closed = ev.At
			}
		}, event.HealthPort)
		w.Tell([]Entry{e})
		for _, c := range []struct {
			at   engine.Time
			open bool
		}{{9 * sec, true}, {12 * sec, false}} {
			w.run(c.at)
			nodes := []int{1}
			if c.open {
				nodes = []int{0, 1}
			}
			if !w.pod(0).Ready || !w.Reaches(e, 0) || w.NodeHealthy(e, 0) != c.open || w.ProbeHealthPort(e, 0).OK != c.open || !slices.Equal(w.NodesFor(e), nodes) {
				t.Errorf("1.%d at %s s: %+v, rules lead to it %v, its node is healthy %v, clients go to nodes %v", minor, c.at.Seconds(), w.pod(0), w.Reaches(e, 0), w.NodeHealthy(e, 0), w.NodesFor(e))
			}
		}
		if closed < 10*sec || closed > 11*sec {
			t.Errorf("1.%d: its port is said to close at %s s", minor, closed.Seconds())
		}
	}
}

// A pod has its own grace period, or what the kubelet gives it, whichever is shorter; the next group waits for the end of the one before or for the end
// of its time, and groups without pods are passed over. Reference: docs/model/pod-lifecycle.md 5 Groups, Per pod grace.
func TestHowLongAShutdownGivesEachPod(t *testing.T) {
	t.Parallel()
	priority := func(n int32) *int32 { return &n }
	for _, c := range []struct {
		name     string
		priority *int32
		groups   []world.ShutdownGroup
		kill     engine.Time // after the shutdown
		off      engine.Time // of the machine, 2 s after the kill at most, or after the group
	}{
		{"its own, which is shorter", nil, []world.ShutdownGroup{{Grace: 60 * sec}}, 30 * sec, 32 * sec},
		{"the group's", nil, []world.ShutdownGroup{{Grace: 20 * sec}, {Priority: world.CriticalPriority, Grace: 10 * sec}}, 20 * sec, 22 * sec},
		{"a critical pod has the last part", priority(world.CriticalPriority), []world.ShutdownGroup{{Grace: 20 * sec}, {Priority: world.CriticalPriority, Grace: 10 * sec}}, 10 * sec, 12 * sec},
		{"by priority: the highest that is not above its own", priority(500), []world.ShutdownGroup{{Priority: 0, Grace: 5 * sec}, {Priority: 100, Grace: 15 * sec}, {Priority: 1000, Grace: 25 * sec}}, 15 * sec, 17 * sec},
		{"lower than all is in the first", priority(-10), []world.ShutdownGroup{{Priority: 0, Grace: 5 * sec}, {Priority: 100, Grace: 15 * sec}}, 5 * sec, 7 * sec},
	} {
		b := newBuild(2).nodes(2).app(ignores).does(world.ShutdownNode{Node: "node-1"}, 0)
		b.Shutdown = c.groups
		b.d.Spec.Template.Spec.Priority = c.priority
		w := b.acts(t)
		w.run(100 * sec)
		kill := w.when("r0 0 ended killed") - 10*sec
		if kill < c.kill || kill > c.kill+sec {
			t.Errorf("%s: killed after %s s, want %s", c.name, kill.Seconds(), c.kill.Seconds())
		}
		w2 := b.acts(t)
		w2.run(10*sec + c.kill - 1)
		early := w2.Dead(0)
		w2.run(10*sec + c.off)
		if early || !w2.Dead(0) {
			t.Errorf("%s: off too early %v, off %v", c.name, early, w2.Dead(0))
		}
	}
}

// A kubelet that is set to nothing lets its machine go with all that is on it.
func TestAShutdownWithoutTheKubelet(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).hook("app", sleepHook(5*sec)).does(world.ShutdownNode{Node: "node-1"}, 0).acts(t)
	w.run(10 * sec)
	if i := w.instances.Of(0); !w.Dead(0) || i.Running || !w.pod(0).Ready || w.NodeInAPI(0).NotReady {
		t.Errorf("%+v", i)
	}
	w.run(80 * sec)
	if w.pod(0).Ready || !w.NodeInAPI(0).Unknown {
		t.Errorf("%+v", w.pod(0))
	}
}

// A machine that is rebooted is back with its kubelet, and the pods that were Failed stay Failed; where it comes back before it is off, then.
func TestAReboot(t *testing.T) {
	t.Parallel()
	for _, long := range []engine.Time{10 * sec, 60 * sec} {
		b := newBuild(2).nodes(2).drawn().hook("app", sleepHook(20*sec)).shuts(30*sec, 0).does(world.ShutdownNode{Node: "node-1"}, long)
		w := b.acts(t)
		w.run(200 * sec)
		if p := w.pod(0); w.Dead(0) || w.NodeInAPI(0).NotReady || p.Phase != api.PhaseFailed {
			t.Errorf("back after %s s: dead %v, %+v", long.Seconds(), w.Dead(0), p)
		}
		if s := w.Unrest(); s != "" {
			t.Error(s)
		}
	}
}

// Spot notices: nothing reacts by itself. AWS tells the machine to shut down when the two minutes are over, GCP at once, and takes it 30 s later; a node
// termination handler drains before. The Node goes when the machine has and is not ready. Reference: docs/model/pod-lifecycle.md 5 Spot.
func TestSpotNotices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		o       world.SpotNotice
		shuts   bool
		stopped engine.Time // SIGTERM of the pod after the notice, -1: never
		off     engine.Time
	}{
		{"nobody reacts", world.SpotNotice{Notice: 120 * sec}, false, -1, 120 * sec},
		{"the kubelet does, at the end", world.SpotNotice{Notice: 120 * sec}, true, 125 * sec, 126 * sec},
		{"at the notice", world.SpotNotice{Notice: 30 * sec, Sudden: true}, true, 5 * sec, 6 * sec},
		{"a handler drains", world.SpotNotice{Notice: 120 * sec, Drains: true}, false, 5 * sec, 120 * sec},
	} {
		c.o.Node = "node-1"
		b := newBuild(2).nodes(2).drawn().hook("app", sleepHook(5*sec)).does(c.o, 0)
		if c.shuts {
			b = b.shuts(30*sec, 10*sec)
		}
		w := b.acts(t)
		w.nodesNoted()
		w.run(10*sec + c.off - 2*sec)
		early := w.Dead(0)
		w.run(10*sec + c.off + 2*sec)
		if early || !w.Dead(0) {
			t.Errorf("%s: off too early %v, off %v", c.name, early, w.Dead(0))
		}
		w.run(400 * sec)
		if !w.NodeInAPI(0).Gone || len(w.PodsOn(0)) != 0 || len(w.PodsOn(1)) != 2 {
			t.Errorf("%s: %+v, %d and %d pods", c.name, w.NodeInAPI(0), len(w.PodsOn(0)), len(w.PodsOn(1)))
		}
		stopped := engine.Time(-1)
		if w.told("r0 0 SIGTERM") {
			stopped = w.when("r0 0 SIGTERM") - 10*sec
		}
		if (stopped < 0) != (c.stopped < 0) || stopped >= 0 && (stopped < c.stopped || stopped > c.stopped+2*sec) {
			t.Errorf("%s: SIGTERM after %s s", c.name, stopped.Seconds())
		}
		if s, err := w.Unrest(), w.Stuck(); s != "" || err != nil {
			t.Error(c.name, s, err)
		}
	}
}

// told says whether something was noted.
func (w *testWorld) told(text string) bool {
	for _, l := range w.lines {
		if strings.Contains(l, text) {
			return true
		}
	}
	return false
}

// Deleting a Node touches no slice: its endpoints stay ready. The garbage collector ends its pods 40 to 60 s later, one time in three another 20 s later, first in their status, and only then
// others take their places; where the machine runs on its kubelet stops them. Reference: docs/model/pod-lifecycle.md 6 PodGC, measured 1 PodGC, measured 1 node object
// missing.
func TestANodeThatIsDeletedUnderItsPods(t *testing.T) {
	t.Parallel()
	for _, machine := range []bool{false, true} {
		least, most, late := engine.Hour, engine.Time(0), 0
		for seed := range uint64(40) {
			failed := deletedUnder(t, machine, seed) - 10*sec
			least, most = min(least, failed), max(most, failed)
			if failed > 60*sec+100*ms {
				late++
			}
		}
		if least < 40*sec || least > 42*sec || most > 80*sec+100*ms || most < 77*sec || late < 6 || late > 22 {
			t.Errorf("failed %s to %s s after the deletion, %d later than 60 s", least.Seconds(), most.Seconds(), late)
		}
	}
}

// deletedUnder deletes node-1 under its pod, with its machine or without, and returns when the pod is said to have failed.
func deletedUnder(t *testing.T, machine bool, seed uint64) engine.Time {
	t.Helper()
	b := newBuild(2).nodes(2).drawn().does(world.DeleteNode{Node: "node-1", Machine: machine}, 0)
	w := b.start(t, seed)
	w.pods()
	w.at(10*sec, func() { w.Do(b.Actions[0]) })
	w.run(49 * sec)
	if e := w.slicesInAPI(0); len(e) != 2 || e[0].Node != 0 || e[0].Conditions != endpoints.Ready|endpoints.Serving || w.Dead(0) != machine {
		t.Fatalf("seed %d: %+v", seed, e)
	}
	if w.settledEndpoints(0)[0].Node == 0 {
		t.Fatal("a settled slice has it")
	}
	if machine {
		e, _ := w.Entry(world.Traffic{Service: "default/web", Port: 80})
		if got := w.Judge(e, 1, netip.AddrPortFrom(w.pod(0).IP, 8080), ledger.FaultNoAnswer); got.Cause != ledger.NodeGone || got.Actor != ledger.NodeLifecycle {
			t.Fatalf("put down to %s, %s: no slice is late", got.Cause, got.Actor)
		}
	}
	w.run(120 * sec)
	failed, gone := w.when("r0 0 terminal"), w.when("r0 0 gone")
	if w.pod(2) == nil || w.pod(2).Created < failed || w.pod(2).Created > gone+100*ms || w.pod(2).Node != 1 || !w.pod(2).Ready {
		t.Errorf("seed %d: failed at %s s, gone at %s s, the next %+v", seed, failed.Seconds(), gone.Seconds(), w.pod(2))
	}
	if i := w.instances.Of(0); i.Running || i.Sandbox || machine == (i.Term != api.Never) {
		t.Errorf("seed %d: %+v", seed, i)
	}
	if e := w.slicesInAPI(0); len(e) != 2 || e[0].Node == 0 {
		t.Errorf("seed %d: %+v", seed, e)
	}
	return failed
}

// A kubelet writes the statuses of its pods one after another, and the last ones do not get to the API before its machine is off. Then a pod
// counts as ready that is not there, until it is driven away: nothing is at rest until then.
func TestWhatAKubeletCouldNotSayAnyMore(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(2).app(ignores).does(world.ShutdownNode{Node: "node-1"}, 0)
	b.Shutdown = []world.ShutdownGroup{{Grace: 10 * sec}}
	b.Latency.StatusWrite = engine.Constant(2 * sec)
	w := b.acts(t)
	w.run(100 * sec)
	if p := w.pod(2); !p.Ready || !w.Dead(0) || w.Unrest() == "" {
		t.Errorf("%+v, off %v, %q", p, w.Dead(0), w.Unrest())
	}
	w.run(400 * sec)
	if p := w.pod(2); !p.Deleting() || w.Unrest() != "" {
		t.Errorf("%+v, %q", p, w.Unrest())
	}
}

// A bare Pod whose kubelet ended it at a shutdown is Failed, and stays that: nobody makes another one, and nothing is to come.
func TestABarePodOfAMachineThatShutsDown(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).bare().shuts(10*sec, 2*sec).does(world.ShutdownNode{Node: "node-1"}, 60*sec)
	w := b.acts(t)
	w.run(300 * sec)
	if p := w.pod(0); p == nil || p.Phase != api.PhaseFailed || w.Stuck() != nil || w.Unrest() != "" {
		t.Errorf("%+v, %v, %q", p, w.Stuck(), w.Unrest())
	}
}

// A group is over when all of its pods have ended, however long each takes.
func TestAShutdownWaitsForEachPodOfAGroup(t *testing.T) {
	t.Parallel()
	long, err := engine.Uniform(2*sec, 20*sec)
	if err != nil {
		t.Fatal(err)
	}
	b := newBuild(4).hook("app", world.Hook{Kind: "sleep", Duration: long}).shuts(60*sec, 10*sec).does(world.ShutdownNode{Node: "node-1"}, 0)
	w := b.acts(t)
	var ends []engine.Time
	w.hears(func(e event.Event) {
		if e.Kind == event.NodeGone {
			w.note("node gone")
		} else if ends = append(ends, e.At); e.Ending != event.ByItself {
			t.Errorf("pod %d ends otherwise: %v", e.Pod, e.Ending)
		}
	}, event.Ended, event.NodeGone)
	w.run(100 * sec)
	if gone := w.when("node gone"); len(ends) != 4 || ends[3]-ends[0] < 2*sec || gone < ends[3]+sec-ms || gone > ends[3]+2*sec {
		t.Errorf("the pods end at %v, and the machine is off at %s s", ends, gone.Seconds())
	}
}

// A machine that shuts down, or is off, is not shut down once more.
func TestAShutdownIsOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first    world.Operation
		from, to engine.Time // when it is off
	}{
		"it shuts down": {world.ShutdownNode{Node: "node-1"}, 16 * sec, 17*sec + 100*ms},
		"it has died":   {world.CrashNode{Node: "node-1"}, 10 * sec, 10 * sec},
	} {
		b := newBuild(2).nodes(2).hook("app", sleepHook(5*sec)).shuts(30*sec, 10*sec).does(c.first, 0)
		b.Actions = append(b.Actions, world.Action{At: 12 * sec, Operation: world.ShutdownNode{Node: "node-1"}})
		w := b.acts(t)
		var off []engine.Time
		w.hears(func(e event.Event) { off = append(off, e.At) }, event.NodeGone)
		w.run(300 * sec)
		if len(off) != 1 || off[0] < c.from || off[0] > c.to || w.closingNode() != "" {
			t.Errorf("%s: off at %v, %q", name, off, w.closingNode())
		}
	}
}
