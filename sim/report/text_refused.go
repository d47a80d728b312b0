package report

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// refused says before all else which objects of the input are no part of what follows, since the API server refuses them.
func (t *text) refused() {
	const most = 3
	for i, o := range t.sim.LeftOut {
		if i == most && !t.opts.Verbose && !t.opts.All {
			t.Text("", "Left out, too: "+count(len(t.sim.LeftOut)-i, "object", "objects")+" more (-v).")
			break
		}
		words := strings.TrimSpace(o.Kind+" "+o.Name) + ": " + o.Why
		if where := t.place(o.File, o.Line); where != "" {
			words += " (" + where + ")"
		}
		t.Hanging("Left out: ", len("Left out: "), words+".")
	}
	if len(t.sim.LeftOut) > 0 {
		t.Text("", "What follows is without.")
		t.Blank()
	}
}

// standIns says which load balancers and proxies of the input stand in for others, in cases that are not told in full: their figures stand on
// the page, too.
func (t *text) standIns(c *record.Case) []string {
	if t.opts.Show != "" {
		return nil
	}
	said := leftOut(c)
	var out []string
	for i := range t.sim.Cases {
		x := &t.sim.Cases[i]
		for _, n := range x.NotModelled {
			if n.ID == record.StandIn && x.ID != c.ID && x.Verdict != record.NotJudged && !slices.Contains(said, n.What) {
				said = append(said, n.What)
				out = append(out, "of "+x.Workload+": "+n.What)
			}
		}
	}
	const most = 2
	if len(out) > most {
		out = append(out[:most], count(len(out)-most, "more is", "more are")+" not simulated (-v)")
	}
	return out
}
