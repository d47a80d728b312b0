package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// listen records what a watch delivers: the sizes that a Deployment is given.
func (w *testWorld) listen(latency engine.Dist) (*api.Watch, *[]string) {
	var got []string
	watch := w.store.Subscribe("test", w.eng.Register("test"), latency, func(o api.Object) {
		got = append(got, fmt.Sprintf("%s:%d", w.eng.Now().Seconds(), as[*api.Workload](o).Replicas))
	}, api.KindDeployment)
	return watch, &got
}

// Watches deliver every write in order, each watcher in its own time.
func TestWatchKeepsTheOrder(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.d.Spec.Paused = true
	w := b.start(t, 3)
	slow, err := engine.Uniform(0, 10*sec)
	if err != nil {
		t.Fatal(err)
	}
	_, got := w.listen(slow)
	for i := range 50 {
		w.do(engine.Time(i)*100*ms, "scale", "web", fmt.Sprint(i%3+1))
	}
	w.run(30 * sec)
	if len(*got) != 50 {
		t.Fatalf("%d deliveries, want 50", len(*got))
	}
	last, moments := "", 0
	for i, g := range *got {
		at, n, _ := strings.Cut(g, ":")
		if at != last {
			moments++
		}
		if n != fmt.Sprint(i%3+1) {
			t.Fatalf("delivery %d is %s", i, g)
		}
		if at != last && i > 0 && parse(at) < parse(last) {
			t.Fatalf("%s after %s", at, last)
		}
		last = at
	}
	// What is sent later and would be there sooner waits for what is before it, and arrives with it.
	if moments > 25 {
		t.Errorf("50 pieces of news arrive at %d moments: none waits for another", moments)
	}
}

func parse(seconds string) float64 {
	var f float64
	_, _ = fmt.Sscan(seconds, &f)
	return f
}

// An outage delays writes and news, loses none and keeps their order; a paused component stays
// paused when the API server comes back, and has its news at once when it runs again.
func TestOutageAndPause(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.APIWrite = engine.Constant(100 * ms)
	w := b.start(t, 1)
	_, got := w.listen(engine.Constant(20 * ms))
	held, paused := w.listen(engine.Constant(20 * ms))
	w.do(sec, "scale", "web", "2")
	w.do(2*sec, "scale", "web", "3") // on its way when the server goes away
	w.do(2050*ms, "apiserver", "", "down")
	w.do(3*sec, "scale", "web", "4")
	w.at(3500*ms, func() { w.store.Freeze(held.Owner) })
	w.do(4*sec, "scale", "web", "5")
	w.do(10*sec, "apiserver", "", "up")
	w.do(11*sec, "scale", "web", "6")
	w.do(12*sec, "apiserver", "", "down")
	w.at(13*sec, func() { w.store.Thaw(held.Owner) })
	w.do(20*sec, "apiserver", "", "up")
	w.run(60 * sec)
	if g, want := strings.Join(*got, " "), "1.12:2 10.12:3 10.12:4 10.12:5 11.12:6"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
	if g, want := strings.Join(*paused, " "), "1.12:2 13:3 13:4 13:5 13:6"; g != want {
		t.Errorf("paused: got %s, want %s", g, want)
	}
}

// A pod's status never goes back, whatever the API server does meanwhile.
func TestStatusOrderOverAnOutage(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		b := newBuild(3).drawn()
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		w := b.start(t, seed)
		last := map[api.PodID]api.Phase{}
		w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
			p := as[*api.Pod](o)
			if p.Phase < last[p.ID] {
				t.Errorf("seed %d: %s went from phase %d to %d", seed, p.Name, last[p.ID], p.Phase)
			}
			last[p.ID] = p.Phase
			if p.Gone && !p.Phase.Terminal() {
				t.Errorf("seed %d: %s gone in phase %d", seed, p.Name, p.Phase)
			}
		}, api.KindPod)
		w.do(10*sec, "rolloutRestart", "web", "")
		for i := range engine.Time(6) {
			w.do(10*sec+i*3*sec, "apiserver", "", "down")
			w.do(11*sec+i*3*sec, "apiserver", "", "up")
		}
		w.run(120 * sec)
		if n := len(w.livePods); n != 3 || w.podName(w.livePods[0]) != "default/web r1 0" {
			t.Errorf("seed %d: %d pods, from %s", seed, n, w.podName(w.livePods[0]))
		}
	}
}

