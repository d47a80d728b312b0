package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// does has the world do something at 10 s, for so long, 0 for good.
func (b build) does(o world.Operation, long engine.Time) build {
	b.Actions = append(b.Actions, world.Action{At: 10 * sec, For: long, Operation: o})
	return b
}

// nodesNoted notes each version of the nodes, without delay.
func (w *testWorld) nodesNoted() {
	last := map[int]string{}
	w.store.Subscribe("test nodes", w.eng.Register("test nodes"), engine.Dist{}, func(o api.Object) {
		n := as[*api.Node](o)
		words := fmt.Sprintf("ready=%v unknown=%v noschedule=%d noexecute=%d", !n.NotReady, n.Unknown, n.Barred, n.Drives)
		if n.Gone {
			words = "gone"
		}
		if words != last[n.Number] {
			w.note("%s %s", w.sc.Nodes[n.Number].Name, words)
		}
		last[n.Number] = words
	}, api.KindNode)
}

// pod returns the present version of a pod.
func (w *testWorld) pod(id api.PodID) *api.Pod {
	p, _ := w.store.Get(api.PodKey(id)).(*api.Pod)
	return p
}

// A kubelet is silent from its crash on. The control plane notes its last renewal, of which there is one each 10 s, when its loop comes by, each
// 5 s, and waits for the grace period from then: 40 to 55 s in all, and 10 s less before 1.32. Over many seeds both ends are nearly met.
// Reference: docs/model/pod-lifecycle.md 6; measured 1 silent node (46.6 to 48.9 s).
func TestHowLongANodeMayBeSilent(t *testing.T) {
	t.Parallel()
	for minor, from := range map[int]engine.Time{36: 40 * sec, 32: 40 * sec, 31: 30 * sec} { // order: each for itself
		least, most := engine.Hour, engine.Time(0)
		for seed := range uint64(150) {
			b := newBuild(1).nodes(2).version(minor).does(world.CrashNode{Node: "node-2"}, 0)
			w := b.start(t, seed)
			w.nodesNoted()
			w.do(10*sec, "crashNode", "node-2", "")
			w.run(80 * sec)
			took := w.when("node-2 ready=false unknown=true") - 10*sec
			least, most = min(least, took), max(most, took)
		}
		if least < from || least > from+2*sec || most > from+15*sec || most < from+13*sec {
			t.Errorf("1.%d: %s to %s s, want %s and 15 s more", minor, least.Seconds(), most.Seconds(), from.Seconds())
		}
	}
}

// Nobody knows of a crash at first: the pods there are ready, and further ones are bound to the node. When it is noticed its pods become
// not ready at once, and the taints come, NoSchedule first; the pods are deleted 300 s after the second, and stay, for nobody stops
// them; others take their places. Reference: docs/model/pod-lifecycle.md 6; docs/model/measured.md 1 silent node.
func TestPodsOfANodeThatCrashes(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(2).drawn().does(world.CrashNode{Node: "node-2"}, 0)
	w := b.start(t, 1)
	w.nodesNoted()
	w.pods()
	w.do(10*sec, "crashNode", "node-2", "")
	w.do(20*sec, "scale", "web", "6")
	w.do(100*sec, "scale", "web", "7")
	w.run(20 * sec)
	if !w.pod(1).Ready || !w.pod(3).Ready {
		t.Error("somebody knows")
	}
	w.run(30 * sec)
	if on := w.PodsOn(1); len(on) != 3 || on[2].Phase != api.PhasePending {
		t.Errorf("%d pods are bound to the node", len(on))
	}
	w.run(120 * sec)
	unknown, bar, drive := w.when("node-2 ready=false unknown=true"), w.when("noschedule=2"), w.when("noexecute=2")
	if first, second := w.when("r0 1 running ready=false"), w.when("r0 3 running ready=false"); first < unknown || second < first || second > unknown+100*ms {
		t.Errorf("not ready at %s s; the pods at %s and %s s", unknown.Seconds(), first.Seconds(), second.Seconds())
	}
	if bar <= unknown || bar > unknown+80*ms || drive <= unknown || drive > unknown+150*ms {
		t.Errorf("not ready at %s s, taints at %s and %s s", unknown.Seconds(), bar.Seconds(), drive.Seconds())
	}
	if on := w.PodsOn(1); len(on) != 3 {
		t.Errorf("%d pods are bound to the node", len(on))
	}
	w.run(drive + 299*sec)
	if w.pod(1).Deleting() || len(w.livePods) != 7 {
		t.Errorf("%+v", w.pod(1))
	}
	w.run(drive + 330*sec)
	w.drivenAway(t, drive)
}

