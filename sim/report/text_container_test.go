package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hangs is a case that loses nothing in its runs, beside a container that ends before the server.
func hangs(id, remedy string) *record.Case {
	c := &record.Case{Workload: "shop/web", Class: "inside", Action: scenario.ActionRollout, Clients: []record.Client{{Name: "keep-alive", Rate: 100_000}},
		NotModelled: []world.NotModelled{{ID: id, What: "container cache ends first", Remedy: remedy}}}
	for range 100 {
		c.Runs = append(c.Runs, record.Run{Settled: true, Streams: []record.Stream{{Totals: ledger.Totals{Total: 100, OK: 100}}}})
	}
	c.Close()
	return c
}

// Where a container that the server may need ends before it, it is not said that nothing is lost, that nobody notices, or that there is nothing to do.
func TestWhatHangsOnAContainerSaysSo(t *testing.T) {
	t.Parallel()
	c := hangs(world.Beside, "the same delay in container cache, too")
	some := &text{sim: &record.Simulation{Cases: []record.Case{*c}}}
	for got, want := range map[string]string{ // order: each for itself
		sentence(c, some.sim.Wording):                          " lost nothing in 100 simulated rolling restarts, and may lose more: a container that it needs, or may need, stops before it does.",
		strings.Join(some.noticed(c), "; "):                    "in these runs nobody: connections kept open inside the cluster got all answers, as if no container needed another",
		strings.Join(some.todo(c), "; "):                       "the same delay in container cache, too",
		strings.Join(leftOut(c), "; "):                         "container cache ends first",
		sentence(hangs("capacity", ""), some.sim.Wording)[:28]: " lost nothing in 100 of 100 ",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A hook that sleeps is given to what the server may need, too: it is not told to sleep for another time beside that.
func TestADelayIsSaidOnce(t *testing.T) {
	t.Parallel()
	c := hangs(world.Needed, "the same delay in container sql, too (:9)")
	some := &text{sim: &record.Simulation{}}
	const words = "and, which is not counted here, the same delay in container sql, too (:9)"
	for sleep, want := range map[bool]bool{true: false, false: true} { // order: each for itself
		f := &record.Fix{Workload: c.Workload, Title: "a change", Cases: []record.FixedCase{{ID: c.ID, Confirm: record.Confirm{Runs: 200}}}}
		if sleep {
			f.Sleep = 1
		}
		if got := strings.Contains(strings.Join(some.told([]*record.Fix{f}, c), "; "), words); got != want {
			t.Errorf("with a hook that sleeps %t: said %t", sleep, got)
		}
	}
}

// Errors of a proxy whose app has gone are no errors that a Scenario asks for.
func TestErrorsOfAProxyThatIsLeftAlone(t *testing.T) {
	t.Parallel()
	for actor, want := range map[ledger.Actor]string{ // order: each for itself
		ledger.Spec: "the proxy in a pod answered with errors, for the app behind it had stopped",
		ledger.App:  "the app answered with an error",
	} {
		if got := causeName(ledger.Blame{Cause: ledger.AppError, Actor: actor}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := causeStory(ledger.Blame{Cause: ledger.AppError, Actor: ledger.Spec}); !strings.HasPrefix(got, "the app in a pod stops before the proxy in front of it") {
		t.Error(got)
	}
}

// What a change has in brackets is a part of it, also where that has a comma.
func TestTheNameOfAFixIsNotCutInItsBrackets(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{ // order: each for itself
		"preStop: sleep 15 before its hook (in gitlab-workhorse, too)":                                        "preStop: sleep 15 before its hook (in gitlab-workhorse, too)",
		"preStop: sleep 15 (in fpm (if the image has wget), too), terminationGracePeriodSeconds: 40":          "preStop: sleep 15 (in fpm (if the image has wget), too), 1 more",
		"preStop: sleep 50 instead of sleep 10 (in sql, too), terminationGracePeriodSeconds: 75, replicas: 2": "preStop: sleep 50 (in sql, too), 2 more",
		"preStop: sleep 50 instead of sleep 10":                                                               "preStop: sleep 50",
	} {
		if got := fixInWords(&record.Fix{Title: title}, "", 1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Two causes that are told with the same words are told once.
func TestCausesWithTheSameWordsAreToldOnce(t *testing.T) {
	t.Parallel()
	c := hangs("capacity", "")
	c.Runs[0].Streams[0].Failed, c.Runs[0].Streams[0].OK = 100, 0
	for i, n := range []uint64{60, 35, 5} {
		blame := ledger.Blame{Cause: ledger.ListenerClosed, Actor: ledger.Spec, Elsewhere: i == 0}
		if i == 2 {
			blame = ledger.Blame{Cause: ledger.ExitInFlight, Actor: ledger.App}
		}
		c.Causes = append(c.Causes, record.Cause{Blame: blame, Count: n, Culprit: story.Culprit{What: []string{"no preStop", "1 replica", ""}[i]}})
	}
	const want = "95 % a pod got traffic after its server had closed its port (listener-closed); 5 % the server exited before it had answered (exit-in-flight)"
	if got := firstCauses(c); got != want || c.Causes[0].Culprit.What != "no preStop" {
		t.Errorf("%q, want %q", got, want)
	}
}

// A message over UDP that is lost vanishes, and a probe that asks a server over UDP is for its author to write.
func TestMessagesVanish(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{scenario.Messages: true, "queries": false} { // order: each for itself
		c := &record.Case{Workload: "shop/web", Class: scenario.ClassDatagram, Clients: []record.Client{{Name: name, Rate: 100_000}},
			Causes: []record.Cause{{Culprit: story.Culprit{What: story.NoReadinessProbe}}}}
		s := record.Stream{Totals: ledger.Totals{Total: 100, Failed: 50, OK: 50}}
		s.Outcomes[ledger.Refused] = 50
		c.Runs = []record.Run{{Streams: []record.Stream{s}}}
		if got := clientWords(c, 0, false); strings.Contains(got, "(they vanish, and nobody is told)") != want || strings.Contains(got, "refused") == want {
			t.Errorf("%s: %q", name, got)
		}
		some := &text{sim: &record.Simulation{NoHelp: []record.NoHelp{{Workload: "shop/web", Title: "minReadySeconds: 3"}}}}
		if got := strings.Join(some.noneHelps(c), "; "); !strings.HasPrefix(got, "a readinessProbe with exec or httpGet that asks whether the app takes what it is sent: write it") {
			t.Error(got)
		}
		c.Class = scenario.ClassInside
		if got := strings.Join(some.noneHelps(c), "; "); strings.Contains(got, "write it") {
			t.Error(got)
		}
	}
}
