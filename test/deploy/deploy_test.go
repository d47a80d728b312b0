//go:build linux

package deploy

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/lab"
)

// root is the repository's, from this package.
const root = "../.."

// program is lameduck, as TestMain built it.
var program string

func TestMain(m *testing.M) {
	if description := os.Getenv(caged); description != "" {
		fmt.Fprintln(os.Stderr, "no cage:", enter(description))
		os.Exit(1)
	}
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "lameduck-deploy-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temporary directory harms nobody
	if err := touchSources(); err != nil {
		return 0, err
	}
	if built := os.Getenv("LAMEDUCK_PROGRAM"); built != "" { // by test/mutate
		program = filepath.Join(built, "lameduck")
		return m.Run(), nil
	}
	program = filepath.Join(dir, "lameduck")
	build := exec.Command("go", "build", "-o", program, "github.com/lameduck-proxy/lameduck/cmd/lameduck")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// touchSources looks at every source file, so that go test, which remembers what a test has looked at, does not take the
// result of an older program for this one's.
func touchSources() error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		_, err = os.Stat(path)
		return err
	})
}

// lameduck runs the program, and returns all that it prints.
func lameduck(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("lameduck %q: %v\n%s", args, err, out)
	}
	return string(out)
}
