package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// alone is the drain of a StatefulSet's only pod, of which each run has an outage of so long and no pod for so long.
func alone(outage, gone engine.Time) *record.Case {
	c := &record.Case{
		Kind: "StatefulSet", Workload: "shop/redis", Action: scenario.ActionDrain, Verdict: record.Outage, Clients: []record.Client{{Name: "sessions", Rate: 100_000}},
		Usable: record.Usable{Of: 1, For: gone}, LostSeconds: record.Range{Median: int64(outage)},
		Assumptions: []world.Assumption{{ID: "timeout", Value: "10s", Settle: "--timeout, or a Scenario"}, {ID: "connect-timeout", Value: "as the whole request", Settle: "--connect-timeout"}},
		Causes:      []record.Cause{{Blame: ledger.Blame{Cause: ledger.ExitInFlight, Actor: ledger.App}, Count: 5}},
	}
	for range 3 {
		s := record.Stream{Totals: ledger.Totals{Total: 100, Failed: 10}, LostSeconds: outage, LongestOutage: outage}
		s.Outcomes[ledger.Timeout], s.Outcomes[ledger.Reset] = 5, 5
		c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}, Usable: record.Usable{Of: 1, For: gone}})
	}
	return c
}

// An outage that is as long as clients wait says so, and when the next pod was ready; the reason of one of a StatefulSet's only pod is that its
// successor is made after it, in a drain as in a rollout, and not the few requests that were under way.
func TestALossThatIsAsLongAsClientsWait(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	some := &text{sim: &record.Simulation{}}
	const wait = "it is 10 s because a client is taken to wait so long for an answer (--timeout); a pod is ready again after 8 s"
	for outage, want := range map[engine.Time]string{10 * sec: wait, 10*sec + 100*engine.Millisecond: wait, 9 * sec: "", 12 * sec: ""} {
		got := some.whys(alone(outage, 8*sec))
		if strings.Join(got[1:], "; ") != want || !strings.HasPrefix(got[0], "the only pod has to end before the next one of its name is made") {
			t.Errorf("%s s: %q", outage.Seconds(), got)
		}
	}
	c := alone(10*sec, 8*sec)
	for i := range c.Runs {
		c.Runs[i].Streams[0].Outcomes = [ledger.NumOutcomes]uint64{ledger.Reset: 10}
	}
	if got := bounded(c); got != "" {
		t.Errorf("nothing times out: %q", got)
	}
	for name, change := range map[string]func(*record.Case){
		"a crash":          func(c *record.Case) { c.Action = scenario.ActionCrash },
		"a sudden end":     func(c *record.Case) { c.Sudden = true },
		"two pods":         func(c *record.Case) { c.Usable.Of = 2 },
		"of a Deployment":  func(c *record.Case) { c.Kind = "Deployment" },
		"there all along":  func(c *record.Case) { c.Usable.Min = 1 },
		"nothing is out":   func(c *record.Case) { c.Verdict = record.Drops },
		"it does not end":  func(c *record.Case) { c.Runs[0].Stuck, c.Runs[1].Stuck = &record.Stuck{}, &record.Stuck{} },
		"at a node reboot": func(c *record.Case) { c.Action = scenario.ActionReboot },
	} {
		c := alone(10*sec, 8*sec)
		if change(c); onlyOfItsName(c) {
			t.Errorf("%s: taken for the replacement of the only pod", name)
		}
	}
}

// The wait of kube-proxy is no reason where as much is lost without it: what makes the loss long is told instead.
func TestTheWaitIsNamedWhereItCostsSomething(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	some := &text{sim: &record.Simulation{}}
	c := alone(7*engine.Second, 0)
	c.Kind, c.Verdict = "Deployment", record.Drops
	c.Causes[0].Blame = ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}
	lost := func(id, value string, n int64, e record.Effect) record.Alternative {
		return record.Alternative{ID: id, Value: value, Verdict: record.Drops, LostSeconds: record.Range{Median: n}, Effect: e}
	}
	c.Alternatives = []record.Alternative{lost("proxy", "minSyncPeriod 0s", sec, record.SizeEffect), lost("connect-timeout", "1s", sec, record.SizeEffect)}
	if got := strings.Join(some.whys(c), "; "); !strings.Contains(got, "kube-proxy waits for minSyncPeriod") || !strings.Contains(some.withoutTheWait(c), "it would be 1 s") {
		t.Errorf("%q, %q", got, some.withoutTheWait(c))
	}
	c.Alternatives[0] = lost("proxy", "minSyncPeriod 0s", 7*sec, record.NoEffect)
	const want = "as much is lost without kube-proxy's minSyncPeriod: what costs is the 10 s for which a client is taken to try to connect to a pod that is gone (--connect-timeout; with 1 s: 1 s lost)"
	got := some.whys(c)
	if strings.Contains(got[0], "minSyncPeriod") || got[len(got)-1] != want || some.withoutTheWait(c) != " With minSyncPeriod 0 as much would be lost." {
		t.Errorf("%q, %q", got, some.withoutTheWait(c))
	}
	c.Alternatives = c.Alternatives[:1]
	if got := some.whys(c); got[len(got)-1] != "as much is lost without kube-proxy's minSyncPeriod" {
		t.Errorf("%q", got)
	}
}

