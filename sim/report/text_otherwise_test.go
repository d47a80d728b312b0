package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// twoHold is a rolling restart and a node drain that hold, of which the drain is an outage with all pods on one node.
func twoHold() *record.Simulation {
	runs := make([]record.Run, 100)
	for i := range runs {
		runs[i] = record.Run{Settled: true}
	}
	spread := world.Assumption{ID: "places", What: "where the pods are", Value: "spread over the nodes", Basis: "assumed", Settle: "Pod objects in the input"}
	timeout := world.Assumption{ID: "timeout", Value: "10s", Basis: "assumed", Settle: "--timeout"}
	same := record.Alternative{ID: "timeout", Value: "5s", Verdict: record.Holds, Effect: record.NoEffect, Runs: 20}
	lost := int64(7 * engine.Second)
	return &record.Simulation{Runs: 100, Cases: []record.Case{
		{
			ID: "rollout/web:80", Action: "rolling restart", Workload: "shop/web", Traffic: "inside :80", Kind: "Deployment", Headline: true, Verdict: record.Holds, Runs: runs, Bound: 29_500,
			Assumptions: []world.Assumption{timeout}, Alternatives: []record.Alternative{same},
		},
		{
			ID: "drain/web:80", Action: "node drain", Workload: "shop/web", Traffic: "inside :80", Kind: "Deployment", Headline: true, Verdict: record.Holds, Runs: runs, Bound: 29_500,
			Assumptions: []world.Assumption{timeout, spread},
			Alternatives: []record.Alternative{same, {
				ID: "places", Value: "all on one node", Verdict: record.Outage, Effect: record.VerdictEffect, Runs: 20, WithLoss: 20, LostSeconds: record.Range{Min: lost, Median: lost, Max: lost},
			}},
		},
	}}
}

// What the head says of one case that holds is not said of another one that is an outage with another value of what it assumes: the first
// twelve lines name which case, with which value, and the value is in the list of what is assumed.
func TestAnotherCaseThatHoldsIsAnOutageWithAnotherValue(t *testing.T) {
	t.Parallel()
	out := compose(twoHold(), TextOptions{})
	top := strings.Join(strings.Fields(strings.Join(strings.Split(out, "\n")[:12], " ")), " ")
	for _, want := range []string{
		"nothing is lost in this rolling restart with any of the 1 other value either that were tried",
		"Unless node drain, inside :80: outage, 7 s lost, if all of its pods are on one node (Pod objects in the input)",
		"What to do nothing as assumed against a drain of the node that all pods are on: a PodDisruptionBudget with maxUnavailable 1 (not tried here)",
	} {
		if !strings.Contains(top, want) {
			t.Errorf("the first lines do not say %q:\n%s", want, out)
		}
	}
	if all := strings.Join(strings.Fields(out), " "); !strings.Contains(all, "pods are spread over the nodes all on one node: node drain: outage, 7 s") || strings.Contains(all, "something is lost if all of its pods") {
		t.Errorf("the list of what is assumed:\n%s", out)
	}
}

// Of the case itself that is an outage with another value something is to do, too.
func TestNothingIsToDoOnlyAsAssumed(t *testing.T) {
	t.Parallel()
	s := twoHold()
	c := &s.Cases[1]
	x := newText(s, TextOptions{Show: c.ID}, everything)
	if why := x.whyItHolds(c); !slices.Contains(why, "something is lost if all of its pods are on one node (outage, 7 s lost)") {
		t.Errorf("%q", why)
	}
	if todo := x.todo(c); !slices.Equal(todo, []string{"nothing as assumed", withAllOnOneNode}) {
		t.Errorf("%q", todo)
	}
	c.Alternatives[1].ID = "start"
	if todo := x.todo(c); !slices.Equal(todo, []string{"nothing as assumed"}) {
		t.Errorf("of another assumption: %q", todo)
	}
	c.Alternatives = c.Alternatives[:1]
	if todo := newText(s, TextOptions{}, everything).todo(&s.Cases[0]); !slices.Equal(todo, []string{"nothing"}) {
		t.Errorf("without such a value: %q", todo)
	}
}

