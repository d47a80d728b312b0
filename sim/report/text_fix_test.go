package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is the same for hundreds of workloads is said once: of the others only their names, and on how many runs that was seen.
func TestAFixForManyWorkloadsIsOneParagraph(t *testing.T) {
	t.Parallel()
	f := record.Fix{Workload: "shop/web", Title: "preStop: sleep 5"}
	s := &record.Simulation{}
	for i, name := range []string{"shop/web", "shop/basket", "shop/search"} {
		runs := 20
		if i == 0 {
			runs = 200
		} else {
			f.Others = append(f.Others, name)
		}
		s.Cases = append(s.Cases, record.Case{ID: name, Workload: name, Verdict: record.Drops})
		f.Cases = append(f.Cases, record.FixedCase{ID: name, Runs: 20, Confirm: record.Confirm{Runs: runs}})
	}
	s.Fixes = []record.Fix{f}
	var b strings.Builder
	if err := WriteText(&b, s, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"at most 1.5 % of rollouts lose anything", "The same helps 2 more workloads, in 20 new runs each at least: shop/basket and shop/search."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	if strings.Count(text, " -> ") != 1 {
		t.Errorf("the others have lines of their own:\n%s", b.String())
	}
}

// A change that may break what the manifest was written for is never shown alone where another one breaks nothing.
func TestAHarmlessChangeIsShownBesideADestructiveOne(t *testing.T) {
	t.Parallel()
	c := record.Case{ID: "web", Workload: "shop/web", Verdict: record.Outage}
	fixes := []record.Fix{
		{Workload: "shop/web", Title: "strategy RollingUpdate", Destructive: "two versions at a time"},
		{Workload: "shop/web", Title: "strategy RollingUpdate, preStop", Destructive: "two versions at a time"},
		{Workload: "shop/web", Title: "periodSeconds: 1"},
	}
	for _, want := range []struct {
		fixes []record.Fix
		shown bool
	}{{fixes, true}, {fixes[1:], true}, {[]record.Fix{{Workload: "shop/web", Title: "preStop"}, fixes[0], fixes[2]}, false}} {
		var b strings.Builder
		if err := WriteText(&b, &record.Simulation{Cases: []record.Case{c}, Fixes: want.fixes}, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "or, which breaks nothing, periodSeconds: 1"); got != want.shown {
			t.Errorf("shown %v:\n%s", got, b.String())
		}
		if got := strings.Contains(b.String(), "\n  periodSeconds: 1\n"); got != want.shown {
			t.Errorf("written in full %v:\n%s", got, b.String())
		}
	}
}

// However little room there is for a story, it keeps the deletion that it counts from, what the loss comes from, and the request.
func TestAStoryKeepsWhatTheLossComesFrom(t *testing.T) {
	t.Parallel()
	const blamed = "node-2's kube-proxy hears of it and waits 1 s"
	var lines []toldLine
	for i := range 12 {
		lines = append(lines, toldLine{words: fmt.Sprintf("something else, %d", i), file: "web.yaml", line: i})
	}
	lines[3] = toldLine{words: "old pod 1 deleted", origin: "old pod 1", kept: true}
	lines[5] = toldLine{words: blamed, kept: true}
	lines[8] = toldLine{words: "THIS REQUEST: connection refused", kept: true}
	for most := 3; most <= len(lines); most++ {
		var events []string
		for _, l := range shortened(lines, most) {
			events = append(events, l.words)
		}
		text := strings.Join(events, "; ")
		if !strings.Contains(text, "old pod 1 deleted") || !strings.Contains(text, blamed) || !strings.Contains(text, "THIS REQUEST") {
			t.Errorf("%d lines: %s", most, text)
		}
		if len(events) > max(most, 5) {
			t.Errorf("%d lines, want %d: %s", len(events), most, text)
		}
	}
}

// Of the lines of a story these are never left out: the deletion that it counts from, what the loss comes from, and the request.
func TestLinesOfAStoryThatAreNeverLeftOut(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range toldOf(refused(
		event.Event{At: 1 * engine.Second, Kind: event.Deleted, Node: -1},
		event.Event{At: 2 * engine.Second, Kind: event.Listening, Node: -1},
		event.Event{At: 3 * engine.Second, Kind: event.Closed, Node: -1},
		event.Event{At: 4 * engine.Second, Kind: event.Gone, Node: -1},
	)) {
		got = append(got, fmt.Sprintf("%s: kept %t, counts from %q", l.words, l.kept, l.origin))
	}
	want := []string{
		`old pod 0 deleted: kept true, counts from "old pod 0"`,
		`old pod 0 listens: kept false, counts from ""`,
		`old pod 0 accepts no connections any more: kept true, counts from ""`,
		`old pod 0 gone: kept false, counts from ""`,
		`THIS REQUEST: node-1 -> old pod 0: connection refused: kept true, counts from ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Where most runs lose nothing, a change is held against the run that loses most.
func TestARareLossIsNotZeroBeforeItsFix(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	for _, c := range []struct {
		before record.Range
		want   string
	}{{record.Range{}, "0 s"}, {record.Range{Max: sec / 20}, "at most 0.05 s"}, {record.Range{Median: sec, Max: 2 * sec}, "1 s"}} {
		if got := lostBefore(c.before); got != c.want {
			t.Errorf("%+v: %q, want %q", c.before, got, c.want)
		}
	}
}

// What new runs say of a fix is what the worst of its cases says.
func TestWhatNewRunsSayOfAFix(t *testing.T) {
	t.Parallel()
	const ms = int64(engine.Millisecond)
	confirmed := func(runs, withLoss, stuck int, most int64) record.FixedCase {
		return record.FixedCase{Confirm: record.Confirm{Runs: runs, WithLoss: withLoss, Stuck: stuck, LostSeconds: record.Range{Max: most}}}
	}
	blocked := confirmed(200, 0, 3, 0)
	blocked.StuckBefore = 1
	for want, cases := range map[string][]record.FixedCase{
		"not confirmed": nil,
		"nothing lost in 1 new rollout (at most 95 % of rollouts lose anything)":     {confirmed(1, 0, 0, 0)},
		"nothing lost in 200 new rollouts (at most 1.5 % of rollouts lose anything)": {confirmed(200, 0, 0, 0)},
		"something lost in 1 of 200 new rollouts, in these at most 0.02 s":           {confirmed(200, 0, 0, 0), confirmed(200, 1, 0, 20*ms), confirmed(2000, 2, 0, 90*ms)},
		"finishes in 197 of 200 new rollouts, and loses nothing":                     {blocked},
	} {
		if got := confirmedWords(&record.Fix{Cases: cases}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// That the kubelet might end its pods first is no advice where it does already: then its setting is said, and is no assumption.
func TestNobodyIsToldToSetWhatIsSet(t *testing.T) {
	t.Parallel()
	const setting = "nodes.kubelet.shutdownGracePeriod"
	for action, other := range map[string]string{"node shutdown": "; drain the node before", "spot notice": "; have a node termination handler drain the node at the notice"} {
		for _, said := range []bool{false, true} {
			c := &record.Case{Action: action, Sudden: !said}
			if !said {
				c.Assumptions = []world.Assumption{{ID: "kubelet"}}
			}
			if words := outsideWords(c, ""); strings.Contains(words, setting) == said || !strings.HasPrefix(words, other) {
				t.Errorf("%s, said %v: %s", action, said, words)
			}
			c.Sudden, c.Assumptions = false, []world.Assumption{{ID: "kubelet"}} // by the kind of cluster
			if words := outsideWords(c, ""); strings.Contains(words, setting) {
				t.Errorf("%s, as it is by the kind of cluster: %s", action, words)
			}
		}
	}
}

// What helps a rollout is no advice for a drain: below the headline of the drain it names what it is for, and comes after what helps the
// drain itself.
func TestAFixForAnotherActionNamesIt(t *testing.T) {
	t.Parallel()
	fixed := func(title, action string) record.Fix {
		return record.Fix{Workload: "shop/web", Title: title, Cases: []record.FixedCase{{ID: "web/" + action, Action: action, Runs: 10, Confirm: record.Confirm{Runs: 200}}}}
	}
	c := record.Case{ID: "web/node drain", Workload: "shop/web", Action: "node drain", Verdict: record.Drops}
	inPlace, hook := fixed("maxSurge: 0", "rolling restart"), fixed("preStop: sleep 5", "node drain")
	for name, want := range map[string]struct {
		fixes []record.Fix
		todo  string
		first string // below WHAT HELPS
	}{
		"of the rollout alone": {[]record.Fix{inPlace}, "What to do nothing that was tried helps", "maxSurge: 0, for a rollout"},
		"of both":              {[]record.Fix{inPlace, hook}, "What to do preStop: sleep 5: nothing lost in 200 new node drains", "preStop: sleep 5 "},
		"of the drain":         {[]record.Fix{hook}, "What to do preStop: sleep 5: nothing lost in 200 new node drains", "preStop: sleep 5 "},
	} {
		var b strings.Builder
		if err := WriteText(&b, &record.Simulation{Cases: []record.Case{c}, Fixes: want.fixes}, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		_, helps, _ := strings.Cut(text, "then on 200 new ones ")
		if !strings.Contains(text, want.todo) || !strings.HasPrefix(helps, want.first) {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// What a webhook is to others is in no figure of its Service.
func TestWhatTheFiguresDoNotHold(t *testing.T) {
	t.Parallel()
	left := func(id, direction string) *record.Case {
		return &record.Case{Sudden: true, Verdict: record.Outage, NotModelled: []world.NotModelled{{ID: "capacity"}, {ID: id, Direction: direction}}}
	}
	drops := left("webhook", "more")
	drops.Verdict = record.Drops
	for want, c := range map[string]*record.Case{"failurePolicy Fail, and it is asked of all Pods": left("webhook", "more"), "failurePolicy Ignore": left("webhook", "fewer"), "": drops} {
		if got := webhookWords(c); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of one pod no other could have answered: what another pod answers in the end is the next one.
func TestTheNextPodIsNoOther(t *testing.T) {
	t.Parallel()
	causes := []record.Cause{{Blame: ledger.Blame{Cause: ledger.NoEndpoint, Elsewhere: true}, Count: 25}, {Blame: ledger.Blame{Cause: ledger.NoEndpoint}, Count: 75}}
	for one, want := range map[bool]string{
		true:  "For 25 % of the lost requests the next pod was there already; before that nobody could have answered.",
		false: "Another ready pod could have answered in 25 %; in the rest nobody could.",
	} {
		if got := elsewhereWords(causes, 100, false, one); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What helps all else that is done to a workload is for that, and what does not help where a machine ends says where.
func TestWhatAChangeIsForAndWhatNot(t *testing.T) {
	t.Parallel()
	of := func(actions ...string) *record.Fix {
		f := &record.Fix{Workload: "shop/web"}
		for _, a := range actions {
			f.Cases = append(f.Cases, record.FixedCase{Action: a})
		}
		return f
	}
	crash := record.Case{ID: "c", Workload: "shop/web", Action: scenario.ActionCrash, Sudden: true}
	for want, f := range map[string]*record.Fix{
		", for a node drain":         of("node drain"),
		", for an eviction":          of("eviction", "eviction"),
		", for a rollout":            of(scenario.ActionRollout),
		", but not for a node crash": of("node drain", "eviction"),
	} {
		if got := forWhat(f, &crash); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	drain := record.Case{ID: "d", Workload: "shop/web", Action: scenario.ActionDrain}
	other := record.Case{ID: "o", Workload: "shop/api", Action: scenario.ActionDrain}
	for want, cases := range map[string][]record.Case{
		"  Does not help: x.\n": {crash, other},
		"  Does not help where a machine ends under its pods: x.\n": {crash, drain},
	} {
		out := newText(&record.Simulation{Cases: cases}, TextOptions{}, everything)
		out.noHelp([]string{"x"}, out.suddenAlone(&cases[0]), false)
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if told := out.drainTold(&crash) == ""; told != (cases[1].Workload == "shop/web") {
			t.Errorf("%q: the drain is told: %v", want, told)
		}
	}
}

// A change that may break something says so, with what it may break, and one that does not is not warned of.
func TestADestructiveChangeIsWarnedOf(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"", "two of them may write at once"} {
		f := &record.Fix{Workload: "shop/web", Title: "strategy: RollingUpdate", Destructive: why}
		out := newText(&record.Simulation{}, TextOptions{}, everything)
		out.fix(f, &record.Case{Workload: "shop/web"})
		if got := out.String(); strings.Contains(got, "Careful") != (why != "") || !strings.Contains(got, why) {
			t.Errorf("%q: %s", why, got)
		}
	}
}

// Changes are tried on the first runs of a case (sweep, confirmOn): where these are not all, their medians are others.
func TestTheRunsThatChangesAreTriedOnAreNamed(t *testing.T) {
	t.Parallel()
	s := example()
	for runs, want := range map[int]string{2: "WHAT HELPS tried on these 2 runs, then on 200 new ones", 1: "WHAT HELPS tried on 1 of these 2 runs, of which these medians are, then on 200 new ones"} {
		s.Fixes[0].Cases[0].Runs = runs
		page := newText(s, TextOptions{}, everything)
		page.heading([]*record.Fix{&s.Fixes[0]})
		if got := flow(page.String()); strings.TrimSpace(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is said of a change for a further workload is of that workload's own cases, and says whose pods are without it.
func TestFiguresOfAFurtherWorkloadAreItsOwn(t *testing.T) {
	t.Parallel()
	c := func(workload, action string) record.Case {
		return record.Case{ID: workload + "/" + action + "/web:80", Workload: workload, Action: action, Traffic: "inside :80"}
	}
	s := &record.Simulation{Cases: []record.Case{c("shop/stable", scenario.ActionRollout), c("shop/stable", scenario.ActionDrain), c("shop/canary", scenario.ActionRollout), c("shop/canary", scenario.ActionDrain)}}
	left := record.FixedCase{Before: record.Range{Median: 90, Max: 900}, Confirm: record.Confirm{Runs: 20, WithLoss: 4, LostSeconds: record.Range{Max: int64(engine.Second)}}}
	clean := record.FixedCase{Confirm: record.Confirm{Runs: 20}}
	of := func(x record.FixedCase, c *record.Case) record.FixedCase {
		x.ID, x.Action = c.ID, c.Action
		return x
	}
	page := newText(s, TextOptions{}, everything)
	f := &record.Fix{Workload: "shop/canary", Cases: []record.FixedCase{of(clean, &s.Cases[2]), of(left, &s.Cases[0])}}
	if got, want := page.otherResult(f), "nothing lost in 20 new rollouts"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	f.Cases = append(f.Cases, of(left, &s.Cases[3]))
	const want = "something lost in 4 of 20 new runs, in these at most 1 s (node drain, inside :80); tried in canary alone: what pods of stable lose on the node is in it"
	if got := page.otherResult(f); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A bound of a budget that takes the place of another one says which: the API server refuses both.
func TestABoundInPlaceOfAnother(t *testing.T) {
	t.Parallel()
	f := &record.Fix{Title: "maxUnavailable: 1 in its PodDisruptionBudget, preStop: sleep 5"}
	if got := titleOf(f); got != f.Title {
		t.Error(got)
	}
	f.Edits = []edit.Edit{{Kind: "PodDisruptionBudget", Path: "spec", From: edit.Value{Words: "minAvailable: 3"}}}
	if got, want := titleOf(f), "maxUnavailable: 1 in place of minAvailable: 3 in its PodDisruptionBudget, preStop: sleep 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of many cases that lose something with a change some are written, and of the others how many they are and which loses most; where there is least
// room two.
func TestOfManyCasesThatLoseWithAChangeTheWorstOfTheOthersIsNamed(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	f := &record.Fix{Workload: "shop/web", Title: "preStop: sleep 5"}
	for n, most := range []int64{9, 9, 9, 9, 9, 9, 3, 5, 5, 4} {
		f.Cases = append(f.Cases, record.FixedCase{ID: "case " + string(rune('a'+n)), Before: record.Range{Median: 20 * sec}, After: record.Range{Median: sec}, Runs: 10,
			Confirm: record.Confirm{Runs: 200, WithLoss: 9, LostSeconds: record.Range{Max: most * sec}}})
	}
	for _, c := range []struct {
		of, room int // how many cases
		want     string
	}{
		{6, 6, ""}, {2, 2, ""},
		{7, 6, "1 more case loses something with it, too, in the new runs at most 3 s (case g)."},
		{8, 6, "2 more cases lose something with it, too, in the new runs at most 5 s (case h)."},
		{10, 6, "4 more cases lose something with it, too, in the new runs at most 5 s (case i)."},
		{3, 2, "1 more case loses something with it, too, in the new runs at most 9 s (case c)."},
	} {
		room := everything
		room.terse = c.room == 2
		some := *f
		some.Cases = f.Cases[:c.of]
		x := newText(&record.Simulation{}, TextOptions{}, room)
		x.fixed(&some)
		text := flow(x.String())
		if got := strings.Count(text, ": 20 s -> 1 s; "); got != min(c.of, c.room) {
			t.Errorf("%d of %d cases are written, want %d:\n%s", got, c.of, c.room, text)
		}
		if i := strings.LastIndex(text, " more case"); (i >= 0) != (c.want != "") || !strings.HasSuffix(text, c.want+" ") {
			t.Errorf("%d cases: want %q in\n%s", c.of, c.want, text)
		}
	}
}

// Where nobody else could answer, the remedy of what the Why names is said to be of no use alone: if it was tried, and is named among what does not
// help.
func TestWhyTheRemedyOfTheCauseDoesNotHelpAlone(t *testing.T) {
	t.Parallel()
	const probe, hook = ": as long as no pod answers, a probe only decides how requests fail, refused or after a wait", ": as long as no other pod answers, a hook only has the outage begin later"
	for _, c := range []struct {
		what      string
		elsewhere bool
		tried     []string
		want      string
	}{
		{"no readinessProbe", false, []string{"preStop: sleep 5", "readinessProbe"}, probe},
		{"no readinessProbe", false, []string{"preStop: sleep 5"}, ""},
		{"no readinessProbe", true, []string{"readinessProbe"}, ""},
		{"no preStop", false, []string{"preStop: sleep 5"}, hook},
		{"no preStop of web", false, []string{"maxSurge: 1", "preStop: sleep 5"}, hook},
		{"no preStop", false, []string{"readinessProbe"}, ""},
		{"no preStop", true, []string{"preStop: sleep 5"}, ""},
		{"one replica", false, []string{"preStop: sleep 5", "readinessProbe"}, ""},
	} {
		x := &record.Case{Causes: []record.Cause{{Blame: ledger.Blame{Elsewhere: c.elsewhere}, Culprit: story.Culprit{What: c.what}}}}
		if got := noUseAlone(x, c.tried); got != c.want {
			t.Errorf("%q, tried %q: %q, want %q", c.what, c.tried, got, c.want)
		}
	}
	if got := noUseAlone(&record.Case{}, []string{"preStop"}); got != "" {
		t.Errorf("without a cause: %q", got)
	}
}
