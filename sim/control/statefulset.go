package control

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// StatefulSets runs StatefulSets, one sync at a time each (Kubernetes 1.36 pkg/controller/statefulset; verified).
type StatefulSets struct {
	d      *Desk
	Owner  engine.Owner
	react  *Queue
	client api.Limiter
	work   map[int]*statefulWork // by workload
	events recorder
	// several says that maxUnavailable is heeded: feature gate MaxUnavailableStatefulSet.
	several bool
}

// statefulWork is what the controller knows of one StatefulSet, and is at with it.
type statefulWork struct {
	set         *api.Workload // as the watch has shown it
	pods        api.PodList   // the same
	revisions   []int         // ControllerRevisions, the one that became current last at the end
	wrote       statefulStatus
	unseen      map[api.PodID]bool // own creations and deletions that the watch has not shown
	made        map[int]*api.Pod   // by ordinal, the last one
	busy, again bool               // a sync waits for its writes; there was news since
	rolling     int                // the revision of the last rollout
	done        bool               // that was complete once: what happens later is none of it
}

// NewStatefulSets starts the StatefulSet controller.
func NewStatefulSets(d *Desk, several bool) *StatefulSets {
	c := &StatefulSets{d: d, Owner: d.Engine.Register("statefulset-controller"), client: NewClient(), work: map[int]*statefulWork{}, several: several}
	c.events = newRecorder(d, c.Owner, "statefulset-controller", &c.client)
	c.react = NewQueue(d, c.Owner, "statefulset-controller", d.Latencies.Controller, c.sync)
	w := d.API.Subscribe("statefulset-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindStatefulSet, api.KindPod)
	w.Wants = func(o api.Object) bool {
		p, ok := o.(*api.Pod)
		return !ok || world.KindOf(d.Workloads[p.Workload].Resource) == world.StatefulSet
	}
	return c
}

func (c *StatefulSets) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Workload:
		c.work[o.Workload].set = o
		c.react.Add(o.Workload)
	case *api.Pod:
		w := c.work[o.Workload]
		w.pods.Set(o)
		delete(w.unseen, o.ID)
		c.react.Add(o.Workload)
	}
}

// First makes the pods that there are at the beginning.
func (c *StatefulSets) First(of *api.Workload) []*api.Pod {
	var pods []*api.Pod
	start := c.input(&statefulWork{set: of}).start
	for i := range of.Replicas {
		pods = append(pods, c.newPod(of.Workload, start+i, of.Revision))
	}
	return pods
}

func (c *StatefulSets) newPod(workload, ordinal, revision int) *api.Pod {
	name := fmt.Sprintf("%s-%d", c.d.Workloads[workload].Name(), ordinal)
	return c.d.Specs.NewNamed(api.ReplicaSetID{Workload: workload, Revision: revision}, name, ordinal)
}

// Begin takes over a StatefulSet whose pods run, and whose status says so.
func (c *StatefulSets) Begin(of *api.Workload, pods []*api.Pod) {
	w := &statefulWork{set: of, revisions: []int{of.Revision}, unseen: map[api.PodID]bool{}, made: map[int]*api.Pod{}, rolling: of.Revision, done: true}
	for _, p := range pods {
		w.pods.Set(p)
	}
	c.work[of.Workload] = w
	in := c.input(w)
	w.wrote = planStateful(&in).status
	w.wrote.of, w.wrote.asked = c.d.Specs.SettingsOf(of.Workload), of.Replicas
	of.OfCurrent = w.wrote.current
}

// input is what a sync sees.
func (c *StatefulSets) input(w *statefulWork) statefulInput {
	of := w.set
	in := statefulInput{
		replicas: of.Replicas, revision: of.Revision, current: of.Current, ofThat: of.OfCurrent, pods: slices.Clone(w.pods), now: c.d.Engine.Now(),
		minReady: c.d.Specs.MinReady(of.Workload),
	}
	s, ok := c.d.Specs.SettingsOf(of.Workload).(*appsv1.StatefulSet)
	if !ok {
		panic("control: not a StatefulSet: " + c.d.Workloads[of.Workload].Name())
	}
	if s.Spec.Ordinals != nil {
		in.start = int(s.Spec.Ordinals.Start)
	}
	in.parallel = s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	in.onDelete = s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	if c.several {
		in.unavailable = 1
	}
	if u := s.Spec.UpdateStrategy.RollingUpdate; u != nil {
		in.rolling = true
		if u.Partition != nil {
			in.partition = int(*u.Partition)
		}
		if c.several && u.MaxUnavailable != nil {
			in.unavailable = world.StatefulUnavailable(u.MaxUnavailable, of.Replicas)
		}
	}
	return in
}

