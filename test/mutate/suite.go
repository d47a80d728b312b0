package mutate

import (
	"context"
	"fmt"
	"os"
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
	quick     []recorded      // what each did when no mistake was made, the quickest first
	slow      []recorded      // the same of slow tests, or of their own tests, as soon as pending is empty
	pending   []string        // slow tests that were not yet run to their end
	scratch   string          // where its tests have their temporary files
	program   string          // the directory of the program that its tests run, empty if they run none
}

// recorded is one test without any mistake, or one test of a test.
type recorded struct {
	name    string
	took    time.Duration // by the clock
	cost    time.Duration // what it would have taken with nothing else to do: see alone
	reached []byte        // by number of the mistake, less one: not zero where it came by
}

// program is the command, and runProgram are the packages whose tests run it. They build it, unless programEnv names a directory that
// has it.
var (
	program    = "/cmd/lameduck"
	runProgram = []string{"/test/script", "/test/deploy"}
)

const programEnv = "LAMEDUCK_PROGRAM"

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

// build compiles the tests with what the overlay says, and the program that they run.
func (s *suite) build(ctx context.Context, dir, overlay string) error {
	s.binary = filepath.Join(dir, strings.ReplaceAll(s.path, "/", "_")+".test")
	s.scratch = filepath.Join(dir, "t") // short: names of sockets have to fit below it
	commands := [][]string{{"test", "-c", "-vet=off", "-overlay", overlay, "-ldflags", "-s -w", "-o", s.binary, "."}}
	for _, name := range runProgram {
		if above, ok := strings.CutSuffix(s.path, name); ok {
			s.program = s.binary + ".program"
			commands = append(commands, []string{"build", "-overlay", overlay, "-ldflags", "-s -w", "-o", s.program + "/", above + program})
		}
	}
	for _, args := range commands {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: go %s: %w\n%s", s.path, strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// freshScratch makes an empty directory for temporary files: a program that is ended leaves them behind.
func (s *suite) freshScratch() error {
	if err := os.RemoveAll(s.scratch); err != nil {
		return err
	}
	if err := os.Mkdir(s.scratch, 0o700); err != nil {
		return err
	}
	return os.Chmod(s.scratch, 0o777) // tests start programs of users without rights
}

// names lists the tests of a binary. Benchmarks are none.
func (s *suite) names(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, s.binary, "-test.list", "^(Test|Fuzz|Example)")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), programEnv+"="+s.program)
	out, err := cmd.Output()
	return strings.Fields(string(out)), err
}

// batches returns the tests that come by a mistake by cost: the quickest ones, which together take no longer than one of them may, the other quick
// ones, and those that are slow.
func (s *suite) batches(number int, quick time.Duration) (all [3][]recorded) {
	cost := time.Duration(0)
	for _, r := range s.quick {
		if r.reached[number-1] == 0 {
			continue
		}
		batch := 0
		if cost += r.cost; cost > quick {
			batch = 1
		}
		all[batch] = append(all[batch], r)
	}
	for _, r := range s.slow {
		if r.reached[number-1] != 0 {
			all[2] = append(all[2], r)
		}
	}
	return all
}
