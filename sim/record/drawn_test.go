package record

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptCases has all that follows from the runs of drawn cases.
const keptCases = "testdata/kept/cases.txt"

var update = flag.Bool("update", false, "rewrite "+keptCases+", where all tests are run")

var kept = golden.NewSums(keptCases, update, "cases", "outage", "stuck", "blocked", "drops", "rare", "holds", "not judged")

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawer draws cases. Of some nearly nothing happens in each run, of others much does.
type drawer struct {
	*rand.Rand
	loses, stuck, unsettled, fails float64 // parts of the runs: in which something is lost, ..., in which something fails without the action
	outage                         engine.Time
}

func newDrawer(seed uint64) *drawer {
	r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // the same each time
	return &drawer{
		Rand: r, loses: oneOf(r, 0, 0.02, 0.3, 0.6, 1), stuck: oneOf(r, 0, 0, 0, 0.03, 0.5, 1), unsettled: oneOf(r, 0, 0, 0, 0.1, 1), fails: oneOf(r, 0, 0, 0.2, 1),
		outage: oneOf(r, 0, 200*engine.Millisecond, 2*engine.Second),
	}
}

func (d *drawer) is(part float64) bool { return d.Float64() < part }

// span is a time of up to so many milliseconds.
func (d *drawer) span(most int) engine.Time { return engine.Time(d.IntN(most+1)) * engine.Millisecond }

func (d *drawer) blame() ledger.Blame {
	return ledger.Blame{
		Cause: ledger.Cause(1 + d.IntN(int(ledger.NumCauses)-1)), //nolint:gosec // a few
		Actor: oneOf(d.Rand, ledger.Spec, ledger.ProxyWait, ledger.LBProbe), Elsewhere: d.is(0.5),
	}
}

func (d *drawer) groups(streams int) (list []ledger.Group) {
	for range 1 + d.IntN(3) {
		first := d.span(20_000)
		g := ledger.Group{
			Stream: d.IntN(streams), Outcome: oneOf(d.Rand, ledger.Refused, ledger.Timeout), Blame: d.blame(), Count: oneOf(d.Rand, uint64(1+d.IntN(40)), 100), //nolint:gosec // a few
			First: first, Last: first + d.span(40_000), Nodes: map[int]uint64{d.IntN(4) - 1: 1, d.IntN(3): 2}, Pods: map[string]uint64{oneOf(d.Rand, "a", "b"): 1},
		}
		g.Example = ledger.Request{Number: d.Uint64N(1000), Arrival: first, Node: d.IntN(3)}
		list = append(list, g)
	}
	return list
}

func (d *drawer) streams(n int, groups []ledger.Group) []Stream {
	list := make([]Stream, n)
	for i := range list {
		s := &list[i]
		for _, g := range groups {
			if g.Stream == i {
				s.Failed += g.Count
				s.Outcomes[g.Outcome] += g.Count
			}
		}
		s.OK = 500 + d.Uint64N(500)
		s.Total, s.Attempts = s.OK+s.Failed, s.OK+s.Failed
		s.LostSeconds = engine.Time(s.Failed) * 10 * engine.Millisecond //nolint:gosec // a few
		s.Slow, s.Rescued, s.Cuts = d.Uint64N(5), d.Uint64N(5), d.Uint64N(3)
		s.SlowSeconds, s.RescuedSeconds, s.LongestWait = d.span(50), d.span(50), d.span(1500)
		if s.Failed > 0 {
			s.LongestOutage, s.DarkSeconds, s.LongestDark = d.outage, d.span(600), d.span(900)
		}
	}
	return list
}

func (d *drawer) waits() Stuck {
	return Stuck{Workload: oneOf(d.Rand, "shop/web", "shop/db"), Drain: d.is(0.5), Why: "a budget", What: "more pods", File: oneOf(d.Rand, "", "a.yaml", "b.yaml"), Line: d.IntN(2)}
}

