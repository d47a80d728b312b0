package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// Where pieces of YAML stand: each piece in each of these.
var simplePlaces = []string{"%s\n", "k: %s\n", "- %s\n", "%s: v\n", "k: [%s]\n", "k: {a: %s}\n", "k: {%s: a}\n", "k:\n  %s\nl: v\n", "k: |\n  %s\nl: v\n", "- k: %s\n  l: v\n"}

var simplePieces = []string{
	"", "a", "a b", "  a", "a  ", "ä", "~", "a#b", "a #b", "# c", "a:b", "a: b", "a :b", "a:", "a : b", "a: b: c", ":", ": a", "-", "- a", "-a", "- - a", "-\ta", "--", "?", "? a",
	"&a b", "*a", "!a b", "|", "|-", "|+", "| # c", "|2", ">", "'a'", "'a''b'", "''", "'a", "'a' b", "'a' # c", "'a'#c", "'a''", `"a"`, `"a\nb\t\r\\\"c"`, `"a\qb"`, `"a\`, `"a\"`, `""`,
	`"a" b`, "[a, b]", "[a, b] c", "[a", "[]", "[ ]", "[a,]", "[,]", "[a b ]", "[ a ,b]", "[a: b]", "{a: b}", "{a: b} # c", "{a: b,}", "{}", "{a}", "{a:b}", "{a: }", "{<<: b}",
	"{'a': \"b\"}", `"a":b`, `"a": b`, `'a':`, `"a\q": b`, `"a: b`, "[[a], {b: [c, 'd']}]", "[a-b, c%d, e@f, -g, %h, @i]", "a]", "a}", "%a", "@a", "`a`", "\ta", "a\tb", "a\t", "{{ a }}", "<<", "<<a", "---", "--- a", "...", "a\n  b", "a\n b", "a\nb",
	"a:\n  b: c", "a:\n- b", "\u2028", "\u00a0", "\ufeff", "\ud7ff", "\uffff", "\U0001f600", "\u0085", "\x7f", "a\r", "a\r\nb: c",
}

// Texts of several lines.
var simpleTexts = []string{
	"", "\n", "# c\n", "\n\n  # c\n\na: b\n\n# d\n", "---\na: b\n", "--- \na: b\n", "---\t\na: b\n", "--- # c\na: b\n", "---a: b\n", "---", "---\n", "a: b\n---\n", "a: b\n...\n", "a: b\n.a: c\n", "a: b\n-a: c\n",
	"a:\n  b:\n    c: d\n  e:\n\nf:\n", "a:\n  b: c\n d: e\n", "a:\n    b: c\n  d: e\n", "a: b\n  c: d\n", " a: b\n c: d\n", " a: b\nc: d\n", "a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n", "a:\n  - b\n - c\n",
	"- a\n- b\n", "- a\nb: c\n", "a: b\n- c\n", "-\n- a\n-\n  - b\n", "- a: b\n  c: d\n- e: f\n", "- a: b\n c: d\n", "- a: b\n   c: d\n", "-   a: b\n    c: d\n", "- - a\n  - b\n- c\n", "-\n  a: b\n", "-\na: b\n", "- # c\n  a: b\n",
	"a: # c\n  b: d\n", "a: #c\n", "a:#c\n", "a:  b  # c\n", "\ta: b\n", "a:\n\tb: c\n", "a:\n \t\n", "a:\n \t# c\n", "a: b\n\t\n", "a: b\n\n", "a: b", "a:", "a: b\nc", "a: 'b\n  c'\n", "a: [b,\n  c]\n", "'a': b\n\"c\": d\n", "'a' : b\n", "a : b\n",
	"a: |\n  b\n  c\n", "a: |\n  b", "a: |\n  b\n\n\n  c\n\n\nd: e\n", "a: |-\n  b\n\n", "a: |\n\n\n  b\n", "a: |\n   \n  b\n", "a: |\n  \n  b\n", "a: |\n \n  b\n", "a: |\n  b\n   c\n  \n d: e\n", "a: |\n    b\n  c\n", "a: |\nb: c\n", "a: |\n", "a: |\n\n", "a: |",
	"a: |\n\tb\n", "a: |\n  b\n\tc\n", "a: |\n  b\n  \tc\n", "a: |\n  # b\n# c\n", "a: |\n  b\n c\n", "- |\n a\n-  b: c\n", "- |\n a\n b\n", "-   |\n a\n", "- a: |\n   b\n  c: d\n", "- a: |\n  b\n", "a:\n  b: |\n  c\n", "a:\n  b: |\n   c\n", "a: |\n  b  \n  c\t\n", "a: | \n  b\n", "a: |-x\n  b\n",
	"a: b\r\nc: d\r\n", "a: |\r\n  b\r\n  c\r\n", "a: ä # ü\nö: 'ß' # x\nb:\n- ü: [ö, ä]\n", "{a: b}\n", "[a]\n", "{a: b}\nc: d\n", "a: {b: c}\nd: [e]\n", "a: [b] # c\n", "a: [b]#c\n", "{{ a }}\n", "a: {{ b }}\n", "b: c\n{{ a }}\n", "a: b\n  # c\nd: e\n", "a:\n  b\nc: d\n",
}

