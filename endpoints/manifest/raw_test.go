package manifest

import (
	"reflect"
	"testing"
)

func TestRawKnowsWhereItsFieldsStand(t *testing.T) {
	t.Parallel()
	o, problems := Raw(File{Name: "in.yaml", Data: []byte("# data\n---\nrows:\n- {a: 1}\n- a: two # of them\n")})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]any{"rows": []any{map[string]any{"a": int64(1)}, map[string]any{"a": "two"}}}
	if !reflect.DeepEqual(o.Value, want) {
		t.Errorf("got %v", o.Value)
	}
	if at := o.ValueAt("rows[1].a").String(); at != "in.yaml:5:6" {
		t.Errorf("it is at %s", at)
	}
}

func TestRawIsOneMapping(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // order: each for itself
		"":                    "in.yaml:1:1: expected a mapping, got nothing",
		"# nothing\n":         "in.yaml:1:1: expected a mapping, got nothing",
		"[1]":                 "in.yaml:1:1: expected a mapping, got a list",
		"a: 1\n---\nb: 2\n":   "in.yaml:3:1: expected one document, got 2",
		"a: 1\na: 2\n":        "in.yaml:2:1: a: duplicate key, first given on line 1",
		"a: b: c\n":           "in.yaml:1:5: a second colon on this line; put a value that holds ': ' in quotes",
		"a: \"\xff\"\n":       "in.yaml:1:5: invalid UTF-8; save the file as UTF-8",
		"a: 1\n---\n# more\n": "",
	} {
		o, problems := Raw(File{Name: "in.yaml", Data: []byte(text)})
		got := ""
		if len(problems) > 0 {
			got = problems[0].Error()
		}
		if got != want || (o == nil) != (want != "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
