package learn

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/play"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
)

// Ran is what came of a lesson's command.
type Ran struct {
	Output string
	Run    *record.Simulation   // nil where it simulates nothing
	Node   *explain.Explanation // nil where it is not about a node
}

// Page is a lesson as a page: with what came of its command. player is where the page of lameduck play is, "" for nowhere.
func (l *Lesson) Page(courses []*Course, ran Ran, player string) (*html.Lesson, error) {
	p := &html.Lesson{
		Name: l.Name, Title: l.Title, Place: l.Place(), Hook: l.Hook, Myth: l.Myth,
		Question: l.Question, Happened: l.Happened, Answer: l.Answer, Exercise: l.Exercise.Words,
		Command: l.Line(), Transcript: l.shown(ran.Output), File: l.File(), World: l.World,
		Previous: link(l.Previous(courses)), Next: link(l.Next(courses)), Run: ran.Run,
	}
	var err error
	if ran.Node != nil {
		if p.Node, err = report.PageOfNode(ran.Node); err != nil {
			return nil, err
		}
	}
	if ran.Run != nil && player != "" {
		fragment, err := play.Fragment(l.File(), l.World)
		if err != nil {
			return nil, err
		}
		p.Play = player + "#" + fragment
	}
	for _, g := range l.Exercise.Goals {
		p.Goals = append(p.Goals, g.told())
	}
	for _, h := range l.Exercise.Hunks {
		p.Solution = append(p.Solution, h.lines)
	}
	return p, nil
}

// told is the goal in a sentence that begins with "It is solved when".
func (g Goal) told() string {
	switch {
	case g.Expect == "":
		return g.String()
	case strings.HasPrefix(g.Expect, "expect.verdict="):
		return "the verdict is " + strings.TrimPrefix(g.Expect, "expect.verdict=")
	default:
		return "the run is as the Scenario expects: " + g.String()
	}
}

func link(l *Lesson) *html.Link {
	if l == nil {
		return nil
	}
	return &html.Link{Name: l.Name, Title: l.Title}
}

// Index is the page that lists the lessons.
func Index(courses []*Course) *html.Lessons {
	out := &html.Lessons{}
	for _, c := range courses {
		course := html.Course{Title: c.Title, About: strings.ToUpper(c.About[:1]) + c.About[1:]}
		for _, l := range c.Lessons {
			course.Lessons = append(course.Lessons, html.Lesson{Name: l.Name, Title: l.Title, Hook: l.Hook, Myth: l.Myth})
		}
		out.Courses = append(out.Courses, course)
	}
	return out
}
