package sweep

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// begun is what was done to a workload and does not come to its end.
type begun struct{ workload, action string }

// unblock looks for changes that let the rollouts and drains go on that are stuck, the worst first, and adds them to the record. What
// lets a rollout go on has nothing to do with a drain: each is looked for by itself.
func (b *bench) unblock(units []*unit) error {
	list := b.blocked()
	for _, x := range list {
		s := &search{
			pool: b.pool, workload: x.workload, confirmed: b.confirmed, budget: searching / len(list), reruns: rerunning / len(list),
			confirms: confirming / len(list), mostNew: b.pool.opts.ConfirmRuns,
			otherwise: []otherwise{}, // whether a rollout ends does not depend on them
		}
		for _, u := range units {
			if u.record.Workload == x.workload && u.record.Action == x.action && u.judged() && isStuck(&u.record) {
				s.units = append(s.units, u)
			}
		}
		if len(s.units) == 0 {
			continue // its clients are not judged, and changes are only tried where they are
		}
		s.sampled()
		for k, u := range s.units {
			s.samples[k] = stuckFirst(&u.record)
		}
		var err error
		if s.elsewhere, err = b.hookFor(x.workload, units); err != nil {
			return err
		}
		if err := b.goOn(s); err != nil {
			return err
		}
	}
	return nil
}

// blocked lists what changes are looked for, the worst first, each once: of as many workloads as fixes are wanted for.
func (b *bench) blocked() []begun {
	var workloads []string
	var list []begun
	for _, c := range b.out.Worst() {
		if most := b.pool.opts.Fixes; !isStuck(c) || !slices.Contains(workloads, c.Workload) && most >= 0 && len(workloads) >= most {
			continue
		}
		workloads = distinct(workloads, c.Workload)
		list = distinct(list, begun{c.Workload, c.Action})
	}
	return list
}

// goOn adds to the record what lets the cases of a search go on, and what does not.
func (b *bench) goOn(s *search) error {
	found, noHelp := s.ways()
	for _, a := range found {
		a, err := s.gentler(a)
		if err != nil {
			return err
		}
		if a.sleeps() >= 0 {
			hook := b.hooks[s.workload]
			hook.upTo(&s.lates)
			b.hooks[s.workload] = hook
		}
		f, _ := s.confirm(a)
		if !endsWith(&f) || len(f.Cases) == 0 || f.Cases[0].Confirm.Runs == 0 {
			noHelp = append(noHelp, a.title())
			continue
		}
		f.Least, f.Longer = "", 0 // what never ends has no length
		b.out.Fixes = append(b.out.Fixes, f)
	}
	for _, title := range noHelp {
		b.out.NoHelp = distinct(b.out.NoHelp, record.NoHelp{Workload: s.workload, Title: title, Sudden: s.units[0].record.Sudden})
	}
	return nil
}

// isStuck says that a case is about a rollout or a drain that does not come to its end: none of a Scenario, which says what it is about,
// and none of nodes as such, which no change of a workload is for.
func isStuck(c *record.Case) bool {
	return c.Kind != kindScenario && c.Kind != scenario.KindNode && c.Verdict.Endless()
}

// stuckFirst are the runs of a case, those first that do not come to their end.
func stuckFirst(c *record.Case) []record.Run {
	runs := slices.Clone(c.Runs)
	rank := func(r *record.Run) int {
		if r.Stuck != nil {
			return 0
		}
		return 1
	}
	sorted.StableBy(runs, func(a, b record.Run) int { return rank(&a) - rank(&b) })
	return runs
}

// byChance is on how many runs a change has to let all come to their end where some do without it: each change gives other random numbers, and
// of a few runs all may end by those.
const byChance = 60

// ends says that with an attempt, which has been screened, all rollouts come to their end, and hardly by chance.
func (s *search) ends(a *attempt) bool {
	if !a.ran || a.stuck > 0 {
		return false
	}
	weight, chance := 0, false
	for _, u := range s.units {
		weight, chance = weight+u.weight(), chance || u.record.StuckRuns() < len(u.record.Runs)
	}
	if chance {
		s.screenOn([]*attempt{a}, sampleRuns, afford(s.budget, weight, sampleRuns, byChance))
	}
	return a.ran && a.stuck == 0
}

// ways are the smallest sets of changes with which all rollouts of the samples come to their end, and the titles of those that do
// not help by themselves.
func (s *search) ways() (found []*attempt, noHelp []string) {
	first := s.units[0].sc
	var singles []*attempt
	for _, c := range fix.Unblock(first, first.Workload(s.workload)) {
		singles = append(singles, &attempt{changes: []fix.Change{c}})
	}
	level := singles
	for size := 1; size <= together && len(found) == 0; size++ {
		if size > 1 {
			level = grow(level, singles)
		}
		s.screen(level)
		for _, a := range level {
			if len(found) < shownFixes && s.ends(a) {
				found = append(found, a)
			}
		}
	}
	for _, a := range singles {
		if a.ran && a.stuck > 0 && !slices.ContainsFunc(found, func(b *attempt) bool { return b.contains(a) }) {
			noHelp = append(noHelp, a.changes[0].Title)
		}
	}
	return found, noHelp
}

// gentler is an attempt with a preStop hook beside it, where its rollouts lose something and lose half of that or less with the
// hook; the attempt itself where not, and where the load balancer might be one of several: how long a hook has to be is another thing behind each,
// and what lets the rollout go on is the same.
func (s *search) gentler(a *attempt) (*attempt, error) {
	if a.lost == 0 || slices.ContainsFunc(s.units, func(u *unit) bool { return u.family != nil }) {
		return a, nil
	}
	s.lates = lates{}
	if err := s.measureOn(a.changes); err != nil {
		return nil, err
	}
	s.lates.upTo(&s.elsewhere)
	first := fix.Apply(s.units[0].sc, s.workload, a.changes)
	hook := fix.Shorter(first, first.Workload(s.workload), fix.Sleep(s.lates.any))
	if hook == nil {
		return a, nil
	}
	b := &attempt{changes: append(slices.Clone(a.changes), *hook)}
	s.screen([]*attempt{b})
	if b.ran && b.stuck == 0 && halved(a.lost, 1, b.lost, 1) {
		return b, nil
	}
	return a, nil
}
