package report

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// besideHolds are the other cases that hold beside one that is told and holds, or hardly ever loses anything: what the head says of another
// value has to be true of them, too.
func (t *text) besideHolds(c *record.Case) []*record.Case {
	if c.Verdict != record.Holds && c.Verdict != record.Rare || t.opts.Show != "" || c.Kind == "Scenario" {
		return nil
	}
	worst, _ := drains(t.sim.Worst())
	return slices.DeleteFunc(worst, func(x *record.Case) bool { return x.ID == c.ID || x.Verdict != record.Holds || x.Kind == "Scenario" })
}

// outages are the other values with which a case that holds is an outage.
func outages(c *record.Case) (out []*record.Alternative) {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; c.Verdict == record.Holds && a.Effect == record.VerdictEffect && a.Verdict == record.Outage && likely(c, a) {
			out = append(out, a)
		}
	}
	return out
}

// outagesBeside says which of the other cases that hold are an outage with another value of what they assume: who reads that one holds, and
// that there is nothing to do, has to know.
func (t *text) outagesBeside(c *record.Case) []string {
	others := t.besideHolds(c)
	alone := !slices.ContainsFunc(others, func(x *record.Case) bool { return x.Workload != c.Workload })
	var words []string
	of := map[string][]*record.Case{}
	for _, x := range others {
		for _, a := range outages(x) {
			w := effectWords(x, a) + ", if " + condition(x, a)
			if settle := settleOf(x, a.ID); settle != "" {
				w += " (" + t.way(settle) + ")"
			}
			words, of[w] = distinct(words, w), append(of[w], x)
		}
	}
	const most = 2
	var out []string
	for i, w := range words {
		if i == most {
			out = append(out, count(len(words)-i, "more outage", "more outages")+" of cases that hold as assumed ("+t.option("all", "")+")")
			break
		}
		name := count(len(of[w]), "case that holds", "cases that hold")
		if len(of[w]) <= fewCases {
			name = t.names(of[w], alone)
		}
		out = append(out, name+": "+w)
	}
	return out
}

// settleOf is what says an assumption of a case.
func settleOf(c *record.Case, id string) string {
	for i := range c.Assumptions {
		if c.Assumptions[i].ID == id {
			return c.Assumptions[i].Settle
		}
	}
	return ""
}

// assumedWith are the cases whose assumptions are listed: those that are shown, and beside one that holds the others of its workload that do.
func (t *text) assumedWith(shown []*record.Case) []*record.Case {
	out := slices.Clone(shown)
	for _, c := range shown {
		for _, x := range t.besideHolds(c) {
			if x.Workload == c.Workload && c.Verdict == record.Holds {
				out = append(out, x)
			}
		}
	}
	return out
}

// ofWhich names the case of another value where several are listed together and it is not that of the first, "" elsewhere.
func (t *text) ofWhich(a *Alternative, told *record.Case) string {
	if told.Verdict != record.Holds || a.Case == told.ID {
		return ""
	}
	for i := range t.sim.Cases {
		if x := &t.sim.Cases[i]; x.ID == a.Case && one(x) != one(told) {
			return one(x) + ": "
		} else if x.ID == a.Case {
			return happening(x) + t.whose(x) + ": "
		}
	}
	return ""
}