// drivenAway looks at the pods of node-2 and their successors some time after the taint that drives them away.
func (w *testWorld) drivenAway(t *testing.T, drive engine.Time) {
	t.Helper()
	for _, p := range w.PodsOn(1) {
		if !p.Deleting() || p.DeletedAt < drive+300*sec || p.DeletedAt > drive+300*sec+200*ms || p.Ready {
			t.Errorf("%+v", p)
		}
	}
	if n := len(w.PodsOn(0)); n != 7 || len(w.livePods) != 10 {
		t.Errorf("%d pods on the other node, %d in all", n, len(w.livePods))
	}
	for _, e := range w.slicesInAPI(0) {
		if e.Node == 1 && e.Conditions != endpoints.Terminating {
			t.Errorf("pod %d: %v", e.ID, e.Conditions)
		}
	}
	if s, err := w.Unrest(), w.Stuck(); s != "" || err != nil {
		t.Error(s, err)
	}
}

// How long a pod tolerates the taint is up to its manifest; the API server adds 300 s where that says nothing of it.
func TestHowLongAPodToleratesASilentNode(t *testing.T) {
	t.Parallel()
	seconds := func(n int64) *int64 { return &n }
	noExecute := corev1.TaintEffectNoExecute
	for _, c := range []struct {
		name        string
		tolerations []corev1.Toleration
		after       engine.Time // the NoExecute taint; -1: never
	}{
		{"nothing is said", nil, 300 * sec},
		{"ten seconds", []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: noExecute, TolerationSeconds: seconds(10)}}, 10 * sec},
		{"none", []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: noExecute, TolerationSeconds: seconds(0)}}, 0},
		{"for ever", []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: noExecute}}, -1},
		{"all taints", []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, -1},
		{"of the other condition only", []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: noExecute, TolerationSeconds: seconds(5)}}, 300 * sec},
		{"the value does not match: said, and not tolerated", []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Value: "x", Effect: noExecute}}, 0},
	} {
		b := newBuild(2).nodes(2).does(world.CrashNode{Node: "node-2"}, 0)
		b.d.Spec.Template.Spec.Tolerations = c.tolerations
		w := b.start(t, 1)
		w.nodesNoted()
		w.pods()
		w.do(10*sec, "crashNode", "node-2", "")
		w.run(500 * sec)
		deleted := engine.Time(-1)
		if p := w.pod(1); p.Deleting() {
			deleted = p.DeletedAt - w.when("noexecute=2")
		}
		if deleted/ms != c.after/ms {
			t.Errorf("%s: deleted %d ms after the taint, want %d", c.name, deleted/ms, c.after/ms)
		}
	}
}

// A node that comes back before its pods are deleted keeps them: their containers are made anew, and are ready again; its taints go, NoSchedule at
// once and NoExecute when the loop comes by, within 5 s. What was deleted meanwhile goes. Reference: docs/model/pod-lifecycle.md 6;
// docs/model/measured.md 1 silent node.
func TestANodeThatComesBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		b := newBuild(4).nodes(2).drawn().does(world.CrashNode{Node: "node-2"}, 100*sec)
		w := b.start(t, seed)
		w.nodesNoted()
		w.pods()
		w.do(10*sec, "crashNode", "node-2", "")
		w.do(20*sec, "delete", "web#1", "")
		w.run(100 * sec)
		if p := w.pod(1); !p.Deleting() || p.Phase.Terminal() {
			t.Fatalf("%+v", p)
		}
		w.at(110*sec, func() { w.Undo(b.Actions[0]) })
		w.run(200 * sec)
		if w.pod(1) != nil {
			t.Errorf("seed %d: %+v", seed, w.pod(1))
		}
		if p := w.pod(3); !p.Ready || p.Restarts != 1 || p.Deleting() {
			t.Errorf("seed %d: %+v", seed, p)
		}
		back, free := w.when("node-2 ready=true unknown=false noschedule=2"), w.when("node-2 ready=true unknown=false noschedule=0 noexecute=2")
		whole := w.when("node-2 ready=true unknown=false noschedule=0 noexecute=0")
		if back < 110*sec || back > 110*sec+50*ms || free > back+100*ms || whole < free || whole > back+5100*ms {
			t.Errorf("seed %d: back at %s s, tainted no more at %s and %s s", seed, back.Seconds(), free.Seconds(), whole.Seconds())
		}
		if s, err := w.Unrest(), w.Stuck(); s != "" || err != nil {
			t.Error(s, err)
		}
	}
}

