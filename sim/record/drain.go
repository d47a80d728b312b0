package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// OfNodes says that a case is a drain of nodes as such, which nobody asks anything.
func (c *Case) OfNodes() bool { return c.Kind == scenario.KindNode }

// KeepDrain has a drain be blocked that pods keep from its end which are not simulated.
func (c *Case) KeepDrain() {
	on, node := c.Drain.KeptBy()
	if on == nil || c.Stuck != nil {
		return
	}
	c.Verdict, c.Reason, c.Bound = Blocked, "", 0
	c.Stuck = &Stuck{Workload: on.Name, Drain: true, Why: "kubectl drain of " + node.Name + " waits for ever: " + on.Words(), What: node.LetsGo()}
}

// NodeTime is how long it takes until a node is empty, in the runs in which it becomes empty; ok says that it does in any.
func (c *Case) NodeTime(node string) (took Range, runs int) {
	var list []int64
	for i := range c.Runs {
		for _, d := range c.Runs[i].Drained {
			if d.Node == node && d.Why == "" {
				list = append(list, int64(d.Ended-d.Began))
			}
		}
	}
	if len(list) == 0 {
		return Range{}, 0
	}
	return rangeOf(list), len(list)
}

// DrainTime is how long a drain takes from its first pod to its last, in the runs in which all of its nodes become empty.
func (c *Case) DrainTime() (took Range, runs int) {
	var list []int64
	for i := range c.Runs {
		all := c.Runs[i].Drained
		if c.Drain == nil || len(all) < len(c.Drain.Nodes) || slices.ContainsFunc(all, func(d Drained) bool { return d.Why != "" }) {
			continue
		}
		list = append(list, int64(all[len(all)-1].Ended-all[0].Began))
	}
	if len(list) == 0 {
		return Range{}, 0
	}
	return rangeOf(list), len(list)
}

// OverruledBy is the first budget that somebody overruled in any run, nil for none, and of how many nodes at most.
func (c *Case) OverruledBy() (first *Overruled, nodes int) {
	for i := range c.Runs {
		list := c.Runs[i].Overruled
		if len(list) > 0 && first == nil {
			first = &list[0]
		}
		nodes = max(nodes, len(list))
	}
	return first, nodes
}

// OverruledNodes are the nodes at which somebody overruled a budget in any run, each once as in the first of them, and in how many.
func (c *Case) OverruledNodes() (nodes []Overruled, runs []int) {
	for i := range c.Runs {
		for _, o := range c.Runs[i].Overruled {
			at := slices.IndexFunc(nodes, func(x Overruled) bool { return x.Node == o.Node })
			if at < 0 {
				at, nodes, runs = len(nodes), append(nodes, o), append(runs, 0)
			}
			runs[at]++
		}
	}
	return nodes, runs
}

// BlockedBy is what keeps a drain from its end in any run, each once, and in how many.
func (c *Case) BlockedBy() (what []Stuck, runs []int) {
	for i := range c.Runs {
		for _, s := range c.Runs[i].Blocked {
			at := slices.IndexFunc(what, func(x Stuck) bool {
				return x.Workload == s.Workload && x.Drain == s.Drain && x.File == s.File && x.Line == s.Line
			})
			if at < 0 {
				at, what, runs = len(what), append(what, s), append(runs, 0)
			}
			runs[at]++
		}
	}
	return what, runs
}
