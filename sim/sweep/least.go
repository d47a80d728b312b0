package sweep

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
)

// provenRuns is on how many of the new seeds that a change was confirmed on for a case less has to do as much: what is lost in a fifteenth
// of them is noticed with 95 % confidence. With 100 online-boutique's manifest took a quarter longer.
const provenRuns = 40

// least is the least whole number of seconds with which a preStop hook of an attempt does what it does with its own: "3 s"; "" when it adds
// none, or none that is longer than it has to be. It is looked for on the samples, and then has to do on new seeds, too: those that lose
// most without any hook need not be those in which the last way to a pod closes latest.
func (s *search) least(a *attempt, anew []newRun) string {
	at := a.sleeps()
	if at < 0 {
		return ""
	}
	most := int64(a.changes[at].Sleep / engine.Second)
	enough := between(0, most, func(seconds int64) bool {
		b := s.shorter(a, at, seconds)
		return b != nil && s.leaves(b, a.lost+s.before/nearly)
	})
	for enough < most {
		lacking := s.lacking(s.shorter(a, at, enough), anew)
		if len(lacking) == 0 {
			break
		}
		enough = between(enough, most, func(seconds int64) bool { return len(s.lacking(s.shorter(a, at, seconds), lacking)) == 0 })
	}
	if enough == most {
		return ""
	}
	return fmt.Sprintf("%d s", enough)
}

// sleeps says which change of an attempt adds a preStop hook, -1 for none.
func (a *attempt) sleeps() int {
	return slices.IndexFunc(a.changes, func(c fix.Change) bool { return c.Sleep > 0 })
}

// between returns the least number over tooFew that is enough, where most is known to be.
func between(tooFew, most int64, enough func(int64) bool) int64 {
	for most-tooFew > 1 {
		if middle := (tooFew + most) / 2; enough(middle) {
			most = middle
		} else {
			tooFew = middle
		}
	}
	return most
}

// shorter is an attempt with another hook, nil where the pods have no room for one.
func (s *search) shorter(a *attempt, at int, seconds int64) *attempt {
	first := s.units[0].sc
	hook := fix.Shorter(first, first.Workload(s.workload), seconds)
	if hook == nil {
		return nil
	}
	b := &attempt{changes: slices.Clone(a.changes)}
	b.changes[at] = *hook
	return b
}

// newRun is a run of a unit with a seed that nobody has seen before.
type newRun struct {
	unit *unit
	seed uint64
	most uint64 // requests that the worst new run loses with what was confirmed
}

// newRuns are those on which less has to do as much as an attempt that was confirmed.
func (s *search) newRuns(a *attempt) []newRun {
	var out []newRun
	for _, u := range s.units {
		if known := s.confirmed[confirmation{u, titles(a.changes, "; ")}]; known != nil {
			for i := range min(known.newRuns, provenRuns) {
				out = append(out, newRun{u, s.pool.opts.Seed + newSeeds + i, known.worst})
			}
		}
	}
	return out
}

// atOnce is how many new runs are done before it is looked whether an attempt lacks something in one of them: most that do show it soon.
const atOnce = 8

// lacking are runs that lose more with an attempt than what was confirmed leaves in the worst of them: the first that are found among some
// new runs, none if there is none among all.
func (s *search) lacking(a *attempt, on []newRun) []newRun {
	var out []newRun
	for some := range slices.Chunk(on, atOnce) {
		list := make([]try, len(some))
		for i, r := range some {
			list[i] = try{r.unit.sc, a.changes, r.seed, r.unit.changed()}
		}
		for i, run := range s.tries("confirming fixes", ForConfirm, list) {
			if run == nil || fixable(run) > some[i].most {
				out = append(out, some[i])
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
