package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Edit is one field of an object that is changed.
type Edit struct {
	// File and Line are where the field stands, or would stand; "" and 0 where no input has the object.
	File string
	Line int
	// Kind is that of the object, such as "Deployment".
	Kind string
	// Path is the field, as in `spec.template.spec.containers[0].lifecycle` or `metadata.labels["team"]`.
	Path string
	// At is the path of what stands on Line: Path itself, or the last field above it that the input has; "" is the object.
	At string
	// From is the value that the input has, the zero Value for none. To is the one to write.
	From, To Value
	// Merge has the YAML to paste begin at the object, as for kubectl patch, also where some of the fields above are there.
	Merge bool
	// With is another object that is added with the edit, the zero Value for none.
	With Value
	// Gone says that the whole object is deleted: From names it.
	Gone bool
	// Braces says that what the field stands in, or would, is written in braces: so is what is to be pasted, which goes between these.
	Braces Braces
}

// Braces says how the mapping is written that a field stands in.
type Braces uint8

const (
	// NoBraces is a mapping in lines of its own.
	NoBraces Braces = iota
	// InBraces is one in braces of YAML.
	InBraces
	// InJSON is one of JSON: so is what is to be pasted.
	InJSON
	// BeforeOther is one of JSON with other fields: what is to be pasted needs a comma behind it.
	BeforeOther
)

// String says whether there are braces, and which.
func (b Braces) String() string {
	switch b {
	case NoBraces, InBraces:
		return strconv.FormatBool(b == InBraces)
	case InJSON:
		return "JSON"
	default:
		return "JSON, before other fields"
	}
}

// JSON says that what is to be pasted is JSON.
func (e *Edit) JSON() bool { return e.Braces >= InJSON }

// bracesOf is how an object has the mapping at a path.
func bracesOf(o *manifest.Object, path string) Braces {
	switch {
	case !o.InBraces(path):
		return NoBraces
	case o.InJSON():
		return InJSON
	default:
		return InBraces
	}
}

// Value is what a field has. The zero Value is that of a field that is not there.
type Value struct {
	YAML string // in one line, such as `{sleep: {seconds: 5}}`
	// Words are what a list of edits says instead, "" where that is the YAML.
	Words string
}

// String is the value in a list of edits.
func (v Value) String() string { return cmp.Or(v.Words, v.YAML) }

// ValueOf is a value that JSON can have. Words are what is said of it, "" for a text as it is and for the JSON of all else.
func ValueOf(x any, words string) Value {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return Value{}
	}
	v := Value{YAML: strings.TrimSpace(b.String()), Words: words}
	var text string
	if words == "" && json.Unmarshal(b.Bytes(), &text) == nil {
		v.Words = text
	}
	return v
}

// Word is a name as YAML has it in a line: in quotes where it would be read as a number, a bool or nothing.
func Word(name string) string {
	switch strings.ToLower(name) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "":
		return strconv.Quote(name)
	}
	if c := name[0]; c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
		return strconv.Quote(name)
	}
	return name
}

// New is the edit of a field of an object. o is where the object came from, nil for no manifest; was is what is said of the value
// that the field has, "" where that is the value itself.
func New(o *manifest.Object, object any, path string, to Value, was string) Edit {
	if o == nil {
		return Edit{Path: path, At: path, From: Read(object, path, was), To: to}
	}
	p := o.At(path)
	e := Edit{File: p.File, Line: p.Line, Kind: o.Kind, Path: path, At: o.Nearest(path), To: to}
	e.Braces = bracesOf(o, e.At)
	switch {
	case e.At == path:
		e.From, e.Braces = Read(object, path, was), bracesOf(o, strings.TrimSuffix(path, "."+lastName(path)))
	case e.Braces == InJSON && len(o.Fields(e.At)) > 0:
		e.Braces = BeforeOther
	}
	return e
}

// Delete takes a whole object away. o is where it came from, nil for no manifest.
func Delete(o *manifest.Object, kind, name string) Edit {
	e := Edit{Kind: kind, From: Value{Words: kind + " " + name}, Gone: true}
	if o != nil {
		p := o.At("")
		e.File, e.Line = p.File, p.Line
	}
	return e
}

// Key is the label or annotation that is changed, "" where it is another field.
func (e *Edit) Key() string {
	_, key, ok := strings.Cut(e.Path, `["`)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(key, `"]`)
}

// YAML is what to paste, line by line, indented from the first of them on: with the fields above Path that the input does not
// have. nil where the value on Line is simply replaced, unless that is JSON, or no input has the object.
func (e *Edit) YAML() []string {
	var out []string
	switch {
	case e.Gone:
		return []string{"# delete " + e.From.String()}
	case e.Merge:
		out = e.block(0)
	case e.File == "" && e.Line == 0:
	case e.Braces != NoBraces && (e.At != e.Path || e.To.isMapping() || e.JSON()):
		out = e.inBraces()
	case e.At != e.Path:
		out = e.block(len(manifest.Steps(e.At)))
	case e.To.isMapping():
		out = e.block(len(manifest.Steps(e.Path)) - 1)
	}
	if e.With.YAML != "" && len(out) > 0 {
		out = append(out, "---")
	}
	return append(out, e.document()...)
}

