package sweep

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// besides are single changes that somebody may have in place of all that was found: the one that helps most of those that break nothing, of
// those that need no pod more either, and for the rollouts alone, where pods are taken away in other ways, too.
func (s *search) besides(found, singles []*attempt) []*attempt {
	if s.shown < 2 || len(found) == 0 {
		return nil
	}
	var out []*attempt
	add := func(a *attempt) {
		if a != nil && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	without := func(a *attempt) bool { return !a.more() && !s.poor(a) && !a.destructive() }
	if !slices.ContainsFunc(found, func(a *attempt) bool { return !a.destructive() }) {
		add(s.leastOf(singles, func(a *attempt) bool { return !a.destructive() }))
	}
	if slices.ContainsFunc(found, func(a *attempt) bool { return !a.more() }) {
		return out
	}
	rollouts := s.forRollouts(singles)
	if (rollouts == nil || rollouts.destructive()) && !slices.ContainsFunc(out, func(a *attempt) bool { return !a.more() }) {
		add(s.leastOf(singles, without))
	}
	add(rollouts)
	return out
}

// leastOf is the single change that leaves least of those that help and are as asked for, nil for none.
func (s *search) leastOf(singles []*attempt, as func(*attempt) bool) *attempt {
	var best *attempt
	for _, a := range singles {
		if as(a) && s.helps(a) && (best == nil || a.lost < best.lost) {
			best = a
		}
	}
	return best
}

// forRollouts is the single change without a pod more that leaves least of what is lost in rollouts, no more than half; nil where there is none,
// or where nothing else is done.
func (s *search) forRollouts(singles []*attempt) *attempt {
	rollouts := slices.DeleteFunc(s.indices(), func(k int) bool { return !s.units[k].sc.Updates() })
	if len(rollouts) == 0 || len(rollouts) == len(s.units) {
		return nil
	}
	of := func(lost func(k int) uint64) (sum uint64) {
		for _, k := range rollouts {
			sum += lost(k)
		}
		return sum
	}
	least := of(s.beforeOf) / 2
	var best *attempt
	for _, a := range singles {
		if a.more() || s.poor(a) || !s.helps(a) {
			continue
		}
		if left := of(func(k int) uint64 { return a.of[k] }); left < least || best == nil && left == least {
			best, least = a, left
		}
	}
	return best
}

// indices are those of the units.
func (s *search) indices() []int {
	out := make([]int, len(s.units))
	for k := range out {
		out[k] = k
	}
	return out
}

// beforeOf is what the samples of a unit lost.
func (s *search) beforeOf(k int) uint64 {
	var lost uint64
	for i := range s.samples[k] {
		lost += fixable(&s.samples[k][i])
	}
	return lost
}

// poor says that an attempt has a change that is a makeshift in all that is done to the workload.
func (s *search) poor(a *attempt) bool {
	return slices.ContainsFunc(a.changes, func(c fix.Change) bool {
		return c.Makeshift != "" && !slices.ContainsFunc(s.makeshift[c.ID], func(in fix.Change) bool { return !a.makes(&in) })
	})
}

// more says that an attempt has more pods.
func (a *attempt) more() bool {
	return slices.ContainsFunc(a.changes, func(c fix.Change) bool { return c.Replicas > 0 })
}

// destructive says that it may break what the manifest was written for.
func (a *attempt) destructive() bool {
	return slices.ContainsFunc(a.changes, func(c fix.Change) bool { return c.Destructive != "" })
}

// topped gives a hook to the attempts that leave something lost to news that is late in most of the samples of a case, where at most half of
// that is left with it, and no more anywhere: what is little of a long outage is not nothing yet, and a hook is what is against it.
func (s *search) topped(found, singles []*attempt) []*attempt {
	at := slices.IndexFunc(singles, func(one *attempt) bool { return one.changes[0].Sleep > 0 })
	var out []*attempt
	for _, a := range found {
		if at >= 0 && !a.contains(singles[at]) && !a.has(&singles[at].changes[0]) {
			a = s.withHook(a, singles[at])
		}
		if !slices.ContainsFunc(out, func(b *attempt) bool { return a.contains(b) && b.contains(a) }) {
			out = append(out, a)
		}
	}
	return out
}

// withHook is topped for one attempt.
func (s *search) withHook(a, hook *attempt) *attempt {
	with := &attempt{changes: append(slices.Clone(a.changes), hook.changes...)}
	late := s.late(a)
	if len(late) == 0 || s.poor(with) && !s.poor(a) {
		return a
	}
	s.screen([]*attempt{with})
	halves := slices.ContainsFunc(late, func(k int) bool { return 2*with.of[k] <= a.of[k] })
	if more := slices.ContainsFunc(s.indices(), func(k int) bool { return with.of[k] > a.of[k] }); !with.ran || with.stuck > 0 || !halves || more {
		return a
	}
	return with
}

// late are the units of which most samples lose something with an attempt because who sends to a pod has not heard yet that it goes.
func (s *search) late(a *attempt) []int {
	return slices.DeleteFunc(s.indices(), func(k int) bool {
		var list []try
		for i := range s.samples[k] {
			list = append(list, try{s.units[k].sc, a.changes, s.samples[k][i].Seed, s.units[k].changed()})
		}
		n := 0
		for _, run := range s.tries("looking for fixes", ForSearch, list) { // done before
			if run != nil && slices.ContainsFunc(run.Groups, func(g ledger.Group) bool {
				return g.Blame.Cause == ledger.StaleRules || g.Blame.Cause == ledger.StaleLB
			}) {
				n++
			}
		}
		return 2*n <= len(list)
	})
}