// created lists when pods came into being, in order.
func (w *testWorld) created() []engine.Time {
	var out []engine.Time
	for _, id := range w.livePods {
		out = append(out, as[*api.Pod](w.store.Get(api.PodKey(id))).Created)
	}
	slices.Sort(out)
	return out
}

// Reference: Kubernetes 1.36 pkg/controller/replicaset/replica_set.go, slowStartBatch: 1, 2, 4,
// 8 ..., each batch after the answers to the one before. An answer takes 10 ms here.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.do(10*sec, "scale", "web", "20")
	w.run(20 * sec)
	var got []engine.Time
	count := map[engine.Time]int{}
	for _, c := range w.created()[1:] {
		if count[c]++; count[c] == 1 {
			got = append(got, c)
		}
	}
	// The Deployment and its ReplicaSet are written first, 10 ms each.
	want := []engine.Time{10030 * ms, 10040 * ms, 10050 * ms, 10060 * ms, 10070 * ms}
	if !slices.Equal(got, want) || !maps.Equal(count, map[engine.Time]int{want[0]: 1, want[1]: 2, want[2]: 4, want[3]: 8, want[4]: 4}) {
		t.Errorf("created at %v", count)
	}
}

// Reference: docs/model/measured.md 1 client QPS: raising from 0 to 120 creates about 30
// pods at once and then 20 a second; lowering deletes likewise. Six Events have taken a token of the
// same client before the last pod: without them it would come 90 tokens after the burst.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := newBuild(0)
	b.Latency.APIWrite = engine.Constant(5 * ms)
	w := b.start(t, 1)
	w.do(10*sec, "scale", "web", "120")
	w.run(30 * sec)
	at := w.created()
	early := 0
	for _, c := range at {
		if c < 10100*ms {
			early++
		}
	}
	if last := at[len(at)-1]; len(at) != 120 || early < 20 || early > 30 || last < 10*sec+96*50*ms || last > 10*sec+97*50*ms {
		t.Errorf("%d pods, %d at once, the last at %v", len(at), early, last)
	}
	var deleted []engine.Time
	w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
		if p := as[*api.Pod](o); p.Deleting() && !p.Phase.Terminal() {
			deleted = append(deleted, p.DeletedAt)
		}
	}, api.KindPod)
	w.do(60*sec, "scale", "web", "20")
	w.run(100 * sec)
	const asked = 60*sec + 15*ms // the Deployment, its ReplicaSet, and the answer of the first deletion
	if len(deleted) != 100 || deleted[29] != asked || deleted[30] != asked+50*ms || deleted[99] != asked+3500*ms {
		t.Errorf("%d deleted, the 30th at %v, last at %v", len(deleted), deleted[29], deleted[len(deleted)-1])
	}
}

// A pod is replaced as soon as it has a deletionTimestamp, once: expectations keep the
// controller from creating another while its watch has not shown the first. Reference:
// Kubernetes 1.36 replica_set.go, manageReplicas; docs/model/controllers.md 3.
func TestReplacement(t *testing.T) {
	t.Parallel()
	b := newBuild(2).hook("app", sleepHook(20*sec))
	b.Latency.Watch, b.Latency.APIWrite = engine.Constant(500*ms), engine.Constant(10*ms)
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	w := b.start(t, 1)
	w.kubelets[0].Worker(1).Main.Readiness.Phase = 300 * ms
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	// News about the other pod in the meantime makes the controller look again: it fails its probe
	// at 10.3 s, which is heard of at 10.8 s, when the new pod is not yet.
	w.at(10200*ms, func() { w.Do(action("setReady", "web#0", "false")) })
	w.run(20 * sec)
	w.want("created", "10.52 r0 2 created") // 10 ms to delete, 500 to hear, 10 to create
}

// Reference: docs/model/measured.md 1 minReadySeconds: counted from lastTransitionTime cut to whole
// seconds: 5 lasts 4.0-5.0 s and a reaction.
func TestMinReadySeconds(t *testing.T) {
	t.Parallel()
	for _, ready := range []engine.Time{0, 300 * ms, 999 * ms} {
		b := newBuild(1).strategy("1", "0")
		b.d.Spec.MinReadySeconds = 5
		w := b.start(t, 1)
		w.kubelets[0].Phase = ready
		w.story()
		w.do(10*sec-ms, "rolloutRestart", "web", "")
		w.run(60 * sec)
		if got := w.when("size r0 0"); got != 15*sec {
			t.Errorf("Ready at 10 s + %s: the old pod goes at %s s, want 15", ready.Seconds(), got.Seconds())
		}
	}
}

