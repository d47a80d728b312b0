package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// screen is what people read, at the program's edge: of all that is written to it, nothing but the colours of a terminal is
// obeyed. What is assembled of words from outside is Shown by pages and by say, word by word; this is for whatever they miss.
type screen struct {
	to       io.Writer
	coloured bool   // colours are the program's own
	rest     []byte // the beginning of a character whose end is not written yet
	lost     error  // the first error of what it writes to
}

// colourOf is a colour, as pages write it.
var colourOf = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Write writes p with escapes for what a terminal would obey.
func (s *screen) Write(p []byte) (int, error) {
	text := slices.Concat(s.rest, p)
	whole := len(text) - unfinished(text)
	s.rest = append([]byte(nil), text[whole:]...)
	out := string(text[:whole])
	if s.coloured {
		out = shownBetween(out)
	} else {
		out = page.ShownLines(out)
	}
	if _, err := io.WriteString(s.to, out); err != nil {
		s.lost = cmp.Or(s.lost, err)
		return 0, err
	}
	return len(p), nil
}

// shownBetween shows what is between colours.
func shownBetween(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range colourOf.FindAllStringIndex(text, -1) {
		b.WriteString(page.ShownLines(text[from:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(page.ShownLines(text[from:]))
	return b.String()
}

// unfinished is how many bytes at the end of a text begin a character without ending it.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// shown are the streams for the work itself: what it writes cannot make a terminal do anything.
func (s Streams) shown() Streams {
	return Streams{In: s.In, Out: &screen{to: s.Out, coloured: terminal(s.Out)}, Err: &screen{to: s.Err}, Held: s.Held, Simulated: s.Simulated, Explained: s.Explained}
}

// lost is why the answer did not get out, nil where it did.
func (s Streams) lost() error {
	if out, ok := s.Out.(*screen); ok {
		return out.lost
	}
	return nil
}

// say writes one message to stderr, in lines that are no wider than those of a report: the first has the place, where editors look
// for it, and the others are indented.
func (s Streams) say(format string, args ...any) {
	text := page.Shown(fmt.Sprintf(format, args...))
	word, _, _ := strings.Cut(text, ": ")
	switch {
	case slices.Contains([]string{"warning", "hint", "note"}, word), placed.MatchString(word):
		p := page.New(page.Columns(columns(s.Err)))
		p.Hanging("", 2, text)
		text = strings.TrimSuffix(p.String(), "\n")
	}
	fmt.Fprintln(s.Err, text)
}

// placed is what an error about a file begins with: web.yaml:3:1.
var placed = regexp.MustCompile(`:[0-9]+:[0-9]+$`)

// file is the file behind a stream, nil for none.
func file(w io.Writer) *os.File {
	if s, ok := w.(*screen); ok {
		w = s.to
	}
	f, _ := w.(*os.File)
	return f
}

// lines are the messages of an error, one for each of those that were joined, each in one line.
func lines(err error) []string {
	text := err.Error()
	switch e := err.(type) { //nolint:errorlint // each layer is looked at by itself
	case interface{ Unwrap() []error }:
		if joined := e.Unwrap(); sameText(joined, text) {
			var out []string
			for _, part := range joined {
				out = append(out, lines(part)...)
			}
			return out
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && inner.Error() == text {
			return lines(inner)
		}
	}
	return []string{page.Shown(text)}
}

// sameText says whether errors were joined without a word.
func sameText(joined []error, text string) bool {
	var parts []string
	for _, e := range joined {
		parts = append(parts, e.Error())
	}
	return strings.Join(parts, "\n") == text
}
