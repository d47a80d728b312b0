package cluster

import (
	"cmp"
	"maps"
	"slices"

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
	w       *World
	owner   engine.Owner
	react   *reaction
	limit   limiter
	sets    map[ReplicaSetID]*ReplicaSet
	pods    map[ReplicaSetID]*podList
	expects map[ReplicaSetID]*expectations
	wrote   map[ReplicaSetID]status // the status last asked to be written
	// busy holds the sets whose sync waits for its writes; again those that had news since.
	busy, again map[ReplicaSetID]bool
	events      recorder
}

// expectations are the controller's own creations and deletions that its watch has not shown
// yet; until it has, the controller neither creates nor deletes.
type expectations struct {
	creating int
	deleting map[PodID]bool
}

func (e *expectations) met() bool { return e.creating == 0 && len(e.deleting) == 0 }

type status struct{ pods, ready, available, terminating, observed int }

func newReplicaSetController(w *World) *replicaSetController {
	c := &replicaSetController{
		w: w, owner: w.eng.Register("replicaset-controller"), limit: newLimiter(),
		sets: map[ReplicaSetID]*ReplicaSet{}, pods: map[ReplicaSetID]*podList{},
		expects: map[ReplicaSetID]*expectations{}, wrote: map[ReplicaSetID]status{},
		busy: map[ReplicaSetID]bool{}, again: map[ReplicaSetID]bool{},
	}
	c.events = newRecorder(w, c.owner, "replicaset-controller", &c.limit)
	c.react = newReaction(w, c.owner, "replicaset-controller", w.sc.Latency.Controller, func(k int) { c.sync(unpackSet(k)) })
	w.store.subscribe("replicaset-controller", c.owner, w.sc.Latency.Watch, c.deliver, kindReplicaSet, kindPod)
	return c
}

// packSet makes a work-queue key of a ReplicaSet.
func packSet(id ReplicaSetID) int { return id.Workload<<20 | id.Revision }

func unpackSet(k int) ReplicaSetID { return ReplicaSetID{k >> 20, k & (1<<20 - 1)} }

func (c *replicaSetController) expect(id ReplicaSetID) *expectations {
	if c.expects[id] == nil {
		c.expects[id] = &expectations{deleting: map[PodID]bool{}}
	}
	return c.expects[id]
}

func (c *replicaSetController) deliver(o object) {
	switch o := o.(type) {
	case *ReplicaSet:
		if o.Gone {
			delete(c.sets, o.ID)
			return
		}
		c.sets[o.ID] = o
		c.react.enqueue(packSet(o.ID))
	case *Pod:
		c.deliverPod(o)
	}
}

func (c *replicaSetController) deliverPod(p *Pod) {
	if p.ReplicaSet == nil {
		return
	}
	id := *p.ReplicaSet
	e := c.expect(id)
	if c.podsOf(id).set(p) == nil && !p.Gone && e.creating > 0 {
		e.creating--
	}
	if p.Deleting() || p.Gone {
		delete(e.deleting, p.ID)
	}
	c.react.enqueue(packSet(id))
}

// podsOf are a ReplicaSet's pods, as the watch has shown them.
func (c *replicaSetController) podsOf(id ReplicaSetID) *podList {
	if c.pods[id] == nil {
		c.pods[id] = new(podList)
	}
	return c.pods[id]
}

// sync creates or deletes what is missing or too much, waits for the answers, and writes the
// status: of the pods as they were when it began.
func (c *replicaSetController) sync(id ReplicaSetID) {
	rs := c.sets[id]
	if rs == nil {
		return
	}
	if c.busy[id] {
		c.again[id] = true
		return
	}
	c.busy[id] = true
	active, terminating := c.active(id), c.terminating(id)
	status := func() { c.updateStatus(rs, active, terminating) }
	diff := rs.Replicas - len(active)
	switch e := c.expect(id); {
	case !e.met() || diff == 0:
		status()
	case diff > 0:
		e.creating = min(diff, burstReplicas)
		c.createBatch(id, e.creating, 1, status)
	default:
		c.deletePods(id, active, min(-diff, burstReplicas), status)
	}
}

// done ends a sync; what came meanwhile is looked at now.
func (c *replicaSetController) done(id ReplicaSetID) {
	c.busy[id] = false
	if c.again[id] {
		c.again[id] = false
		c.react.enqueue(packSet(id))
	}
}

// terminating counts a ReplicaSet's pods that are deleted and not done.
func (c *replicaSetController) terminating(id ReplicaSetID) int {
	n := 0
	for _, p := range *c.podsOf(id) {
		if p.Deleting() && !p.Phase.Terminal() {
			n++
		}
	}
	return n
}

