package oracle

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/mutate"
)

// mutantCases is how many cases a mutant may survive.
const mutantCases = "30000"

// core is where the code under test lies, seen from this package.
const core = "../../endpoints"

// TestMutants checks the oracle itself: it builds the differential test against the core
// with one mistake seeded at a time, and each must be caught by a difference.
// LAMEDUCK_MUTANTS=n takes n of them, spread over the table.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test binary once for each mutant")
	}
	all := mutants()
	n := min(envInt(t, "LAMEDUCK_MUTANTS", len(all)), len(all))
	if err := trial(t.Context(), t.TempDir(), nil); err != nil {
		t.Fatalf("the core as it is does not pass: %v", err)
	}
	caughtBy := make([]string, n)
	t.Run("group", func(t *testing.T) {
		for i := range n {
			m := all[i*len(all)/n]
			t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				err := trial(t.Context(), t.TempDir(), m.edits)
				if err == nil {
					t.Fatalf("survived %s cases", mutantCases)
				}
				if caughtBy[i] = kindIn(err.Error()); caughtBy[i] == "" {
					t.Errorf("did not fail by a difference: %v", err)
				}
			})
		}
	})
	var table strings.Builder
	fmt.Fprintf(&table, "\n%d mutants\n\n", n)
	for i := range n {
		verdict := "NOT CAUGHT"
		if caughtBy[i] != "" {
			verdict = "caught by " + caughtBy[i]
		}
		fmt.Fprintf(&table, "%-34s %s\n", verdict, all[i*len(all)/n].name)
	}
	show(t, table.String())
}

// kindIn returns the kind of the first difference that a run printed, "" for none.
func kindIn(output string) string {
	_, after, found := strings.Cut(output, "difference in ")
	kind, _, ok := strings.Cut(after, ":")
	if !found || !ok {
		return ""
	}
	return kind
}

// trial builds the differential test with the edits laid over the core and runs it. A nil
// error means that it passed; what else is in the way is an error, too.
func trial(ctx context.Context, dir string, edits []edit) error {
	overlay, err := mutate.Overlay(dir, core, edits)
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "oracle.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-ldflags", "-s -w", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	test := exec.CommandContext(ctx, binary, "-test.short", "-test.run", "^TestOracle$")
	test.Env = append(os.Environ(), "LAMEDUCK_ORACLE_CASES="+mutantCases, "LAMEDUCK_ORACLE_SEED=")
	if out, err := test.CombinedOutput(); err != nil {
		return fmt.Errorf("run: %w\n%s", err, out)
	}
	return nil
}

// Mutants can be applied to the code as it is: TestMutants tries some of them only.
func TestMutantsAreNotStale(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		if _, err := mutate.Apply(core, m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
