package manifest

import (
	"strings"
	"unicode/utf8"
)

// A simpleParser reads the YAML that nearly all manifests are written in, about
// ten times as fast as a full parser: block mappings and sequences, plain and
// quoted scalars on one line, literal block scalars, flow collections on one
// line, comments. It builds exactly the tree that parseYAML would.
//
// It gives up on everything else (anchors, tags, merge keys, scalars over
// several lines, folded scalars, tabs) and the full parser takes over, so
// it need not know all of YAML; what it must not do is accept a text that means
// something else. FuzzSimpleYAML holds it to that.
type simpleParser struct {
	text  string
	ascii bool
	depth int

	// The current line: its number, where it starts, where its content starts
	// (behind the indentation) and where it ends (at the line break or the end
	// of the text). Blank and comment lines are never current.
	line            int32
	start, pos, end int
	done            bool // no more lines

	stack []node
	gave  *surrender
}

// surrender is why and where the simple parser gave up.
type surrender struct {
	syntaxError
	// malformed says that no YAML parser could make sense of the place, so that
	// this is the better error message.
	malformed bool
}

// parseSimpleYAML parses a document whose first line has the given number.
// Either the node or the surrender is nil.
func parseSimpleYAML(text string, line int) (*node, *surrender) {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(text, "\r\n", "\n") // no position changes
	}
	p := &simpleParser{text: text, line: int32(line), ascii: isASCII(text)}
	if strings.ContainsAny(text, "\r\x7f") || !p.ascii && !plainUnicode(text) {
		return nil, &surrender{syntaxError: syntaxError{int32(line), 1, ""}}
	}
	if marker(text) == "---" {
		p.end = lineEnd(text, 0)
		if rest := text[3:p.end]; !blankLine(rest) || strings.Contains(rest, "\t") {
			return nil, &surrender{syntaxError: syntaxError{int32(line), 1, ""}}
		}
		p.line++
	}
	p.seek(p.end)
	if p.gave != nil {
		return nil, p.gave
	}
	if p.done {
		return &node{plain: true, line: int32(line), col: 1}, nil
	}
	root := p.block(p.indent())
	if p.gave == nil && !p.done {
		p.misindented()
	}
	if p.gave != nil {
		return nil, p.gave
	}
	return &root, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainUnicode reports whether the text is free of the characters that YAML
// takes for line breaks or does not allow.
func plainUnicode(s string) bool {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf, r >= 0xa0 && r < 0x2028, r > 0x2029 && r < 0xd800, r >= 0xe000 && r < 0xfeff, r > 0xfeff && r < 0xfffe, r > 0xffff:
		default:
			return false
		}
	}
	return true
}

// unsupported gives up at an offset of the current line.
func (p *simpleParser) unsupported(at int) {
	if p.gave == nil {
		p.gave = &surrender{syntaxError: syntaxError{p.line, p.col(at), ""}}
	}
}

// malformed gives up where the text cannot be YAML.
func (p *simpleParser) malformed(at int, message string) {
	if p.gave == nil {
		p.gave = &surrender{syntaxError{p.line, p.col(at), message}, true}
	}
}

func (p *simpleParser) misindented() {
	p.malformed(p.pos, "the indentation of this line fits none of the lines above")
}

func (p *simpleParser) col(at int) int32 {
	if p.ascii {
		return int32(at - p.start + 1)
	}
	return int32(utf8.RuneCountInString(p.text[p.start:at]) + 1)
}

// indent is the current line's indentation; what a nested block of the same
// line calls its indentation is its column.
func (p *simpleParser) indent() int { return p.pos - p.start }

