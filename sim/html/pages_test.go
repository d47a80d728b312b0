package html

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// judged is a simulation made by hand: the second case is the worst, and has a timeline, which the first one has not.
func judged() *record.Simulation {
	of := func(id string, v record.Verdict, lost int64) record.Case {
		return record.Case{
			ID: id, Workload: "shop/web", Action: "rolling restart of " + id, Traffic: "inside :80", Verdict: v, Headline: true,
			Clients: []record.Client{{Name: "inside", Rate: 100_000}}, LostSeconds: record.Range{Median: lost},
			Runs: []record.Run{{Seed: 1, Settled: true, Streams: make([]record.Stream, 1)}},
		}
	}
	s := &record.Simulation{
		Version: "v1.2.3", Replay: "lameduck sim -f <web>.yaml", Runs: 1,
		Cases: []record.Case{of("holds", record.Holds, 0), of("drops", record.Drops, int64(2*engine.Second))},
	}
	s.Cases[1].Timeline = &timeline.Timeline{Events: []timeline.Event{{Number: 1, What: "something"}}}
	return s
}

// lesson has something in each of its fields.
func lesson(run *record.Simulation) *Lesson {
	return &Lesson{
		Name: "name", Title: "Title", Place: "Lesson 1 of 2", Hook: "The hook", Version: "v1.2.3", Myth: "confirmed",
		Question: []string{"What does `this` do?", "And `that`?"}, Happened: []string{"It `happened`."}, Answer: []string{"`None`."}, Exercise: []string{"Do it."},
		Goals: []string{"one", "two"}, Solution: [][]string{{" stays", "-goes", "+comes"}, {" other"}},
		Command: "lameduck sim -f name.yaml", Transcript: "it says", File: "name.yaml", World: "a: 1\nb: 2\n",
		Previous: &Link{"before", "Before"}, Next: &Link{"after", "After"}, Run: run, Play: "play/#1.ab",
	}
}

// Whole pages are kept, but for what is built into each of them, and for the result that they have as JSON: only what is empty of that, and what
// stands beside it.
func TestPages(t *testing.T) {
	t.Parallel()
	undrawn := judged()
	undrawn.Cases = undrawn.Cases[:1]
	var out strings.Builder
	for _, p := range []struct {
		title string
		write func(*bytes.Buffer) error
	}{
		{"a report", func(b *bytes.Buffer) error { return Write(b, judged(), report.TextOptions{}) }},
		{"a report of nothing", func(b *bytes.Buffer) error {
			return Write(b, &record.Simulation{Version: "v1.2.3", Replay: "lameduck sim"}, report.TextOptions{})
		}},
		{"a lesson with a run that is drawn", func(b *bytes.Buffer) error { return WriteLesson(b, lesson(judged())) }},
		{"a lesson with a run that is not", func(b *bytes.Buffer) error { return WriteLesson(b, lesson(undrawn)) }},
		{"a lesson without a run", func(b *bytes.Buffer) error { return WriteLesson(b, lesson(nil)) }},
		{"a lesson about a node", func(b *bytes.Buffer) error {
			l := lesson(nil)
			l.Node = &report.NodePage{Whose: "As it is.", Picture: "<svg></svg>", Style: "a{}"}
			return WriteLesson(b, l)
		}},
		{"a list of lessons", func(b *bytes.Buffer) error {
			return WriteLessons(b, &Lessons{"v1.2.3", []Course{{"One", "about one", []Lesson{*lesson(nil), {Name: "b"}}}, {"Two", "about two", []Lesson{{Name: "c"}}}}})
		}},
		{"a sweep", func(b *bytes.Buffer) error {
			return WriteSweep(b, &report.SweepPage{
				Title: "Title", Picture: "<svg></svg>", Style: "a{}", Seen: "seen",
				Maps: []report.SweepTable{{Title: "Map", AsItIs: "As it is.", X: "x", Columns: []string{"1", "2"}, Rows: []report.SweepRow{{Cells: []report.SweepPoint{{Lost: "1 s"}, {}}}}}},
			}, "v1.2.3", "lameduck sim --sweep")
		}},
	} {
		var b bytes.Buffer
		if err := p.write(&b); err != nil {
			t.Fatal(p.title, err)
		}
		fmt.Fprintf(&out, "%s\n\n%s\n", strings.ToUpper(p.title), bare(t, b.String()))
	}
	golden.Compare(t, "testdata/pages.txt", out.String(), *update)
}

var dataBlock = regexp.MustCompile(`(?s)(<script type="application/json" id="data">)(.*?)(</script>)`)

// bare is a page without what is built into it, each line with two blanks before it.
func bare(t *testing.T, page string) string {
	t.Helper()
	for _, part := range []struct{ text, name string }{
		{style, "(the style)"}, {script, "(the script)"}, {string(asComment(licences)), "(the licences)"},
		{strings.ReplaceAll(hash(style), "+", "&#43;"), "(the hash of the style)"}, {strings.ReplaceAll(hash(script), "+", "&#43;"), "(the hash of the script)"},
	} {
		page = strings.ReplaceAll(page, part.text, part.name)
	}
	page = dataBlock.ReplaceAllStringFunc(page, func(block string) string {
		parts := dataBlock.FindStringSubmatch(block)
		var data map[string]any
		err := json.Unmarshal([]byte(parts[2]), &data)
		result, ok := data["result"].(map[string]any)
		if err != nil || !ok {
			t.Fatal(parts[2], err)
		}
		for key, value := range result {
			list, many := value.([]any)
			if many && len(list) > 0 {
				result[key] = fmt.Sprintf("(%d)", len(list))
			}
		}
		raw, err := json.MarshalIndent(data, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return parts[1] + string(raw) + parts[3]
	})
	return "  " + strings.ReplaceAll(strings.TrimSuffix(page, "\n"), "\n", "\n  ")
}
