package sweep

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
)

// confirm runs an attempt on the seeds of each case and on seeds that nobody has seen, and says whether it helps on these, too.
func (s *search) confirm(a *attempt) (f check.Fix, helps bool) {
	f = s.describe(a)
	var longer []int64
	var before, after, runs, newRuns uint64
	for _, u := range s.units {
		changed := fix.Apply(u.sc, s.workload, a.changes)
		confirm := s.pool.opts.ConfirmRuns
		ownRuns := u.record.Runs[:min(len(u.record.Runs), afford(s.budget, u.weight(), lightRuns, confirm))]
		if s.light {
			ownRuns, confirm = ownRuns[:min(lightRuns, len(ownRuns))], min(lightRuns, confirm)
		}
		var own, fresh []job
		for i := range ownRuns {
			own = append(own, job{0, changed, ownRuns[i].Seed, true})
			before, runs = before+fixable(&ownRuns[i]), runs+1
		}
		for i := range uint64(confirm) {
			fresh = append(fresh, job{0, changed, s.pool.opts.Seed + newSeeds + i, true})
		}
		was := closed(ownRuns)
		now, confirmed := s.rerun(own), s.rerun(fresh)
		for i := range confirmed.Runs {
			after, newRuns = after+fixable(&confirmed.Runs[i]), newRuns+1
		}
		f.Cases = append(f.Cases, check.FixedCase{
			ID: u.record.ID, Before: was.LostSeconds, After: now.LostSeconds, WithLoss: now.WithLoss, Runs: len(now.Runs),
			Confirm: check.Confirm{Runs: len(confirmed.Runs), WithLoss: confirmed.WithLoss, LostSeconds: confirmed.LostSeconds, Left: left(&confirmed)},
		})
		for i := range now.Runs {
			longer = append(longer, int64(now.Runs[i].End-ownRuns[i].End))
		}
	}
	if slices.Sort(longer); len(longer) > 0 {
		f.Longer = engine.Time(longer[(len(longer)-1)/2])
	}
	return f, halved(before, runs, after, newRuns)
}

// halved says that so many runs after a change lose half of what others did before it, or less, each.
func halved(before, runs, after, newRuns uint64) bool {
	return newRuns > 0 && 2*after*runs <= before*newRuns
}

// describe puts the words of an attempt's changes together.
func (s *search) describe(a *attempt) check.Fix {
	f := check.Fix{Workload: s.workload}
	var titles, costs, reasons []string
	for i := range a.changes {
		c := &a.changes[i]
		titles = append(titles, c.Title)
		f.Edits = append(f.Edits, c.Edits...)
		if c.Cost != "" {
			costs = append(costs, c.Cost)
		}
		if c.Destructive != "" {
			reasons = append(reasons, c.Destructive)
		}
		if c.Sleep > 0 {
			f.Margin = c.Sleep - s.lates.assumed
		}
	}
	f.Destructive = strings.Join(reasons, "; ")
	f.Title, f.Cost = strings.Join(titles, ", "), strings.Join(costs, "; ")
	if !s.light {
		f.Least = s.least(a)
	}
	return f
}

// left names the causes of a case.
func left(c *check.Case) []string {
	var out []string
	for i := range c.Causes {
		if word := c.Causes[i].Cause.String(); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

func (s *search) rerun(jobs []job) check.Case {
	var runs []check.Run
	for _, r := range s.pool.runs("confirming fixes", jobs) {
		if r.run != nil {
			runs = append(runs, *r.run)
		}
	}
	return closed(runs)
}

// closed are the figures of some runs.
func closed(runs []check.Run) check.Case {
	c := check.Case{Runs: runs}
	c.Close()
	return c
}
