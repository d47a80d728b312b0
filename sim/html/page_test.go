package html

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
)

// The page shows without its script what the report says: its first case at the head, every case in a line, the worst first, the text without
// colours and as wide as it likes, and how to have it again.
func TestThePageWithoutItsScript(t *testing.T) {
	t.Parallel()
	s := webApp(t)
	s.Replay = "lameduck sim -f web-app.yaml --seed 7"
	slices.Reverse(s.Cases)
	worst := s.Worst()
	if len(worst) < 2 || worst[0] == &s.Cases[0] {
		t.Fatalf("%d cases, of which the first is the worst: there is nothing to put in order", len(worst))
	}
	for name, shown := range map[string]*record.Case{"the worst": worst[0], "one that is asked for": worst[1]} {
		var opts report.TextOptions
		if shown != worst[0] {
			opts.Show = shown.ID
		}
		painted := opts
		painted.Style, painted.Width = func(_ record.Verdict, word string) string { return "\x1b[31m" + word }, 200
		var out, text bytes.Buffer
		if err := Write(&out, s, painted); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteText(&text, s, opts); err != nil {
			t.Fatal(err)
		}
		page := html.UnescapeString(out.String())
		_, sentence, answers := report.Head(s, opts)
		var dds []string
		for _, a := range answers {
			dds = append(dds, fmt.Sprintf("<dt>%s</dt><dd>%s</dd>", a.Label, strings.Join(a.Words, "<br>")))
		}
		var rows []string
		for _, c := range worst {
			rows = append(rows, fmt.Sprintf("<tr><td>%s</td><td>%s</td><td>%s</td></tr>", word(string(c.Verdict)), report.Title(s, c), report.Lost(c)))
		}
		for _, c := range []struct{ what, before, after, want string }{
			{"title", "<title>", "</title>", fmt.Sprintf("lameduck: %s %s", shown.Verdict, report.Title(s, shown))},
			{"headline", "<h1>", "</h1>", fmt.Sprintf(`<span class="verdict %s">%s</span>%s`, shown.Verdict, word(string(shown.Verdict)), sentence)},
			{"answers", `<dl class="answers">` + "\n", "\n</dl>", strings.Join(dds, "\n")},
			{"cases", "<tbody>", "</tbody>", strings.Join(rows, "")},
			{"text", `aria-label="the report as text">`, "</pre>", text.String()},
			{"replay", "<p>Again: <code>", "</code></p>", s.Replay},
			{"version", "<p>Made by lameduck ", ". The page", s.Version},
			{"generator", `name="generator" content="lameduck `, `"`, s.Version},
		} {
			if diff := cmp.Diff(c.want, between(t, page, c.before, c.after)); diff != "" {
				t.Errorf("%s: %s: %s", name, c.what, diff)
			}
		}
	}
}

// A verdict of several words is written without the hyphen that it has in JSON.
func TestAVerdictAsItIsShown(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[record.Verdict]string{record.Drops: "DROPS", record.NotJudged: "NOT JUDGED"} {
		if got := word(string(verdict)); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}
