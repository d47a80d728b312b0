package cluster

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// creates has a bare Pod "extra" be created 10 s after the beginning, made of what the Deployment's pods are.
func (b build) creates(edit func(*corev1.Pod)) build {
	template := b.d.Spec.Template.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "extra", Labels: template.Labels}, Spec: template.Spec}
	if edit != nil {
		edit(p)
	}
	b.Workloads = append(b.Workloads, world.Workload{Resource: world.NewBarePod(p), Hooks: map[string]world.Hook{}, App: b.Workloads[0].App})
	b.Actions = append(b.Actions, world.Action{At: 10 * sec, Operation: world.CreatePod{Pod: "default/extra"}})
	b.Creates()
	return b
}

// A bare Pod that somebody creates starts as any pod does and joins its Service when it is ready. The Deployment beside it keeps as many pods
// as it has, for none of its ReplicaSets asks for a pod without their hash. Reference: docs/model/controllers.md 3 Bare Pods.
func TestAPodThatIsCreated(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(3).app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	b.Latency.Sandbox = engine.Constant(sec)
	w := b.creates(nil).acts(t)
	w.run(9 * sec)
	if got, u := w.ids(), w.Usable(1); !slices.Equal(got, []api.PodID{0, 1}) || u.Of != 0 || u.Now != 0 || w.Unrest() != "" || len(w.livePods) != 2 {
		t.Errorf("before: %v, %+v, %q, %v", got, u, w.Unrest(), w.livePods)
	}
	w.run(12 * sec)
	if got := w.slicesInAPI(0); len(got) != 3 || got[2].Conditions != 0 || w.Unrest() != "default/extra not ready" {
		t.Errorf("while it starts: %v, %q", got, w.Unrest())
	}
	w.run(60 * sec)
	p := as[*api.Pod](w.store.Get(api.PodKey(2)))
	if got := w.slicesInAPI(0); len(got) != 3 || !got[2].Conditions.Ready() || w.Unrest() != "" || w.CannotEnd() != nil || p.ReplicaSet != nil || w.Usable(1).Now != 1 {
		t.Errorf("%v, %q, %+v, %+v, %+v", got, w.Unrest(), w.CannotEnd(), p, w.Usable(1))
	}
	if p.Node != 2 || p.Created != 10*sec || p.ReadySince < 13*sec || p.ReadySince > 14*sec {
		t.Errorf("on node %d, created at %v, ready at %v", p.Node, p.Created, p.ReadySince)
	}
}

// One whose node is said goes there, cordoned or not; one without finds no node that is. Reference: docs/model/controllers.md 3 Created.
func TestAPodThatIsCreatedForANode(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]int{"": -1, "node-2": 1} {
		b := newBuild(1).nodes(2)
		for _, node := range []string{"node-1", "node-2"} {
			b.Actions = append(b.Actions, world.Action{At: 5 * sec, Operation: world.Cordon{Node: node}})
		}
		w := b.creates(func(p *corev1.Pod) { p.Spec.NodeName = name }).acts(t)
		w.run(60 * sec)
		p := as[*api.Pod](w.store.Get(api.PodKey(1)))
		if p.Node != on || p.Ready != (on >= 0) || (w.CannotEnd() == nil) != p.Ready {
			t.Errorf("%q: %+v, %+v", name, p, w.CannotEnd())
		}
	}
}

// One that is deleted is gone for good. Reference: docs/model/controllers.md 3 Created.
func TestAPodThatIsCreatedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).creates(nil)
	for _, at := range []engine.Time{5 * sec, 60 * sec} { // the first finds nothing to delete
		b.Actions = append(b.Actions, world.Action{At: at, Operation: world.Delete{Pods: world.Pods{Workload: "default/extra"}}})
	}
	w := b.acts(t)
	w.run(50 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1}) {
		t.Errorf("before: %v", got)
	}
	w.run(200 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0}) || w.Unrest() != "" || w.CannotEnd() != nil {
		t.Errorf("%v, %q, %+v", got, w.Unrest(), w.CannotEnd())
	}
}
