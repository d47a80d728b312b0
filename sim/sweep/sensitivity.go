package sweep

import (
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// pairedSeeds is how many seeds each other value of an assumption is tried on.
const pairedSeeds = 20

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
	var jobs []job
	for _, u := range units {
		if !u.judged() || u.record.Expectation != nil {
			continue
		}
		n := min(pairedSeeds, len(u.record.Runs))
		for _, alt := range scenario.Alternatives(u.sc) {
			if u.family != nil && alt.ID == "lb" {
				continue
			}
			for k := range n {
				jobs = append(jobs, job{len(trials), alt.Scenario, u.record.Runs[k].Seed, inferred(u.of)})
			}
			trials = append(trials, trial{u, alt, n})
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
