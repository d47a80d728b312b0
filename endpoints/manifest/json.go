package manifest

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonParser turns JSON text into nodes. JSON could be read as the YAML it
// nearly is, but a direct parser is some twenty times faster, and most of what
// kubectl prints for a whole cluster is JSON.
type jsonParser struct {
	text string
	pos  int
	// line is the current line's number; lineStart its offset; wide the number
	// of bytes on it so far that start no character.
	line            int32
	lineStart, wide int
	// stack collects the kids of the containers being parsed; each one copies
	// its own off the end when it is complete.
	stack []node
	err   *syntaxError
}

// parseJSON parses the JSON values of a text, one or several, between which
// there may be comment lines. line is the number of the text's first line.
func parseJSON(text string, line int) ([]*node, *syntaxError) {
	p := jsonParser{text: text, line: int32(line)}
	var roots []*node
	for p.between(); p.pos < len(text); p.between() {
		n := p.value(0)
		if p.err != nil {
			return nil, p.err
		}
		roots = append(roots, &n)
	}
	return roots, nil
}

// between skips what may stand between values at the top: space and comments.
func (p *jsonParser) between() {
	p.space()
	for p.peek() == '#' {
		if end := strings.IndexByte(p.text[p.pos:], '\n'); end >= 0 {
			p.pos += end
		} else {
			p.pos = len(p.text)
		}
		p.space()
	}
}

func (p *jsonParser) col() int32 { return int32(p.pos - p.lineStart - p.wide + 1) }

func (p *jsonParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &syntaxError{p.line, p.col(), "malformed JSON: " + fmt.Sprintf(format, args...)}
	}
}

// here describes the next character for an error message.
func (p *jsonParser) here() string {
	if p.pos >= len(p.text) {
		return "the end of the input"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *jsonParser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r':
		case '\n':
			p.line++
			p.lineStart, p.wide = p.pos+1, 0
		default:
			return
		}
		p.pos++
	}
}

func (p *jsonParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *jsonParser) value(depth int) node {
	n := node{line: p.line, col: p.col()}
	if depth > maxDepth {
		p.fail("nested deeper than %d levels", maxDepth)
		return n
	}
	switch c := p.peek(); {
	case c == '{':
		n.shape, n.braces = mapping, true
		p.members(&n, depth)
	case c == '[':
		n.shape = sequence
		p.items(&n, depth)
	case c == '"':
		n.text = p.str()
	case c == '-' || c >= '0' && c <= '9':
		n.plain = true
		n.text = p.number()
	default:
		n.plain = true
		for _, word := range [...]string{"true", "false", "null"} {
			if strings.HasPrefix(p.text[p.pos:], word) {
				n.text = word
				p.pos += len(word)
				return n
			}
		}
		p.fail("expected a value, got %s", p.here())
	}
	return n
}

// take moves the nodes above mark from the stack into n.
func (p *jsonParser) take(n *node, mark int) {
	n.kids = make([]node, len(p.stack)-mark)
	copy(n.kids, p.stack[mark:])
	p.stack = p.stack[:mark]
}

func (p *jsonParser) members(n *node, depth int) {
	mark := len(p.stack)
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return
	}
	for p.err == nil {
		if p.peek() != '"' {
			p.fail("expected a key in double quotes, got %s", p.here())
			return
		}
		key := node{line: p.line, col: p.col()}
		key.text = p.str()
		p.space()
		if p.peek() != ':' {
			p.fail("expected ':' after the key %q, got %s", key.text, p.here())
			return
		}
		p.pos++
		p.space()
		val := p.value(depth + 1)
		p.stack = append(p.stack, key, val)
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case '}':
			p.pos++
			p.take(n, mark)
			return
		default:
			p.fail("expected ',' or '}' after the value of %q, got %s", key.text, p.here())
		}
	}
}

func (p *jsonParser) items(n *node, depth int) {
	mark := len(p.stack)
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return
	}
	for p.err == nil {
		item := p.value(depth + 1)
		p.stack = append(p.stack, item)
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case ']':
			p.pos++
			p.take(n, mark)
			return
		default:
			p.fail("expected ',' or ']' after a list item, got %s", p.here())
		}
	}
}

func (p *jsonParser) number() string {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
			p.pos++
		}
		return p.pos > from
	}
	if p.peek() == '-' {
		p.pos++
	}
	ok := true
	if p.peek() == '0' {
		p.pos++
	} else {
		ok = digits()
	}
	if ok && p.peek() == '.' {
		p.pos++
		ok = digits()
	}
	if c := p.peek(); ok && (c == 'e' || c == 'E') {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		ok = digits()
	}
	if !ok {
		p.fail("expected a digit, got %s", p.here())
	}
	return p.text[start:p.pos]
}

// str parses a quoted string. One without escapes is a slice of the text.
func (p *jsonParser) str() string {
	p.pos++
	start := p.pos
	var b []byte
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			s := p.text[start:p.pos]
			p.pos++
			if b == nil {
				return s
			}
			return string(append(b, s...))
		case c == '\\':
			b = append(b, p.text[start:p.pos]...)
			b = p.escape(b)
			if p.err != nil {
				return ""
			}
			start = p.pos
		case c < ' ':
			p.fail("%s in a string; it must be written as an escape such as \\n", p.here())
			return ""
		default:
			if c&0xc0 == 0x80 {
				p.wide++
			}
			p.pos++
		}
	}
	p.fail("the string is not closed")
	return ""
}

func (p *jsonParser) escape(b []byte) []byte {
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(b, c)
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'u':
		r, ok := p.hex4()
		if ok && utf16.IsSurrogate(r) {
			if strings.HasPrefix(p.text[p.pos:], `\u`) {
				save := p.pos
				p.pos += 2
				low, lowOK := p.hex4()
				if pair := utf16.DecodeRune(r, low); lowOK && pair != utf8.RuneError {
					return utf8.AppendRune(b, pair)
				}
				p.pos = save
			}
			r = utf8.RuneError
		}
		if ok {
			return utf8.AppendRune(b, r)
		}
	}
	p.pos -= 2
	p.fail(`expected an escape: one of \" \\ \/ \b \f \n \r \t \uXXXX`)
	return b
}

// hex4 reads four hexadecimal digits; without them it stays where it is.
func (p *jsonParser) hex4() (rune, bool) {
	if len(p.text)-p.pos < 4 {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.text[p.pos : p.pos+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.pos += 4
	return r, true
}
