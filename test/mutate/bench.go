package mutate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Verdict is what became of a mistake.
type Verdict struct {
	Mistake *Mistake
	By      string // the test that noticed it, and its package; empty if none did
	Tried   int    // how many tests came by it
	Open    bool   // time ran out before all tests that could notice it were run
}

// Bench tries mistakes, one at a time.
type Bench struct {
	Root string                           // the module whose tests are run
	Dir  string                           // for what is built, an empty directory that any user may enter
	Log  func(format string, args ...any) // hears how far it is
	Till time.Time                        // when to stop; zero: when all are tried
	Own  bool                             // no tests but those of a mistake's own package

	verdicts []Verdict
	suites   []*suite
	overlay  string
	control  control
}

// Try runs the tests that come by each mistake until one notices it. Tests that fail without any mistake are named in the log and do not count.
func (b *Bench) Try(ctx context.Context, drawn []*Mistake) ([]Verdict, error) {
	for _, m := range drawn {
		b.verdicts = append(b.verdicts, Verdict{Mistake: m})
	}
	var err error
	if b.suites, err = suites(b.Root); err != nil {
		return nil, err
	}
	path := filepath.Join(b.Dir, "control")
	if b.overlay, err = Switched(b.Dir, path, drawn); err != nil {
		return nil, err
	}
	if b.control, err = newControl(path, len(drawn)); err != nil {
		return nil, err
	}
	for _, p := range passes {
		if b.Own && !p.own {
			continue
		}
		if err := b.pass(ctx, p); err != nil {
			return nil, err
		}
	}
	return b.verdicts, nil
}

// pass is one way through all packages: with tests of one cost.
type pass struct {
	own  bool // tests of a mistake's own package, or those of packages above it
	cost int  // of the tests: see batches
}

// passes have the quick tests of all packages before the slow ones of any: most mistakes are noticed by a quick one.
var passes = []pass{{true, 0}, {true, 1}, {false, 0}, {false, 1}, {true, 2}, {false, 2}}

// pass tries what is still unnoticed.
func (b *Bench) pass(ctx context.Context, p pass) error {
	for _, s := range b.suites {
		if err := b.run(ctx, s, p); err != nil {
			return err
		}
	}
	if p.own && p.cost == 1 {
		for _, v := range b.verdicts {
			if v.By == "" {
				b.Log("not noticed by its own package: %s", v.Mistake.Name())
			}
		}
	}
	return nil
}

// run tries what is still unnoticed with the tests of one package: what is wrong in that package itself, or in those
// below it.
func (b *Bench) run(ctx context.Context, s *suite, p pass) error {
	var numbers []int
	for i, v := range b.verdicts {
		if v.By == "" && s.deps[v.Mistake.Package] && (v.Mistake.Package == s.path) == p.own {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	from := time.Now()
	late := func() bool { return !b.Till.IsZero() && time.Now().After(b.Till) }
	if !late() && s.binary == "" {
		if err := b.record(ctx, s, late); err != nil {
			return err
		}
	}
	noticed, tried := 0, 0
	for _, number := range numbers {
		v, tests := &b.verdicts[number-1], s.batches(number)[p.cost]
		switch {
		case !s.complete || late() && len(tests) > 0:
			v.Open = true
			continue
		case len(tests) == 0:
			continue
		}
		if err := b.try(ctx, s, tests, number, v); err != nil {
			return err
		}
		tried++
		if v.By != "" {
			noticed++
		}
	}
	if tried > 0 {
		b.Log("%s noticed %d of %d in %.0f s", s.path, noticed, tried, time.Since(from).Seconds())
	}
	return nil
}

// record builds the tests of a package and runs each without any mistake.
func (b *Bench) record(ctx context.Context, s *suite, late func() bool) error {
	if err := s.build(ctx, b.Dir, b.overlay); err != nil {
		return err
	}
	names, err := s.names(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	for _, name := range names {
		if late() {
			return nil
		}
		b.control.choose(0)
		from := time.Now()
		out, err := b.start(ctx, s, []string{name}, 10*time.Minute)
		r := recorded{name, time.Since(from), b.control.reached()}
		if err != nil {
			b.Log("%s %s fails without any mistake, and does not count: %v\n%s", s.path, name, err, out)
			continue
		}
		s.tests = append(s.tests, r)
	}
	slices.SortStableFunc(s.tests, func(a, b recorded) int { return cmp.Compare(a.took, b.took) })
	s.complete = true
	return nil
}

// try makes one mistake and runs tests of a package that come by it.
func (b *Bench) try(ctx context.Context, s *suite, tests []recorded, number int, v *Verdict) error {
	var names []string
	took := time.Duration(0)
	for _, r := range tests {
		names, took = append(names, r.name), took+r.took
	}
	v.Tried += len(names)
	b.control.choose(number)
	out, err := b.start(ctx, s, names, 10*time.Second+10*took)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.By = s.path + " " + why(out, err)
	}
	return nil
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^(panic: test timed out)|^(panic|fatal error|SIGSEGV)`)

// why names the test that failed, or how else the program ended.
func why(out []byte, err error) string {
	if m := failed.FindSubmatch(out); m != nil {
		return string(bytes.Join(m[1:], nil))
	}
	return err.Error()
}

// memory is how much of it a test may take, in KiB: a mistake can make a loop that never ends take more and more.
const memory = 8 << 20

// start runs some tests of a package in a process of their own, until the first one fails. A program that does not end
// in time is ended, with all that it started.
func (b *Bench) start(ctx context.Context, s *suite, names []string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	run := "^(" + strings.Join(names, "|") + ")$"
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory), //nolint:gosec // built above
		s.binary, "-test.failfast", "-test.run", run, "-test.timeout", limit.String())
	cmd.Dir = s.dir
	// Programs that tests build have the mistakes, too. The tables of mutants are not tried with each of these.
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+b.overlay, "LAMEDUCK_MUTANTS=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the tests passed, a program that they started still runs
	}
	return out, err
}
