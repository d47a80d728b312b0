package control

import (
	corev1 "k8s.io/api/core/v1"

	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/placement"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Scheduler binds pods to nodes: which one is for package placement to say. While something keeps a pod off every node it stays
// Pending, and is tried again when a pod leaves, when a node is uncordoned, and when a pod that it wants to be near has come.
type Scheduler struct {
	d       *Desk
	Owner   engine.Owner
	pods    map[api.PodID]*api.Pod
	assumed map[api.PodID]int // bound, but the watch has not shown it yet
	pending []api.PodID       // waiting for a node, in order of arrival
	draws   engine.Stream
	count   uint64

	nodes *placement.Cluster
	kinds map[podKind]*placement.Kind

	everMarked bool // any of them is cordoned, about to go, not ready, or new, in the API: before, news of nodes say nothing about it
}

// podKind is what pods have in common that are alike to the scheduler.
type podKind struct {
	set    api.ReplicaSetID
	labels string // "" for those of the template
}

// NewScheduler starts the scheduler.
func NewScheduler(d *Desk) *Scheduler {
	s := &Scheduler{
		d: d, Owner: d.Engine.Register("scheduler"), pods: map[api.PodID]*api.Pod{}, assumed: map[api.PodID]int{},
		draws: d.Engine.Stream("scheduler", "bind"), nodes: placement.New(d.Nodes, d.Namespaces), kinds: map[podKind]*placement.Kind{},
	}
	d.API.Subscribe("scheduler", s.Owner, d.Latencies.Watch, s.deliver, api.KindPod)
	nodes := d.API.Subscribe("scheduler of nodes", s.Owner, d.Latencies.Watch, s.deliverNode, api.KindNode)
	nodes.Wants = func(o api.Object) bool { // the taints of a node that is scaled down are known at once
		n, ok := o.(*api.Node)
		marked := ok && (n.Cordoned || n.Disrupted || n.Joined || n.Barred != api.NoTaint || n.Drives != api.NoTaint || n.Gone && !n.Tainted)
		s.everMarked = s.everMarked || marked // the news after it matter, too, before it has arrived
		return ok && s.everMarked
	}
	return s
}

// KnowNode tells it of a node as it is at the beginning, where that keeps pods off it.
func (s *Scheduler) KnowNode(n *api.Node) {
	s.everMarked = true
	s.deliverNode(n)
}

func (s *Scheduler) deliverNode(o api.Object) {
	n, ok := o.(*api.Node)
	if !ok {
		return
	}
	leaving := n.Tainted || n.Disrupted // taints by who takes the node away, which no pod tolerates
	s.nodes.Cordon(n.Number, n.Cordoned)
	s.nodes.Mark(n.Number, leaving)
	if n.Joined {
		s.nodes.Join(n.Number)
	}
	if n.Gone {
		s.nodes.Leave(n.Number)
	}
	var taints []corev1.Taint
	if n.Barred != api.NoTaint {
		taints = append(taints, taintOf(n.Barred, corev1.TaintEffectNoSchedule))
	}
	if n.Drives != api.NoTaint {
		taints = append(taints, taintOf(n.Drives, corev1.TaintEffectNoExecute))
	}
	s.nodes.Bar(n.Number, taints)
	if !n.Cordoned && !leaving && taints == nil && !n.Gone {
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
	switch {
	case known == nil && p.Node < 0 && !p.Deleting():
		s.later(p.ID)
	case known != nil && !known.SameLabels(p):
		s.retry()
	case p.Node >= 0 && (known == nil || known.Node < 0):
		s.retryFew(func(k *placement.Kind) bool { return k.Waits() })
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
	s.nodes.Count(s.kindOf(p), node, p.Deleting(), more)
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

// retryFew tries those of the pending pods again that some news is good for.
func (s *Scheduler) retryFew(good func(*placement.Kind) bool) {
	s.pending = slices.DeleteFunc(s.pending, func(id api.PodID) bool {
		p := s.pods[id]
		again := p != nil && good(s.kindOf(p))
		if again {
			s.later(id)
		}
		return again
	})
}

func (s *Scheduler) schedule(id api.PodID) {
	p := s.pods[id]
	if p == nil || p.Deleting() {
		return
	}
	node := s.choose(p, s.chance(p))
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

// chance decides between nodes that are equal for a pod.
func (s *Scheduler) chance(p *api.Pod) func(n int) int {
	return func(n int) int { return engine.Below(s.d.Engine.Stream(p.Name, "node").Draw(0), n) }
}

// choose returns the best node for a pod, -1 when none is allowed.
func (s *Scheduler) choose(p *api.Pod, chance func(n int) int) int {
	if own := p.Only - 1; own >= 0 { // its node affinity names it
		if !s.nodes.Try(s.kindOf(p)).Fits(own) {
			return -1
		}
		return own
	}
	return s.nodes.Choose(s.kindOf(p), chance)
}

// Place chooses a node for a pod that runs already. Without one it is Pending, and waits. Of equal nodes one is as good as another for a
// volume that has always been with its pod: the first is taken.
func (s *Scheduler) Place(p *api.Pod) int {
	chance := s.chance(p)
	if s.kindOf(p).Drawn {
		chance = func(int) int { return 0 }
	}
	node := s.choose(p, chance)
	if node < 0 {
		s.pending = append(s.pending, p.ID)
	}
	return node
}

// Wait has a pod wait for a node that has found none so far, whatever kept it from one.
func (s *Scheduler) Wait(p *api.Pod) { s.pending = append(s.pending, p.ID) }

// Pending lists the pods that wait for a node, in order of arrival.
func (s *Scheduler) Pending() []api.PodID { return s.pending }

// Assumed is the node that a pod was bound to, if the watch has not shown that yet.
func (s *Scheduler) Assumed(id api.PodID) (node int, ok bool) {
	node, ok = s.assumed[id]
	return node, ok
}

// Leaves has no further pod bound to a node.
func (s *Scheduler) Leaves(node int) { s.nodes.Leave(node) }

// Elsewhere says whether a pod like one that is on a node would find room on another, were that one gone.
func (s *Scheduler) Elsewhere(p *api.Pod) bool {
	k := s.kindOf(p)
	s.nodes.Count(k, p.Node, p.Deleting(), -1)
	defer s.nodes.Count(k, p.Node, p.Deleting(), 1)
	try := s.nodes.Try(k)
	for n := range s.d.Nodes {
		if n != p.Node && try.Fits(n) {
			return true
		}
	}
	return false
}

// kindOf is what a pod is to the scheduler.
func (s *Scheduler) kindOf(p *api.Pod) *placement.Kind {
	key := podKind{set: setOf(p)}
	if p.Labels != nil {
		key.labels = labels.Set(p.Labels).String() + "," // never ""
	}
	if k := s.kinds[key]; k != nil {
		return k
	}
	of := s.d.Specs.ResourceOf(key.set)
	template, hash := world.TemplateOf(of), s.d.revisionLabel(key.set)
	own := template.Labels
	if p.Labels != nil {
		own = p.Labels
	}
	spec := template.Spec
	spec.Tolerations = world.TolerationsOf(of)
	k := s.nodes.Add(placement.Pods{
		Namespace: of.GetNamespace(), Labels: labels.Merge(own, hash), Spec: &spec, Group: p.Workload,
		Owner: labels.SelectorFromSet(hash), Drawn: len(s.d.Workloads[p.Workload].Exclusive()) > 0,
	})
	s.kinds[key] = k
	return k
}

// setOf identifies the ReplicaSet that made a pod.
func setOf(p *api.Pod) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision}
}
