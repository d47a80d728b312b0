package sweep

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// confirm runs an attempt on the seeds of each case and on seeds that nobody has seen, and says whether it helps on these, too.
func (s *search) confirm(a *attempt) (f record.Fix, helps bool) {
	ordered, alone := s.firstOf(a)
	f = s.describe(ordered)
	var longer []int64
	var all []saving
	var before, after, runs, newRuns uint64
	saved := engine.Time(0)
	for _, u := range s.units {
		c := s.confirmOn(u, a)
		all, saved = append(all, c.saving), max(saved, c.onAverage(u.record.Runs))
		f.Cases, longer = append(f.Cases, c.fixed), append(longer, c.longer...)
		before, runs, after, newRuns = before+c.before, runs+c.runs, after+c.after, newRuns+c.newRuns
	}
	if slices.Sort(longer); len(longer) > 0 {
		f.Longer = engine.Time(longer[(len(longer)-1)/2])
	}
	if alone != nil && len(s.lacking(alone, s.newRuns(a))) == 0 {
		f.Alone = alone.title()
	} else {
		alone = a
	}
	if !s.light && alone.sleeps() >= 0 {
		f.Least = s.least(alone, s.newRuns(a))
	}
	worth := f.Destructive == "" || saved >= little || slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.StuckBefore > 0 })
	return f, (halved(before, runs, after, newRuns) || savesOne(all)) && endsWith(&f) && !within(&f) && worth
}

// onAverage is how much less traffic of one client is lost in a run, on average, where without the change the runs of a case lose what these do.
func (c *saving) onAverage(all []record.Run) engine.Time {
	var sum engine.Time
	for i := range all {
		most := engine.Time(0)
		for k := range all[i].Streams {
			most = max(most, all[i].Streams[k].LostSeconds)
		}
		sum += most
	}
	if c.before*c.newRuns == 0 || c.after*c.runs >= c.before*c.newRuns {
		return 0
	}
	mean, left := float64(sum)/float64(len(all)), float64(c.after*c.runs)/float64(c.before*c.newRuns)
	return engine.Time(mean * (1 - left))
}

// saving is what runs of one case lost before a change, and other ones after it.
type saving struct {
	before, runs   uint64
	after, newRuns uint64
}

// worthwhile is the part of all that is lost which a case has to lose for a change that helps nothing else.
const worthwhile = 4

// savesOne says that half of what one case loses is saved, or some do, a part of all that is worth a change, while no other one loses more: two
// ports of one workload need not have the same remedy, nor its rollout and a drain.
func savesOne(all []saving) bool {
	var before uint64
	for _, c := range all {
		before += c.before
	}
	saved := uint64(0)
	for _, c := range all {
		if 20*c.after*c.runs > 21*c.before*c.newRuns { // more than chance
			return false
		}
		if halved(c.before, c.runs, c.after, c.newRuns) {
			saved += c.before
		}
	}
	return saved > 0 && worthwhile*saved >= before
}

// little is how much of a loss a change has to save, where something is lost with it in most runs yet, or it may break something.
const little = 100 * engine.Millisecond

// within says that what a change saves is about what it leaves: in each case something is lost in most of the new runs, as much in some of
// them as without it in the median run, the medians are hardly apart, and the most that is lost is not half of what it was.
func within(f *record.Fix) bool {
	return len(f.Cases) > 0 && !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool {
		was, is := x.Before, x.Confirm.LostSeconds
		return x.StuckBefore > 0 || 2*x.Confirm.WithLoss <= x.Confirm.Runs || is.Max < was.Median || 2*is.Max < was.Max || was.Median-is.Median >= int64(little)
	})
}

// endsWith says that every new run of a fix comes to its end.
func endsWith(f *record.Fix) bool {
	return !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.Confirm.Stuck > 0 })
}

// blocked counts the runs that are stuck.
func blocked(runs []record.Run) int {
	n := 0
	for i := range runs {
		if runs[i].Stuck != nil {
			n++
		}
	}
	return n
}

// confirmation names what is confirmed.
type confirmation struct {
	unit    *unit
	changes string // their titles
}

// confirmed is what became of it.
type confirmed struct {
	saving  // requests lost without it, and with it in other runs
	changes []fix.Change
	fixed   record.FixedCase
	longer  []int64 // by run
	worst   uint64  // of the runs with it
}

// confirmOn is confirm for one case.
func (s *search) confirmOn(u *unit, a *attempt) *confirmed {
	key := confirmation{u, titles(a.changes, "; ")}
	if known := s.confirmed[key]; known != nil {
		return known
	}
	ownRuns := u.record.Runs
	if isStuck(&u.record) {
		ownRuns = stuckFirst(&u.record)
	}
	ownRuns = ownRuns[:s.rerunsOf(u)]
	out := &confirmed{changes: a.changes, saving: saving{runs: uint64(len(ownRuns))}}
	var list []try
	for i := range ownRuns {
		list = append(list, try{u.sc, a.changes, ownRuns[i].Seed, u.changed()})
		out.before += fixable(&ownRuns[i])
	}
	var own, fresh []record.Run
	for i, run := range s.tries("confirming fixes", ForConfirm, list) {
		if run != nil {
			out.longer = append(out.longer, int64(run.End-ownRuns[i].End))
			own = append(own, *run)
		}
	}
	list = list[:0]
	for i := range uint64(s.newRunsOf(u, own)) {
		list = append(list, try{u.sc, a.changes, s.pool.opts.Seed + newSeeds + i, u.changed()})
	}
	for _, run := range s.tries("confirming fixes", ForConfirm, list) {
		if run != nil {
			out.after, out.newRuns = out.after+fixable(run), out.newRuns+1
			out.worst = max(out.worst, fixable(run))
			fresh = append(fresh, *run)
		}
	}
	was, now, anew := closed(ownRuns), closed(own), closed(fresh)
	out.fixed = record.FixedCase{
		ID: u.record.ID, Action: u.record.Action, StuckBefore: blocked(ownRuns), Stuck: blocked(own), Before: was.LostSeconds, After: now.LostSeconds, WithLoss: now.WithLoss, Runs: len(now.Runs),
		Confirm: record.Confirm{Runs: len(anew.Runs), Stuck: blocked(fresh), WithLoss: anew.WithLoss, LostSeconds: anew.LostSeconds, Left: left(&anew)},
	}
	s.confirmed[key] = out
	return out
}

