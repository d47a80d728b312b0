// Package page lays out text for people in lines that are no wider than a page: paragraphs and
// tables are wrapped, never cut.
//
// It knows nothing of what the text is about, and trusts none of it: see Shown. Colours are Painted, and have no width.
package page

import (
	"slices"
	"strings"
)

// Widest is how many columns a page has where nobody knows the terminal: what people read
// without moving their head, and what code review shows.
const Widest = 100

// narrowest is what a table needs.
const narrowest = 40

// Columns is how wide a page is on a terminal of that many columns, 0 where that is unknown: as
// wide as it is, but at least what a table needs and at most Widest.
func Columns(terminal int) int {
	if terminal <= 0 {
		return Widest
	}
	return min(max(terminal, narrowest), Widest)
}

// Page is lines of text. The zero Page has no width: New makes one.
type Page struct {
	width int
	lines []string
}

// New returns an empty page of that many columns.
func New(width int) *Page { return &Page{width: width} }

// Lines are the lines so far, without blanks at their ends.
func (p *Page) Lines() []string { return p.lines }

// Width is how many columns the page has.
func (p *Page) Width() int { return p.width }

// String is the page with a newline after each line.
func (p *Page) String() string {
	if len(p.lines) == 0 {
		return ""
	}
	return strings.Join(p.lines, "\n") + "\n"
}

// Blank adds an empty line, unless the page is empty or ends with one.
func (p *Page) Blank() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != "" {
		p.lines = append(p.lines, "")
	}
}

// Text adds words after a prefix, wrapped; further lines begin under the first word.
func (p *Page) Text(prefix, words string) { p.Hanging(prefix, Width(prefix), words) }

// Hanging adds words after a prefix, wrapped; further lines are indented by that many blanks.
func (p *Page) Hanging(prefix string, indent int, words string) {
	prefix = shown(prefix)
	first := true
	for _, line := range Wrap(words, p.width-max(indent, Width(prefix))) {
		if first {
			p.add(prefix + line)
		} else {
			p.add(strings.Repeat(" ", indent) + line)
		}
		first = false
	}
}

// Verbatim adds a line as it is, however wide.
func (p *Page) Verbatim(line string) { p.add(shown(line)) }

// add adds a line that is Shown.
func (p *Page) add(line string) { p.lines = append(p.lines, strings.TrimRight(colour(line), " ")) }

// gap is how many blanks are between two columns.
const gap = 2

// Table adds rows after an indent, each column as wide as its cells need. Where they need more
// than the page has, the widest columns are made narrower and their cells wrapped.
func (p *Page) Table(indent int, rows [][]string) {
	for _, line := range p.table(indent, rows) {
		p.add(line)
	}
}

func (p *Page) table(indent int, rows [][]string) []string {
	rows = shownCells(rows)
	widths := fit(rows, p.width-indent)
	var out []string
	for _, row := range rows {
		cells := make([][]string, len(row))
		height := 1
		for i, cell := range row {
			cells[i] = Wrap(cell, widths[i])
			height = max(height, len(cells[i]))
		}
		for h := range height {
			var b strings.Builder
			b.WriteString(strings.Repeat(" ", indent))
			for i := range row {
				part := ""
				if h < len(cells[i]) {
					part = cells[i][h]
				}
				b.WriteString(part)
				if i < len(row)-1 {
					b.WriteString(strings.Repeat(" ", widths[i]-Width(part)+gap))
				}
			}
			out = append(out, b.String())
		}
	}
	return out
}

func shownCells(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			out[i] = append(out[i], shown(cell))
		}
	}
	return out
}

// fit returns the widths of columns that together have no more than room.
func fit(rows [][]string, room int) []int {
	var widths, least []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, least = append(widths, 0), append(least, 1)
			}
			widths[i] = max(widths[i], Width(cell))
			for _, word := range words(cell) {
				least[i] = max(least[i], Width(word))
			}
		}
	}
	over := -room
	for i, w := range widths {
		over += w
		if i > 0 {
			over += gap
		}
	}
	over = shrink(widths, least, over)
	if over > 0 { // there are words that have to be broken
		const letters = 8
		shrink(widths, slices.Repeat([]int{letters}, len(widths)), over)
	}
	return widths
}

// shrink takes over columns away from the widest, down to the least of each, and returns what
// could not be taken.
func shrink(widths, least []int, over int) int {
	for ; over > 0; over-- {
		widest := -1
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return over
		}
		widths[widest]--
	}
	return 0
}
