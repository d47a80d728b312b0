package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// adviceOf is a fix of one case: seconds lost before, and with it in most of the new runs.
func adviceOf(before, median, most int64, withLoss int) *record.Fix {
	const ms = int64(engine.Millisecond)
	return &record.Fix{Title: "preStop: sleep 15", Least: "2 s", Cases: []record.FixedCase{{
		ID: "rollout/web:80", Before: record.Range{Median: before * ms, Max: 4000 * ms},
		Confirm: record.Confirm{Runs: 200, WithLoss: withLoss, LostSeconds: record.Range{Median: median * ms, Max: most * ms}},
	}}}
}

// What a fix leaves is said beside what was lost: a median beside a median, the most beside the most.
func TestWhatAFixLeavesStandsBesideWhatWasLost(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]*record.Fix{
		"0.46 s lost in place of 1.14 s (in 200 new rollouts at most 1.58 s)": adviceOf(1140, 460, 1580, 200),
		"in 200 new rollouts at most 0.14 s lost in place of at most 4 s":     adviceOf(60, 60, 140, 199),
		"something lost in 2 of 200 new rollouts, in these at most 9.42 s":    adviceOf(900, 0, 9420, 2),
	} {
		if got := confirmedWords(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := leastWords(f, nil); got != "; as assumed, sleep 2 does as much" {
			t.Errorf("%q", got)
		}
	}
	enough := adviceOf(1140, 0, 0, 0)
	if got := leastWords(enough, nil); got != "; as assumed, sleep 2 is enough" {
		t.Errorf("%q", got)
	}
	if enough.Alone = "preStop: sleep 15"; leastWords(enough, nil) != "; as assumed, preStop: sleep 15 does as much by itself, and sleep 2 is enough" {
		t.Errorf("%q", leastWords(enough, nil))
	}
	const not = "; as assumed, preStop: sleep 15 does as much by itself (not if all of its pods are on one node; or 1 more (-v)), and sleep 2 is enough"
	if got := leastWords(enough, []string{"all of its pods are on one node", "something else"}); got != not {
		t.Errorf("%q", got)
	}
	if enough.Alone = "readinessProbe on port 80"; leastWords(enough, nil) != "; as assumed, readinessProbe on port 80 does as much by itself" {
		t.Errorf("%q", leastWords(enough, nil))
	}
}

