package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Cases that are not listed have one line for each verdict, also where others lie between them.
func TestCasesThatAreNotListedHaveALineForEachVerdict(t *testing.T) {
	t.Parallel()
	const second = 1_000_000_000
	var hidden []*record.Case
	for _, c := range []struct {
		v    record.Verdict
		lost int64
	}{{record.Drops, 21}, {record.Outage, 10}, {record.Drops, 19}, {record.Depends, 20}, {record.Rare, 10}, {record.Depends, 70}, {record.Drops, 18}} {
		hidden = append(hidden, &record.Case{Verdict: c.v, LostSeconds: record.Range{Median: c.lost * second}})
	}
	x := newText(&record.Simulation{}, TextOptions{}, everything)
	x.folded(hidden, nil)
	want := "  2 more cases: depends, 20 s to 70 s lost (all lists them)\n  3 more cases: drops, 18 s to 21 s lost (all lists them)\n" +
		"  1 more case: outage, 10 s lost (all lists them)\n  1 more case: rare, 10 s lost (all lists them)\n"
	if got := x.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A workload that loses seconds is named however many cases there are: in a row, or beside the number of the cases that have none.
func TestWhoLosesSecondsIsNamed(t *testing.T) {
	t.Parallel()
	const most = 3
	x := newText(&record.Simulation{}, TextOptions{}, room{cases: most})
	var cases []*record.Case
	add := func(workload string, lost engine.Time) {
		cases = append(cases, &record.Case{Workload: workload, Action: "rolling restart", Traffic: "inside :80", Verdict: record.Drops, LostSeconds: record.Range{Median: int64(lost), Max: int64(lost)}})
	}
	for _, w := range []string{"a/web", "a/web", "a/web", "a/little", "b/api", "c/img", "d/db"} {
		add(w, map[string]engine.Time{"a/web": 9 * engine.Second, "a/little": engine.Second / 2, "b/api": 2 * engine.Second, "c/img": 3 * engine.Second, "d/db": engine.Second}[w])
	}
	x.rows(cases, false)
	got := flow(x.String())
	for _, want := range []string{"a/web, inside :80", "b/api, inside :80", "c/img, inside :80", "4 more cases: drops, 0.5 s to 9 s lost, a second and more of d/db ("} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// Whoever is gone for seconds and not judged is named, too: nothing else in the report is about it.
func TestWhoIsGoneAndNotJudgedIsNamed(t *testing.T) {
	t.Parallel()
	s := example()
	db := &s.Cases[2]
	db.Usable.Of = 1
	const sec = int64(engine.Second)
	db.Dark = &record.Dark{Pods: record.Range{Min: 7 * sec, Median: 25 * sec, Max: 32 * sec}, Most: record.Range{Min: 1, Median: 1, Max: 1}}
	const want = "db: rolling restart: not judged, for clients choose the pod; a pod is dark for 25 s (7-32), at once 1 of 1; nobody answers meanwhile."
	if got := flow(compose(s, TextOptions{})); !strings.Contains(got, want) {
		t.Error(got)
	}
	db.Workload = "shop/web" // of which another case is told
	if got := flow(compose(s, TextOptions{})); strings.Contains(got, "a pod is dark for") {
		t.Error(got)
	}
}

// What holds and is told in one line with others has what is late of it, and what it hangs on, in a line of its own; but for the case of the head.
func TestWhatHoldsAndIsLateIsNotTakenForNothing(t *testing.T) {
	t.Parallel()
	held := func(action string, slow uint64) *record.Case {
		c := &record.Case{Workload: "a/api", Action: action, Traffic: "outside :80", Verdict: record.Holds, Clients: []record.Client{{Name: "outside", Rate: 100 * 1000}}}
		for range 20 {
			s := record.Stream{}
			s.Slow = slow
			c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}})
		}
		return c
	}
	late, calm := held("rolling restart", 293), held("node drain", 9)
	late.Alternatives = []record.Alternative{
		{ID: "timeout", Value: "5s", Verdict: record.Drops, LostSeconds: record.Range{Median: int64(3 * engine.Second), Max: int64(3 * engine.Second)}, Effect: record.VerdictEffect},
		{ID: "methods", Value: "POST", Verdict: record.Drops, LostSeconds: record.Range{Median: int64(engine.Second), Max: int64(engine.Second)}, Effect: record.VerdictEffect},
	}
	const want = "rolling restart, outside :80: 2.93 s of traffic is answered more than 1 s late; something is lost if a client gives up after 5 s without an answer (3 s lost), or in 1 more way."
	for _, all := range []bool{false, true} {
		x := newText(&record.Simulation{Cases: []record.Case{*late, *calm}}, TextOptions{All: all}, everything)
		x.cases([]*record.Case{late, calm}, nil)
		if got := flow(x.String()); !strings.Contains(got, want) || strings.Contains(got, "node drain, outside :80: ") {
			t.Errorf("all %v: %s", all, got)
		}
		x = newText(&record.Simulation{Cases: []record.Case{*late, *calm}}, TextOptions{All: all}, everything)
		x.cases([]*record.Case{late, calm}, []*record.Case{late})
		if got := flow(x.String()); strings.Contains(got, want) {
			t.Errorf("all %v: %s", all, got)
		}
	}
}

