package sweep

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// search is the search for fixes of one workload, over all of its cases behind one load balancer that lose something.
type search struct {
	pool     *pool
	workload string
	preset   string // of the group
	units    []*unit
	tried    [][]string // sets of changes that helped others, by their IDs
	light    bool       // one of them helped a workload that is the same but for its names
	lates    lates
	shown    int // how many are looked for
	// elsewhere is how late the last way to a pod closes in what else is done to the workload: a hook is long enough for that, too.
	elsewhere lates
	budget    int            // for one size of sets of changes
	mostNew   int            // how many new seeds confirm what was found, at most
	reruns    int            // the budget for the units' own seeds with what was found
	confirms  int            // and for new seeds
	before    uint64         // requests lost on the samples
	samples   [][]record.Run // by unit: the runs that attempts are compared with
	// otherwise is nil until others are asked for.
	otherwise []otherwise
	confirmed map[confirmation]*confirmed // of the bench
	done      map[tryID]*record.Run       // so far
	singles   []*attempt                  // of one change
	makeshift map[string][]fix.Change     // by the ID of a change: what it is in each unit
}

// lates says how late after its deletion the last way to a pod closes: by every hop, the load balancer's included.
type lates struct {
	assumed engine.Time // at most, in the runs as assumed
	any     engine.Time // also with the other values of what the cases depend on
	// by is the other value that makes it so, none where that is as assumed.
	by record.OtherValue
}

// upTo has a hook be long enough for what else is done to a workload.
func (l *lates) upTo(o *lates) {
	if o.any > l.any {
		l.any, l.by = o.any, o.by
	}
}

// lateSeeds is how many seeds it is measured on. With each other value of an assumption they are lateOther, and fewestOther where all
// of these together are heavier than the budget.
const (
	lateSeeds   = 5
	lateOther   = 5
	fewestOther = 2
)

// seedsWithOthers is how many seeds of a unit are run with each other value of what it depends on.
func (s *search) seedsWithOthers(u *unit) int {
	return min(afford(s.budget, len(u.others)*u.weight(), fewestOther, lateOther), len(u.record.Runs))
}

// measure finds out how late the last way to a pod closes.
func (s *search) measure() error { return s.measureOn(nil) }

// measureOn is measure with some changes made.
func (s *search) measureOn(changes []fix.Change) error {
	type run struct {
		sc      *world.Scenario
		seed    uint64
		assumed bool
		other   record.OtherValue
	}
	var runs []run
	for _, u := range s.units {
		seeds := u.record.Runs[:min(lateSeeds, len(u.record.Runs))]
		for i := range seeds {
			runs = append(runs, run{fix.Patient(fix.Apply(u.sc, s.workload, changes), s.workload), seeds[i].Seed, true, record.OtherValue{}})
		}
		for _, alt := range mattering(u) {
			for i := range seeds[:s.seedsWithOthers(u)] {
				runs = append(runs, run{fix.Patient(fix.Apply(alt.Scenario, s.workload, changes), s.workload), seeds[i].Seed, false, record.OtherValue{ID: alt.ID, Value: alt.Value}})
			}
		}
	}
	type lateness struct {
		at  engine.Time
		err error
	}
	for i, late := range collect(s.pool, "looking for fixes", len(runs), patience, func(i int) lateness {
		s.pool.counts.add(ForLate, 1)
		recorder := &story.Recorder{}
		_, err := sim.RunWith(runs[i].sc, runs[i].seed, sim.Options{Events: recorder.Log(nil)})
		return lateness{fix.Lateness(recorder.Events()), err}
	}) {
		if late.err != nil {
			return late.err
		}
		s.lates.upTo(&lates{any: late.at, by: runs[i].other})
		if runs[i].assumed {
			s.lates.assumed = max(s.lates.assumed, late.at)
		}
	}
	return nil
}

// mattering are the other values with which a change has to hold: those that a unit depends on, and how often nodes write their rules, for which a
// hook has to be long enough, although few requests meet it; of what cannot end, which comes to the same with any value, those that are
// reported of its load balancer, for what is lost once it ends depends on them.
func mattering(u *unit) []scenario.Alternative {
	if !isStuck(&u.record) {
		all, out := u.everyAlternative(), deciding(u)
		for _, i := range u.indifferent {
			if all[i].ID == "proxy" {
				out = append(out, all[i])
			}
		}
		return out
	}
	return slices.DeleteFunc(scenario.Alternatives(u.sc), func(a scenario.Alternative) bool { return !strings.HasPrefix(a.ID, "lb.") })
}