// What a pod loses that its livenessProbe restarts is put down to the probe, whoever was late afterwards.
func TestARestartIsTheProbes(t *testing.T) {
	t.Parallel()
	some := &text{sim: &record.Simulation{}}
	c := &example().Cases[1]
	x := &c.Causes[0]
	x.Cause, x.Actor, x.Culprit = ledger.StaleRules, ledger.ProxyWait, story.Culprit{What: story.Liveness + " of periodSeconds 2, failureThreshold 1", File: "web.yaml", Line: 22}
	c.Causes = c.Causes[:1]
	got := some.whys(c)[0]
	if !strings.HasPrefix(got, "the liveness probe has the container restarted, and may do so again after each restart; nodes go on sending it new connections") ||
		!strings.HasSuffix(got, "The manifest has livenessProbe of periodSeconds 2, failureThreshold 1 (web.yaml:22)") {
		t.Errorf("%q", got)
	}
}

// A change with which a pod is ready sooner is said where it saves no client anything, and with it that its clients wait.
func TestWhatShortensAGapIsTold(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	s := example()
	s.Fixes = nil
	s.NoHelp = []record.NoHelp{{Workload: "shop/web", Title: "minReadySeconds: 3"}, {Workload: "shop/web", Title: "readinessProbe.periodSeconds: 1", Gap: 8 * sec, Shorter: 4 * sec, AsMuch: true}}
	const sooner = "readinessProbe.periodSeconds: 1: in the worst runs a pod is ready again after 4 s in place of 8 s"
	for as, want := range map[bool]string{true: "; as much is lost, for the clients that are assumed wait longer", false: ""} {
		s.NoHelp[1].AsMuch = as
		out := flow(compose(s, TextOptions{}))
		if !strings.Contains(out, "What to do "+sooner+want+" nothing that was tried halves what is lost (minReadySeconds: 3)") {
			t.Errorf("as much %v: %s", as, out)
		}
	}
}

