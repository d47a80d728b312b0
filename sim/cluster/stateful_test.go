package cluster

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// stateful makes the workload a StatefulSet, of policy OrderedReady, whose pods take a second to be ready and as long to stop.
func (b build) stateful(edit func(*appsv1.StatefulSetSpec)) build {
	s := &appsv1.StatefulSet{ObjectMeta: b.d.ObjectMeta, Spec: appsv1.StatefulSetSpec{
		Replicas: b.d.Spec.Replicas, Selector: b.d.Spec.Selector, Template: b.d.Spec.Template,
	}}
	world.Default(s)
	if edit != nil {
		edit(&s.Spec)
	}
	b.Workloads[0].Resource = s
	b.Workloads[0].App.Start = engine.Constant(sec)
	return b.hook("app", sleepHook(sec))
}

// bare makes the workload a Pod that nobody keeps.
func (b build) bare() build {
	template := b.d.Spec.Template
	b.Workloads[0].Resource = world.NewBarePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: template.Labels}, Spec: template.Spec})
	return b
}

// rollingStateful edits the update strategy.
func rollingStateful(edit func(*appsv1.RollingUpdateStatefulSetStrategy)) func(*appsv1.StatefulSetSpec) {
	return func(s *appsv1.StatefulSetSpec) { edit(s.UpdateStrategy.RollingUpdate) }
}

func parallelStateful(s *appsv1.StatefulSetSpec) {
	s.PodManagementPolicy = appsv1.ParallelPodManagement
}

// order says in which order pods were deleted, had gone, were made, and became ready: "2x 2- 2+ 2!".
func (w *testWorld) order() string {
	w.t.Helper()
	var out []string
	ready := map[string]bool{}
	for _, l := range w.lines {
		_, rest, _ := strings.Cut(l, " ")
		name, what, _ := strings.Cut(rest, " r")
		name = strings.TrimPrefix(name, "default/web-")
		revision, what, _ := strings.Cut(what, " ")
		again := ""
		if strings.HasPrefix(what, "#") {
			again, what, _ = strings.Cut(what, " ")
		}
		key := name + "r" + revision + again
		mark := ""
		switch {
		case strings.HasPrefix(what, "created"):
			mark = "+r" + revision
		case strings.HasPrefix(what, "gone"):
			mark = "-"
		case strings.Contains(what, "deleting=true") && !ready[key+"x"]:
			mark, ready[key+"x"] = "x", true
		case strings.Contains(what, "ready=true deleting=false") && !ready[key]:
			mark, ready[key] = "!", true
		}
		if mark != "" {
			out = append(out, name+mark)
		}
	}
	return strings.Join(out, " ")
}

// Pods of a StatefulSet are replaced from the highest ordinal down, each in the place of the old one when its object has gone, and the
// next one when it is ready. Reference: docs/model/controllers.md 4 Rolling update, Same-name replacement; Parallel policy.
func TestStatefulSetRollingUpdate(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*appsv1.StatefulSetSpec){"OrderedReady": nil, "Parallel": parallelStateful} {
		b := newBuild(3).nodes(3).stateful(policy)
		w := b.start(t, 1)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		if got, want := w.order(), "2x 2- 2+r1 2! 1x 1- 1+r1 1! 0x 0- 0+r1 0!"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		u, d := w.Usable(0), w.Dark(0)
		if u.Of != 3 || u.Min != 2 || d.Most != 1 || len(d.Pods) != 3 || w.Unrest() != "" || w.Stuck() != nil || w.CannotEnd() != nil {
			t.Errorf("%s: %+v, %+v, %q", name, u, d, w.Unrest())
		}
	}
}

