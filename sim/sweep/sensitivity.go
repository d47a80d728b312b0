package sweep

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const (
	// pairedSeeds is how many seeds each other value of an assumption is tried on, fewestSeeds where there is a lot to try: all of it
	// together is to be about as heavy as trying.
	pairedSeeds = 20
	fewestSeeds = 5
	trying      = 6_000_000
)

// sensitivity tries each case with the other values of what it assumes, on its first seeds. A
// Scenario that says what it expects says what it is about: it is left alone, as is a case that has no verdict to
// change. Where the load balancer is unknown each that it might be is a case of its own, and none is tried instead of another.
func sensitivity(p *pool, units []*unit) {
	type trial struct {
		unit *unit
		alt  scenario.Alternative
		runs int
	}
	var trials []trial
	weight := 0
	for _, u := range units {
		if !u.judged() || u.record.Expectation != nil {
			continue
		}
		for _, alt := range scenario.Alternatives(u.sc) {
			if u.family != nil && slices.ContainsFunc(u.of.Families, func(f scenario.Family) bool { return f.Preset == alt.Value }) {
				continue
			}
			trials, weight = append(trials, trial{u, alt, 0}), weight+u.weight()
		}
	}
	var jobs []job
	for i := range trials {
		t := &trials[i]
		t.runs = min(afford(trying, weight, fewestSeeds, pairedSeeds), len(t.unit.record.Runs))
		for k := range t.runs {
			jobs = append(jobs, job{i, t.alt.Scenario, t.unit.record.Runs[k].Seed, inferred(t.unit.of)})
		}
	}
	runs := make([][]check.Run, len(trials))
	for i, r := range p.runs("trying assumptions", jobs) {
		if r.run != nil {
			runs[jobs[i].index] = append(runs[jobs[i].index], *r.run)
		}
	}
	for i, t := range trials {
		if len(runs[i]) == t.runs { // a trial that was cut short says nothing
			t.unit.record.Try(t.alt.ID, t.alt.Value, runs[i])
		}
	}
}
