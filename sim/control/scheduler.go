package control

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Scheduler binds pods to nodes: as few pods of the same workload on a node as possible, then
// as few pods at all, then the first node. What keeps a pod off a node is an obstacle: while there
// is one on every node it stays Pending. It is simple, and honest about that: resources are taken
// to suffice.
type Scheduler struct {
	d       *Desk
	Owner   engine.Owner
	pods    map[api.PodID]*api.Pod
	assumed map[api.PodID]int // bound, but the watch has not shown it yet
	pending []api.PodID       // waiting for a node, in order of arrival
	draws   engine.Stream
	count   uint64

	// all and same count the pods on each node, all of them and by workload, sets by revision.
	all  []int
	same [][]int
	sets map[api.ReplicaSetID][]int
	// taints are what keeps pods off each node, left the nodes that are going away, ports what
	// the pods on a node take of it.
	taints   [][]corev1.Taint
	left     []bool
	cordoned []bool // during the run, as the watch has shown it
	leaving  []bool // the same, of a taint by who takes the node away, which no pod tolerates
	absent   []bool // it has not joined, as far as the watch has shown

	everMarked bool // any of them, in the API: before, news of nodes say nothing about it
	ports      []map[world.HostPort]int
	needs      map[api.ReplicaSetID]*needs
}

// NewScheduler starts the scheduler.
func NewScheduler(d *Desk) *Scheduler {
	s := &Scheduler{
		d: d, Owner: d.Engine.Register("scheduler"), pods: map[api.PodID]*api.Pod{}, assumed: map[api.PodID]int{},
		draws: d.Engine.Stream("scheduler", "bind"),
		all:   make([]int, len(d.Nodes)), same: make([][]int, len(d.Workloads)), left: make([]bool, len(d.Nodes)),
		sets: map[api.ReplicaSetID][]int{}, needs: map[api.ReplicaSetID]*needs{}, cordoned: make([]bool, len(d.Nodes)),
		leaving: make([]bool, len(d.Nodes)),
	}
	for n := range d.Nodes {
		s.absent = append(s.absent, d.Nodes[n].Joins)
		s.taints = append(s.taints, world.TaintsOf(d.Nodes[n].Object))
		s.ports = append(s.ports, map[world.HostPort]int{})
	}
	for i := range s.same {
		s.same[i] = make([]int, len(d.Nodes))
	}
	d.API.Subscribe("scheduler", s.Owner, d.Latencies.Watch, s.deliver, api.KindPod)
	nodes := d.API.Subscribe("scheduler of nodes", s.Owner, d.Latencies.Watch, s.deliverNode, api.KindNode)
	nodes.Wants = func(o api.Object) bool { // the taints of a node that leaves are known at once
		n, ok := o.(*api.Node)
		s.everMarked = s.everMarked || ok && (n.Cordoned || n.Disrupted || n.Joined) // the news after it matter, too, before it has arrived
		return ok && s.everMarked
	}
	return s
}

func (s *Scheduler) deliverNode(o api.Object) {
	n, ok := o.(*api.Node)
	if !ok {
		return
	}
	s.cordoned[n.Number], s.leaving[n.Number] = n.Cordoned, n.Tainted || n.Disrupted
	s.absent[n.Number] = s.absent[n.Number] && !n.Joined
	if !n.Cordoned && !s.leaving[n.Number] {
		s.retry()
	}
}

func (s *Scheduler) deliver(o api.Object) {
	p, ok := o.(*api.Pod)
	if !ok {
		return
	}
	known := s.pods[p.ID]
	if p.Gone || p.Phase.Terminal() {
		s.forget(p.ID)
		s.retry()
		return
	}
	s.Know(p)
	if known == nil && p.Node < 0 && !p.Deleting() {
		s.later(p.ID)
	}
}

// Know puts a version of a pod in the place of what was known of it.
func (s *Scheduler) Know(p *api.Pod) {
	if p.Node >= 0 {
		s.forget(p.ID)
		s.on(p, p.Node, 1)
	}
	s.pods[p.ID] = p
}

// forget drops a pod with all that is known of it.
func (s *Scheduler) forget(id api.PodID) {
	if p := s.pods[id]; p != nil {
		if node, assumed := s.assumed[id]; assumed {
			s.on(p, node, -1)
		} else if p.Node >= 0 {
			s.on(p, p.Node, -1)
		}
	}
	delete(s.pods, id)
	delete(s.assumed, id)
}

// assume has a pod count on a node from now on.
func (s *Scheduler) assume(p *api.Pod, node int) {
	s.assumed[p.ID] = node
	s.on(p, node, 1)
}

// on has a pod count on a node, more being 1, or no longer, more being -1.
func (s *Scheduler) on(p *api.Pod, node, more int) {
	id := setOf(p)
	if s.sets[id] == nil {
		s.sets[id] = make([]int, len(s.d.Nodes))
	}
	s.all[node] += more
	s.same[p.Workload][node] += more
	s.sets[id][node] += more
	for _, port := range s.needsOf(id).ports {
		if s.ports[node][port] += more; s.ports[node][port] == 0 {
			delete(s.ports[node], port)
		}
	}
}

// later schedules a pod after the scheduler's latency.
func (s *Scheduler) later(id api.PodID) {
	delay := s.d.Latencies.Schedule.Sample(s.draws.Draw(s.count))
	s.count++
	s.d.Engine.After(delay, engine.ClassTimer, s.Owner, "schedule", func() {
		s.d.API.Awake(s.Owner, func() { s.schedule(id) })
	})
}

// retry tries the pending pods again, since a pod has left.
func (s *Scheduler) retry() {
	pending := s.pending
	s.pending = nil
	for _, id := range pending {
		s.later(id)
	}
}

func (s *Scheduler) schedule(id api.PodID) {
	p := s.pods[id]
	if p == nil || p.Deleting() {
		return
	}
	node := s.choose(p)
	if node < 0 {
		s.pending = append(s.pending, id)
		return
	}
	s.assume(p, node)
	s.d.API.Write(s.Owner, "bind pod", api.PodKey(id), func(o api.Object) api.Object {
		cur, ok := o.(*api.Pod)
		if !ok || cur.Gone || cur.Deleting() {
			return nil
		}
		next := *cur
		next.Node = node
		return &next
	}, nil)
}

// choose returns the best node for a pod, -1 when none is allowed.
func (s *Scheduler) choose(p *api.Pod) int {
	all, same := s.all, s.same[p.Workload]
	best := -1
	for n := range s.d.Nodes {
		better := best < 0 || same[n] < same[best] || same[n] == same[best] && all[n] < all[best]
		if better && s.obstacle(n, p) == unobstructed {
			best = n
		}
	}
	return best
}

// Place chooses a node for a pod that runs already. Without one it is Pending, and waits.
func (s *Scheduler) Place(p *api.Pod) int {
	node := s.choose(p)
	if node < 0 {
		s.pending = append(s.pending, p.ID)
	}
	return node
}

// Pending lists the pods that wait for a node, in order of arrival.
func (s *Scheduler) Pending() []api.PodID { return s.pending }

// Assumed is the node that a pod was bound to, if the watch has not shown that yet.
func (s *Scheduler) Assumed(id api.PodID) (node int, ok bool) {
	node, ok = s.assumed[id]
	return node, ok
}

// setOf identifies the ReplicaSet that made a pod.
func setOf(p *api.Pod) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision}
}

// Leaves has no further pod bound to a node.
func (s *Scheduler) Leaves(node int) { s.left[node] = true }
