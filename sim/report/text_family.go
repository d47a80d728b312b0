package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// familySentence is the headline of a case of which nothing says which load balancer it is
// behind; "" for others.
func familySentence(c *record.Case, by scenario.Wording) string {
	if len(c.Families) == 0 || c.Verdict.Endless() { // what never ends does not with any of them
		return ""
	}
	if words := someOut(c); words != "" {
		return words
	}
	tail := func(low, high engine.Time, how string) string {
		switch {
		case c.Verdict == record.Depends:
			return ", by load balancer."
		case high > low:
			return "; how " + how + " depends on the load balancer."
		case c.StandsIn():
			return ", with each load balancer that stands in for this one."
		default:
			return ", whichever load balancer it is."
		}
	}
	low, high := familyRange(c, unanswered)
	if low >= engine.Second {
		low, high = asOne(c, unansweredIn(c), low, high)
		return fmt.Sprintf("%s: %s without an answer %s%s", throughOne(c), between(low, high), inRuns(c, c.WithLoss), tail(low, high, "long"))
	}
	low, high = familyRange(c, lostBehind)
	if most, runs := familyWorst(c); high == 0 && runs > 0 {
		return fmt.Sprintf(" loses up to %s of traffic%s %s%s", span(most), throughOne(c), inRuns(c, runs), tail(low, high, ""))
	}
	if high == 0 {
		return fmt.Sprintf(" lost nothing in %d of %s%s%s", len(c.Runs), many(c, len(c.Runs)), tail(low, high, ""), bound(c, by))
	}
	low, high = asOne(c, (*record.Run).LostSeconds, low, high)
	return fmt.Sprintf(" loses %s of traffic%s in %s%s", between(low, high), throughOne(c), article(one(c)), tail(low, high, "much"))
}

// someOut is the headline of a case that is an outage behind some load balancers and none behind others: from the one that loses least to the one
// with the longest time without an answer, for what is lost behind the others is no such time. "" for other cases.
func someOut(c *record.Case) string {
	var least, longest *record.Family
	out := 0
	for i := range c.Families {
		f := &c.Families[i]
		if f.Case.Verdict == record.Outage {
			out++
			if longest == nil || unanswered(&f.Case) > unanswered(&longest.Case) {
				longest = f
			}
		} else if least == nil || f.Case.LostSeconds.Median < least.Case.LostSeconds.Median {
			least = f
		}
	}
	if least == nil || longest == nil || unanswered(&longest.Case) < engine.Second {
		return ""
	}
	from := spanOr0(lostBehind(&least.Case)) + " of traffic lost"
	switch {
	case least.Case.WithLoss == 0:
		from = "nothing lost"
	case least.Case.LostSeconds.Median == 0:
		from = "up to " + span(engine.Time(least.Case.LostSeconds.Max)) + " of traffic lost"
	}
	return fmt.Sprintf("%s: from %s (%s) to %s without an answer (%s) in %s, by load balancer.", throughOne(c), from, least.Name, span(unanswered(&longest.Case)), longest.Name, article(one(c)))
}

// lostBehind is what the median run behind a load balancer loses.
func lostBehind(f *record.Case) engine.Time { return engine.Time(f.LostSeconds.Median) }

// asOne is the least and the greatest figure over load balancers, or twice the median of all their runs where these differ by no more than chance:
// two samples of one distribution have medians that are far apart where it has two tops, as with a client that repeats its SYN or gives up.
func asOne(c *record.Case, of func(*record.Run) engine.Time, low, high engine.Time) (from, to engine.Time) {
	var each [][]engine.Time
	var all []int64
	if low == high || c.Verdict == record.Depends {
		return low, high
	}
	for i := range c.Families {
		var runs []engine.Time
		for k := range c.Families[i].Case.Runs {
			x := of(&c.Families[i].Case.Runs[k])
			runs, all = append(runs, x), append(all, int64(x))
		}
		for _, other := range each {
			if len(runs) == 0 || len(other) == 0 || record.Differ(medianOf(other), medianOf(runs)) && record.Apart(other, runs) {
				return low, high
			}
		}
		each = append(each, runs)
	}
	if len(all) == 0 {
		return low, high
	}
	slices.Sort(all)
	m := engine.Time(all[(len(all)-1)/2])
	return m, m
}

