package learn

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// Style marks a heading, as a terminal can.
type Style func(heading string) string

// Text is a lesson as pages, in the order in which they are read.
type Text struct {
	lesson *Lesson
	p      *page.Page
	style  Style
	begun  bool // something was written before this page
}

// NewText begins the text of a lesson in lines of so many columns. style may be nil.
func NewText(l *Lesson, width int, style Style) *Text {
	if style == nil {
		style = func(s string) string { return s }
	}
	return &Text{lesson: l, p: page.New(width), style: style}
}

// String is what was written since it was asked for last.
func (t *Text) String() string {
	text := t.p.String()
	if t.begun {
		text = "\n" + text
	}
	t.p, t.begun = page.New(t.p.Width()), true
	return text
}

// Question is the title, where the lesson stands, and what it asks.
func (t *Text) Question() {
	t.p.Text("", t.style(strings.ToUpper(t.lesson.Title)))
	t.p.Text("", t.lesson.Place())
	t.section("Question", t.lesson.Question)
}

// World is the file, without the lines that every such file has.
func (t *Text) World() {
	t.p.Blank()
	t.p.Text("", t.style(t.lesson.File())+", shortened (all of it: lameduck learn "+t.lesson.Name+" -o yaml)")
	t.p.Blank()
	for _, line := range strings.Split(strings.TrimSpace(t.lesson.World), "\n") {
		if !boilerplate.MatchString(line) {
			t.p.Verbatim(line)
		}
	}
}

// boilerplate are lines that say nothing of the lesson.
var boilerplate = regexp.MustCompile(`^(---|apiVersion: .*|metadata: \{name: [\w-]+\}| *selector: .*| +metadata: \{labels: .*|  labels: .*|  template:|addressType: .*)$`)

// Output is the command and what it printed.
func (t *Text) Output(output string) {
	t.p.Blank()
	t.p.Text("", t.style("$ "+t.lesson.Line()))
	t.p.Blank()
	for _, line := range strings.Split(t.lesson.shown(output), "\n") {
		t.p.Verbatim("  " + line)
	}
}

// Rest is what happened, the answer and the exercise.
func (t *Text) Rest(courses []*Course) {
	l := t.lesson
	t.section("What happened", l.Happened)
	t.section("Answer", l.Answer)
	t.section("Now you", l.Exercise.Words)
	t.p.Blank()
	t.p.Verbatim("  lameduck learn " + l.Name + " -o yaml > mine.yaml")
	t.p.Verbatim("  lameduck learn " + l.Name + " --check mine.yaml")
	if next := l.Next(courses); next != nil {
		t.p.Blank()
		t.p.Text("Next: ", fmt.Sprintf("lameduck learn %s (%s)", next.Name, next.Title))
	}
}

// Solution is the change that reaches the goal.
func (t *Text) Solution() {
	t.section("Now you", t.lesson.Exercise.Words)
	t.section("Solution", []string{"In " + t.lesson.File() + ":"})
	for _, h := range t.lesson.Exercise.Hunks {
		t.p.Blank()
		for _, line := range h.lines {
			t.p.Verbatim("  " + line)
		}
	}
}

// section is a heading and paragraphs.
func (t *Text) section(title string, paragraphs []string) {
	t.p.Blank()
	t.p.Text("", t.style(strings.ToUpper(title)))
	for i, words := range paragraphs {
		if i > 0 {
			t.p.Blank()
		}
		t.p.Text("  ", plain(words))
	}
}

// plain takes the marks of code off.
func plain(words string) string { return strings.ReplaceAll(words, "`", "") }

// partHead begins a part of what sim prints: words in capitals at the beginning of a line, or the line with the command.
var partHead = regexp.MustCompile(`^([A-Z]{3,}( [A-Z]+)*\b|Again:|See also:)`)

// shown is what a lesson shows of its output: of what other commands than sim print, everything.
func (l *Lesson) shown(output string) string {
	if l.Command[0] != "sim" {
		return strings.TrimRight(output, "\n")
	}
	return Cut(output, l.Show)
}

// firstPart is what shown shows without the further parts.
func (l *Lesson) firstPart(output string) string {
	if l.Command[0] != "sim" {
		return l.shown(output)
	}
	return Cut(output, nil)
}

