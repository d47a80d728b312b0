package facts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mutantsEnv says how many mutants are tried, spread over the table, or "all" of them.
const mutantsEnv = "LAMEDUCK_MUTANTS"

// root is the repository, seen from this package.
const root = "../.."

// TestMutants seeds one mistake at a time and runs the tests that have to notice it.
func TestMutants(t *testing.T) {
	t.Parallel()
	value := os.Getenv(mutantsEnv)
	if value == "" {
		t.Skipf("builds a test for each mutant: make mutants, or %s=all", mutantsEnv)
	}
	all := mutants()
	n, err := strconv.Atoi(value)
	if value == "all" {
		n, err = len(all), nil
	}
	if err != nil {
		t.Fatalf("%s=%s: want a number, or all", mutantsEnv, value)
	}
	n = min(n, len(all))
	for i := range n {
		m := all[i*len(all)/n]
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			out, err := trial(t, m)
			switch {
			case err == nil:
				t.Errorf("survived %s of %s", m.run, m.pkg)
			case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") || !strings.Contains(out, "FAIL"):
				t.Errorf("no test failed: %v\n%s", err, out)
			}
		})
	}
}

// quickly are the flags with which a test is built in the least time: it is run once, and nearly
// all of a trial goes into compiling and linking.
var quickly = []string{"-vet=off", "-ldflags=-s -w", "-gcflags=-N -l -dwarf=false"}

// trial runs the tests that have to notice a mutant and returns what they print.
func trial(t *testing.T, m mutant) (string, error) {
	t.Helper()
	args := append(slices.Clone(quickly), "-count=1", "-timeout", "2m", "-overlay", overlay(t, m.edits), "-run", m.run, "./"+m.pkg)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// overlay writes the edited files, and the list that tells the go command to read them in place
// of the originals.
func overlay(t *testing.T, edits []edit) string {
	t.Helper()
	texts, err := edited(edits)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range texts {
		path, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return list
}

// edited returns the texts of the edited files by name.
func edited(edits []edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		if _, ok := texts[e.file]; !ok {
			text, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			texts[e.file] = string(text)
		}
		if n := strings.Count(texts[e.file], e.old); n != 1 {
			return nil, fmt.Errorf("stale mutant: %q occurs %d times in %s, want once", e.old, n, e.file)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.old, e.new, 1)
	}
	return texts, nil
}

// Mutants can be applied to the code as it is.
func TestMutantsAreNotStale(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, m := range mutants() {
		if names[m.name] || len(m.facts) == 0 || m.run == "" {
			t.Errorf("%s: twice there, or without facts or tests", m.name)
		}
		names[m.name] = true
		texts, err := edited(m.edits)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(texts) == 0 {
			t.Errorf("%s: no edits", m.name)
		}
	}
}