// minReadySeconds 1 and a Ready at x.9 s: the API keeps whole seconds, so the pod counts as
// available 1 s after x, 0.1 s after it became ready. At x.89 it is 0.11 s.
func TestMinReadySecondsOfAReadyLateInItsSecond(t *testing.T) {
	t.Parallel()
	for _, late := range []engine.Time{900 * ms, 890 * ms} {
		b := newBuild(1).strategy("1", "0")
		b.d.Spec.MinReadySeconds = 1
		w := b.start(t, 1)
		w.kubelets[0].Phase = late
		w.pods()
		w.story()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		ready := w.when("r1 0 running ready=true")
		if got := w.when("size r0 0") - ready; ready != 10*sec+late || got != sec-late {
			t.Errorf("Ready at %s s, available %s s later", ready.Seconds(), got.Seconds())
		}
	}
}

// Recreate waits until the last old pod is done: its terminal phase, not its object.
// Reference: docs/model/measured.md 1 Recreate; Kubernetes 1.36
// pkg/controller/deployment/recreate.go.
func TestRecreateWaits(t *testing.T) {
	t.Parallel()
	b := newBuild(2).recreate().hook("app", sleepHook(7*sec))
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.pods()
	w.story()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	w.want("size|terminal|created|gone",
		"10.02 size r0 0",
		"17.03 r0 0 terminal ready=false",
		"17.03 r0 1 terminal ready=false",
		"17.05 size r1 2", // the ReplicaSet's status says so, 10 ms; the new one is made, 10 ms
		"17.06 r1 0 created",
		"17.07 r1 1 created",
		w.lines[len(w.lines)-2], w.lines[len(w.lines)-1],
	)
}

// A pod on a node that has crashed never ends: with strategy Recreate a rollout makes no new pod until the Node is deleted and the garbage
// collector has ended it. That is said, and no rule is broken by it. Reference: docs/model/controllers.md 2 Recreate.
func TestRecreateWaitsForAPodOfANodeThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(3).recreate()
	b.Actions = []world.Action{
		{At: 10 * sec, Operation: world.CrashNode{Node: "node-1"}}, {At: 20 * sec, Operation: world.RolloutRestart{Workload: "default/web"}},
		{At: 900 * sec, Operation: world.DeleteNode{Node: "node-1"}},
	}
	b.Muster()
	w := b.acts(t)
	w.pods()
	w.run(800 * sec)
	got := w.CannotEnd()
	if got == nil || !strings.Contains(got.Why, "pod 0 of default/web stays Terminating") || !strings.Contains(got.Why, "Recreate") || got.What != "kubectl delete node node-1, once its machine is off for good" {
		t.Errorf("%+v", got)
	}
	if err := w.Stuck(); err != nil || len(w.PodsOn(1))+len(w.PodsOn(2)) != 0 {
		t.Errorf("%v, %d pods", err, len(w.PodsOn(1))+len(w.PodsOn(2)))
	}
	w.run(1000 * sec)
	if n := len(w.PodsOn(1)) + len(w.PodsOn(2)); w.CannotEnd() != nil || w.Unrest() != "" || w.Stuck() != nil || n != 2 {
		t.Errorf("%+v, %q, %v, %d pods", w.CannotEnd(), w.Unrest(), w.Stuck(), n)
	}
}

