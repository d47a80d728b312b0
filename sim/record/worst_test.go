package record

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// clientsLose is a case of one run for each row: what each of its clients loses there, in milliseconds.
func clientsLose(rows ...[]engine.Time) *Case {
	c := &Case{}
	for _, row := range rows {
		var r Run
		r.Settled = true
		for _, ms := range row {
			r.Streams = append(r.Streams, Stream{LostSeconds: ms * engine.Millisecond, LongestOutage: ms * engine.Millisecond})
		}
		c.Runs = append(c.Runs, r)
	}
	c.Close()
	return c
}

func TestACasesFigureIsThatOfOneOfItsClients(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows         [][]engine.Time
		lost, outage Range
	}{
		"the client with the greatest median, and the highest of any": {
			rows: [][]engine.Time{{100, 400}, {300, 200}, {350, 50}},
			lost: Range{100, 300, 400}, outage: Range{100, 300, 400},
		},
		"medians that are equal: the one that may lose more": {
			rows: [][]engine.Time{{0, 0}, {0, 0}, {10, 50}},
			lost: Range{0, 0, 50}, outage: Range{0, 0, 50},
		},
		"one of them loses in each run, and none in most": {
			rows: [][]engine.Time{{2000, 0, 0}, {0, 3000, 0}, {0, 0, 4000}},
			lost: Range{2000, 3000, 4000}, outage: Range{2000, 3000, 4000},
		},
	} {
		c := clientsLose(test.rows...)
		for i, p := range []struct{ got, want Range }{{c.LostSeconds, test.lost}, {c.LongestOutage, test.outage}} {
			want := Range{p.want.Min * int64(engine.Millisecond), p.want.Median * int64(engine.Millisecond), p.want.Max * int64(engine.Millisecond)}
			if p.got != want {
				t.Errorf("%s: figure %d is %v, want %v", name, i, p.got, want)
			}
		}
	}
}

// What cannot end stands where the loss of a second would, however near to users the loss is.
func TestWhatCannotEndIsToldBeforeWhatIsSoonOver(t *testing.T) {
	t.Parallel()
	headline := func(id string, c *Case, outside bool) Case {
		out := *c
		out.ID, out.Headline, out.Clients = id, true, []Client{{Name: "x", External: outside}}
		out.Action = scenario.ActionRollout
		return out
	}
	drain := func(id string, lost uint64) Case { // seen from inside of the cluster
		return headline(id, drains(blocked(many(10, 10, lost, 0), 10), 10), false)
	}
	for name, test := range map[string]struct {
		cases []Case
		first string
	}{
		"0.8 s of each rollout, before a drain that is blocked":  {[]Case{drain("drain", 0), headline("rollout", many(10, 10, 80, 0), true)}, "rollout"},
		"0.8 s inside, before it, too":                           {[]Case{drain("drain", 0), headline("rollout", many(10, 10, 80, 0), false)}, "rollout"},
		"not so where the drain loses something":                 {[]Case{headline("rollout", many(10, 10, 80, 0), true), drain("drain", 1)}, "drain"},
		"not so where some rollouts lose nothing":                {[]Case{headline("rollout", many(10, 9, 80, 0), true), drain("drain", 0)}, "drain"},
		"not so where nobody knows the port":                     {[]Case{quiet(headline("rollout", many(10, 10, 80, 0), true)), drain("drain", 0)}, "drain"},
		"a rollout that is stuck, before what each one loses":    {[]Case{headline("rollout", many(10, 10, 80, 0), true), headline("stuck", blocked(many(10, 0, 0, 0), 10), false)}, "stuck"},
		"an outage inside, before 0.05 s that users lose":        {[]Case{headline("little", many(10, 10, 5, 0), true), drain("drain", 0), headline("outage", many(10, 10, 500, 5*engine.Second), false)}, "outage"},
		"an outage, before a drain that is blocked":              {[]Case{drain("drain", 0), headline("rollout", many(10, 10, 500, 5*engine.Second), true)}, "rollout"},
		"2 s that users lose, before a drain that is blocked":    {[]Case{drain("drain", 0), headline("rollout", many(10, 10, 200, 0), true)}, "rollout"},
		"a drain, before an outage that is no headline's":        {[]Case{many10NoHeadline(), drain("drain", 0)}, "drain"},
		"a webhook that keeps all Pods back, before a drain":     {[]Case{drain("drain", 0), veto("more")}, "webhook"},
		"a drain, before a webhook that is gone without harm":    {[]Case{drain("drain", 0), veto("fewer")}, "drain"},
		"2 s that users lose, before such a webhook":             {[]Case{veto("more"), headline("rollout", many(10, 10, 200, 0), false)}, "rollout"},
		"what no user knows and is gone for good, before it":     {[]Case{drain("drain", 0), goneForGood()}, "metrics"},
		"the drain that loses more, before another one":          {[]Case{drain("little", 1), drain("more", 5)}, "more"},
		"an outage for good, before a greater loss that is over": {[]Case{headline("rollout", many(10, 10, 900, 5*engine.Second), false), forGood()}, "for good"},
		"a rollout that is stuck, before what holds":             {[]Case{headline("holds", many(10, 0, 0, 0), true), headline("stuck", blocked(many(10, 0, 0, 0), 10), false)}, "stuck"},
	} {
		s := &Simulation{Cases: test.cases}
		if got := s.Worst()[0].ID; got != test.first {
			t.Errorf("%s: %s comes first", name, got)
		}
	}
}

