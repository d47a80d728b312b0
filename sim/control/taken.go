package control

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/placement"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is to be known of those who take nodes away while they do.

// words are a duration for people: "2 min", "630 s".
func words(t engine.Time) string {
	if t >= engine.Minute && t%engine.Minute == 0 {
		return fmt.Sprintf("%d min", t/engine.Minute)
	}
	return t.Seconds() + " s"
}

// InVain counts the looks and requests that changed nothing.
func (c *Takers) InVain() uint64 { return c.inVain }

// Waiting says what somebody waits for who takes nodes away, "" for nobody.
func (c *Takers) Waiting() string {
	for _, t := range c.list {
		for _, e := range t.busy {
			name := c.d.Nodes[e.node].Name
			for _, l := range e.pods {
				if e.there(l) != nil && !e.over {
					return fmt.Sprintf("%s waits for %s on %s", t.of.Words, l.pod.Called(), name)
				}
			}
			return t.of.Words + " is at " + name
		}
		if t.workers > 0 {
			return t.of.Words + " waits for a node that joins"
		}
	}
	return ""
}

// Joining says whether a node is to join yet: pods that find none may find it.
func (c *Takers) Joining() bool {
	for _, t := range c.list {
		if t.workers > 0 && len(t.awaiting) > 0 {
			return true
		}
	}
	return false
}

// Blockades lists the nodes that somebody keeps, has given up or is refused for ever, in order.
func (c *Takers) Blockades() []Blockade {
	var out []Blockade
	for _, t := range c.list {
		out = append(out, t.kept...)
		for _, f := range t.fails {
			out = append(out, Blockade{Node: f.node, Budget: f.budget, Why: f.why, GivenUp: true, By: t.of.Words, Late: f.late})
		}
		for _, e := range t.busy {
			for _, l := range e.pods {
				if !l.over && l.refuse != nil && !l.refuse.Again && t.of.Limit == 0 && t.of.Asks == 0 {
					out = append(out, Blockade{Node: e.node, Pod: l.pod, Budget: l.refuse.Budget, Why: l.refuse.Why, By: t.of.Words})
				}
			}
		}
	}
	return out
}

// Awaited lists the pods that those without a limit wait for, which nobody refuses to evict.
func (c *Takers) Awaited() []Blockade {
	var out []Blockade
	for _, t := range c.list {
		for _, e := range t.busy {
			for _, l := range e.pods {
				if !l.besides && l.refuse == nil && t.of.Limit == 0 {
					out = append(out, Blockade{Node: e.node, Pod: l.pod, Budget: -1, By: t.of.Words})
				}
			}
		}
	}
	return out
}

// Gone has whoever empties a node be done with it: its machine went before its pods did.
func (c *Takers) Gone(node int) {
	for _, t := range c.list {
		for _, e := range slices.Clone(t.busy) {
			if e.node == node && !e.over {
				e.over = true
				e.end(true)
			}
		}
	}
}

// Overruled is a node whose pods somebody deletes in the end, although a budget refuses their evictions.
type Overruled struct {
	Node, Budget int         // Budget is -1 for one that an action has changed
	Pod          *api.Pod    // the first that was refused
	Why          string      // in words
	By           string      // who it is
	Limit        engine.Time // for how long it has asked
	Left         bool        // the pods have what is left of their own grace periods; else none
}

// Overruled lists them in order.
func (c *Takers) Overruled() []Overruled {
	var out []Overruled
	for _, t := range c.list {
		out = append(out, t.overrule...)
	}
	return out
}

// overrules notes that pods of a node are about to be deleted: once, for the first that a budget refuses.
func (e *emptying) overrules(limit engine.Time) {
	if slices.ContainsFunc(e.overrule, func(o Overruled) bool { return o.Node == e.node }) {
		return
	}
	for _, l := range e.pods {
		if l.refuse != nil && l.refuse.Budget >= 0 && e.there(l) != nil {
			e.overrule = append(e.overrule, Overruled{e.node, e.ofManifests(l.refuse.Budget), l.pod, l.refuse.Why, e.of.Words, limit, e.of.Early})
			return
		}
	}
}

// ofManifests is the number of a budget that is as the manifests have it, else -1.
func (e *emptying) ofManifests(budget int) int {
	if e.evict.budget(budget).Spec > 0 {
		return -1
	}
	return budget
}

// Kept is why a node is none that somebody takes away.
type Kept struct {
	Path string // of the field behind it, of the pod's workload; "" for none
	What string // would let it go, in words
}

// keeps says why a node is not taken away for a pod on it, nil where it is.
func (t *taking) keeps(node int) *Blockade {
	if t.of.Forced {
		return nil
	}
	for _, p := range t.d.Specs.PodsOn(node) {
		if !t.moves(p) || !t.d.moves(p) || p.Deleting() || p.Phase.Terminal() {
			continue
		}
		why, k, budget := t.keepsFor(&keeping{t.Takers, p})
		if why != "" {
			return &Blockade{Node: node, Pod: p, Budget: budget, Why: p.Called() + ": " + why, By: t.of.Words, Kept: k}
		}
	}
	return nil
}

// noPlace says why nodes are not taken away of which a pod fits on no other node, nil where they are: Cluster Autoscaler and Karpenter
// schedule the pods in thought before they touch a node (cluster-autoscaler/simulator/cluster.go findPlaceFor, NoPlaceToMovePods;
// kubernetes-sigs/karpenter pkg/controllers/disruption/helpers.go SimulateScheduling; verified).
func (t *taking) noPlace() *Blockade {
	if t.of.Forced || t.of.Component != world.AutoscalerComponent && t.of.Component != world.KarpenterComponent {
		return nil
	}
	var pods []*api.Pod
	var moves []placement.Move
	for _, node := range t.nodes {
		for _, p := range t.d.Specs.PodsOn(node) {
			if t.moves(p) && t.d.moves(p) && !p.Deleting() && !p.Phase.Terminal() {
				pods, moves = append(pods, p), append(moves, placement.Move{Kind: t.sched.kindOf(p), Node: node})
			}
		}
	}
	first, f := t.sched.nodes.NoPlace(moves, t.nodes, t.joins)
	if first < 0 {
		return nil
	}
	p := pods[first]
	what, field := "one node more", ""
	words := "there is no other node"
	if f.Nodes > 0 {
		r := relief{s: t.sched, k: moves[first].Kind, f: &f, d: &api.Workload{Workload: p.Workload, Replicas: int(world.ReplicasOf(t.d.Specs.ResourceOf(setOf(p))))}}
		what, field = r.find()
		words = f.Words
	}
	return &Blockade{
		Node: p.Node, Pod: p, Budget: -1, By: t.of.Words, Kept: &Kept{field, what},
		Why: fmt.Sprintf("%s fits on no other node%s: %s", p.Called(), t.of.NoPlace, words),
	}
}

func (t *taking) keepsFor(k *keeping) (why string, of *Kept, budget int) {
	switch t.of.Component {
	case world.AutoscalerComponent:
		return k.byAutoscaler()
	case world.KarpenterComponent:
		if t.eventual() {
			return "", nil, -1
		}
		return k.byKarpenter()
	case world.PoolAKS:
		return k.byAKS()
	default:
		return "", nil, -1
	}
}
