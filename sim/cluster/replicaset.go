package cluster

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Each controller has a client of its own: 20 requests a second, bursts of 30 (measured).
const (
	controllerQPS   = 20
	controllerBurst = 30
	// burstReplicas is how many pods one sync creates or deletes at most.
	burstReplicas = 500
)

// replicaSetController keeps as many pods as each ReplicaSet asks for (Kubernetes 1.36
// pkg/controller/replicaset; verified).
type replicaSetController struct {
	w      *World
	owner  engine.Owner
	react  *reaction
	limit  api.Limiter
	work   map[api.ReplicaSetID]*setWork
	events recorder
	victims
}

// setWork is what the controller knows of one ReplicaSet, and is at with it.
type setWork struct {
	expectations
	set     *api.ReplicaSet // as the watch has shown it, nil when there is none
	pods    podList         // the same
	wrote   status          // the status last asked to be written
	written bool            // there is one
	busy    bool            // its sync waits for its writes
	again   bool            // there was news since

	// What the sync under way has seen at its beginning, and when it is to come back.
	of          *api.ReplicaSet
	active      []*api.Pod // its memory is used again by the next sync
	terminating int
	next        engine.Time

	status, finish func() // the steps at the end of a sync
}

// expectations are the controller's own creations and deletions that its watch has not shown
// yet; until it has, the controller neither creates nor deletes.
type expectations struct {
	creating int
	deleting map[api.PodID]bool
}

func (e *expectations) met() bool { return e.creating == 0 && len(e.deleting) == 0 }

type status struct{ pods, ready, available, terminating, observed int }

func newReplicaSetController(w *World) *replicaSetController {
	c := &replicaSetController{
		w: w, owner: w.eng.Register("replicaset-controller"), limit: controllerLimiter(), work: map[api.ReplicaSetID]*setWork{},
	}
	c.events = newRecorder(w, c.owner, "replicaset-controller", &c.limit)
	c.react = newReaction(w, c.owner, "replicaset-controller", w.sc.Latency.Controller, func(k int) { c.sync(unpackSet(k)) })
	w.store.Subscribe("replicaset-controller", c.owner, w.sc.Latency.Watch, c.deliver, api.KindReplicaSet, api.KindPod)
	return c
}

// packSet makes a work-queue key of a ReplicaSet.
func packSet(id api.ReplicaSetID) int { return id.Workload<<20 | id.Revision }

func unpackSet(k int) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: k >> 20, Revision: k & (1<<20 - 1)}
}

// workOn returns what there is to a ReplicaSet.
func (c *replicaSetController) workOn(id api.ReplicaSetID) *setWork {
	s := c.work[id]
	if s == nil {
		s = &setWork{expectations: expectations{deleting: map[api.PodID]bool{}}}
		s.status, s.finish = func() { c.updateStatus(s) }, func() { c.finish(s) }
		c.work[id] = s
	}
	return s
}

func (c *replicaSetController) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.ReplicaSet:
		if o.Gone {
			c.workOn(o.ID).set = nil
			return
		}
		c.workOn(o.ID).set = o
		c.react.enqueue(packSet(o.ID))
	case *api.Pod:
		c.deliverPod(o)
	}
}

func (c *replicaSetController) deliverPod(p *api.Pod) {
	if p.ReplicaSet == nil {
		return
	}
	s := c.workOn(*p.ReplicaSet)
	if s.pods.set(p) == nil && !p.Gone && s.creating > 0 {
		s.creating--
	}
	if p.Deleting() || p.Gone {
		delete(s.deleting, p.ID)
	}
	c.react.enqueue(packSet(*p.ReplicaSet))
}

// sync creates or deletes what is missing or too much, waits for the answers, and writes the
// status: of the pods as they were when it began.
func (c *replicaSetController) sync(id api.ReplicaSetID) {
	s := c.workOn(id)
	switch {
	case s.set == nil:
		return
	case s.busy:
		s.again = true
		return
	}
	s.busy, s.of, s.active, s.terminating = true, s.set, s.pods.active(s.active[:0]), s.pods.terminating()
	diff, status := s.set.Replicas-len(s.active), s.status
	switch e := &s.expectations; {
	case !e.met() || diff == 0:
		status()
	case diff > 0:
		e.creating = min(diff, burstReplicas)
		c.createBatch(id, e.creating, 1, status)
	default:
		c.deletePods(id, s.active, min(-diff, burstReplicas), status)
	}
}

// finish ends a sync; what came meanwhile is looked at now.
func (c *replicaSetController) finish(s *setWork) {
	key := packSet(s.of.ID)
	if s.next != api.Never {
		c.react.enqueueAt(s.next, key)
	}
	s.busy = false
	if s.again {
		s.again = false
		c.react.enqueue(key)
	}
}

// terminating counts the pods that are deleted and not done.
func (l podList) terminating() int {
	n := 0
	for _, p := range l {
		if p.Deleting() && !p.Phase.Terminal() {
			n++
		}
	}
	return n
}