// Cut leaves the parts of an output that are shown: the first one, and those whose headings begin like one of show. A line of dots
// stands for what is left out.
func Cut(output string, show []string) string {
	var out []string
	kept, cut := true, false
	for i, line := range strings.Split(strings.TrimRight(output, "\n"), "\n") {
		if i > 0 && partHead.MatchString(line) {
			kept = begins(line, show)
		}
		if kept {
			out = append(out, line)
		}
		cut = cut || !kept
	}
	text := strings.TrimRight(strings.Join(out, "\n"), "\n")
	if cut {
		text += "\n..."
	}
	return text
}

func begins(heading string, show []string) bool {
	for _, s := range show {
		if strings.HasPrefix(heading, s) {
			return true
		}
	}
	return false
}

// List is all courses with their lessons, a line each.
func List(courses []*Course, width int, style Style) string {
	if style == nil {
		style = func(s string) string { return s }
	}
	p := page.New(width)
	for _, c := range courses {
		p.Blank()
		p.Text("", style(c.Title)+": "+c.About)
		var rows [][]string
		for _, l := range c.Lessons {
			rows = append(rows, []string{l.Name, l.Hook})
		}
		p.Table(2, rows)
	}
	p.Blank()
	p.Text("", "lameduck learn NAME shows one of them, lameduck learn --all all of them, one after another.")
	return p.String()
}

// Verdict is what became of the reader's file, with the first part of what it printed.
func (t *Text) Verdict(output string, strays []string, missed []Goal, file string) (solved bool) {
	l := t.lesson
	for _, line := range strings.Split(l.firstPart(output), "\n") {
		t.p.Verbatim(line)
	}
	t.p.Blank()
	switch {
	case len(strays) > 0:
		t.p.Text(t.style("NOT SOLVED")+"  ", fmt.Sprintf("%s changes more than the exercise is about: %s. Change only %s.", file, some(strays), strings.Join(l.Exercise.Change, ", ")))
	case len(missed) > 0:
		t.p.Text(t.style("NOT SOLVED")+"  ", "The goal is not reached: "+goals(missed)+".")
	default:
		t.p.Text(t.style("SOLVED")+"  ", "The goal is reached: "+goals(l.Exercise.Goals)+".")
		return true
	}
	t.p.Text("", "lameduck learn "+l.Name+" --solution shows one way.")
	return false
}

func goals(list []Goal) string {
	var words []string
	for _, g := range list {
		words = append(words, g.String())
	}
	return strings.Join(words, "; ")
}

// some are the first of many.
func some(list []string) string {
	const most = 3
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// Markdown is the page of the documents that lists the courses.
func Markdown(courses []*Course) string {
	var b strings.Builder
	b.WriteString(`# Lessons

` + "`lameduck learn`" + ` teaches with small worlds: a question, one command on a file of less than 40 lines, what happened, the answer, and an exercise
that the program checks. The worlds are for lameduck, and no cluster: an image stands for what such a server does at SIGTERM, and would fail the
probe that is there.

    lameduck learn                        # lists the lessons
    lameduck learn blackhole              # shows one
    lameduck learn blackhole --solution   # shows a solution of its exercise
    lameduck learn --html lessons         # writes all of them as pages into the directory lessons
    lameduck play --write lessons/play    # puts the page of lameduck play beside them, and then
    lameduck learn --html lessons --play play/    # has links in them that open their worlds in it

To do an exercise, write the lesson's file with ` + "`lameduck learn blackhole -o yaml > mine.yaml`" + `, change it, and ask ` + "`lameduck learn blackhole --check mine.yaml`" + `
whether it is solved: exit code 0 if it is, 1 if not. With ` + "`--all`" + ` all lessons are shown, one after another.

The pages of ` + "`--html`" + ` are files that a browser opens from disk and that ask nobody for anything: an index.html, and for each lesson its question, the
timeline of its run or a picture of the node that it asks, what happened, the transcript, and the exercise with its solution folded away. The same
lameduck writes the same bytes.
Of what is in the directory only such pages are overwritten; nothing is deleted.

This page is made of the lessons; [how they are written](../examples/lessons/README.md).
`)
	for _, c := range courses {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| Lesson | Question |\n|---|---|\n", c.Title, strings.ToUpper(c.About[:1])+c.About[1:])
		for _, l := range c.Lessons {
			fmt.Fprintf(&b, "| %d. [%s](../examples/lessons/%s): `lameduck learn %s` | %s |\n", l.Step, l.Title, l.Name+words, l.Name, l.Hook)
		}
	}
	return b.String()
}
