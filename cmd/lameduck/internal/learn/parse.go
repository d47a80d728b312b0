package learn

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// readme is the page about the lessons: it is none.
const readme = "README.md"

// words is how the file with the words of a lesson ends.
const words = ".md"

// Files are the texts of files by name.
type Files map[string]string

// Read makes courses of the files of a directory.
func Read(dir fs.FS) ([]*Course, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	files := Files{}
	for _, e := range entries {
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, err
		}
		files[e.Name()] = string(text)
	}
	return Parse(files)
}

// Parse makes courses of files. What is wrong with them is one error, with the line of each fault.
func Parse(files Files) ([]*Course, error) {
	courses := newCourses()
	var names []string
	var errs []error
	// order: sorted below
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		base, isLesson := strings.CutSuffix(name, words)
		if world, ok := strings.CutSuffix(name, ".yaml"); ok && files[world+words] == "" {
			errs = append(errs, fmt.Errorf("%s: there is no %s that speaks of it", name, world+words))
		}
		if !isLesson || name == readme {
			continue
		}
		p := &parser{name: name, lesson: &Lesson{Name: base, World: files[base+".yaml"]}, courses: courses}
		p.read(files[name])
		errs = append(errs, p.errs...)
	}
	for _, c := range courses {
		errs = append(errs, c.inOrder())
	}
	return courses, errors.Join(errs...)
}

// inOrder sorts a course's lessons, whose steps have to be 1, 2, 3 and so on.
func (c *Course) inOrder() error {
	slices.SortFunc(c.Lessons, func(a, b *Lesson) int { return cmp.Or(a.Step-b.Step, strings.Compare(a.Name, b.Name)) })
	for i, l := range c.Lessons {
		if l.Step != i+1 {
			return fmt.Errorf("%s: step %d of course %s: want %d, each step once and none left out", l.Name+words, l.Step, c.ID, i+1)
		}
	}
	return nil
}

// parser reads the words of one lesson.
type parser struct {
	name    string
	line    int
	lesson  *Lesson
	courses []*Course
	section string
	block   []string // the lines of the paragraph that is being read
	inDiff  bool
	errs    []error
}

// sections are the headings of a lesson, in their order.
var sections = []string{"Question", "What happened", "Answer", "Now you"}

func (p *parser) failf(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s", p.name, p.line, fmt.Sprintf(format, args...)))
}

func (p *parser) read(text string) {
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		switch {
		case p.inDiff || strings.HasPrefix(line, "```"):
			p.diff(line)
		case strings.HasPrefix(line, "# "):
			p.lesson.Title = line[2:]
		case strings.HasPrefix(line, "## "):
			p.heading(line[3:])
		case p.section == "" && strings.HasPrefix(line, "- "):
			p.field(line[2:])
		case line == "":
			p.paragraph()
		case p.section == "":
			p.failf("%q: want \"- FIELD: VALUE\" or \"## %s\"", line, sections[0])
		default:
			p.block = append(p.block, line)
		}
	}
	p.paragraph()
	p.complete()
}

// heading begins a section.
func (p *parser) heading(title string) {
	p.paragraph()
	at := slices.Index(sections, title)
	if at < 0 || at != slices.Index(sections, p.section)+1 {
		p.failf("section %q: want %s, in this order", title, strings.Join(sections, ", "))
	}
	p.section = title
}

// paragraph ends the paragraph that is being read.
func (p *parser) paragraph() {
	if len(p.block) == 0 {
		return
	}
	text := strings.Join(p.block, " ")
	p.block = nil
	l := p.lesson
	switch p.section {
	case "Question":
		l.Question = append(l.Question, text)
	case "What happened":
		l.Happened = append(l.Happened, text)
	case "Answer":
		l.Answer = append(l.Answer, text)
	case "Now you":
		l.Exercise.Words = append(l.Exercise.Words, text)
	}
}

// field reads a line "FIELD: VALUE" of the lesson's head.
func (p *parser) field(text string) {
	name, value, ok := strings.Cut(text, ": ")
	l := p.lesson
	switch {
	case !ok:
		p.failf("%q: want FIELD: VALUE", text)
	case name == "course":
		p.course(value)
	case name == "command":
		words := strings.Fields(strings.Trim(value, "`"))
		if len(words) < 2 || words[0] != "lameduck" {
			p.failf("command %s: want `lameduck VERB ...`", value)
			return
		}
		l.Command = words[1:]
	case name == "show":
		l.Show = append(l.Show, value)
	case name == "says":
		l.Says = append(l.Says, value)
	case name == "lacks":
		l.Lacks = append(l.Lacks, value)
	case name == "hook":
		l.Hook = value
	case name == "myth":
		p.myth(value)
	case name == "change":
		l.Exercise.Change = append(l.Exercise.Change, value)
	case name == "goal":
		p.goal(value)
	default:
		p.failf("field %q: want course, hook, myth, command, show, says, lacks, change or goal", name)
	}
}