// active appends the active pods.
func (l podList) active(out []*api.Pod) []*api.Pod {
	for _, p := range l {
		if p.Active() {
			out = append(out, p)
		}
	}
	return out
}

// createBatch creates pods by slow start: one, then two, four, eight ..., each batch after the
// answers to the one before.
func (c *replicaSetController) createBatch(id api.ReplicaSetID, left, size int, done func()) {
	n := min(left, size)
	answered := 0
	for range n {
		pod := c.w.newPod(id)
		c.w.store.Limited(&c.limit, c.owner, "create pod", api.PodKey(pod.ID), func(api.Object) api.Object {
			created := *pod
			created.Created = c.w.eng.Now()
			return &created
		}, func() {
			c.events.record(packSet(id)) // SuccessfulCreate
			switch answered++; {
			case answered < n:
			case left > n:
				c.createBatch(id, left-n, 2*size, done)
			default:
				done()
			}
		})
	}
}

// deletePods deletes the first n by ranking, all at once; without ranking if all must go.
func (c *replicaSetController) deletePods(id api.ReplicaSetID, active []*api.Pod, n int, done func()) {
	victims := active
	if n < len(active) {
		victims = c.rank(id, active)[:n]
	}
	s := c.workOn(id)
	for _, p := range victims {
		s.deleting[p.ID] = true
	}
	left := len(victims)
	answered := func() {
		c.events.record(packSet(id)) // SuccessfulDelete
		if left--; left == 0 {
			done()
		}
	}
	for _, p := range victims {
		c.w.store.Limited(&c.limit, c.owner, "delete pod", api.PodKey(p.ID), c.w.deletion(p.ID), answered)
	}
}

// victims is memory for the ranking of pods, used again each time.
type victims struct {
	onNode []int // active pods, by node + 1
	list   []candidate
	sorted []*candidate // of list
	ranked []*api.Pod
}

// rank orders pods by who goes first; the list lasts until the next ranking. A pod's rank is how many
// active pods the Deployment has on its node, over all its ReplicaSets.
func (c *replicaSetController) rank(id api.ReplicaSetID, active []*api.Pod) []*api.Pod {
	c.onNode = append(c.onNode[:0], make([]int, len(c.w.sc.Nodes)+1)...)
	for other, s := range c.work { // order: sums do not depend on it
		if other.Workload == id.Workload {
			for _, p := range s.pods {
				if p.Active() {
					c.onNode[p.Node+1]++
				}
			}
		}
	}
	c.list, c.ranked, c.sorted = c.list[:0], c.ranked[:0], c.sorted[:0]
	for _, p := range active {
		c.list = append(c.list, candidateOf(p, c.onNode[p.Node+1], c.w.eng.Now()))
	}
	for i := range c.list {
		c.sorted = append(c.sorted, &c.list[i])
	}
	slices.SortFunc(c.sorted, c.w.goesFirst)
	for _, one := range c.sorted {
		c.ranked = append(c.ranked, one.pod)
	}
	return c.ranked
}

// goesFirst orders victims. Among those that nothing tells apart chance decides.
func (w *World) goesFirst(a, b *candidate) int {
	if c := compareVictims(a, b); c != 0 {
		return c
	}
	return w.byChance(a.pod, b.pod)
}

// byChance orders pods that nothing tells apart: the controller sorts them as it happens to find
// them (docs/model/measured.md 1 UID tie-break: the choice is arbitrary).
func (w *World) byChance(a, b *api.Pod) int {
	return cmp.Or(cmp.Compare(w.chance(a), w.chance(b)), cmp.Compare(a.ID, b.ID))
}

// chance is a pod's draw among equals.
func (w *World) chance(p *api.Pod) uint64 {
	info := w.pods[p.ID]
	if !info.drawn {
		info.drawn, info.chance = true, w.eng.Stream(p.Name, "victim").Draw(0)
	}
	return info.chance
}

// updateStatus writes the counts if they changed, and comes back when the next ready pod will
// have been ready for minReadySeconds.
func (c *replicaSetController) updateStatus(of *setWork) {
	now := c.w.eng.Now()
	id := of.of.ID
	minReady := c.w.minReady(id.Workload)
	s := status{pods: len(of.active), terminating: of.terminating, observed: of.of.Replicas}
	of.next = api.Never
	for _, p := range of.active {
		if !p.Ready {
			continue
		}
		s.ready++
		if at := availableAt(p.ReadySince, minReady); at <= now {
			s.available++
		} else if of.next == api.Never || at < of.next {
			of.next = at
		}
	}
	if of.written && of.wrote == s {
		of.finish()
		return
	}
	of.wrote, of.written = s, true
	c.w.store.Limited(&c.limit, c.owner, "replicaset status", api.ReplicaSetKey(id), func(o api.Object) api.Object {
		cur, ok := o.(*api.ReplicaSet)
		if !ok {
			return nil
		}
		next := *cur
		next.Pods, next.ReadyPods, next.Available = s.pods, s.ready, s.available
		next.Terminating, next.ObservedReplicas = s.terminating, s.observed
		return &next
	}, of.finish)
}
