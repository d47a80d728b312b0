package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pair takes out of a run what fails without the action, too: a node that never answers, an app that answers with errors.
// without is the run of the same seed and the same length without the action; failed and before are the failed requests of the
// two, all of them, and nil where nothing fails without the action. What is left in Streams and Groups is what the action costs, and Stream.Before counts the rest.
//
// A request has the same number, arrival and draws in both runs. Where some fail only without the action, who fails is a matter
// of chance, because clients met another pod or node: then, of the causes that make requests fail in both runs, the difference of
// the two counts is what the action costs, if it is more than chance makes of it. That is said of no request to a node that has a pod without
// the action and none with it: other nodes may have got one, and answer other clients. nodes are those of the world.
func (r *Run) Pair(without *Run, nodes []world.Node, failed, before []ledger.Request) {
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
		caused := causedOf(nodes, all, ofStream(before, i))
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
func Anyway(streams int, nodes []world.Node, failed, before []ledger.Request) []ledger.Request {
	var out []ledger.Request
	for i := range streams {
		all := ofStream(failed, i)
		caused := numbersOf(causedOf(nodes, all, ofStream(before, i)))
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
func causedOf(nodes []world.Node, failed, before []ledger.Request) []ledger.Request {
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
	sure, doubtful := byCause(nodes, only, before)
	more := len(doubtful) - chance
	if more <= 0 || more*more <= 9*2*chance { // three standard deviations of the difference of two such counts
		return sure
	}
	return append(sure, doubtful[:more]...)
}

// byCause tells failed requests of which none fails like that without the action from the others: for their cause, or, where that is how a
// node is, at their node.
func byCause(nodes []world.Node, only, before []ledger.Request) (sure, doubtful []ledger.Request) {
	known, dark := map[ledger.Cause]bool{}, map[int]bool{}
	for i := range before {
		known[before[i].Blame.Cause] = true
		if before[i].Blame.Cause == ledger.NoLocalEndpoint {
			dark[before[i].Node] = true
		}
	}
	for i := range only {
		if q := &only[i]; !known[q.Blame.Cause] || wentDark(nodes, q) && !dark[q.Node] {
			sure = append(sure, *q)
		} else {
			doubtful = append(doubtful, *q)
		}
	}
	return sure, doubtful
}

// wentDark says that a request met a node without a pod of its own, and that this node is asked without the action, too. A node that joins, or that
// an ingress controller's pod has moved to, is not: it may stand for one that did not answer either.
func wentDark(nodes []world.Node, q *ledger.Request) bool {
	joins := q.Node >= 0 && q.Node < len(nodes) && nodes[q.Node].Joins
	return q.Blame.Cause == ledger.NoLocalEndpoint && q.Ingress == "" && !joins
}
