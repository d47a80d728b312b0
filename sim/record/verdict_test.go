package record

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// many makes a case of so many runs of which the first k lose so many requests, 10 ms of traffic each.
func many(n, k int, lost uint64, outage engine.Time) *Case {
	requests := make([]uint64, n)
	for i := range k {
		requests[i] = lost
	}
	return runs(outage, requests...)
}

// blocked makes k of a case's runs end with a rollout that is stuck.
func blocked(c *Case, k int) *Case {
	c.Verdict, c.WithLoss = "", 0
	for i := range k {
		c.Runs[i].Stuck, c.Runs[i].Settled = &Stuck{Workload: "shop/web", Why: "no node has a free host port 80"}, false
	}
	c.Close()
	return c
}

// drains makes the first k of a case's stuck runs those of a drain.
func drains(c *Case, k int) *Case {
	for i := range k {
		c.Runs[i].Stuck.Drain = true
	}
	c.Verdict, c.WithLoss = "", 0
	c.Close()
	return c
}

func TestTheWordsOfManyRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		got  *Case
		want Verdict
	}{
		"little, in one run of twenty":                {many(100, 5, 9, 0), Rare},
		"little, in more than one run of twenty":      {many(100, 6, 9, 0), Drops},
		"a tenth of a second, in one run":             {many(100, 1, 10, 0), Drops},
		"stuck in most runs, and nothing lost":        {blocked(many(100, 0, 0, 0), 51), Stalled},
		"stuck in half of the runs, and nothing lost": {blocked(many(100, 0, 0, 0), 50), Stalled},
		"stuck in more than one run of twenty":        {blocked(many(100, 0, 0, 0), 6), Stalled},
		"stuck in one run of twenty":                  {blocked(many(100, 0, 0, 0), 5), Rare},
		"stuck in one run of twenty, much lost":       {blocked(many(100, 80, 20, 0), 5), Drops},
		"stuck in some runs, and much lost":           {blocked(many(100, 80, 20, 0), 14), Stalled},
		"drains that are blocked":                     {drains(blocked(many(100, 0, 0, 0), 100), 100), Blocked},
		"more drains than rollouts":                   {drains(blocked(many(100, 0, 0, 0), 100), 51), Blocked},
		"as many drains as rollouts":                  {drains(blocked(many(100, 0, 0, 0), 100), 50), Stalled},
		"drains that are blocked in half of the runs": {drains(blocked(many(100, 0, 0, 0), 50), 50), Blocked},
		"stuck, and something lost":                   {blocked(many(100, 100, 20, 0), 100), Stalled},
		"stuck, and nothing answers":                  {blocked(many(100, 100, 200, 2*engine.Second), 100), Outage},
	} {
		if c.got.Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, c.got.Verdict, c.want)
		}
	}
	if s := blocked(many(100, 0, 0, 0), 100).Stuck; s == nil || s.Why != "no node has a free host port 80" {
		t.Errorf("stuck: %+v", s)
	}
}

// The score test with z = 2.576: k of n are another part than p where (k - np)^2 > 6.636 np(1-p). Of 100 that is 50 +- 12.9 and
// 5 +- 5.6, of 400 it is 20 +- 11.2.
func TestEnoughRunsForTheWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		got    *Case
		enough bool
	}{
		"nothing lost":                               {many(100, 0, 0, 0), true},
		"an outage in 62 of 100":                     {many(100, 62, 200, engine.Second), false},
		"an outage in 63 of 100":                     {many(100, 63, 200, engine.Second), true},
		"an outage in 37 of 100":                     {many(100, 37, 200, engine.Second), true},
		"an outage in 38 of 100":                     {many(100, 38, 200, engine.Second), false},
		"little lost in 10 of 100":                   {many(100, 10, 1, 0), false},
		"little lost in 11 of 100":                   {many(100, 11, 1, 0), true},
		"little lost in 8 of 400":                    {many(400, 8, 1, 0), true},
		"little lost in 9 of 400":                    {many(400, 9, 1, 0), false},
		"little lost in 4 of 400: it may be nothing": {many(400, 4, 1, 0), false},
		"much lost in 4 of 400":                      {many(400, 4, 50, 0), false},
		"much lost in 5 of 400":                      {many(400, 5, 50, 0), true},
		"stuck in 10 of 100":                         {blocked(many(100, 0, 0, 0), 10), false},
		"stuck in 11 of 100":                         {blocked(many(100, 0, 0, 0), 11), true},
		"stuck in 1 of 100":                          {blocked(many(100, 0, 0, 0), 1), false},
		"stuck in 8 of 400":                          {blocked(many(400, 0, 0, 0), 8), true},
	} {
		if c.got.Enough() != c.enough {
			t.Errorf("%s: enough %v", name, !c.enough)
		}
	}
	for want, c := range map[string]*Case{
		"on the border between drops and rare":   many(100, 7, 1, 0),
		"on the border between rare and drops":   many(1000, 45, 1, 0),
		"on the border between rare and holds":   many(1000, 2, 1, 0),
		"on the border between stuck and rare":   blocked(many(100, 0, 0, 0), 7),
		"on the border between rare and stuck":   blocked(many(100, 0, 0, 0), 4),
		"on the border between drops and stuck":  blocked(many(100, 80, 20, 0), 4),
		"on the border between outage and drops": many(1000, 510, 200, engine.Second),
		"":                                       many(20, 1, 1, 0),
	} {
		if c.Reason != want {
			t.Errorf("%q, want %q", c.Reason, want)
		}
	}
}

