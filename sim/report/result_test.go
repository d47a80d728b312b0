package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// asJSON is what a program reads of a value.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever a fix says of itself is in its JSON.
func TestAFixInJSONIsComplete(t *testing.T) {
	t.Parallel()
	fix := &record.Fix{
		Workload: "shop/web", Title: "preStop sleep 5", Others: []string{"shop/api"}, Least: "3 s", NotWith: []record.OtherValue{{ID: "start", Value: "20s"}},
		Families: []string{"metallb-l2"}, Edits: []edit.Edit{{Path: "spec.a", At: "spec.a", From: edit.Value{YAML: "1"}, To: edit.Value{YAML: "2"}, File: "web.yaml", Line: 7}, {Path: "spec.b", At: "spec.b", To: edit.Value{YAML: "3"}, File: "web.yaml", Line: 9}},
		OtherEdits:  []record.OtherEdits{{Workload: "shop/api", Edits: []edit.Edit{{Path: "spec.a", At: "spec.a", From: edit.Value{YAML: "1"}, To: edit.Value{YAML: "2"}, File: "api.yaml", Line: 8}}}},
		Destructive: "it restarts", Cost: "two pods more", Longer: 2 * engine.Second, Margin: 3 * engine.Second,
		Cases: []record.FixedCase{{
			ID: "shop/web/rollout/outside:80", Before: record.Range{Min: 1e9, Median: 2e9, Max: 3e9}, After: record.Range{Max: 5e8}, Runs: 20, WithLoss: 2, StuckBefore: 4, Stuck: 1,
			Confirm: record.Confirm{Runs: 1000, WithLoss: 3, Stuck: 5, Left: []string{"stale-rules"}},
		}},
	}
	got, err := json.Marshal(fixOf(fix))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"workload":"shop/web"`, `"title":"preStop sleep 5"`, `"size":2`, `"others":["shop/api"]`, `"least":"3 s"`, `"notWith":[{"assumption":"start","value":"20s"}]`,
		`"families":["metallb-l2"]`, `"path":"spec.a"`, `"path":"spec.b"`, `"file":"api.yaml"`, `"runs":20`, `"withLoss":2`, `"stuckBefore":4`, `"stuck":1`,
		`"runs":1000`, `"withLoss":3`, `"left":["stale-rules"]`, `"stuck":5`, `"it restarts"`, `"two pods more"`, `"margin":3`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	empty := asJSON(t, fixOf(&record.Fix{})).(map[string]any) //nolint:errcheck // an object is a map
	if empty["margin"] != nil || empty["size"] != 0.0 {
		t.Errorf("a fix of nothing has margin %v and size %v", empty["margin"], empty["size"])
	}
	for _, list := range []string{"edits", "cases", "others", "notWith", "families", "otherEdits"} {
		if l, ok := empty[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s of a fix of nothing is %v, want an empty list", list, empty[list])
		}
	}
}

// Each load balancer that it might be has its own verdict and its own fix in JSON.
func TestFamiliesInJSON(t *testing.T) {
	t.Parallel()
	family := func(preset string, verdict record.Verdict, fix *record.Fix) record.Family {
		return record.Family{Preset: preset, Name: "the " + preset, Case: record.Case{Verdict: verdict, WorstSeed: 7}, Fix: fix}
	}
	got := familiesOf(&record.Case{Families: []record.Family{family("a", record.Drops, &record.Fix{Title: "x"}), family("b", record.Holds, nil)}})
	var lines []string
	for _, f := range got {
		title := ""
		if f.Fix != nil {
			title = f.Fix.Title
		}
		lines = append(lines, fmt.Sprint(f.Preset, ", ", f.Name, ", ", f.Verdict, ", ", f.WorstSeed, ", ", title))
	}
	if diff := cmp.Diff([]string{"a, the a, drops, 7, x", "b, the b, holds, 7, "}, lines); diff != "" {
		t.Error(diff)
	}
}

// One row of the assumptions is one value of one thing, for however many cases it was assumed.
func TestRowsOfAssumptions(t *testing.T) {
	t.Parallel()
	r := &Result{}
	start := Assumption{ID: "start", What: "time to start", Value: "10s"}
	other := map[string]Assumption{"id": start, "what": start, "value": start}
	for field, a := range other { // order: each becomes a row, and only their number counts
		switch field {
		case "id":
			a.ID = "stop"
		case "what":
			a.What = "time to start of api"
		default:
			a.Value = "20s"
		}
		r.row(a)
	}
	if first := r.row(start); first != r.row(start) || len(r.Assumptions) != 4 {
		t.Errorf("%d rows: %+v", len(r.Assumptions), r.Assumptions)
	}
}

// The worst of a fix's cases loses something in the largest share of the runs that confirm it.
func TestTheWorstCaseOfAFix(t *testing.T) {
	t.Parallel()
	of := func(id string, lossy, runs int) record.FixedCase {
		return record.FixedCase{ID: id, Confirm: record.Confirm{Runs: runs, WithLoss: lossy}}
	}
	for name, c := range map[string]struct {
		cases []record.FixedCase
		want  string
	}{
		"none":                        {nil, ""},
		"the second one":              {[]record.FixedCase{of("a", 1, 1000), of("b", 2, 1000), of("c", 0, 1000)}, "b"},
		"more of fewer":               {[]record.FixedCase{of("a", 3, 1000), of("b", 2, 100)}, "b"},
		"the first of two alike":      {[]record.FixedCase{of("a", 2, 1000), of("b", 2, 1000)}, "a"},
		"one that was not confirmed":  {[]record.FixedCase{of("a", 0, 0), of("b", 1, 1000)}, "b"},
		"nothing lost in any of them": {[]record.FixedCase{of("a", 0, 1000), of("b", 0, 1000)}, "a"},
	} {
		if got := worstConfirmed(&record.Fix{Cases: c.cases}).ID; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What a client loses is said in seconds; requests that are lost one by one are no time, and are counted.
func TestWordsOfAClient(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	of := func(lost ...engine.Time) *record.Case {
		c := &record.Case{Clients: []record.Client{{Name: "outside"}}}
		for _, l := range lost {
			s := record.Stream{LostSeconds: l, Totals: ledger.Totals{Total: 100, Failed: 3}}
			s.Outcomes[ledger.Refused] = 3
			c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}})
		}
		return c
	}
	nothing := of(0)
	nothing.Runs[0].Streams[0] = record.Stream{}
	for name, c := range map[string]struct {
		of   *record.Case
		want string
	}{
		"nothing lost":              {nothing, ""},
		"a few requests":            {of(0, 0, 0), "3 requests lost (refused)"},
		"something in one of three": {of(0, 0, 2*sec), "at most 2 s lost (refused)"},
		"something in most":         {of(sec, 2*sec, 3*sec), "2 s lost (refused)"},
	} {
		if got := clientWords(c.of, 0, false); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// In brief a client's words leave out how its requests failed, and what came after that, but for how long nothing was answered.
func TestAClientInBriefKeepsItsSilence(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	s := record.Stream{LostSeconds: 3 * sec, LongestOutage: 2 * sec, Cuts: 4, Totals: ledger.Totals{Total: 100, Failed: 3}}
	s.Outcomes[ledger.Refused] = 3
	c := &record.Case{Clients: []record.Client{{Name: "new"}}, Runs: []record.Run{{Streams: []record.Stream{s}}}}
	for brief, want := range map[bool]string{
		true:  "3 s lost; no answer at all for 2 s",
		false: "3 s lost (refused); no answer at all for 2 s; 4 connections end with their server or are cut",
	} {
		if got := clientWords(c, 0, brief); got != want {
			t.Errorf("brief %t: %q, want %q", brief, got, want)
		}
	}
}

// A range that ends at nothing is nothing; any other is named by its end.
func TestAtMost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lost record.Range
		want string
	}{{record.Range{}, "nothing"}, {record.Range{Max: int64(2 * engine.Second)}, "at most 2 s"}, {record.Range{Min: int64(engine.Second), Max: int64(3 * engine.Second)}, "at most 3 s"}} {
		if got := atMost(c.lost); got != c.want {
			t.Errorf("%+v: %q, want %q", c.lost, got, c.want)
		}
	}
}

// Above what helps stands on how many runs it was tried, where one case says it for all.
func TestTheHeadingOfWhatHelps(t *testing.T) {
	t.Parallel()
	tried := &record.Fix{Cases: []record.FixedCase{{Runs: 20, Confirm: record.Confirm{Runs: 1000}}}}
	for _, c := range []struct {
		fixes []*record.Fix
		want  string
	}{
		{nil, "WHAT HELPS\n"},
		{[]*record.Fix{{}}, "WHAT HELPS\n"},
		{[]*record.Fix{tried}, "WHAT HELPS   tried on these 20 runs, then on 1,000 new ones\n"},
	} {
		text := newText(&record.Simulation{}, TextOptions{}, room{})
		text.heading(c.fixes)
		if got := text.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// There is no heading where there is no room for anything below it: what makes a pod ready again sooner, and helps nothing else, is said above.
func TestNoHeadingOfNothing(t *testing.T) {
	t.Parallel()
	c := &record.Case{ID: "x", Workload: "shop/web"}
	sim := &record.Simulation{NoHelp: []record.NoHelp{{Workload: "shop/web", Title: "minReadySeconds: 3"}, {Workload: "shop/web", Title: "periodSeconds: 1", Gap: 2 * engine.Second}}}
	for room, want := range map[room]string{{}: "", {noHelp: 1}: "WHAT HELPS\n  Does not help: minReadySeconds: 3.\n"} { // order: each for itself
		text := newText(sim, TextOptions{}, room)
		text.fixes([]*record.Case{c})
		if got := text.String(); got != want {
			t.Errorf("%+v: %q, want %q", room, got, want)
		}
	}
}