func (d *drawer) run(seed, clients int) Run {
	r := Run{Seed: uint64(seed), Settled: !d.is(d.unsettled), End: 40*engine.Second + d.span(20_000), CutOff: d.is(0.1)} //nolint:gosec // a few
	if d.is(d.loses) {
		r.Groups = d.groups(clients)
	}
	r.Streams = d.streams(clients, r.Groups)
	if d.is(d.fails) {
		r.WithoutGroups = d.groups(clients)
		r.Without = d.streams(clients, r.WithoutGroups)
	}
	r.Usable = Usable{Of: 2, Min: d.IntN(3), For: d.span(5000), Now: d.IntN(3)}
	if !r.Settled {
		r.Unrest = oneOf(d.Rand, "node-1 has not synced", "")
	}
	if d.is(d.stuck) {
		s := d.waits()
		r.Stuck = &s
	}
	for range d.IntN(3) {
		r.Dark.Pods, r.Dark.Order = append(r.Dark.Pods, d.span(3000)), append(r.Dark.Order, oneOf(d.Rand, "db-0", "db-1"))
		began := d.span(1000)
		r.Drained = append(r.Drained, Drained{Node: oneOf(d.Rand, "node-1", "node-2"), Began: began, Ended: began + d.span(9000), Why: oneOf(d.Rand, "", "", "", "its time is over")})
		r.Gaps = append(r.Gaps, SetGaps{Workload: oneOf(d.Rand, "shop/db", "shop/log"), Pods: []Gap{{oneOf(d.Rand, "db-0", "db-1"), d.span(9000), d.is(0.8)}}, Most: 1 + d.IntN(2)})
		if d.is(d.stuck) {
			r.Blocked = append(r.Blocked, d.waits())
		}
		if d.is(0.2) {
			r.Overruled = append(r.Overruled, Overruled{Workload: "shop/web", Node: oneOf(d.Rand, "node-1", "node-2"), By: "GKE", Why: "a budget", Limit: d.span(900), Left: d.is(0.5)})
		}
	}
	r.Dark.Most, r.Dark.Rollout = d.IntN(3), d.span(9000)
	r.Out = oneOf(d.Rand, "", "", "", "SIGTERM")
	return r
}

func (d *drawer) runs(n, clients int) (list []Run) {
	for i := range n {
		list = append(list, d.run(i+1, clients))
	}
	return list
}

func (d *drawer) expectation() *world.Expect {
	if d.is(0.5) {
		return nil
	}
	number := func(n int) *int { return oneOf(d.Rand, nil, &n) }
	time := func(t engine.Time) *engine.Time { return oneOf(d.Rand, nil, &t) }
	causes := func() []string {
		return oneOf(d.Rand, nil, []string{"stale-rules"}, []string{"stale-lb", "no-endpoint", "stale-rules"})
	}
	return &world.Expect{
		FailedMax: number(d.IntN(30)), FailedMin: number(d.IntN(30)), LostSecondsMax: time(d.span(400)), LostSecondsMin: time(d.span(400)), CausesOnly: causes(), CausesSome: causes(),
		CausesNone: causes(), Verdict: oneOf(d.Rand, "", "drops", "holds"), UsablePodsMin: number(d.IntN(3)), UsablePodsMax: number(d.IntN(3)), GapSecondsMin: time(d.span(4000)),
		GapSecondsMax: time(d.span(9000)),
	}
}

func (d *drawer) drawCase(id string) Case {
	c := Case{
		ID: id, Action: oneOf(d.Rand, scenario.ActionRollout, scenario.ActionDrain), Workload: "shop/web", Kind: oneOf(d.Rand, "Deployment", "StatefulSet", scenario.KindNode),
		Class: oneOf(d.Rand, scenario.ClassOutside, scenario.ClassInside, scenario.ClassWebhook, scenario.ClassDNS, scenario.ClassSession), Headline: d.is(0.7),
		Users: scenario.Users(d.IntN(5)), Nodes: []string{"node-1", "node-2", "node-3"}, Expectation: d.expectation(), Recreates: d.is(0.2),
	}
	c.NotModelled = oneOf(d.Rand, nil, []world.NotModelled{{ID: "webhook", Direction: "more"}}, []world.NotModelled{{ID: StandIn}})
	c.Drain = oneOf(d.Rand, nil, nil, &scenario.DrainPlan{Nodes: []scenario.NodePlan{
		{Name: "node-1"}, {Name: "node-2", Silent: d.is(0.5), Beyond: []scenario.OnNode{{Name: "shop/db", Kept: d.is(0.5)}}},
	}})
	clients := 1 + d.IntN(3)
	for i := range clients {
		c.Clients = append(c.Clients, Client{Name: fmt.Sprint("client ", i), Rate: oneOf(d.Rand, 0, 2000, 100_000), External: d.is(0.5), Pool: d.IntN(2), BacksOff: d.is(0.3)})
	}
	c.Runs = d.runs(oneOf(d.Rand, 0, 1, 2, 3, 8, 21, 60), clients)
	return c
}

