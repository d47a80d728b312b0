package sweep

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// otherwise is a unit with another value of something that it depends on, and what it loses then.
type otherwise struct {
	scenario.Alternative
	unit  int // its index
	seeds []uint64
	lost  uint64
	pairs pairing
}

// others are those of all units, on the first of the seeds that they were tried with.
func (s *search) others() []otherwise {
	if s.otherwise != nil {
		return s.otherwise
	}
	s.otherwise = []otherwise{}
	for k, u := range s.units {
		for i, alt := range deciding(u) {
			x := otherwise{Alternative: alt, unit: k, pairs: u.others[i].pairs}
			for k, lost := range u.others[i].lost[:min(s.seedsWithOthers(u), len(u.others[i].lost))] {
				x.seeds = append(x.seeds, u.record.Runs[k].Seed)
				x.lost += lost
			}
			s.otherwise = append(s.otherwise, x)
		}
	}
	return s.otherwise
}

// robust says that an attempt does as much with the other values: there is none that it does not help with.
func (s *search) robust(a *attempt) bool { return len(s.notWith(a)) == 0 }

// isFor says that an attempt is for a unit: it halves what is lost there, or what no unit loses. What it is nothing for loses as much with any value.
func (s *search) isFor(a *attempt, k int) bool {
	halves := func(k int) bool { return 2*a.of[k] <= s.beforeOf(k) }
	return a.of == nil || halves(k) || !slices.ContainsFunc(s.indices(), halves)
}

// leavesOf is what an attempt leaves lost, and what was lost, on the samples of the units that it is for.
func (s *search) leavesOf(a *attempt) (left, before uint64) {
	if a.of == nil {
		return a.lost, s.before
	}
	for k := range s.units {
		if s.isFor(a, k) {
			left, before = left+a.of[k], before+s.beforeOf(k)
		}
	}
	return left, before
}

// notWith names the other values with which an attempt does not do as much as it does as assumed (see bearable), those with which it leaves most
// first, in the units that it is for.
func (s *search) notWith(a *attempt) []record.OtherValue {
	others := s.others()
	var list []try
	var of []int // by try: the index of its other value
	for i := range others {
		if others[i].lost == 0 || !s.isFor(a, others[i].unit) {
			continue
		}
		for _, seed := range others[i].seeds {
			list, of = append(list, try{others[i].Scenario, a.changes, seed, others[i].pairs}), append(of, i)
		}
	}
	left := make([]uint64, len(others))
	for i, run := range s.tries("looking for fixes", ForSearch, list) {
		if run != nil {
			left[of[i]] += fixable(run)
		}
	}
	var out []record.OtherValue
	for _, i := range worstFirst(others, left) {
		other := record.OtherValue{ID: others[i].ID, Value: others[i].Value}
		if left[i] > s.bearable(a, s.part(a, others[i].lost), len(others[i].seeds)) && !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// worstFirst orders other values by what is left lost with them in a run, the most first. Those with which as much is keep their order.
func worstFirst(others []otherwise, left []uint64) []int {
	order := make([]int, len(others))
	for i := range order {
		order[i] = i
	}
	sorted.StableBy(order, func(a, b int) int {
		return cmp.Compare(left[b]*uint64(len(others[a].seeds)), left[a]*uint64(len(others[b].seeds)))
	})
	return order
}

// part is what an attempt may leave of what is lost with another value: twice the part that it leaves as assumed, at least a tenth and at most half.
func (s *search) part(a *attempt, lost uint64) uint64 {
	left, before := s.leavesOf(a)
	return min(lost/2, max(lost/10, 2*lost*left/max(before, 1)))
}

// bearable is what an attempt may leave lost in some runs with another value: a part of what is lost then. But a tenth of two minutes is no end
// of the loss: what ends it as assumed leaves no more than a second of traffic in a run.
func (s *search) bearable(a *attempt, part uint64, runs int) uint64 {
	if left, before := s.leavesOf(a); left*nearly > before {
		return part
	}
	second := 1
	for _, u := range s.units {
		for i := range u.sc.Traffic {
			second = max(second, u.sc.Traffic[i].Rate/1000)
		}
	}
	return min(part, uint64(runs*second))
}

// brokenSeeds is how many seeds a change is run on with each other value that makes no difference without it.
const brokenSeeds = 2

// brokenBy names other values that make no difference to the manifest as it is, but to what a change does: it leaves more than half
// of what was lost, or than is bearable, and more than little.
func (s *search) brokenBy(a *attempt) []record.OtherValue {
	type value struct {
		record.OtherValue
		before, left uint64
	}
	var values []value
	var list []try
	var of []int // by try: the index of its value
	for k, u := range s.units {
		if len(u.indifferent) == 0 || !s.isFor(a, k) {
			continue
		}
		all, own := u.everyAlternative(), u.record.Runs[:min(brokenSeeds, len(u.record.Runs))]
		for _, i := range u.indifferent {
			v := value{OtherValue: record.OtherValue{ID: all[i].ID, Value: all[i].Value}}
			for j := range own {
				v.before += fixable(&own[j])
				list, of = append(list, try{all[i].Scenario, a.changes, own[j].Seed, u.changed()}), append(of, len(values))
			}
			values = append(values, v)
		}
	}
	for i, run := range s.tries("looking for fixes", ForSearch, list) {
		if run != nil {
			values[of[i]].left += fixable(run)
		}
	}
	var out []record.OtherValue
	for _, v := range values {
		if v.left > s.bearable(a, v.before/2, brokenSeeds) && v.left > brokenSeeds*uint64(little/(10*engine.Millisecond)) && !slices.Contains(out, v.OtherValue) {
			out = append(out, v.OtherValue)
		}
	}
	return out
}
