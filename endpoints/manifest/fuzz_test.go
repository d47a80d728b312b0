package manifest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// accounted is how much a loader has to show for what it read.
func (l *loader) accounted() int {
	n := len(l.objects) + len(l.problems) + l.unlisted
	for _, count := range l.skipped {
		n += count
	}
	return n
}

// empty reports whether a document may leave no trace: a null, or a list
// without items.
func empty(n *node) bool {
	if n.isNull() {
		return true
	}
	_, items := n.value("items")
	if items == nil || items.isNull() {
		return isList(kindTable(), n.str("apiVersion"), n.str("kind")) || n.shape == mapping && n.str("kind") == ""
	}
	for i := range items.kids {
		if !empty(&items.kids[i]) {
			return false
		}
	}
	return true
}

func FuzzLoad(f *testing.F) {
	paths, _ := filepath.Glob("testdata/load/*.txt")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range bytes.Split(data, []byte("\n=== ")) {
			input, _, _ := bytes.Cut(c, []byte("\n----\n"))
			if _, input, ok := bytes.Cut(input, []byte("\n")); ok {
				f.Add(input)
			}
		}
	}
	f.Add(cluster(2, true))
	f.Add(bytes.ReplaceAll(cluster(1, false), []byte("\n"), []byte("\r\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkNothingIsLost(t, string(data))
		objects, problems := Load([]File{{"x", data}}, Options{})
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Fatalf("problem without a place: %#v", p)
			}
		}
		checkFixpoint(t, objects)
	})
}

// checkNothingIsLost loads document by document: each must become an object, a
// skipped count or a problem, unless it is empty.
func checkNothingIsLost(t *testing.T, text string) {
	t.Helper()
	l := newLoader(Options{})
	covered := 0
	for _, doc := range split(text) {
		covered += len(doc.text)
		before := l.accounted()
		l.document(doc, false)
		if l.accounted() != before || doc.content() == "" {
			continue
		}
		if roots, err := parseJSON(doc.text, doc.line); err == nil {
			for _, root := range roots {
				if !empty(root) {
					t.Fatalf("lost: %q", doc.text)
				}
			}
			continue
		}
		if root, err := parseYAML(doc.text, doc.line); err != nil || !empty(root) {
			t.Fatalf("lost: %q (%v)", doc.text, err)
		}
	}
	if covered > len(text) {
		t.Fatalf("the documents of %q overlap", text)
	}
}

// checkFixpoint writes the objects out and loads them again: nothing may change,
// for they are defaulted and well-formed.
func checkFixpoint(t *testing.T, objects *Objects) {
	t.Helper()
	var text []byte
	var want [][]byte
	for _, o := range objects.All {
		data, err := json.Marshal(o.Value)
		if err != nil {
			return // a raw value may be .nan, which JSON does not have
		}
		want = append(want, data)
		text = append(append(text, data...), '\n')
	}
	again, problems := Load([]File{{"again", text}}, Options{})
	if HasErrors(problems) {
		t.Fatalf("%s\ncannot be read again: %v", text, problems)
	}
	if len(again.All) != len(want) {
		t.Fatalf("%d objects become %d: %s\n%v", len(want), len(again.All), text, problems)
	}
	for i, o := range again.All {
		if data, err := json.Marshal(o.Value); err != nil || !bytes.Equal(data, want[i]) {
			t.Fatalf("changes when read again (%v):\n%s\n%s", err, want[i], data)
		}
	}
}

// Random bytes seldom make an object. This puts odd values and fields into good
// manifests instead.
func TestMutatedManifestsAreReadAndReachAFixpoint(t *testing.T) {
	t.Parallel()
	var inputs []string
	paths, _ := filepath.Glob("testdata/load/*.txt")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split(string(data), "\n=== ") {
			input, _, _ := strings.Cut(c, "\n----\n")
			_, input, _ = strings.Cut(input, "\n")
			inputs = append(inputs, input+"\n")
		}
	}
	inputs = append(inputs, positioned, string(cluster(2, true)))
	odd := []string{
		"null", "~", "\"\"", "0", "-1", "70000", "1.5", "1e3", "0x10", "010", "true", "yes", "[]", "{}", "[a]", "{a: b}", "a", "\"80\"", "None",
		"10.0.0.1", "\"2001:db8::1\"", "10.0.0.0/8", "25%", "200%", "TCP", "Local", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "IPv4", "IPv6",
		"[10.0.0.1, \"::1\", x]", "[IPv6, IPv4]", "[{port: 80}, {port: 80}]", "2026-01-31T12:00:00Z", "30s", "500m", "-", ":", "|", "&a x", "*a", "!!str 1", "!!int \"1\"",
	}
	rng := rand.New(rand.NewPCG(5, 6))
	objects := 0
	for range 1000 {
		lines := strings.Split(inputs[rng.IntN(len(inputs))], "\n")
		for range 1 + rng.IntN(4) {
			i := rng.IntN(len(lines))
			key, _, ok := strings.Cut(lines[i], ": ")
			switch {
			case rng.IntN(6) == 0:
				lines = slices.Delete(slices.Clone(lines), i, i+1)
			case ok:
				lines[i] = key + ": " + odd[rng.IntN(len(odd))]
			}
			if len(lines) == 0 {
				break
			}
		}
		text := strings.Join(lines, "\n")
		checkNothingIsLost(t, text)
		read, _ := Load([]File{{"x", []byte(text)}}, Options{})
		objects += len(read.All)
		checkFixpoint(t, read)
		if t.Failed() {
			return
		}
	}
	if objects < 500 {
		t.Errorf("only %d objects were read; the test tests nothing", objects)
	}
}