// course reads "kep-1669 4".
func (p *parser) course(value string) {
	id, step, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(step)
	if err != nil || n < 1 {
		p.failf("course %q: want the name of a course and a step from 1 on, such as kep-1669 4", value)
		return
	}
	var ids []string
	for _, c := range p.courses {
		if ids = append(ids, c.ID); c.ID == id {
			p.lesson.Course, p.lesson.Step = c, n
			c.Lessons = append(c.Lessons, p.lesson)
			return
		}
	}
	p.failf("course %q: want %s", id, strings.Join(ids, ", "))
}

// myth reads "refuted" or "confirmed".
func (p *parser) myth(value string) {
	if value != Refuted && value != Confirmed {
		p.failf("myth %q: want %s or %s", value, Refuted, Confirmed)
	}
	p.lesson.Myth = value
}

// goal reads "expect.verdict=holds", "says WORDS", "never WORDS" or "where hook <= 10: WORDS".
func (p *parser) goal(value string) {
	goals := &p.lesson.Exercise.Goals
	kind, words, _ := strings.Cut(value, " ")
	switch {
	case strings.HasPrefix(value, "expect.") && strings.Contains(value, "="):
		*goals = append(*goals, Goal{Expect: value})
	case kind == "says" && words != "":
		*goals = append(*goals, Goal{Says: words})
	case kind == "never" && words != "":
		*goals = append(*goals, Goal{Never: words})
	case kind == "where":
		c, ok := newCondition(words)
		if !ok {
			p.failf("goal %q: want where PATH = VALUE: WORDS, or a number with <= or >= of PATH, hook or rest", value)
		}
		*goals = append(*goals, Goal{Where: &c})
	default:
		p.failf("goal %q: want expect.FIELD=VALUE, says WORDS, never WORDS or where CONDITION: WORDS", value)
	}
}

// diff reads a line of the solution, or one that begins or ends it.
func (p *parser) diff(line string) {
	hunks := &p.lesson.Exercise.Hunks
	switch {
	case !p.inDiff && (line != "```diff" || p.section != "Now you"):
		p.failf("%q: want ```diff, below \"## Now you\"", line)
	case !p.inDiff:
		p.paragraph()
		p.inDiff = true
		*hunks = append(*hunks, Hunk{})
	case line == "```":
		p.inDiff = false
	case line == "@@":
		*hunks = append(*hunks, Hunk{})
	case line == "" || !strings.ContainsRune(" +-", rune(line[0])):
		p.failf("%q: want a line that begins with +, - or a blank, or @@", line)
	default:
		last := &(*hunks)[len(*hunks)-1]
		last.lines = append(last.lines, line)
	}
}

// complete says what a lesson does not have.
func (p *parser) complete() {
	l := p.lesson
	p.line = 1
	for _, missing := range []struct {
		word string
		is   bool
	}{
		{"a title", l.Title == ""},
		{"a course", l.Course == nil},
		{"a hook", l.Hook == ""},
		{"a command", len(l.Command) == 0},
		{"a field says", len(l.Says) == 0},
		{"section Question", len(l.Question) == 0},
		{"section What happened", len(l.Happened) == 0},
		{"section Answer", len(l.Answer) == 0},
		{"section Now you", len(l.Exercise.Words) == 0},
		{"a goal", len(l.Exercise.Goals) == 0},
		{"a field change", len(l.Exercise.Change) == 0},
		{"a solution", len(l.Exercise.Hunks) == 0},
		{"a file " + l.File() + " beside it", l.World == ""},
		{"-f " + l.File() + " in its command", !slices.Contains(l.Command, l.File())},
	} {
		if missing.is {
			p.failf("the lesson has not got %s", missing.word)
		}
	}
	if l.Course != nil && (l.Course.ID == myths) != (l.Myth != "") {
		p.failf("a field myth belongs to the lessons of course %s, and to each of them", myths)
	}
	if l.World != "" {
		p.agrees()
	}
}

// agrees says where words and world of a lesson do not fit.
func (p *parser) agrees() {
	if _, err := p.lesson.Solved(); err != nil {
		p.failf("%v", err)
	}
	values, err := leaves(p.lesson.World)
	if err != nil {
		p.failf("%s: %v", p.lesson.File(), err)
		return
	}
	for _, g := range p.lesson.Exercise.Goals {
		field, want, _ := strings.Cut(g.Expect, "=")
		if path := "Scenario/" + p.lesson.Name + " spec." + field; g.Expect != "" && values[path] != want {
			p.failf("goal %s: %s does not say so at %s", g.Expect, p.lesson.File(), path)
		}
	}
}