// The margin of a hook is that of what stands on the way: no node is where a load balancer sends to pods.
func TestAMarginNamesTheHops(t *testing.T) {
	t.Parallel()
	for want, hops := range map[string][]string{
		"nodes are": nil, "the load balancer is": {"the load balancer"}, "nodes or the load balancer is": {"nodes", "the load balancer"},
		"nodes, the load balancer or the proxy is": {"nodes", "the load balancer", "the proxy"},
	} {
		if got := lateHops(hops); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := lateHops([]string{"nodes"}); got != "nodes are" {
		t.Errorf("%q", got)
	}
}

// A verdict of cases that lose something in few runs says what it is about, and does not say that nothing is lost.
func TestCasesThatLoseInFewRunsAreFolded(t *testing.T) {
	t.Parallel()
	lost := func(median, most engine.Time, with int) *record.Case {
		return &record.Case{Runs: make([]record.Run, 100), WithLoss: with, LostSeconds: record.Range{Median: int64(median), Max: int64(most)}}
	}
	const sec = engine.Second
	for want, cases := range map[string][]*record.Case{
		"up to 3 s lost in 10 of 100 runs":       {lost(0, 3*sec, 10)},
		"up to 3 s lost in up to 40 of 100 runs": {lost(0, 3*sec, 10), lost(0, sec, 40)},
		"1 s to 2 s lost":                        {lost(sec, 3*sec, 90), lost(2*sec, 3*sec, 90)},
		"up to 2 s lost":                         {lost(0, 3*sec, 10), lost(2*sec, 3*sec, 90)},
		"nothing lost":                           {lost(0, 0, 0)},
	} {
		if got := lostOfAll(cases); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What lets a rollout go on behind each of the load balancers that it might be is one line, and stands in their table.
func TestAWayOutIsTheSameBehindEach(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	s := example()
	families(s)
	c := &s.Cases[1]
	c.Verdict, c.Stuck = record.Stalled, &record.Stuck{Workload: c.Workload, Why: "no node has port 443 left", What: "maxSurge 0"}
	f := record.Fix{Workload: c.Workload, Title: "maxSurge: 0, maxUnavailable: 1", Edits: []edit.Edit{{File: "web.yaml", Line: 9, Path: "spec.a", Kind: "Deployment", To: edit.ValueOf(1, "")}}}
	for i := range c.Families {
		x := &c.Families[i]
		x.Case.Verdict, x.Case.Stuck, x.Fix = record.Stalled, c.Stuck, nil
		f.Cases = append(f.Cases, record.FixedCase{ID: c.ID, Runs: 2, StuckBefore: 2, Confirm: record.Confirm{Runs: 59 + i, WithLoss: i, LostSeconds: record.Range{Max: int64(i) * sec}}})
	}
	s.Fixes = []record.Fix{f}
	got := flow(compose(s, TextOptions{Width: 100}))
	for _, want := range []string{
		"STUCK shop/web: the rolling restart never finishes.", "Azure stuck 15 s (14.5-16) maxSurge: 0, maxUnavailable: 1", "WHAT HELPS tried",
		"finishes in all new runs, 59 or more behind each load balancer, and loses at most 0 s to 3 s in these, by load balancer",
		"what it loses then depends on the load balancer: say which it is, and what helps there is looked for, too: --lb aws-nlb-ip",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Where it loses something in few runs the median without the wait says nothing; and as much is not lost without it where all runs together lose
// less, whatever the median is.
func TestWithoutTheWaitIsSaidOfAsManyRunsAsWereTried(t *testing.T) {
	t.Parallel()
	some := &text{sim: &record.Simulation{}}
	for want, change := range map[string]func(c *record.Case, a *record.Alternative){
		" With minSyncPeriod 0: up to 6 s lost in 11 of 100 runs.": func(c *record.Case, a *record.Alternative) {
			c.WithLoss, a.Verdict, a.WithLoss, a.LostSeconds = 34, record.Drops, 11, record.Range{Max: int64(6 * engine.Second)}
		},
		" With minSyncPeriod 0: nothing lost in 100 runs.": func(c *record.Case, a *record.Alternative) { c.WithLoss, a.Verdict = 34, record.Holds },
		" With minSyncPeriod 0 nothing would be lost.":     func(c *record.Case, a *record.Alternative) { c.WithLoss, a.Verdict = 100, record.Holds },
		" With minSyncPeriod 0 all runs together lose 60 % less.": func(c *record.Case, a *record.Alternative) {
			a.Verdict, a.WithLoss, a.LostSeconds.Median, a.Shift, a.Effect = record.Drops, 100, c.LostSeconds.Median, -60, record.NoEffect
		},
	} {
		c := alone(7*engine.Second, 0)
		c.Runs, c.WithLoss = make([]record.Run, 100), 100
		c.Causes[0].Blame = ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}
		a := record.Alternative{ID: "proxy", Value: "minSyncPeriod 0s", Runs: 100, Effect: record.VerdictEffect}
		change(c, &a)
		c.Alternatives = []record.Alternative{a}
		if got := some.withoutTheWait(c); got != want || unmoved(c) {
			t.Errorf("%q, want %q; unmoved: %v", got, want, unmoved(c))
		}
	}
}

// That as much is lost without the wait of kube-proxy is said of all runs together: the median run may lose as much where few others lose most of it.
func TestWithoutTheWaitIsOfAllRunsTogether(t *testing.T) {
	t.Parallel()
	some := &text{sim: &record.Simulation{}}
	for name, x := range map[string]struct {
		shift int64
		runs  int // that were tried
		last  engine.Time
		want  string
	}{
		"as much":                      {-2, 2, 50 * engine.Millisecond, " With minSyncPeriod 0 as much would be lost."},
		"half of it":                   {-49, 3, engine.Second, " With minSyncPeriod 0 all runs together lose 49 % less."},
		"of runs that lose the least":  {0, 2, engine.Second, ""},
		"a little less in the median,": {-30, 2, 50 * engine.Millisecond, " With minSyncPeriod 0 all runs together lose 30 % less."},
	} {
		c := alone(60*engine.Millisecond, 0)
		c.Kind, c.Verdict = "Deployment", record.Drops
		c.Causes[0].Blame = ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}
		c.Runs[2].Streams[0].LostSeconds = x.last
		a := record.Alternative{ID: "proxy", Value: "minSyncPeriod 0s", Verdict: record.Drops, LostSeconds: record.Range{Median: int64(50 * engine.Millisecond)}, Effect: record.NoEffect, Shift: x.shift, Runs: x.runs}
		c.Alternatives = []record.Alternative{a}
		if got := some.withoutTheWait(c); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		if got := unmoved(c); got != strings.Contains(x.want, "as much") {
			t.Errorf("%s: unmoved is %v", name, got)
		}
		if got := effectWords(c, &a); x.runs == len(c.Runs) && got != "all runs together lose 49 % less" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
