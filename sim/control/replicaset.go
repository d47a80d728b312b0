package control

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Each controller has a client of its own: 20 requests a second, bursts of 30 (measured).
const (
	controllerQPS   = 20
	controllerBurst = 30
	// burstReplicas is how many pods one sync creates or deletes at most.
	burstReplicas = 500
)

// ReplicaSets keeps as many pods as each ReplicaSet asks for (Kubernetes 1.36
// pkg/controller/replicaset; verified).
type ReplicaSets struct {
	d      *Desk
	Owner  engine.Owner
	react  *Queue
	limit  api.Limiter
	work   map[api.ReplicaSetID]*setWork
	events recorder
	victims

	chances []chance           // by PodID
	vetoed  []api.ReplicaSetID // that wait until a webhook answers
}

// setWork is what the controller knows of one ReplicaSet, and is at with it.
type setWork struct {
	expectations
	set     *api.ReplicaSet // as the watch has shown it, nil when there is none
	pods    api.PodList     // the same
	strays  api.PodList     // of those that it has released
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

// NewReplicaSets starts the ReplicaSet controller.
func NewReplicaSets(d *Desk) *ReplicaSets {
	c := &ReplicaSets{
		d: d, Owner: d.Engine.Register("replicaset-controller"), limit: NewClient(), work: map[api.ReplicaSetID]*setWork{},
	}
	c.events = newRecorder(d, c.Owner, "replicaset-controller", &c.limit)
	c.react = NewQueue(d, c.Owner, "replicaset-controller", d.Latencies.Controller, func(k int) { c.sync(unpackSet(k)) })
	d.API.Subscribe("replicaset-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindReplicaSet, api.KindPod)
	return c
}

// packSet makes a work-queue key of a ReplicaSet.
func packSet(id api.ReplicaSetID) int { return id.Workload<<20 | id.Revision }

func unpackSet(k int) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: k >> 20, Revision: k & (1<<20 - 1)}
}

// workOn returns what there is to a ReplicaSet.
func (c *ReplicaSets) workOn(id api.ReplicaSetID) *setWork {
	s := c.work[id]
	if s == nil {
		s = &setWork{expectations: expectations{deleting: map[api.PodID]bool{}}}
		s.status, s.finish = func() { c.updateStatus(s) }, func() { c.finish(s) }
		c.work[id] = s
	}
	return s
}

func (c *ReplicaSets) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.ReplicaSet:
		if o.Gone {
			c.workOn(o.ID).set = nil
			return
		}
		c.workOn(o.ID).set = o
		c.react.Add(packSet(o.ID))
	case *api.Pod:
		c.deliverPod(o)
	}
}

func (c *ReplicaSets) deliverPod(p *api.Pod) {
	if p.ReplicaSet == nil {
		c.deliverStray(p)
		return
	}
	s := c.workOn(*p.ReplicaSet)
	if s.pods.Set(p) == nil && !p.Gone && s.creating > 0 && c.d.claims(p) {
		s.creating--
	}
	if p.Deleting() || p.Gone {
		delete(s.deleting, p.ID)
	}
	c.react.Add(packSet(*p.ReplicaSet))
}

// sync creates or deletes what is missing or too much, waits for the answers, and writes the
// status: of the pods as they were when it began.
func (c *ReplicaSets) sync(id api.ReplicaSetID) {
	s := c.workOn(id)
	switch {
	case s.set == nil:
		return
	case s.busy:
		s.again = true
		return
	}
	s.busy, s.of = true, s.set
	if release, adopt := c.toClaim(s); len(release)+len(adopt) > 0 {
		c.claim(id, s, release, adopt, func() { c.manage(id, s) })
		return
	}
	c.manage(id, s)
}

