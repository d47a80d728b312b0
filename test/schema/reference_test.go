package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// The documents that are made of the grammar are what the grammar says now.
func TestGeneratedDocuments(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]byte{
		"../../docs/scenario.md":          reference(),
		"../../docs/scenario.schema.json": indented(t, scenario.Schema()),
		"../../docs/result.schema.json":   indented(t, report.Schema()),
	} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil { // a document for everybody
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the grammar says (%v): make golden writes it again", name, err)
		}
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

const introduction = `# The fields of a Scenario

A document of kind Scenario says what world is simulated, what is done to it and what is expected. Every field has a default;
the smallest Scenario is a Deployment, a Service and

    apiVersion: lameduck/v1alpha1
    kind: Scenario

This page is made from the grammar that the program reads with: ` + "`lameduck sim --list fields`" + ` prints the same, ` + "`--list schema`" + ` as a
JSON Schema for editors ([scenario.schema.json](scenario.schema.json)); ` + "`--list result-schema`" + ` is that of what ` + "`sim -o json`" + ` prints
([result.schema.json](result.schema.json)). ` + "`--set PATH=VALUE`" + ` changes any of them, without ` + "`spec.`" + ` in front: ` + "`--set traffic[0].timeout=30s`" + `.

A duration has a unit: ` + "`250ms`, `15s`, `1m30s`" + `. A rate is ` + "`200/s`, `30/m`" + `. A distribution is a duration, or one of

    {constant: 40ms}
    {uniform: [5ms, 30ms]}
    {normal: {mean: 40ms, deviation: 10ms}}
    {lognormal: {median: 40ms, p99: 400ms}}
    {histogram: {file: metrics.txt, cap: 10s}}    # a scrape of kube-proxy's /metrics; only where a metric of kube-proxy measures the delay

Actions are done in the order of their times; each has exactly one of the verbs below. ` + "`lameduck sim --list presets, profiles`" + ` and
` + "`assumptions`" + ` list the names and the defaults behind this page with their sources.
`

// sections are the parts of the page, by the beginnings of paths.
func sections() []struct{ title, prefix string } {
	return []struct{ title, prefix string }{
		{"The document", ""},
		{"spec.kubernetes and spec.nodes", "spec.nodes"},
		{"spec.latency", "spec.latency."},
		{"spec.apps.NAME", "spec.apps.NAME."},
		{"spec.loadBalancer", "spec.loadBalancer."},
		{"spec.ingress", "spec.ingress."},
		{"spec.traffic[]", "spec.traffic[]."},
		{"spec.actions[]", "spec.actions[]."},
		{"spec.expect", "spec.expect."},
	}
}

// section is the index of the part that a field belongs to.
func section(path string) int {
	if strings.HasPrefix(path, "spec.kubernetes.") {
		return 1
	}
	for i, s := range sections() {
		if i > 0 && strings.HasPrefix(path, s.prefix) {
			return i
		}
	}
	return 0
}

func reference() []byte {
	parts := make([]bytes.Buffer, len(sections()))
	for _, f := range scenario.Fields() {
		part, words := &parts[section(f.Path)], f.Type
		if f.Default != "" {
			words += "; default: " + f.Default
		}
		fmt.Fprintf(part, "- `%s`\n", f.Path)
		for line := range strings.Lines(wrap(f.About, 150) + wrap(words, 150)) {
			fmt.Fprintf(part, "  %s", line)
		}
	}
	var out bytes.Buffer
	out.WriteString(introduction)
	for i, s := range sections() {
		fmt.Fprintf(&out, "\n## %s\n\n%s", s.title, parts[i].String())
	}
	return out.Bytes()
}

// wrap breaks a text into lines, each with its end.
func wrap(text string, width int) string {
	var out strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			out.WriteByte('\n')
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	return out.String() + "\n"
}
