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
	refused     map[int]*api.Pod   // by ordinal, those that another pod of their name kept from being made
	taken       bool               // one was refused in the last sync, which failed for that
	failures    int                // syncs in a row that did
	retry       engine.Time        // when the next one is due for that
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
		old := w.pods.Set(o)
		delete(w.unseen, o.ID)
		if c.concerns(old, o) {
			c.react.Add(o.Workload)
		}
	}
}

// concerns says whether a StatefulSet is looked at for news of a pod: not for those of one that it has released, unless its labels match
// again. That such a one is gone it does not hear (Kubernetes 1.36 pkg/controller/statefulset/stateful_set.go, updatePod, deletePod; verified).
func (c *StatefulSets) concerns(old, p *api.Pod) bool {
	return !p.Released || old == nil || !old.Released || !p.Gone && !old.SameLabels(p) && c.d.claims(p)
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
	w := &statefulWork{set: of, revisions: []int{of.Revision}, unseen: map[api.PodID]bool{}, made: map[int]*api.Pod{}, refused: map[int]*api.Pod{}, rolling: of.Revision, done: true}
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
		replicas: of.Replicas, revision: of.Revision, current: of.Current, ofThat: of.OfCurrent, now: c.d.Engine.Now(),
		minReady: c.d.Specs.MinReady(of.Workload),
	}
	for _, p := range w.pods {
		if c.d.counts(p) {
			in.pods = append(in.pods, p)
		}
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
	w.busy, w.taken = true, false
	c.claim(w, func() { c.keepRevision(w, func() { c.step(w) }) })
}

// claim releases and adopts pods before anything else.
func (c *StatefulSets) claim(w *statefulWork, then func()) {
	change := c.d.toClaim(w.pods)
	for _, p := range change {
		w.unseen[p.ID] = true
	}
	c.d.claim(&c.client, c.Owner, change, then)
}

// step does what there is to do with the pods that it claims.
func (c *StatefulSets) step(w *statefulWork) {
	if w.rolling != w.set.Revision {
		w.rolling, w.done = w.set.Revision, false
	}
	in := c.input(w)
	plan := planStateful(&in)
	plan.status.of, plan.status.asked = c.d.Specs.SettingsOf(w.set.Workload), w.set.Replicas
	w.note(&in, &plan)
	c.carryOut(w, plan.batches, func() {
		if w.taken { // it did not come to the update
			plan.status.current += plan.replaced
		}
		c.writeStatus(w, &plan.status, func() { c.tidy(w, &in, func() { c.finish(w, plan.next) }) })
	})
}

// note remembers when a rollout is complete: every pod that is to have the new template has it, and all are available.
func (w *statefulWork) note(in *statefulInput, plan *statefulPlan) {
	if plan.status.available >= in.replicas {
		w.done = !slices.ContainsFunc(in.pods, in.outdated)
	}
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

// carryOut does what a sync has to do, batch by batch. It does no more when a pod was refused.
func (c *StatefulSets) carryOut(w *statefulWork, batches [][]deed, then func()) {
	if len(batches) == 0 || w.taken {
		then()
		return
	}
	left := len(batches[0])
	answered := func() {
		if left--; left == 0 {
			c.carryOut(w, batches[1:], then)
		}
	}
	for _, d := range batches[0] {
		switch {
		case d.undo:
			c.remove(w, w.made[d.ordinal], answered)
		case d.pod == nil:
			c.make(w, c.successor(w, d), answered)
		default:
			c.remove(w, d.pod, answered)
		}
	}
}

// successor is the pod that is to be made: the one that was refused before, if that is of the same revision.
func (c *StatefulSets) successor(w *statefulWork, d deed) *api.Pod {
	p := w.refused[d.ordinal]
	if p == nil || p.Revision != d.revision {
		p = c.newPod(w.set.Workload, d.ordinal, d.revision)
	}
	w.made[d.ordinal] = p
	return p
}

// make creates a pod, unless there is another one of its name.
func (c *StatefulSets) make(w *statefulWork, p *api.Pod, answered func()) {
	w.unseen[p.ID] = true
	refused := false
	c.d.API.Limited(&c.client, c.Owner, "create pod", api.PodKey(p.ID), func(api.Object) api.Object {
		if refused = c.taken(w, p); refused {
			return nil
		}
		created := *p
		created.Created = c.d.Engine.Now()
		return &created
	}, func() {
		if refused {
			delete(w.unseen, p.ID)
			w.refused[p.Ordinal], w.taken = p, true
		} else {
			delete(w.refused, p.Ordinal)
			c.events.record(w.set.Workload) // SuccessfulCreate
		}
		answered()
	})
}

// taken says whether a pod that the StatefulSet has released has the name of another.
func (c *StatefulSets) taken(w *statefulWork, p *api.Pod) bool {
	return slices.ContainsFunc(w.pods, func(old *api.Pod) bool {
		if old.Ordinal != p.Ordinal {
			return false
		}
		cur, ok := c.d.API.Get(api.PodKey(old.ID)).(*api.Pod)
		return ok && !cur.Gone
	})
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
		c.events.record(w.set.Workload) // SuccessfulDelete
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
	switch {
	case w.taken:
		c.tryAgain(w)
	default:
		w.failures = 0
		if next != api.Never {
			c.react.AddAt(next, w.set.Workload)
		}
	}
	w.busy = false
	if w.again {
		w.again = false
		c.react.Add(w.set.Workload)
	}
}

// The bounds of how long a sync that has failed is not repeated, unless there is news: it doubles each time
// (client-go v0.36.3 util/workqueue, DefaultTypedControllerRateLimiter; verified).
const (
	shortestRetry = 5 * engine.Millisecond
	longestRetry  = 1000 * engine.Second
)

// tryAgain has a sync that has failed be repeated.
func (c *StatefulSets) tryAgain(w *statefulWork) {
	delay := longestRetry
	if w.failures < 18 { // 5 ms * 2^18 are more than that
		delay = min(shortestRetry<<w.failures, longestRetry)
	}
	w.failures++
	if at, now := c.d.Engine.Now()+delay, c.d.Engine.Now(); w.retry <= now || at < w.retry {
		w.retry = at
		c.react.AddAt(at, w.set.Workload)
	}
}

// Keeps says whether there is a ControllerRevision to roll back to.
func (c *StatefulSets) Keeps(of *api.Workload, revision int) bool {
	return slices.Contains(c.work[of.Workload].revisions, revision)
}

// Wants says whether a StatefulSet is to have a pod of an ordinal.
func (c *StatefulSets) Wants(of *api.Workload, ordinal int) bool {
	in := c.input(&statefulWork{set: of})
	return ordinal >= in.start && ordinal < in.start+in.replicas
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
	if w.set != of || w.busy || len(w.unseen) > 0 || len(planStateful(&in).batches) > 0 && !w.taken {
		return 0, false
	}
	return len(api.PodList(in.pods).Active(nil)), true
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