// A kubelet that is paused for longer than the grace period makes its node not ready, and the pods there, which serve as before. When it goes on it
// finds that they are ready: within the 10 s of its reconcile. Reference: docs/model/pod-lifecycle.md 4 and 6.
func TestASilentKubelet(t *testing.T) {
	t.Parallel()
	pause := world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentPause}
	b := newBuild(2).nodes(2).drawn().does(pause, 100*sec)
	w := b.acts(t)
	w.nodesNoted()
	w.run(109 * sec)
	if p, i := w.pod(0), w.instances.Of(0); p.Ready || !p.ContainersReady || !i.Accepts() {
		t.Errorf("%+v, %+v", p, i)
	}
	if c := w.slicesInAPI(0)[0].Conditions; c != 0 {
		t.Errorf("%v", c)
	}
	w.run(200 * sec)
	ready := w.when("r0 0 running ready=true")
	if p := w.pod(0); !p.Ready || p.Restarts != 0 || ready < 110*sec || ready > 120*sec+100*ms {
		t.Errorf("ready at %s s: %+v", ready.Seconds(), p)
	}
	if w.when("ready=true unknown=false noschedule=0 noexecute=0") < 110*sec {
		t.Error("it was not tainted")
	}
}

// Nodes of one zone drive their pods away one each 10 s. Where all nodes are silent it is the control plane that is cut off, and no pod is driven away;
// in a small zone none is where most of three or more nodes are silent. Reference: docs/model/pod-lifecycle.md 6 Zone eviction rate.
func TestHowManyNodesAreTaintedAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		nodes, crash int
		least, most  int // tainted
	}{
		{"two of eight", 8, 2, 2, 2}, {"five of eight", 8, 5, 1, 2}, {"all of one zone that is not the only one", 4, 3, 3, 3}, {"all", 3, 3, 0, 0},
	} {
		b := newBuild(2).nodes(c.nodes)
		if strings.Contains(c.name, "not the only one") {
			b.Nodes[3].Zone = "b"
		}
		for n := range c.crash {
			b = b.does(world.CrashNode{Node: fmt.Sprintf("node-%d", n+1)}, 0)
		}
		w := b.start(t, 1)
		var at []engine.Time
		w.store.Subscribe("test nodes", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
			if n := as[*api.Node](o); n.Drives == api.Unreachable {
				at = append(at, w.eng.Now())
			}
		}, api.KindNode)
		for _, a := range b.Actions {
			w.at(a.At, func() { w.Do(a) })
		}
		w.run(200 * sec)
		tainted := 0
		for n := range b.Nodes {
			if w.NodeInAPI(n).Drives == api.Unreachable {
				tainted++
			}
		}
		slices.Sort(at)
		if tainted < c.least || tainted > c.most || tainted > 1 && (at[1]-at[0] < 10*sec || at[1]-at[0] > 21*sec) {
			t.Errorf("%s: %d tainted, at %v", c.name, tainted, at)
		}
	}
}

// A kubelet that is started again goes on with what it finds. Of a pod that it was stopping the whole termination begins again: preStop, and the
// grace period from then on. Reference: docs/model/pod-lifecycle.md 2.1 Kubelet restart while terminating.
func TestAKubeletThatIsRestartedWithinTheGrace(t *testing.T) {
	t.Parallel()
	restart := world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentRestart}
	for _, at := range []engine.Time{25 * sec, 35 * sec} { // the second time SIGKILL would have come before the hook is over again
		w := newBuild(2).hook("app", sleepHook(10*sec)).app(ignores).start(t, 1)
		w.pods()
		w.do(10*sec, "delete", "web#0", "")
		w.at(at, func() { w.Do(world.Action{Operation: restart}) })
		w.run(200 * sec)
		again := at + sec
		if term, kill := w.when("r0 0 SIGTERM"), w.when("r0 0 ended killed"); term != 20*sec || kill < again+30*sec || kill > again+31*sec {
			t.Errorf("SIGTERM at %s s, SIGKILL at %s s", term.Seconds(), kill.Seconds())
		}
		if p := w.pod(1); !p.Ready || p.Restarts != 0 || w.pod(0) != nil {
			t.Errorf("%+v", p)
		}
	}
}

