package control

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Reference: Kubernetes 1.36 pkg/controller/controller_utils.go, ActivePodsWithRanks.Less: the
// first difference decides; times have a resolution of a second.
func TestVictims(t *testing.T) {
	t.Parallel()
	now := 1000*sec + 500*ms
	pod := func(edit func(*candidate)) candidate {
		c := candidate{pod: &api.Pod{UID: 5, Phase: api.PhaseRunning, Ready: true, ReadySince: 900 * sec, Created: 890 * sec, DeletedAt: api.Never}, rank: 1}
		edit(&c)
		return candidateOf(c.pod, c.rank, now)
	}
	for _, c := range []struct {
		name          string
		first, second func(*candidate)
	}{
		{"1: without a node before with one", func(c *candidate) { c.pod.Node = -1; c.pod.DeletionCost = 9 }, func(c *candidate) { c.pod.Phase = api.PhasePending }},
		{"2: pending before unknown", func(c *candidate) { c.pod.Phase = api.PhasePending }, func(c *candidate) { c.pod.Phase, c.pod.Ready = api.PhaseUnknown, false }},
		{"2: unknown before running", func(c *candidate) { c.pod.Phase = api.PhaseUnknown }, func(c *candidate) { c.pod.Ready = false }},
		{"3: not ready before ready", func(c *candidate) { c.pod.Ready = false; c.pod.DeletionCost = 9 }, func(c *candidate) {}},
		{"4: lower deletion cost", func(c *candidate) { c.pod.DeletionCost = -1 }, func(c *candidate) { c.rank = 3 }},
		{"5: doubled up on its node", func(c *candidate) { c.rank = 2 }, func(c *candidate) { c.pod.ReadySince = 999 * sec }},
		{"6: ready for less, by powers of two", func(c *candidate) { c.pod.ReadySince = 999 * sec; c.pod.UID = 9 }, func(c *candidate) { c.pod.Restarts = 4 }},
		{"6: of the same power, the lower UID", func(c *candidate) { c.pod.ReadySince = 899 * sec; c.pod.UID = 1 }, func(c *candidate) { c.pod.Restarts = 4 }},
		{"6: in the same second, nothing of that", func(c *candidate) { c.pod.ReadySince += 900 * ms; c.pod.UID = 9; c.pod.Restarts = 1 }, func(c *candidate) { c.pod.UID = 1 }},
		{"7: more restarts", func(c *candidate) { c.pod.Restarts = 2; c.pod.UID = 9 }, func(c *candidate) { c.pod.Restarts = 1; c.pod.Created = 999 * sec }},
		{"8: created later, by powers of two", func(c *candidate) { c.pod.Created = 995 * sec; c.pod.UID = 9 }, func(c *candidate) {}},
		{"8: of the same power, the lower UID", func(c *candidate) { c.pod.Created = 889 * sec; c.pod.UID = 1 }, func(c *candidate) {}},
		{"8 counts for pods that are not ready, 6 does not", func(c *candidate) { c.pod.Ready = false; c.pod.Created = 995 * sec },
			func(c *candidate) { c.pod.Ready = false; c.pod.ReadySince = 999 * sec }},
	} {
		a, b := pod(c.first), pod(c.second)
		if compareVictims(&a, &b) >= 0 || compareVictims(&b, &a) <= 0 {
			t.Errorf("%s: %d and %d", c.name, compareVictims(&a, &b), compareVictims(&b, &a))
		}
	}
	same, other := pod(func(*candidate) {}), pod(func(c *candidate) { c.pod.UID = 7 })
	if compareVictims(&same, &other) != 0 {
		t.Error("the same seconds of readiness and creation: the choice is arbitrary")
	}
}

// Reference: Kubernetes 1.36 pkg/controller/controller_utils.go, logarithmicRankDiff.
func TestLogAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[engine.Time]int{-5: -1, 0: -1, 1: 0, 2: 1, 3: 1, 4: 2, sec: 29, 2 * sec: 30, 3 * sec: 31, 4*sec + 300*ms: 32} {
		if got := logAge(age); got != want {
			t.Errorf("age %d: %d, want %d", age, got, want)
		}
	}
}

// The rank of rule 5 counts the Deployment's active pods of every revision on the node.
func TestRankCountsAllRevisions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 3)
	c := NewReplicaSets(&d.Desk)
	add := func(revision, node int, ready bool) {
		id := api.ReplicaSetID{Workload: 0, Revision: revision}
		p := d.NewPod(id)
		p.Node, p.Phase, p.Ready = node, api.PhaseRunning, ready
		c.workOn(id).pods.Set(p)
	}
	for node := range 3 {
		add(0, node, true)
	}
	add(1, 1, false) // a new pod beside the second old one
	old := c.workOn(api.ReplicaSetID{Workload: 0, Revision: 0}).pods.Active(nil)
	got := c.rank(api.ReplicaSetID{Workload: 0, Revision: 0}, old)
	if got[0].Node != 1 || !slices.Contains(got[1:], old[0]) {
		t.Errorf("first victim on node %d, want 1", got[0].Node)
	}
}

// A bare ReplicaSet does not look at how many of its pods a node has: of pods of one age the last made goes, on whichever node.
// Reference: docs/model/measured.md 1 rule 5.
func TestABareReplicaSetDoesNotCountItsPodsOnANode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource world.Resource
		want     int // the node of the first victim
	}{{&appsv1.Deployment{}, 1}, {&appsv1.ReplicaSet{}, 0}} {
		d := newDesk(t, 2)
		d.Workloads[0].Resource = c.resource
		s := NewReplicaSets(&d.Desk)
		id := api.ReplicaSetID{}
		for node, pods := range []int{1, 2} {
			for range pods {
				p := d.NewPod(id)
				p.Node, p.Phase, p.Ready = node, api.PhaseRunning, true
				if node == 0 {
					p.ReadySince = -1 * sec // more recently ready than those that are doubled up
				} else {
					p.ReadySince = -1000 * sec
				}
				s.workOn(id).pods.Set(p)
			}
		}
		if got := s.rank(id, s.workOn(id).pods.Active(nil)); got[0].Node != c.want {
			t.Errorf("%T: the first victim is on node %d, want %d", c.resource, got[0].Node, c.want)
		}
	}
}
