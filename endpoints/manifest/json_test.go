package manifest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// sameJSON compares a tree with what encoding/json makes of the same text.
func sameJSON(n *node, want any) bool {
	switch want := want.(type) {
	case nil:
		return n.isNull()
	case bool:
		return n.shape == scalar && n.plain && n.text == map[bool]string{true: "true", false: "false"}[want]
	case json.Number:
		return n.shape == scalar && n.plain && n.text == want.String()
	case string:
		return n.shape == scalar && !n.plain && n.text == want
	case []any:
		if n.shape != sequence || len(n.kids) != len(want) {
			return false
		}
		for i := range want {
			if !sameJSON(&n.kids[i], want[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		return n.shape == mapping && sameMembers(n, want)
	}
	return false
}

func sameMembers(n *node, want map[string]any) bool {
	for name, w := range want {
		if _, v := n.value(name); v == nil || !sameJSON(v, w) {
			return false
		}
	}
	for i := 0; i < len(n.kids); i += 2 {
		if _, ok := want[n.kids[i].text]; !ok {
			return false
		}
	}
	return true
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -0.5e+3, true, false, null, "x"], "b": {}, "c": [], "d": {"e": [[]]}}`,
		`"\u00e9\ud83d\ude00\ud83d\\\/\b\f\n\r\t\""`, `[1,]`, `{"a" 1}`, `01`, `-`, `1.`, `.5`, `1e`, `tru`, `nullx`, "\"\t\"", `"\x"`, `"\u12"`, `{"a": 1, "a": 2}`, ` [ ] `, `{`, `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Comments between values, and more than one, are extensions.
		if !utf8.ValidString(text) || strings.Contains(text, "#") || strings.Count(text, "[")+strings.Count(text, "{") > maxDepth {
			return
		}
		roots, err := parseJSON(text, 1)
		if valid := json.Valid([]byte(text)); !valid {
			if err == nil && len(roots) == 1 {
				t.Fatalf("accepts %q", text)
			}
			return
		}
		if err != nil || len(roots) != 1 {
			t.Fatalf("refuses %q: %v", text, err)
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !sameJSON(roots[0], want) {
			t.Fatalf("reads %q as\n%s", text, dump(roots[0]))
		}
	})
}
