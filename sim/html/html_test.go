package html

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// webApp is examples/web-app.yaml, simulated; the list of its cases is the test's own.
func webApp(t *testing.T) *record.Simulation {
	t.Helper()
	s, err := simulated()
	if err != nil {
		t.Fatal(err)
	}
	own := *s
	own.Version, own.Cases = "v1.2.3", slices.Clone(s.Cases)
	return &own
}

var simulated = sync.OnceValues(func() (*record.Simulation, error) {
	raw, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		return nil, err
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "web-app.yaml", Data: raw}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{})
	return sweep.Run(context.Background(), cases, sweep.Options{Runs: 5, Fixes: -1, ConfirmRuns: 5, Sensitivity: true, Timelines: 12})
})

func written(t *testing.T, s *record.Simulation) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, s, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// between is what stands between two texts, the first time.
func between(t *testing.T, page, before, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, before)
	inside, _, ok2 := strings.Cut(rest, after)
	if !ok || !ok2 {
		t.Fatalf("the page has no %q, or no %q after it", before, after)
	}
	return inside
}

// Only the page's own script and style are allowed, by their hashes, and a browser is told so before it comes to them.
func TestThePolicyNamesWhatIsInThePage(t *testing.T) {
	t.Parallel()
	page := written(t, webApp(t))
	policy := strings.ReplaceAll(strings.ReplaceAll(between(t, page, `Content-Security-Policy" content="`, `"`), "&#39;", "'"), "&#43;", "+")
	for _, want := range []string{
		"default-src 'none'", "script-src '" + hash(between(t, page, "<script>", "</script>")) + "'", "style-src '" + hash(between(t, page, "<style>", "</style>")) + "'",
		"base-uri 'none'", "form-action 'none'",
	} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy is %q, want %q in it", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Count(page, "<script") != 3 || strings.Index(page, "Content-Security-Policy") > strings.Index(page, "<style>") {
		t.Errorf("the policy is %q", policy)
	}
	for _, never := range []string{"<link", "<img", "<iframe", " onclick=", " style=", "javascript:"} {
		if frame := strings.ReplaceAll(page, script, ""); strings.Contains(frame, never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// The data of the page is the JSON of -o json, without the list of runs.
func TestTheDataIsTheJSONOfTheResult(t *testing.T) {
	t.Parallel()
	s := webApp(t)
	raw := between(t, written(t, s), `<script type="application/json" id="data">`, "</script>")
	var got struct{ Result map[string]any }
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(report.Build(s))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	want["runs"] = []any{}
	if d := cmp.Diff(want, got.Result); d != "" {
		t.Error(d)
	}
}

// What the input says is text, wherever it stands.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const evil = `</script><img src=x onerror=alert(1)>"'<!--`
	s := &record.Simulation{Version: evil, Replay: "lameduck sim -f " + evil, Cases: []record.Case{{
		ID: evil, Action: evil, Workload: evil, Traffic: evil, Class: evil, Source: evil, Verdict: record.Drops, Reason: evil, Headline: true,
		Clients: []record.Client{{Name: evil, Rate: 1000}}, Runs: []record.Run{{Seed: 1, Settled: true, Streams: make([]record.Stream, 1)}},
		Timeline: &timeline.Timeline{Events: []timeline.Event{{Number: 1, What: evil, Object: evil}}, LeftOut: []string{evil}},
	}}}
	page := written(t, s)
	for _, never := range []string{"<img", "<!--", "onerror=alert(1)>"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q: %s", never, between(t, page, never, "\n"))
		}
	}
	if n := strings.Count(page, "</script>"); n != 3 {
		t.Errorf("%d scripts end", n)
	}
}