// How long each pod is away: until it has stopped, and its successor has been made, started and become ready.
func TestTheGapOfAStatefulSetsPod(t *testing.T) {
	t.Parallel()
	b := newBuild(1).stateful(nil)
	b.Workloads[0].Template().Spec.Containers[0].ReadinessProbe = probe(0, 1, 1, 3)
	b.Latency.APIWrite, b.Latency.Watch, b.Latency.Controller = engine.Constant(10*ms), engine.Constant(20*ms), engine.Constant(5*ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	w.want("deleting=true|gone|created|ready=true",
		// 10 ms for kubectl's write, 20 for the watch, 5 in the queue, 10 for the ControllerRevision, 10 for the deletion
		"10.055 default/web-0 r0 running ready=true deleting=true restarts=0",
		"11.51 default/web-0 r0 gone",
		"11.545 default/web-0 r1 created", // 20 for the watch, 5 in the queue, 10 for the write
		"13.4 default/web-0 r1 running ready=true deleting=false restarts=0",
	)
	if d := w.Dark(0); len(d.Pods) != 1 || d.Pods[0] != 13400*ms-11075*ms {
		t.Errorf("dark for %v", d.Pods)
	}
}

// What blocks an update, and what does not. Reference: docs/model/controllers.md 4 Rolling update; measured 1 StatefulSet roll-out.
func TestAnUnhealthyPodBlocksAnOrderedReadyUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy func(*appsv1.StatefulSetSpec)
		want   string
	}{
		{nil, "0! 2x 2- 2+r1 2! 1x 1- 1+r1 1! 0x 0- 0+r1 0!"},
		{parallelStateful, "2x 2- 2+r1 2! 1x 1- 1+r1 1! 0x 0- 0+r1 0!"},
	} {
		b := newBuild(3).nodes(3).stateful(c.policy)
		b.Workloads[0].Template().Spec.Containers[0].ReadinessProbe = probe(0, 5, 1, 1)
		w := b.start(t, 1)
		w.do(9*sec, "setReady", "web#0", "false")
		w.at(20*sec, w.pods)
		w.do(20*sec, "rolloutRestart", "web", "")
		w.do(80*sec, "setReady", "web#0", "true")
		w.run(200 * sec)
		if got := w.order(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Pods below the partition keep the old template, and come back with it.
func TestAStatefulSetsPartition(t *testing.T) {
	t.Parallel()
	two := int32(2)
	b := newBuild(3).nodes(3).stateful(rollingStateful(func(u *appsv1.RollingUpdateStatefulSetStrategy) { u.Partition = &two }))
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.do(30*sec, "delete", "web#0", "")
	w.do(40*sec, "delete", "web#2", "")
	w.run(90 * sec)
	if got, want := w.order(), "2x 2- 2+r1 2! 0x 0- 0+r0 0! 2x 2- 2+r1 2!"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if w.Unrest() != "" || w.CannotEnd() != nil || w.Stuck() != nil {
		t.Errorf("at the end %q, %+v", w.Unrest(), w.CannotEnd())
	}
	zero := int32(0)
	applied := b.Workloads[0].StatefulSet().DeepCopy()
	applied.Spec.UpdateStrategy.RollingUpdate.Partition = &zero
	w.at(100*sec, func() { w.Do(world.Action{Operation: world.Apply{Workload: "default/web", Resource: applied}}) })
	w.lines = nil
	w.run(200 * sec)
	if got, want := w.order(), "1x 1- 1+r1 1! 0x 0- 0+r1 0!"; got != want {
		t.Errorf("with partition 0 %s, want %s", got, want)
	}
}

// OnDelete replaces no pod by itself, and is no rollout that could be stuck.
func TestAStatefulSetOnDelete(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).stateful(func(s *appsv1.StatefulSetSpec) {
		s.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	})
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.do(30*sec, "delete", "web#0", "")
	w.run(90 * sec)
	if got, want := w.order(), "0x 0- 0+r1 0!"; got != want || w.Unrest() != "" || w.CannotEnd() != nil {
		t.Errorf("%s, want %s; %q", got, want, w.Unrest())
	}
}

// The size changes one pod at a time, from the top; with Parallel all at once.
func TestScalingAStatefulSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy func(*appsv1.StatefulSetSpec)
		want   string
	}{
		{nil, "3x 3- 2x 2- 1x 1- 1+r0 1! 2+r0 2! 3+r0 3!"},
		{parallelStateful, "3x 2x 1x 2- 3- 1- 1+r0 2+r0 3+r0 2! 3! 1!"},
	} {
		b := newBuild(4).nodes(4).stateful(c.policy)
		w := b.start(t, 1)
		w.pods()
		w.do(10*sec, "scale", "web", "1")
		w.do(40*sec, "scale", "web", "4")
		w.run(90 * sec)
		if got := w.order(); got != c.want || w.Unrest() != "" {
			t.Errorf("%s, want %s; %q", got, c.want, w.Unrest())
		}
	}
}

