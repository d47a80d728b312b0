package placement

// Choose returns the node for a pod of a Kind, -1 where there is none. Where nothing of the input says what is better, pods of
// a group are spread, then all pods, then the first node is taken, or one that is drawn. Else the scheduler's scores decide, then the same, and among
// nodes that are equal in all of it a draw.
func (c *Cluster) Choose(k *Kind, draw func(n int) int) int {
	t := c.Try(k)
	if !t.scored() && !k.Drawn {
		return t.emptiest()
	}
	var nodes []int
	for n := range c.nodes {
		if t.Fits(n) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return -1
	}
	best := t.best(nodes)
	return best[draw(len(best))]
}

// emptiest is the node with the fewest pods of the group, then with the fewest at all, then the first.
func (t *Cycle) emptiest() int {
	best := -1
	for n := range t.c.nodes {
		if (best < 0 || t.emptier(n, best)) && t.Fits(n) {
			best = n
		}
	}
	return best
}

// emptier says whether a node has fewer pods than another.
func (t *Cycle) emptier(n, other int) bool {
	same := t.c.groups[t.k.Group]
	return same[n] < same[other] || same[n] == same[other] && t.c.nodes[n].pods < t.c.nodes[other].pods
}

// best are those of some nodes between which only chance decides.
func (t *Cycle) best(nodes []int) []int {
	scores := t.scores(nodes)
	var out []int
	most := int64(-1)
	for i, n := range nodes {
		switch {
		case scores[i] > most || scores[i] == most && t.emptier(n, out[0]):
			most, out = scores[i], append(out[:0], n)
		case scores[i] == most && !t.emptier(out[0], n):
			out = append(out, n)
		}
	}
	return out
}