// Where a second pod is the answer, the change that helps most without one is said, with what it does to the case of the head.
func TestWhatHelpsWithoutAPodMoreIsSaid(t *testing.T) {
	t.Parallel()
	first, other := adviceOf(33000, 0, 0, 0), adviceOf(33000, 5300, 9000, 200)
	first.Workload, other.Workload, first.Pods, other.Title = "shop/web", "shop/web", true, "readinessProbe.periodSeconds: 1"
	other.Cases = append([]record.FixedCase{{ID: "x"}}, other.Cases...)
	c := record.Case{ID: "rollout/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionRollout}
	sim := &record.Simulation{Cases: []record.Case{c}, Fixes: []record.Fix{*first, *other}}
	got := newText(sim, TextOptions{}, everything).todo(&c)
	if len(got) != 2 || got[1] != "or, without a pod more, readinessProbe.periodSeconds: 1: 5.3 s lost in place of 33 s" {
		t.Errorf("%q", got)
	}
	sim.Fixes[1].Title = "maxUnavailable: 0, maxSurge: 1 (needs room for one pod more)"
	if got := newText(sim, TextOptions{}, everything).todo(&c); !strings.HasPrefix(got[1], "or, with a pod more in rollouts only, "+sim.Fixes[1].Title) {
		t.Errorf("%q", got)
	}
	sim.Fixes[0].Pods = false
	if got := newText(sim, TextOptions{}, everything).todo(&c); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A hook that is far longer than it has to be as assumed is said to be so for what asks for it; one that is a little longer is not.
func TestWhatALongHookIsForIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		least string
		sleep engine.Time
		id    string
		want  string
	}{
		{"146 s", 310 * engine.Second, "lb.propagation", " (310 if the load balancer leaves a removed target after 300 s)"},
		{"281 s", 310 * engine.Second, "lb.propagation", ""},
	} {
		f := &record.Fix{Least: c.least, Sleep: c.sleep, SleepFor: record.OtherValue{ID: c.id, Value: "300s (reported 110-300 s)"}}
		if got := newText(&record.Simulation{}, TextOptions{}, everything).sleepsFor(f); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := newText(&record.Simulation{}, TextOptions{}, everything).sleepsFor(&record.Fix{Least: "2 s", Sleep: 70 * engine.Second}); got != "" {
		t.Errorf("as assumed it has to be so long: %q", got)
	}
}

// One change that breaks nothing and needs no pod more is said once; what does for the restart alone is said to, with the figures of the restart.
func TestWhatStandsBesideTheFirstChangeIsSaidOnce(t *testing.T) {
	t.Parallel()
	first, other, restart := adviceOf(33000, 0, 0, 0), adviceOf(33000, 7260, 8440, 200), adviceOf(33000, 0, 0, 0)
	first.Pods, first.Destructive = true, "one too many; not at the same time"
	other.Title, restart.Title, restart.Destructive = "readinessProbe.periodSeconds: 1", "strategy RollingUpdate, maxUnavailable: 0", "not at the same time"
	restart.Cases[0].Action = scenario.ActionRollout
	drain := restart.Cases[0]
	drain.ID, drain.Action, drain.After, drain.Confirm = "drain/web:80", "node drain", drain.Before, record.Confirm{Runs: 200, WithLoss: 200, LostSeconds: drain.Before}
	restart.Cases = []record.FixedCase{drain, restart.Cases[0]}
	c := record.Case{ID: "rollout/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionRollout, Recreates: true}
	drained := record.Case{ID: "drain/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: "node drain"}
	sim := &record.Simulation{Cases: []record.Case{c, drained}}
	for _, f := range []*record.Fix{first, other, restart} {
		f.Workload = "shop/web"
		sim.Fixes = append(sim.Fixes, *f)
	}
	sim.Fixes[0].Cases = append(sim.Fixes[0].Cases, record.FixedCase{ID: drained.ID, Action: drained.Action})
	sim.Fixes[1].Cases = append(sim.Fixes[1].Cases, record.FixedCase{ID: drained.ID, Action: drained.Action})
	for name, x := range map[string]*record.Case{"the restart": &c, "the drain": &drained} {
		got := newText(sim, TextOptions{}, everything).todo(x)
		if len(got) != 3 || !strings.HasPrefix(got[1], "or, which breaks nothing and needs no pod more, readinessProbe.periodSeconds: 1: ") ||
			got[2] != "or, for the restart alone, strategy RollingUpdate, maxUnavailable: 0: nothing lost in 200 new rollouts" {
			t.Errorf("%s: %q", name, got)
		}
	}
	sim.Fixes[0].Destructive, sim.Fixes[0].Pods = "", false
	if got := newText(sim, TextOptions{}, everything).todo(&c); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// "Never" is said of what does not end in any run.
func TestNeverIsSaidOfAllRuns(t *testing.T) {
	t.Parallel()
	c := &record.Case{Verdict: record.Stalled, Kind: "Deployment", Action: scenario.ActionRollout, Workload: "shop/web", Runs: []record.Run{
		{Settled: true}, {Stuck: &record.Stuck{Why: "the new pod is not ready"}}, {Stuck: &record.Stuck{Why: "the new pod is not ready"}},
	}}
	c.Stuck = c.Runs[1].Stuck
	if got := sentence(c, scenario.Wording{}); got != ": the rolling restart does not finish in 2 of 3 runs. Nothing is lost meanwhile." {
		t.Errorf("%q", got)
	}
	if who, _ := waiting(c); who != "a rolling restart does not finish in 2 of 3 runs" {
		t.Errorf("%q", who)
	}
	c.Runs = c.Runs[1:]
	if got := sentence(c, scenario.Wording{}); !strings.HasPrefix(got, ": the rolling restart never finishes.") {
		t.Errorf("%q", got)
	}
}

// What cannot end of another workload stands on the page with its reason and its line, by its name.
func TestWhatAnotherWorkloadWaitsForIsSaid(t *testing.T) {
	t.Parallel()
	told := record.Case{Workload: "shop/redis", Verdict: record.Outage, Action: "node drain"}
	sim := &record.Simulation{Cases: []record.Case{told}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		sim.Cases = append(sim.Cases, record.Case{Workload: "shop/" + name, Verdict: record.Blocked, Action: "node drain", Stuck: &record.Stuck{
			Drain: true, Why: "kubectl drain of node-1 waits for ever: PodDisruptionBudget " + name, What: "maxUnavailable 1", File: "x.yaml", Line: 62,
		}})
	}
	got := newText(sim, TextOptions{}, everything).endless(&sim.Cases[0])
	if len(got) != 5 || got[0] != "a, kubectl drain of node-1 waits for ever: PodDisruptionBudget a (x.yaml:62); what would let it: maxUnavailable 1" || !strings.HasPrefix(got[4], "1 more") {
		t.Errorf("%q", got)
	}
}

// The drain of a cluster's only node is nobody's question, and who has no timeout waits for TCP.
func TestUnlessLeavesOutAOneNodeCluster(t *testing.T) {
	t.Parallel()
	c := &record.Case{
		Workload: "shop/web", Verdict: record.Outage, Usable: record.Usable{Of: 1},
		Alternatives: []record.Alternative{
			{ID: "nodes", Value: "1, one per pod", Verdict: record.Outage, ForGood: true, Effect: record.VerdictEffect},
			{ID: "timeout", Value: "none", Verdict: record.Outage, ForGood: true, Effect: record.VerdictEffect},
		},
	}
	got := unless(c)
	if len(got) != 1 || got[0] != "a client waits without a limit for an answer: it hangs on dead connections until TCP gives up, after 15 minutes or so" {
		t.Errorf("%q", got)
	}
	if c.Usable.Of = 2; len(unless(c)) != 2 {
		t.Errorf("%q", unless(c))
	}
}

// Two Services that lead to a workload the same way are told apart by their names.
func TestServicesOfTheSamePortAreNamed(t *testing.T) {
	t.Parallel()
	of := func(id, traffic string) record.Case {
		return record.Case{ID: id, Workload: "shop/game", Kind: "Deployment", Action: scenario.ActionRollout, Traffic: traffic}
	}
	sim := &record.Simulation{Cases: []record.Case{of("rollout/game:7000", "outside :7000"), of("rollout/game-np:7000", "outside :7000"), of("rollout/game:80", "inside :80"),
		of("rollout/mqtt:8883", "sessions from outside :8883"), of("rollout/mqtt-ip:8883", "sessions from outside :8883 :443")}}
	x := newText(sim, TextOptions{}, everything)
	for i, want := range []string{" of game", " of game-np", "", " of mqtt", " of mqtt-ip"} {
		if got := x.whose(&sim.Cases[i]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run that only waits for the end of a pod with a long grace period says so, and how to go on until then.
func TestALongGracePeriodSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	c := &record.Case{Reason: "lost nothing, but had not settled when the run ended, in 9 of 9 runs: pod 2 is Terminating, with a grace period of 3600 s"}
	if got := longer(c, flags()); !strings.Contains(got, "--until 2h goes on until it is gone") {
		t.Errorf("%q", got)
	}
	if c.Reason = "no run was done"; longer(c, flags()) != "" {
		t.Error(longer(c, flags()))
	}
}

// A change that may break something says so where people read first what to do.
func TestWhatAChangeMayBreakIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	c := record.Case{ID: "rollout/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionRollout}
	f := adviceOf(33000, 0, 0, 0)
	f.Workload, f.Title, f.Least, f.Destructive = "shop/web", "externalTrafficPolicy: Cluster", "", "pods no longer see the addresses of clients"
	sim := &record.Simulation{Cases: []record.Case{c}, Fixes: []record.Fix{*f}}
	got := newText(sim, TextOptions{}, everything).todo(&c)
	if len(got) != 1 || !strings.HasSuffix(got[0], "lose anything); but pods no longer see the addresses of clients") {
		t.Errorf("%q", got)
	}
}

// A cause whose remedy does not help says why: nobody else could have answered.
func TestWhyTheRemedyOfACauseDoesNotHelp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct { // order: each for itself
		what, title string
		elsewhere   bool
		want        string
	}{
		"no probe":                      {"no readinessProbe", "readinessProbe on port 80", false, ": as long as no pod answers, a probe only decides how requests fail, refused or after a wait"},
		"no hook":                       {"no preStop", "preStop: sleep 5", false, ": as long as no other pod answers, a hook only has the outage begin later"},
		"another pod could answer":      {"no readinessProbe", "readinessProbe on port 80", true, ""},
		"a remedy that was not tried":   {"no readinessProbe", "preStop: sleep 5", false, ""},
		"a cause that nothing is named": {"", "readinessProbe on port 80", false, ""},
	} {
		k := record.Case{ID: "x", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionRollout}
		k.Causes = []record.Cause{{Blame: ledger.Blame{Cause: ledger.NotListeningYet, Elsewhere: c.elsewhere}, Culprit: story.Culprit{What: c.what}, Count: 1}}
		sim := &record.Simulation{Cases: []record.Case{k}, NoHelp: []record.NoHelp{{Workload: "shop/web", Title: c.title}}}
		if got := newText(sim, TextOptions{}, everything).todo(&k); len(got) != 1 || got[0] != "no change of the manifest that was tried helps ("+c.title+")"+c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
