package edit

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// A place that cannot be told from its line is refused, with where it is.
func TestTextRefusesWhatItCannotPlace(t *testing.T) {
	t.Parallel()
	const text = "spec:\n  strategy: {type: Recreate}\n  replicas: 1\n"
	for want, e := range map[string]Edit{ // order: each for itself
		"in.yaml:2: spec.strategy.type: it stands in braces, or its value has a # in it: change it by hand": {Path: "spec.strategy.type", At: "spec.strategy.type", To: Value{YAML: "RollingUpdate"}, Line: 2},
		"in.yaml:3: spec.paused: there is no single paused on this line":                                    {Path: "spec.paused", At: "spec.paused", To: Value{YAML: "true"}, Line: 3},
		"in.yaml:9: spec.replicas: there is no such line":                                                   {Path: "spec.replicas", At: "spec.replicas", To: Value{YAML: "2"}, Line: 9},
	} {
		e.File = "in.yaml"
		if _, err := Text([]byte(text), []Edit{e}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// The last line has no end, and a script below the field has a line that looks like a comment.
	const script = "spec:\n- name: web\n  args:\n  - |\n    a\n    # no comment"
	hook := Edit{Path: "spec[0].lifecycle.preStop", At: "spec[0]", To: Value{YAML: "{}"}, Line: 2}
	if got, err := Text([]byte(script), []Edit{hook}); err != nil || string(got) != script+"\n  lifecycle:\n    preStop: {}" {
		t.Errorf("%v: %q", err, got)
	}
	got, err := Text([]byte(text), []Edit{{Path: "spec.replicas", At: "spec.replicas", To: Value{YAML: "2"}, Line: 3}})
	if want := strings.Replace(text, "replicas: 1", "replicas: 2", 1); err != nil || string(got) != want {
		t.Errorf("%v: %s", err, got)
	}
}

// Below a name with which the text ends there is nothing to tell a place from.
func TestWithRefusesWhatIsBelowTheLastName(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", " ", "\n", " \n"} {
		text := "apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}\nmetadata:\n  name: web\n  labels:" + end
		got, err := With([]byte(text), loaded(t, text), "metadata.labels.a", Value{YAML: "b"})
		if err == nil || !strings.HasPrefix(err.Error(), "web.yaml:6: metadata.labels.a: ") {
			t.Errorf("%q: %q, %v", end, got, err)
		}
	}
}

// A position that a text does not have is no place in it.
func TestAPositionOutsideOfATextIsNoPlace(t *testing.T) {
	t.Parallel()
	text := "a: 1\nü: 2\nc"
	for p, want := range map[manifest.Position]int{
		{Line: 1, Column: 1}: 0, {Line: 1, Column: 4}: 3, {Line: 2, Column: 1}: 5, {Line: 2, Column: 2}: 7, {Line: 3, Column: 1}: 11,
		{Line: 1, Column: 6}: -1, {Line: 3, Column: 2}: -1, {Line: 3, Column: 9}: -1, {Line: 4, Column: 1}: -1,
	} { // order: each by itself
		if at, ok := offset([]byte(text), p); ok != (want >= 0) || ok && at != want {
			t.Errorf("%v: %d, %v, want %d", p, at, ok, want)
		}
	}
}

// A field in braces ends at the comma behind it, or at their end; what stands in quotes and in braces or brackets of its own is passed over.
func TestWhereAFieldInBracesEnds(t *testing.T) {
	t.Parallel()
	for text, rest := range map[string]string{
		"a: 1}":                 "}",
		"a: 1, b: 2}":           ", b: 2}",
		"a: 1]":                 "]",
		"a: [1, 2], b: 2}":      ", b: 2}",
		"a: [[1, 2], [3]], b}":  ", b}",
		"a: {b: 1, c: [d]}, e}": ", e}",
		"a: {b: 1, c: 2}}":      "}",
		`a: "}, ]", b: 2}`:      ", b: 2}",
		`a: "\"}", b: 2}`:       ", b: 2}",
		"a: '[{', b: 2}":        ", b: 2}",
		"a: {b: 1":              "",
		"":                      "",
	} {
		end, err := flowEnd([]byte("{"+text), 1)
		if got := ("{" + text)[end:]; err == nil && got != rest || (err == nil) != (rest != "") {
			t.Errorf("%s: ends before %q, %v, want %q", text, got, err, rest)
		}
	}
}

// Where the value of a field ends, and its own fields begin: as deep as they are written, or two columns in where it has none.
func TestWhereTheValueOfAFieldEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{ // the column and the line
		"a:\n  b: 1\n  c: 2\nd: 3":        {2, 3},
		"a:\n    b: 1\n    c: 2\nd: 3":    {4, 3},
		"a:\n- b\n- c\nd: 3":              {0, 3},
		"a:\n\nd: 3":                      {2, 1},
		"a:\n    # of b\n    b: 1\n---":   {4, 3},
		"a:\n   b:\n     c: 1\n# of d\nd": {3, 3},
	} {
		if column, end := blockBelow(strings.Split(text, "\n"), 0, 0); column != want[0] || end != want[1] {
			t.Errorf("%q: column %d, line %d, want %v", text, column, end, want)
		}
	}
}

