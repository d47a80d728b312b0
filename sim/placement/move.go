package placement

// Move is a pod on a node that is about to go.
type Move struct {
	Kind *Kind
	Node int
}

// NoPlace looks whether each of some pods finds another node once those that they are on are marked, one after another, and moves none:
// the number of the first that does not, and what keeps it off the others; -1 where all do. Nodes that are to join are there by then.
func (c *Cluster) NoPlace(moves []Move, going, joining []int) (first int, why Failure) {
	defer c.as(going, joining)()
	for _, m := range moves {
		c.Count(m.Kind, m.Node, false, -1)
		defer c.Count(m.Kind, m.Node, false, 1)
	}
	for i, m := range moves {
		to := c.Choose(m.Kind, func(int) int { return 0 })
		if to < 0 {
			return i, c.besides(going, m.Kind)
		}
		c.Count(m.Kind, to, false, 1)
		defer c.Count(m.Kind, to, false, -1)
	}
	return -1, Failure{}
}

// as marks nodes and has others join, and returns what takes that back.
func (c *Cluster) as(going, joining []int) (back func()) {
	type before struct{ marked, absent bool }
	were := make([]before, len(c.nodes))
	for n := range c.nodes {
		were[n] = before{c.nodes[n].marked, c.nodes[n].absent}
	}
	for _, n := range going {
		c.Mark(n, true)
	}
	for _, n := range joining {
		c.Join(n)
	}
	return func() {
		for n := range were {
			c.nodes[n].marked, c.nodes[n].absent = were[n].marked, were[n].absent
		}
	}
}

// besides is what keeps a pod off all nodes but those that are going; of all, where it is these that keep it off the others.
func (c *Cluster) besides(going []int, k *Kind) Failure {
	for _, n := range going {
		c.nodes[n].absent = true
	}
	f, failed := c.Try(k).Failure()
	if failed {
		return f
	}
	for _, n := range going {
		c.nodes[n].absent = false
	}
	f, _ = c.Try(k).Failure()
	return f
}
