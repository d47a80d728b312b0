package sweep

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// unit is what is run by itself: a case, or a case behind one of the load balancers that it might be.
type unit struct {
	index  int // of the case
	of     *scenario.Case
	family *world.Family // nil for the case itself
	sc     *world.Scenario
	record record.Case
	alike  string // scenario.Alike
	failed bool   // the simulation itself failed
	others []other
	// sight is what its only run heard of a large world, nil elsewhere; followed the run again in which that was followed, nil for none.
	sight    *timeline.Recorder
	followed *followed
	// indifferent are the indices of the other values with which as much is lost.
	indifferent []int
}

// other is another value of something that a unit assumes, and what is lost with it.
type other struct {
	index int      // in scenario.Alternatives
	lost  []uint64 // requests that a manifest may have to do with, by run, on the first seeds of the unit
	pairs pairing  // how runs with a change of a manifest are compared, as in unit.changed
}

// unitsOf lists those of all cases, in their order.
func unitsOf(cases []scenario.Case) []*unit {
	var out []*unit
	for i := range cases {
		c := &cases[i]
		if len(c.Families) == 0 || c.Verdict != "" {
			out = append(out, &unit{index: i, of: c, sc: c.Scenario, record: recordOf(c, c.Scenario)})
			continue
		}
		for k := range c.Families {
			f := &c.Families[k]
			out = append(out, &unit{index: i, of: c, family: f, sc: f.Scenario, record: recordOf(c, f.Scenario)})
		}
	}
	for _, u := range out {
		if u.sc != nil && u.of.Verdict == "" && u.family == nil {
			u.alike = scenario.Alike(u.sc)
		}
	}
	return out
}

// judged says that the unit has a verdict that follows from its runs.
func (u *unit) judged() bool { return u.sc != nil && u.of.Verdict == "" && len(u.record.Runs) > 0 }

// changed says how runs with a change of a manifest are compared with those without the action. Where nothing fails
// without it in any run of the unit there is nothing to take out: a run by itself loses all that the action costs, if not more.
func (u *unit) changed() pairing {
	if len(u.record.Before) > 0 {
		return pairedKnown
	}
	return unpaired
}

// weight is about what a run of the unit costs, in events: a request that is not simply answered costs about as much as one,
// the others are counted. Where something fails without the action, too, a run is two: with and without it. It is that of the
// first run, not of a clock: how much is tried has to be the same on every machine.
func (u *unit) weight() int { return u.weightOf(&u.record.Runs[0]) }

// weightOf is about what a run costs, in events.
func (u *unit) weightOf(r *record.Run) int {
	const (
		requestsAnEvent = 200
		runsOfAPair     = 2
	)
	sum := r.Sum()
	weight := int(r.Events) + copies(u.sc) + int(sum.Failed+sum.Before+sum.Slow+sum.Rescued) + int(sum.Total/requestsAnEvent) + 1
	if u.changed() == pairedKnown {
		return runsOfAPair * weight
	}
	return weight
}

// afford is how many times something of some weight is done within a budget, between a least and a most.
func afford(budget, weight, least, most int) int {
	return min(most, max(least, budget/max(weight, 1)))
}

// assemble makes the records of the cases from those of their units.
func assemble(cases []scenario.Case, units []*unit) []record.Case {
	out := make([]record.Case, len(cases))
	for i := 0; i < len(units); {
		first := i
		for i++; i < len(units) && units[i].index == units[first].index; i++ {
		}
		out[units[first].index] = caseOf(units[first:i])
	}
	return out
}

// caseOf is the record of a case: that of its only unit, or of the load balancer behind which it loses most, with those of all.
func caseOf(units []*unit) record.Case {
	if units[0].family == nil {
		return units[0].record
	}
	worst := slices.MinFunc(units, byLoss)
	c := worst.record
	for _, u := range units {
		c.Families = append(c.Families, record.Family{Preset: u.family.Preset, Name: u.family.Name, Case: u.record})
		if u.record.Verdict != worst.record.Verdict {
			c.Verdict, c.Reason = record.Depends, ""
		}
	}
	return c
}

// byLoss orders units of one case, the one that loses most first.
func byLoss(a, b *unit) int {
	return cmp.Or(cmp.Compare(b.record.LostSeconds.Median, a.record.LostSeconds.Median), cmp.Compare(a.record.Verdict.Rank(), b.record.Verdict.Rank()))
}

// worstOf is the unit of u's case that loses most, of all units.
func worstOf(units []*unit, u *unit) *unit {
	same := slices.DeleteFunc(slices.Clone(units), func(x *unit) bool { return x.index != u.index })
	return slices.MinFunc(same, byLoss)
}