// A field is taken out with the one that it stands in where that would be empty, as far up as that goes: not with an item of a list, nor with
// one that has something else.
func TestWithoutAField(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n"
	for _, c := range []struct{ name, path, text, want string }{
		{"one of two", "spec.sessionAffinity", "  ports: [{port: 80}]\n  sessionAffinity: ClientIP\n  clusterIP: None\n", "  ports: [{port: 80}]\n  clusterIP: None\n"},
		{"the last of two", "spec.sessionAffinity", "  ports: [{port: 80}]\n  clusterIP: None\n  sessionAffinity: ClientIP\n", "  ports: [{port: 80}]\n  clusterIP: None\n"},
		{"one that is not there", "spec.sessionAffinity", "  ports: [{port: 80}]\n  clusterIP: None\n", "  ports: [{port: 80}]\n  clusterIP: None\n"},
		{"with all that is below it", "spec.sessionAffinityConfig", "  ports: [{port: 80}]\n  sessionAffinityConfig:\n    clientIP:\n      timeoutSeconds: 9\n  sessionAffinity: ClientIP\n", "  ports: [{port: 80}]\n  sessionAffinity: ClientIP\n"},
		{"with those that it alone is in", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "  ports: [{port: 80}]\n  sessionAffinityConfig:\n    clientIP:\n      timeoutSeconds: 9\n  sessionAffinity: ClientIP\n", "  ports: [{port: 80}]\n  sessionAffinity: ClientIP\n"},
		{"one of two below", "spec.selector.app", "  ports: [{port: 80}]\n  selector:\n    app: web\n    tier: front\n  sessionAffinity: ClientIP\n", "  ports: [{port: 80}]\n  selector:\n    tier: front\n  sessionAffinity: ClientIP\n"},
		{"one of an item", "spec.ports[0].name", "  ports:\n  - port: 80\n    name: http\n", "  ports:\n  - port: 80\n"},
		{"the only one of an item", "spec.ports[0].port", "  ports:\n  - port: 80\n", ""},
		{"the first one of an item", "spec.ports[0].port", "  ports:\n  - port: 80\n    name: http\n", ""},
		{"in braces, the first", "spec.selector.app", "  ports: [{port: 80}]\n  selector: {app: web, tier: front}\n", "  ports: [{port: 80}]\n  selector: {tier: front}\n"},
		{"in braces, the last", "spec.selector.tier", "  ports: [{port: 80}]\n  selector: {app: web, tier: front}\n", "  ports: [{port: 80}]\n  selector: {app: web}\n"},
		{"in braces, the only one", "spec.selector.app", "  ports: [{port: 80}]\n  selector: {app: web}\n  sessionAffinity: ClientIP\n", "  ports: [{port: 80}]\n  sessionAffinity: ClientIP\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Without([]byte(head+c.text), loaded(t, head+c.text), c.path)
			if c.want == "" {
				if err == nil {
					t.Errorf("%q, and no error", got)
				}
				return
			}
			if err != nil || string(got) != head+c.want {
				t.Errorf("%v: %q, want %q", err, strings.TrimPrefix(string(got), head), c.want)
			}
		})
	}
}

// A field is written where its object has it, in lines or in braces, and with what is missing above it where not: all else stays, and what is read
// again has it.
func TestWithAField(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n"
	for _, c := range []struct{ name, path, to, text, want string }{
		{"a value", "spec.ports[0].port", "81", "  ports:\n  - port: 80 # to all\n    name: http\n", "  ports:\n  - port: 81 # to all\n    name: http\n"},
		{"a value in quotes", "spec.ports[0].name", "web", "  ports:\n  - port: 80\n    name: \"http\"\n", "  ports:\n  - port: 80\n    name: web\n"},
		{"a value in braces", "spec.ports[0].port", "81", "  ports: [{port: 80, name: http}]\n", "  ports: [{port: 81, name: http}]\n"},
		{"the last one in braces", "spec.ports[0].port", "81", "  ports: [{name: http, port: 80}]\n", "  ports: [{name: http, port: 81}]\n"},
		{"a line more", "spec.ports[0].nodePort", "30001", "  ports:\n  - port: 80\n", "  ports:\n  - port: 80\n    nodePort: 30001\n"},
		{"in braces, one more", "spec.ports[0].nodePort", "30001", "  ports: [{port: 80}]\n", "  ports: [{nodePort: 30001, port: 80}]\n"},
		{"in braces, with those above", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "9", "  sessionAffinity: ClientIP\n  sessionAffinityConfig: {}\n  ports: [{port: 80}]\n",
			"  sessionAffinity: ClientIP\n  sessionAffinityConfig: {clientIP: {timeoutSeconds: 9}}\n  ports: [{port: 80}]\n"},
		{"braces on the next line", "spec.selector.tier", "front", "  ports: [{port: 80}]\n  selector:\n    {app: web}\n", "  ports: [{port: 80}]\n  selector:\n    {tier: front, app: web}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := With([]byte(head+c.text), loaded(t, head+c.text), c.path, Value{YAML: c.to})
			if err != nil || string(got) != head+c.want {
				t.Fatalf("%v: %q, want %q", err, strings.TrimPrefix(string(got), head), c.want)
			}
			if !loaded(t, string(got)).Has(c.path) {
				t.Error("read again it is not there")
			}
		})
	}
}
