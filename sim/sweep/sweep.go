package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Options say how much is run.
type Options struct {
	Seed    uint64 // the first seed; 0 for 1
	Runs    int    // seeds of each case; 0 for 1
	Workers int    // goroutines; 0 for GOMAXPROCS
	// Progress, if there is one, is told after each run how many are done of how many, by one
	// goroutine at a time.
	Progress func(done, of int)
}

// job is one run.
type job struct {
	index int // of the case
	seed  uint64
}

// outcome is what became of a job; a zero one was not done.
type outcome struct {
	run *check.Run
	err error
}

// Run simulates every case that has a Scenario with each seed. When ctx ends, what was done
// until then is returned, with Interrupted set. The error joins the runs that failed for a
// fault of the simulator, with the record of all others.
func Run(ctx context.Context, cases []scenario.Case, opts Options) (*check.Simulation, error) {
	opts.Seed, opts.Runs = cmp.Or(opts.Seed, 1), cmp.Or(opts.Runs, 1)
	out := &check.Simulation{Seed: opts.Seed, Runs: opts.Runs, Digest: digest(cases), Cases: []check.Case{}}
	var jobs []job
	for i := range cases {
		out.Cases = append(out.Cases, record(&cases[i]))
		if cases[i].Scenario == nil {
			continue
		}
		for n := range opts.Runs {
			jobs = append(jobs, job{i, opts.Seed + uint64(n)})
		}
	}
	results := work(ctx, cases, jobs, opts)
	var errs []string
	for i, r := range results {
		c := &out.Cases[jobs[i].index]
		switch {
		case r.err != nil:
			errs = append(errs, fmt.Sprintf("%s, seed %d: %v", c.ID, jobs[i].seed, r.err))
			c.Verdict, c.Reason = check.NotJudged, fmt.Sprintf("seed %d: the simulation itself failed", jobs[i].seed)
		case r.run == nil:
			out.Interrupted = true
		default:
			c.Runs = append(c.Runs, *r.run)
		}
	}
	for i := range out.Cases {
		if out.Cases[i].Verdict != "" {
			out.Cases[i].Runs = nil // some of them failed: the others say nothing about the case
		}
		out.Cases[i].Close()
	}
	if len(errs) > 0 {
		return out, fmt.Errorf("sim: %s", strings.Join(errs, "\n"))
	}
	return out, nil
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
		out.Clients = append(out.Clients, check.Client{Name: t.Name, Rate: t.Rate})
	}
	out.Expectation = c.Scenario.Expect
	out.Assumptions, out.NotModelled = c.Scenario.Assumptions, c.Scenario.NotModelled
	return out
}

// work does the jobs and returns their outcomes in the order of the jobs.
func work(ctx context.Context, cases []scenario.Case, jobs []job, opts Options) []outcome {
	results := make([]outcome, len(jobs))
	workers := min(cmp.Or(opts.Workers, runtime.GOMAXPROCS(0)), len(jobs))
	var group sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(jobs) || ctx.Err() != nil {
					return
				}
				results[i] = one(cases[jobs[i].index].Scenario, jobs[i].seed)
				mu.Lock()
				done++
				if opts.Progress != nil {
					opts.Progress(done, len(jobs))
				}
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	return results
}

// one does one run. A broken invariant of the simulator is an error here, not the end of all
// other runs.
func one(sc *scenario.Scenario, seed uint64) (out outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = outcome{err: fmt.Errorf("%v\n%s", r, debug.Stack())}
		}
	}()
	res, err := sim.Run(sc, seed)
	if err != nil {
		return outcome{err: err}
	}
	return outcome{run: summary(res)}
}

// summary keeps of a run what reports are made of.
func summary(res *sim.Result) *check.Run {
	run := &check.Run{Seed: res.Seed, TraceHash: res.TraceHash, Settled: res.Settled, End: res.End}
	for i, s := range res.Streams {
		run.Streams = append(run.Streams, check.Stream{
			Totals: s.Totals, Outcomes: res.Ledger.Outcomes(i), LostSeconds: s.LostSeconds, LongestOutage: s.LongestOutage,
		})
	}
	var largest *ledger.Group
	for _, g := range res.Ledger.Groups() {
		run.Groups = append(run.Groups, *g)
		if largest == nil || g.Count > largest.Count {
			largest = g
		}
	}
	failures := res.Ledger.Failures()
	if len(failures) == 0 {
		return run
	}
	at := slices.IndexFunc(failures, func(r ledger.Request) bool {
		return r.Stream == largest.Stream && r.Outcome == largest.Outcome && r.Blame == largest.Blame
	})
	example := failures[max(at, 0)]
	run.Example = &example
	return run
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

// Scenarios makes one case of each Scenario that somebody wrote.
func Scenarios(list []*scenario.Scenario) []scenario.Case {
	var out []scenario.Case
	for _, sc := range list {
		c := scenario.Case{ID: sc.Name, Kind: "Scenario", Scenario: sc}
		var verbs, targets, clients []string
		for _, a := range sc.Actions {
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
