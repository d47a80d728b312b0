package mutate

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Mistake is one change that a programmer could have made by mistake, found in the syntax tree.
type Mistake struct {
	Package string // import path
	File    string // from the root, with slashes
	Line    int
	Func    string // such as (*pool).take, or the name of a package's variable
	Kind    string // such as "conjunct deleted"
	Before  string // the text that changes, in one line
	After   string // what stands there instead
	Nth     int    // counts those in one function that are equal in all of the above, from 1

	source     *Source
	file       *File
	start, end int                              // of what is wrapped: offsets in the file
	wrap       func(text string, n uint) string // puts that text and its change behind the switch of number n
	also       []wrapper                        // what has to be wrapped for that to compile, alike for all mistakes of one statement
	literal    [2]int                           // offsets of the text that changes
	with       string                           // the text itself that stands there instead
}

// wrapper changes the text of one place without changing what it does.
type wrapper struct {
	start, end int
	wrap       func(string) string
}

// Name identifies a mistake as long as its function keeps the text: lines may move.
func (m *Mistake) Name() string {
	name := fmt.Sprintf("%s: %s: %s: %q -> %q", m.File, m.Func, m.Kind, m.Before, m.After)
	if m.Nth > 1 {
		name += fmt.Sprint(" #", m.Nth)
	}
	return name
}

// Diff shows the lines that change, and what they become.
func (m *Mistake) Diff() string {
	text := m.file.Text
	from := strings.LastIndexByte(text[:m.literal[0]], '\n') + 1
	to := len(text)
	if n := strings.IndexByte(text[m.literal[1]:], '\n'); n >= 0 {
		to = m.literal[1] + n
	}
	lines := func(sign, s string) string {
		return sign + strings.ReplaceAll(s, "\n", "\n"+sign) + "\n"
	}
	return fmt.Sprintf("%s:%d\n", m.File, m.Line) + lines("-", text[from:to]) + lines("+", text[from:m.literal[0]]+m.with+text[m.literal[1]:to])
}

// number tells equal mistakes of one function apart.
func number(all []*Mistake) {
	seen := map[string]int{}
	for _, m := range all {
		m.Nth = 0
		seen[m.Name()]++
		m.Nth = seen[m.Name()]
	}
}

var spaces = regexp.MustCompile(`\s+`)

// oneLine makes a text of the source one line.
func oneLine(s string) string { return strings.TrimSpace(spaces.ReplaceAllString(s, " ")) }

// Draw returns n of the mistakes that match, or all of them if there are fewer, in the order of their names. Equal
// seeds draw equal mistakes, and an edit of the sources exchanges only what it touches.
func Draw(all []*Mistake, seed string, n int, match *regexp.Regexp) []*Mistake {
	type ticket struct {
		m      *Mistake
		number [sha256.Size]byte
	}
	var tickets []ticket
	for _, m := range all {
		if name := m.Name(); match.MatchString(name) {
			tickets = append(tickets, ticket{m, sha256.Sum256([]byte(seed + "\n" + name))})
		}
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return slices.Compare(a.number[:], b.number[:]) })
	var drawn []*Mistake
	for _, t := range tickets[:min(n, len(tickets))] {
		drawn = append(drawn, t.m)
	}
	slices.SortFunc(drawn, func(a, b *Mistake) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.start, b.start), strings.Compare(a.Name(), b.Name()))
	})
	return drawn
}