// Reference: k8s.io/endpointslice 0.36.3 utils.go, podToEndpoint; util, ShouldPodBeInEndpoints;
// docs/model/controllers.md 9.1.
func TestEndpointConditions(t *testing.T) {
	t.Parallel()
	w := newBuild(1).start(t, 1)
	ip := kubelet.Address(0)
	const r, s, x = endpoints.Ready, endpoints.Serving, endpoints.Terminating
	for _, c := range []struct {
		name    string
		pod     api.Pod
		publish bool
		want    endpoints.Conditions
		in      bool
	}{
		{"ready", api.Pod{IP: ip, Ready: true, DeletedAt: api.Never, Phase: api.PhaseRunning}, false, r | s, true},
		{"not ready", api.Pod{IP: ip, DeletedAt: api.Never, Phase: api.PhaseRunning}, false, 0, true},
		{"ready, deleting", api.Pod{IP: ip, Ready: true, DeletedAt: sec, Phase: api.PhaseRunning}, false, s | x, true},
		{"not ready, deleting", api.Pod{IP: ip, DeletedAt: sec, Phase: api.PhaseRunning}, false, x, true},
		{"published, ready", api.Pod{IP: ip, Ready: true, DeletedAt: api.Never, Phase: api.PhaseRunning}, true, r | s, true},
		{"published, not ready", api.Pod{IP: ip, DeletedAt: api.Never, Phase: api.PhaseRunning}, true, r, true},
		{"published, ready, deleting", api.Pod{IP: ip, Ready: true, DeletedAt: sec, Phase: api.PhaseRunning}, true, r | s | x, true},
		{"published, not ready, deleting", api.Pod{IP: ip, DeletedAt: sec, Phase: api.PhaseRunning}, true, r | x, true},
		{"no address", api.Pod{DeletedAt: api.Never, Phase: api.PhasePending}, true, 0, false},
		{"succeeded", api.Pod{IP: ip, DeletedAt: sec, Phase: api.PhaseSucceeded}, true, 0, false},
		{"failed", api.Pod{IP: ip, DeletedAt: api.Never, Phase: api.PhaseFailed}, false, 0, false},
		{"gone", api.Pod{IP: ip, Ready: true, DeletedAt: sec, Phase: api.PhaseRunning, Gone: true}, false, 0, false},
	} {
		w.services[0].publishAll = c.publish
		e, in := w.endpointOf(&c.pod, 0, nil)
		if in != c.in || e.Conditions != c.want {
			t.Errorf("%s: %v %v, want %v %v", c.name, e.Conditions, in, c.want, c.in)
		}
	}
	if _, in := w.endpointOf(nil, 0, nil); in {
		t.Error("no pod, no endpoint")
	}
}

// A pod leaves the slices at its terminal phase, before its object goes, and its conditions on
// the way are those of its status. Reference: docs/model/controllers.md 9.1.
func TestEndpointPath(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hook("app", sleepHook(5*sec))
	w := b.start(t, 1)
	w.pods()
	w.store.Subscribe("test slices", w.eng.Register("slices"), engine.Dist{}, func(o api.Object) {
		var out []string
		for _, e := range w.sliceState[0][0] {
			out = append(out, fmt.Sprintf("%d:%v", e.ID, e.Conditions))
		}
		w.note("slice %s", strings.Join(out, " "))
	}, api.KindSlices)
	w.do(10*sec, "scale", "web", "0")
	w.run(30 * sec)
	w.want("slice|terminal|gone",
		"10 slice 0:"+(endpoints.Serving|endpoints.Terminating).String(),
		"15 r0 0 terminal ready=false",
		"15 slice ",
		w.lines[len(w.lines)-1])
}

// Reference: docs/model/measured.md 1 stale cache; endpointslice_controller.go, the failure
// back-off: 1 s, 2 s, ... News that comes before the controller's watch has shown it its own write
// makes it wait; news during the write only makes it look again.
func TestStaleCache(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		second, wrote engine.Time // the second deletion, and its slice write
	}{
		// The first deletion is heard of at 10.07 s, written at 10.09, and that heard of at 10.14.
		{"heard of during the write", 10010 * ms, 11110 * ms},
		{"heard of after the write", 10030 * ms, 11120 * ms},
		{"heard of when the write was, too", 10080 * ms, 10170 * ms},
	} {
		b := newBuild(3).hook("app", sleepHook(20*sec))
		b.d.Spec.Paused = true
		b.Latency.APIWrite, b.Latency.Watch = engine.Constant(20*ms), engine.Constant(50*ms)
		b.Latency.Controller = engine.Constant(engine.Minute) // no replacements meanwhile: they would be news, too
		w := b.start(t, 1)
		var got []engine.Time
		w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(api.Object) { got = append(got, w.eng.Now()) }, api.KindSlices)
		w.at(10*sec, func() { w.deletePod(w.owner, 0) })
		w.at(c.second, func() { w.deletePod(w.owner, 1) })
		w.run(10 * sec)
		for w.sliceState[0][0][1].Conditions.Ready() { // pod 1 is the second of the slice
			if _, err := w.eng.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if w.eng.Now() != c.wrote || len(got) != 1 || got[0] != 10090*ms {
			t.Errorf("%s: written at %s s, want %s; writes at %v", c.name, w.eng.Now().Seconds(), c.wrote.Seconds(), got)
		}
	}
}

