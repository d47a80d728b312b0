package control

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// daemonDesk is one of a cluster with one DaemonSet, whose controller has begun; all its pods are bound and ready.
func daemonDesk(t *testing.T, nodes int) (*testDesk, *DaemonSets, *api.Workload) {
	t.Helper()
	d := newDesk(t, nodes)
	for n := range nodes {
		d.Nodes[n].Name = fmt.Sprintf("node-%d", n+1)
		d.API.Put(api.NodeKey(n), &api.Node{Number: n})
	}
	d.API.ChangedPod = func(_, _ *api.Pod) {}
	d.API.Committed = func(api.Object, engine.Purpose, uint64) {}
	surge, unavailable := intstr.FromInt32(0), intstr.FromString("100%")
	d.Workloads[0].Resource = &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}}}
	c := NewDaemonSets(&d.Desk)
	of := &api.Workload{Kind: api.KindDaemonSet, History: []int{0}}
	d.API.Put(of.Key(), of)
	pods := c.First(of)
	for _, p := range pods {
		p.Node, p.Ready, p.Phase = p.Place(), true, api.PhaseRunning
		d.API.Put(api.PodKey(p.ID), p)
	}
	c.Begin(of, pods)
	return d, c, of
}

// pod is the present version of a pod, nil for one that is gone.
func (d *testDesk) pod(id int) *api.Pod {
	p, _ := d.API.Get(api.PodKey(api.PodID(id))).(*api.Pod)
	return p
}

// write changes a pod now.
func (d *testDesk) write(id int, edit func(*api.Pod)) {
	d.API.WriteAfter(0, d.eng.Register("kubelet"), "pod", api.PodKey(api.PodID(id)), func(o api.Object) api.Object {
		p, _ := o.(*api.Pod)
		next := *p
		edit(&next)
		return &next
	}, nil)
}

// One sync deletes 250 pods at most, the next one the others. Reference: docs/model/controllers.md 5 Burst.
func TestASyncOfADaemonSetIsBounded(t *testing.T) {
	t.Parallel()
	d, c, of := daemonDesk(t, 300)
	next := *of
	next.Become(1)
	s := c.work[0]
	in := c.input(s, &next)
	step := rollDaemons(in)
	if len(step.remove) != 300 {
		t.Fatalf("%d pods are to go, expected all", len(step.remove))
	}
	s.of = &next
	c.carryOut(s, step, func() {})
	if len(s.deleting) != 250 {
		t.Errorf("%d deletions in one sync, expected 250", len(s.deleting))
	}
	s.deleting = map[api.PodID]bool{}
	c.carryOut(s, daemonStep{create: make([]int, 300)}, func() {})
	if s.creating != 250 || d.made != 301 {
		t.Errorf("%d creations in one sync, %d of them in the first batch, expected 250 and 1", s.creating, d.made-300)
	}
}

// A failed pod is deleted, and the one after it on that node when 1 s is over, then 2 s, 4 s and so on.
// Reference: docs/model/controllers.md 5 Failed pods.
func TestFailedPodsOfADaemonSetAreLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	d, _, _ := daemonDesk(t, 2)
	var at []engine.Time
	d.API.Wrote = func(o api.Object) {
		p, ok := o.(*api.Pod)
		switch {
		case !ok:
		case p.Gone:
			at = append(at, d.eng.Now())
		case p.Phase == api.PhasePending: // each new pod fails at once
			d.write(int(p.ID), func(p *api.Pod) { p.Phase, p.Node = api.PhaseFailed, p.Place() })
		}
	}
	d.at(sec, func() { d.write(0, func(p *api.Pod) { p.Phase, p.Ready = api.PhaseFailed, false }) })
	d.run(20 * sec)
	var spans []engine.Time
	for i := 1; i < len(at); i++ {
		spans = append(spans, (at[i] - at[i-1]).TruncateToSecond())
	}
	if got := fmt.Sprint(spans); got != fmt.Sprint([]engine.Time{sec, 2 * sec, 4 * sec, 8 * sec}) {
		t.Errorf("between the deletions %s", got)
	}
}

// While the watch has not shown what was created, deleted and written, nothing is done. Reference: docs/model/controllers.md 5 Own writes.
func TestADaemonSetWaitsForItsOwnWrites(t *testing.T) {
	t.Parallel()
	d, c, of := daemonDesk(t, 3)
	s := c.work[0]
	next := *of
	next.Daemon, next.Revision, next.History = s.status, 1, []int{0, 1}
	s.set = &next
	for name, wait := range map[string]func(){ // order: each for itself
		"a creation": func() { s.creating = 1 },
		"a deletion": func() { s.deleting[0] = true },
		"a status":   func() { s.status.Updated = 7 },
	} {
		before := s.status
		wait()
		c.sync(0)
		if s.busy {
			t.Errorf("%s has not been seen, and the next sync has begun", name)
		}
		s.creating, s.status = 0, before
		delete(s.deleting, 0)
	}
	c.sync(0)
	if !s.busy {
		t.Error("all has been seen, and no sync begins")
	}
	d.run(sec)
	if d.pod(0) != nil || d.made != 6 {
		t.Errorf("%d pods were made, expected all three to be replaced", d.made)
	}
	if c.events.count != 6 {
		t.Errorf("%d Events, expected SuccessfulDelete and SuccessfulCreate of each of the three", c.events.count)
	}
}

// What changes during a sync is looked at by another one, as soon as it is over.
func TestNewsDuringASyncOfADaemonSetIsNotLost(t *testing.T) {
	t.Parallel()
	d, c, of := daemonDesk(t, 3)
	s := c.work[0]
	s.busy = true
	next := *of
	next.Daemon, next.Revision, next.History = s.status, 1, []int{0, 1}
	s.set = &next
	c.sync(0)
	d.run(sec)
	if d.made != 3 {
		t.Fatalf("%d pods were made during the sync before", d.made-3)
	}
	d.at(2*sec, func() { c.finish(s) })
	d.run(3 * sec)
	if d.made != 6 || s.again {
		t.Errorf("%d pods were made, expected all three to be replaced", d.made-3)
	}
}

// The last revisions are kept, as many as revisionHistoryLimit says. Reference: docs/model/controllers.md 5 History.
func TestWhichRevisionsOfADaemonSetAreKept(t *testing.T) {
	t.Parallel()
	d, c, of := daemonDesk(t, 1)
	limit := int32(2)
	resource, _ := d.Workloads[0].Resource.(*appsv1.DaemonSet)
	resource.Spec.RevisionHistoryLimit = &limit
	next := *of
	for revision := 1; revision <= 4; revision++ {
		next.Become(revision)
	}
	for revision, want := range []bool{false, false, true, true, false} {
		if c.Keeps(&next, revision) != want {
			t.Errorf("revision %d: %v", revision, !want)
		}
	}
}