// inBraces is the field in one line, as it stands in braces.
func (e *Edit) inBraces() []string {
	names := manifest.Steps(e.Path)
	if e.At != e.Path {
		names = names[len(manifest.Steps(e.At)):]
	} else {
		names = names[len(names)-1:]
	}
	text, quote := e.To.YAML, func(name string) string { return name }
	if e.JSON() {
		text, quote = inJSONOf(nodeOf(text)), quoted
	}
	for i := len(names) - 1; i >= 0; i-- {
		name, _ := names[i].(string)
		if text = quote(name) + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	switch {
	case e.Braces == BeforeOther:
		return []string{text + ","}
	case e.JSON():
		return []string{text}
	default:
		return broken([]string{text})
	}
}

// inJSONOf is a value as JSON has it, in one line.
func inJSONOf(n *yaml.Node) string {
	var parts []string
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			parts = append(parts, quoted(n.Content[i-1].Value)+": "+inJSONOf(n.Content[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Kind == yaml.SequenceNode:
		for _, x := range n.Content {
			parts = append(parts, inJSONOf(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.ShortTag() == "!!int" || n.ShortTag() == "!!bool":
		return n.Value
	default:
		return quoted(n.Value)
	}
}

// quoted is a text as JSON has it.
func quoted(text string) string { return ValueOf(text, "").YAML }

// document is the object that is added: in as few lines as have room for it on a page.
func (e *Edit) document() []string {
	if e.With.YAML == "" {
		return nil
	}
	n := nodeOf(e.With.YAML)
	fit(n, 0)
	return encoded(n)
}

// Added is the object that is added, in braces: one line of YAML, which may be broken at any blank. "" where none is.
func (e *Edit) Added() string {
	if e.With.YAML == "" {
		return ""
	}
	n := nodeOf(e.With.YAML)
	inBraces(n)
	return strings.Join(strings.Fields(strings.Join(encoded(n), " ")), " ")
}

func inBraces(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style |= yaml.FlowStyle
	}
	for _, x := range n.Content {
		inBraces(x)
	}
}

// How wide a line of an added object may be: with braces in braces only where it is short, for such a line is hard to read.
const (
	wide   = 80 // beside what stands before it in a list of edits
	nested = 48
)

// fit has the fields of a mapping, which begins at a column, on lines of their own, and those of a field only where its line is too wide.
func fit(n *yaml.Node, column int) {
	if n.Kind != yaml.MappingNode {
		return
	}
	n.Style &^= yaml.FlowStyle
	for i := 1; i < len(n.Content); i += 2 {
		most := wide
		if value := n.Content[i]; slices.ContainsFunc(value.Content, func(x *yaml.Node) bool { return len(x.Content) > 0 }) {
			most = nested
		}
		if column+len(n.Content[i-1].Value)+len(": ")+len(strings.Join(encoded(n.Content[i]), "")) > most {
			fit(n.Content[i], column+2)
		}
	}
}

// block is the value below the names of its path, but for the first of them.
func (e *Edit) block(without int) []string {
	names := manifest.Steps(e.Path)[without:]
	n := nodeOf(e.To.YAML)
	for i := len(names) - 1; i >= 0; i-- {
		name, _ := names[i].(string)
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, n}}
	}
	return broken(linesOf(n, len(names)+1))
}

// broken has a text that is too long for the line of its name begin below that.
func broken(lines []string) []string {
	var out []string
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ": ")
		if !ok || len(line) <= wide || strings.ContainsAny(value, `"'{[ `) {
			out = append(out, line)
			continue
		}
		indent := strings.Repeat(" ", len(name)-len(strings.TrimLeft(name, " "))+2)
		out = append(out, name+":", indent+value)
	}
	return out
}

func (v Value) isMapping() bool { return nodeOf(v.YAML).Kind == yaml.MappingNode }

// nodeOf reads a value. What is no YAML, which no fix has, is a text.
func nodeOf(text string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text}
	}
	return doc.Content[0]
}

// linesOf writes a value with the fields of the first levels on lines of their own, and what is below them in braces.
func linesOf(n *yaml.Node, levels int) []string {
	onLines(n, levels)
	asScripts(n)
	return encoded(n)
}

// encoded are the lines of a value, as it is styled.
func encoded(n *yaml.Node) []string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(n) != nil || e.Close() != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// ofMappings says that a value is a list of mappings, which are long: the keys of a mapping are none.
func ofMappings(n *yaml.Node) bool {
	return len(n.Content) > 0 && !slices.ContainsFunc(n.Content, func(x *yaml.Node) bool { return x.Kind != yaml.MappingNode })
}

// asScripts has texts of several lines stand as they would be written by hand, below a bar; what they are in stands on lines of its own, then.
func asScripts(n *yaml.Node) (found bool) {
	if n.Kind == yaml.ScalarNode {
		if found = strings.Contains(strings.TrimRight(n.Value, "\n"), "\n"); found {
			n.Style = yaml.LiteralStyle
		}
		return found
	}
	for _, item := range n.Content {
		found = asScripts(item) || found
	}
	if found {
		n.Style &^= yaml.FlowStyle
	}
	return found
}

func onLines(n *yaml.Node, levels int) {
	if levels > 0 && ofMappings(n) {
		n.Style &^= yaml.FlowStyle
		for _, item := range n.Content {
			onLines(item, levels)
		}
	}
	if n.Kind != yaml.MappingNode || levels == 0 {
		return
	}
	n.Style &^= yaml.FlowStyle
	for i := 1; i < len(n.Content); i += 2 {
		onLines(n.Content[i], levels-1)
	}
}
