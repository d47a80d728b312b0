package sweep

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// drawnRequests is how many requests a run may have that is looked at with each of them followed by itself.
const drawnRequests = 2_000_000

// traced is a run that a timeline is made of, and where it belongs.
type traced struct {
	sc       *world.Scenario
	seed     uint64
	requests uint64             // about
	paired   bool               // something fails without the action, too
	counted  bool               // requests that are simply answered are counted, and not followed
	sight    *timeline.Recorder // of the same run, nil for none: what of a large world matters
	followed *followed          // that run, with what matters followed, nil where it has to be made
	into     **timeline.Timeline
}

// Draw makes one run of a case into lanes, at once: which requests fail without the action, too, is asked of that run alone, and those that are
// simply answered are counted. family is which of the load balancers that the case might have, "" for the first. The Timeline is nil for a
// case without a world.
func Draw(c *scenario.Case, family string, seed uint64) (*timeline.Timeline, error) {
	sc := c.Scenario
	for i := range c.Families {
		if f := &c.Families[i]; i == 0 || f.Preset == family {
			sc = f.Scenario
		}
	}
	if sc == nil {
		return nil, nil
	}
	p, x := &pool{}, traced{sc: sc, seed: seed, counted: true}
	t, err := x.trace(p)
	if err != nil || len(t.Lost) == 0 || !inferred(c) {
		return t, err
	}
	without := recorded(sc.Idle(t.End), seed, nil, false)
	if without.err != nil || without.run.Totals().Failed == 0 {
		return t, without.err
	}
	x.paired = true
	return x.trace(p)
}

// timelines adds those of the worst run of the worst cases, and of the same run with what was found to help.
func timelines(p *pool, units []*unit, out *record.Simulation, solved map[confirmation]*confirmed) []string {
	var list []traced
	cases := 0
	for _, c := range out.Worst() {
		if cases < p.opts.Timelines && len(c.Runs) > 0 {
			cases++
			u := unitOf(units, out, c)
			list = append(list, traced{sc: u.sc, seed: seedOf(c), requests: c.Runs[0].Sum().Total, paired: failsAnyway(c), sight: u.sight, followed: u.followed, into: &c.Timeline})
			list = append(list, withFix(u, out, c, solved)...)
		}
	}
	type made struct {
		timeline *timeline.Timeline
		err      error
	}
	var errs []string
	for i, m := range collect(p, "drawing", len(list), patience, func(i int) made {
		t, err := list[i].trace(p)
		return made{t, err}
	}) {
		if m.err != nil {
			errs = append(errs, fmt.Sprintf("%s, seed %d: %s", list[i].sc.Name, list[i].seed, m.err))
		}
		*list[i].into = m.timeline
	}
	return errs
}

// trace runs it, and once more where the first run says what of a large world matters.
func (x *traced) trace(p *pool) (*timeline.Timeline, error) {
	r, res, err := x.recorded(p)
	if err != nil {
		return nil, err
	}
	t := r.Build(x.seed, res.End, res.Pods)
	for i := range t.Clients {
		t.Clients[i].WithoutServer = withoutServer(&x.sc.Traffic[i], &res.Streams[i])
	}
	return t, nil
}

// recorded is the run of a timeline with what was heard of it.
func (x *traced) recorded(p *pool) (*timeline.Recorder, *sim.Result, error) {
	if x.followed != nil {
		return x.followed.recorder, x.followed.res, nil
	}
	anyway, err := x.withoutAction(p)
	if err != nil {
		return nil, nil, err
	}
	about := func(f *timeline.Focus) (*timeline.Recorder, *sim.Result, error) {
		p.counts.add(ForStory, 1)
		r := timeline.NewRecorder(x.sc, f)
		r.Without(anyway)
		res, err := x.run(r, sim.Options{Events: r.Log()})
		return r, res, err
	}
	if x.sight != nil && !x.paired {
		return about(x.sight.Focus())
	}
	r, res, err := about(nil)
	if err == nil && r.Cramped() {
		return about(r.Focus())
	}
	return r, res, err
}

// withoutServer is how long the sessions of a stream had no server, where that is more than the requests that failed come to.
func withoutServer(c *world.Traffic, s *sim.StreamResult) engine.Time {
	if record.NoServer(c.Rate, s.Failed, s.DarkSeconds, s.LostSeconds) {
		return s.LostSeconds
	}
	return 0
}

// withoutAction are the failed requests that the action is not to blame for, by the same run without it, and as long.
func (x *traced) withoutAction(p *pool) ([]ledger.Request, error) {
	if !x.paired {
		return nil, nil
	}
	p.counts.add(ForStory, 2)
	var failed, before failures
	with := recorded(x.sc, x.seed, &failed, true)
	if with.err != nil {
		return nil, with.err
	}
	without := recorded(x.sc.Idle(with.run.End), x.seed, &before, true)
	if without.err != nil {
		return nil, without.err
	}
	return record.Anyway(len(x.sc.Traffic), x.sc.Nodes, failed.list, before.list), nil
}

// failsAnyway says that requests fail without the action in some run of a case.
func failsAnyway(c *record.Case) bool {
	return slices.ContainsFunc(c.Runs, func(r record.Run) bool {
		return slices.ContainsFunc(r.Without, func(s record.Stream) bool { return s.Failed > 0 })
	})
}

func (x *traced) run(r *timeline.Recorder, opts sim.Options) (*sim.Result, error) {
	opts.Requests, opts.DrawAll = r, !x.counted && x.requests <= drawnRequests
	return sim.RunWith(x.sc, x.seed, opts)
}

// unitOf is the unit whose runs a case has: behind the load balancer that it loses most with, where it might be several.
func unitOf(units []*unit, out *record.Simulation, c *record.Case) *unit {
	at := slices.IndexFunc(units, func(u *unit) bool { return &out.Cases[u.index] == c })
	return worstOf(units, units[at])
}

// seedOf is the run of a case that is drawn: the worst, or the first where none is.
func seedOf(c *record.Case) uint64 {
	if c.WorstSeed != 0 {
		return c.WorstSeed
	}
	return c.Runs[0].Seed
}

// withFix is the same run with the first fix that was found for a case, none where there is none.
func withFix(u *unit, out *record.Simulation, c *record.Case, solved map[confirmation]*confirmed) []traced {
	for i := range out.Fixes {
		f := &out.Fixes[i]
		at := slices.IndexFunc(f.Cases, func(x record.FixedCase) bool { return x.ID == c.ID })
		if at < 0 {
			continue
		}
		for key, done := range solved { // order: at most one of a unit has that title
			if key.unit == u && titles(done.changes, ", ") == f.Title {
				sc := fix.Apply(u.sc, c.Workload, done.changes)
				return []traced{{sc: sc, seed: seedOf(c), requests: c.Runs[0].Sum().Total, paired: failsAnyway(c), into: &f.Cases[at].Timeline}}
			}
		}
	}
	return nil
}
