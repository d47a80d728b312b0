package control

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// coverage finds the budgets of pods, by the labels of their templates.
type coverage struct {
	d    *Desk
	sets map[api.ReplicaSetID][]int
}

func newCoverage(d *Desk) coverage { return coverage{d: d, sets: map[api.ReplicaSetID][]int{}} }

// of lists, in order, the numbers of the budgets that cover a pod.
func (c *coverage) of(p *api.Pod) []int {
	id := setOf(p)
	if known, ok := c.sets[id]; ok {
		return known
	}
	r := c.d.Specs.ResourceOf(id)
	var out []int
	for n := range c.d.Budgets {
		if c.d.Budgets[n].Covers(r.GetNamespace(), world.TemplateOf(r).Labels) {
			out = append(out, n)
		}
	}
	c.sets[id] = out
	return out
}

// covers says whether a budget is one of a pod's.
func (c *coverage) covers(budget int, p *api.Pod) bool { return slices.Contains(c.of(p), budget) }
