package sweep

import (
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// pairedSeeds is how many seeds each other value of an assumption is tried on.
const pairedSeeds = 5

// sensitivity tries each case with the other values of what it assumes, on its first seeds. A
// Scenario that says what it expects says what it is about: it is left alone, as is a case that has no verdict to
// change.
func sensitivity(p *pool, cases []scenario.Case, out *check.Simulation) {
	type trial struct {
		index int // of the case
		alt   scenario.Alternative
		runs  int
	}
	var trials []trial
	var jobs []job
	for i := range cases {
		c := &out.Cases[i]
		if cases[i].Scenario == nil || cases[i].Verdict != "" || c.Expectation != nil || len(c.Runs) == 0 {
			continue
		}
		n := min(pairedSeeds, len(c.Runs))
		for _, alt := range scenario.Alternatives(cases[i].Scenario) {
			for k := range n {
				jobs = append(jobs, job{len(trials), alt.Scenario, c.Runs[k].Seed, inferred(&cases[i])})
			}
			trials = append(trials, trial{i, alt, n})
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
			out.Cases[t.index].Try(t.alt.ID, t.alt.Value, runs[i])
		}
	}
}
