// Package script runs the command line from outside, as users type it: each testdata/*.txtar
// is a story of commands and what they print.
package script

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the outputs that the stories compare with")

// binaries is where TestMain puts the program under its names.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if binaries = os.Getenv("LAMEDUCK_PROGRAM"); binaries == "" { // otherwise test/mutate has built it there
		dir, err := os.MkdirTemp("", "lameduck-script-")
		if err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temporary directory harms nobody
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "lameduck"), "github.com/lameduck-proxy/lameduck/cmd/lameduck")
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, out)
		}
		binaries = dir
	}
	if err := link(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// link gives the program its other names.
func link() error {
	for _, name := range []string{"kubectl-lameduck", "kubectl_complete-lameduck"} {
		if err := os.Symlink("lameduck", filepath.Join(binaries, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// lookAtSources looks at every source file of the program, so that go test, which remembers what a test has looked
// at, does not take the result of an older program for this one's. What is looked at before m.Run does not count
// (testing/testing.go, StartTestLog; Go 1.26), so every test that runs the program does it first.
func lookAtSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	corpus := filepath.Join(here, "../../../shared/corpus")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", binaries+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("EXAMPLES", filepath.Join(here, "../../examples"))
			env.Setenv("CORPUS", corpus)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "corpus":
				_, err := os.Stat(corpus)
				return err == nil, nil
			case "netns": // a network namespace of one's own, with its root
				return exec.Command("unshare", "--map-root-user", "--net", "nft", "list", "tables").Run() == nil, nil
			case "iptables":
				return exec.Command("unshare", "--map-root-user", "--net", "iptables-nft", "--list").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "bigfile": bigfile, "cluster": cluster},
	})
}

// status runs a command and checks its exit code: status 2 lameduck explain. What it printed
// is compared by stdout, stderr and cmp, as after exec.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", args[1], got, want)
	}
}

// bigfile writes a file of so many MiB of YAML comments.
func bigfile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bigfile MIB FILE")
	}
	mib, err := strconv.Atoi(args[0])
	ts.Check(err)
	line := make([]byte, 1<<20)
	for i := range line {
		line[i] = '#'
	}
	line[len(line)-1] = '\n'
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.Repeat(line, mib), 0o644))
}
