package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// placed has the pods of the workload where the input has them.
func (b build) placed(pods ...world.Placed) build {
	b.Workloads[0].Placed = pods
	return b
}

// Pods begin where the input has them, and the scheduler places what the input does not have.
func TestPodsBeginWhereTheInputHasThem(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(3).placed(world.Placed{Node: "node-2", Ready: true}, world.Placed{Node: "node-2", Ready: true}, world.Placed{Node: "node-2"})
	w := b.start(t, 1)
	for n, want := range []int{1, 3, 0} {
		if got := len(w.PodsOn(n)); got != want {
			t.Errorf("%d pods on %s, want %d", got, b.Nodes[n].Name, want)
		}
	}
	ready := 0
	for _, p := range w.PodsOn(1) {
		if p.Ready {
			ready++
		}
	}
	if u := w.Usable(0); ready != 2 || u.Min != 3 || u.Of != 4 {
		t.Errorf("%d pods of node-2 are ready, %+v", ready, u)
	}
}

// A pod that is not ready stays so, with a readiness probe and without one, and nobody waits for it: a drain of other pods comes to
// its end. What takes its place is another pod.
func TestAPodThatIsNotReadyStaysSo(t *testing.T) {
	t.Parallel()
	for name, readiness := range map[string]*corev1.Probe{"with a probe": probe(0, 1, 1, 1), "without a probe": nil} {
		b := newBuild(2)
		b.container().ReadinessProbe = readiness
		b = b.nodes(3).placed(world.Placed{Node: "node-1", Ready: true}, world.Placed{Node: "node-2"}).drained(nil, "node-1")
		w := b.acts(t)
		w.run(100 * sec)
		sick, there := w.store.Get(api.PodKey(1)).(*api.Pod)
		if !there || sick.Ready || sick.Deleting() {
			t.Errorf("%s: the pod that was not ready: %+v", name, sick)
		}
		if ends := w.Drained(); len(ends) != 1 || ends[0].Why != "" || ends[0].Ended <= ends[0].Began {
			t.Errorf("%s: %+v", name, ends)
		}
		if s := w.Unrest(); s != "" {
			t.Errorf("%s: at the end %s", name, s)
		}
	}
}

// A pod that is Pending is on no node, keeps no budget from its work, and finds a node when another pod has left.
func TestAPodThatIsPendingWaits(t *testing.T) {
	t.Parallel()
	w := newBuild(3).nodes(2).placed(world.Placed{Node: "node-1", Ready: true}, world.Placed{Node: "node-2", Ready: true}, world.Placed{}).
		drained(nil, "node-1").acts(t)
	w.run(9 * sec)
	if p, ok := w.store.Get(api.PodKey(2)).(*api.Pod); !ok || p.Node >= 0 || p.Phase != api.PhasePending || w.Unrest() != "" {
		t.Errorf("%+v, %s", p, w.Unrest())
	}
	w.run(60 * sec)
	if p, ok := w.store.Get(api.PodKey(2)).(*api.Pod); !ok || p.Node != 1 || !p.Ready {
		t.Errorf("%+v", p)
	}
}

// Two pods that are not ready take the place of those that a budget counts: it lets nobody go, and that is for ever. The pod that is refused
// is ready: unhealthyPodEvictionPolicy has nothing to do with it.
func TestABudgetWaitsForPodsThatAreNotReady(t *testing.T) {
	t.Parallel()
	w := newBuild(3).nodes(3).placed(world.Placed{Node: "node-1", Ready: true}, world.Placed{Node: "node-2"}, world.Placed{Node: "node-3"}).
		budget("minAvailable 2").drained(nil, "node-1").acts(t)
	w.run(60 * sec)
	s := w.CannotEnd()
	if s == nil || !s.Drain || s.Budget == nil || s.What != "pods that become ready, or a smaller minAvailable" {
		t.Errorf("%+v", s)
	}
}

// Of what cannot end in a drain of several workloads that comes first which is not a bystander, and all of it is listed.
func TestAllThatCannotEndIsListed(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).budget("minAvailable 1").drained(nil, "node-1")
	for i := range 2 {
		other := b.Workloads[0]
		other.Resource = world.CopyOf(other.Resource)
		other.Resource.SetName([]string{"api", "job"}[i])
		b.Workloads = append(b.Workloads, other)
	}
	for i := range b.Workloads {
		b.Workloads[i].Placed, b.Workloads[i].Bystander = []world.Placed{{Node: "node-1", Ready: true}}, i != 1
	}
	minimum := b.Budgets[0].Value.Spec.MinAvailable
	minimum.IntVal = 3
	w := b.acts(t)
	w.run(60 * sec)
	all := w.AllThatCannotEnd()
	if len(all) != 3 || all[0].Workload != 0 || all[2].Workload != 2 {
		t.Fatalf("%+v", all)
	}
	if s := w.CannotEnd(); s == nil || s.Workload != 1 {
		t.Errorf("%+v", s)
	}
}