// Before 1.35 a kubelet that is started again has its pods be not ready until their probes have passed; without a probe nothing changes.
// (ChangeContainerStatusOnKubeletRestart; Kubernetes 1.36 pkg/kubelet/prober; verified.)
func TestReadinessWhereAKubeletIsRestarted(t *testing.T) {
	t.Parallel()
	restart := world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentRestart}
	for minor, stays := range map[int]bool{36: true, 35: true, 34: false} { // order: each for itself
		for _, probed := range []bool{true, false} {
			b := newBuild(1).version(minor)
			if probed {
				b.container().ReadinessProbe = probe(0, 10, 1, 3)
			}
			w := b.start(t, 1)
			w.pods()
			w.at(25*sec, func() { w.Do(world.Action{Operation: restart}) })
			w.run(100 * sec)
			lost := slices.ContainsFunc(w.lines, func(l string) bool { return strings.Contains(l, "ready=false") })
			if p := w.pod(0); !p.Ready || p.Restarts != 0 || lost != (probed && !stays) {
				t.Errorf("1.%d, a probe %v: lost %v: %v", minor, probed, lost, w.lines)
			}
		}
	}
}

// What a kubelet had not finished when it ended it does when it is back: pods that start, and pods that are gone from the API.
func TestAKubeletThatIsRestartedFinishesWhatItHadBegun(t *testing.T) {
	t.Parallel()
	restart := world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentRestart}
	for at := 10 * sec; at < 13*sec; at += 250 * ms {
		b := newBuild(1).drawn()
		b.d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		b.Workloads[0].App.Init = engine.Constant(sec)
		w := b.start(t, 1)
		w.do(10*sec, "scale", "web", "3")
		w.at(at, func() { w.Do(world.Action{Operation: restart}) })
		w.run(100 * sec)
		for id := range api.PodID(3) {
			if p := w.pod(id); p == nil || !p.Ready || p.Restarts != 0 {
				t.Errorf("restarted at %s s: %+v", at.Seconds(), p)
			}
		}
	}
}

// Where no node is ready any more, nobody drives pods away; when one is again, those that are not do. Reference: docs/model/pod-lifecycle.md 6
// Zone eviction rate.
func TestANodeDrivesItsPodsAwayWhenAnotherIsBack(t *testing.T) {
	t.Parallel()
	w := newBuild(4).nodes(2).drawn().does(world.CrashNode{Node: "node-1"}, 0).does(world.CrashNode{Node: "node-2"}, 100*sec).acts(t)
	w.run(105 * sec)
	if n := w.NodeInAPI(0); !n.Unknown || n.Drives != api.NoTaint {
		t.Errorf("while all are silent: %+v", n)
	}
	w.run(600 * sec)
	for _, p := range w.PodsOn(0) {
		if !p.Deleting() {
			t.Errorf("%+v, of %+v", p, w.NodeInAPI(0))
		}
	}
}

// Strategy Recreate waits for an old pod that nobody stops, and kubectl drain and Karpenter for one that they have evicted. None of that ends
// by itself.
func TestWhatWaitsForAPodOfAMachineThatIsGone(t *testing.T) {
	t.Parallel()
	const stays = "pod 0 of default/web stays Terminating: node-1 is gone, and its Node object is there"
	for _, c := range []struct {
		b    build
		why  string
		want bool // of a drain
	}{
		{newBuild(2).nodes(2).recreate().does(world.RolloutRestart{Workload: "default/web"}, 0), stays + ". Strategy Recreate makes no new pod meanwhile", false},
		{newBuild(2).nodes(2).drained(nil, "node-1"), "kubectl drain of node-1 waits for ever: " + stays, true},
		{newBuild(2).nodes(2).taken(world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}}), "Karpenter waits for ever for node-1 to be empty: " + stays, true},
		{newBuild(2).nodes(2).drained(func(o *world.DrainOptions) { o.Timeout = 60 * sec }, "node-1"), "kubectl drain gives up on node-1: pod 0 of default/web: timeout reached", true},
	} {
		b := c.b.hook("app", sleepHook(20*sec))
		b.Actions = append(b.Actions, world.Action{At: 15 * sec, Operation: world.CrashNode{Node: "node-1"}})
		w := b.acts(t)
		w.run(500 * sec)
		s, err := w.CannotEnd(), w.Stuck()
		if s == nil || s.Why != c.why || s.Drain != c.want || err != nil {
			t.Errorf("%+v, %v, want %s", s, err, c.why)
		}
		if vain := w.InVain(); strings.Contains(c.why, "for ever") && c.want && vain < 300 {
			t.Errorf("%s: %d looks in vain", c.why, vain)
		}
	}
}