// deciding are the other values of what a unit depends on: those with which more or less is lost, in the order of its others.
func deciding(u *unit) []scenario.Alternative {
	if len(u.others) == 0 {
		return nil
	}
	all := u.everyAlternative()
	var out []scenario.Alternative
	for _, o := range u.others {
		out = append(out, all[o.index])
	}
	return out
}

// everyAlternative are the Scenario of a unit with all other values that any unit may be tried with.
func (u *unit) everyAlternative() []scenario.Alternative {
	return append(scenario.Alternatives(u.sc), scenario.OneNodeMore(u.sc)...)
}

// sampled picks the runs that attempts are compared with.
func (s *search) sampled() {
	for _, u := range s.units {
		s.samples = append(s.samples, sample(&u.record))
		for i := range s.samples[len(s.samples)-1] {
			s.before += fixable(&s.samples[len(s.samples)-1][i])
		}
	}
}

// run finds the attempts that help, the best first, and the titles of the changes that do not.
func (s *search) run() (found []*attempt, noHelp []string) {
	s.sampled()
	var singles []*attempt
	for _, c := range s.changes() {
		singles = append(singles, &attempt{changes: []fix.Change{c}})
	}
	if a := s.again(singles); a != nil {
		return s.topped([]*attempt{a}, singles), nil
	}
	s.screen(singles)
	s.singles = singles
	for _, a := range s.best(singles) {
		if s.helps(a) {
			found = append(found, a)
		}
	}
	found = s.topped(append(found, s.besides(found, singles)...), singles)
	for _, a := range singles {
		used := slices.ContainsFunc(found, func(b *attempt) bool { return b.contains(a) })
		if a.ran && !used && !a.changes[0].Otherwise && !s.helps(a) {
			noHelp = append(noHelp, a.changes[0].Title)
		}
	}
	return found, noHelp
}

// changes are those that can have to do with what was lost: of the workload, and of the load balancers that any unit has.
func (s *search) changes() []fix.Change {
	var out []fix.Change
	for _, u := range s.units {
		w := u.sc.Workload(s.workload)
		if w == nil {
			continue
		}
		for _, c := range fix.Changes(u.sc, w, s.lates.any) {
			if s.makeshift == nil {
				s.makeshift = map[string][]fix.Change{}
			}
			s.makeshift[c.ID] = append(s.makeshift[c.ID], c)
			known := slices.IndexFunc(out, func(x fix.Change) bool { return x.ID == c.ID })
			switch {
			case known >= 0: // a poor answer in one case is one, though not to another
				if x := &out[known]; x.Makeshift == "" || c.Makeshift != "" && c.Unless == "" { // the case that asks for more decides
					x.Makeshift, x.Unless = c.Makeshift, c.Unless
				}
			case s.concerns(&c):
				out = append(out, c)
			}
		}
	}
	sorted.StableBy(out, func(a, b fix.Change) int { return cmp.Compare(rank(&a), rank(&b)) })
	return out
}

// rank orders changes before those whose place is the end of a title: how many pods there are, and where, comes first.
func rank(c *fix.Change) int {
	if c.Replicas > 0 || c.Budget != nil || c.Spread {
		return 0
	}
	return 1
}

