package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Text makes the edits of one file in its YAML and returns the new text, in which nothing else is changed, comments included. Each
// edit says by its Line and Path where. A field that stands in braces, or on a line that has its name twice, is an error: where
// to write cannot be told from the line.
func Text(data []byte, edits []Edit) ([]byte, error) {
	text, ends := string(data), bytes.HasSuffix(data, []byte("\n"))
	if !ends {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	inOrder := slices.Clone(edits)
	sorted.StableBy(inOrder, func(a, b Edit) int { return cmp.Compare(b.Line, a.Line) }) // a change moves what is below it
	var added []string
	for i := range inOrder {
		if document := inOrder[i].document(); document != nil {
			added = append(append(added, "---\n"), indented(0, document)...)
		}
		if inOrder[i].Gone {
			return nil, fmt.Errorf("%s:%d: %s is to be deleted: %w", inOrder[i].File, inOrder[i].Line, inOrder[i].From, errByHand)
		}
		if inOrder[i].Path == "" { // nothing but the document
			continue
		}
		var err error
		if lines, err = textEdit(lines, &inOrder[i]); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", inOrder[i].File, inOrder[i].Line, inOrder[i].Path, err)
		}
	}
	if text = strings.Join(append(lines, added...), ""); !ends {
		text = strings.TrimSuffix(text, "\n")
	}
	return []byte(text), nil
}

func textEdit(lines []string, e *Edit) ([]string, error) {
	at := e.Line - 1
	if at < 0 || at >= len(lines) {
		return nil, errors.New("there is no such line")
	}
	line := withoutComment(lines[at])
	if strings.ContainsAny(line, "{}") || strings.Count(line, `"`)%2 == 1 || strings.Count(line, "'")%2 == 1 {
		return nil, errors.New("it stands in braces, or its value has a # in it: change it by hand")
	}
	if e.At != e.Path {
		block := e.block(len(manifest.Steps(e.At)))
		if strings.HasSuffix(e.At, "]") { // an item of a list: the field is one of its own
			column := len(line) - len(strings.TrimLeft(line, " -"))
			_, end := blockBelow(lines, at, column-1)
			return slices.Insert(lines, end, indented(column, block)...), nil
		}
		begin, err := columnOf(line, lastName(e.At))
		if err != nil {
			return nil, err
		}
		column, end := blockBelow(lines, at, begin)
		return slices.Insert(lines, end, indented(column, block)...), nil
	}
	name := lastName(e.Path)
	begin, err := columnOf(line, name)
	if err != nil {
		return nil, err
	}
	_, end := blockBelow(lines, at, begin)
	if e.To.isMapping() {
		block := indented(begin, e.block(len(manifest.Steps(e.Path))-1))
		block[0] = lines[at][:begin] + strings.TrimLeft(block[0], " ")
		return slices.Replace(lines, at, end, block...), nil
	}
	begin += len(name) + 1
	value := strings.TrimSpace(line[begin:])
	lines[at] = lines[at][:begin] + " " + e.To.YAML + strings.TrimPrefix(strings.TrimLeft(lines[at][begin:], " "), value)
	return slices.Delete(lines, at+1, end), nil
}

// lastName is the field or key that a path ends with.
func lastName(path string) string {
	steps := manifest.Steps(path)
	if len(steps) == 0 {
		return ""
	}
	name, _ := steps[len(steps)-1].(string)
	return name
}

// columnOf is where a line has a field.
func columnOf(line, name string) (int, error) {
	if strings.Count(line, name+":") != 1 {
		return 0, fmt.Errorf("there is no single %s on this line", name)
	}
	return strings.Index(line, name+":"), nil
}

// blockBelow is where the value of the field ends that begins at a column of a line, and at which column its own fields begin.
func blockBelow(lines []string, at, begin int) (column, end int) {
	column, end = begin+2, at+1
	known := false
	for i := at + 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
		if text == "" || text[0] == '#' && indent <= begin {
			continue // such a comment belongs to what comes after it
		}
		if indent < begin || indent == begin && !strings.HasPrefix(text, "- ") || strings.HasPrefix(lines[i], "---") {
			break
		}
		if !known && text[0] != '#' { // comments may come first
			column, known = indent, true
		}
		end = i + 1
	}
	return column, end
}

// indented are lines of a block that begins at a column.
func indented(column int, block []string) []string {
	var out []string
	for _, line := range block {
		out = append(out, strings.Repeat(" ", column)+line+"\n")
	}
	return out
}

// withoutComment is a line up to its comment, which begins at its start or after a space.
func withoutComment(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
		return ""
	}
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return line
}