// Without a rollout the strategy Recreate is nothing to a pod of a machine that is gone: its ReplicaSet makes another one beside it, and nobody
// waits.
func TestRecreateWaitsOnlyInARollout(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).recreate()
	b.Actions = append(b.Actions, world.Action{At: 5 * sec, Operation: world.CrashNode{Node: "node-1"}})
	w := b.acts(t)
	w.run(500 * sec)
	if s, err := w.CannotEnd(), w.Stuck(); s != nil || err != nil || len(w.PodsOn(1)) != 1 || !w.PodsOn(1)[0].Ready {
		t.Errorf("%+v, %v, pods elsewhere: %+v", s, err, w.PodsOn(1))
	}
}

// Where no node is ready nothing drives pods away, and the pods of a machine that is gone stay where they are: nobody makes others. With
// another node that is ready, or once the machine is back, all is as it was. Reference: docs/model/pod-lifecycle.md 6 Zone eviction rate.
func TestACrashOfTheOnlyNodeDoesNotEnd(t *testing.T) {
	t.Parallel()
	const stays = "pod 0 of default/web stays on node-1, which is gone: while no node is ready the control plane drives no pod away, and there is none to go to"
	for name, c := range map[string]struct {
		nodes int
		lasts engine.Time
		why   string
	}{
		"the only node":               {1, 0, stays},
		"the only node, for a minute": {1, 60 * sec, ""},
		"one of two":                  {2, 0, ""},
	} {
		b := newBuild(1).nodes(c.nodes).does(world.CrashNode{Node: "node-1"}, 0)
		b.Actions[0].For = c.lasts
		w := b.acts(t)
		w.run(600 * sec)
		s := w.CannotEnd()
		if (s != nil) != (c.why != "") || s != nil && (s.Why != c.why || s.Drain || s.What != "another node, or node-1 again") {
			t.Errorf("%s: %+v", name, s)
		}
		if usable := w.Usable(0).Now; (usable == 0) != (c.why != "") {
			t.Errorf("%s: %d usable", name, usable)
		}
	}
}

// A pod that tolerates the taints of a silent node for ever is driven away by nobody, and none is made in its place. With a time, or where the
// machine comes back, all is as it was. A DaemonSet's pods are to stay. Reference: docs/model/pod-lifecycle.md 6 Taint eviction.
func TestAPodThatToleratesASilentNodeForEver(t *testing.T) {
	t.Parallel()
	thirty := int64(30)
	for name, c := range map[string]struct {
		toleration corev1.Toleration
		lasts      engine.Time
		why        string
	}{
		"all taints":               {corev1.Toleration{Operator: corev1.TolerationOpExists}, 0, "pod 0 of default/web stays on node-1, which is gone: it tolerates"},
		"all taints, for a minute": {corev1.Toleration{Operator: corev1.TolerationOpExists}, 100 * sec, ""},
		"for half a minute":        {corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &thirty}, 0, ""},
	} {
		b := newBuild(1).nodes(2).does(world.CrashNode{Node: "node-1"}, 0)
		b.Actions[0].For = c.lasts
		b.d.Spec.Template.Spec.Tolerations = []corev1.Toleration{c.toleration}
		w := b.acts(t)
		w.run(600 * sec)
		s := w.CannotEnd()
		if (s != nil) != (c.why != "") || s != nil && (!strings.HasPrefix(s.Why, c.why) || s.Path != "spec.template.spec.tolerations") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
