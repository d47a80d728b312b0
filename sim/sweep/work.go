package sweep

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// job is one run of one scenario; index is whatever its results are filed under.
type job struct {
	index int
	sc    *world.Scenario
	seed  uint64
	pair  pairing
	sight *timeline.Recorder // hears of the run, nil for nobody
}

// outcome is what became of a job; a zero one was not done.
type outcome struct {
	run *record.Run
	err error
	// pairs are the worlds that were simulated beside the run itself.
	pairs int
}

// pool does work on all cores and says how far it is.
type pool struct {
	ctx     context.Context
	opts    *Options
	counts  counts
	refused error // of a run that came to something that is not simulated
}

// runs does jobs and returns their outcomes in the order of the jobs.
func (p *pool) runs(stage string, what Purpose, jobs []job) []outcome {
	return collect(p, stage, len(jobs), patience, func(i int) outcome {
		out := jobs[i].do()
		p.counts.add(what, 1)
		p.counts.add(ForPair, out.pairs)
		return out
	})
}

// patience is how long runs are waited for that are under way when the context ends.
const patience = 400 * time.Millisecond

// collect is each for what has an outcome. Of what is not done some time after the context has ended nobody hears: a run may be an
// hour of a large world, and a user who ends it wants to see what there is. do must not write to anything that is looked at afterwards.
func collect[T any](p *pool, stage string, n int, patience time.Duration, do func(i int) T) []T {
	results := make([]T, n)
	var mu sync.Mutex
	over := false
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.each(stage, n, func(i int) {
			out := do(i)
			mu.Lock()
			defer mu.Unlock()
			if !over {
				results[i] = out
			}
		})
	}()
	select {
	case <-ended:
	case <-p.ctx.Done():
		select {
		case <-ended:
		case <-time.After(patience):
		}
	}
	mu.Lock()
	defer mu.Unlock()
	over = true
	return results
}

// each calls do for 0 to n-1, until the context ends.
func (p *pool) each(stage string, n int, do func(i int)) {
	workers := min(cmp.Or(p.opts.Workers, runtime.GOMAXPROCS(0)), n)
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
				if i >= n || p.ctx.Err() != nil {
					return
				}
				do(i)
				mu.Lock()
				done++
				if p.opts.Progress != nil && p.ctx.Err() == nil {
					p.opts.Progress(stage, done, n)
				}
				mu.Unlock()
			}
		}()
	}
	group.Wait()
}

// do does one run. A broken invariant of the simulator is an error here, not the end of all
// other runs.
func (j *job) do() (out outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = outcome{err: fmt.Errorf("%v\n%s", r, debug.Stack())}
		}
	}()
	switch {
	case j.sc.Expect != nil && len(j.sc.Expect.Order) > 0:
		return ordered(j.sc, j.seed)
	case j.pair != unpaired:
		return pairedWith(j.sc, j.seed, j.pair, j.sight)
	default:
		return recordedWith(j.sc, j.seed, nil, j.sight)
	}
}

// summary keeps of a run what reports are made of.
func summary(sc *world.Scenario, res *sim.Result) *record.Run {
	run := &record.Run{Seed: res.Seed, TraceHash: res.TraceHash, Events: res.Events, Settled: res.Settled, Unrest: res.Unrest, End: res.End, CutOff: sc.Until > 0 && res.End >= sc.Until}
	for i, s := range res.Streams {
		run.Streams = append(run.Streams, record.Stream{
			Totals: s.Totals, Outcomes: res.Ledger.Outcomes(i), LostSeconds: s.LostSeconds, LongestOutage: s.LongestOutage, LongestWait: s.LongestWait, Cuts: s.Cuts,
			DarkSeconds: s.DarkSeconds, LongestDark: s.LongestDark, SlowSeconds: s.SlowSeconds, RescuedSeconds: s.RescuedSeconds,
		})
	}
	for _, g := range res.Ledger.Groups() {
		run.Groups = append(run.Groups, *g)
	}
	first := true
	for i, u := range res.Usable {
		if sc.Workloads[i].Bystander {
			continue
		}
		if first || u.Of-u.Min > run.Usable.Of-run.Usable.Min {
			run.Usable = record.Usable{Of: u.Of, Min: u.Min, For: u.For, Now: u.Now, Staying: u.Staying}
			run.Dark = record.DarkRun(res.Dark[i])
		}
		first = false
	}
	for _, g := range res.Gaps {
		if sc.Workloads[g.Workload].Bystander {
			continue
		}
		set := record.SetGaps{Workload: sc.Workloads[g.Workload].Name(), Most: g.Most}
		for _, p := range g.Pods {
			set.Pods = append(set.Pods, record.Gap(p))
		}
		run.Gaps = append(run.Gaps, set)
	}
	if run.Stuck = stuck(sc, ownStuck(sc, res.Stuck)); run.Stuck == nil && res.Stuck != nil {
		run.Settled, run.Unrest = true, "" // the others wait for ever, and this is all there is
	}
	run.Overruled = overruled(sc, res.Overruled)
	if sc.Drains() {
		run.Drained, run.Blocked = drained(sc, res.Drained), blockedBy(sc, res.CannotEnd)
	}
	return run
}

// ownStuck is what cannot end and concerns the clients of a Scenario: what only a bystander waits for does not.
func ownStuck(sc *world.Scenario, s *control.Stuck) *control.Stuck {
	if s != nil && len(sc.Traffic) > 0 && sc.Workloads[s.Workload].Bystander {
		return nil
	}
	return s
}

// overruled are the nodes whose pods were deleted in the end, whatever budgets say.
func overruled(sc *world.Scenario, list []control.Overruled) []record.Overruled {
	var out []record.Overruled
	for i := range list {
		x := &list[i]
		o := record.Overruled{Workload: sc.Workloads[x.Pod.Workload].Name(), Node: sc.Nodes[x.Node].Name, By: x.By, Why: x.Why, Limit: x.Limit, Left: x.Left}
		if x.Budget >= 0 {
			b := &sc.Budgets[x.Budget]
			_, path := b.Bound()
			p := b.At(cmp.Or(path, "spec"))
			o.File, o.Line = p.File, p.Line
		}
		out = append(out, o)
	}
	return out
}

// drained are the nodes that a drain was through with.
func drained(sc *world.Scenario, list []control.Drained) []record.Drained {
	var out []record.Drained
	for _, d := range list {
		out = append(out, record.Drained{Node: sc.Nodes[d.Node].Name, Began: d.Began, Ended: d.Ended, Why: d.Why})
	}
	return out
}

// blockedBy lists what of a drain cannot end.
func blockedBy(sc *world.Scenario, list []control.Stuck) []record.Stuck {
	var out []record.Stuck
	for i := range list {
		out = append(out, *stuck(sc, &list[i]))
	}
	return out
}

// stuck names what cannot go on, with the line of the manifest behind it.
func stuck(sc *world.Scenario, s *control.Stuck) *record.Stuck {
	if s == nil {
		return nil
	}
	w := &sc.Workloads[s.Workload]
	out := &record.Stuck{Workload: w.Name(), Drain: s.Drain, Why: s.Why, What: s.What, TakenToListen: s.TakenToListen}
	p := w.At(s.Path)
	if s.Budget != nil {
		p = s.Budget.At(s.Path)
	}
	if s.Path != "" {
		out.File, out.Line = p.File, p.Line
	}
	return out
}
