package manifest

import (
	"fmt"
	"slices"
	"testing"
)

const positioned = `# a comment
apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
    app.kubernetes.io/name: web
    "quoted key": yes-sir
spec:
  selector:
    app: web
  ports:
  - name: http
    port: 80
  - name: bad
    port: 0
  - name: https
    port: 443
    nodePort:
  externalIPs: [ 203.0.113.1, 203.0.113.2 ]
`

func TestPositionsOfFields(t *testing.T) {
	t.Parallel()
	objects, _ := Load([]File{{"web.yaml", []byte(positioned)}}, Options{})
	o := objects.All[0]
	for _, tt := range []struct{ name, path, at, valueAt string }{
		{"the object", "", "2:1", "2:1"},
		{"a field", "spec.ports[0].port", "14:5", "14:11"},
		{"a mapping", "spec.selector", "10:3", "10:3"},
		{"a list", "spec.ports", "12:3", "12:3"},
		{"a list item", "spec.ports[0]", "13:5", "13:5"},
		{"a list item behind one that Load removed", "spec.ports[1].port", "18:5", "18:11"},
		{"an item of a list in brackets", "spec.externalIPs[1]", "20:31", "20:31"},
		{"a label", `metadata.labels["app.kubernetes.io/name"]`, "7:5", "7:29"},
		{"a quoted label", `metadata.labels["quoted key"]`, "8:5", "8:19"},
		{"a field without a value", "spec.ports[1].nodePort", "19:5", "19:5"},
		{"a defaulted field", "spec.ports[0].targetPort", "13:5", "13:5"},
		{"a field of something absent", "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "9:1", "9:1"},
		{"an item past the end", "spec.ports[7].port", "12:3", "12:3"},
		{"an item of something that is no list", "spec.selector[0]", "10:3", "10:3"},
		{"a part that is absent at the top", "status.loadBalancer", "2:1", "2:1"},
		{"a malformed path", "spec.ports[x].port", "12:3", "12:3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := o.At(tt.path).String(); got != "web.yaml:"+tt.at {
				t.Errorf("At(%s) = %s, want %s", tt.path, got, tt.at)
			}
			if got := o.ValueAt(tt.path).String(); got != "web.yaml:"+tt.valueAt {
				t.Errorf("ValueAt(%s) = %s, want %s", tt.path, got, tt.valueAt)
			}
		})
	}
	for path, want := range map[string]bool{"spec.ports[0].port": true, "spec.ports[0].targetPort": false, "spec.ports[1].nodePort": false, "spec.ports[2]": false, "": true} {
		if got := o.Has(path); got != want {
			t.Errorf("Has(%q) = %t, want %t", path, got, want)
		}
	}
}