// A pod comes back under its name: after an eviction, after a deletion, and on another node when its own is drained. The drain waits
// for the object, and the next node for that.
func TestAStatefulSetUnderADrain(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(4).stateful(nil).budget("maxUnavailable 1").drained(nil, "node-1", "node-2")
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.acts(t)
	w.run(90 * sec)
	if got, want := w.order(), "0x 0- 0+r0 1x 1- 1+r0"; !strings.HasPrefix(got, "0x 0- 0+r0") || !strings.Contains(got, "1x 1- 1+r0") {
		t.Errorf("%s, want %s", got, want)
	}
	if len(w.PodsOn(0))+len(w.PodsOn(1)) != 0 || w.Unrest() != "" || w.CannotEnd() != nil {
		t.Errorf("%d and %d pods stay, %q, %+v", len(w.PodsOn(0)), len(w.PodsOn(1)), w.Unrest(), w.CannotEnd())
	}
}

// A pod of a StatefulSet whose node has crashed is deleted when its tolerations are over, and stays Terminating with its name as long as the Node
// is there: that is said, and nothing else comes. Back is the machine, and so is the pod.
func TestAStatefulSetOnANodeThatCrashed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		back engine.Time // 0: it stays away
		want string
	}{
		{0, "kubectl delete node node-1, once its machine is off for good"},
		{500 * sec, ""},
	} {
		w := newBuild(2).nodes(3).stateful(nil).does(world.CrashNode{Node: "node-1"}, c.back).acts(t)
		w.run(700 * sec)
		var got string
		if s := w.CannotEnd(); s != nil {
			got = s.What
		}
		if err := w.Stuck(); got != c.want || err != nil || (w.Unrest() == "") != (c.want == "") {
			t.Errorf("back after %s s: %q, want %q; %v, %q", c.back.Seconds(), got, c.want, err, w.Unrest())
		}
	}
}

// A new revision whose pods are never ready stops the update at the first of them; what takes it back is said with it, and does.
func TestAStuckStatefulSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy func(*appsv1.StatefulSetSpec)
		what   string
		undo   string // what kubectl rollout undo does by itself
	}{
		{"OrderedReady", nil, "an image that does, or kubectl rollout undo and then kubectl delete pod web-2, for which an OrderedReady StatefulSet waits even then", ""},
		{"Parallel", parallelStateful, "an image that does, or kubectl rollout undo", "2x 2- 2+r0 2!"},
	} {
		b := newBuild(3).nodes(3).stateful(c.policy)
		b.Workloads[0].Revisions = map[string]world.App{"new": {Start: engine.Constant(24 * engine.Hour)}}
		b.Workloads[0].Template().Spec.Containers[0].ReadinessProbe = probe(0, 5, 1, 3)
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(500 * sec)
		if s := w.CannotEnd(); s != nil {
			t.Errorf("%s: it may become ready yet: %+v", c.name, s)
		}
		w.run(700 * sec)
		s := w.CannotEnd()
		if s == nil || s.Why != "the new pod web-2 does not listen, 600 s after it was made, and no deadline ends the rollout" || s.What != c.what || s.Path != "spec.template.spec.containers[0]" {
			t.Errorf("%s: %+v", c.name, s)
		}
		w.pods()
		w.do(700*sec, "rollback", "web", "")
		w.run(800 * sec)
		if got := w.order(); got != c.undo {
			t.Errorf("%s: the rollback does %q, want %q", c.name, got, c.undo)
		}
		s = w.CannotEnd()
		if stuck := c.undo == ""; stuck != (s != nil) || stuck && (!strings.HasPrefix(s.Why, "pod web-2, which has another template, does not listen") || !strings.Contains(s.What, "kubectl delete pod web-2")) {
			t.Errorf("%s, rolled back: %+v", c.name, s)
		}
		if c.undo != "" {
			continue
		}
		w.do(800*sec, "delete", "web#2", "")
		w.run(900 * sec)
		if got := w.order(); got != "2x 2- 2+r0 2!" || w.Unrest() != "" {
			t.Errorf("%s: the deletion does %q; %q", c.name, got, w.Unrest())
		}
	}
}