// seek makes the first line with content at or behind an offset, which must be
// the start of a line, the current one. p.line must be that line's number.
func (p *simpleParser) seek(at int) {
	text := p.text
	for at < len(text) {
		p.start = at
		i := at
		for i < len(text) && text[i] == ' ' {
			i++
		}
		p.pos = i
		if i == len(text) {
			break
		}
		switch text[i] {
		case '\n':
			at = i + 1
			p.line++
			continue
		case '#':
			at = lineEnd(text, i)
			p.line++
			continue
		case '\t':
			p.tab(i)
			p.done = true
			return
		case '-', '.':
			if i == at && looksLikeMarker(text[i:]) {
				p.unsupported(i)
				p.done = true
				return
			}
		}
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			p.end = i + n
		} else {
			p.end = len(text)
		}
		return
	}
	p.done = true
}

// tab gives up on a line indented with a tab, which is malformed unless nothing
// comes behind it.
func (p *simpleParser) tab(at int) {
	rest := strings.TrimLeft(p.text[at:lineEnd(p.text, at)], " \t")
	if rest == "" || rest == "\n" || rest[0] == '#' {
		p.unsupported(at)
		return
	}
	p.malformed(at, "a tab in the indentation; YAML is indented with spaces")
}

// next moves to the next line with content.
func (p *simpleParser) next() {
	if p.end >= len(p.text) {
		p.done = true
		return
	}
	p.line++
	p.seek(p.end + 1)
}

// blank reports whether nothing but space or a comment is left of the current
// line from an offset on. A comment needs space in front of it.
func (p *simpleParser) blank(at int) bool {
	i := at
	for i < p.end && p.text[i] == ' ' {
		i++
	}
	return i == p.end || p.text[i] == '#' && i > at
}

// block parses the mapping or sequence that starts at p.pos, in that column. It
// leaves the parser on the first line behind it.
func (p *simpleParser) block(column int) node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth >= maxDepth {
		p.unsupported(p.pos)
		return node{}
	}
	if p.isItem(p.pos) {
		return p.sequence(column)
	}
	return p.mapping(column)
}

// isItem reports whether a sequence entry starts at an offset.
func (p *simpleParser) isItem(at int) bool {
	return p.text[at] == '-' && (at+1 >= p.end || p.text[at+1] == ' ')
}

func (p *simpleParser) take(n *node, mark int) {
	n.kids = make([]node, len(p.stack)-mark)
	copy(n.kids, p.stack[mark:])
	p.stack = p.stack[:mark]
}

func (p *simpleParser) sequence(column int) node {
	n := node{shape: sequence, line: p.line, col: p.col(p.pos)}
	mark := len(p.stack)
	for p.gave == nil && !p.done && p.indent() == column && p.isItem(p.pos) {
		dash := p.pos
		at := dash + 1
		for at < p.end && p.text[at] == ' ' {
			at++
		}
		var item node
		switch {
		case p.blank(dash + 1):
			item = node{plain: true, line: p.line, col: p.col(dash + 1)}
			p.next()
			if !p.done && p.indent() > column {
				item = p.block(p.indent())
			}
		case p.isItem(at) || p.startsKey(at):
			// The rest of the line starts a block of its own, as if the dash
			// were indentation.
			p.pos = at
			item = p.block(at - p.start)
		default:
			item = p.value(at, column)
		}
		p.stack = append(p.stack, item)
	}
	p.take(&n, mark)
	p.outside(column)
	return n
}

func (p *simpleParser) mapping(column int) node {
	n := node{shape: mapping, line: p.line, col: p.col(p.pos)}
	mark := len(p.stack)
	for p.gave == nil && !p.done && p.indent() == column {
		if p.isItem(p.pos) {
			break // an outer sequence goes on, or it is out of place
		}
		end, ok := p.keyEnd(p.pos)
		if !ok {
			p.noKey()
			break
		}
		key := p.key(end)
		p.stack = append(p.stack, key)
		colon := end
		at := colon + 1
		for at < p.end && p.text[at] == ' ' {
			at++
		}
		if !p.blank(colon + 1) {
			val := p.value(at, column)
			p.stack = append(p.stack, val)
			continue
		}
		val := node{plain: true, line: p.line, col: p.col(colon + 1)}
		p.next()
		if !p.done && p.gave == nil {
			switch in := p.indent(); {
			case in > column:
				val = p.block(in)
			case in == column && p.isItem(p.pos):
				val = p.block(in)
			}
		}
		p.stack = append(p.stack, val)
	}
	p.take(&n, mark)
	p.outside(column)
	return n
}

