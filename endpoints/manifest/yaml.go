package manifest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth bounds how deep a document may nest, aliases expanded. Real
	// objects stay below 30.
	maxDepth = 128
	// maxExpanded bounds how many values a document with aliases may stand for.
	// Every alias is written out by the decoder, so ten lines of YAML could
	// otherwise ask for billions.
	maxExpanded = 1_000_000
)

// syntaxError is a place and what is wrong there.
type syntaxError struct {
	line, col int32
	message   string
}

// parseYAML parses one document, whose first line has the given number. A
// document without content yields a null.
func parseYAML(text string, line int) (*node, *syntaxError) {
	n, gave := parseSimpleYAML(text, line)
	if gave == nil {
		return n, nil
	}
	n, err := parseFullYAML(text, line)
	switch {
	case err == nil:
		return n, nil
	case err.message == controlCharacters:
		return nil, unprintable(text, line)
	case gave.malformed:
		return nil, &gave.syntaxError // the better message, and it has a column
	}
	if at := templateIn(text, line); at != nil {
		return nil, at
	}
	switch {
	case err.col == 0 && err.line == gave.line:
		err.col = gave.col
	case err.col == 0:
		err.col = firstColumn(text, int(err.line)-line)
	}
	return nil, err
}

const unrendered = "a template ({{ }}), not YAML; render it first, for example with helm template"

// templateIn finds the first line of a malformed document that is one of a template, nil for none.
func templateIn(text string, line int) *syntaxError {
	for i, row := range strings.Split(text, "\n") {
		words := strings.TrimLeft(row, " -")
		at := len(row) - len(words)
		if value := strings.Index(words, ": {{"); value >= 0 && !strings.ContainsAny(words[:value], "#\"'") {
			at += value + len(": ")
		}
		if strings.HasPrefix(row[at:], "{{") {
			return &syntaxError{int32(line + i), int32(1 + utf8.RuneCountInString(row[:at])), unrendered}
		}
	}
	return nil
}

// parseFullYAML is parseYAML for all of YAML. The column of an error is 0 where
// the parser does not say.
func parseFullYAML(text string, line int) (*node, *syntaxError) {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &node{plain: true, line: int32(line), col: 1}, nil
		}
		return nil, locate(text, line, err)
	}
	c := converter{shift: int32(line - 1), anchors: map[*yaml.Node]*converted{}}
	root := c.convert(&doc, 0)
	if c.err != nil {
		return nil, c.err
	}
	var next yaml.Node
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &syntaxError{int32(next.Line) + c.shift, int32(next.Column), "a second document starts here; put a line with only --- between documents"}
	case !errors.Is(err, io.EOF):
		return nil, locate(text, line, err)
	}
	return &root.node, nil
}

// converter turns yaml.Nodes into nodes, writing out aliases and merge keys.
type converter struct {
	shift   int32
	anchors map[*yaml.Node]*converted // nil value: being converted
	aliased bool
	err     *syntaxError
}

// converted is a node with the number of values and levels it stands for.
type converted struct {
	node
	weight, height int
}

func (c *converter) fail(n *yaml.Node, format string, args ...any) {
	if c.err == nil {
		c.err = &syntaxError{int32(n.Line) + c.shift, int32(n.Column), fmt.Sprintf(format, args...)}
	}
}

func (c *converter) convert(n *yaml.Node, depth int) converted {
	if c.err != nil {
		return converted{}
	}
	if depth > maxDepth {
		c.fail(n, "nested deeper than %d levels", maxDepth)
		return converted{}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return c.convert(n.Content[0], depth)
	case yaml.AliasNode:
		return c.alias(n, depth)
	default:
	}
	if n.Anchor != "" {
		c.anchors[n] = nil
	}
	out := converted{node: node{line: int32(n.Line) + c.shift, col: int32(n.Column)}, weight: 1}
	switch n.Kind {
	case yaml.ScalarNode:
		out.text = n.Value
		out.plain = n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
		if n.Style&yaml.TaggedStyle != 0 {
			switch n.ShortTag() {
			case "!!str", "!!binary", "!!timestamp":
				out.plain = false
			case "!!int", "!!float", "!!bool", "!!null":
				out.plain = true
			}
		}
	case yaml.SequenceNode:
		c.sequence(n, &out, depth)
	case yaml.MappingNode:
		c.mapping(n, &out, depth)
	default:
	}
	if n.Anchor != "" && c.err == nil {
		c.anchors[n] = &out
	}
	return out
}

func (c *converter) alias(n *yaml.Node, depth int) converted {
	c.aliased = true
	target, known := c.anchors[n.Alias]
	switch {
	case known && target == nil:
		c.fail(n, "anchor &%s contains itself", n.Value)
		return converted{}
	case !known:
		c.fail(n, "unknown anchor &%s", n.Value)
		return converted{}
	case depth+target.height > maxDepth:
		c.fail(n, "nested deeper than %d levels", maxDepth)
		return converted{}
	}
	return *target
}

// add makes kid the next kid of out.
func (c *converter) add(out *converted, kid converted, n *yaml.Node) {
	out.kids = append(out.kids, kid.node)
	out.weight += kid.weight
	out.height = max(out.height, kid.height+1)
	if c.aliased && out.weight > maxExpanded {
		c.fail(n, "aliases make this document stand for more than %d values", maxExpanded)
	}
}

func (c *converter) sequence(n *yaml.Node, out *converted, depth int) {
	out.shape = sequence
	out.kids = make([]node, 0, len(n.Content))
	for _, item := range n.Content {
		c.add(out, c.convert(item, depth+1), item)
	}
}

func (c *converter) mapping(n *yaml.Node, out *converted, depth int) {
	out.shape, out.braces = mapping, n.Style&yaml.FlowStyle != 0
	out.kids = make([]node, 0, len(n.Content))
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, val)
			continue
		}
		k := c.convert(key, depth+1)
		if k.shape == mapping && key.Style&yaml.FlowStyle != 0 && len(n.Content) == 2 && n.Style&yaml.FlowStyle != 0 {
			c.fail(n, unrendered)
			return
		}
		if k.shape != scalar {
			c.fail(key, "a key must be a string, not %s", k.describe())
			return
		}
		c.add(out, k, key)
		c.add(out, c.convert(val, depth+1), val)
	}
	if len(merges) > 0 {
		have := make(map[string]bool, len(out.kids)/2)
		for i := 0; i < len(out.kids); i += 2 {
			have[out.kids[i].text] = true
		}
		for _, val := range merges {
			c.merge(val, out, have, depth)
		}
	}
}

// merge adds what a merge key (<<) brings in: keys of the mapping itself, which
// it has, come first, then those of earlier merged mappings.
func (c *converter) merge(val *yaml.Node, out *converted, have map[string]bool, depth int) {
	from := c.convert(val, depth+1)
	sources := []node{from.node}
	if from.shape == sequence {
		sources = from.kids
	}
	for i := range sources {
		if c.err != nil {
			return
		}
		if sources[i].shape != mapping {
			c.fail(val, "a merge key << takes a mapping or a list of mappings, not %s", sources[i].describe())
			return
		}
		kids := sources[i].kids
		for k := 0; k+1 < len(kids); k += 2 {
			if have[kids[k].text] {
				continue
			}
			have[kids[k].text] = true
			out.kids = append(out.kids, kids[k], kids[k+1])
		}
	}
	out.weight += from.weight
	out.height = max(out.height, from.height)
	if out.weight > maxExpanded {
		c.fail(val, "aliases make this document stand for more than %d values", maxExpanded)
	}
}
