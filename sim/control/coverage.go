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
	if p.Labels != nil {
		return c.covering(c.d.Specs.ResourceOf(setOf(p)).GetNamespace(), p.Labels)
	}
	id := setOf(p)
	if known, ok := c.sets[id]; ok {
		return known
	}
	r := c.d.Specs.ResourceOf(id)
	c.sets[id] = c.covering(r.GetNamespace(), world.TemplateOf(r).Labels)
	return c.sets[id]
}

// covering lists the budgets of pods with some labels.
func (c *coverage) covering(namespace string, labels map[string]string) []int {
	var out []int
	for n := range c.d.Budgets {
		if c.d.Budgets[n].Covers(namespace, labels) {
			out = append(out, n)
		}
	}
	return out
}

// covers says whether a budget is one of a pod's.
func (c *coverage) covers(budget int, p *api.Pod) bool { return slices.Contains(c.of(p), budget) }