// outside checks, at the end of a block, that the next line is not indented
// further than the block: either it continues a scalar, or it is out of place.
func (p *simpleParser) outside(column int) {
	if p.gave == nil && !p.done && p.indent() > column {
		p.unsupported(p.pos)
	}
}

// noKey gives up on a line of a mapping that is no "key: value".
func (p *simpleParser) noKey() {
	if strings.HasPrefix(p.text[p.pos:p.end], "{{") {
		p.malformed(p.pos, unrendered)
		return
	}
	p.unsupported(p.pos)
}

// startsKey reports whether a key that it understands is at an offset of the current line.
func (p *simpleParser) startsKey(at int) bool {
	_, ok := p.keyEnd(at)
	return ok
}

// keyEnd returns the offset of the colon that ends the key at an offset of the
// current line, where something is; ok is false if there is no key it understands.
func (p *simpleParser) keyEnd(at int) (colon int, ok bool) {
	text := p.text[:p.end]
	switch c := text[at]; {
	case c == '"' || c == '\'':
		_, colon, _ = p.quoted(at) // the end of the line, if there is no quote
		ok = endsKey(text, colon)
	case plainStart(text, at) && !strings.HasPrefix(text[at:], "<<"):
		colon, ok = plainKeyEnd(text, at)
	}
	// A key must fit in 1024 characters, and " :" is left to the full parser.
	return colon, ok && colon-at <= 1000 && text[colon-1] != ' '
}

// plainKeyEnd returns the offset of the first colon that ends a key; ok is false
// when there is a comment, a tab or nothing before it.
func plainKeyEnd(text string, at int) (colon int, ok bool) {
	for i := at; i < len(text); i++ {
		switch text[i] {
		case ':':
			if endsKey(text, i) {
				return i, true
			}
		case '\t':
			return 0, false
		case '#':
			if text[i-1] == ' ' {
				return 0, false
			}
		}
	}
	return 0, false
}

// endsKey reports whether a colon is at an offset, with space or nothing behind it.
func endsKey(text string, at int) bool {
	rest := text[at:]
	return rest == ":" || strings.HasPrefix(rest, ": ")
}

// plainStart reports whether a plain scalar may start at an offset, in any
// context.
func plainStart(text string, at int) bool {
	switch text[at] {
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '\t', ' ':
		return false
	case '-':
		return at+1 < len(text) && text[at+1] != ' ' && text[at+1] != '\t'
	}
	return true
}

func (p *simpleParser) key(colon int) node {
	n := node{line: p.line, col: p.col(p.pos)}
	if c := p.text[p.pos]; c == '"' || c == '\'' {
		n.text, _, _ = p.quoted(p.pos)
		return n
	}
	n.text, n.plain = p.text[p.pos:colon], true
	return n
}

// value parses the value that starts at an offset of the current line, behind a
// key or dash of a block in the given column, and moves on to the next line.
func (p *simpleParser) value(at, column int) node {
	n := node{line: p.line, col: p.col(at)}
	switch c := p.text[at]; {
	case c == '|':
		p.literal(&n, at, column)
		return n
	case c == '"' || c == '\'':
		text, after, ok := p.quoted(at)
		if !ok {
			p.unsupported(at)
			return n
		}
		n.text = text
		p.endValue(after)
	case c == '[' || c == '{':
		f, after := p.flow(at)
		if p.gave != nil {
			return n
		}
		n = f
		p.endValue(after)
	case p.isItem(at):
		p.malformed(at, "a list item cannot start behind a key on the same line; put it on the next line")
		return n
	case !plainStart(p.text[:p.end], at):
		p.unsupported(at)
		return n
	default:
		n.plain = true
		n.text = p.plain(at)
	}
	p.next()
	// An indented line would continue the scalar, or be an error.
	p.outside(column)
	return n
}

