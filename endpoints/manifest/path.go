package manifest

import (
	"slices"
	"strconv"
	"strings"
)

// renderPath writes a path the way users write it: spec.ports[0].nodePort,
// metadata.labels["app.kubernetes.io/name"].
func renderPath(path []step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.key && !isWord(s.name):
			b.WriteString("[" + strconv.Quote(s.name) + "]")
		case s.name != "" || s.key:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		default:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
	}
	return b.String()
}

// isWord reports whether a map key reads well without brackets and quotes.
func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

// parsePath is the inverse of renderPath. A path it cannot read to the end
// yields the steps up to there.
func parsePath(path string) []step {
	var steps []step
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil || !strings.HasPrefix(path[1+len(quoted):], "]") {
				return steps
			}
			name, _ := strconv.Unquote(quoted)
			steps = append(steps, step{name: name, key: true})
			path = path[1+len(quoted)+1:]
		case path[0] == '[':
			inside, rest, ok := strings.Cut(path[1:], "]")
			index, err := strconv.Atoi(inside)
			if !ok || err != nil {
				return steps
			}
			steps = append(steps, step{index: index})
			path = rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps = append(steps, step{name: path[:end]})
			path = path[end:]
		}
	}
	return steps
}

// Steps are the parts of a path as At takes it: a string for a field or a key, an int for the index of an item. A path that
// cannot be read to the end yields the steps up to there.
func Steps(path string) []any {
	var out []any
	for _, s := range parsePath(path) {
		if s.name != "" || s.key {
			out = append(out, s.name)
		} else {
			out = append(out, s.index)
		}
	}
	return out
}

// Nearest returns the longest beginning of a path that the input itself holds (see Has): the path where it has the field, ""
// where it has no part of it.
func (o *Object) Nearest(path string) string {
	steps := parsePath(path)
	if o.Has(path) {
		return path
	}
	for n := len(steps) - 1; n > 0; n-- {
		if part := renderPath(steps[:n]); o.Has(part) {
			return part
		}
	}
	return ""
}

// At returns where a field stands: the position of its key or, for a list
// item, of the item. The path is written as in "spec.ports[0].nodePort" or
// `metadata.labels["app.kubernetes.io/name"]`; indices are those of Value, so
// they account for items that Load removed. A field that is not in the input
// (it may have been defaulted) yields its nearest ancestor that is, in the last
// resort the object itself. The cost is that of walking down the path.
func (o *Object) At(path string) Position {
	at, _, found := o.walk(path)
	if !found && at == o.root {
		return o.Position
	}
	return o.position(at)
}

// ValueAt is At, but yields the position of the field's value where At yields
// that of its key. Only a scalar has a value position of its own; for a mapping
// or list, and for a missing field, it is the same as At.
func (o *Object) ValueAt(path string) Position {
	if _, v, found := o.walk(path); found && v.shape == scalar && !(v.text == "" && v.plain) {
		return o.position(v)
	}
	return o.At(path)
}

// Has reports whether the input itself holds the field, so that its value is
// not a default. A null counts as absent.
func (o *Object) Has(path string) bool {
	_, v, found := o.walk(path)
	return found && !v.isNull()
}

func (o *Object) position(n *node) Position {
	if n == nil {
		return o.Position
	}
	return Position{File: o.File, Line: int(n.line), Column: int(n.col)}
}

// walk follows the path as far as the input does. at marks the last field
// reached (its key, or the item), v is its value.
func (o *Object) walk(path string) (at, v *node, found bool) {
	at, v = o.root, o.root
	if v == nil {
		return nil, nil, false
	}
	for _, s := range parsePath(path) {
		if s.name != "" || s.key {
			key, val := v.value(s.name)
			if val == nil {
				return at, v, false
			}
			at, v = key, val
			continue
		}
		if v.shape != sequence || s.index < 0 || s.index >= len(v.kids) {
			return at, v, false
		}
		v = &v.kids[s.index]
		at = v
	}
	return at, v, true
}

// removeItems takes the items marked in drop out of a list in the tree, so that
// positions keep matching Value after the same items were taken out of it. It
// copies the nodes on the way down because YAML aliases share them. A list that
// is not in the input, because it was defaulted, is left alone.
func (o *Object) removeItems(path string, drop []bool) {
	if o.root == nil {
		return
	}
	root := *o.root
	n := &root
	for _, s := range parsePath(path) {
		n.kids = slices.Clone(n.kids)
		switch {
		case s.name != "" || s.key:
			_, n = n.value(s.name)
		case n.shape == sequence && s.index >= 0 && s.index < len(n.kids):
			n = &n.kids[s.index]
		default:
			n = nil
		}
		if n == nil {
			return
		}
	}
	if n.shape != sequence || len(n.kids) != len(drop) {
		return
	}
	n.kids = keep(n.kids, drop)
	o.root = &root
}

// keep returns a copy of items without the dropped ones.
func keep[T any](items []T, drop []bool) []T {
	kept := make([]T, 0, len(items))
	for i, item := range items {
		if !drop[i] {
			kept = append(kept, item)
		}
	}
	return kept
}

// InBraces reports whether the input has a mapping at a path, and has it in braces, which fields cannot be pasted below.
func (o *Object) InBraces(path string) bool {
	_, v, found := o.walk(path)
	return found && v.shape == mapping && v.braces
}

// InJSON reports whether the object is written in JSON: in braces, with its names in quotes.
func (o *Object) InJSON() bool {
	return o.root != nil && o.root.braces && len(o.root.kids) > 0 && !o.root.kids[0].plain
}

// Fields are the names that a mapping of the input has, in its order; none for what is no mapping, or is not there.
func (o *Object) Fields(path string) []string {
	_, v, found := o.walk(path)
	if !found || v.shape != mapping {
		return nil
	}
	var out []string
	for i := 0; i+1 < len(v.kids); i += 2 {
		out = append(out, v.kids[i].text)
	}
	return out
}
