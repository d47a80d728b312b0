//go:build !js

package determinism

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/mutate"
)

// broken is a simulator with one mistake, laid over the source: a text that occurs once becomes
// another.
type broken struct {
	name  string
	edits []mutate.Edit
	// self says that it differs from itself; if not, it differs from what it should be.
	self bool
	// step is part of the first differing step.
	step string
}

func brokenSimulators() []broken {
	return []broken{
		{"the order of a map reaches a draw", []mutate.Edit{
			{"sim/nodeproxy/proxy.go", "p.syncs.Draw(p.count)", "p.syncs.Draw(p.count + func() uint64 { for k := range map[uint64]int{0: 0, 1: 0, 2: 0, 3: 0} { return k }; return 0 }())"},
		}, true, " of proxy"},
		{"the number of processors reaches a draw", []mutate.Edit{
			{"sim/engine/random.go", `import "math/bits"`, "import (\n\t\"math/bits\"\n\t\"runtime\"\n)"},
			{"sim/engine/random.go", "s.key + counter*goldenGamma", "s.key + (counter+uint64(runtime.GOMAXPROCS(0)))*goldenGamma"},
		}, true, "the first difference is line 1\n"},
		{"the scheduler draws once more", []mutate.Edit{
			{"sim/control/scheduler.go", "s.draws.Draw(s.count)", "s.draws.Draw(s.count + 1)"},
		}, false, " of scheduler"},
	}
}

// A simulator that is not deterministic is found out, and the step named at which it shows.
func TestBrokenSimulatorIsFoundOut(t *testing.T) {
	if os.Getenv(fullEnv) == "" {
		t.Skipf("builds a simulator for each mistake: make determinism, or %s=1", fullEnv)
	}
	sound := kept(inProcess(1))
	for _, tt := range brokenSimulators() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			overlay, err := mutate.Overlay(t.TempDir(), root, tt.edits)
			if err != nil {
				t.Fatal(err)
			}
			binary := build(t, nil, "-overlay", overlay)
			one, other := sound, child(t, "broken", []string{"GOMAXPROCS=8"}, binary)
			if tt.self {
				one = child(t, "one", []string{"GOMAXPROCS=1"}, binary)
			}
			found, err := compare(one, other, "some")
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 || !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, tt.step) }) {
				t.Errorf("%d differences, none with %q: %s", len(found), tt.step, strings.Join(found, "\n"))
				return
			}
			t.Logf("%d inputs differ, such as %s", len(found), found[0])
		})
	}
}

// Broken simulators can be made of the code as it is, and compile.
func TestBrokenSimulatorsAreNotStale(t *testing.T) {
	t.Parallel()
	sources, err := mutate.Load(root, "./sim/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range brokenSimulators() {
		if err := mutate.Compile(sources, root, b.edits); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
