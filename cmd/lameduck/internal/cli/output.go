package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	siminput "github.com/lameduck-proxy/lameduck/sim/input"
)

// format is the value of -o.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
	formatYAML format = "yaml"
)

// String, Set and Type make format a flag that refuses what it does not know.
func (f *format) String() string { return string(*f) }

// Set accepts one of the formats.
func (f *format) Set(s string) error {
	if !slices.Contains([]format{formatText, formatJSON, formatYAML}, format(s)) {
		return fmt.Errorf("want text, json or yaml")
	}
	*f = format(s)
	return nil
}

// Type names the flag's value in the help text.
func (f *format) Type() string { return "text|json|yaml" }

// write prints the answer: v as JSON or YAML, or what text prints.
func (f format) write(w io.Writer, v any, text func(io.Writer) error) error {
	switch f {
	case formatJSON:
		return writeJSON(w, v)
	case formatYAML:
		return writeYAML(w, v)
	default:
		return text(w)
	}
}

func writeJSON(w io.Writer, v any) error {
	text, err := page.Document(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, page.JSON(text))
	return err
}

// writeYAML prints the JSON form as YAML, fields in the same order.
func writeYAML(w io.Writer, v any) error {
	text, err := page.Document(v)
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(page.YAML(text)), &doc); err != nil { // YAML takes no C1 as it is, and no surrogates
		return err
	}
	blockStyle(&doc)
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	_, err = io.WriteString(w, page.YAML(buf.String()))
	return err
}

// blockStyle takes the braces and quotes of JSON out; the encoder quotes what needs it by
// YAML 1.2, and here stays quoted what only YAML 1.1 takes for a boolean, and what has to be written as escapes.
func blockStyle(n *yaml.Node) {
	oldBoolean := slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(n.Value))
	hidden := strings.ContainsFunc(n.Value, page.Hides)
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode && !oldBoolean && !hidden {
		n.Style = 0
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// colours is the Style of a terminal.
func colours(w io.Writer) explain.Style {
	if !terminal(w) {
		return nil
	}
	return func(role explain.Role, word string) string {
		code := map[explain.Role]string{explain.Heading: "1", explain.Good: "32", explain.Warn: "33", explain.Bad: "1;31"}[role]
		return page.Painted(code, word)
	}
}

// oneOf joins words for an error message: "a, b or c".
func oneOf(words []string) string { return siminput.OneOf(words) }

// few shortens a list for an error message: a cluster may have thousands of nodes.
func few(words []string) []string {
	const listed = 10
	if len(words) <= listed {
		return words
	}
	return append(words[:listed:listed], fmt.Sprintf("%d more", len(words)-listed))
}
