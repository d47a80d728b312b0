package sweep

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	// pairedSeeds is how many seeds each other value of an assumption is tried on, fewestSeeds where there is a lot to try, or where
	// these come to the same as what was assumed: all of it together is to be about as heavy as trying. Where even these are heavier
	// than tryingOne for one value, or than tryingAll for all, they are leastSeeds. The first of them is run alone: it says whether the others have to be paired,
	// and where these are leastSeeds it may be enough: see evident. What loses something in few runs is tried on surelySeeds where the first
	// ones seem to lose more seldom, or more often: see settle.
	pairedSeeds = 20
	fewestSeeds = 5
	leastSeeds  = 3
	surelySeeds = 100
	trying      = 1_500_000
	tryingAll   = 3_000_000
	tryingOne   = 100_000
)

// trial is another value of something that a unit assumes, and its runs.
type trial struct {
	unit  *unit
	index int // in the alternatives of the unit
	alt   scenario.Alternative
	runs  []record.Run
	want  int // how many runs it is to have
	done  int // how many were tried, in vain or not
}

// sensitivity tries each case with the other values of what it assumes, on its first seeds. A
// Scenario that says what it expects says what it is about: it is left alone, as is a case that has no verdict to
// change. Where the load balancer is unknown each that it might be is a case of its own, and none is tried instead of another;
// what the load balancers are assumed to be is tried with each, all else with the one that loses most, which the report is about.
// For workloads that are alike but for names it is tried once.
func sensitivity(p *pool, units []*unit) {
	trials, first, weight := trialsOf(units)
	all := afford(tryingAll, weight, leastSeeds, fewestSeeds)
	for _, seeds := range []int{1, fewestSeeds, pairedSeeds} {
		for _, t := range trials {
			least := min(all, t.unit.fewest())
			if len(t.runs) == t.want && (t.want < least && !t.evident(least) || !t.same()) {
				t.want = min(afford(trying, weight, min(least, seeds), seeds), len(t.unit.record.Runs))
			}
		}
		p.try(trials)
	}
	p.settle(trials)
	for _, t := range trials {
		if len(t.runs) == t.want { // a trial that was cut short says nothing
			t.close()
		}
	}
	for _, u := range units {
		if one := first[u.alike]; one != nil && one != u && u.judged() {
			u.record.Alternatives, u.record.TriedWith = slices.Clone(one.record.Alternatives), one.record.ID
			u.others, u.indifferent = one.others, one.indifferent
		}
	}
}

// settle tries on more seeds what seems to lose something more often than the case, or more seldom, where few runs of either do: a few seeds do
// not say so, or that it is hardly ever. What a loss is put down to is left out on more seeds, too, where the first ones lose less than others.
func (p *pool) settle(trials []*trial) {
	weight := 0
	unsure := slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool { return len(t.runs) != t.want || !t.unit.record.Unsure(t.runs) && !t.untypical() })
	for _, t := range unsure {
		weight += t.unit.weight()
	}
	for _, t := range unsure {
		t.want = max(t.want, min(afford(trying, weight, t.want, surelySeeds), len(t.unit.record.Runs)))
	}
	p.try(unsure)
}

// trialsOf lists what is tried, with the weight of one run of each in all, and the first of each of
// the workloads that are alike.
func trialsOf(units []*unit) (trials []*trial, first map[string]*unit, weight int) {
	first = map[string]*unit{}
	for _, u := range units {
		if !u.judged() || u.record.Expectation != nil || first[u.alike] != nil {
			continue
		}
		if u.alike != "" {
			first[u.alike] = u
		}
		worst := worstOf(units, u)
		for i, alt := range u.alternatives() {
			if u.family != nil && slices.ContainsFunc(u.of.Families, func(f world.Family) bool { return f.Preset == alt.Value }) {
				continue
			}
			if u != worst && !strings.HasPrefix(alt.ID, "lb.") {
				continue
			}
			trials, weight = append(trials, &trial{unit: u, index: i, alt: alt}), weight+u.weight()
		}
	}
	return trials, first, weight
}

// alternatives are the Scenario of a unit with other values of what it assumes: of what cannot end also with one node more.
func (u *unit) alternatives() []scenario.Alternative {
	out := scenario.Alternatives(u.sc)
	if u.record.Waits() {
		out = append(out, scenario.OneNodeMore(u.sc)...)
	}
	return out
}

// fewest is on how many seeds each other value is tried at first.
func (u *unit) fewest() int { return afford(tryingOne, u.weight(), leastSeeds, fewestSeeds) }

// same says that more runs would not show an effect. What a loss is put down to is another matter: what is lost without it is told as a part of what
// all runs lose, most of which may be in a few of them.
func (t *trial) same() bool {
	own := &t.unit.record
	return own.Same(t.runs) && !own.Blames(t.alt.ID, t.alt.Value)
}

// untypical says of a value without what a loss is put down to that the runs with it are of seeds that lose less than all.
func (t *trial) untypical() bool {
	own := &t.unit.record
	return own.Blames(t.alt.ID, t.alt.Value) && !own.Typical(len(t.runs))
}

// evident says of a value that is tried on as few seeds as any that the first of them is enough: every run of the unit, of calmRuns or more,
// loses something, so that no loss is a matter of chance, and with the same draws the other value comes to as much.
func (t *trial) evident(least int) bool {
	own := &t.unit.record
	return least < fewestSeeds && len(t.runs) == 1 && len(own.Runs) >= calmRuns && own.WithLoss == len(own.Runs) && t.same()
}

// pairs says how further runs are compared with those without the action: where nothing fails without it in any run of the unit,
// and in none with the other value so far, only those that lose little are.
func (t *trial) pairs() pairing {
	which := t.unit.pairs()
	if which == pairedSmall && !calm(t.runs) {
		return pairedAll
	}
	return which
}

// close files what became of a trial, and keeps what is lost with it where it matters. What is reported of a load balancer matters to
// a change even where it does not to the manifest: whoever leaves too early now, whatever the load balancer does, may not then.
func (t *trial) close() {
	u := t.unit
	effect := u.record.Try(t.alt.ID, t.alt.Value, t.runs)
	if effect == record.NoEffect && !u.record.Perhaps(t.runs) && !strings.HasPrefix(t.alt.ID, "lb.") {
		u.indifferent = append(u.indifferent, t.index)
		return
	}
	o := other{index: t.index, pairs: pairedAll}
	if calm(t.runs) {
		o.pairs = unpaired
	}
	for i := range t.runs[:min(pairedSeeds, len(t.runs))] {
		o.lost = append(o.lost, fixable(&t.runs[i]))
	}
	u.others = append(u.others, o)
}

// try does runs until each trial has as many as it is to have.
func (p *pool) try(trials []*trial) {
	var jobs []job
	for i, t := range trials {
		for ; t.done < t.want; t.done++ {
			jobs = append(jobs, job{i, t.alt.Scenario, t.unit.record.Runs[t.done].Seed, t.pairs(), nil})
		}
	}
	for i, r := range p.runs("trying assumptions", ForOther, jobs) {
		if t := trials[jobs[i].index]; r.run != nil {
			t.runs = append(t.runs, *r.run)
		}
	}
}
