package sweep

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

const (
	// confirmRuns is how many new seeds confirm a fix (simulator.md 3); newSeeds is how far away
	// they are.
	confirmRuns = 200
	newSeeds    = 1_000_000
	// shownFixes is how many are looked for and confirmed; together is how many changes one may
	// be made of.
	shownFixes = 2
	together   = 3
)

// fixes looks for changes to the manifests of the workloads that lose most.
func fixes(p *pool, units []*unit, out *check.Simulation) error {
	var workloads []string
	for _, c := range out.Worst() {
		if loses(c) && !slices.Contains(workloads, c.Workload) && (p.opts.Fixes < 0 || len(workloads) < p.opts.Fixes) {
			workloads = append(workloads, c.Workload)
		}
	}
	for _, name := range workloads {
		s := search{pool: p, workload: name}
		for _, u := range units {
			if u.record.Workload == name && u.judged() && loses(&u.record) {
				s.cases, s.records = append(s.cases, u), append(s.records, &u.record)
			}
		}
		if err := s.run(out); err != nil {
			return err
		}
	}
	return nil
}

// loses says that a case is worth fixing. What a Scenario does to its world is its own affair.
func loses(c *check.Case) bool {
	if c.Kind == kindScenario {
		return false
	}
	return slices.ContainsFunc(c.Runs, func(r check.Run) bool { return fixable(&r) > 0 })
}

// fixable counts the lost requests that a manifest may have to do with: not those that raced
// with the closing of an idle connection, which happens to any pod that ends.
func fixable(r *check.Run) uint64 {
	var lost uint64
	for i := range r.Groups {
		if r.Groups[i].Blame.Cause != ledger.KeepaliveRace {
			lost += r.Groups[i].Count
		}
	}
	return lost
}

// search is the search for fixes of one workload, over all of its cases that lose something.
type search struct {
	pool     *pool
	workload string
	cases    []*unit
	records  []*check.Case
	late     engine.Time   // the latest removal seen
	before   uint64        // requests lost on the samples
	samples  [][]check.Run // by case: the runs that attempts are compared with
}

// attempt is some changes together, and what is left of the loss on the samples.
type attempt struct {
	changes []fix.Change
	lost    uint64
	ran     bool
}

func (s *search) run(out *check.Simulation) error {
	sc := s.cases[0].sc
	w := sc.Workload(s.workload)
	if w == nil {
		return nil
	}
	if err := s.lateness(); err != nil {
		return err
	}
	for _, c := range s.records {
		s.samples = append(s.samples, sample(c))
		for i := range s.samples[len(s.samples)-1] {
			s.before += fixable(&s.samples[len(s.samples)-1][i])
		}
	}
	var singles []*attempt
	for _, c := range fix.Changes(sc, w, s.late) {
		if s.concerns(&c) {
			singles = append(singles, &attempt{changes: []fix.Change{c}})
		}
	}
	s.screen(singles)
	best := s.best(singles)
	for _, a := range best {
		if s.helps(a) {
			out.Fixes = append(out.Fixes, s.confirm(a))
		}
	}
	for _, a := range singles {
		used := slices.ContainsFunc(best, func(b *attempt) bool { return b.contains(a) && s.helps(b) })
		if a.ran && !used && !s.helps(a) {
			out.NoHelp = append(out.NoHelp, check.NoHelp{Workload: s.workload, Title: a.changes[0].Title})
		}
	}
	return nil
}

// concerns says whether a change can have to do with what was lost: a startup probe only with
// restarts by probes.
func (s *search) concerns(c *fix.Change) bool {
	if c.ID != "startupProbe" {
		return true
	}
	return slices.ContainsFunc(s.records, func(r *check.Case) bool {
		return slices.ContainsFunc(r.Causes, func(x check.Cause) bool { return x.Cause == ledger.LivenessRestart })
	})
}

// helps says that an attempt saves at least a tenth of what is lost.
func (s *search) helps(a *attempt) bool { return a.ran && 10*a.lost <= 9*s.before }