// manage creates or deletes what is missing or too much of the pods that it claims.
func (c *ReplicaSets) manage(id api.ReplicaSetID, s *setWork) {
	s.active, s.terminating = s.pods.Active(s.active[:0]), s.pods.Terminating()
	diff, status := s.of.Replicas-len(s.active), s.status
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
func (c *ReplicaSets) finish(s *setWork) {
	key := packSet(s.of.ID)
	if s.next != api.Never {
		c.react.AddAt(s.next, key)
	}
	s.busy = false
	if s.again {
		s.again = false
		c.react.Add(key)
	}
}

// createBatch creates pods by slow start: one, then two, four, eight ..., each batch after the
// answers to the one before.
func (c *ReplicaSets) createBatch(id api.ReplicaSetID, left, size int, done func()) {
	if c.d.Vetoed != nil && c.d.Vetoed() {
		c.workOn(id).creating -= left
		c.vetoed = append(c.vetoed, id)
		done()
		return
	}
	n := min(left, size)
	answered := 0
	for range n {
		pod := c.d.Specs.NewPod(id)
		c.d.API.Limited(&c.limit, c.Owner, "create pod", api.PodKey(pod.ID), func(api.Object) api.Object {
			created := *pod
			created.Created = c.d.Engine.Now()
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

// Readmit has those ReplicaSets try again whose pods a webhook kept from being made: it answers. The controller itself tries after 5 ms, 10 ms,
// 20 ms and so on, up to 1,000 s (docs/model/controllers.md 3 Webhooks).
func (c *ReplicaSets) Readmit() {
	for _, id := range c.vetoed {
		c.react.Add(packSet(id))
	}
	c.vetoed = c.vetoed[:0]
}

// Refused says that pods of a workload were not made, for a webhook did not answer.
func (c *ReplicaSets) Refused(workload int) bool {
	return slices.ContainsFunc(c.vetoed, func(id api.ReplicaSetID) bool { return id.Workload == workload })
}

// deletePods deletes the first n by ranking, all at once; without ranking if all must go.
func (c *ReplicaSets) deletePods(id api.ReplicaSetID, active []*api.Pod, n int, done func()) {
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
		c.d.API.Limited(&c.limit, c.Owner, "delete pod", api.PodKey(p.ID), c.d.Specs.Deletion(p.ID, world.OwnGrace), answered)
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
// active pods the Deployment has on its node, over all its ReplicaSets; those of a bare ReplicaSet have none (measured).
func (c *ReplicaSets) rank(id api.ReplicaSetID, active []*api.Pod) []*api.Pod {
	c.onNode = append(c.onNode[:0], make([]int, len(c.d.Nodes)+1)...)
	bare := world.KindOf(c.d.Workloads[id.Workload].Resource) == world.ReplicaSet
	for other, s := range c.work { // order: sums do not depend on it
		if other.Workload == id.Workload && !bare {
			for _, p := range s.pods {
				if p.Active() {
					c.onNode[p.Node+1]++
				}
			}
		}
	}
	c.list, c.ranked, c.sorted = c.list[:0], c.ranked[:0], c.sorted[:0]
	for _, p := range active {
		c.list = append(c.list, candidateOf(p, c.onNode[p.Node+1], c.d.Engine.Now()))
	}
	for i := range c.list {
		c.sorted = append(c.sorted, &c.list[i])
	}
	sorted.ShortBy(c.sorted, c.goesFirst)
	for _, one := range c.sorted {
		c.ranked = append(c.ranked, one.pod)
	}
	return c.ranked
}

// goesFirst orders victims. Among those that nothing tells apart chance decides.
func (c *ReplicaSets) goesFirst(a, b *candidate) int {
	if order := compareVictims(a, b); order != 0 {
		return order
	}
	return c.byChance(a.pod, b.pod)
}

// byChance orders pods that nothing tells apart: the controller sorts them as it happens to find
// them (docs/model/measured.md 1 UID tie-break: the choice is arbitrary).
func (c *ReplicaSets) byChance(a, b *api.Pod) int {
	return cmp.Or(cmp.Compare(c.chance(a), c.chance(b)), cmp.Compare(a.ID, b.ID))
}

// chance is a pod's draw among equals.
func (c *ReplicaSets) chance(p *api.Pod) uint64 {
	for int(p.ID) >= len(c.chances) {
		c.chances = append(c.chances, chance{})
	}
	drawn := &c.chances[p.ID]
	if !drawn.known {
		drawn.known, drawn.draw = true, c.d.Engine.Stream(p.Name, "victim").Draw(0)
	}
	return drawn.draw
}

// chance is a draw that is made when it first matters.
type chance struct {
	known bool
	draw  uint64
}

// Begin takes over a ReplicaSet whose pods run, and whose status says so.
func (c *ReplicaSets) Begin(rs *api.ReplicaSet, pods []*api.Pod) {
	work := c.workOn(rs.ID)
	work.set = rs
	for _, p := range pods {
		work.pods.Set(p)
	}
	work.wrote, work.written = status{rs.Pods, rs.ReadyPods, rs.Available, 0, rs.ObservedReplicas}, true
}

// updateStatus writes the counts if they changed, and comes back when the next ready pod will
// have been ready for minReadySeconds.
func (c *ReplicaSets) updateStatus(of *setWork) {
	now := c.d.Engine.Now()
	id := of.of.ID
	minReady := c.d.Specs.MinReady(id.Workload)
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
	c.d.API.Limited(&c.limit, c.Owner, "replicaset status", api.ReplicaSetKey(id), func(o api.Object) api.Object {
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
