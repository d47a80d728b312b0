package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Pair takes out of a run what fails without the action, too: a node that never answers, an app that answers with errors.
// without is the run of the same seed and the same length without the action; failed and before are the failed requests of the
// two, all of them, and nil where nothing fails without the action. What is left in Streams and Groups is what the action costs, and Stream.Before counts the rest.
//
// A request has the same number, arrival and draws in both runs. Where some fail only without the action, who fails is a matter
// of chance, because clients met another pod or node: then, of the causes that make requests fail in both runs, the difference of
// the two counts is what the action costs, if it is more than chance makes of it.
func (r *Run) Pair(without *Run, failed, before []ledger.Request) {
	r.Without, r.WithoutGroups = without.Streams, without.Groups
	if without.Totals().Failed > 0 {
		r.Groups = nil
	}
	for i := range r.Streams {
		s := &r.Streams[i]
		s.Slow, s.Rescued = less(s.Slow, without.Streams[i].Slow), less(s.Rescued, without.Streams[i].Rescued)
		s.Cuts = less(s.Cuts, without.Streams[i].Cuts)
		if without.Streams[i].LongestWait > 0 {
			s.LongestWait = 0
		}
		if s.Failed == 0 || without.Streams[i].Failed == 0 {
			r.group(ofStream(failed, i))
			continue
		}
		all := ofStream(failed, i)
		caused := causedOf(all, ofStream(before, i))
		if len(caused) == len(all) {
			r.group(caused)
			continue
		}
		interval := s.LostSeconds / engine.Time(len(all)) // each of them is worth the same
		s.Before = s.Failed - uint64(len(caused))
		s.Failed, s.LostSeconds = uint64(len(caused)), interval*engine.Time(len(caused))
		s.Outcomes = [ledger.NumOutcomes]uint64{ledger.OK: s.Outcomes[ledger.OK]}
		for k := range caused {
			s.Outcomes[caused[k].Outcome]++
		}
		numbers := numbersOf(caused)
		s.LongestOutage = ledger.LongestOutage(all, func(q *ledger.Request) bool { return numbers[q.Number] })
		r.group(caused)
	}
}

// Anyway are the failed requests of a run that the action is not to blame for: they fail in the run of the same seed without it, too, or as
// many others do in their place, for the same cause.
func Anyway(streams int, failed, before []ledger.Request) []ledger.Request {
	var out []ledger.Request
	for i := range streams {
		all := ofStream(failed, i)
		caused := numbersOf(causedOf(all, ofStream(before, i)))
		out = append(out, slices.DeleteFunc(all, func(q ledger.Request) bool { return caused[q.Number] })...)
	}
	return out
}

// Calm says that all requests were simply answered in the run of the same seed without the action, and no connection was cut;
// false where that run was not done.
func (r *Run) Calm() bool {
	for i := range r.Without {
		if s := &r.Without[i]; s.Failed+s.Slow+s.Rescued+s.Cuts > 0 {
			return false
		}
	}
	return r.Without != nil
}

// group adds requests to a run's groups.
func (r *Run) group(list []ledger.Request) {
	var g ledger.Grouped
	for i := range list {
		g.Add(&list[i])
	}
	for _, x := range g.List() {
		r.Groups = append(r.Groups, *x)
	}
}

func less(a, b uint64) uint64 { return a - min(a, b) }

func ofStream(list []ledger.Request, stream int) []ledger.Request {
	return slices.DeleteFunc(slices.Clone(list), func(q ledger.Request) bool { return q.Stream != stream })
}

func numbersOf(list []ledger.Request) map[uint64]bool {
	out := make(map[uint64]bool, len(list))
	for i := range list {
		out[list[i].Number] = true
	}
	return out
}

// causedOf picks the failed requests of a stream that the action is to blame for.
func causedOf(failed, before []ledger.Request) []ledger.Request {
	with, without := numbersOf(failed), numbersOf(before)
	only := slices.DeleteFunc(slices.Clone(failed), func(q ledger.Request) bool { return without[q.Number] })
	chance := 0 // that fail without the action, and not with it
	for i := range before {
		if !with[before[i].Number] {
			chance++
		}
	}
	if chance == 0 {
		return only
	}
	sure, doubtful := byCause(only, before)
	more := len(doubtful) - chance
	if more <= 0 || more*more <= 9*2*chance { // three standard deviations of the difference of two such counts
		return sure
	}
	return append(sure, doubtful[:more]...)
}

// byCause tells failed requests whose cause makes none fail without the action from the others.
func byCause(only, before []ledger.Request) (sure, doubtful []ledger.Request) {
	known := map[ledger.Cause]bool{}
	for i := range before {
		known[before[i].Blame.Cause] = true
	}
	for _, q := range only {
		if known[q.Blame.Cause] {
			doubtful = append(doubtful, q)
		} else {
			sure = append(sure, q)
		}
	}
	return sure, doubtful
}
