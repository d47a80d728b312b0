package mutate

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// suite is the tests of one package, built once with all mistakes.
type suite struct {
	path, dir string          // import path; where it is run
	deps      map[string]bool // the packages it is built from
	binary    string          // empty as long as it is not built
	tests     []recorded      // what each did when no mistake was made, quickest first
	complete  bool            // all of them were run so
}

// recorded is one test without any mistake.
type recorded struct {
	name    string
	took    time.Duration
	reached []byte // by number of the mistake, less one: not zero where it came by
}

// program is the command, and runProgram are the packages whose tests build and run it.
var (
	program    = "/cmd/lameduck"
	runProgram = []string{"/test/script", "/test/deploy"}
)

// suites lists the packages that have tests, those that are built from the fewest packages first. Tests of the whole,
// below test, are last.
func suites(root string) ([]*suite, error) {
	packages, err := list(root, "-test", "-json=ImportPath,Dir,Deps,Error", "./...")
	if err != nil {
		return nil, err
	}
	byPath := map[string]listed{}
	for _, l := range packages {
		byPath[l.ImportPath] = l
	}
	var all []*suite
	for _, l := range packages {
		path, isTest := strings.CutSuffix(l.ImportPath, ".test")
		if !isTest {
			continue
		}
		s := &suite{path: path, dir: byPath[path].Dir, deps: map[string]bool{}}
		deps := l.Deps
		for _, name := range runProgram {
			if above, ok := strings.CutSuffix(path, name); ok {
				deps = append(append(deps, above+program), byPath[above+program].Deps...)
			}
		}
		for _, dep := range deps {
			dep, _, _ = strings.Cut(dep, " ") // "sim [sim.test]" is sim as it is built for the tests of sim
			s.deps[dep] = true
		}
		all = append(all, s)
	}
	weight := func(s *suite) int {
		if strings.Contains(s.path, "/test/") {
			return 1_000_000 + len(s.deps)
		}
		return len(s.deps)
	}
	slices.SortStableFunc(all, func(a, b *suite) int { return weight(a) - weight(b) })
	return all, nil
}

// build compiles the tests with what the overlay says.
func (s *suite) build(ctx context.Context, dir, overlay string) error {
	s.binary = filepath.Join(dir, strings.ReplaceAll(s.path, "/", "_")+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-ldflags", "-s -w", "-o", s.binary, ".")
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the tests of %s: %w\n%s", s.path, err, out)
	}
	return nil
}

// names lists the tests of a binary. Benchmarks are none.
func (s *suite) names(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, s.binary, "-test.list", "^(Test|Fuzz|Example)")
	cmd.Dir = s.dir
	out, err := cmd.Output()
	return strings.Fields(string(out)), err
}

// batches returns the tests that come by a mistake by cost: the quickest ones, which take two seconds together, those
// that take a quarter of a minute, and the rest.
func (s *suite) batches(number int) (all [3][]recorded) {
	limits := [3]time.Duration{2 * time.Second, 15 * time.Second, 1 << 62}
	cost, took := 0, time.Duration(0)
	for _, r := range s.tests {
		if r.reached[number-1] == 0 {
			continue
		}
		for took += r.took; took > limits[cost]; cost++ {
			took = r.took
		}
		all[cost] = append(all[cost], r)
	}
	return all
}
