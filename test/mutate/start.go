package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: test timed out)|^(panic|fatal error|SIGSEGV)`)

// why names the test that failed, or how else the program ended.
func why(out []byte, err error) string {
	if m := failed.FindSubmatch(out); m != nil {
		return string(bytes.Join(m[1:], nil))
	}
	return err.Error()
}

// memory is how much of it a test may take, in KiB: a mistake can make a loop that never ends take more and more.
const memory = 8 << 20

// upAndRunning has a network namespace of its own talk to itself.
const upAndRunning = "ip link set lo up"

// apart says whether tests can have a network namespace of their own: as root. A mistake about who works in which namespace would else
// write rules, and settings of the kernel, into the machine's.
var apart = sync.OnceValue(func() bool {
	return exec.Command("unshare", "-n", "sh", "-c", upAndRunning).Run() == nil
})

// start runs some tests of a package in a process of their own, until the first one fails: tests that run beside it are
// not waited for. A program that does not end in time is ended. Whatever it started ends with it: a test that gave up waiting leaves a
// loop behind that never ends. It returns how long processors worked for it, too.
func (b *Bench) start(ctx context.Context, s *suite, names []string, limit time.Duration) (printed []byte, worked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory)
	args := []string{"sh", "-c", script, s.binary, "-test.v", "-test.failfast", "-test.run", pattern(names), "-test.timeout", limit.String()}
	if apart() {
		args[2] = upAndRunning + "; " + script
		args = append([]string{"unshare", "-n"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) // built above
	cmd.Dir = s.dir
	if err := s.freshScratch(); err != nil {
		return nil, 0, err
	}
	// Programs that tests build have the mistakes, too. The tables of mutants are not tried with each of these.
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+b.overlay, "LAMEDUCK_MUTANTS=", "LAMEDUCK_FRESH=",
		"TMPDIR="+s.scratch, programEnv+"="+s.program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &firstFailure{end: cancel}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error says that nothing is left
	}
	if errors.Is(err, exec.ErrWaitDelay) && !failed.Match(out.Bytes()) {
		err = nil // the tests passed, a program that they started still runs
	}
	if cmd.ProcessState != nil {
		worked = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return out.Bytes(), worked, err
}

// pattern is what go test's -run takes for some tests. The tests of a test have its name and their own, with a slash between.
func pattern(names []string) string {
	var parts []string
	for _, name := range names {
		elements := strings.Split(name, "/")
		for i, e := range elements {
			elements[i] = "^" + regexp.QuoteMeta(e) + "$"
		}
		parts = append(parts, strings.Join(elements, "/"))
	}
	return strings.Join(parts, "|")
}

// firstFailure is what a program prints. It ends the program as soon as that says that a test failed.
type firstFailure struct {
	bytes.Buffer
	end  func()
	line int // where the last line begins, which may not be complete
}

func (f *firstFailure) Write(b []byte) (int, error) {
	n, err := f.Buffer.Write(b)
	if last := bytes.LastIndexByte(f.Bytes(), '\n') + 1; last > f.line {
		if failed.Match(f.Bytes()[f.line:last]) {
			f.end()
		}
		f.line = last
	}
	return n, err
}

// begun are the tests of a test that a program says to have run.
var begun = regexp.MustCompile(`(?m)^=== RUN +([^/\s]+/[^/\s]+)`)

// below lists the tests of one test, in the order in which they began.
func below(name string, out []byte) []string {
	var names []string
	for _, m := range begun.FindAllSubmatch(out, -1) {
		if sub := string(m[1]); strings.HasPrefix(sub, name+"/") && !slices.Contains(names, sub) {
			names = append(names, sub)
		}
	}
	return names
}
