package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// NotSimulated is the error of runs that came to something which is not simulated.
type NotSimulated = sim.NotSimulated

// Options say how much is run.
type Options struct {
	Seed uint64 // the first seed; 0 for 1
	// Runs is how many seeds of each case; 0 for as many as it takes for its verdict to be the same with other seeds, with
	// 95 % confidence: 100 at least and 1,000 at most.
	Runs    int
	Workers int // goroutines; 0 for GOMAXPROCS
	// Sensitivity has every assumption of a case tried with its other values.
	Sensitivity bool
	// Fixes is how many workloads fixes are looked for, the worst first; negative for all.
	Fixes int
	// Timelines is of how many cases the worst run is made into lanes, the worst cases first, and the same run with what helps.
	Timelines int
	// Untold has no story told of any loss.
	Untold bool
	// ConfirmRuns is how many new seeds confirm each; 0 for 200.
	ConfirmRuns int
	// Progress, if there is one, is told after each piece of work how many of a stage are done
	// of how many, by one goroutine at a time.
	Progress func(stage string, done, of int)
	// Counts, if it is not nil, has the worlds that were simulated added to it, by what they were for.
	Counts map[Purpose]int
	// Wording is for what a reader can set, in errors and in the reports of what is returned.
	Wording scenario.Wording
}

// Run simulates every case that has a Scenario with each seed, then tells a story of each
// cause, tries the other values of what was assumed and looks for fixes. When ctx ends, what
// was done until then is returned, with Interrupted set. The error joins the runs that failed
// for a fault of the simulator, with the record of all others; it is a NotSimulated where a run
// came to something that is not simulated, and then nothing is told, tried or looked for. A case
// that is run though it is not judged has its runs, and nothing of the rest.
func Run(ctx context.Context, cases []scenario.Case, opts Options) (*record.Simulation, error) {
	opts.Seed, opts.ConfirmRuns = cmp.Or(opts.Seed, 1), cmp.Or(opts.ConfirmRuns, confirmRuns)
	out := &record.Simulation{Seed: opts.Seed, Runs: opts.Runs, Digest: digest(cases), Cases: []record.Case{}, Wording: opts.Wording}
	p := &pool{ctx: ctx, opts: &opts, counts: counts{of: opts.Counts}}
	units := unitsOf(cases)
	if err := tooLarge(units, &opts); err != nil {
		out.Cases = assemble(cases, units)
		return out, err
	}
	p.sights(units)
	errs := central(p, units)
	if p.refused != nil {
		out.Cases = assemble(cases, units)
		return out, p.refused
	}
	if !opts.Untold {
		errs = append(errs, stories(p, units)...)
	}
	if opts.Sensitivity && ctx.Err() == nil {
		sensitivity(p, units)
	}
	out.Cases = assemble(cases, units)
	for i := range out.Cases {
		out.Runs = max(out.Runs, len(out.Cases[i].Runs))
	}
	errs = append(errs, afterwards(p, units, out)...)
	if ctx.Err() != nil {
		out.Interrupted = true
	}
	if len(errs) > 0 {
		return out, fmt.Errorf("sim: %s", strings.Join(errs, "\n"))
	}
	return out, nil
}