// Two Services that lead to a workload by the same port are told apart wherever a case of theirs is named.
func TestServicesOfOnePortAreToldApart(t *testing.T) {
	t.Parallel()
	s := &record.Simulation{}
	for _, service := range []string{"gw", "gw-ip", "other"} {
		c := record.Case{ID: "shop/web/rollout/" + service + ":443", Action: "rolling restart", Workload: "shop/web", Kind: "Deployment", Traffic: "outside :443"}
		if service == "other" {
			c.Traffic = "outside :80"
		}
		s.Cases = append(s.Cases, c)
	}
	x := newText(s, TextOptions{}, everything)
	f := &record.Fix{Workload: "shop/web", Cases: []record.FixedCase{{ID: s.Cases[0].ID}, {ID: s.Cases[1].ID, Confirm: record.Confirm{Runs: 9, WithLoss: 3, LostSeconds: record.Range{Max: int64(30 * engine.Second)}}}}}
	for i, want := range []string{"rolling restart, outside :443 of gw", "rolling restart, outside :443 of gw-ip", "rolling restart, outside :80"} {
		c := &s.Cases[i]
		if got := x.caseOf(f, c.ID); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := Title(s, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := x.trafficOf(f, c.ID); got != strings.TrimPrefix(want, "rolling restart, ")+": " {
			t.Errorf("%q", got)
		}
	}
	if got := x.leftBeside(f, &s.Cases[0]); got != ": up to 30 s left in rolling restart, outside :443 of gw-ip" {
		t.Errorf("%q", got)
	}
	if got := x.leftBeside(f, &s.Cases[1]) + x.leftBeside(f, &s.Cases[2]); got != "" {
		t.Errorf("%q", got)
	}
}

// How many runs had not settled is said with what the first of them waited for that says so.
func TestWhatRunsThatDidNotSettleWaitedFor(t *testing.T) {
	t.Parallel()
	settled, silent := record.Run{Settled: true}, record.Run{}
	waits := func(what string) record.Run { return record.Run{Unrest: what} }
	for want, runs := range map[string][]record.Run{
		"":                                 {settled, settled},
		"1 run had not settled at the end": {settled, silent},
		"1 run had not settled at the end: node-1":                 {settled, waits("node-1")},
		"2 runs had not settled at the end: node-1":                {silent, waits("node-1")},
		"3 runs had not settled at the end: node-1":                {waits("node-1"), silent, settled, waits("node-2")},
		"2 runs had not settled at the end: pod new-0 has no node": {{Unrest: "pod new-0 has no node"}, {Settled: true, Unrest: "node-3"}, waits("node-2")},
	} {
		if got := strings.Join(unsettledWords(&record.Case{Runs: runs}), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
