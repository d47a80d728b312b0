package facts

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/mutate"
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
	t.Logf("%d mutants of %d are tried", n, len(all))
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
	overlay, err := mutate.Overlay(t.TempDir(), root, m.edits)
	if err != nil {
		t.Fatal(err)
	}
	args := append(slices.Clone(quickly), "-count=1", "-timeout", "2m", "-overlay", overlay, "-run", m.run, "./"+m.pkg)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
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
		texts, err := mutate.Apply(root, m.edits)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(texts) == 0 {
			t.Errorf("%s: no edits", m.name)
		}
	}
}

// Mutants compile: else no test notices anything, as the go command says no more than that the build failed.
func TestMutantsCompile(t *testing.T) {
	t.Parallel()
	if os.Getenv(mutantsEnv) == "" {
		t.Skipf("computes the types of a package for each mutant: make mutants, or %s=all", mutantsEnv)
	}
	var patterns []string
	for _, m := range mutants() {
		for _, e := range m.edits {
			if dir := "./" + path.Dir(e[0]); !slices.Contains(patterns, dir) {
				patterns = append(patterns, dir)
			}
		}
	}
	sources, err := mutate.Load(root, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		if err := mutate.Compile(sources, root, m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// A mutant names tests that its package has: none would fail if there were none.
func TestTestsOfMutantsExist(t *testing.T) {
	t.Parallel()
	packages := map[string]map[string]bool{}
	for _, m := range mutants() {
		if packages[m.pkg] == nil {
			tests, err := packageTests(root + "/" + m.pkg)
			if err != nil {
				t.Fatal(err)
			}
			packages[m.pkg] = tests
		}
		for _, missing := range alternativesWithout(packages[m.pkg], m.run) {
			t.Errorf("%s: %s has no test %s", m.name, m.pkg, missing)
		}
	}
}

// alternativesWithout lists the alternatives of -run that are none of the tests.
func alternativesWithout(tests map[string]bool, run string) []string {
	top, _, _ := strings.Cut(run, "/")
	var out []string
	for name := range strings.SplitSeq(top, "|") {
		matches := regexp.MustCompile(name).MatchString
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), matches) {
			out = append(out, name)
		}
	}
	return out
}

func TestAlternativesWithoutTests(t *testing.T) {
	t.Parallel()
	have := map[string]bool{"TestOne": true, "TestOther": true}
	for run, want := range map[string]string{
		"TestOne": "", "TestO": "", "TestOne/sub": "", "TestOne|TestOther": "",
		"TestTwo": "TestTwo", "TestOne|TestTwo/sub": "TestTwo", "^TestOth$": "^TestOth$",
	} {
		if got := strings.Join(alternativesWithout(have, run), " "); got != want {
			t.Errorf("missing of %s: got %q, want %q", run, got, want)
		}
	}
}
