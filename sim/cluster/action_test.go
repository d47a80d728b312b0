package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// An applied template is the new pods', and only theirs: its hooks, its grace period.
func TestApplyGivesNewPodsTheNewTemplate(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	old := w.deployment(ReplicaSetID{})
	applied := old.DeepCopy()
	grace := int64(77)
	applied.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
	applied.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 15}},
	}
	w.Do(scenario.Action{Verb: "apply", Target: old.Name, Deployment: applied})
	if err := w.eng.RunUntil(w.eng.Now() + 1_000_000_000); err != nil {
		t.Fatal(err)
	}
	now := w.latest(0)
	if now.Revision == 0 {
		t.Fatal("no new revision")
	}
	if got := w.hook(now, &applied.Spec.Template.Spec.Containers[0]); got.Kind != "sleep" {
		t.Errorf("the new pods' hook is %+v", got)
	}
	if got, before := w.grace(now), w.grace(ReplicaSetID{}); got.Seconds() != "77" || before.Seconds() == "77" {
		t.Errorf("grace %s, before %s", got.Seconds(), before.Seconds())
	}
}