// answers are what a case says of itself, beside its figures.
func answers(c *Case, d *drawer) string {
	var b strings.Builder
	say := func(of string, what ...any) { fmt.Fprintln(&b, of, golden.Text(what)) }
	say("for good", c.ForGood(), c.Waits(), c.StandsIn(), c.Enough(), c.OfNodes(), c.Sporadic(), c.StuckRuns())
	for i := range c.Clients {
		lost, longest, sum := c.Client(i)
		slow, rescued := c.ClientLate(i)
		say("client", lost, longest, sum, slow, rescued, c.WithoutServer(i), c.ClientWait(i), c.ClientCuts(i), c.LastingOf(i))
	}
	took, in := c.DrainTime()
	one, of := c.NodeTime("node-1")
	none, _ := c.NodeTime("node-9")
	what, runs := c.BlockedBy()
	nodes, times := c.OverruledNodes()
	_, most := c.OverruledBy()
	rarely, _ := c.RarelyStuck()
	say("drain", took, in, one, of, none, what, runs, nodes, times, most, rarely)
	say("lasting", c.Lasting(), c.Totals(), c.Fails(Limits{}), c.Fails(Limits{MaxDrops: 5}), c.Fails(Limits{MaxLost: engine.Second, FailOn: Rare}), c.Fails(Limits{FailOn: NotJudged}))
	for i := range c.Runs {
		r := &c.Runs[i]
		say("run", r.Totals(), r.Cuts(), r.LostSeconds(), r.LongestOutage(), r.WithoutPod(), r.Calm())
	}
	if len(c.Runs) == 0 {
		return b.String()
	}
	say("enough", c.Worthwhile(100), c.Typical(len(c.Runs)/2))
	for _, value := range []string{"0s", "10s"} {
		d.loses, d.stuck = oneOf(d.Rand, 0, 0.05, 1), oneOf(d.Rand, 0, 0, 1.0)
		other := d.runs(1+d.IntN(len(c.Runs)), len(c.Clients))
		id := oneOf(d.Rand, "minSyncPeriod", "start")
		say("other", c.Unsure(other), c.Same(other), c.Perhaps(other), c.Blames(id, value), WithoutWait(id, value), c.Try(id, value, other))
		effect, tried := c.EffectOf(id)
		say("effect", effect, tried, c.Alternatives)
	}
	return b.String()
}

// All figures and words of cases follow from their runs.
func TestDrawnCases(t *testing.T) {
	t.Parallel()
	at := map[Verdict]int{Outage: 1, Stalled: 2, Blocked: 3, Drops: 4, Rare: 5, Holds: 6, NotJudged: 7}
	for seed := range uint64(200) {
		d := newDrawer(seed)
		s := &Simulation{Cases: []Case{d.drawCase("a"), d.drawCase("b"), d.drawCase("c")}}
		figures := make([]int, 8)
		var text strings.Builder
		for i := range s.Cases {
			c := &s.Cases[i]
			c.Close()
			c.KeepDrain()
			c.Unmet = Expect(c)
			figures[0]++
			figures[at[c.Verdict]]++
			fmt.Fprintf(&text, "%s\n%s", golden.Text(c), answers(c, d))
		}
		for _, c := range s.Worst() {
			fmt.Fprintln(&text, c.ID)
		}
		entry := s.UnjudgedEntry()
		fmt.Fprintln(&text, entry != nil, s.First().ID, s.Totals(), s.Fails(Limits{}))
		kept.Keep(t, func() (string, []int) { return text.String(), figures })
	}
}

// requests draws failed requests of one client, by number.
func (d *drawer) requests(part float64) (list []ledger.Request) {
	cause := d.blame()
	for n := range uint64(60) {
		if !d.is(part) {
			continue
		}
		if d.is(0.2) {
			cause = d.blame()
		}
		arrival := engine.Time(n) * 10 * engine.Millisecond //nolint:gosec // a few
		list = append(list, ledger.Request{Number: n, Stream: d.IntN(2), Arrival: arrival, End: arrival, Outcome: ledger.Refused, Blame: cause, Node: d.IntN(3)})
	}
	return list
}

// What fails without the action, too, is taken out of what fails with it.
func TestDrawnPairs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		d := newDrawer(seed)
		failed, before := d.requests(oneOf(d.Rand, 0, 0.1, 0.8)), d.requests(oneOf(d.Rand, 0, 0.1, 0.8))
		if d.is(0.3) {
			before = append([]ledger.Request{}, failed...)
		}
		of := func(list []ledger.Request) Run {
			var r Run
			r.group(list)
			r.Streams = d.streams(2, r.Groups)
			return r
		}
		with, without := of(failed), of(before)
		with.Pair(&without, nil, failed, before)
		text := golden.Text(with) + golden.Text(Anyway(2, nil, failed, before))
		kept.Keep(t, func() (string, []int) { return text, []int{1} })
	}
}
