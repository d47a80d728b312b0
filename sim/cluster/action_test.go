package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// An applied template is the new pods', and only theirs: its hooks, its grace period.
func TestApplyGivesNewPodsTheNewTemplate(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	old := w.sc.Workloads[0].Deployment()
	applied := old.DeepCopy()
	grace := int64(77)
	applied.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	applied.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 15}},
	}
	w.Do(world.Action{Operation: world.Apply{Workload: old.Name, Resource: applied}})
	if err := w.eng.RunUntil(w.eng.Now() + 1_000_000_000); err != nil {
		t.Fatal(err)
	}
	now := w.latest(0)
	if now.Revision == 0 {
		t.Fatal("no new revision")
	}
	if got := w.Hook(now, &applied.Spec.Template.Spec.Containers[0]); got.Kind != "sleep" {
		t.Errorf("the new pods' hook is %+v", got)
	}
	if got, before := w.grace(now), w.grace(api.ReplicaSetID{}); got.Seconds() != "77" || before.Seconds() == "77" {
		t.Errorf("grace %s, before %s", got.Seconds(), before.Seconds())
	}
}

// A setReady that ends lets go of the pod it began with, though that terminates by now and
// another one has its number.
func TestSetReadyEndsForThePodItBeganWith(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(60).hook("app", sleepHook(50*sec))
	w := b.start(t, 1)
	old := w.kubelets[0].Worker(0).Instance
	a := world.Action{At: 9 * sec, For: 10 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: 0}, Ready: false}}
	w.at(a.At, func() { w.Do(a) })
	w.do(10*sec, "delete", "web#0", "")
	w.at(a.At+a.For, func() { w.Undo(a) })
	w.run(15 * sec)
	if !old.Forced {
		t.Error("the deletion let go of it")
	}
	// The terminating pod is still the first one.
	w.run(30 * sec)
	if old.Forced {
		t.Error("it is held for ever")
	}
	w.do(31*sec, "setReady", "web", "false")
	w.run(32 * sec)
	for _, id := range w.livePods {
		if !w.PodInstance(id).Forced {
			t.Errorf("pod %d is not held", id)
		}
	}
}