// endValue checks that nothing but a comment comes behind a value.
func (p *simpleParser) endValue(at int) {
	if !p.blank(at) {
		p.unsupported(at)
	}
}

// plain returns the plain scalar from an offset to the end of the line or the
// comment.
func (p *simpleParser) plain(at int) string {
	line := p.text[at:p.end]
	for i := range len(line) {
		switch line[i] {
		case ':':
			if (i+1 == len(line) || line[i+1] == ' ') && line[i-1] == ' ' {
				p.unsupported(at + i) // perhaps a key
				return ""
			}
			if i+1 == len(line) || line[i+1] == ' ' {
				p.malformed(at+i, "a second colon on this line; put a value that holds ': ' in quotes")
				return ""
			}
		case '#':
			if line[i-1] == ' ' {
				return strings.TrimRight(line[:i], " ")
			}
		case '\t':
			p.unsupported(at + i)
			return ""
		}
	}
	return strings.TrimRight(line, " ")
}

// quoted parses a quoted scalar that ends on its line and returns the offset
// behind it. If it does not end there, or in a way that is left to the full parser, that is the end of the line.
func (p *simpleParser) quoted(at int) (text string, after int, ok bool) {
	line := p.text[:p.end]
	quote := line[at]
	i := at + 1
	n := strings.IndexByte(line[i:], quote)
	if n < 0 {
		return "", len(line), false
	}
	if quote == '"' {
		if strings.IndexByte(line[i:i+n], '\\') < 0 {
			return line[i : i+n], i + n + 1, true
		}
		return p.doubleQuoted(i)
	}
	if i+n+1 == len(line) || line[i+n+1] != '\'' {
		return line[i : i+n], i + n + 1, true
	}
	var b strings.Builder
	for ; i < len(line); i++ {
		if line[i] == '\'' {
			if i+1 == len(line) || line[i+1] != '\'' {
				return b.String(), i + 1, true
			}
			i++
		}
		b.WriteByte(line[i])
	}
	return "", len(line), false
}

// doubleQuoted parses a double-quoted scalar with the usual escapes.
func (p *simpleParser) doubleQuoted(i int) (text string, after int, ok bool) {
	line := p.text[:p.end]
	var b strings.Builder
	for ; i < len(line); i++ {
		c := line[i]
		if c == '"' {
			return b.String(), i + 1, true
		}
		if c == '\\' {
			i++
			if i == len(line) {
				return "", len(line), false
			}
			switch line[i] {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case '"', '\\':
				c = line[i]
			default:
				return "", len(line), false
			}
		}
		b.WriteByte(c)
	}
	return "", len(line), false
}

// literal parses a block scalar that starts with | at an offset. parent is the
// column of the block it is a value of.
func (p *simpleParser) literal(n *node, at, parent int) {
	strip := at+1 < p.end && p.text[at+1] == '-'
	after := at + 1
	if strip {
		after++
	}
	if !p.blank(after) {
		p.unsupported(at)
		return
	}
	text, ok := p.literalText(parent)
	if !ok {
		p.unsupported(at)
		return
	}
	if strip {
		text = strings.TrimSuffix(text, "\n")
	}
	n.text = text
	p.outside(parent)
}

