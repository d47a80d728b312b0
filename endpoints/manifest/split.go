package manifest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// document is one YAML document of a file, or a run of JSON values.
type document struct {
	// text is the document with its --- line, if it has one, so that columns
	// are right. Without the ... line.
	text string
	// line is the number of the text's first line.
	line int
}

// split cuts a file at its --- and ... lines. A line that starts with either is
// a marker wherever it stands, even inside a quoted string (YAML 1.2, 9.1.2),
// so no parsing is needed.
func split(text string) []document {
	var docs []document
	line, start := 1, 0
	for start < len(text) {
		end, next := nextMarker(text, start)
		chunk := text[start:end]
		// Directives belong to the document that the next --- starts.
		for next == end && next < len(text) && onlyDirectives(chunk) {
			if chunk = withoutVersion(chunk); !onlyDirectives(chunk) {
				break
			}
			end, next = nextMarker(text, next)
			chunk = withoutVersion(text[start:end])
		}
		docs = append(docs, document{chunk, line})
		line += strings.Count(text[start:next], "\n")
		start = next
	}
	return docs
}

// nextMarker returns where the document that starts at start ends and where the
// next one begins: both at the --- line, or before and after the ... line, or at
// the end of the text.
func nextMarker(text string, start int) (end, next int) {
	at := start
	if strings.HasPrefix(text[at:], "---") {
		at += 3
	} else if m := marker(text[at:]); m == "..." {
		return at, lineEnd(text, at)
	}
	for {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text), len(text)
		}
		at += i + 1
		switch marker(text[at:]) {
		case "---":
			return at, at
		case "...":
			return at, lineEnd(text, at)
		}
	}
}

// marker returns the document marker that text starts with, or "". A ... line
// with something behind it is malformed; the parser will say so.
func marker(text string) string {
	if !looksLikeMarker(text) || text[0] == '.' && !blankLine(text[3:lineEnd(text, 0)]) {
		return ""
	}
	return text[:3]
}

func looksLikeMarker(text string) bool {
	if len(text) < 3 || text[0] != '-' && text[0] != '.' || text[1] != text[0] || text[2] != text[0] {
		return false
	}
	return len(text) == 3 || strings.IndexByte(" \t\r\n", text[3]) >= 0
}

// lineEnd returns the offset after the line that at is on.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// onlyDirectives reports whether the text has YAML directives and nothing else
// but comments.
func onlyDirectives(text string) bool {
	found := false
	for line := range strings.Lines(text) {
		switch {
		case line[0] == '%':
			found = true
		case !blankLine(line):
			return false
		}
	}
	return found
}

// withoutVersion makes comments of the lines that say which YAML 1 a document is: 1.2 is what all is read as, and what 1.1 reads
// otherwise, such as yes and no, the API server does not take for a string either.
func withoutVersion(text string) string {
	if !strings.HasPrefix(text, "%") && !strings.Contains(text, "\n%") {
		return text
	}
	var b strings.Builder
	directives := true
	for line := range strings.Lines(text) {
		if directives = directives && (line[0] == '%' || blankLine(line)); directives && versionLine(line) {
			line = "#" + line[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// versionLine says whether a line is %YAML 1.1 or %YAML 1.2.
func versionLine(line string) bool {
	words := strings.Fields(line)
	return len(words) >= 2 && words[0] == "%YAML" && (words[1] == "1.1" || words[1] == "1.2") && (len(words) == 2 || words[2][0] == '#')
}

func blankLine(line string) bool {
	line = strings.TrimLeft(line, " \t\r\n")
	return line == "" || line[0] == '#'
}

// content returns the document's text from its first visible character on, ""
// when it has none: nothing but space, comments and its marker.
func (d document) content() string {
	text := d.text
	if marker(text) == "---" {
		text = text[3:]
	}
	for text != "" {
		end := lineEnd(text, 0)
		if !blankLine(text[:end]) {
			return strings.TrimLeft(text, " \t\r\n")
		}
		text = text[end:]
	}
	return ""
}

const byteOrderMark = "\ufeff"

// withoutMark removes the byte order mark that a document may start with; files
// that were concatenated have one in the middle.
func (d document) withoutMark() document {
	if !strings.Contains(d.text, byteOrderMark) {
		return d
	}
	d.text = strings.TrimPrefix(d.text, byteOrderMark)
	if marker(d.text) == "---" {
		end := lineEnd(d.text, 0)
		d.text = d.text[:end] + strings.TrimPrefix(d.text[end:], byteOrderMark)
	}
	return d
}

// header is what a document says it is, read from its unindented lines.
type header struct{ apiVersion, kind string }

// scanHeader reads the apiVersion and kind of a block-style document without
// parsing it. It fails, and the document must be parsed, when there is anything
// unusual about it.
func (d document) scanHeader() (h header, ok bool) {
	text := d.text
	if marker(text) == "---" {
		end := lineEnd(text, 0)
		if !blankLine(text[3:end]) {
			return h, false
		}
		text = text[end:]
	}
	for text != "" {
		end := lineEnd(text, 0)
		if !h.line(text[:end]) {
			return h, false
		}
		text = text[end:]
	}
	return h, h.apiVersion != "" && h.kind != ""
}

// line takes in one line, and is false when it is unusual: a key given twice, or
// the start of anything but a comment, a list item or a key.
func (h *header) line(line string) bool {
	field, rest := (*string)(nil), ""
	switch c := line[0]; {
	case c == 'a' && strings.HasPrefix(line, "apiVersion:"):
		field, rest = &h.apiVersion, line[len("apiVersion:"):]
	case c == 'k' && strings.HasPrefix(line, "kind:"):
		field, rest = &h.kind, line[len("kind:"):]
	default:
		return strings.IndexByte(" -#\r\n", c) >= 0 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	value, ok := simpleValue(rest)
	if !ok || *field != "" {
		return false
	}
	*field = value
	return true
}

// simpleValue reads what follows a colon: one word, perhaps quoted, perhaps
// with a comment behind it.
func simpleValue(s string) (string, bool) {
	if s == "" || s[0] != ' ' {
		return "", false
	}
	s, _, _ = strings.Cut(strings.TrimSpace(s), " #")
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = s[1 : n-1]
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '/', c == '-':
		default:
			return "", false
		}
	}
	return s, s != ""
}

// checkText finds the first byte that no YAML or JSON text may hold.
func checkText(text string, line int) *syntaxError {
	if isCleanText(text) {
		return nil
	}
	col := 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &syntaxError{int32(line), int32(col), "invalid UTF-8; save the file as UTF-8"}
		case r == 0:
			return &syntaxError{int32(line), int32(col), "NUL byte; this is no text file, or it is not UTF-8"}
		case isControl(r):
			return &syntaxError{int32(line), int32(col), fmt.Sprintf("control character %U; write it as an escape in a double-quoted string", r)}
		case r == '\n':
			line++
			col = 0
		}
		col++
		i += size
	}
	return nil
}

// isCleanText is the fast test behind checkText: nearly all input passes it.
func isCleanText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return utf8.ValidString(text)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\r' && r != '\t'
}
