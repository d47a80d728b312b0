package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// NotSimulated is the error of runs that came to something which is not simulated.
type NotSimulated = sim.NotSimulated

// Options say how much is run.
type Options struct {
	Seed    uint64 // the first seed; 0 for 1
	Runs    int    // seeds of each case; 0 for 1
	Workers int    // goroutines; 0 for GOMAXPROCS
	// Sensitivity has every assumption of a case tried with its other values.
	Sensitivity bool
	// Fixes is how many workloads fixes are looked for, the worst first.
	Fixes int
	// ConfirmRuns is how many new seeds confirm each; 0 for 200.
	ConfirmRuns int
	// Progress, if there is one, is told after each piece of work how many of a stage are done
	// of how many, by one goroutine at a time.
	Progress func(stage string, done, of int)
}

// Run simulates every case that has a Scenario with each seed, then tells a story of each
// cause, tries the other values of what was assumed and looks for fixes. When ctx ends, what
// was done until then is returned, with Interrupted set. The error joins the runs that failed
// for a fault of the simulator, with the record of all others; it is a NotSimulated where a run
// came to something that is not simulated, and then nothing is told, tried or looked for. A case
// that is run though it is not judged has its runs, and nothing of the rest.
func Run(ctx context.Context, cases []scenario.Case, opts Options) (*check.Simulation, error) {
	opts.Seed, opts.Runs, opts.ConfirmRuns = cmp.Or(opts.Seed, 1), cmp.Or(opts.Runs, 1), cmp.Or(opts.ConfirmRuns, confirmRuns)
	out := &check.Simulation{Seed: opts.Seed, Runs: opts.Runs, Digest: digest(cases), Cases: []check.Case{}}
	p := &pool{ctx: ctx, opts: &opts}
	errs := central(p, cases, out)
	if p.refused != nil {
		return out, p.refused
	}
	errs = append(errs, stories(p, cases, out)...)
	if opts.Sensitivity {
		sensitivity(p, cases, out)
	}
	if opts.Fixes > 0 {
		if err := fixes(p, cases, out); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if ctx.Err() != nil {
		out.Interrupted = true
	}
	if len(errs) > 0 {
		return out, fmt.Errorf("sim: %s", strings.Join(errs, "\n"))
	}
	return out, nil
}

// central does the runs that verdicts are made of.
func central(p *pool, cases []scenario.Case, out *check.Simulation) (errs []string) {
	var jobs []job
	for i := range cases {
		out.Cases = append(out.Cases, record(&cases[i]))
		if cases[i].Scenario == nil {
			continue
		}
		for n := range p.opts.Runs {
			jobs = append(jobs, job{i, cases[i].Scenario, p.opts.Seed + uint64(n), inferred(&cases[i])})
		}
	}
	failed := make([]bool, len(cases))
	for i, r := range p.runs("simulating", jobs) {
		c := &out.Cases[jobs[i].index]
		switch {
		case errors.As(r.err, &NotSimulated{}):
			p.refused = cmp.Or(p.refused, fmt.Errorf("scenario %s: %w", c.ID, r.err)) // the first one will do
			c.Verdict, c.Reason = check.NotJudged, r.err.Error()
		case r.err != nil:
			errs = append(errs, fmt.Sprintf("%s, seed %d: %v", c.ID, jobs[i].seed, r.err))
			failed[jobs[i].index] = true
			c.Verdict, c.Reason = check.NotJudged, fmt.Sprintf("seed %d: the simulation itself failed", jobs[i].seed)
		case r.run == nil:
			out.Interrupted = true
		default:
			c.Runs = append(c.Runs, *r.run)
		}
	}
	for i := range out.Cases {
		if failed[i] {
			out.Cases[i].Runs = nil // some of them failed: the others say nothing about the case
		}
		out.Cases[i].Close()
	}
	return errs
}

// stories tells those of all cases that lost something.
func stories(p *pool, cases []scenario.Case, out *check.Simulation) (errs []string) {
	faults := make([]error, len(cases))
	p.each("telling", len(cases), func(i int) {
		if len(out.Cases[i].Causes) > 0 {
			faults[i] = tell(cases[i].Scenario, &out.Cases[i])
		}
	})
	for _, err := range faults {
		if err != nil {
			errs = append(errs, err.Error())
		}
	}
	return errs
}

// record begins a case's record.
func record(c *scenario.Case) check.Case {
	out := check.Case{
		ID: c.ID, Action: c.Action, Workload: c.Workload, Traffic: c.Traffic, Kind: c.Kind, Class: c.Class,
		Verdict: check.Verdict(c.Verdict), Reason: c.Reason,
	}
	if c.Object != nil {
		out.Source = c.Object.Position.String()
	}
	if c.Scenario == nil {
		out.Verdict = check.NotJudged
		return out
	}
	for _, n := range c.Scenario.Nodes {
		out.Nodes = append(out.Nodes, n.Name)
	}
	for _, t := range c.Scenario.Traffic {
		out.Clients = append(out.Clients, check.Client{Name: t.Name, Rate: t.Rate, External: t.External})
	}
	out.Expectation = c.Scenario.Expect
	out.Assumptions, out.NotModelled = c.Scenario.Assumptions, c.Scenario.NotModelled
	return out
}

// digest names what is run: the normalised forms of all scenarios.
func digest(cases []scenario.Case) string {
	h := sha256.New()
	for i := range cases {
		fmt.Fprintln(h, cases[i].ID, cases[i].Verdict)
		if cases[i].Scenario != nil {
			fmt.Fprintln(h, scenario.Normal(cases[i].Scenario))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// kindScenario is the kind of a case that somebody wrote.
const kindScenario = "Scenario"

// Scenarios makes one case of each Scenario that somebody wrote.
func Scenarios(list []*scenario.Scenario) []scenario.Case {
	var out []scenario.Case
	for _, sc := range list {
		c := scenario.Case{ID: sc.Name, Kind: kindScenario, Scenario: sc, Families: sc.Families()}
		var verbs, targets, clients []string
		for _, a := range sc.Actions {
			if a.Verb == "component" {
				verbs = distinct(verbs, a.Value+" of "+a.Target) // no workload's
				continue
			}
			verbs, targets = distinct(verbs, a.Verb), distinct(targets, a.Target)
		}
		for _, t := range sc.Traffic {
			clients = append(clients, t.Name)
			c.Headline = c.Headline || t.Headline
			c.Service = cmp.Or(c.Service, t.Service)
		}
		c.Action, c.Workload, c.Traffic = cmp.Or(strings.Join(verbs, ", "), "no action"), strings.Join(targets, ", "), strings.Join(clients, ", ")
		out = append(out, c)
	}
	return out
}

func distinct(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