// Only a mapping has fields.
func TestFieldsOfWhat(t *testing.T) {
	t.Parallel()
	objects, _ := Load([]File{{"web.yaml", []byte(positioned)}}, Options{})
	for path, want := range map[string][]string{ // order: each for itself
		"": {"apiVersion", "kind", "metadata", "spec"}, "metadata": {"name", "labels"}, "spec.ports[1]": {"name", "port", "nodePort"},
		"spec.ports": nil, "spec.externalIPs": nil, "metadata.name": nil, "spec.ports[7]": nil, "spec.selector.role": nil, "status": nil,
	} {
		if got := objects.All[0].Fields(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// The nearest part of a path is what a field that is missing is put below.
func TestTheNearestPartOfAPathIsThere(t *testing.T) {
	t.Parallel()
	objects, _ := Load([]File{{"web.yaml", []byte(positioned)}}, Options{})
	for path, want := range map[string]string{ // order: each for itself
		"spec.ports[0].port":                      "spec.ports[0].port",
		"spec.ports[1].nodePort":                  "spec.ports[1]",
		"spec.sessionAffinityConfig.clientIP":     "spec",
		"spec.ports[7].port":                      "spec.ports",
		`metadata.labels["app.kubernetes.io/of"]`: "metadata.labels",
		"status.loadBalancer":                     "",
		"":                                        "",
	} {
		if got := objects.All[0].Nearest(path); got != want {
			t.Errorf("Nearest(%s) = %q, want %q", path, got, want)
		}
	}
	if got := fmt.Sprintf("%q", Steps(`spec.ports[1]["a.b"]`)); got != `["spec" "ports" '\x01' "a.b"]` {
		t.Errorf("steps %s", got)
	}
}

// A path is read up to what cannot be read.
func TestWhatOfAPathIsRead(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{ // order: each for itself
		"": "[]", "a": `["a"]`, "a.b": `["a" "b"]`, ".a": `["a"]`, "a..b": `["a" "b"]`, "a.": `["a"]`, "a[0]": `["a" '\x00']`, "[1][2]": `['\x01' '\x02']`,
		`a["b.c"].d`: `["a" "b.c" "d"]`, `a["b]"]`: `["a" "b]"]`, `a[""]`: `["a" ""]`, `a["b"`: `["a"]`, `a["b`: `["a"]`, `a["b"x].c`: `["a"]`, "a[": `["a"]`, "a[1": `["a"]`, "a[x].b": `["a"]`,
		"a[]": `["a"]`, "a]b": `["a]b"]`, "a b": `["a b"]`,
	} {
		if got := fmt.Sprintf("%q", Steps(path)); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	for name, want := range map[string]string{ // order: each for itself
		"a": "a", "aZ09-_": "aZ09-_", "a.b": `["a.b"]`, "/": `["/"]`, ":": `[":"]`, "@": `["@"]`, "[": `["["]`, "`": "[\"`\"]", "{": `["{"]`, "^": `["^"]`, "": `[""]`, "z": "z", "A": "A", "0": "0", "9": "9",
	} {
		if got := renderPath([]step{{name: name, key: true}}); got != want {
			t.Errorf("key %q: %s, want %s", name, got, want)
		}
	}
}

func TestPathsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, steps := range [][]step{
		{},
		{{name: "spec"}, {name: "ports"}, {index: 12}, {name: "nodePort"}},
		{{name: "metadata"}, {name: "labels"}, {name: "app.kubernetes.io/name", key: true}},
		{{name: "metadata"}, {name: "labels"}, {name: "a\"]b", key: true}, {name: "x"}},
		{{name: "metadata"}, {name: "labels"}, {name: "", key: true}},
		{{index: 0}, {index: 1}},
	} {
		path := renderPath(steps)
		if again := renderPath(parsePath(path)); again != path {
			t.Errorf("%q is read as %q", path, again)
		}
		if len(parsePath(path)) != len(steps) {
			t.Errorf("%q has %d steps, want %d", path, len(parsePath(path)), len(steps))
		}
	}
}

// Positions of removed items must not move those of another object that shares
// the list through an alias.
func TestRemovalLeavesAliasesAlone(t *testing.T) {
	t.Parallel()
	objects, problems := Load([]File{{"in.yaml", []byte(`apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: a}
  spec: &spec
    ports:
    - {name: bad, port: 0}
    - {name: good, port: 80}
- apiVersion: example.com/v1
  kind: Other
  spec: *spec
- apiVersion: v1
  kind: Service
  metadata: {name: b}
  spec: *spec
`)}}, Options{})
	if len(problems) != 2 || len(objects.Services) != 2 {
		t.Fatalf("%d services, %v", len(objects.Services), problems)
	}
	for _, s := range objects.Services {
		if got := s.At("spec.ports[0].name").String(); got != "in.yaml:10:8" {
			t.Errorf("%v: ports[0].name is at %s", s, got)
		}
		if n := len(s.Value.Spec.Ports); n != 1 {
			t.Errorf("%v has %d ports", s, n)
		}
	}
	for _, p := range problems {
		if p.Line != 9 || p.Column != 25 {
			t.Errorf("%v", p)
		}
	}
}

func TestDecodeARawObject(t *testing.T) {
	t.Parallel()
	objects, problems := Load([]File{{"s.yaml", []byte(`apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  nodes: many
  zones: [a, b]
  sed: 3
`)}}, Options{})
	if len(problems) > 0 || len(objects.Scenarios) != 1 {
		t.Fatalf("%v", problems)
	}
	var into struct {
		Spec struct {
			Nodes int      `json:"nodes"`
			Zones []string `json:"zones"`
			Seed  int      `json:"seed"`
		} `json:"spec"`
	}
	into.Spec.Seed = 7
	got := ""
	for _, p := range objects.Scenarios[0].Decode(&into) {
		got += p.Severity.String() + ": " + p.Error() + "\n"
	}
	const want = `error: s.yaml:5:10: Scenario s: spec.nodes: expected a whole number, got the string "many"
warning: s.yaml:7:3: Scenario s: spec.sed: unknown field, ignored; did you mean seed?
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if into.Spec.Seed != 7 || len(into.Spec.Zones) != 2 {
		t.Errorf("decoded %+v", into)
	}
}
