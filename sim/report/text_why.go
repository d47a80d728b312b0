package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// listedCauses is how many causes a text lists that is not verbose.
const listedCauses = 5

// why writes the causes of a case with their shares and what in the manifests is behind them,
// and what each client lost.
func (t *text) why(c *check.Case) {
	if len(c.Causes) == 0 {
		return
	}
	failed := c.Totals().Failed
	t.line("WHY, %s (share of lost requests, all runs)", c.Action)
	var rows [][]string
	for i := range c.Causes {
		x := &c.Causes[i]
		if i == listedCauses && !t.opts.Verbose {
			rows = append(rows, []string{"", count(len(c.Causes)-listedCauses, "more cause (-v)", "more causes (-v)")})
			break
		}
		rows = append(rows, []string{fmt.Sprintf("  %5s", share(x.Count, failed)), elsewhereWords(x.Elsewhere), x.Cause.String(), lateWords(x), culpritWords(x)})
	}
	t.columns(rows)
	if len(c.Clients) > 1 {
		rows = nil
		for i, client := range c.Clients {
			lost, longest, _ := c.Client(i)
			rows = append(rows, []string{"  " + client.Name, rateWords(client.Rate), "lost " + spread(lost), "nothing answered " + spread(longest)})
		}
		t.line("BY CLIENT")
		t.columns(rows)
	}
	if u := c.Usable; u.Of > 0 && u.Min < u.Of {
		t.line("FEWEST USABLE PODS  %d of %d, for %s in the worst run", u.Min, u.Of, span(u.For))
	}
	if n := unsettled(c); n > 0 {
		t.line("%s had not come to rest at the end%s", count(n, "run", "runs"), unrestWords(c))
	}
	t.line("")
}

// unrestWords is what the first of these runs was waiting for.
func unrestWords(c *check.Case) string {
	for i := range c.Runs {
		if u := c.Runs[i].Unrest; u != "" {
			return ": " + u
		}
	}
	return ""
}

// culpritWords is "no preStop, web.yaml:17".
func culpritWords(x *check.Cause) string {
	words := x.Culprit.Event
	if x.Culprit.File != "" {
		words += fmt.Sprintf(", %s:%d", x.Culprit.File, x.Culprit.Line)
	}
	return words
}

// example tells how one lost request came about.
func (t *text) example(c *check.Case) {
	x := lostRequest(c)
	if x == nil {
		return
	}
	t.line("ONE LOST REQUEST, seed %d, %s, %s at %s s", x.Seed, x.Client, x.Outcome, moment(x.End))
	var rows [][]string
	for _, l := range x.Story {
		row := []string{"  " + moment(l.At), l.Event}
		if l.Source != nil {
			row = append(row, fmt.Sprintf("%s:%d", l.Source.File, l.Source.Line))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		where := "at the rules of " + cmp.Or(x.Node, "a node")
		if x.Pod != "" {
			where = cmp.Or(x.Node, "a node") + " -> pod " + x.Pod
		}
		rows = append(rows, []string{"  " + moment(x.At), "arrives; " + where})
	}
	t.columns(rows)
	tries := ""
	if x.Attempts > 1 {
		tries = fmt.Sprintf(", after %d attempts", x.Attempts)
	}
	t.line("  %s%s: %s; %s", x.Cause, tries, causeWords(x.Cause), elsewhereWords(x.Elsewhere))
	t.line("")
}

// fixes writes what was tried against the losses of the shown workloads.
func (t *text) fixes(shown []*check.Case) {
	var workloads []string
	for _, c := range shown {
		workloads = distinct(workloads, c.Workload)
	}
	for _, w := range workloads {
		t.fixesOf(w)
	}
}

func distinct(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

func (t *text) fixesOf(workload string) {
	var noHelp []string
	for _, n := range t.sim.NoHelp {
		if n.Workload == workload {
			noHelp = append(noHelp, n.Title)
		}
	}
	number := 0
	var bound check.Fraction
	for i := range t.sim.Fixes {
		f := &t.sim.Fixes[i]
		if f.Workload != workload {
			continue
		}
		if number++; number == 1 {
			t.line("WHAT HELPS  (same %s, then %d new ones)", count(t.sim.Runs, "seed", "seeds"), f.Cases[0].Confirm.Runs)
		}
		t.fix(number, f)
		if f.Lossless() {
			bound = check.LossBound(f.Cases[0].Confirm.Runs)
		}
	}
	if bound > 0 {
		t.line("  Nothing lost in the new runs: with 95 %% confidence at most %s of such rollouts lose anything. Not a proof.", percent(bound))
	}
	for i, title := range noHelp {
		if i == 0 {
			t.line("  No help: %s", title)
			continue
		}
		t.line("           %s", title)
	}
	if number > 0 || len(noHelp) > 0 {
		t.line("")
	}
}

func (t *text) fix(number int, f *check.Fix) {
	t.line("  %d  %s", number, f.Title)
	var rows [][]string
	for _, c := range f.Cases {
		left := ""
		if len(c.Confirm.Left) > 0 {
			left = ": " + strings.Join(c.Confirm.Left, ", ")
		}
		rows = append(rows, []string{
			"     " + c.ID, span(engine.Time(c.Before.Median)) + " -> " + span(engine.Time(c.After.Median)),
			fmt.Sprintf("loses something in %d of %d, and in %d of %d new runs", c.WithLoss, c.Runs, c.Confirm.WithLoss, c.Confirm.Runs) + left,
		})
	}
	t.columns(rows)
	words := count(len(f.Edits), "field", "fields")
	last := ""
	for _, e := range f.Edits {
		if e.File != last {
			words += ", " + e.File
		}
		words, last = fmt.Sprintf("%s:%d", words, e.Line), e.File
	}
	if f.Cost != "" {
		words += "; " + f.Cost
	}
	if f.Longer >= engine.Second/2 {
		words += "; a roll-out takes " + span(f.Longer) + " longer"
	}
	t.line("     %s", words)
	t.editWith(f)
	if f.Margin > 0 {
		t.line("     margin %s to the latest removal seen", span(f.Margin))
	}
	if f.Destructive != "" {
		t.line("     careful: %s", f.Destructive)
	}
}

// editWith says how to change what is no file.
func (t *text) editWith(f *check.Fix) {
	if t.opts.EditWith == nil {
		return
	}
	var commands []string
	for _, e := range f.Edits {
		if c := t.opts.EditWith(e.File); c != "" {
			commands = distinct(commands, c)
		}
	}
	for _, c := range commands {
		t.line("     with: %s", c)
	}
}