// An old pod that is not ready blocks a rollout, too, and is named.
func TestAStatefulSetStuckAtAnOldPod(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(3).stateful(nil)
	b.Workloads[0].Template().Spec.Containers[0].ReadinessProbe = probe(0, 5, 1, 1)
	w := b.start(t, 1)
	w.do(9*sec, "setReady", "web#0", "false")
	w.do(60*sec, "rolloutRestart", "web", "")
	w.run(700 * sec)
	s := w.CannotEnd()
	if s == nil || !strings.HasPrefix(s.Why, "pod web-0, which has another template, is not ready, 600 s after") || s.What != "a pod that becomes ready, or kubectl delete pod web-0, which comes back with the present template" {
		t.Errorf("%+v", s)
	}
}

// A rollout goes on to a revision that was there before, as long as its ControllerRevision is kept.
func TestAStatefulSetsHistory(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int32]bool{0: false, 1: true} {
		b := newBuild(1).stateful(func(s *appsv1.StatefulSetSpec) { s.RevisionHistoryLimit = &limit })
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(30 * sec)
		of, _ := w.asked(0)
		if got := w.stateful.Keeps(of, 0); got != want || of.Current != 1 {
			t.Errorf("limit %d: the first revision is kept %v, current r%d", limit, got, of.Current)
		}
	}
}

// Names and ordinals begin where the StatefulSet says.
func TestOrdinalsOfAStatefulSet(t *testing.T) {
	t.Parallel()
	b := newBuild(2).stateful(func(s *appsv1.StatefulSetSpec) { s.Ordinals = &appsv1.StatefulSetOrdinals{Start: 3} })
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#4", "")
	w.run(30 * sec)
	if got := w.order(); got != "4x 4- 4+r0 4!" {
		t.Error(got)
	}
	if refs := w.PodRefs(); len(refs) != 3 || refs[0].Called != "web-3" || refs[0].Ordinal != 3 || refs[2].Name != "default/web-4 r0 #2" {
		t.Errorf("%+v", refs)
	}
}

// A bare ReplicaSet keeps its size, and is scaled; a bare Pod that is deleted stays away.
func TestBareReplicaSetsAndPods(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(3)
	b.Workloads[0].Resource = &appsv1.ReplicaSet{ObjectMeta: b.d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Replicas: b.d.Spec.Replicas, Selector: b.d.Spec.Selector, Template: b.d.Spec.Template}}
	w := b.start(t, 1)
	w.do(10*sec, "delete", "web#0", "")
	w.do(20*sec, "scale", "web", "2")
	w.run(60 * sec)
	if of, _ := w.asked(0); len(w.live[0]) != 2 || of.Replicas != 2 || w.Unrest() != "" || w.CannotEnd() != nil || w.Usable(0).Of != 3 {
		t.Errorf("%d pods, %+v, %q", len(w.live[0]), of, w.Unrest())
	}
	w = newBuild(1).bare().start(t, 1)
	w.do(10*sec, "delete", "web#0", "")
	w.run(60 * sec)
	if len(w.live[0]) != 0 || w.Unrest() != "" || w.Usable(0).Min != 0 || w.PodRefs()[0].Called != "web" {
		t.Errorf("%d pods, %q, %+v", len(w.live[0]), w.Unrest(), w.Usable(0))
	}
}

// A budget that goes by the scale of controllers counts no bare Pod, and lets none go; a number for minAvailable counts it. Reference:
// docs/model/controllers.md 6.1 Pods without a controller.
func TestABudgetOverABarePod(t *testing.T) {
	t.Parallel()
	for words, c := range map[string]struct {
		drained bool
		what    string
	}{
		"maxUnavailable 1":   {false, "minAvailable 0: only a number for it counts Pods without a controller"},
		"minAvailable 50%":   {false, "minAvailable 0: only a number for it counts Pods without a controller"},
		"minAvailable 1":     {false, "replicas 2: with one pod every eviction is an outage until the next one is ready"},
		"minAvailable 0":     {true, ""},
		"maxUnavailable 50%": {false, "minAvailable 0: only a number for it counts Pods without a controller"},
	} {
		b := newBuild(1).nodes(2).bare().budget(words).drained(func(o *world.DrainOptions) { o.Force = true }, "node-1")
		w := b.acts(t)
		w.run(60 * sec)
		s := w.CannotEnd()
		if gone := len(w.live[0]) == 0; gone != c.drained || gone != (s == nil) || s != nil && (!s.Drain || s.What != c.what) {
			t.Errorf("%s: gone %v, %+v", words, gone, s)
		}
	}
}