// lateness finds how late removals are, on the first seeds of the first case.
func (s *search) lateness() error {
	c := s.records[0]
	patient := fix.Patient(s.cases[0].sc, s.workload)
	late := make([]engine.Time, min(pairedSeeds, len(c.Runs)))
	faults := make([]error, len(late))
	s.pool.each("looking for fixes", len(late), func(i int) {
		recorder := &story.Recorder{}
		_, faults[i] = sim.RunWith(patient, c.Runs[i].Seed, sim.Options{Journal: recorder})
		late[i] = fix.Lateness(recorder.Events())
	})
	s.late = slices.Max(late)
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// sample picks the runs of a case that attempts are tried on: those that lost most.
func sample(c *check.Case) []check.Run {
	runs := slices.Clone(c.Runs)
	slices.SortStableFunc(runs, func(a, b check.Run) int { return cmp.Compare(fixable(&b), fixable(&a)) })
	return runs[:min(pairedSeeds, len(runs))]
}

// screen tries attempts on the samples.
func (s *search) screen(attempts []*attempt) {
	var jobs []job
	for i, a := range attempts {
		for k, c := range s.cases {
			changed := fix.Apply(c.sc, s.workload, a.changes)
			for _, r := range s.samples[k] {
				jobs = append(jobs, job{i, changed, r.Seed, true})
			}
		}
		a.ran = true
	}
	for i, r := range s.pool.runs("looking for fixes", jobs) {
		a := attempts[jobs[i].index]
		if r.run == nil {
			a.ran = false
			continue
		}
		a.lost += fixable(r.run)
	}
}

// nearly is the part of the loss that a set of changes may leave to count as the end of it: single
// requests that race with something no manifest changes.
const nearly = 50

// best picks the smallest sets of changes that leave nearly nothing lost on the samples,
// or, when there is none, the one that loses least: of those close to it, the smallest.
func (s *search) best(singles []*attempt) []*attempt {
	var found []*attempt
	all := slices.Clone(singles)
	level := singles
	for size := 1; size <= together && len(level) > 0 && len(found) == 0; size++ {
		if size > 1 {
			level = grow(level, singles)
			s.screen(level)
			all = append(all, level...)
		}
		for _, a := range level {
			if a.ran && a.lost*nearly <= s.before && len(found) < shownFixes {
				found = append(found, a)
			}
		}
	}
	all = slices.DeleteFunc(all, func(a *attempt) bool { return !a.ran })
	if len(found) > 0 || len(all) == 0 {
		return found
	}
	least := slices.MinFunc(all, func(a, b *attempt) int { return cmp.Compare(a.lost, b.lost) }).lost
	for _, a := range all { // the smaller sets come first
		if a.lost <= least+s.before/20 {
			return []*attempt{a}
		}
	}
	return nil
}

// grow adds one more change to each attempt of a level, each set once.
func grow(level, singles []*attempt) []*attempt {
	var out []*attempt
	for _, a := range level {
		last := a.changes[len(a.changes)-1].ID
		after := slices.IndexFunc(singles, func(s *attempt) bool { return s.changes[0].ID == last }) + 1
		for _, s := range singles[after:] {
			out = append(out, &attempt{changes: append(slices.Clone(a.changes), s.changes...)})
		}
	}
	return out
}

func (a *attempt) contains(other *attempt) bool {
	for i := range other.changes {
		if !slices.ContainsFunc(a.changes, func(c fix.Change) bool { return c.ID == other.changes[i].ID }) {
			return false
		}
	}
	return true
}

// confirm runs an attempt on all seeds of each case and on seeds that nobody has seen.
func (s *search) confirm(a *attempt) check.Fix {
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
			f.Margin = c.Sleep - s.late
		}
	}
	f.Destructive = strings.Join(reasons, "; ")
	f.Title, f.Cost = strings.Join(titles, ", "), strings.Join(costs, "; ")
	var longer []int64
	for k, c := range s.cases {
		r := s.records[k]
		changed := fix.Apply(c.sc, s.workload, a.changes)
		var own, fresh []job
		for i := range r.Runs {
			own = append(own, job{0, changed, r.Runs[i].Seed, true})
		}
		for i := range uint64(s.pool.opts.ConfirmRuns) {
			fresh = append(fresh, job{0, changed, s.pool.opts.Seed + newSeeds + i, true})
		}
		after, confirmed := s.rerun(own), s.rerun(fresh)
		f.Cases = append(f.Cases, check.FixedCase{
			ID: r.ID, Before: r.LostSeconds, After: after.LostSeconds, WithLoss: after.WithLoss, Runs: len(after.Runs),
			Confirm: check.Confirm{Runs: len(confirmed.Runs), WithLoss: confirmed.WithLoss, LostSeconds: confirmed.LostSeconds, Left: left(&confirmed)},
		})
		for i := range after.Runs {
			longer = append(longer, int64(after.Runs[i].End-r.Runs[i].End))
		}
	}
	if slices.Sort(longer); len(longer) > 0 {
		f.Longer = engine.Time(longer[(len(longer)-1)/2])
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
	var c check.Case
	for _, r := range s.pool.runs("confirming fixes", jobs) {
		if r.run != nil {
			c.Runs = append(c.Runs, *r.run)
		}
	}
	c.Close()
	return c
}
