package swarm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/mutate"
)

// mutantSeeds is how many worlds a mutant may survive.
const mutantSeeds = 4000

// sources is where the code under test lies, seen from this package.
const sources = "../../sim"

// allMutants lists those of both tables.
var allMutants = slices.Concat(mutants, machineMutants)

// TestMutants checks the swarm itself: it builds it against the simulator with one mistake
// seeded at a time, and each must break the books or a rule. LAMEDUCK_SWARM_MUTANTS=1 turns it
// on (make mutants does), LAMEDUCK_MUTANTS=n takes n of them, spread over the table.
func TestMutants(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_SWARM_MUTANTS") == "" {
		t.Skip("builds the test binary once for each mutant: make mutants")
	}
	n := min(envInt(t, "LAMEDUCK_MUTANTS", len(allMutants)), len(allMutants))
	if out, err := trial(t.Context(), t.TempDir(), nil); err != nil {
		t.Fatalf("the simulator as it is does not pass: %v\n%s", err, out)
	}
	found := make([]string, n)
	t.Run("group", func(t *testing.T) {
		for i := range n {
			m := allMutants[i*len(allMutants)/n]
			t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				out, err := trial(t.Context(), t.TempDir(), m.edits)
				if err == nil {
					t.Fatalf("survived %d worlds", mutantSeeds)
				}
				if found[i] = finding(out); found[i] == "" {
					t.Errorf("did not fail by a rule: %v\n%s", err, out)
				}
			})
		}
	})
	var table strings.Builder
	fmt.Fprintf(&table, "\n%d mutants\n\n%-56s %-18s %s\n", n, "mutant", "found by", "at seed")
	for i := range n {
		verdict := found[i]
		if verdict == "" {
			verdict = "NOT FOUND"
		}
		fmt.Fprintf(&table, "%-56s %s\n", allMutants[i*len(allMutants)/n].name, verdict)
	}
	t.Log(table.String())
}

var broken = regexp.MustCompile(`seed (\d+) of \d+: broken: ([^:]+):`)

// finding returns the rule that was broken and at which seed, "" for none.
func finding(output string) string {
	m := broken.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%-18s %s", m[2], m[1])
}

// trial builds the swarm with the edits laid over the simulator and runs it. A nil error means
// that it passed; what else is in the way is an error, too.
func trial(ctx context.Context, dir string, edits []edit) (string, error) {
	overlay, err := mutate.Overlay(dir, sources, edits)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "swarm.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-ldflags", "-s -w", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	test := exec.CommandContext(ctx, binary, "-test.run", "^TestSwarm$")
	test.Env = append(os.Environ(), fmt.Sprint("LAMEDUCK_SWARM_SEEDS=", mutantSeeds), "LAMEDUCK_SWARM_SEED=", "LAMEDUCK_SWARM_MUTANTS=")
	out, err := test.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("run: %w", err)
	}
	return string(out), err
}

// Mutants compile: else no rule notices anything.
func TestMutantsCompile(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_SWARM_MUTANTS") == "" {
		t.Skip("computes the types of a package for each mutant: make mutants, or LAMEDUCK_SWARM_MUTANTS=1")
	}
	packages, err := mutate.Load(sources, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range allMutants {
		if err := mutate.Compile(packages, sources, m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// Every mutant can be seeded, and stands for facts.
func TestMutantsAreNotStale(t *testing.T) {
	t.Parallel()
	if len(allMutants) < 24 {
		t.Errorf("%d mutants", len(allMutants))
	}
	names := map[string]bool{}
	for _, m := range allMutants {
		if _, err := mutate.Apply(sources, m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(m.facts) == 0 || names[m.name] {
			t.Errorf("%s: no facts, or there twice", m.name)
		}
		names[m.name] = true
	}
}
