package sweep

import (
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// try is a run of a search: a Scenario with some changes made to the workload.
type try struct {
	of      *world.Scenario // before the changes: of a unit, or with another value of what that depends on
	changes []fix.Change
	seed    uint64
	pair    pairing
}

// tryID names a try within one search: there every change has a title of its own.
type tryID struct {
	of      *world.Scenario
	changes string // their titles
	seed    uint64
	pair    pairing
}

func (y *try) id() tryID { return tryID{y.of, titles(y.changes, "; "), y.seed, y.pair} }

// tries does runs of a search and returns them in order, nil for what was not done. What is the same as before is not simulated
// again: a set of changes is tried with the other values before it is found and after it, and on seeds of which it was found again
// to be confirmed.
func (s *search) tries(stage string, what Purpose, list []try) []*record.Run {
	if s.done == nil {
		s.done = map[tryID]*record.Run{}
	}
	var jobs []job
	var ids []tryID
	asked := map[tryID]bool{}
	changed := map[tryID]*world.Scenario{} // by what it is made of
	for i := range list {
		id := list[i].id()
		if s.done[id] != nil || asked[id] {
			continue
		}
		asked[id] = true
		made := tryID{of: id.of, changes: id.changes}
		if changed[made] == nil {
			changed[made] = fix.Apply(id.of, s.workload, list[i].changes)
		}
		jobs, ids = append(jobs, job{0, changed[made], id.seed, id.pair, nil}), append(ids, id)
	}
	for i, r := range s.pool.runs(stage, what, jobs) {
		if r.run != nil {
			s.done[ids[i]] = r.run
		}
	}
	out := make([]*record.Run, len(list))
	for i := range list {
		out[i] = s.done[list[i].id()]
	}
	return out
}