// rerunsOf is how many of a unit's own seeds are run again with what was found.
func (s *search) rerunsOf(u *unit) int {
	most := s.pool.opts.ConfirmRuns
	if s.lightly(u) {
		most = min(lightRuns, most)
	}
	return min(len(u.record.Runs), afford(s.reruns, u.weight(), lightRuns, most))
}

// newRunsOf is how many new seeds confirm it, by what the runs of the unit weigh with it.
func (s *search) newRunsOf(u *unit, with []record.Run) int {
	most := s.mostNew
	if s.lightly(u) {
		most = min(lightRuns, most)
	}
	if len(with) == 0 {
		return most
	}
	return afford(s.confirms, u.weightOf(&with[0]), min(fewestNew, most), most)
}

// lightly says that a fix is confirmed for a unit on few seeds: it was for a workload that is the same but for its names, or the
// unit has no load balancer and was confirmed on many with what helps behind another one.
func (s *search) lightly(u *unit) bool {
	if s.light || s.preset == "" || u.family != nil {
		return s.light
	}
	for key := range s.confirmed { // order: whether there is one
		if key.unit == u {
			return true
		}
	}
	return false
}

// halved says that so many runs after a change lose half of what others did before it, or less, each.
func halved(before, runs, after, newRuns uint64) bool {
	return newRuns > 0 && 2*after*runs <= before*newRuns
}

// describe puts the words of an attempt's changes together.
func (s *search) describe(a *attempt) record.Fix {
	f := record.Fix{Workload: s.workload, Title: a.title()}
	var costs, reasons []string
	changes := fix.Together(a.changes)
	for i := range changes {
		c := &changes[i]
		f.Edits, f.Pods = append(f.Edits, c.Edits...), f.Pods || c.Replicas > 0
		if c.Cost != "" && !slices.Contains(costs, c.Cost) { // two changes may cost the same, once
			costs = append(costs, c.Cost)
		}
		if c.Destructive != "" && !slices.Contains(reasons, c.Destructive) {
			reasons = append(reasons, c.Destructive)
		}
		if c.Sleep > 0 {
			f.Sleep, f.SleepFor = c.Sleep, s.lates.by
			f.Margin, f.Hops, f.Action = c.Sleep-s.lates.assumed, s.hops(), c.Action
		}
	}
	f.Destructive = strings.Join(reasons, "; ")
	f.Cost = strings.Join(costs, "; ")
	return f
}

// hops are what the news that a pod goes has to reach before nobody sends to it any more, of all units: nodes only where their rules are on
// the way.
func (s *search) hops() []string {
	way := map[string]bool{}
	for _, u := range s.units {
		for i := range u.sc.Traffic {
			lb := u.sc.Traffic[i].LB
			way["nodes"] = way["nodes"] || lb == nil || lb.Target == world.TargetNodes
			if lb != nil {
				way["the load balancer"], way["the proxy"] = way["the load balancer"] || lb.Layer7 == nil, way["the proxy"] || lb.Layer7 != nil
			}
		}
	}
	var out []string
	for _, hop := range []string{"nodes", "the load balancer", "the proxy"} {
		if way[hop] {
			out = append(out, hop)
		}
	}
	return out
}

// firstOf has the change of an attempt come first that leaves nearly nothing lost by itself, as assumed on the samples, and returns what that
// is alone, nil for none: the others are for other values of what was assumed, and so come last.
func (s *search) firstOf(a *attempt) (first, alone *attempt) {
	if len(a.changes) < 2 && !slices.ContainsFunc(s.singles, a.covers) {
		return a, nil
	}
	a = assumedFirst(a)
	for _, one := range s.singles {
		if a.contains(one) && one.contains(a) {
			continue // it is all of it
		}
		if !one.ran || one.stuck > 0 || one.lost*nearly > s.before || one.makeshift() || !a.contains(one) && !a.covers(one) {
			continue
		}
		if !a.contains(one) { // it is a part of one that is there, with more
			return a, one
		}
		out := *a
		out.changes = append(slices.Clone(one.changes), slices.DeleteFunc(slices.Clone(a.changes), func(c fix.Change) bool { return c.ID == one.changes[0].ID })...)
		return &out, one
	}
	return a, nil
}

// assumedFirst is an attempt in which what is only for other values of what was assumed comes last.
func assumedFirst(a *attempt) *attempt {
	out := *a
	out.changes = slices.DeleteFunc(slices.Clone(a.changes), func(c fix.Change) bool { return c.Otherwise })
	out.changes = append(out.changes, slices.DeleteFunc(slices.Clone(a.changes), func(c fix.Change) bool { return !c.Otherwise })...)
	return &out
}

// left names the causes of a case.
func left(c *record.Case) []string {
	var out []string
	for i := range c.Causes {
		if word := c.Causes[i].Cause.String(); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// closed are the figures of some runs.
func closed(runs []record.Run) record.Case {
	c := record.Case{Runs: runs}
	c.Close()
	return c
}
