package manifest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// dump writes a tree with everything that matters about it.
func dump(n *node) string {
	var b strings.Builder
	var write func(n *node, indent string)
	write = func(n *node, indent string) {
		fmt.Fprintf(&b, "%s%d:%d %d plain=%t %q\n", indent, n.line, n.col, n.shape, n.plain, n.text)
		for i := range n.kids {
			write(&n.kids[i], indent+"  ")
		}
	}
	write(n, "")
	return b.String()
}

func FuzzSimpleYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb:\n- x\n- y: 2\n  z: 'it''s'\n",
		"---\n# c\na: |\n  text\n\n  more\nb: |-\n    x\n  # y\n",
		"a: [1, \"b\", {c: d}]  # e\nb: {}\nc: {e: [], f: [x y]}\n",
		"a:\n  b:\n    c: 10.0.0.1\n    d: http://x:80/y#z\n  e:\n",
		"- - a\n  - b\n-\n  - c\n- k: v\n  l:\n  - m\n",
		"ä: ö # ü\n\"k:\": \"a\\tb\"\n",
		"a: b: c\n", "\ta: 1\n", "a: 1\n b: 2\n", "x\n", "a: >\n  b\n", "a: &x 1\nb: *x\n",
		"a: \"\\r\\n\\t\\\\\\\"\"\n", "a: \"\\/\"\n", "a: \"\\x\"\n", "a: \"b\\\n", "a: [0, 9, az, AZ, 0z, -a]\nb: 0\n",
		"k: |\n\n\n  a\n   b\n\n\nl: 1\n", "- |\n a\n-  b : c\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(compareParsers)
}

// compareParsers fails when the simple parser accepts a text that the full one
// refuses or reads differently.
func compareParsers(t *testing.T, text string) {
	if docs := split(text); checkText(text, 1) != nil || len(docs) != 1 || docs[0].text != text {
		return
	}
	simple, gave := parseSimpleYAML(text, 1)
	if gave != nil {
		return
	}
	full, err := parseFullYAML(text, 1)
	if err != nil {
		t.Fatalf("the simple parser accepts what the full one refuses: %v\n%q\n%s", err, text, dump(simple))
	}
	if simple.isNull() && full.isNull() {
		return
	}
	if got, want := dump(simple), dump(full); got != want {
		t.Fatalf("%q\nsimple:\n%s\nfull:\n%s", text, got, want)
	}
}

// Random bytes seldom form YAML; random YAML tokens often do.
func TestSimpleParserAgreesWithTheFullOneOnRandomTokens(t *testing.T) {
	t.Parallel()
	tokens := []string{
		"a", "b", "key", "10", "\n", "\n", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "  ", " ", ": ", ": ", ":", ":\n", ":\n  ", ":\n    ", ":\n- ",
		"- ", "-", "|", "|\n", "|\n  ", "|-\n   ", "'", "\"", "'x'", "\"y\"", "'it''s'", "\"a\\n\"", "#", " # c", "[", "]", "{", "}", ", ", ",", "[a, b]", "{a: b}", "[]", "{}",
		"--- ", "---\n", "&a ", "*a", "!t ", "? ", "%", "@", "`", "ä", "~", "null", "<<: ", "\t", "...", ">\n ",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 15_000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(tokens[rng.IntN(len(tokens))])
		}
		compareParsers(t, b.String())
		if _, gave := parseSimpleYAML(b.String(), 1); gave == nil {
			accepted++
		}
	}
	if accepted < 300 {
		t.Errorf("only %d of the texts were simple; the test tests nothing", accepted)
	}
}