// compact writes a tree with everything that matters about it in one line.
func compact(n *node) string {
	at := fmt.Sprintf("%d:%d", n.line, n.col)
	var kids []string
	for i := range n.kids {
		kids = append(kids, compact(&n.kids[i]))
	}
	switch {
	case n.shape == mapping:
		return at + "{" + strings.Join(kids, " ") + "}"
	case n.shape == sequence:
		return at + "[" + strings.Join(kids, " ") + "]"
	case n.plain:
		return at + "`" + n.text + "`"
	}
	return fmt.Sprintf("%s%q", at, n.text)
}

// What the simple parser makes of each text, or where it gives up, is kept in testdata/simple.txt; what it makes of it is what the
// full one does.
func TestSimpleYAMLTable(t *testing.T) {
	t.Parallel()
	texts := append([]string{}, simpleTexts...)
	for _, piece := range simplePieces {
		for _, place := range simplePlaces {
			texts = append(texts, fmt.Sprintf(place, piece))
		}
	}
	var out strings.Builder
	for _, text := range texts {
		compareParsers(t, text)
		root, gave := parseSimpleYAML(text, 1)
		if gave == nil {
			fmt.Fprintf(&out, "%q  %s\n", text, compact(root))
			continue
		}
		fmt.Fprintf(&out, "%q  gives up at %d:%d", text, gave.line, gave.col)
		if gave.malformed {
			fmt.Fprintf(&out, ": %s", gave.message)
		}
		out.WriteString("\n")
	}
	golden.Compare(t, "testdata/simple.txt", out.String(), *update)
}

// Keys of up to 1000 characters are simple: YAML allows 1024, and counts the quotes.
func TestLongKeysAreLeftToTheFullParser(t *testing.T) {
	t.Parallel()
	for n := 997; n <= 1027; n++ {
		for quote, simple := range map[string]bool{"": n <= 1000, "'": n <= 998} {
			text := quote + strings.Repeat("k", n) + quote + ": v\n"
			compareParsers(t, text)
			if _, gave := parseSimpleYAML(text, 1); (gave == nil) != simple {
				t.Errorf("a key of %d and %q: simple %t, want %t", n, quote, gave == nil, simple)
			}
		}
	}
}

// What is nested deeper than maxDepth is left to the full parser, which says so.
func TestDeepTextsAreLeftToTheFullParser(t *testing.T) {
	t.Parallel()
	for n := maxDepth - 3; n <= maxDepth+3; n++ {
		for name, text := range map[string]string{
			"items":    strings.Repeat("- ", n) + "a\n",
			"lists":    "a: " + strings.Repeat("[", n-1) + "a" + strings.Repeat("]", n-1) + "\n",
			"mappings": strings.Repeat("- ", n-1) + "a: b\n",
		} {
			compareParsers(t, text)
			if _, gave := parseSimpleYAML(text, 1); (gave == nil) != (n < maxDepth) {
				t.Errorf("%d %s: gives up: %v", n, name, gave)
			}
			if _, err := parseYAML(text, 1); (err == nil) != (n <= maxDepth) {
				t.Errorf("%d %s: %v", n, name, err)
			}
		}
	}
}