// Many outages of cases that hold are two and a number.
func TestOutagesBesideAreFew(t *testing.T) {
	t.Parallel()
	s := twoHold()
	for i := range 3 {
		x := s.Cases[1]
		x.ID, x.Workload = "drain/other"+string(rune('a'+i))+":80", "shop/other"+string(rune('a'+i))
		x.Alternatives = slices.Clone(x.Alternatives)
		x.Alternatives[1].LostSeconds.Median += int64(i) * int64(engine.Second)
		s.Cases = append(s.Cases, x)
	}
	got := newText(s, TextOptions{}, everything).outagesBeside(&s.Cases[0])
	want := []string{
		"web: node drain, inside :80; othera: node drain, inside :80: outage, 7 s lost, if all of its pods are on one node (Pod objects in the input)",
		"otherb: node drain, inside :80: outage, 8 s lost, if all of its pods are on one node (Pod objects in the input)",
		"1 more outage of cases that hold as assumed (all)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Where there is little room beside a case that loses, that one which holds is an outage with another value is said all the same.
func TestAnOutageOfWhatHoldsIsSaidInAShortReport(t *testing.T) {
	t.Parallel()
	s := twoHold()
	s.Cases[0].Verdict = record.Drops
	x := newText(s, TextOptions{}, everything)
	x.room.brief = true
	x.hangsOn([]*record.Case{&s.Cases[1]}, []*record.Case{&s.Cases[0]}, true)
	if got := x.String(); got != "  1 case that holds answers late, or loses something with other values, up to an outage (all).\n" {
		t.Errorf("%q", got)
	}
}

// An app of Node.js that holds because it is taken to have no SIGTERM handler: the headline says so, the other value that loses most comes first
// in why, and what to do where it has one is said. Of another profile, or where hardly anything is lost with a handler, it is not.
func TestWhatHoldsWithoutAHandlerSaysSo(t *testing.T) {
	t.Parallel()
	const rests = "That rests on web having no SIGTERM handler: if it closes its port at SIGTERM and finishes, it is DROPS (0.89 s lost)."
	for name, want := range map[string]bool{"node-default": true, "ignores": false, "little": false} {
		s := twoHold()
		s.Wording = flags()
		c := &s.Cases[0]
		lost := record.Range{Median: int64(890 * engine.Millisecond), Max: int64(engine.Second)}
		if name == "little" {
			lost.Median = int64(20 * engine.Millisecond)
		}
		profile := strings.Replace(name, "little", "node-default", 1)
		c.Assumptions = append(c.Assumptions, world.Assumption{ID: "sigterm", Value: "web: " + profile + " (by its command node server.js)"})
		c.Alternatives = append(c.Alternatives,
			record.Alternative{ID: "keepalive-repeat", Value: "does not ask again", Verdict: record.Drops, Effect: record.VerdictEffect, Runs: 20, WithLoss: 20, LostSeconds: record.Range{Median: 1, Max: 2}},
			record.Alternative{ID: "sigterm", Value: "closes-and-finishes", Verdict: record.Drops, Effect: record.VerdictEffect, Runs: 20, WithLoss: 20, LostSeconds: lost})
		x := newText(s, TextOptions{}, everything)
		if got := sentence(c, flags()); strings.Contains(got, rests) != want {
			t.Errorf("%s: %s", name, got)
		}
		todo := strings.Join(x.todo(c), "|")
		if got := strings.Contains(todo, "nothing as assumed; if web closes its port at SIGTERM and finishes: --profile closes-and-finishes finds what helps then"); got != want {
			t.Errorf("%s: to do: %s", name, todo)
		}
		why := strings.Join(x.whyItHolds(c), "|")
		if !strings.Contains(why, "if web closes its port at SIGTERM and finishes (") || strings.Index(why, "web closes its port") > strings.Index(why, "does not ask again") {
			t.Errorf("%s: %s", name, why)
		}
		if got := strings.Contains(why, "web: node-default, no SIGTERM handler (by its command node server.js)"); got != (profile == "node-default") {
			t.Errorf("%s: %s", name, why)
		}
	}
}
