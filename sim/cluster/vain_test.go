package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A look that finds a pod, and a refusal, are in vain; what somebody does about it is not. From that alone a run knows that nothing happens any
// more: each is counted once.
func TestWhatIsDoneInVainIsCounted(t *testing.T) {
	t.Parallel()
	one := world.NodeBudget{Number: 1}
	for name, c := range map[string]struct {
		b     build
		o     world.Operation
		until engine.Time
		want  uint64
	}{
		// Evicted at 15 s; it looks then and at 20 s, and at 25 s they are gone.
		"the autoscaler": {newBuild(4).nodes(2).hook("app", sleepHook(7*sec)), world.ScaleDownNode{Node: "node-1"}, 100 * sec, 2},
		// No pods: nothing to look at.
		"an empty node": {newBuild(0).nodes(2), world.ScaleDownNode{Node: "node-1"}, 100 * sec, 0},
		// Evicted at 10 s; it looks at each second, and at 18 s they are gone.
		"Karpenter": {newBuild(4).nodes(2).hook("app", sleepHook(7*sec)), world.Consolidate{Nodes: []string{"node-1"}, Budget: one}, 100 * sec, 7},
		// The node that joins has done so at 11 s; the same from then on.
		"a pool": {newBuild(2).nodes(2).hook("app", sleepHook(7*sec)), world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-1"}}, 100 * sec, 7},
		// An hour from 11 s on: 721 refusals, one each 5 s, and 3599 looks; the last look deletes the pod by force, and the next finds it gone.
		"a pool that goes over a budget": {newBuild(2).nodes(2).budget("maxUnavailable 0"), world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-1"}}, 4000 * sec, 721 + 3599},
	} {
		w := c.b.taken(c.o).takes(t)
		w.run(c.until)
		if got := w.InVain(); got != c.want || !w.Dead(0) {
			t.Errorf("%s: %d in vain, want %d; the machine is off: %v", name, got, c.want, w.Dead(0))
		}
	}
}

// The grace period of an eviction is the pod's own, but for what is more than somebody lets a pod have.
func TestTheGracePeriodsOfThoseWhoTakeNodes(t *testing.T) {
	t.Parallel()
	one := world.NodeBudget{Number: 1}
	for name, c := range map[string]struct {
		o    world.Operation
		most engine.Time
	}{
		"the autoscaler": {world.ScaleDownNode{Node: "node-1"}, 600 * sec},
		"Karpenter":      {world.Consolidate{Nodes: []string{"node-1"}, Budget: one}, engine.Never},
		"GKE":            {world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-1"}}, engine.Never},
		"EKS":            {world.UpgradePool{Provider: world.PoolEKS, Unavailable: 1, Provision: sec, Nodes: []string{"node-1"}}, engine.Never},
		"AKS":            {world.UpgradePool{Provider: world.PoolAKS, Surge: 1, Provision: sec, Nodes: []string{"node-1"}}, engine.Never},
	} {
		for _, grace := range []int64{30, 600, 601, 3600} {
			w := newBuild(2).nodes(2).grace(grace).app(ignores).taken(c.o).takes(t)
			w.run(20 * sec)
			if p, want := w.pod(0), min(engine.Time(grace)*sec, c.most); p == nil || p.Grace != want {
				t.Errorf("%s, %d s: %+v, want %s s", name, grace, p, want.Seconds())
			}
		}
	}
}

// Karpenter deletes a pod that has not left so long before the limit as it takes to stop, and does nothing more to those that are gone by then.
// Reference: docs/model/controllers.md 8.1 Drift.
func TestKarpenterDeletesEarlyWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(1)
	b.Workloads = nil
	for _, name := range []string{"api", "batch"} {
		of := newBuild(1).grace(20).app(ignores)
		of.d.Name, of.d.Spec.Template.Labels = name, map[string]string{"app": name}
		of.d.Spec.Selector.MatchLabels = of.d.Spec.Template.Labels
		if name == "batch" {
			of.d.Spec.Template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		}
		b.Workloads = append(b.Workloads, of.Workloads[0])
	}
	w := b.taken(world.Consolidate{
		Nodes: []string{"node-1"}, Replacements: 1, Budget: world.NodeBudget{Number: 1}, Grace: 100 * sec, Drifted: true,
	}).takes(t)
	var got []string
	w.hears(func(e event.Event) { got = append(got, e.At.Seconds()+" "+w.PodName(e.Pod)) }, event.Deleted)
	w.run(300 * sec)
	if want := "10 default/api r0 0, 91 default/batch r0 0"; strings.Join(got, ", ") != want {
		t.Errorf("deleted %s, want %s", strings.Join(got, ", "), want)
	}
	if at := w.when("node-1 machine ends"); at != 113*sec { // two seconds after the last pod was killed, 20 s after it was told
		t.Errorf("the machine ends at %s s", at.Seconds())
	}
}

// A drain that two budgets of one pod make fail names the one that is too much, whose line a reader has to change.
func TestADrainThatFailsNamesTheBudget(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).budget("maxUnavailable 1").budget("minAvailable 1").drained(nil, "node-1").acts(t)
	w.run(60 * sec)
	s := w.CannotEnd()
	if s == nil || !s.Drain || !strings.Contains(s.Why, "both cover the pod") || s.Budget != &w.sc.Budgets[1] {
		t.Errorf("%+v", s)
	}
}