// active lists a ReplicaSet's active pods by ID.
func (c *replicaSetController) active(id ReplicaSetID) []*Pod {
	var out []*Pod
	for _, p := range *c.podsOf(id) {
		if p.Active() {
			out = append(out, p)
		}
	}
	return out
}

// createBatch creates pods by slow start: one, then two, four, eight ..., each batch after the
// answers to the one before.
func (c *replicaSetController) createBatch(id ReplicaSetID, left, size int, done func()) {
	n := min(left, size)
	answered := 0
	for range n {
		pod := c.w.newPod(id)
		c.w.store.limited(&c.limit, c.owner, "create pod", key{kindPod, int(pod.ID), 0}, func(object) object {
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
func (c *replicaSetController) deletePods(id ReplicaSetID, active []*Pod, n int, done func()) {
	victims := active
	if n < len(active) {
		victims = c.rank(id, active)[:n]
	}
	e := c.expect(id)
	for _, p := range victims {
		e.deleting[p.ID] = true
	}
	answered := 0
	for _, p := range victims {
		c.w.store.limited(&c.limit, c.owner, "delete pod", key{kindPod, int(p.ID), 0}, c.w.deletion(p.ID), func() {
			c.events.record(packSet(id)) // SuccessfulDelete
			if answered++; answered == len(victims) {
				done()
			}
		})
	}
}

// rank orders pods by who goes first. A pod's rank is how many active pods the Deployment has
// on its node, over all its ReplicaSets.
func (c *replicaSetController) rank(id ReplicaSetID, active []*Pod) []*Pod {
	onNode := map[int]int{}
	for _, other := range slices.SortedFunc(maps.Keys(c.pods), compareSets) {
		if other.Workload == id.Workload {
			for _, p := range c.active(other) {
				onNode[p.Node]++
			}
		}
	}
	list := make([]candidate, len(active))
	for i, p := range active {
		list[i] = candidate{p, onNode[p.Node]}
	}
	now := c.w.eng.Now()
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(compareVictims(a, b, now), c.w.byChance(a.pod, b.pod)) })
	out := make([]*Pod, len(list))
	for i := range list {
		out[i] = list[i].pod
	}
	return out
}

// byChance orders pods that nothing tells apart: the controller sorts them as it happens to find
// them (docs/model/measured.md 1 UID tie-break: the choice is arbitrary).
func (w *World) byChance(a, b *Pod) int {
	return cmp.Or(cmp.Compare(w.chance(a), w.chance(b)), cmp.Compare(a.ID, b.ID))
}

// chance is a pod's draw among equals.
func (w *World) chance(p *Pod) uint64 {
	info := w.pods[p.ID]
	if !info.drawn {
		info.drawn, info.chance = true, w.eng.Stream(p.Name, "victim").Draw(0)
	}
	return info.chance
}

func compareSets(a, b ReplicaSetID) int {
	if a.Workload != b.Workload {
		return a.Workload - b.Workload
	}
	return a.Revision - b.Revision
}

// updateStatus writes the counts if they changed, and comes back when the next ready pod will
// have been ready for minReadySeconds.
func (c *replicaSetController) updateStatus(rs *ReplicaSet, active []*Pod, terminating int) {
	now := c.w.eng.Now()
	minReady := c.w.minReady(rs.ID.Workload)
	s := status{pods: len(active), terminating: terminating, observed: rs.Replicas}
	next := never
	for _, p := range active {
		if !p.Ready {
			continue
		}
		s.ready++
		if at := availableAt(p.ReadySince, minReady); at <= now {
			s.available++
		} else if next == never || at < next {
			next = at
		}
	}
	finish := func() {
		if next != never {
			c.react.enqueueAt(next, packSet(rs.ID))
		}
		c.done(rs.ID)
	}
	if last, ok := c.wrote[rs.ID]; ok && last == s {
		finish()
		return
	}
	c.wrote[rs.ID] = s
	c.w.store.limited(&c.limit, c.owner, "replicaset status", key{kindReplicaSet, rs.ID.Workload, rs.ID.Revision}, func(o object) object {
		cur, ok := o.(*ReplicaSet)
		if !ok {
			return nil
		}
		next := *cur
		next.Pods, next.ReadyPods, next.Available = s.pods, s.ready, s.available
		next.Terminating, next.ObservedReplicas = s.terminating, s.observed
		return &next
	}, finish)
}
