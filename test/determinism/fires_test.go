package determinism

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
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
