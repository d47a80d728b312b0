package sweep

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

const (
	// fewestRuns is how many runs a case has at least where nobody says how many, mostRuns at most
	// (docs/model/simulator.md 9). Between them are those after which it is asked whether they are enough,
	// or whether more would hardly decide.
	fewestRuns = 100
	mostRuns   = 1000
	// expectedRuns is for cases whose verdict does not follow from how often something is lost: a Scenario says what it expects
	// of every run, and of pods that clients choose by themselves there are only figures.
	expectedRuns = 20
	// heavy is how many events a run has from which on the runs of a case are fewer: all of them together have no more than
	// heavy times fewestRuns events, and are few at least. Nobody waits for an hour for the hundredth rollout of 20,000 pods.
	heavy = 1_000_000
	few   = 5
)

// stages are the numbers of runs after which it is asked whether they are enough.
var stages = [...]int{fewestRuns, 150, 200, 300, 400, 500, 600, 700, 850, mostRuns}

// central does the runs that verdicts are made of.
func central(p *pool, units []*unit) (errs []string) {
	if p.opts.Runs > 0 {
		errs = p.extend(units, func(*unit) int { return min(calmRuns, p.opts.Runs) })
		errs = append(errs, p.extend(units, func(*unit) int { return p.opts.Runs })...)
	} else {
		errs = p.extend(units, func(*unit) int { return 1 })
		errs = append(errs, p.extend(units, func(u *unit) int { return min(calmRuns, u.upTo(fewestRuns)) })...)
		for _, stage := range stages {
			if p.refused == nil {
				errs = append(errs, p.extend(units, func(u *unit) int { return u.upTo(stage) })...)
			}
		}
	}
	for _, u := range units {
		if u.failed {
			u.record.Runs = nil // some of them failed: the others say nothing about the case
		}
		u.record.Close()
	}
	return errs
}

// upTo is how many runs a unit is to have by a stage.
func (u *unit) upTo(stage int) int {
	have := len(u.record.Runs)
	if have == 0 {
		return 0 // interrupted, or it has failed
	}
	switch {
	case u.record.Expectation != nil || u.of.Verdict != "":
		return min(expectedRuns, u.affordable())
	case stage > fewestRuns && !u.record.Worthwhile(mostRuns):
		return have
	default:
		return min(stage, u.affordable())
	}
}

// affordable is how many runs a unit may have at most, by the events of its first one.
func (u *unit) affordable() int {
	events := max(u.record.Runs[0].Events+uint64(copies(u.sc)), 1)
	if events < heavy {
		return mostRuns
	}
	return int(max(few, heavy*fewestRuns/events))
}

// extend does runs until each unit has as many as it is to have.
func (p *pool) extend(units []*unit, want func(*unit) int) (errs []string) {
	var jobs []job
	for i, u := range units {
		if u.sc == nil || u.failed {
			continue
		}
		for n, most := len(u.record.Runs), want(u); n < most; n++ {
			jobs = append(jobs, job{i, u.sc, p.opts.Seed + uint64(n), u.pairs(), u.sight})
		}
	}
	for i, r := range p.runs("simulating", ForVerdict, jobs) {
		u := units[jobs[i].index]
		c := &u.record
		switch {
		case errors.As(r.err, &NotSimulated{}):
			p.refused = cmp.Or(p.refused, fmt.Errorf("scenario %s: %w", c.ID, r.err)) // the first one will do
			c.Verdict, c.Reason = record.NotJudged, r.err.Error()
		case r.err != nil:
			errs = append(errs, fmt.Sprintf("%s, seed %d: %v", c.ID, jobs[i].seed, r.err))
			c.Verdict, c.Reason, u.failed = record.NotJudged, fmt.Sprintf("seed %d: the simulation itself failed", jobs[i].seed), true
		case r.run != nil:
			c.Runs = append(c.Runs, *r.run)
		}
	}
	return errs
}
