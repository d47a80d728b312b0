package cluster

import "github.com/lameduck-proxy/lameduck/sim/engine"

// scheduler binds pods to nodes: as few pods of the same workload on a node as possible, then
// as few pods at all, then the first node. Required anti-affinity against the own workload
// keeps a pod pending until a node without one is there. It is simple, and honest about that:
// resources are taken to suffice.
type scheduler struct {
	w       *World
	owner   engine.Owner
	pods    map[PodID]*Pod
	assumed map[PodID]int // bound, but the watch has not shown it yet
	pending []PodID       // waiting for a node, in order of arrival
	draws   engine.Stream
	count   uint64
}

func newScheduler(w *World) *scheduler {
	s := &scheduler{
		w: w, owner: w.eng.Register("scheduler"), pods: map[PodID]*Pod{}, assumed: map[PodID]int{},
		draws: w.eng.Stream("scheduler", "bind"),
	}
	w.store.subscribe("scheduler", s.owner, w.sc.Latency.Watch, s.deliver, kindPod)
	return s
}

func (s *scheduler) deliver(o object) {
	p, ok := o.(*Pod)
	if !ok {
		return
	}
	known := s.pods[p.ID]
	if p.Gone || p.Phase.Terminal() {
		delete(s.pods, p.ID)
		delete(s.assumed, p.ID)
		s.retry()
		return
	}
	s.pods[p.ID] = p
	if p.Node >= 0 {
		delete(s.assumed, p.ID)
	}
	if known == nil && p.Node < 0 && !p.Deleting() {
		s.later(p.ID)
	}
}

// later schedules a pod after the scheduler's latency.
func (s *scheduler) later(id PodID) {
	delay := s.w.sc.Latency.Schedule.Sample(s.draws.Draw(s.count))
	s.count++
	s.w.eng.After(delay, engine.ClassTimer, s.owner, "schedule", func() { s.schedule(id) })
}

// retry tries the pending pods again, since a pod has left.
func (s *scheduler) retry() {
	pending := s.pending
	s.pending = nil
	for _, id := range pending {
		s.later(id)
	}
}

func (s *scheduler) schedule(id PodID) {
	p := s.pods[id]
	if p == nil || p.Deleting() {
		return
	}
	node := s.choose(p)
	if node < 0 {
		s.pending = append(s.pending, id)
		return
	}
	s.assumed[id] = node
	s.w.store.write(s.owner, "bind pod", key{kindPod, int(id), 0}, func(o object) object {
		cur, ok := o.(*Pod)
		if !ok || cur.Gone || cur.Deleting() {
			return nil
		}
		next := *cur
		next.Node = node
		return &next
	}, nil)
}

// choose returns the best node for a pod, -1 when none is allowed.
func (s *scheduler) choose(p *Pod) int {
	same := make([]int, len(s.w.sc.Nodes))
	all := make([]int, len(s.w.sc.Nodes))
	for _, other := range s.pods { // order: only counts
		node, ok := other.Node, other.Node >= 0
		if n, assumed := s.assumed[other.ID]; assumed {
			node, ok = n, true
		}
		if !ok || other.ID == p.ID {
			continue
		}
		all[node]++
		if other.Workload == p.Workload {
			same[node]++
		}
	}
	best := -1
	exclusive := s.w.sc.Workloads[p.Workload].OnePerNode()
	for n := range s.w.sc.Nodes {
		if exclusive && same[n] > 0 {
			continue
		}
		if best < 0 || same[n] < same[best] || same[n] == same[best] && all[n] < all[best] {
			best = n
		}
	}
	return best
}
