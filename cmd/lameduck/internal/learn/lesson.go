// Package learn makes lessons of the files of examples/lessons, and pages of lessons. It runs nothing and reads no file: what a
// command of a lesson prints, and what a reader has written, is given to it.
//
//	*.md, *.yaml -> Parse -> Lesson -> WriteLesson, Check
package learn

import (
	"fmt"
	"strings"
)

// Course is a row of lessons that follow one another.
type Course struct {
	ID      string
	Title   string
	About   string
	Lessons []*Lesson // in their order
}

// Lesson is one idea: a question, a command on one small world, what happened, an answer, and an exercise.
type Lesson struct {
	Name   string // that of its files
	Title  string
	Hook   string // the question in one line, for who has read nothing yet
	Myth   string // what the run shows of a sentence that many believe: refuted or confirmed; "" where the lesson is about none
	Course *Course
	Step   int // its place in the course, from 1
	// Command is what is run, without the program's name. File is one of its words, unless the lesson needs no file.
	Command []string
	Show    []string // the headings of the parts of sim's output that are shown beside the first one
	Says    []string // what the lesson claims, as the command prints it
	Lacks   []string // what the command must not print, or the lesson is wrong

	Question, Happened, Answer []string // paragraphs
	Exercise                   Exercise
	World                      string // the text of File
}

// Exercise is what the reader changes in the world, and what is to come of it.
type Exercise struct {
	Words  []string // paragraphs
	Change []string // what may be changed: the beginnings of paths such as "Deployment/web spec.template"
	Goals  []Goal
	Hunks  []Hunk // the solution
}

// Goal is one thing that has to come true with the changed world: what its Scenario expects, something about what is printed, or
// something about the file.
type Goal struct {
	Expect string // "expect.verdict=holds": a field of the lesson's Scenario; "" for a goal about words
	Says   string // what has to be printed
	Never  string // what must not be printed
	Where  *Condition
}

// String is the goal in words.
func (g Goal) String() string {
	switch {
	case g.Expect != "":
		field, value, _ := strings.Cut(strings.TrimPrefix(g.Expect, "expect."), "=")
		return field + " " + value
	case g.Where != nil:
		return g.Where.Words
	case g.Says != "":
		return fmt.Sprintf("it prints %q", g.Says)
	default:
		return fmt.Sprintf("it does not print %q", g.Never)
	}
}

// File is the name of the lesson's world.
func (l *Lesson) File() string { return l.Name + ".yaml" }

// Line is the command as somebody types it.
func (l *Lesson) Line() string { return "lameduck " + strings.Join(l.Command, " ") }

// Place says where in its course the lesson is.
func (l *Lesson) Place() string {
	return fmt.Sprintf("%s, %d of %d", l.Course.Title, l.Step, len(l.Course.Lessons))
}

// Next is the lesson that follows, also in the next course; nil after the last.
func (l *Lesson) Next(courses []*Course) *Lesson {
	found := false
	for _, c := range courses {
		for _, x := range c.Lessons {
			if found {
				return x
			}
			found = x == l
		}
	}
	return nil
}

// Previous is the lesson before, also in the course before; nil before the first.
func (l *Lesson) Previous(courses []*Course) *Lesson {
	var last *Lesson
	for _, c := range courses {
		for _, x := range c.Lessons {
			if x == l {
				return last
			}
			last = x
		}
	}
	return nil
}

// Find returns a lesson by its name.
func Find(courses []*Course, name string) *Lesson {
	for _, c := range courses {
		for _, l := range c.Lessons {
			if l.Name == name {
				return l
			}
		}
	}
	return nil
}

// Names are those of all lessons, in their order.
func Names(courses []*Course) []string {
	var out []string
	for _, c := range courses {
		for _, l := range c.Lessons {
			out = append(out, l.Name)
		}
	}
	return out
}

// What a run shows of a myth.
const (
	Refuted   = "refuted"
	Confirmed = "confirmed"
)

// myths is the course of sentences that many believe.
const myths = "myths"

// newCourses are the courses without their lessons.
func newCourses() []*Course {
	return []*Course{
		{ID: "kep-1669", Title: "The last endpoints (KEP-1669)", About: "what a node does with connections when the pods it could send them to are about to end"},
		{ID: "drains", Title: "Drains and budgets", About: "what kubectl drain waits for, and what it does not"},
		{ID: "load-balancers", Title: "Load balancers", About: "who hears of a pod's end after the nodes have"},
		{ID: "connections", Title: "Connections that last", About: "what no rule of a node moves"},
		{ID: myths, Title: "Myths", About: "sentences that many believe, each refuted by a run"},
	}
}