// literalText reads the lines below the current one that belong to a block
// scalar, and moves to the line behind them. Of the line breaks at the end it
// keeps one. ok is false where the indentation is not plain to see.
func (p *simpleParser) literalText(parent int) (content string, ok bool) {
	text, i, line := p.text, p.end, p.line
	indent := -1 // that of the first line with content
	breaks := 0  // line breaks since the last content
	var b strings.Builder
	for i < len(text) {
		i++ // the line break
		line++
		start := i
		i = skipIndent(text, i, indent)
		if i == len(text) {
			break
		}
		in := i - start
		if text[i] == '\n' {
			if indent < 0 && in > parent+1 {
				return "", false // leading blank lines may set the indentation
			}
			breaks++
			continue
		}
		if indent < 0 && in > parent && text[i] != '\t' {
			indent = in
		}
		if indent < 0 || in < indent {
			if text[i] == '\t' {
				return "", false
			}
			i = start
			break
		}
		for ; breaks > 0; breaks-- {
			b.WriteByte('\n')
		}
		end := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
			breaks = 1
		}
		b.WriteString(text[i:end])
		i = end
	}
	if indent >= 0 && breaks > 0 {
		b.WriteByte('\n')
	}
	p.line = line
	p.seek(i)
	return b.String(), true
}

// skipIndent skips spaces, at most as many as indent says; without limit when
// it is negative.
func skipIndent(text string, at, indent int) int {
	i := at
	for i < len(text) && text[i] == ' ' && (indent < 0 || i-at < indent) {
		i++
	}
	return i
}

// flow parses a flow collection that ends on its line and returns the offset
// behind it.
func (p *simpleParser) flow(at int) (node, int) {
	p.depth++
	defer func() { p.depth-- }()
	n := node{line: p.line, col: p.col(at), shape: sequence}
	closer := byte(']')
	if p.text[at] == '{' {
		n.shape, n.braces, closer = mapping, true, '}'
	}
	if p.depth >= maxDepth {
		p.unsupported(at)
		return n, at
	}
	mark := len(p.stack)
	at = p.spaces(at + 1)
	for first := true; p.gave == nil; first = false {
		if at >= p.end {
			p.unsupported(p.end)
			break
		}
		if p.text[at] == closer && first {
			at++
			break
		}
		if n.shape == mapping {
			var key node
			if key, at = p.flowScalar(at); p.gave != nil {
				break
			}
			if at+1 >= p.end || p.text[at] != ':' || p.text[at+1] != ' ' || key.text == "<<" {
				p.unsupported(at)
				break
			}
			p.stack = append(p.stack, key)
			at = p.spaces(at + 1)
		}
		var val node
		if val, at = p.flowValue(at); p.gave != nil {
			break
		}
		p.stack = append(p.stack, val)
		at = p.spaces(at)
		if at < p.end && p.text[at] == ',' {
			at = p.spaces(at + 1)
			continue
		}
		if at < p.end && p.text[at] == closer {
			at++
			break
		}
		p.unsupported(at)
	}
	p.take(&n, mark)
	return n, at
}

func (p *simpleParser) spaces(at int) int {
	for at < p.end && p.text[at] == ' ' {
		at++
	}
	return at
}

func (p *simpleParser) flowValue(at int) (node, int) {
	if at < p.end && (p.text[at] == '[' || p.text[at] == '{') {
		return p.flow(at)
	}
	return p.flowScalar(at)
}

// flowScalar parses a quoted scalar, or a plain one of harmless characters.
func (p *simpleParser) flowScalar(at int) (node, int) {
	n := node{line: p.line, col: p.col(at)}
	if at >= p.end {
		p.unsupported(p.end)
		return n, at
	}
	if c := p.text[at]; c == '"' || c == '\'' {
		text, after, ok := p.quoted(at)
		if !ok {
			p.unsupported(at)
		}
		n.text = text
		return n, after
	}
	i := at
	for i < p.end && harmless(p.text[i], i == at) {
		i++
	}
	for i > at && p.text[i-1] == ' ' {
		i--
	}
	if i == at {
		p.unsupported(at)
	}
	n.text, n.plain = p.text[at:i], true
	return n, i
}

// harmless characters are part of a plain scalar in flow context wherever they
// stand.
func harmless(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '/', c == '+', c == '=', c == '(', c == ')', c == '$', c == '~':
		return true
	}
	return !first && (c == '-' || c == ' ' || c == '%' || c == '@')
}