// medianOf is the middle one of figures, in nanoseconds.
func medianOf(figures []engine.Time) int64 {
	all := slices.Clone(figures)
	slices.Sort(all)
	return int64(all[(len(all)-1)/2])
}

// unansweredIn says for how long nobody is answered in a run, as unanswered does of the median one.
func unansweredIn(c *record.Case) func(*record.Run) engine.Time {
	if !slices.ContainsFunc(c.Families, func(f record.Family) bool { return noPodFor(&f.Case) > 0 }) {
		return (*record.Run).LongestOutage
	}
	return func(r *record.Run) engine.Time { return max(r.WithoutPod(), r.LongestOutage()) }
}

// unanswered is for how long nobody is answered in the median run, where clients wait through the end of it, too.
func unanswered(c *record.Case) engine.Time {
	if c.LongestOutage.Median == 0 {
		return 0 // all of them do
	}
	return max(noPodFor(c), engine.Time(c.LongestOutage.Median))
}

// familyRange is the least and the greatest figure over load balancers.
func familyRange(c *record.Case, of func(*record.Case) engine.Time) (low, high engine.Time) {
	for i := range c.Families {
		m := of(&c.Families[i].Case)
		if i == 0 {
			low = m
		}
		low, high = min(low, m), max(high, m)
	}
	return low, high
}

// familyWorst is the most that a run behind one of the load balancers lost, and in how many runs behind one of them, at most, something was lost.
func familyWorst(c *record.Case) (most engine.Time, runs int) {
	for i := range c.Families {
		f := &c.Families[i].Case
		most, runs = max(most, engine.Time(f.LostSeconds.Max)), max(runs, f.WithLoss)
	}
	return most, runs
}

// between writes two durations: "13 s to 2.4 min", "up to 6 s".
func between(low, high engine.Time) string {
	if low == high {
		return span(low)
	}
	if low == 0 {
		return "up to " + span(high)
	}
	return span(low) + " to " + span(high)
}

// families is the table of the load balancers that it might be: those with which the same happens, and the same helps, have one
// row.
func (t *text) families(c *record.Case) {
	always := !slices.ContainsFunc(c.Families, func(f record.Family) bool { return f.Case.WithLoss < len(f.Case.Runs) })
	heading := []string{"LOAD BALANCER", "VERDICT", "TRAFFIC LOST", "IN RUNS", "WHAT HELPS THERE"}
	switch fewest, most := confirmRuns(c); {
	case most == 0:
	case fewest == most:
		heading[4] += " (" + count(most, "new run", "new runs") + ")"
	default:
		heading[4] += fmt.Sprintf(" (%s to %s new runs)", thousands(int64(fewest)), thousands(int64(most)))
	}
	rows := [][]string{heading}
	for i := range c.Families {
		f := &c.Families[i]
		row := []string{f.Name, t.styled(&f.Case, string(f.Case.Verdict)), spread(f.Case.LostSeconds), fmt.Sprintf("%d of %d", f.Case.WithLoss, len(f.Case.Runs)), t.helpsWith(c, f)}
		same := func(have []string) bool { return slices.Equal(have[1:], row[1:]) }
		if at := slices.IndexFunc(rows[1:], same); at >= 0 {
			rows[at+1][0] += "; " + f.Name
			continue
		}
		rows = append(rows, row)
	}
	if always { // the headline says it
		for i, row := range rows {
			rows[i] = slices.Delete(row, 3, 4)
		}
	}
	t.Table(2, rows)
	if slices.ContainsFunc(rows[1:], func(row []string) bool { return strings.Contains(row[2], "(") }) {
		t.Text("  ", ranges)
		t.legend = true
	}
	t.Blank()
}

// ranges says what a range is, below the first table that has one.
const ranges = "Median (lowest-highest of the runs)."

// helpsWith is what helps with a load balancer, in a cell.
func (t *text) helpsWith(c *record.Case, f *record.Family) string {
	switch _, most := confirmRuns(c); {
	case f.Case.Waits() && len(wayOut(t.sim, c)) > 0:
		title, _, _ := strings.Cut(wayOut(t.sim, c)[0].Title, " (")
		return title
	case f.Fix != nil:
		return fixInWords(f.Fix, c.ID, t.room.parts) + t.leftBeside(f.Fix, c)
	case f.Case.WithLoss == 0 && !f.Case.Waits():
		return "-"
	case len(fixesFor(t.sim, c.Workload))+len(noHelpFor(t.sim, c)) == 0 && most == 0:
		return "not looked for"
	default:
		return "nothing that was tried"
	}
}