// A page has as many timelines as there is room for: those of the worst cases, and it says how many it lacks.
func TestAPageIsBounded(t *testing.T) {
	t.Parallel()
	s := &record.Simulation{}
	for i := range 12 {
		c := record.Case{
			ID: string(rune('a'+i)) + "/x:80", Workload: "shop/web", Action: "rolling restart", Traffic: "inside :80", Verdict: record.Drops,
			Runs: []record.Run{{Seed: 1, Settled: true}}, Timeline: &timeline.Timeline{}, LostSeconds: record.Range{Median: int64(12 - i)},
		}
		for n := range 5700 {
			c.Timeline.Events = append(c.Timeline.Events, timeline.Event{Number: n, At: engine.Second, What: strings.Repeat("x", 100)})
		}
		s.Cases = append(s.Cases, c)
	}
	page := written(t, s)
	if len(page) > 5_000_000 || len(page) < 3_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, part := range []string{between(t, page, "<header>", "</header>"), between(t, page, `id="data">`, "</script>")} {
		if !strings.Contains(part, "The timelines of 8 more cases are left out for want of room") {
			t.Errorf("it does not say what it lacks: %.300s", part)
		}
	}
	d := dataOf(s)
	if within(d, 1_500_000); d.Result.Cases[0].Timeline == nil || d.Result.Cases[11].Timeline != nil {
		t.Error("the worst case goes without")
	}
}

// A case that goes without its timeline goes without that of its fixes, too: one alone would be compared with nothing.
func TestATimelineAndThatOfTheFixGoTogether(t *testing.T) {
	t.Parallel()
	drawn := func() *timeline.Timeline {
		return &timeline.Timeline{Events: []timeline.Event{{Number: 1, What: "something"}}}
	}
	s := &record.Simulation{
		Cases: []record.Case{{ID: "a", Verdict: record.Drops, Timeline: drawn()}, {ID: "b", Verdict: record.Drops, Timeline: drawn()}},
		Fixes: []record.Fix{{Title: "preStop", Cases: []record.FixedCase{{ID: "a", Timeline: drawn()}, {ID: "b", Timeline: drawn()}}}},
	}
	d := dataOf(s)
	last := d.Result.Cases[d.Order[1]].ID
	within(d, len(encoded(d))-1)
	for i := range d.Result.Cases {
		c, fixed := d.Result.Cases[i], d.Result.Fixes[0].Cases[i]
		if room := c.ID != last; c.Timeline != nil != room || fixed.ID != c.ID || fixed.Timeline != nil != room {
			t.Errorf("%s has a timeline: %v, with the fix: %v; %s is the last", c.ID, c.Timeline != nil, fixed.Timeline != nil, last)
		}
	}
	if len(d.Notes) != 1 {
		t.Errorf("notes: %q", d.Notes)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAPageThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for what, err := range map[string]error{ // order: each by itself
		"a report":   Write(full{}, &record.Simulation{}, report.TextOptions{}),
		"a lesson":   WriteLesson(full{}, &Lesson{}),
		"the lesson": WriteLessons(full{}, &Lessons{}),
		"a sweep":    WriteSweep(full{}, &report.SweepPage{}, "", ""),
	} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Cases without a timeline are none of those that go without one for want of room.
func TestWhatHadNoTimelineIsNotLeftOut(t *testing.T) {
	t.Parallel()
	s := &record.Simulation{Cases: []record.Case{
		{ID: "a", Verdict: record.Drops, Timeline: &timeline.Timeline{}}, {ID: "b", Verdict: record.Drops}, {ID: "c", Verdict: record.Holds, Timeline: &timeline.Timeline{}},
		{ID: "d", Verdict: record.Holds},
	}}
	d := dataOf(s)
	within(d, 0)
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "The timelines of 2 more cases") {
		t.Errorf("%q", d.Notes)
	}
}

// What is said above the pictures is what the text says first.
func TestTheHeadOfThePage(t *testing.T) {
	t.Parallel()
	head := between(t, written(t, webApp(t)), "<header>", "</header>")
	for _, want := range []string{
		`<span class="verdict drops">DROPS</span>default/web loses `, "<dt>Who notices</dt><dd>new connections inside the cluster: ", "<dt>Why</dt><dd>after a pod is told to stop",
		"(web-app.yaml:16)", "<dt>What to do</dt><dd>preStop: sleep ",
	} {
		if !strings.Contains(head, want) {
			t.Errorf("it lacks %q:\n%s", want, head)
		}
	}
}

func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	page := written(t, &record.Simulation{})
	if !strings.Contains(page, "<title>lameduck: nothing to judge</title>") || !strings.Contains(page, "NOT JUDGED") {
		t.Error(between(t, page, "<head>", "</header>"))
	}
}