// again tries what helped others: the first set that leaves nearly nothing lost, nil when none does.
func (s *search) again(singles []*attempt) *attempt {
	var sets []*attempt
	for _, ids := range s.tried {
		a := &attempt{}
		for _, one := range singles {
			if slices.Contains(ids, one.changes[0].ID) {
				a.changes = append(a.changes, one.changes[0])
			}
		}
		if len(a.changes) == len(ids) {
			sets = append(sets, a)
		}
	}
	s.screen(sets)
	for _, a := range sets {
		if s.helps(a) && (s.light || a.lost*nearly <= s.before) {
			return a
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
	return slices.ContainsFunc(s.units, func(u *unit) bool {
		return slices.ContainsFunc(u.record.Causes, func(x record.Cause) bool { return x.Cause == ledger.LivenessRestart })
	})
}

// helps says that an attempt saves at least half of what is lost, of all cases together or of one while no other one loses more, and
// that more runs lose less with it than chance makes better; the new seeds of confirm have the last word.
func (s *search) helps(a *attempt) bool {
	more := a.better - a.worse
	return a.ran && a.stuck == 0 && (halved(s.before, 1, a.lost, 1) || s.helpsOne(a)) && more > 0 && more*more > 2*(a.better+a.worse)-s.few()
}

// helpsOne is savesOne on the samples.
func (s *search) helpsOne(a *attempt) bool {
	var all []saving
	for k := range a.of {
		all = append(all, saving{before: s.beforeOf(k), runs: 1, after: a.of[k], newRuns: 1})
	}
	return savesOne(all)
}

// few is what the test of helps is eased by where a case has hardly any runs: then all of them have to be better.
func (s *search) few() int {
	n := 0
	for i := range s.samples {
		n += len(s.samples[i])
	}
	if n < sampleRuns {
		return 2 * n
	}
	return 0
}

// screen tries attempts on the samples.
func (s *search) screen(attempts []*attempt) { s.screenOn(attempts, 0, sampleRuns) }

// screenOn is screen on the samples of each unit from one to before another.
func (s *search) screenOn(attempts []*attempt, from, to int) {
	type trial struct {
		attempt *attempt
		unit    int
		before  uint64
		gap     engine.Time
	}
	var list []try
	var trials []trial
	for _, a := range attempts {
		if a.of == nil {
			a.of = make([]uint64, len(s.units))
		}
		for k, u := range s.units {
			for i := from; i < min(to, len(s.samples[k])); i++ {
				r := &s.samples[k][i]
				list, trials = append(list, try{u.sc, a.changes, r.Seed, u.changed()}), append(trials, trial{a, k, fixable(r), r.WithoutPod()})
			}
		}
		a.ran = a.ran || from == 0
	}
	for i, run := range s.tries("looking for fixes", ForSearch, list) {
		a := trials[i].attempt
		if run == nil {
			a.ran = false
			continue
		}
		lost := fixable(run)
		a.lost += lost
		a.of[trials[i].unit] += lost
		a.gaps = append(a.gaps, gap{trials[i].gap, run.WithoutPod()})
		if run.Stuck != nil {
			a.stuck++
		}
		switch {
		case lost < trials[i].before:
			a.better++
		case lost > trials[i].before:
			a.worse++
		}
	}
}

// nearly is the part of the loss that a set of changes may leave to count as the end of it: single
// requests that race with something no manifest changes.
const nearly = 50

// best picks the smallest sets of changes that leave nearly nothing lost on the samples, with the other values of what the
// cases depend on, too; when there is none, the smallest ones that do so as assumed; or else the one that loses least: of those
// close to it, the smallest.
func (s *search) best(singles []*attempt) []*attempt {
	var found, asAssumed, makeshift []*attempt
	all := slices.Clone(singles)
	level, last := singles, together
	for size := 1; size <= last && len(level) > 0 && len(found) == 0; size++ {
		if size > 1 {
			if level = s.affordable(level, singles); len(level) == 0 {
				break
			}
			s.screen(level)
			all = append(all, level...)
		}
		for _, a := range level {
			switch {
			case !a.ran || a.stuck > 0 || a.lost*nearly > s.before || len(found) == s.shown:
			case a.makeshift() && len(makeshift) < s.shown: // one change more may do without
				makeshift, last = append(makeshift, a), min(last, size+1)
			case a.makeshift():
			case s.robust(a):
				found = append(found, a)
			case len(asAssumed) < s.shown:
				asAssumed, last = append(asAssumed, a), min(last, size+1) // one change more may do
			}
		}
	}
	if len(found) == 0 {
		found = slices.Concat(asAssumed, makeshift)
		found = found[:min(len(found), s.shown)]
	}
	all = slices.DeleteFunc(all, func(a *attempt) bool { return !a.ran || a.stuck > 0 })
	if len(found) > 0 || len(all) == 0 {
		return found
	}
	return s.grown(s.leastLost(all), singles)
}

// grown adds to a set that leaves too much lost what leaves at most half of that, one change at a time: several parts of a remedy may do little
// but together, and not all sets of so many can be tried. Which one is the best is asked of the runs that lost most.
func (s *search) grown(found, singles []*attempt) []*attempt {
	for len(found) == 1 && found[0].lost*nearly > s.before {
		now := found[0]
		var sets []*attempt
		for _, one := range singles {
			if one.ran && !now.contains(one) && !now.has(&one.changes[0]) {
				sets = append(sets, &attempt{changes: append(slices.Clone(now.changes), one.changes...)})
			}
		}
		if len(sets) == 0 || s.weight()*(len(sets)*fewSamples/sampleRuns+1) > s.budget {
			break
		}
		s.screenOn(sets, 0, fewSamples)
		best := slices.MinFunc(sets, func(a, b *attempt) int { return cmp.Compare(a.left(), b.left()) })
		if !s.leaves(best, now.lost/2) || best.stuck > 0 {
			break
		}
		found = []*attempt{best}
	}
	return found
}

// left is what an attempt leaves lost where it can be made and comes to its end.
func (a *attempt) left() uint64 {
	if !a.ran || a.stuck > 0 {
		return math.MaxUint64
	}
	return a.lost
}

// leastLost is the smallest set of changes of those that lose close to the least.
func (s *search) leastLost(all []*attempt) []*attempt {
	least := slices.MinFunc(all, func(a, b *attempt) int { return cmp.Compare(a.lost, b.lost) }).lost
	for _, a := range all { // the smaller sets come first
		if a.lost <= least+s.before/20 {
			return []*attempt{a}
		}
	}
	return nil
}

// affordable adds one more change to each attempt of a level, and keeps to the budget: where not all sets can be tried, those of the
// changes that leave least lost by themselves are, and the best of these with many others. For what does nothing alone may be what it
// lacks, as a rollout that takes no pod away before there is another does for a hook.
func (s *search) affordable(level, singles []*attempt) []*attempt {
	failed := func(a *attempt) bool { return !a.ran }
	level, singles = slices.DeleteFunc(slices.Clone(level), failed), slices.DeleteFunc(slices.Clone(singles), failed)
	sets := grow(level, singles)
	most := max(0, s.budget/max(1, s.weight()))
	if len(sets) <= most {
		return sets
	}
	place := places(singles)
	order := slices.Clone(sets)
	sorted.StableBy(order, func(a, b *attempt) int { return cmp.Compare(a.placed(place), b.placed(place)) })
	return slices.DeleteFunc(sets, func(a *attempt) bool { return !slices.Contains(order[:most], a) })
}

// places has the place of each change among others, by what it leaves lost by itself: the best has 1.
func places(singles []*attempt) map[string]int {
	ranked := slices.Clone(singles)
	sorted.StableBy(ranked, func(a, b *attempt) int { return cmp.Compare(a.lost, b.lost) })
	out := map[string]int{}
	for i, a := range ranked {
		out[a.changes[0].ID] = i + 1
	}
	return out
}

// placed is the product of the places of an attempt's changes: the first of all with the eighth is tried as soon as the second with the fourth.
func (a *attempt) placed(place map[string]int) int {
	product := 1
	for i := range a.changes {
		product *= place[a.changes[i].ID]
	}
	return product
}

// weight is about what it costs to screen one attempt.
func (s *search) weight() int {
	weight := 0
	for k, u := range s.units {
		weight += len(s.samples[k]) * u.weight()
	}
	return weight
}

// fewSamples are the runs that lost most: one for each processor, mostly.
const fewSamples = 2

// leaves says that an attempt leaves so many requests lost on the samples at most. Those that lost most come first, unless they have been
// tried: where they are too many with these already, the others make them no fewer.
func (s *search) leaves(a *attempt, most uint64) bool {
	if a.of == nil {
		s.screenOn([]*attempt{a}, 0, fewSamples)
	}
	if a.ran && a.lost <= most {
		s.screenOn([]*attempt{a}, fewSamples, sampleRuns)
	}
	return a.ran && a.lost <= most
}
