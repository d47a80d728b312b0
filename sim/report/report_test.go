package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// example has a case that drops, one that holds and one that is not judged.
func example() *record.Simulation {
	blame := ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}
	s := &record.Simulation{Version: "test", Seed: 1, Runs: 2, Digest: "abc", Replay: "lameduck sim -f web.yaml", Wording: flags()}
	for _, lost := range []uint64{0, 98} {
		c := record.Case{
			ID: "shop/web/rollout/web:80", Action: "rolling restart", Workload: "shop/web", Traffic: "outside :80", Nodes: []string{"node-1"},
			Clients:     []record.Client{{Name: "new connections", Rate: 100_000}},
			Assumptions: []world.Assumption{{ID: "start", What: "container start to listening", Value: "2s", Basis: "assumed", Settle: "--set start="}},
		}
		if lost == 0 {
			c.ID, c.Workload = "shop/api/rollout/api:80", "shop/api"
		}
		for seed := range uint64(2) {
			r := record.Run{Seed: seed + 1, TraceHash: "5f1c09", Settled: true, Streams: []record.Stream{{
				Totals:      ledger.Totals{Total: 1000, OK: 1000 - lost, Failed: lost, Attempts: 1000, FailedAttempts: lost},
				Outcomes:    [ledger.NumOutcomes]uint64{ledger.OK: 1000 - lost, ledger.Refused: lost},
				LostSeconds: engine.Time(lost) * 10 * engine.Millisecond,
			}}}
			if lost > 0 {
				r.Groups = []ledger.Group{{Outcome: ledger.Refused, Blame: blame, Count: lost, First: 6 * engine.Second, Last: 7 * engine.Second,
					Nodes: map[int]uint64{0: lost}, Pods: map[string]uint64{"web-old-0": lost}}}
				r.Groups[0].Example = ledger.Request{Number: 600, Arrival: 6 * engine.Second, End: 6*engine.Second + 10*engine.Millisecond,
					Outcome: ledger.Refused, Blame: blame, Pod: "web-old-0", Attempts: 1}
				r.Usable = record.Usable{Of: 3, Min: 2, For: 1500 * engine.Millisecond}
			}
			c.Runs = append(c.Runs, r)
		}
		s.Cases = append(s.Cases, c)
	}
	s.Cases = append(s.Cases, record.Case{ID: "shop/db", Action: "rolling restart", Workload: "shop/db", Verdict: record.NotJudged, Reason: "clients choose the pod"})
	for i := range s.Cases {
		s.Cases[i].Close()
	}
	drops := &s.Cases[1]
	drops.Causes[0].Culprit = story.Culprit{What: "no preStop", Object: "shop/web", File: "web.yaml", Line: 17}
	drops.Causes[0].Story = lostToOldPod()
	slow := record.Run{Seed: 1, Settled: true, Streams: []record.Stream{{
		Totals: ledger.Totals{Total: 1000, OK: 900, Failed: 100}, LostSeconds: engine.Second * 11 / 10}}}
	drops.Try("start", "20s", []record.Run{slow})
	s.Fixes = []record.Fix{{
		Workload: "shop/web", Title: "preStop: sleep 3", Cost: "each pod takes 3 s longer to stop", Longer: 2 * engine.Second, Margin: engine.Second,
		Edits: []edit.Edit{{Path: "spec.template.spec.containers[0].lifecycle.preStop", At: "spec.template.spec.containers[0].lifecycle.preStop", To: edit.Value{YAML: `"{sleep: {seconds: 3}}"`, Words: "{sleep: {seconds: 3}}"}, File: "web.yaml", Line: 17}},
		Cases: []record.FixedCase{{ID: drops.ID, Before: drops.LostSeconds, Runs: 2, Confirm: record.Confirm{Runs: 200}}},
	}}
	s.NoHelp = []record.NoHelp{{Workload: "shop/web", Title: "terminationGracePeriodSeconds: 60"}}
	return s
}

