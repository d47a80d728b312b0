package cluster

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// afterAMinute is when the pod has long left.
func afterAMinute(o world.Operation) world.Action { return world.Action{At: 60 * sec, Operation: o} }

// one is a pod of the first workload.
func one(number int) world.Pods { return world.Pods{Workload: "default/web", Number: number} }

// A StatefulSet releases a pod whose labels do not match any more. It cannot make another of its name, nor, in order, anything that comes after it;
// it goes on where the labels match again. Reference: docs/model/controllers.md 4 Claims.
func TestAPodOfAStatefulSetThatIsRelabelled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*appsv1.StatefulSetSpec)
		then []world.Action
		want []api.PodID // behind the Service at the end
		wait string
	}{
		{"for good", nil, nil, []api.PodID{0, 2}, "default/web has 2 pods, of 3"},
		{"its label comes back", nil, []world.Action{label(60, 1, "app", "web")}, []api.PodID{0, 1, 2}, ""},
		{"it is scaled up, in order", nil, []world.Action{afterAMinute(world.Scale{Workload: "default/web", Replicas: 4})}, []api.PodID{0, 2}, "default/web has 2 pods, of 4"},
		{"it is rolled out, in order", nil, []world.Action{afterAMinute(world.RolloutRestart{Workload: "default/web"})}, []api.PodID{0, 2}, "default/web has 2 pods, of 3"},
		{"it is scaled up, in parallel", parallelStateful, []world.Action{afterAMinute(world.Scale{Workload: "default/web", Replicas: 6})}, []api.PodID{0, 2}, "default/web has 2 pods, of 6"},
		{"its ordinal is wanted no longer", nil, []world.Action{afterAMinute(world.Scale{Workload: "default/web", Replicas: 1})}, []api.PodID{0}, ""},
	} {
		w := newBuild(3).nodes(3).stateful(c.edit).relabels(append([]world.Action{label(10, 1, "app", "debug")}, c.then...)...).acts(t)
		w.run(50 * sec)
		old := as[*api.Pod](w.store.Get(api.PodKey(1)))
		if got := w.ids(); !slices.Equal(got, []api.PodID{0, 2}) || old.Deleting() || !old.Released || !old.Ready || w.Usable(0).Now != 2 {
			t.Errorf("%s: %v, %+v", c.name, got, old)
		}
		s := w.CannotEnd()
		if s == nil || !strings.HasPrefix(s.Why, "web-1 is released") || w.Unrest() == "" || w.Stuck() != nil {
			t.Errorf("%s: %+v, %q", c.name, s, w.Unrest())
		}
		w.run(2000 * sec)
		if got := w.ids(); !slices.Equal(got, c.want) || w.Unrest() != c.wait || (w.CannotEnd() != nil) != (c.wait != "") || w.Stuck() != nil {
			t.Errorf("%s: %v, %q, %+v, %v", c.name, got, w.Unrest(), w.CannotEnd(), w.Stuck())
		}
	}
}

// One that it has released and that is deleted then makes room for its successor, of which the StatefulSet does not hear: it tries again after as
// long as before and as long again. Reference: docs/model/controllers.md 4 Claims.
func TestAReleasedPodOfAStatefulSetIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).stateful(nil).relabels(label(10, 1, "app", "debug"), afterAMinute(world.Delete{Pods: one(1)}))
	w := b.acts(t)
	w.run(62 * sec)
	if w.store.Get(api.PodKey(1)) != nil {
		t.Error("it is not gone")
	}
	w.run(91 * sec) // the syncs that fail are 5 ms * 2^n apart
	if s := w.Unrest(); s != "default/web has 1 pods, of 2" || w.CannotEnd() != nil || w.Stuck() == nil {
		t.Errorf("%q, %+v", s, w.CannotEnd())
	}
	w.run(95 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0, 2}) || w.Unrest() != "" {
		t.Errorf("%v, %q", got, w.Unrest())
	}
	p := as[*api.Pod](w.store.Get(api.PodKey(2)))
	if p.Created < 91900*ms || p.Created > 91920*ms || p.Ordinal != 1 || w.calledPod(2) != "web-1" {
		t.Errorf("%+v, %s", p, w.calledPod(2))
	}
}

// A pod that its controller has released has none: kubectl drain does not begin with its node without --force, and with it the pod goes for
// good. Reference: docs/model/controllers.md 7 Filters.
func TestADrainMindsAPodThatWasReleased(t *testing.T) {
	t.Parallel()
	for kind, b := range map[string]func() build{
		"Deployment":  func() build { return newBuild(3).nodes(3) },
		"StatefulSet": func() build { return newBuild(3).nodes(3).stateful(nil) },
	} {
		for _, force := range []bool{false, true} {
			drain := afterAMinute(world.Drain{Nodes: []string{"node-2"}, DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace, Force: force}})
			w := b().relabels(label(10, 1, "app", "debug"), drain).acts(t)
			w.run(50 * sec)
			released := as[*api.Pod](w.store.Get(api.PodKey(1)))
			w.run(300 * sec)
			ends, s := w.Drained(), w.CannotEnd()
			if len(ends) != 1 || (ends[0].Why == "") != force {
				t.Errorf("%s, force %v: %+v", kind, force, ends)
				continue
			}
			if _, there := w.store.Get(api.PodKey(1)).(*api.Pod); there == force {
				t.Errorf("%s, force %v: the pod is there: %v", kind, force, there)
			}
			const why = "cannot delete Pods that declare no controller (use --force to override): "
			if force {
				continue
			}
			if !strings.HasPrefix(ends[0].Why, why+released.Called()) || s == nil || !strings.HasPrefix(s.What, "the labels back by which the controller of "+released.Called()) {
				t.Errorf("%s: %q, %+v", kind, ends[0].Why, s)
			}
		}
	}
}
