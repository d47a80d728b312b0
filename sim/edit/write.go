package edit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

var errByHand = errors.New("where to write cannot be told: change it by hand")

// With writes a value to a field of an object into the text that the object was read from, as it is: in lines or in braces, YAML or JSON. All else
// stays as it is, comments included. What is missing above the field is written with it.
func With(data []byte, o *manifest.Object, path string, to Value) ([]byte, error) {
	if o.Has(path) {
		at, ok := offset(data, o.ValueAt(path))
		if !ok || o.ValueAt(path) == o.At(path) {
			return nil, errByHand
		}
		return splice(data, at, scalarEnd(data, at), to.YAML), nil
	}
	near := o.Nearest(path)
	if at, ok := flowOf(data, o, near); ok {
		return intoFlow(data, at, manifest.Steps(path)[len(manifest.Steps(near)):], to)
	}
	return Text(data, []Edit{New(o, o.Value, path, to, "")})
}

// Without takes a field out of the text that an object was read from, and the field that it stands in where that would be empty.
func Without(data []byte, o *manifest.Object, path string) ([]byte, error) {
	if !o.Has(path) {
		return data, nil
	}
	if above := strings.TrimSuffix(path, "."+lastName(path)); above != path && len(o.Fields(above)) == 1 && !strings.HasSuffix(above, "]") {
		return Without(data, o, above)
	}
	at, ok := offset(data, o.At(path))
	if !ok {
		return nil, errByHand
	}
	begin := bytes.LastIndexByte(data[:at], '\n') + 1
	before := strings.TrimLeft(string(data[begin:at]), " ")
	if before == "" {
		lines := strings.SplitAfter(string(data), "\n")
		line := bytes.Count(data[:at], []byte("\n"))
		_, end := blockBelow(lines, line, at-begin)
		return []byte(strings.Join(lines[:line], "") + strings.Join(lines[end:], "")), nil
	}
	if strings.Trim(before, "- ") == "" {
		return nil, errByHand // the first field of an item, which the others are indented by
	}
	return outOfFlow(data, at)
}

// offset is where a position is in a text.
func offset(data []byte, p manifest.Position) (int, bool) {
	at := 0
	for range p.Line - 1 {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return 0, false
		}
		at += n + 1
	}
	for range p.Column - 1 {
		if at >= len(data) || data[at] == '\n' {
			return 0, false
		}
		_, n := utf8.DecodeRune(data[at:])
		at += n
	}
	return at, at < len(data)
}

func splice(data []byte, from, to int, text string) []byte {
	return bytes.Join([][]byte{data[:from], []byte(text), data[to:]}, nil)
}

// scalarEnd is where a value ends that stands in one line: in quotes, or up to what no plain one has.
func scalarEnd(data []byte, at int) int {
	if q := data[at]; q == '"' || q == '\'' {
		for i := at + 1; i < len(data); i++ {
			switch {
			case q == '"' && data[i] == '\\':
				i++
			case data[i] == q:
				return i + 1
			}
		}
		return len(data)
	}
	for i := at; i < len(data); i++ {
		if c := data[i]; c == ',' || c == '}' || c == ']' || c == '\n' || c == '\r' || c == ' ' || c == '\t' {
			return i
		}
	}
	return len(data)
}

// flowOf is where the braces of a mapping begin; ok is false for one that is written in lines.
func flowOf(data []byte, o *manifest.Object, path string) (at int, ok bool) {
	at, ok = offset(data, o.At(path))
	if !ok {
		return 0, false
	}
	if path != "" && !strings.HasSuffix(path, "]") {
		at = scalarEnd(data, at) // the key, and what a plain one has of its colon
		at += len(data[at:]) - len(bytes.TrimLeft(data[at:], ": "))
	}
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r') {
		at++
	}
	return at, at < len(data) && data[at] == '{'
}

// intoFlow writes a field as the first one in braces.
func intoFlow(data []byte, at int, steps []any, to Value) ([]byte, error) {
	rest := bytes.TrimLeft(data[at+1:], " \r\n\t")
	quote := func(name string) string { return name }
	if inJSON(data) {
		quote = quoted
	}
	text := to.YAML
	for i := len(steps) - 1; i >= 0; i-- {
		name, ok := steps[i].(string)
		if !ok {
			return nil, errByHand
		}
		if text = quote(name) + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	if !bytes.HasPrefix(rest, []byte("}")) {
		text += ", "
	}
	return splice(data, at+1, at+1, text), nil
}

// inJSON says that names need their quotes.
func inJSON(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// outOfFlow takes a field out of braces, with the comma behind it or, without one, before it.
func outOfFlow(data []byte, at int) ([]byte, error) {
	end, err := flowEnd(data, at)
	if err != nil {
		return nil, err
	}
	if data[end] == ',' {
		for end++; end < len(data) && data[end] == ' '; end++ {
		}
		return splice(data, at, end, ""), nil
	}
	head := bytes.TrimRight(data[:at], " \r\n\t")
	if bytes.HasSuffix(head, []byte(",")) {
		at = len(head) - 1
	}
	return splice(data, at, end, ""), nil
}

// flowEnd is where a field in braces ends: at the comma behind it, or at the brace.
func flowEnd(data []byte, at int) (int, error) {
	depth := 0
	for i := at; i < len(data); i++ {
		switch data[i] {
		case '"', '\'':
			i = scalarEnd(data, i) - 1
		case '{', '[':
			depth++
		case ',':
			if depth == 0 {
				return i, nil
			}
		case '}', ']':
			if depth == 0 {
				return i, nil
			}
			depth--
		}
	}
	return 0, fmt.Errorf("the braces do not end: %w", errByHand)
}
