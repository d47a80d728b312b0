package html

import (
	_ "embed" // the frames of lessons
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
)

var (
	//go:embed lesson.html
	lessonFrame string
	//go:embed lessons.html
	lessonsFrame string
)

// Lesson is what a lesson's page is made of. In paragraphs, backquotes are around code.
type Lesson struct {
	Name, Title, Place, Hook, Version string
	Myth                              string // "refuted", "confirmed", or "" for what is no sentence that people believe

	Question, Happened, Answer, Exercise []string // paragraphs
	Goals                                []string // what has to come true, in words
	Solution                             [][]string
	Command, Transcript, File, World     string
	Previous, Next                       *Link
	Run                                  *record.Simulation // nil where the command simulates nothing
	Node                                 *report.NodePage   // nil where the command is not about a node
	Play                                 string             // the address that opens the world in the page of lameduck play, "" for none
}

// Link leads to another lesson.
type Link struct {
	Name, Title string // as the lesson has them
}

// Lessons is a site's list of them.
type Lessons struct {
	Version string
	Courses []Course
}

// Course is a row of lessons.
type Course struct {
	Title, About string
	Lessons      []Lesson
}

// lessonPage is what a lesson's frame is filled with.
type lessonPage struct {
	Lesson
	Question, Happened, Answer, Exercise [][]piece
	Solution                             [][]change
	Lines                                int

	Sentence, Verdict, Word string
	Drawn                   bool          // a script draws the timeline of its run
	Picture                 template.HTML // of a node, "" for none
	parts
}

// piece is a part of a sentence: words, or code.
type piece struct {
	Text string
	Code bool
}

// change is a line of a solution, with what is done to it.
type change struct{ Text, Mark string }

// parts are what is embedded in a page.
type parts struct {
	Policy           string
	Style            template.CSS
	Script, Licences template.JS
	Data             template.JS
}

// embedded are the parts of a page with so much data; without any, no script is needed.
func embedded(data []byte) parts {
	p := parts{Style: template.CSS(style)} //nolint:gosec // the repository's own
	if data == nil {
		p.Policy = styled(style)
		return p
	}
	p.Policy, p.Script, p.Licences, p.Data = policy(), template.JS(script), asComment(licences), template.JS(data) //nolint:gosec // the repository's own, and JSON with <, > and & escaped
	return p
}

// styled is the policy of a page without a script, and with these styles alone.
func styled(styles ...string) string {
	var hashes []string
	for _, s := range styles {
		hashes = append(hashes, "'"+hash(s)+"'")
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; base-uri 'none'; form-action 'none'", strings.Join(hashes, " "))
}

// WriteLesson writes the page of a lesson.
func WriteLesson(w io.Writer, l *Lesson) error {
	p := &lessonPage{
		Lesson: *l, Question: pieces(l.Question), Happened: pieces(l.Happened), Answer: pieces(l.Answer), Exercise: pieces(l.Exercise),
		Lines: strings.Count(l.World, "\n"),
	}
	for _, lines := range l.Solution {
		p.Solution = append(p.Solution, changes(lines))
	}
	p.parts = embedded(p.draw(l.Run))
	if l.Node != nil && !p.Drawn {
		p.Policy = styled(style, l.Node.Style)
		p.Picture = template.HTML(l.Node.Picture) //nolint:gosec // its words are escaped where it is drawn
	}
	return write(w, lessonFrame, p)
}

// draw says what the run came to, and returns what its picture is made of; nil where there is none.
func (p *lessonPage) draw(s *record.Simulation) []byte {
	if s == nil {
		return nil
	}
	if worst, sentence, _ := report.Head(s, report.TextOptions{}); worst != nil {
		p.Sentence, p.Verdict, p.Word = sentence, string(worst.Verdict), word(string(worst.Verdict))
	}
	d := dataOf(s)
	d.Result.Fixes, d.Result.NoHelp, d.Result.Assumptions = []report.Fix{}, []report.NoHelp{}, []report.Assumption{} // a lesson has one idea
	if p.Drawn = slices.ContainsFunc(d.Result.Cases, func(c report.Case) bool { return c.Timeline != nil }); !p.Drawn {
		return nil
	}
	return within(d, mostBytes)
}

// WriteLessons writes the page that lists lessons.
func WriteLessons(w io.Writer, list *Lessons) error {
	n := 0
	for _, c := range list.Courses {
		n += len(c.Lessons)
	}
	return write(w, lessonsFrame, struct {
		*Lessons
		Count int
		parts
	}{list, n, embedded(nil)})
}

func write(w io.Writer, frame string, p any) error {
	t := template.Must(template.New("head").Parse(head))
	return template.Must(t.New("page").Parse(frame)).Execute(w, p)
}

// pieces tells code from words.
func pieces(paragraphs []string) [][]piece {
	var out [][]piece
	for _, text := range paragraphs {
		var list []piece
		for i, part := range strings.Split(text, "`") {
			if part != "" {
				list = append(list, piece{part, i%2 == 1})
			}
		}
		out = append(out, list)
	}
	return out
}

func changes(lines []string) []change {
	var out []change
	for _, line := range lines {
		mark := ""
		switch {
		case strings.HasPrefix(line, "+"):
			mark = "comes"
		case strings.HasPrefix(line, "-"):
			mark = "goes"
		}
		out = append(out, change{line, mark})
	}
	return out
}
