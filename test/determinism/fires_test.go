package determinism

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/test/mutate"
)

// Two runs that part company are told apart at the very step.
func TestFirstDifferingStepIsNamed(t *testing.T) {
	t.Parallel()
	in, err := worldInput(1)
	if err != nil {
		t.Fatal(err)
	}
	steps := func(seed uint64, change engine.Time) *bytes.Buffer {
		sc := *in.cases[0].Scenario
		sc.Actions = slices.Clone(sc.Actions)
		sc.Actions[0].At += change
		var out bytes.Buffer
		if err := writeSteps(&out, &sc, seed); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	if got := firstDifference(steps(7, 0), steps(7, 0), "one", "other"); got != "" {
		t.Errorf("two equal runs: %s", got)
	}
	if got := firstDifference(steps(7, 0), steps(8, 0), "one", "other"); !strings.Contains(got, "line 1\n") {
		t.Errorf("another seed: %q", got)
	}
	// One nanosecond later.
	at := in.cases[0].Scenario.Actions[0].At
	got := firstDifference(steps(7, 0), steps(7, 1), "one", "other")
	name := "action " + in.cases[0].Scenario.Actions[0].Verb() + " of scenario (action)"
	for _, when := range []engine.Time{at, at + 1} {
		if want := fmt.Sprintf("%d.%09d s  %s", when/engine.Second, when%engine.Second, name); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, one, other, want string }{
		{"equal texts have none", "a\nb\n", "a\nb\n", ""},
		{"a line that differs", "a\nb\nc\n", "a\nx\nc\n", "line 2\n  after a\n  1:                       b\n  2:                       x"},
		{"the first line", "a\n", "b\n", "line 1\n  after the beginning"},
		{"one that ends earlier", "a\n", "a\nb\n", "line 2\n  after a\n  1:                       the end\n  2:                       b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := firstDifference(strings.NewReader(tt.one), strings.NewReader(tt.other), "1", "2")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

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

// The worlds with an ingress controller lose requests in front of it and behind it: there is
// something to compare of both stages.
func TestWorldsHaveTwoStages(t *testing.T) {
	t.Parallel()
	stages := map[bool]int{} // by whether a controller's pod had asked
	for _, seed := range worldSeeds[:4] {
		in, err := stagesInput(seed)
		if err != nil {
			t.Fatal(err)
		}
		result, err := sim.Run(in.cases[0].Scenario, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range result.Ledger.Failures() {
			stages[r.Ingress != ""]++
		}
	}
	if stages[false] < 10 || stages[true] < 10 {
		t.Errorf("%d requests fail in front of a controller, %d behind it", stages[false], stages[true])
	}
}