// Operations lost say little of how many sessions were: both are told.
func TestConnectionsThatEndedAreTold(t *testing.T) {
	t.Parallel()
	s := example()
	for i, cuts := range []uint64{10, 12} {
		s.Cases[1].Runs[i].Streams[0].Cuts = cuts
	}
	s.Cases[1].Verdict, s.Cases[1].WithLoss = "", 0 // judged again
	s.Cases[1].Close()
	var b strings.Builder
	if err := WriteText(&b, s, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if line := "10 (10-12) connections end with their server or are cut"; !strings.Contains(flow(b.String()), line) {
		t.Errorf("no %q in\n%s", line, b.String())
	}
	want := Counts{Min: 10, Median: 10, Max: 12}
	if c := Build(s).Cases[1]; c.ConnectionsCut != want || c.Clients[0].ConnectionsCut != want {
		t.Errorf("JSON says %+v and %+v, want %+v", c.ConnectionsCut, c.Clients[0].ConnectionsCut, want)
	}
	if c := Build(example()).Cases[1]; c.ConnectionsCut != (Counts{}) {
		t.Errorf("%+v of none", c.ConnectionsCut)
	}
}

// A connection that is cut at the end of its draining was cut by a load balancer that is not late,
// and no manifest asks for a node that dies.
func TestNobodyIsBlamedForWhatNobodyIsLateWith(t *testing.T) {
	t.Parallel()
	for _, b := range []ledger.Blame{
		{Cause: ledger.DrainCut, Actor: ledger.LBController, Elsewhere: true}, {Cause: ledger.NodeGone, Actor: ledger.Spec, Elsewhere: true},
		{Cause: ledger.ListenerClosed, Actor: ledger.Spec},
	} {
		s := example()
		s.Cases[1].Causes[0].Blame = b
		var text strings.Builder
		if err := WriteText(&text, s, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if line := causeName(b) + " " + b.Cause.String() + "\n"; !strings.Contains(squeeze(text.String()), line) {
			t.Errorf("no %q in\n%s", line, text.String())
		}
	}
}

// Cases that are not judged because clients choose the pod say what becomes of the pods, and
// nothing else.
func TestDarkPodsAreTold(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	s := example()
	c := &s.Cases[2]
	c.Kind, c.Traffic = "Deployment", "headless db :80"
	c.Runs = []record.Run{
		{Seed: 1, TraceHash: "aa", Settled: true, Usable: record.Usable{Of: 4, Min: 3}, Dark: record.DarkRun{Pods: []engine.Time{3 * sec, 5 * sec}, Most: 1, Rollout: 20 * sec}},
		{Seed: 2, TraceHash: "bb", Unrest: "pods start", Usable: record.Usable{Of: 4, Min: 2}, Dark: record.DarkRun{Pods: []engine.Time{4 * sec, 9 * sec}, Most: 2, Rollout: 21 * sec}},
	}
	c.Close()
	short := "; a pod is dark for 4 s (3-9), at once 1 (1-2) of 4, rollout 20 s (20-21)"
	for _, tt := range []struct {
		opts TextOptions
		want string
	}{
		{TextOptions{}, "1 case is not judged (--all says why).\n"},
		{TextOptions{All: true}, "not judged: clients choose the pod" + short + "\n"},
		{TextOptions{Show: "shop/db"}, "NOT JUDGED shop/db, rolling restart, headless db :80: clients choose the pod.\n"},
		{TextOptions{Show: "shop/db"}, "Who notices clients that need a pod that stops answering, for 4 s (3-9) until another is ready in its place; at most 1 (1-2) of 4 pods at once\n"},
		{TextOptions{Show: "shop/db"}, "Left out clients that keep the address of a pod that has gone: DNS keeps an answer for 5 to 30 s, gRPC and Java often for longer. " +
			"What they ask there is lost, unless a preStop hook lasts longer than that. examples/scenarios/headless-stale-dns.yaml plays it\n"},
		{TextOptions{Show: "shop/db"}, "How long the rollout takes 20 s (20-21)\n"},
		{TextOptions{Show: "shop/db"}, "1 run had not settled at the end: pods start\n"},
		{TextOptions{Show: "shop/db"}, "Again: lameduck sim -f web.yaml --show shop/db --seed 2 --runs 1\n"},
	} {
		var b strings.Builder
		if err := WriteText(&b, s, tt.opts); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(flow(b.String()), flow(tt.want)) {
			t.Errorf("%+v: no %q in\n%s", tt.opts, tt.want, b.String())
		}
	}
	cases := Build(s).Cases
	want := Dark{Seconds{3 * sec, 4 * sec, 9 * sec}, []string{}, Counts{1, 1, 2}, Seconds{20 * sec, 20 * sec, 21 * sec}}
	if got := cases[2]; got.Dark == nil || !reflect.DeepEqual(*got.Dark, want) || got.Verdict != "not-judged" || got.Runs != (RunCounts{Total: 2}) {
		t.Errorf("JSON says %+v of %+v", got.Dark, got.Runs)
	}
	if cases[0].Dark != nil || cases[1].Dark != nil {
		t.Error("JSON has dark pods of cases with a verdict")
	}
	c.Dark.Pods, c.Dark.Most = record.Range{}, record.Range{}
	if got, want := darkWords(c), "; no pod is dark, rollout 20 s (20-21)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// flow is a text without the breaks that wrapping made.
func flow(s string) string { return regexp.MustCompile(`\s+`).ReplaceAllString(s, " ") }

// squeeze makes runs of blanks within lines one.
func squeeze(s string) string { return regexp.MustCompile(`([^\s]) {2,}`).ReplaceAllString(s, "$1 ") }

func TestJSONAddsUp(t *testing.T) {
	t.Parallel()
	r := Build(example())
	var inCauses uint64
	for _, c := range r.Cases {
		var sum uint64
		for _, x := range c.Causes {
			sum += x.Count
		}
		if c.Requests.OK+c.Requests.Failed != c.Requests.Total || sum != c.Requests.Failed {
			t.Errorf("%s: %+v with causes for %d", c.ID, c.Requests, sum)
		}
	}
	for _, x := range r.Causes {
		inCauses += x.Count
	}
	if r.Requests.Total != 4000 || r.Requests.Failed != 196 || inCauses != 196 || r.Verdict.Worst != "drops" {
		t.Errorf("%+v, causes for %d, %+v", r.Requests, inCauses, r.Verdict)
	}
	if want := (Attempts{Total: 4000, Failed: 196}); r.Attempts != want {
		t.Errorf("attempts %+v, want %+v", r.Attempts, want)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"lossBound95":0.77639`, `"lossBound95":null`, `"median":0.98`, `"fixes":[{"workload":"shop/web"`, `"usablePods":{"min":2,"of":3,"forSeconds":1.5,"staying":0}`, `"effect":"size"`, `"noHelp":[{`, `"source":{"file":"web.yaml","line":17}`, `"notModelled":[]`, `"first":6,"last":7`} {
		if !bytes.Contains(data, []byte(part)) {
			t.Errorf("no %s in %s", part, data)
		}
	}
	empty, err := json.Marshal(Build(&record.Simulation{}))
	if err != nil || bytes.Contains(empty, []byte(`":null`)) {
		t.Errorf("an empty simulation has lists that are not: %s (%v)", empty, err)
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteJUnit(&b, example(), func(c *record.Case) bool { return c.Verdict == record.Drops }); err != nil {
		t.Fatal(err)
	}
	var got suites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Skipped != 1 || len(got.Suite.Cases) != 3 {
		t.Errorf("%s", b.String())
	}
}

// The text of a failure says what to do, of what its numbers are, and has one line for causes of the same words.
func TestJUnitSaysWhatItCounts(t *testing.T) {
	t.Parallel()
	c := &example().Cases[1]
	x := c.Causes[0]
	x.Culprit, x.Elsewhere, x.Count = story.Culprit{What: "another"}, false, 4
	c.Causes = append(c.Causes, x)
	const want = "what to do: fixes were not looked for (fixes 0)\n" +
		"196 requests lost in 2 runs of all clients together, of them:\n" +
		"200 requests: stale-rules: a node's rules are out of date: kube-proxy waits for minSyncPeriod\n"
	if got := details(&record.Simulation{}, c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for in, want := range map[engine.Time]string{
		0: "nothing", 145 * engine.Second: "2.4 min", engine.Millisecond: "<0.01 s", 985 * engine.Millisecond: "0.99 s", 13*engine.Second + 649*engine.Millisecond: "13.6 s", 12 * engine.Second: "12 s",
	} {
		if got := span(in); got != want {
			t.Errorf("%d ns: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[record.Fraction]string{139_109: "14 %", 14_868: "1.5 %", 9_937: "1 %"} {
		if got := percent(in); got != want {
			t.Errorf("%d millionths: %q, want %q", in, got, want)
		}
	}
	for _, row := range Causes() {
		if row.What == "" || row.Signature == "" {
			t.Errorf("%s is not explained", row.Cause)
		}
	}
}

// What fails for all clients alike is said once, with the greater part.
func TestWhatFailsBeforeIsSaidOnce(t *testing.T) {
	t.Parallel()
	c := &record.Case{Before: []record.Before{{What: "a", Client: "one", Lost: 100_000}, {What: "b", Client: "one"}, {What: "a", Client: "two", Lost: 300_000}}}
	want := []string{"before anything happens: a (30 % of requests, no part of what is lost)", "before anything happens: b"}
	if got := befores(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A fix that other values of what was assumed undo is said to be one as assumed.
func TestAFixThatHelpsAsAssumedOnlySaysSo(t *testing.T) {
	t.Parallel()
	s := example()
	s.Fixes[0].NotWith = []record.OtherValue{{ID: "start", Value: "20s"}, {ID: "new", Value: "1"}}
	var b strings.Builder
	if err := WriteText(&b, s, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if line := "Helps as assumed. Not enough if containers listen after 20 s; or new is 1."; !strings.Contains(flow(b.String()), line) {
		t.Errorf("no %q in\n%s", line, b.String())
	}
	if got := Build(s).Fixes[0].NotWith; len(got) != 2 || got[0] != (OtherValue{"start", "20s"}) {
		t.Errorf("JSON says %+v", got)
	}
}

// lostToOldPod is a story of two lines: the restart, and the request that an old pod refuses.
func lostToOldPod() []story.Line {
	restart := &world.Action{Operation: world.RolloutRestart{Workload: "shop/web"}, Pos: manifest.Position{File: "web.yaml", Line: 1}}
	return refused(event.Event{At: 5 * engine.Second, Kind: event.Action, Action: restart, Pod: -1, Node: -1})
}

// refused is the story of a request that old pod 0 refuses at 6.01 s, because it has closed its listener.
func refused(events ...event.Event) []story.Line {
	sc := &world.Scenario{Nodes: []world.Node{{Name: "node-1"}}, Workloads: make([]world.Workload, 1), Traffic: make([]world.Traffic, 1)}
	var recorder story.Recorder
	for _, e := range events {
		recorder.Record(e)
	}
	pods := []cluster.PodRef{{ID: 0, Name: "web-0"}, {ID: 1, Name: "web-1", Revision: 1}}
	at := 6*engine.Second + 10*engine.Millisecond
	return story.NewTeller(sc, &recorder, pods).Tell(ledger.Request{
		Pod: "web-0", Arrival: at, End: at, Attempts: 1, Outcome: ledger.Refused, Blame: ledger.Blame{Cause: ledger.ListenerClosed},
	})
}

// Codes of traffic are said in words, of one and of several.
func TestTrafficInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ class, traffic, want string }{
		{"peer", "peers :6379", "between its pods :6379"}, {"session", "sessions :6379", "sessions :6379"}, {"session", "Redis sessions :6379", "Redis sessions :6379"},
		{"h2", "h2 :80", "gRPC, HTTP/2 :80"}, {"inside", "inside :80", "inside :80"},
	} {
		if got := trafficWords(&record.Case{Class: c.class, Traffic: c.traffic}); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.class, c.traffic, got, c.want)
		}
	}
}

// What cannot end fails with what it waits for, the line behind that, and what to do.
func TestJUnitSaysWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := &record.Simulation{Cases: []record.Case{{
		Workload: "shop/web", Action: "node drain", Traffic: "inside :80", Verdict: record.Blocked, Runs: []record.Run{{Stuck: &record.Stuck{}}},
		Stuck: &record.Stuck{Workload: "shop/web", Drain: true, Why: "kubectl drain waits for ever: PodDisruptionBudget web allows no eviction", What: "minAvailable: 1", File: "web.yaml", Line: 45},
	}}}
	var b bytes.Buffer
	if err := WriteJUnit(&b, s, func(*record.Case) bool { return true }); err != nil {
		t.Fatal(err)
	}
	var got suites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	f := got.Suite.Cases[0].Failure
	const why = "kubectl drain waits for ever: PodDisruptionBudget web allows no eviction"
	if !strings.HasSuffix(f.Message, " Why: "+why+".") || !strings.HasPrefix(f.Text, "why: "+why+"\nline: web.yaml:45\nwhat to do: minAvailable: 1") {
		t.Errorf("%q: %q", f.Message, f.Text)
	}
}

// A case in few of whose runs something is lost is not told by its median, which is 0.
func TestWhatACaseLosesHasItsRange(t *testing.T) {
	t.Parallel()
	c := &record.Case{LostSeconds: record.Range{Max: int64(610 * engine.Millisecond)}, WithLoss: 38, Runs: make([]record.Run, 100)}
	if got := Lost(c); got != "0 s (0-0.61) in 38 of 100 runs" {
		t.Errorf("%q", got)
	}
	if got := Lost(&record.Case{}); got != "-" {
		t.Errorf("%q", got)
	}
}