// Reference: kube-proxy 1.36 runner semantics (proxier/pace): at once when idle, minSyncPeriod
// after the END of the previous sync otherwise; what was received when a sync starts is in
// force when it ends.
func TestNodeProxy(t *testing.T) {
	t.Parallel()
	b := newBuild(6).hook("app", sleepHook(60*sec)).grace(90)
	b.d.Spec.Template.Spec.Containers[0].ReadinessProbe = probe(3600, 3600, 1, 3) // replacements do not become ready
	b.Latency.ProxySync = engine.Constant(300 * ms)
	b.Latency.Sandbox = engine.Constant(engine.Hour)
	w := b.start(t, 1)
	for i, at := range []engine.Time{10 * sec, 10100 * ms, 11 * sec, 11500 * ms, 20 * sec} {
		w.at(at, func() { w.deletePod(w.owner, api.PodID(i)) })
	}
	type change struct {
		at   engine.Time
		view uint64
	}
	var got []change
	p := w.Proxies[0]
	for last := p.Installed(); w.eng.Next() <= 30*sec; {
		if _, err := w.eng.Step(); err != nil {
			t.Fatal(err)
		}
		if p.Installed() != last {
			last = p.Installed()
			got = append(got, change{w.eng.Now(), last.Number})
		}
	}
	want := []change{
		{10300 * ms, 2}, // at once; what came at 10.1 s is not in it
		{11600 * ms, 4}, // 1 s after 10.3 s; both changes since, but not that of 11.5 s
		{12900 * ms, 5}, // 1 s after 11.6 s
		{20300 * ms, 6}, // idle again
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The stages of lateness on a change's way to the rules.
func TestLateness(t *testing.T) {
	t.Parallel()
	b := newBuild(2).hook("app", sleepHook(60*sec)).grace(90)
	b.Latency.SliceController, b.Latency.ProxySync = engine.Constant(100*ms), engine.Constant(100*ms)
	slow := engine.Constant(100 * ms)
	b.Nodes[0].Watch = &slow
	b.Latency.Sandbox = engine.Constant(engine.Hour)
	w := b.start(t, 1)
	w.at(10*sec, func() { w.deletePod(w.owner, 0) })
	w.at(10250*ms, func() { w.deletePod(w.owner, 1) })
	for _, c := range []struct {
		at   engine.Time
		want nodeproxy.Stage
	}{
		{9 * sec, nodeproxy.StageDone}, {10050 * ms, nodeproxy.StageSlices}, {10150 * ms, nodeproxy.StageWatch}, {10240 * ms, nodeproxy.StageSync},
		{10320 * ms, nodeproxy.StageSlices}, {10400 * ms, nodeproxy.StageWatch}, {10600 * ms, nodeproxy.StageWait}, {11350 * ms, nodeproxy.StageSync}, {11500 * ms, nodeproxy.StageDone},
	} {
		w.run(c.at)
		if got := w.Lateness(0); got != c.want {
			t.Errorf("at %s s: %q, want %q", c.at.Seconds(), got, c.want)
		}
	}
}

// Equal seeds give equal traces, different ones do not.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (string, []string) {
		b := newBuild(7).nodes(3).drawn()
		b.container().ReadinessProbe = probe(0, 2, 1, 3)
		b.container().LivenessProbe = probe(0, 3, 1, 3)
		w := b.start(t, seed)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.do(14*sec, "scale", "web", "12")
		w.do(20*sec, "crashPod", "web#1", "")
		w.do(30*sec, "rollback", "web", "")
		w.do(33*sec, "apiserver", "", "down")
		w.do(37*sec, "apiserver", "", "up")
		w.do(50*sec, "scale", "web", "2")
		w.run(120 * sec)
		return w.eng.Hash().String(), w.lines
	}
	for seed := range uint64(5) {
		a, lines := run(seed)
		if b, again := run(seed); a != b || !slices.Equal(lines, again) {
			t.Errorf("seed %d: %s and %s", seed, a, b)
		}
		if b, _ := run(seed + 100); a == b {
			t.Errorf("seed %d: another seed, the same trace", seed)
		}
	}
}

// Draws belong to objects, not to the order in which they are asked for.
func TestDrawsBelongToObjects(t *testing.T) {
	t.Parallel()
	at := func(before int) string {
		b := newBuild(3).drawn()
		b.d.Spec.Paused = true
		w := b.start(t, 7)
		w.pods()
		for i := range before { // other objects are written first
			w.at(5*sec, func() { w.deletePod(w.owner, api.PodID(i)) })
		}
		w.at(60*sec, func() { w.deletePod(w.owner, 2) })
		w.run(70 * sec)
		return w.when("r0 2 running ready=true deleting=true").Seconds() + " " + w.when("r0 2 terminal").Seconds()
	}
	if a, b := at(0), at(2); a != b {
		t.Errorf("%s without other deletions, %s with", a, b)
	}
}