// sync does one step of one StatefulSet. It waits until the watch has shown what the step before did (feature gate
// StaleControllerConsistencyStatefulSet).
func (c *StatefulSets) sync(workload int) {
	w := c.work[workload]
	switch {
	case w.busy:
		w.again = true
		return
	case len(w.unseen) > 0:
		return
	}
	w.busy = true
	c.keepRevision(w, func() {
		if w.rolling != w.set.Revision {
			w.rolling, w.done = w.set.Revision, false
		}
		in := c.input(w)
		plan := planStateful(&in)
		plan.status.of, plan.status.asked = c.d.Specs.SettingsOf(workload), w.set.Replicas
		w.note(&in, &plan)
		c.carryOut(w, plan.batches, func() {
			c.writeStatus(w, &plan.status, func() { c.tidy(w, &in, func() { c.finish(w, plan.next) }) })
		})
	})
}

// note remembers when a rollout is complete: every pod that is to have the new template has it, and all are available.
func (w *statefulWork) note(in *statefulInput, plan *statefulPlan) {
	if len(plan.batches) > 0 || plan.status.available < in.replicas || plan.status.pods != in.replicas {
		return
	}
	w.done = w.done || !slices.ContainsFunc(in.pods, in.outdated)
}

// outdated says that an update replaces a pod.
func (s *statefulInput) outdated(p *api.Pod) bool {
	return !s.onDelete && p.Revision != s.revision && p.Ordinal >= s.start+s.partition
}

// keepRevision has a new template be a ControllerRevision before anything else, or the old one that it is the newest again.
func (c *StatefulSets) keepRevision(w *statefulWork, then func()) {
	revision := w.set.Revision
	if w.revisions[len(w.revisions)-1] == revision {
		then()
		return
	}
	w.revisions = append(slices.DeleteFunc(w.revisions, func(r int) bool { return r == revision }), revision)
	c.request(w, "write controllerrevision", then)
}

// request is one of the controller's own objects, which nobody else looks at.
func (c *StatefulSets) request(w *statefulWork, name string, then func()) {
	c.d.API.Limited(&c.client, c.Owner, name, api.StatefulSetKey(w.set.Workload), func(api.Object) api.Object { return nil }, then)
}

// carryOut does what a sync has to do, batch by batch.
func (c *StatefulSets) carryOut(w *statefulWork, batches [][]deed, then func()) {
	if len(batches) == 0 {
		then()
		return
	}
	left := len(batches[0])
	answered := func() {
		c.events.record(w.set.Workload) // SuccessfulCreate, SuccessfulDelete
		if left--; left == 0 {
			c.carryOut(w, batches[1:], then)
		}
	}
	for _, d := range batches[0] {
		switch {
		case d.undo:
			c.remove(w, w.made[d.ordinal], answered)
		case d.pod == nil:
			p := c.newPod(w.set.Workload, d.ordinal, d.revision)
			w.made[d.ordinal] = p
			c.make(w, p, answered)
		default:
			c.remove(w, d.pod, answered)
		}
	}
}

func (c *StatefulSets) make(w *statefulWork, p *api.Pod, answered func()) {
	w.unseen[p.ID] = true
	c.d.API.Limited(&c.client, c.Owner, "create pod", api.PodKey(p.ID), func(api.Object) api.Object {
		created := *p
		created.Created = c.d.Engine.Now()
		return &created
	}, answered)
}