func TestFailOnNamesTheMildestVerdictThatFails(t *testing.T) {
	t.Parallel()
	outage, stuck, drops := many(10, 10, 200, engine.Second), blocked(many(10, 0, 0, 0), 10), many(10, 10, 20, 0)
	barred := drains(blocked(many(10, 0, 0, 0), 10), 10)
	rare, holds, none := many(20, 1, 1, 0), many(10, 0, 0, 0), &Case{Verdict: NotJudged}
	depends := &Case{Verdict: Depends, Families: []Family{{Case: *rare}, {Case: *holds}}}
	depending := &Case{Verdict: Depends, Families: []Family{{Case: *drops}, {Case: *holds}}}
	dark := &Case{Verdict: Depends, Families: []Family{{Case: *outage}, {Case: *holds}}}
	all := []*Case{dark, outage, stuck, barred, drops, depending, depends, rare, holds, none}
	for failOn, want := range map[Verdict][]bool{
		"":        {true, true, true, true, true, true, false, false, false, false},
		Outage:    {true, true, false, false, false, false, false, false, false, false},
		Stalled:   {true, true, true, false, false, false, false, false, false, false},
		Blocked:   {true, true, true, true, false, false, false, false, false, false},
		Drops:     {true, true, true, true, true, true, false, false, false, false},
		Depends:   {true, true, true, true, true, true, true, false, false, false},
		Rare:      {true, true, true, true, true, true, true, true, false, false},
		NotJudged: {true, true, true, true, true, true, true, true, false, true},
	} {
		var got []bool
		for _, c := range all {
			got = append(got, c.Fails(Limits{FailOn: failOn}))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", failOn, got, want)
		}
	}
}

// What nothing is lost of in any run is no verdict that holds where a container that the server needs, or may need, ends before it. One that it is known
// to need is a finding.
func TestWhatIsNotCountedIsNoVerdictThatHolds(t *testing.T) {
	t.Parallel()
	with := func(c *Case, id string) *Case {
		c.Verdict, c.NotModelled = "", []world.NotModelled{{ID: id}}
		c.Close()
		return c
	}
	for _, x := range []struct {
		c            *Case
		want         Verdict
		hangs, fails bool
	}{
		{with(many(100, 0, 0, 0), "capacity"), Holds, false, false},
		{with(many(100, 0, 0, 0), world.Beside), Depends, true, false},
		{with(many(100, 0, 0, 0), world.Needed), Depends, true, true},
		{with(many(200, 1, 1, 0), world.Needed), Depends, true, true},
		{with(many(100, 100, 20, 0), world.Needed), Drops, false, true},
	} {
		if x.c.Verdict != x.want || x.c.HangsOnContainer() != x.hangs || x.c.Fails(Limits{}) != x.fails || x.c.Fails(Limits{FailOn: Outage}) {
			t.Errorf("%v: %s, hangs on a container %t, fails %t", x.c.NotModelled, x.c.Verdict, x.c.HangsOnContainer(), x.c.Fails(Limits{}))
		}
		if x.hangs && !x.c.Fails(Limits{FailOn: Depends}) {
			t.Errorf("%v does not fail on what depends", x.c.NotModelled)
		}
	}
}

