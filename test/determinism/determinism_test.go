package determinism

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fullEnv asks for all of it.
const fullEnv = "LAMEDUCK_DETERMINISM"

// processors is held by whoever sets GOMAXPROCS, which is everybody's.
var processors sync.Mutex

// inProcess is a worker in this process, with so many processors.
func inProcess(procs int) worker {
	return worker{fmt.Sprintf("GOMAXPROCS %d", procs), func(words ...string) ([]byte, error) {
		processors.Lock()
		defer processors.Unlock()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return job(words)
	}}
}

// In one process, with one processor and with eight, at full length once more with one: the same input, the same bytes.
// Not in parallel: it sets GOMAXPROCS, which is everybody's.
func TestOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("runs everything twice; make determinism does that with the race detector, too")
	}
	first := kept(inProcess(1))
	lines, err := first.do("sums", extent())
	if err != nil {
		t.Fatal(err)
	}
	runs := strings.Count(string(lines), "run ")
	if runs < 72 {
		t.Fatalf("only %d runs", runs)
	}
	t.Logf("%d runs, and each again", runs)
	others := []worker{inProcess(8)}
	if os.Getenv(fullEnv) != "" {
		others = append(others, worker{"GOMAXPROCS 1, again", inProcess(1).do})
	}
	for _, other := range others {
		same(t, first, other)
	}
}

// extent says how much is run.
func extent() string {
	if os.Getenv(fullEnv) != "" {
		return "all"
	}
	return "some"
}

// same fails with what differs.
func same(t *testing.T, one, other worker) {
	t.Helper()
	found, err := compare(one, other, extent())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// The same in other processes, with the race detector, and on another platform.
func TestOtherProcesses(t *testing.T) {
	if os.Getenv(fullEnv) == "" {
		t.Skipf("builds this test for other platforms: make determinism, or %s=1", fullEnv)
	}
	first := kept(inProcess(1))
	for _, tt := range []struct {
		name  string
		build []string
		env   []string // of the build
		procs string   // GOMAXPROCS; wasm has one thread
		run   func(binary string) []string
	}{
		{name: "another process", procs: "8"},
		{name: "race detector", build: []string{"-race"}, env: []string{"CGO_ENABLED=1"}, procs: "8"},
		{name: "js/wasm under Node", env: []string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, procs: "1", run: func(binary string) []string {
			return []string{filepath.Join(goroot(t), "lib", "wasm", "go_js_wasm_exec"), binary}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(tt.env, "GOOS=js") {
				if _, err := exec.LookPath("node"); err != nil {
					t.Skip("node is not installed: what the simulator does as wasm is NOT compared")
				}
			}
			binary := build(t, tt.env, tt.build...)
			command := []string{binary}
			if tt.run != nil {
				command = tt.run(binary)
			}
			same(t, first, child(t, tt.name, []string{"GOMAXPROCS=" + tt.procs}, command...))
		})
	}
}

// build compiles this package's tests and returns the binary.
func build(t *testing.T, env []string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "determinism.test")
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"test", "-c", "-o", binary}, flags...), ".")...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
