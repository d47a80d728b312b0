package facts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/docs/model"
)

// reference is what sends a reader to a fact: the path of its page, and its section or the beginning of its heading. More sections
// may follow: "docs/model/kube-proxy.md 5.1 and 5.2".
var reference = regexp.MustCompile(`docs/model/([a-z-]+)\.md((?:(?: |, | and | to )\d+(?:\.\d+)*[a-z]?\b)*)`)

var section = regexp.MustCompile(`\d+(?:\.\d+)*[a-z]?`)

// headed is a reference with the beginning of a heading, which is a capital where it is no word of the sentence around it.
var headed = regexp.MustCompile(`docs/model/([a-z-]+)\.md (\d+(?:\.\d+)*[a-z]? [A-Z][\w-]*)`)

// referencesIn lists the sections that a text sends its reader to, as "kube-proxy 5.1".
func referencesIn(text string) []string {
	var out []string
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		for _, number := range section.FindAllString(m[2], -1) {
			out = append(out, m[1]+" "+number)
		}
	}
	return out
}

// sources calls do with each Go file and each page of the repository.
func sources(t *testing.T, do func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(name); d.IsDir() || ext != ".go" && ext != ".md" || strings.HasSuffix(name, "model/model_test.go") {
			return nil
		}
		data, err := os.ReadFile(name) // files of the repository
		if err == nil {
			do(name, string(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Where a comment or a table sends its reader, there are facts.
func TestReferencesAreFacts(t *testing.T) {
	t.Parallel()
	facts, n := modelled(t), 0
	sources(t, func(name, text string) {
		for _, id := range referencesIn(text) {
			if n++; len(model.Find(facts, id)) == 0 {
				t.Errorf("%s: there is no fact %s", name, id)
			}
		}
		for _, m := range headed.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(facts, func(f model.Fact) bool { return strings.HasPrefix(f.ID, m[1]+" "+m[2]) }) {
				t.Errorf("%s: no fact of %s begins with %q", name, m[1], m[2])
			}
		}
	})
	if n < 300 {
		t.Errorf("only %d references", n)
	}
}

// A fact is there because something refers to it: a mutant, or a comment that sends its reader to its section.
func TestEveryFactIsReferredTo(t *testing.T) {
	t.Parallel()
	facts := modelled(t)
	referred := map[string]bool{}
	for id := range breaking(t) { // order: a set
		referred[id] = true
	}
	sources(t, func(name, text string) {
		if filepath.Base(filepath.Dir(name)) == "model" {
			return // a page sends its reader to other facts, and to itself
		}
		for _, id := range referencesIn(text) {
			for _, f := range model.Find(facts, id) {
				referred[f.ID] = true
			}
		}
	})
	for _, f := range facts {
		if !referred[f.ID] {
			t.Errorf("%s:%d: nothing refers to %s", f.Page, f.Line, f.ID)
		}
	}
}

func TestReferencesIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // order: each for itself
		"(docs/model/kube-proxy.md 5.1 and 5.2)":                    "kube-proxy 5.1|kube-proxy 5.2",
		"docs/model/kube-proxy.md 1, 2, 2.1 and 11, which":          "kube-proxy 1|kube-proxy 2|kube-proxy 2.1|kube-proxy 11",
		"docs/model/pod-lifecycle.md 2d; docs/model/measured.md 1.": "pod-lifecycle 2d|measured 1",
		"docs/model/pod-lifecycle.md 2 to 4":                        "pod-lifecycle 2|pod-lifecycle 4",
		"docs/model/kube-proxy.md":                                  "",
		"docs/model/controllers.md 2 Recreate, 3 s":                 "controllers 2",
	} {
		if got := strings.Join(referencesIn(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