func TestLimitsOfTheMedianRun(t *testing.T) {
	t.Parallel()
	drops, stuck := many(10, 10, 20, 0), blocked(many(10, 10, 20, 0), 10) // 20 requests, 0.2 s
	for name, c := range map[string]struct {
		limits Limits
		fails  bool
	}{
		"none":                        {Limits{}, true},
		"as many requests":            {Limits{MaxDrops: 20}, false},
		"fewer requests":              {Limits{MaxDrops: 19}, true},
		"as many seconds":             {Limits{MaxLost: 200 * engine.Millisecond}, false},
		"fewer seconds":               {Limits{MaxLost: 199 * engine.Millisecond}, true},
		"requests, and fewer seconds": {Limits{MaxDrops: 20, MaxLost: 100 * engine.Millisecond}, true},
	} {
		if drops.Fails(c.limits) != c.fails {
			t.Errorf("%s: fails %v", name, !c.fails)
		}
		if !stuck.Fails(c.limits) {
			t.Errorf("%s: what is stuck may lose nothing at all", name)
		}
		waiting := *drops
		waiting.Verdict, waiting.Stuck = Outage, &Stuck{Why: "a pod waits for its volume"}
		if !waiting.Fails(c.limits) || !waiting.LeftWaiting() {
			t.Errorf("%s: an outage that ends may lose nothing at all where a pod waits for ever", name)
		}
	}
}