// leftBeside says what a fix that leaves nothing of a case leaves of another one that it is for, where that is a second or more.
func (t *text) leftBeside(f *record.Fix, c *record.Case) string {
	var worst *record.FixedCase
	most := int64(engine.Second) - 1
	for i := range f.Cases {
		x := &f.Cases[i]
		left := max(x.After.Max, x.Confirm.LostSeconds.Max)
		if x.ID == c.ID && left > 0 {
			return "" // that is said
		}
		if left > most {
			worst, most = x, left
		}
	}
	if worst == nil || !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.ID == c.ID }) {
		return ""
	}
	of := t.caseOf(f, worst.ID)
	for i := range t.sim.Cases {
		if x := &t.sim.Cases[i]; x.ID == worst.ID && one(x) != one(c) && x.Workload == c.Workload {
			of = article(one(x))
		}
	}
	return ": up to " + span(engine.Time(most)) + " left in " + of
}

// presets are the names of the load balancers that it might be, as --lb takes them.
func presets(c *record.Case) string {
	var out []string
	for i := range c.Families {
		out = append(out, c.Families[i].Preset)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// shownFamily is the load balancer that a case's own runs, figures and causes are of.
func shownFamily(c *record.Case) *record.Family {
	for i := range c.Families {
		f := &c.Families[i]
		if len(f.Case.Runs) > 0 && len(c.Runs) > 0 && f.Case.Runs[0].TraceHash == c.Runs[0].TraceHash && f.Case.RequestsLost == c.RequestsLost {
			return f
		}
	}
	return nil
}

// confirmRuns is on how many new runs of the case the fixes of its families were confirmed, at least and at most.
func confirmRuns(c *record.Case) (fewest, most int) {
	for i := range c.Families {
		f := c.Families[i].Fix
		if f == nil {
			continue
		}
		for _, x := range f.Cases {
			if runs := x.Confirm.Runs; x.ID == c.ID && runs > 0 {
				if most == 0 || runs < fewest {
					fewest = runs
				}
				most = max(most, runs)
			}
		}
	}
	return fewest, most
}

// titleParts are the changes that the title of a fix lists, each with what it has in brackets.
func titleParts(title string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range title {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.HasPrefix(title[i:], ", "):
			parts, from = append(parts, title[from:i]), i+len(", ")
		}
	}
	return append(parts, title[from:])
}

// fixInWords is a fix in a cell, of which the rest is a number where it has more than most parts, without what it is instead of:
// what is left of a case where something is, and the most that was where that is another thing. A fix that says nothing of the case says it of all.
func fixInWords(f *record.Fix, id string, most int) string {
	var parts []string
	for _, part := range titleParts(f.Title) {
		part, was, _ := strings.Cut(part, " instead of ")
		if at := strings.Index(was, " (in "); at >= 0 { // in other containers, too
			part += was[at:]
		}
		parts = append(parts, strings.Replace(part, "terminationGracePeriodSeconds: ", "grace period ", 1))
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d more", len(parts)-most))
		if most == 1 {
			parts[0] = strings.Replace(parts[0], " with a PodDisruptionBudget (maxUnavailable: 1)", " with a budget", 1)
		}
	}
	words := strings.Join(parts, ", ")
	var median, highest int64
	tail := false // what it helps is the runs that lose most
	own := slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.ID == id })
	for i := range f.Cases {
		x := &f.Cases[i]
		if own && x.ID != id {
			continue // another line says it
		}
		median, highest, tail = max(median, x.After.Median), max(highest, x.After.Max, x.Confirm.LostSeconds.Max), tail || asMuch(x)
	}
	switch {
	case tail:
		return words + ": up to " + span(engine.Time(highest)) + " left"
	case median > 0 && highest >= int64(engine.Second) && highest > 2*median:
		return words + ": " + span(engine.Time(median)) + " left, up to " + span(engine.Time(highest))
	case median > 0:
		return words + ": " + span(engine.Time(median)) + " left"
	case highest > 0:
		return words + ": up to " + span(engine.Time(highest)) + " left"
	default:
		return words
	}
}
