package sweep

import (
	"sync"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// inferred says that a case's world was made up for its one action: what fails without the action is none of its cost. What
// happens in a Scenario of the user's is what it is about.
func inferred(c *scenario.Case) bool { return c.Kind != kindScenario }

// pairing says whether a run is compared with the run of the same seed without the action.
type pairing int

const (
	unpaired    pairing = iota // no run is
	pairedSmall                // a run that loses less than much is
	pairedAll                  // each run is
	pairedKnown                // each run is, of a case of which it is known that something fails without the action
)

const (
	// much is from what loss on a run is not compared where nothing is known to fail without the action: what it is called does
	// not hang by single requests.
	much = 100 * engine.Millisecond
	// calmRuns is how many runs of a case have to be calm without the action before that is taken to be known.
	calmRuns = 20
)

// pairs says how the runs of a unit are compared after those that it has.
func (u *unit) pairs() pairing {
	switch runs := u.record.Runs; {
	case !inferred(u.of):
		return unpaired
	case len(runs) >= calmRuns && calm(runs):
		return pairedSmall
	default:
		return pairedAll
	}
}

// calm says that nothing fails in any of some runs without the action, and that not all of these were left out.
func calm(runs []record.Run) bool {
	known := false
	for i := range runs {
		if runs[i].Without != nil && !runs[i].Calm() {
			return false
		}
		known = known || runs[i].Without != nil
	}
	return known
}

// paired is a run of a scenario and the run of the same seed without the action, taken out of it.
func paired(sc *world.Scenario, seed uint64, which pairing) outcome {
	return pairedWith(sc, seed, which, nil)
}

// pairedWith is paired with a run that somebody hears of, nil for nobody.
func pairedWith(sc *world.Scenario, seed uint64, which pairing, sight *timeline.Recorder) outcome {
	var failed, before failures
	var listener ledger.Listener
	if which == pairedKnown {
		listener = &failed
	}
	with := recordedWith(sc, seed, listener, sight)
	if with.err != nil || !touched(with.run) || which == pairedSmall && with.run.LostSeconds() >= much {
		return with
	}
	with.pairs++
	without := recorded(sc.Idle(with.run.End), seed, &before, true)
	if without.err != nil {
		return without
	}
	// Who failed matters where a request fails in both: then the same run again, with a recorder of that.
	if without.run.Totals().Failed > 0 && which != pairedKnown {
		with.pairs++
		if again := recorded(sc, seed, &failed, true); again.err != nil {
			return again
		}
	}
	with.run.Pair(without.run, sc.Nodes, failed.list, before.list)
	return with
}

// recorded is a run by itself, whose failed requests are listed where they are asked for.
func recorded(sc *world.Scenario, seed uint64, list *failures, asked bool) outcome {
	if !asked {
		return recordedWith(sc, seed, nil, nil)
	}
	return recordedWith(sc, seed, list, nil)
}

// recordedWith is a run by itself, with who hears of its requests, or else of all that a sight has; nil is nobody.
func recordedWith(sc *world.Scenario, seed uint64, requests ledger.Listener, sight *timeline.Recorder) outcome {
	memory, ok := memories.Get().(*sim.Memory)
	if !ok {
		memory = &sim.Memory{}
	}
	opts := sim.Options{Memory: memory, Unlisted: true, Requests: requests}
	if sight != nil && requests == nil {
		opts.Requests, opts.Events = sight, sight.Log()
	}
	res, err := sim.RunWith(sc, seed, opts)
	if err != nil {
		return outcome{err: err}
	}
	memories.Put(memory)
	return outcome{run: summary(sc, res)}
}

// memories are those of runs that came to their end, for the next ones on whichever core.
var memories = sync.Pool{New: func() any { return new(sim.Memory) }}

// touched says that not all requests of a run were simply answered.
func touched(r *record.Run) bool {
	sum := r.Totals()
	return sum.Failed+sum.Slow+sum.Rescued > 0
}

// failures lists the failed requests of a run.
type failures struct{ list []ledger.Request }

// Begin is of no interest, as is all that did not fail.
func (f *failures) Begin(int, uint64, engine.Time) {}

// Counted are requests that did not fail.
func (f *failures) Counted(int, uint64, uint64) {}

// AttemptFailed is not the end of the request.
func (f *failures) AttemptFailed(int) {}

// Succeed is of no interest.
func (f *failures) Succeed(int, uint64, uint64, engine.Time, bool, bool) {}

// Revoke takes back a success.
func (f *failures) Revoke(int, uint64, bool, bool) {}

// Fail keeps a request that failed for good.
func (f *failures) Fail(r *ledger.Request) { f.list = append(f.list, *r) }
