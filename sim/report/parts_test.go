package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// The cause that is shown is the largest one of the worst run.
func TestTheCauseThatIsShown(t *testing.T) {
	t.Parallel()
	c := &record.Case{WorstSeed: 2}
	for i, seed := range []uint64{1, 2, 2} {
		x := record.Cause{Count: uint64(10 - i)}
		x.Example.Seed = seed
		c.Causes = append(c.Causes, x)
		c.Runs = append(c.Runs, record.Run{Seed: seed})
	}
	if exampleCause(c) != &c.Causes[1] || worstRun(c) != &c.Runs[1] {
		t.Errorf("%+v", exampleCause(c))
	}
	if c.WorstSeed = 7; exampleCause(c) != nil || worstRun(c) != nil || lostRequest(c) != nil {
		t.Error("of a run that there is not")
	}
}

// Requests are alike that failed at the same pod, or without any for the same reason.
func TestRequestsThatAreAlike(t *testing.T) {
	t.Parallel()
	stale, none := ledger.StaleRules.String(), ledger.NoEndpoint.String()
	at := &scene{f: &timeline.Failure{Pod: 3, Cause: stale}, pod: &timeline.PodLane{ID: 3}}
	nowhere := &scene{f: &timeline.Failure{Pod: -1, Cause: none}, pod: &timeline.PodLane{ID: 3}}
	for _, tt := range []struct {
		s    *scene
		f    timeline.Failure
		want bool
	}{
		{at, timeline.Failure{Pod: 3, Cause: stale}, true}, {at, timeline.Failure{Pod: 3, Cause: none}, true}, {at, timeline.Failure{Pod: 2, Cause: stale}, false},
		{at, timeline.Failure{Pod: -1, Cause: stale}, false}, {nowhere, timeline.Failure{Pod: -1, Cause: none}, true}, {nowhere, timeline.Failure{Pod: 3, Cause: none}, false},
		{nowhere, timeline.Failure{Pod: -1, Cause: stale}, false},
	} {
		if got := tt.s.like(&tt.f); got != tt.want {
			t.Errorf("%+v and %+v: %v", tt.s.f, tt.f, got)
		}
	}
}

// For how long no pod could answer, over all runs: the least, the median and the most.
func TestForHowLongNoPodCouldAnswer(t *testing.T) {
	t.Parallel()
	c := &record.Case{}
	if got := withoutPod(c); got != (record.Range{}) {
		t.Errorf("without runs: %+v", got)
	}
	for _, seconds := range []engine.Time{7, 1, 5, 3} {
		c.Runs = append(c.Runs, record.Run{Usable: record.Usable{Of: 1, For: seconds * engine.Second}})
	}
	const sec = int64(engine.Second)
	if got, want := withoutPod(c), (record.Range{Min: sec, Median: 3 * sec, Max: 7 * sec}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// An assumption ends nothing where that is so of another one.
func TestTheAssumptionWithWhichItNeverEnds(t *testing.T) {
	t.Parallel()
	c := &record.Case{Alternatives: []record.Alternative{
		{ID: "a", Stuck: &record.Stuck{}, Effect: record.VerdictEffect}, {ID: "b", Effect: record.VerdictEffect}, {ID: "c", Stuck: &record.Stuck{}, Effect: record.NoEffect},
	}}
	for id, want := range map[string]int{"a": 1, "b": 0, "c": 0, "d": 0} {
		if got := endsFor(c, id); got != want {
			t.Errorf("%s: %d", id, got)
		}
	}
}

// What there is to try beside the manifest, by what happens to the node.
func TestWhatToTryWhereANodeEnds(t *testing.T) {
	t.Parallel()
	const late = "it takes 40 to 55 s until the control plane notices"
	for action, want := range map[string]string{ // order: each for itself
		scenario.ActionCrash: late, scenario.ActionReboot: late, scenario.ActionShutdown: "; drain the node before", scenario.ActionSpot: "node termination handler drain the node",
		scenario.ActionRollout: "", scenario.ActionDrain: "",
	} {
		got := outsideWords(&record.Case{Action: action, Silence: 50 * engine.Second}, "")
		if !strings.Contains(got, want) || (got == "") != (want == "") || strings.Contains(got, "if the reboot is planned") != (action == scenario.ActionReboot) {
			t.Errorf("%s: %q", action, got)
		}
	}
}

// Where a moment is in lanes of text.
func TestTheColumnOfAMoment(t *testing.T) {
	t.Parallel()
	p := &picture{begin: 10, until: 20, columns: 5}
	for at, want := range map[engine.Time]int{0: -1, 9: -1, 10: 0, 11: 0, 12: 1, 19: 4, 20: 5, 30: 10} {
		if got := p.columnOf(at); got != want {
			t.Errorf("%d: %d, want %d", at, got, want)
		}
	}
	if got := (&picture{begin: 10, until: 10, columns: 5}).columnOf(10); got != 0 {
		t.Errorf("nothing is drawn: %d", got)
	}
}

// On which node an endpoint is, in words.
func TestTheNodeOfAnEndpointInWords(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]explain.Decision{ // order: each for itself
		"on no node that is named": {}, "on node-1, this node": {Node: "node-1", IsLocal: true}, "on node-2": {Node: "node-2"},
	} {
		if got := ofNode(&e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where all lines are of one file, its name stands before the first of them alone: a place is the name, a colon and a number, and begins a word.
func TestTheNameOfTheOnlyFileIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, words, want string }{
		{"the first place, and those after it", "web.yaml:16, (web.yaml:9; web.yaml:1)", "web.yaml:16, (:9; :1)"},
		{"behind each mark", "web.yaml:16 web.yaml:9,web.yaml:8;web.yaml:7:web.yaml:0", "web.yaml:16 :9,:8;:7::0"},
		{"no number", "web.yaml: a word, web.yaml:16 web.yaml: another", "web.yaml: a word, web.yaml:16 web.yaml: another"},
		{"a letter, or what stands behind 9 in ASCII", "web.yaml:16, web.yaml:a web.yaml:: web.yaml:/", "web.yaml:16, web.yaml:a web.yaml:: web.yaml:/"},
		{"the end of the text", "web.yaml:16, web.yaml:", "web.yaml:16, web.yaml:"},
		{"another file that ends like it", "my-web.yaml:16, web.yaml:9 my-web.yaml:8", "my-web.yaml:16, web.yaml:9 my-web.yaml:8"},
		{"another file", "db.yaml:16 web.yaml:9", "db.yaml:16 web.yaml:9"},
	} {
		x := &text{only: "web.yaml"}
		if got := x.once(c.words); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if x = (&text{}); x.once(c.words) != c.words {
			t.Errorf("%s: shortened where there are several files", c.name)
		}
	}
}
