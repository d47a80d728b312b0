package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// leftTitle heads the table of what is not modelled, the last section of a page.
const leftTitle = "## Not modelled"

// fieldNames are the fields of a fact, in their order. Only Numbers may be missing.
func fieldNames() []string { return []string{"Status", "Source", "Numbers", "Model", "File", "Tests"} }

// Parse reads one page. What it does not know is an error that begins with the line.
func Parse(name, text string) (Page, error) {
	p := parser{page: Page{Name: name}, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), seen: map[string]bool{}}
	if err := p.parse(); err != nil {
		return Page{}, fmt.Errorf("line %d: %w", p.at, err)
	}
	return p.page, nil
}

// parser is at a line of a page.
type parser struct {
	page    Page
	lines   []string
	at      int // the lines that were taken: the number of the last one
	section string
	seen    map[string]bool // IDs
}

// next takes a line; ok is false at the end.
func (p *parser) next() (line string, ok bool) {
	if p.at == len(p.lines) {
		return "", false
	}
	p.at++
	return p.lines[p.at-1], true
}

// peek is the next line without taking it, "" at the end.
func (p *parser) peek() string {
	if p.at == len(p.lines) {
		return ""
	}
	return p.lines[p.at]
}

func (p *parser) parse() error {
	first, _ := p.next()
	title, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return fmt.Errorf("want the title of the page, # TITLE")
	}
	p.page.Title = title
	p.page.About = strings.Join(p.paragraphs(), "\n")
	for {
		line, ok := p.next()
		switch {
		case !ok:
			return p.complete()
		case line == leftTitle:
			return p.left()
		case strings.HasPrefix(line, "## "):
			p.section, _, _ = strings.Cut(line[3:], " ")
			if !numbered.MatchString(p.section) {
				return fmt.Errorf("a section begins with its number, or is %q", leftTitle)
			}
		case strings.HasPrefix(line, "### "):
			if err := p.fact(line[4:]); err != nil {
				return err
			}
		case line != "":
			return fmt.Errorf("want a section or a fact, not %q", line)
		}
	}
}

// numbered is the number of a section or at the beginning of a heading.
var numbered = regexp.MustCompile(`^\d+(\.\d+)*[a-z]?( |$)`)

// complete looks at the page as a whole.
func (p *parser) complete() error {
	if p.page.About == "" || len(p.page.Facts) == 0 {
		return fmt.Errorf("a page says what it is about, and has facts")
	}
	return nil
}

// paragraphs takes text up to a heading or a list of fields. A paragraph, or an item of a numbered list, is one line of it.
func (p *parser) paragraphs() []string {
	var out []string
	open := false
	for {
		line := p.peek()
		if p.at == len(p.lines) || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "- ") {
			return out
		}
		p.at++
		switch {
		case line == "":
			open = false
		case open && !item.MatchString(line):
			out[len(out)-1] += " " + strings.TrimSpace(line)
		default:
			out, open = append(out, line), true
		}
	}
}

var item = regexp.MustCompile(`^\d+\. `)

// fact takes the rest of a fact, whose heading was taken.
func (p *parser) fact(heading string) error {
	f := Fact{ID: p.page.Name + " " + heading, Line: p.at, Page: Dir + "/" + p.page.Name + ".md"}
	section := p.page.Name + " " + p.section
	if !numbered.MatchString(heading) || f.ID != section && !Within(section, f.ID) {
		return fmt.Errorf("%q is no heading of a fact in section %q", heading, p.section)
	}
	if p.seen[f.ID] {
		return fmt.Errorf("%s is there twice", f.ID)
	}
	p.seen[f.ID] = true
	if f.Text = strings.Join(p.paragraphs(), "\n"); f.Text == "" {
		return fmt.Errorf("%s has no text", f.ID)
	}
	if err := p.fields(&f); err != nil {
		return fmt.Errorf("%s: %w", f.ID, err)
	}
	if !slices.Contains(Statuses(), f.Status) {
		return fmt.Errorf("%s: status %q: want one of %s", f.ID, f.Status, strings.Join(Statuses(), ", "))
	}
	p.page.Facts = append(p.page.Facts, f)
	return nil
}

// fields takes the list of the fields of a fact.
func (p *parser) fields(f *Fact) error {
	values := []*string{&f.Status, &f.Source, &f.Numbers, &f.Model, &f.File, &f.Tests}
	for i, name := range fieldNames() {
		value, ok := strings.CutPrefix(p.peek(), "- "+name+":")
		if !ok && name == "Numbers" {
			continue
		}
		p.at++
		for ok && strings.HasPrefix(p.peek(), "  ") {
			value += " " + strings.TrimSpace(p.peek())
			p.at++
		}
		if *values[i] = strings.TrimSpace(value); !ok || *values[i] == "" {
			return fmt.Errorf("want \"- %s: ...\" here", name)
		}
	}
	if rest := p.peek(); rest != "" {
		p.at++
		return fmt.Errorf("want an empty line after the fields, not %q", rest)
	}
	return nil
}

// left takes the table of what is not modelled, up to the end of the page.
func (p *parser) left() error {
	for _, want := range []string{"", "| Row | Why |", "|---|---|"} {
		if line, _ := p.next(); line != want {
			return fmt.Errorf("want %q", want)
		}
	}
	for {
		line, ok := p.next()
		if !ok {
			return p.complete()
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || !strings.HasPrefix(cells[0], "| ") || !strings.HasSuffix(cells[1], " |") {
			return fmt.Errorf("want a row, | ROW | WHY |")
		}
		l := LeftOut{ID: p.page.Name + " " + cells[0][2:], Why: strings.TrimSuffix(cells[1], " |")}
		if !numbered.MatchString(cells[0][2:]) || p.seen[l.ID] {
			return fmt.Errorf("%s is there twice, or has no number", l.ID)
		}
		p.seen[l.ID] = true
		p.page.Left = append(p.page.Left, l)
	}
}