// afterwards looks for fixes, and makes the timelines that were asked for.
func afterwards(p *pool, units []*unit, out *record.Simulation) (errs []string) {
	var solved map[confirmation]*confirmed
	if p.opts.Fixes != 0 && p.ctx.Err() == nil {
		var err error
		if solved, err = fixes(p, units, out); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if p.opts.Timelines > 0 && p.ctx.Err() == nil {
		errs = append(errs, timelines(p, units, out, solved)...)
	}
	return errs
}

// stories tells those of all units that lost something, and how the first run of one that holds went. Each is told of a copy: one
// that is not done when the user ends the simulation is not waited for.
func stories(p *pool, units []*unit) (errs []string) {
	type told struct {
		causes []record.Cause
		kept   *record.Kept
		err    error
	}
	for i, s := range collect(p, "telling", len(units), patience, func(i int) (out told) {
		c := units[i].record
		c.Causes = slices.Clone(c.Causes)
		switch {
		case len(c.Causes) > 0:
			out.err = p.tell(units[i], &c)
		case c.Verdict == record.Holds:
			out.err = p.keep(units[i], &c)
		}
		out.causes, out.kept = c.Causes, c.Kept
		return out
	}) {
		switch {
		case s.err != nil:
			errs = append(errs, s.err.Error())
		case len(s.causes) > 0:
			units[i].record.Causes = s.causes
		case s.kept != nil:
			units[i].record.Kept = s.kept
		}
	}
	return errs
}

// limiting is how many connections a pool of clients has, where nothing but these limits what it asks at once: 0 for other clients, and
// where the servers serve no more than so many requests at once.
func limiting(sc *world.Scenario, t *world.Traffic) int {
	svc := sc.ServiceNamed(t.Service)
	busy := func(w world.Workload) bool { return svc != nil && w.SelectedBy(svc) && w.App.Concurrency > 0 }
	if !t.KeepAlive || slices.ContainsFunc(sc.Workloads, busy) {
		return 0
	}
	return t.Clients
}

// shared is the name of a stream's Service where that leads to pods of several workloads, "" where it does not.
func shared(sc *world.Scenario, t *world.Traffic) string {
	svc, behind := sc.ServiceNamed(t.Service), 0
	if svc == nil {
		return ""
	}
	for i := range sc.Workloads {
		if sc.Endpoints(svc, &sc.Workloads[i]) {
			behind++
		}
	}
	if behind < 2 {
		return ""
	}
	return svc.Name
}

// recordOf begins a case's record, with the Scenario that it is run with.
func recordOf(c *scenario.Case, sc *world.Scenario) record.Case {
	out := record.Case{
		ID: c.ID, Action: c.Action, Workload: c.Workload, Traffic: c.Traffic, Kind: c.Kind, Class: c.Class, Headline: c.Headline, Users: c.Users,
		Verdict: record.Verdict(c.Verdict), Reason: c.Reason, Drain: c.Drain,
	}
	if c.Object != nil {
		out.Source = c.Object.Position.String()
	}
	if sc == nil {
		out.Verdict = record.NotJudged
		out.KeepDrain()
		return out
	}
	for _, n := range sc.Nodes {
		out.Nodes = append(out.Nodes, n.Name)
	}
	for _, t := range sc.Traffic {
		out.Clients = append(out.Clients, record.Client{Name: t.Name, Rate: t.Rate, External: t.External, Connects: t.Connects(), Shared: shared(sc, &t), Pool: limiting(sc, &t), BacksOff: t.Connection == world.ConnectionHTTP2 || t.Connection == world.ConnectionSession})
	}
	for i := range sc.Workloads {
		if w := &sc.Workloads[i]; w.Name() == c.Workload {
			out.Recreates, out.Unevictable = w.Recreate(), fix.Unevictable(sc, w)
		}
	}
	out.Sudden, out.Silence = fix.Sudden(sc), control.MonitorGrace(sc.Kubernetes.Version.Minor)
	out.Expectation = sc.Expect
	out.Assumptions, out.NotModelled = sc.Assumptions, sc.NotModelled
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
		for _, f := range cases[i].Families {
			fmt.Fprintln(h, f.Preset, scenario.Normal(f.Scenario))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// kindScenario is the kind of a case of the user's own.
const kindScenario = "Scenario"

// Scenarios makes one case of each Scenario of the user's.
func Scenarios(list []*world.Scenario) []scenario.Case {
	var out []scenario.Case
	for _, sc := range list {
		c := scenario.Case{ID: sc.Name, Kind: kindScenario, Scenario: sc, Families: sc.Families}
		var verbs, clients []string
		for _, a := range sc.Actions {
			if _, ok := a.Operation.(world.Component); ok {
				verbs = distinct(verbs, a.Value()+" of "+a.Target()) // no workload's
				continue
			}
			verbs = distinct(verbs, a.Verb())
		}
		for _, t := range sc.Traffic {
			clients = append(clients, t.Name)
			c.Headline = c.Headline || t.Headline
			c.Service = cmp.Or(c.Service, t.Service)
		}
		c.Action, c.Workload, c.Traffic = cmp.Or(strings.Join(verbs, ", "), "no action"), strings.Join(concerned(sc), ", "), strings.Join(clients, ", ")
		out = append(out, c)
	}
	return out
}

// concerned names the workloads that a Scenario is about, as ns/name: those that its actions name, and, where they name nodes or nothing at all, those
// that answer its clients.
func concerned(sc *world.Scenario) (names []string) {
	for i := range sc.Actions {
		target, _, _ := strings.Cut(sc.Actions[i].Target(), "#") // the number of a pod
		if slices.ContainsFunc(sc.Workloads, func(w world.Workload) bool { return w.Name() == target }) {
			names = distinct(names, target)
		}
	}
	if len(names) > 0 {
		return names
	}
	for i := range sc.Traffic {
		svc := sc.ServiceNamed(sc.Traffic[i].Service)
		for k := range sc.Workloads {
			if w := &sc.Workloads[k]; svc != nil && sc.Endpoints(svc, w) {
				names = distinct(names, w.Name())
			}
		}
	}
	return names
}

func distinct[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
