package html

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/report"
)

func lessonPageOf(t *testing.T, l *Lesson) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteLesson(&out, l); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A lesson without a run has no script and allows none; one with a run has the report's.
func TestThePolicyOfALesson(t *testing.T) {
	t.Parallel()
	plain := lessonPageOf(t, &Lesson{Name: "one", Title: "One"})
	if strings.Contains(plain, "<script") || !strings.Contains(plain, "default-src &#39;none&#39;; style-src") || strings.Contains(plain, "script-src") {
		t.Error(between(t, plain, "<head>", "<title>"))
	}
	drawn := lessonPageOf(t, &Lesson{Name: "one", Title: "One", Run: webApp(t)})
	if !strings.Contains(drawn, "script-src") || !strings.Contains(drawn, `<div id="app" data-view="picture">`) || strings.Count(drawn, "<script") != 3 {
		t.Error(between(t, drawn, "<head>", "<title>"))
	}
	if !strings.Contains(drawn, `<span class="verdict drops">DROPS</span>default/web loses `) {
		t.Error(between(t, drawn, "<main>", "<h2>"))
	}
	if data := between(t, drawn, `id="data">`, "</script>"); !strings.Contains(data, `"fixes":[]`) || !strings.Contains(data, `"assumptions":[]`) {
		t.Error("a lesson's picture has fixes or assumptions")
	}
}

// The picture of a node needs no script; its style is allowed by its hash, and its tables stand below it.
func TestTheNodeOfALesson(t *testing.T) {
	t.Parallel()
	node := &report.NodePage{Whose: "As it is.", Picture: "<svg><style>a{}</style></svg>", Style: "a{}", Ports: []report.NodePort{{
		Title: "a <port>", Outside: true, Ways: [][]string{{"from outside", "policy Local", "DROP", "none"}}, Endpoints: []report.NodeEndpoint{{Address: "10.0.0.1:80", Why: "<b>"}},
	}}}
	page := lessonPageOf(t, &Lesson{Name: "one", Title: "One", Node: node})
	for _, want := range []string{"style-src &#39;" + strings.ReplaceAll(hash(style), "+", "&#43;") + "&#39; &#39;" + strings.ReplaceAll(hash("a{}"), "+", "&#43;") + "&#39;;", "<svg><style>a{}</style></svg>", "<h2>Run it yourself</h2>",
		"<caption>Endpoints of a &lt;port&gt;</caption>", `<th scope="col">from outside</th>`, `<tr><th scope="row">from outside</th><td>policy Local</td><td>DROP</td><td>none</td></tr>`, "<td>&lt;b&gt;</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, between(t, page, "<head>", "<title>"))
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "lameduck play") {
		t.Error("has a script, or is told to be played with")
	}
	played := lessonPageOf(t, &Lesson{Name: "one", Title: "One", Run: webApp(t), Play: "play/#1.ab"})
	if !strings.Contains(played, `<a href="play/#1.ab">`) || !strings.Contains(played, "<code>lameduck learn one -o yaml | lameduck play -f -</code>") {
		t.Error("does not lead to the page of lameduck play")
	}
}

// Words, code and changes are told apart, and all of them are text.
func TestTheWordsOfALesson(t *testing.T) {
	t.Parallel()
	const evil = "</script><img src=x>"
	page := lessonPageOf(t, &Lesson{
		Name: "one", Title: evil, Myth: "refuted", Question: []string{"Is `a` b?"}, Transcript: evil, World: evil + "\n", Goals: []string{"this", "that"},
		Solution: [][]string{{" a", "-b", "+c"}}, Previous: &Link{"zero", "Zero"},
	})
	for _, want := range []string{
		`<p class="question">Is <code>a</code> b?</p>`, "MYTH, REFUTED", "<span class=\"goes\">-b</span>\n<span class=\"comes\">&#43;c</span>",
		`<a rel="prev" href="zero.html">Previous: Zero</a>`, "It is solved when this, and that.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "<img") || strings.Contains(page, `rel="next"`) {
		t.Error(page)
	}
}

func TestTheListOfLessons(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := WriteLessons(&out, &Lessons{Version: "v1", Courses: []Course{
		{"Drains", "About drains", []Lesson{{Name: "one", Title: "One", Hook: "What?"}, {Name: "two", Title: "Two", Myth: "refuted", Hook: "<b>"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"to traffic: 2 lessons", "<h2>Drains</h2>\n<p>About drains.</p>", `<a href="one.html">One</a><br>What?`,
		`<a href="two.html">Two</a> <span class="tag refuted">refuted</span><br>&lt;b&gt;`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, between(t, out.String(), "<body", "</body>"))
		}
	}
	if strings.Contains(out.String(), "<script") {
		t.Error("the list has a script")
	}
}

// A sentence is words and code by turns, and nothing of it is empty.
func TestPiecesOfASentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]piece{
		"words": {{"words", false}}, "`code`": {{"code", true}}, "a `b` c": {{"a ", false}, {"b", true}, {" c", false}}, "`b` c": {{"b", true}, {" c", false}}, "a ``c": {{"a ", false}, {"c", false}}, "": nil,
	} {
		if got := pieces([]string{text}); len(got) != 1 || !slices.Equal(got[0], want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