func TestTheWorstCaseIsTheOneThatUsersSee(t *testing.T) {
	t.Parallel()
	named := func(id string, c *Case, headline, outside bool) Case {
		out := *c
		out.ID, out.Headline, out.Clients = id, headline, []Client{{Name: "x", External: outside}}
		return out
	}
	s := &Simulation{Cases: []Case{
		named("metrics, much", many(10, 10, 500, engine.Second), false, false),
		named("inside, outage", many(10, 10, 200, engine.Second), true, false),
		named("inside, more, no outage", many(10, 10, 300, 0), true, false),
		named("outside, holds", many(10, 0, 0, 0), true, true),
		named("outside, little", many(10, 10, 5, 0), true, true),
		named("not judged", &Case{Verdict: NotJudged}, true, true),
	}}
	var got []string
	for _, c := range s.Worst() {
		got = append(got, c.ID)
	}
	want := []string{"inside, more, no outage", "inside, outage", "outside, little", "metrics, much", "outside, holds", "not judged"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if first := s.First(); first.ID != want[0] {
		t.Errorf("%s comes first", first.ID)
	}
}

// Each verdict is worse than the next one, and what was not judged is the last of all.
func TestVerdictsAreOrdered(t *testing.T) {
	t.Parallel()
	order := []Verdict{Outage, Stalled, Blocked, Drops, Depends, Rare, Holds, NotJudged}
	for i := range order[1:] {
		if order[i].Rank() >= order[i+1].Rank() {
			t.Errorf("%s is not worse than %s", order[i], order[i+1])
		}
	}
}

// Where nothing answers before the action either, the reader has to know what keeps the pods from being ready.
func TestACaseInWhichNothingAnswersSaysWhy(t *testing.T) {
	t.Parallel()
	silent := func(change func(*Run)) string {
		c := many(2, 0, 0, 0)
		for i := range c.Runs {
			r := &c.Runs[i]
			for j := range r.Streams {
				r.Streams[j] = Stream{Before: 10}
			}
			r.Settled = false
			change(r)
		}
		c.Verdict = ""
		c.Close()
		return string(c.Verdict) + ", " + c.Reason
	}
	const what = "not-judged, nothing answers, with the action or without it"
	for want, change := range map[string]func(*Run){
		what:                                   func(*Run) {},
		what + ": pod 0 of shop/web not ready": func(r *Run) { r.Unrest = "pod 0 of shop/web not ready" },
		what + ": 3 pods find no node: 0/2 nodes are available: x": func(r *Run) { r.Stuck = &Stuck{Why: "3 pods find no node: 0/2 nodes are available: x"} },
	} {
		if got := silent(change); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A drain is blocked that waits for what is not simulated, whatever becomes of the rest; one that is blocked anyway says by what.
func TestADrainMayWaitForWhatIsNotSimulated(t *testing.T) {
	t.Parallel()
	on := scenario.OnNode{Kind: "Redis", Name: "data/redis", Why: "it may not", Kept: true}
	plan := &scenario.DrainPlan{Nodes: []scenario.NodePlan{{Name: "a"}, {Name: "b", Beyond: []scenario.OnNode{{Name: "x/y"}, on}}}}
	c := many(20, 0, 0, 0)
	c.Drain, c.Verdict = plan, ""
	c.Close()
	if c.Verdict != Blocked || c.Bound != 0 || c.Stuck == nil || c.Stuck.Why != "kubectl drain of b waits for ever: Redis data/redis (it may not)" || c.Stuck.Workload != "data/redis" {
		t.Errorf("%s, %+v", c.Verdict, c.Stuck)
	}
	c = drains(blocked(many(20, 0, 0, 0), 20), 20)
	c.Drain, c.Runs[0].Stuck.Why, c.Verdict = plan, "its own", ""
	if c.Close(); c.Verdict != Blocked || c.Stuck.Why != "its own" {
		t.Errorf("%s, %+v", c.Verdict, c.Stuck)
	}
	c = many(20, 0, 0, 0)
	c.Drain, c.Verdict = &scenario.DrainPlan{Nodes: plan.Nodes[:1]}, ""
	if c.Close(); c.Verdict != Holds {
		t.Errorf("%s, %+v", c.Verdict, c.Stuck)
	}
}

// What sessions lose is the time in which they have no server: the worst run is that with most of it, of those of which a story can be told.
func TestTheWorstRunOfSessions(t *testing.T) {
	t.Parallel()
	c := runs(0, 4, 2, 0, 3)
	if c.WorstSeed != 1 {
		t.Fatalf("of requests, seed %d is the worst", c.WorstSeed)
	}
	for i, dark := range []engine.Time{6, 11, 20, 11} {
		s := &c.Runs[i].Streams[0]
		s.LostSeconds, s.DarkSeconds = dark*engine.Second, dark*engine.Second
	}
	c.Verdict = ""
	if c.Close(); c.WorstSeed != 4 {
		t.Errorf("of sessions, seed %d is the worst", c.WorstSeed)
	}
}

// A run in which sessions have no server for a tenth of a second is one with loss, also where no request failed: they waited.
func TestARunWhoseSessionsWaitIsOneWithLoss(t *testing.T) {
	t.Parallel()
	for lost, want := range map[engine.Time]int{engine.Second: 2, rareBelow: 2, rareBelow - 1: 0} {
		c := many(5, 0, 0, 0)
		for i := range 2 {
			c.Runs[i].Streams[0].LostSeconds = lost
		}
		c.Verdict, c.WithLoss = "", 0
		c.Close()
		if c.WithLoss != want || (c.Verdict == Drops) != (want > 0) {
			t.Errorf("%s: %d runs with loss, %s", lost.Duration(), c.WithLoss, c.Verdict)
		}
	}
}

// A Scenario in which nobody asks is not judged, and what it expects of requests is not met by having none. A drain of nodes asks nobody.
func TestAScenarioWithoutARequestHasNoVerdict(t *testing.T) {
	t.Parallel()
	none, one := 0, 1
	second := engine.Second
	const unasked = "requests: none was sent in any run, so that nothing could be lost"
	for name, x := range map[string]struct {
		kind     string
		requests uint64
		expect   *world.Expect
		verdict  Verdict
		unmet    []string
	}{
		"nobody asks":                            {"Scenario", 0, nil, NotJudged, nil},
		"somebody does":                          {"Scenario", 9, &world.Expect{FailedMax: &none}, Holds, nil},
		"a drain of nodes":                       {"Node", 0, nil, Holds, nil},
		"nothing may fail":                       {"Scenario", 0, &world.Expect{FailedMax: &none}, NotJudged, []string{unasked}},
		"nothing may be lost":                    {"Scenario", 0, &world.Expect{LostSecondsMax: &second}, NotJudged, []string{unasked}},
		"one cause only":                         {"Scenario", 0, &world.Expect{CausesOnly: []string{"stale-lb"}}, NotJudged, []string{unasked}},
		"not this cause":                         {"Scenario", 0, &world.Expect{CausesNone: []string{"stale-lb"}}, NotJudged, []string{unasked}},
		"it holds":                               {"Scenario", 0, &world.Expect{Verdict: "holds"}, NotJudged, []string{"verdict: not-judged, not holds"}},
		"that it is not judged":                  {"Scenario", 0, &world.Expect{Verdict: "not-judged", FailedMax: &none}, NotJudged, nil},
		"so many pods, which need nobody to ask": {"Scenario", 0, &world.Expect{UsablePodsMin: &one}, NotJudged, nil},
	} {
		c := &Case{Kind: x.kind, Clients: []Client{{Name: "outside"}}, Expectation: x.expect}
		for seed := range uint64(20) {
			c.Runs = append(c.Runs, Run{
				Seed: seed + 1, Settled: true, Usable: Usable{Of: 2, Min: 1},
				Streams: []Stream{{Totals: ledger.Totals{Total: x.requests, OK: x.requests, Attempts: x.requests}}},
			})
		}
		c.Close()
		if c.Verdict != x.verdict || (c.Reason != "") != (x.verdict == NotJudged) || !slices.Equal(c.Unmet, x.unmet) {
			t.Errorf("%s: %s, %q, unmet %q", name, c.Verdict, c.Reason, c.Unmet)
		}
		if fails := c.Fails(Limits{}); fails != (len(x.unmet) > 0) {
			t.Errorf("%s: fails %t", name, fails)
		}
		if c.Expectation == nil && c.Fails(Limits{FailOn: NotJudged}) != (x.verdict == NotJudged) {
			t.Errorf("%s: --fail-on not-judged does not see it", name)
		}
	}
}
