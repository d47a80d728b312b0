package learn

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Page is a lesson as a page: with what its command printed, and what that simulated, nil where it simulates nothing.
func (l *Lesson) Page(courses []*Course, output string, run *record.Simulation) *html.Lesson {
	p := &html.Lesson{
		Name: l.Name, Title: l.Title, Place: l.Place(), Hook: l.Hook, Myth: l.Myth,
		Question: l.Question, Happened: l.Happened, Answer: l.Answer, Exercise: l.Exercise.Words,
		Command: l.Line(), Transcript: l.shown(output), File: l.File(), World: l.World,
		Previous: link(l.Previous(courses)), Next: link(l.Next(courses)), Run: run,
	}
	for _, g := range l.Exercise.Goals {
		p.Goals = append(p.Goals, g.told())
	}
	for _, h := range l.Exercise.Hunks {
		p.Solution = append(p.Solution, h.lines)
	}
	return p
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