// remove deletes a pod. If somebody was faster, there is nothing that the watch has yet to show.
func (c *StatefulSets) remove(w *statefulWork, p *api.Pod, answered func()) {
	w.unseen[p.ID] = true
	deletion, deleted := c.d.Specs.Deletion(p.ID, world.OwnGrace), false
	c.d.API.Limited(&c.client, c.Owner, "delete pod", api.PodKey(p.ID), func(o api.Object) api.Object {
		next := deletion(o)
		deleted = next != nil
		return next
	}, func() {
		if !deleted {
			delete(w.unseen, p.ID)
		}
		answered()
	})
}

// writeStatus writes the status if it is another than the one last written. What decides on revisions is in the object.
func (c *StatefulSets) writeStatus(w *statefulWork, s *statefulStatus, then func()) {
	if w.wrote == *s {
		then()
		return
	}
	w.wrote = *s
	c.d.API.Limited(&c.client, c.Owner, "statefulset status", api.StatefulSetKey(w.set.Workload), func(o api.Object) api.Object {
		cur, ok := o.(*api.Workload)
		if !ok || cur.Current == s.currentRevision && cur.OfCurrent == s.current {
			return nil
		}
		next := *cur
		next.Current, next.OfCurrent = s.currentRevision, s.current
		return &next
	}, then)
}

// tidy deletes the oldest ControllerRevisions beyond revisionHistoryLimit, of those that no pod has.
func (c *StatefulSets) tidy(w *statefulWork, in *statefulInput, then func()) {
	s, ok := c.d.Specs.SettingsOf(w.set.Workload).(*appsv1.StatefulSet)
	if !ok || s.Spec.RevisionHistoryLimit == nil {
		then()
		return
	}
	live := func(r int) bool {
		return r == in.revision || r == in.current || slices.ContainsFunc(in.pods, func(p *api.Pod) bool { return p.Revision == r })
	}
	old := slices.DeleteFunc(slices.Clone(w.revisions), live)
	more := len(old) - int(*s.Spec.RevisionHistoryLimit)
	if more <= 0 {
		then()
		return
	}
	w.revisions = slices.DeleteFunc(w.revisions, func(r int) bool { return r == old[0] })
	c.request(w, "delete controllerrevision", func() { c.tidy(w, in, then) })
}

// finish ends a sync; what came meanwhile is looked at now.
func (c *StatefulSets) finish(w *statefulWork, next engine.Time) {
	if next != api.Never {
		c.react.AddAt(next, w.set.Workload)
	}
	w.busy = false
	if w.again {
		w.again = false
		c.react.Add(w.set.Workload)
	}
}

// Keeps says whether there is a ControllerRevision to roll back to.
func (c *StatefulSets) Keeps(of *api.Workload, revision int) bool {
	return slices.Contains(c.work[of.Workload].revisions, revision)
}

// Most is how many pods there may be.
func (c *StatefulSets) Most(of *api.Workload) int { return of.Replicas }

// Outdated says that a pod is to be replaced by one of the present revision.
func (c *StatefulSets) Outdated(of *api.Workload, p *api.Pod) bool {
	in := c.input(&statefulWork{set: of})
	return in.outdated(p)
}

// AtRest says whether the controller waits for something, and how many pods it has.
func (c *StatefulSets) AtRest(of *api.Workload) (pods int, ok bool) {
	w := c.work[of.Workload]
	in := c.input(w)
	if w.set != of || w.busy || len(w.unseen) > 0 || len(planStateful(&in).batches) > 0 {
		return 0, false
	}
	return len(w.pods.Active(nil)), true
}

// UnderWay says whether a rollout of the present revision has begun and was not complete yet.
func (c *StatefulSets) UnderWay(of *api.Workload) bool {
	w := c.work[of.Workload]
	return !w.done || w.rolling != of.Revision
}

// Step is how an update goes on: one pod goes, and its successor comes where it was.
func (c *StatefulSets) Step(of *api.Workload) Step {
	return Step{Rolling: c.UnderWay(of), Unavailable: max(1, c.input(&statefulWork{set: of}).unavailable)}
}

// Hindrance is nil: what a StatefulSet waits for is a pod, or a node.
func (c *StatefulSets) Hindrance(*api.Workload) *Stuck { return nil }
