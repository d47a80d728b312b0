package report

import (
	"fmt"
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

// nowhere names the Services that lead to nothing: no case is about them, and whoever asks them gets no answer.
func (t *text) nowhere() {
	const most = 3
	if t.opts.Show != "" {
		return
	}
	for i, o := range t.sim.Nowhere {
		if i == most && len(t.sim.Nowhere) > most+1 && !t.opts.Verbose && !t.opts.All {
			t.Text("  ", fmt.Sprintf("%d more Services lead nowhere (-v).", len(t.sim.Nowhere)-most))
			return
		}
		t.Hanging("  ", 4, "Leads nowhere"+unlessLabelled(&o)+": "+t.nowhereWords(o)+".")
	}
}

// misspelled says before all else which fields are most likely others: all that follows is of an input without them, and no change of it is as
// near at hand as to spell them right.
func (t *text) misspelled() {
	const most = 4
	if len(t.sim.Misspelled) == 0 || t.opts.Show != "" {
		return
	}
	var list []string
	for i := range t.sim.Misspelled {
		m := &t.sim.Misspelled[i]
		if i == most && len(t.sim.Misspelled) > most+1 && !t.opts.Verbose && !t.opts.All {
			list = append(list, fmt.Sprintf("%d more", len(t.sim.Misspelled)-most))
			break
		}
		list = append(list, fmt.Sprintf("%s (%s) for %s", m.Field[strings.LastIndexByte(m.Field, '.')+1:], t.place(m.File, m.Line), m.Meant))
	}
	t.Text("MISSPELLED  ", "by the looks of it: "+strings.Join(list, ", ")+". kubectl apply refuses such fields, and the API server ignores them: spell them right first. What follows is of the manifest without them.")
	t.Blank()
}

// unlessLabelled says under which condition a Service leads somewhere after all.
func unlessLabelled(o *record.LeftOut) string {
	if o.SetLater == "" {
		return ""
	}
	return ", unless the app or an operator sets label " + o.SetLater + " while pods run (not simulated)"
}

// nowhereWords say which Service leads nowhere, why, and where that stands.
func (t *text) nowhereWords(o record.LeftOut) string {
	words := strings.TrimSpace(o.Kind + " " + o.Name)
	if o.SetLater == "" {
		words += ": " + o.Why
	}
	if where := t.place(o.File, o.Line); where != "" {
		words += " (" + where + ")"
	}
	return words
}

// nothingJudged is the headline of an input without any case: what stands in the way of one is said there.
func (t *text) nothingJudged() {
	const judged = "NOT JUDGED  "
	if len(t.sim.Nowhere) == 0 {
		t.Text(judged, "nothing to judge: the input has no workload behind a Service, and no Scenario")
		return
	}
	words, asks := count(len(t.sim.Nowhere), "Service leads", "Services lead")+" nowhere", "Who asks them gets no answer now, if what they are for is not elsewhere."
	if slices.ContainsFunc(t.sim.Nowhere, func(o record.LeftOut) bool { return o.SetLater != "" }) {
		words, asks = words+" unless pods are labelled while they run", "Who asks them gets no answer where that is not so, and what they are for is not elsewhere."
	}
	words += ", and no other has a workload behind it. " + asks
	t.Text(judged, "nothing to judge: "+words)
	t.nowhere()
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
	switch {
	case t.room.counted && len(out) > 0:
		return []string{"what is in front in " + count(len(out), "other case is", "other cases is") + " not simulated: others stand in (-v)"}
	case len(out) > most:
		out = append(out[:most], count(len(out)-most, "more is", "more are")+" not simulated (-v)")
	}
	return out
}