// quiet is a case at a port that no user knows.
func quiet(c Case) Case {
	c.Headline = false
	return c
}

// many10NoHeadline is an outage at a port that no user knows.
func many10NoHeadline() Case {
	c := *many(10, 10, 500, 5*engine.Second)
	c.ID = "metrics"
	return c
}

// veto is an outage of a webhook, with what a case says of its failurePolicy.
func veto(direction string) Case {
	c := *many(10, 10, 500, 5*engine.Second)
	c.ID, c.Class, c.Users = "webhook", scenario.ClassWebhook, scenario.UsersWebhook
	c.NotModelled = []world.NotModelled{{ID: "webhook", Direction: direction}}
	return c
}

// goneForGood is forGood at a port that no user knows.
func goneForGood() Case {
	c := forGood()
	c.ID, c.Headline, c.Stuck = "metrics", false, &Stuck{Why: "nobody makes a pod"}
	return c
}

// forGood is a case of which nothing answers any more once a rollout has begun.
func forGood() Case {
	c := *blocked(many(10, 10, 500, 5*engine.Second), 10)
	c.ID, c.Headline, c.Clients = "for good", true, []Client{{Name: "x"}}
	return c
}

// Whoever overruled a budget first is named, with the most nodes at which that was done in one run.
func TestTheFirstWhoOverruledABudget(t *testing.T) {
	t.Parallel()
	on := func(nodes ...string) Run {
		var r Run
		for _, n := range nodes {
			r.Overruled = append(r.Overruled, Overruled{Node: n})
		}
		return r
	}
	for want, runs := range map[string][]Run{ // order: each for itself
		"nobody":     {on(), on()},
		"a, 1 nodes": {on(), on("a")},
		"a, 3 nodes": {on("a", "b"), on("b", "c", "a"), on("d")},
		"b, 2 nodes": {on("b"), on("a", "c"), on()},
	} {
		first, nodes := (&Case{Runs: runs}).OverruledBy()
		got := "nobody"
		if first != nil {
			got = fmt.Sprintf("%s, %d nodes", first.Node, nodes)
		}
		if got != want || first == nil && nodes != 0 {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Of two cases that lose little in the median run the one that loses more in all runs together comes first.
func TestWhatFewRunsLoseCounts(t *testing.T) {
	t.Parallel()
	some, few := runs(0, 3, 3, 3), runs(0, 0, 0, 400)
	some.ID, few.ID = "some", "few"
	s := &Simulation{Cases: []Case{*some, *few}}
	if worst := s.Worst(); worst[0].ID != "few" {
		t.Errorf("%s comes first", worst[0].ID)
	}
	large := runs(0, 900, 150, 150)
	large.ID = "large"
	if s.Cases[1] = *large; s.Worst()[0].ID != "large" {
		t.Error("what every run loses comes first")
	}
}

// Of no cases none is the first.
func TestTheFirstOfNoCases(t *testing.T) {
	t.Parallel()
	if c := (&Simulation{}).First(); c != nil {
		t.Errorf("%+v", c)
	}
}