// Whatever the delays, the size and the policy: no two pods of one name are there at once, an update takes one pod away at a time and
// from the top, and in the end all pods are new and ready.
func TestUpdatesOfStatefulSetsOfAnySeed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		var policy func(*appsv1.StatefulSetSpec)
		if seed%2 == 1 {
			policy = parallelStateful
		}
		size := 1 + int(seed%5)
		b := newBuild(size).nodes(3).drawn().stateful(policy)
		b.Workloads[0].Template().Spec.Containers[0].ReadinessProbe = probe(0, 1+int32(seed%4), 1, 3)
		w := b.start(t, seed)
		there := map[int]int{}
		for _, p := range w.live[0] {
			there[p.Ordinal]++
		}
		w.store.Subscribe("test pods", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
			switch p := as[*api.Pod](o); {
			case p.Gone:
				there[p.Ordinal]--
			case p.Phase == api.PhasePending && p.Node < 0 && !p.Deleting():
				if there[p.Ordinal]++; there[p.Ordinal] > 1 {
					t.Errorf("seed %d: two pods are %s", seed, w.calledPod(p.ID))
				}
			}
		}, api.KindPod)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(300 * sec)
		d := w.Dark(0)
		if w.Unrest() != "" || d.Most != 1 || w.Usable(0).Min != size-1 || len(d.Order) != size || d.Order[0] != fmt.Sprintf("web-%d", size-1) || d.Order[size-1] != "web-0" {
			t.Errorf("seed %d, %d replicas: %q, %+v, %v", seed, size, w.Unrest(), w.Usable(0), d.Order)
		}
	}
}

// A sync goes by the pods that it began with, whatever goes while it waits for its writes.
func TestPodsThatGoDuringASyncOfAStatefulSet(t *testing.T) {
	t.Parallel()
	for at := 12 * sec; at < 14*sec; at += 100 * ms {
		b := newBuild(3).stateful(parallelStateful)
		none := int64(0)
		b.d.Spec.Template.Spec.TerminationGracePeriodSeconds = &none
		b.Workloads[0].StatefulSet().Spec.Template.Spec.TerminationGracePeriodSeconds = &none
		b.Latency.APIWrite, b.Latency.Watch = engine.Constant(300*ms), engine.Constant(100*ms)
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.do(11*sec, "rolloutRestart", "web", "")
		w.do(at, "delete", "web", "")
		w.run(100 * sec)
		if got := w.where(); got != "1 r2, 1 r2, 1 r2" {
			t.Errorf("deleted at %s s: %s", at.Seconds(), got)
		}
	}
}

// A StatefulSet's rollout is over as soon as all of its pods have the new template and are available: what becomes of them later keeps no rollout
// from ending. Before, a pod that is never ready does.
func TestWhenAStatefulSetsRolloutIsOver(t *testing.T) {
	t.Parallel()
	closing := func(b build) build { return b.gated(gateOne).stateful(nil) }
	for name, c := range map[string]struct {
		b    build
		then func(*testWorld)
		why  string // "" for nothing
	}{
		"its only pod never listens": {newBuild(1).stateful(nil).app(neverListens), func(*testWorld) {}, "does not listen"},
		"its pods fail later": {closing(newBuild(2)), func(w *testWorld) {
			w.gate(20*sec, "web", gateOne, true)
			w.gate(40*sec, "web", gateOne, true)
			w.gate(100*sec, "web", gateOne, false)
		}, ""},
		"the last pod's gate stays closed": {closing(newBuild(2)), func(w *testWorld) { w.gate(20*sec, "web", gateOne, true) }, "readiness gate"},
	} {
		c.b.container().ReadinessProbe = probe(0, 1, 1, 3)
		w := c.b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		c.then(w)
		w.run(3000 * sec)
		if got := w.StuckRollout(); (got == nil) != (c.why == "") || got != nil && !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
