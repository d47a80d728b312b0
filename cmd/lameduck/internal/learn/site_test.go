package learn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/play"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

func TestTheWordsOfAPage(t *testing.T) {
	t.Parallel()
	second := strings.Replace(lesson, "drains 1", "drains 2", 1)
	courses, err := Parse(Files{"one.md": lesson, "one.yaml": world, "two.md": strings.ReplaceAll(second, "one.yaml", "two.yaml"), "two.yaml": strings.ReplaceAll(world, "one", "two")})
	if err != nil {
		t.Fatal(err)
	}
	got := pageOf(t, courses, "one", Ran{Output: "DROPS one\n\nWHY\n  so\n\nASSUMED\n  that\n"}, "play/")
	want := &html.Lesson{
		Name: "one", Title: "A title", Place: "Drains and budgets, 1 of 2", Hook: "What?", Question: []string{"What is it?"}, Happened: []string{"This."},
		Answer: []string{"That.", "More of it."}, Exercise: []string{"Do it."}, Goals: []string{"the verdict is holds"},
		Solution: [][]string{{" spec:", "-  replicas: 1", "+  replicas: 2"}}, Command: "lameduck sim -f one.yaml",
		Transcript: "DROPS one\n\nWHY\n  so\n...", File: "one.yaml", World: world, Next: &html.Link{Name: "two", Title: "A title"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p := pageOf(t, courses, "two", Ran{}, ""); p.Previous == nil || p.Previous.Name != "one" || p.Next != nil {
		t.Errorf("before %v, after %v", p.Previous, p.Next)
	}
	if list := Index(courses); list.Courses[1].Lessons[1].Hook != "What?" || list.Courses[1].About != "What kubectl drain waits for, and what it does not" {
		t.Errorf("%+v", list.Courses[1])
	}
}

func pageOf(t *testing.T, courses []*Course, name string, ran Ran, player string) *html.Lesson {
	t.Helper()
	p, err := Find(courses, name).Page(courses, ran, player)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What was simulated can be dragged in the page of lameduck play, where that is somewhere; of a node there is a picture.
func TestWhatCameOfTheCommand(t *testing.T) {
	t.Parallel()
	courses, err := Parse(Files{"one.md": lesson, "one.yaml": world})
	if err != nil {
		t.Fatal(err)
	}
	run := &record.Simulation{}
	fragment, err := play.Fragment("one.yaml", world)
	if p := pageOf(t, courses, "one", Ran{Run: run}, "play/"); err != nil || p.Run != run || p.Play != "play/#"+fragment || p.Node != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if p := pageOf(t, courses, "one", Ran{Run: run}, ""); p.Play != "" {
		t.Error(p.Play)
	}
	if p := pageOf(t, courses, "one", Ran{Node: &explain.Explanation{Node: "node-1"}}, "play/"); p.Play != "" || p.Node == nil || !strings.HasPrefix(p.Node.Title, "What node-1 does") {
		t.Errorf("%+v", p)
	}
}

func TestGoalsInSentences(t *testing.T) {
	t.Parallel()
	for want, g := range map[string]Goal{
		"the verdict is rare": {Expect: "expect.verdict=rare"},
		"the run is as the Scenario expects: usablePods.min 2": {Expect: "expect.usablePods.min=2"},
		`it does not print "lost"`:                             {Never: "lost"},
	} {
		if got := g.told(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A myth is what its run shows, and only lessons of their course are myths.
func TestMyths(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"- course: drains 1\n- myth: refuted": "one.md:1: a field myth belongs to the lessons of course myths, and to each of them",
		"- course: myths 1":                   "one.md:1: a field myth belongs to the lessons of course myths, and to each of them",
		"- course: myths 1\n- myth: so-so":    `one.md:4: myth "so-so": want refuted or confirmed`,
	} {
		if _, err := Parse(Files{"one.md": strings.Replace(lesson, "- course: drains 1", head, 1), "one.yaml": world}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", head, err, want)
		}
	}
}
