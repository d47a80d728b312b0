package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// familySentence is the headline of a case of which nothing says which load balancer it is
// behind; "" for others.
func familySentence(c *check.Case) string {
	if len(c.Families) == 0 {
		return ""
	}
	tail := ", by load balancer."
	if c.Verdict != check.Depends {
		tail = ", whichever load balancer it is."
	}
	low, high := familyRange(c, func(f *check.Case) check.Range { return f.LongestOutage })
	if low >= engine.Second {
		return fmt.Sprintf(": %s without an answer %s%s", between(low, high), inRuns(c, c.WithLoss), tail)
	}
	low, high = familyRange(c, func(f *check.Case) check.Range { return f.LostSeconds })
	if high == 0 {
		return fmt.Sprintf(" lost nothing in %d of %s%s%s", len(c.Runs), many(c, len(c.Runs)), strings.TrimSuffix(tail, ".")+".", bound(c))
	}
	return fmt.Sprintf(" loses %s of traffic in a %s%s", between(low, high), one(c), tail)
}

// familyRange is the least and the greatest median over load balancers.
func familyRange(c *check.Case, of func(*check.Case) check.Range) (low, high engine.Time) {
	for i := range c.Families {
		m := engine.Time(of(&c.Families[i].Case).Median)
		if i == 0 {
			low = m
		}
		low, high = min(low, m), max(high, m)
	}
	return low, high
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

// families is the table of the load balancers that it might be.
func (t *text) families(c *check.Case) {
	rows := [][]string{{"LOAD BALANCER", "VERDICT", "TRAFFIC LOST", "IN RUNS", "WHAT HELPS THERE"}}
	var presets []string
	for i := range c.Families {
		f := &c.Families[i]
		helps := "-"
		switch {
		case f.Fix != nil:
			helps = fixInWords(f.Fix)
		case f.Case.WithLoss > 0 && len(fixesFor(t.sim, c.Workload))+len(noHelpFor(t.sim, c.Workload)) == 0 && confirmRuns(c) == 0:
			helps = "not looked for"
		case f.Case.WithLoss > 0:
			helps = "nothing that was tried"
		}
		rows = append(rows, []string{f.Name, t.styled(&f.Case, string(f.Case.Verdict)), spread(f.Case.LostSeconds), fmt.Sprintf("%d of %d", f.Case.WithLoss, len(f.Case.Runs)), helps})
		presets = append(presets, f.Preset)
	}
	if runs := confirmRuns(c); runs > 0 {
		rows[0][4] += fmt.Sprintf(", on %s new runs", thousands(int64(runs)))
	}
	t.Table(2, rows)
	slices.Sort(presets)
	t.Text("  ", fmt.Sprintf("Nothing in the input says which one it is. Say it: --lb %s (--list presets).", strings.Join(presets, ", ")))
	t.Blank()
}

// shownFamily is the load balancer that a case's own runs, figures and causes are of.
func shownFamily(c *check.Case) *check.Family {
	for i := range c.Families {
		f := &c.Families[i]
		if len(f.Case.Runs) > 0 && len(c.Runs) > 0 && f.Case.Runs[0].TraceHash == c.Runs[0].TraceHash && f.Case.RequestsLost == c.RequestsLost {
			return f
		}
	}
	return nil
}

// confirmRuns is how many new runs fixes of families were confirmed on.
func confirmRuns(c *check.Case) int {
	for i := range c.Families {
		if f := c.Families[i].Fix; f != nil && len(f.Cases) > 0 {
			return f.Cases[0].Confirm.Runs
		}
	}
	return 0
}

// fixInWords is a fix in a cell: what is left where something is.
func fixInWords(f *check.Fix) string {
	words := f.Title
	if len(f.Cases) > 0 && !f.Lossless() {
		words += ": " + span(engine.Time(f.Cases[0].After.Median)) + " left"
	}
	return words
}
