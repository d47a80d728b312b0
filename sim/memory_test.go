package sim_test

import (
	"path/filepath"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim"
)

// Runs of unlike scenarios that use one Memory, one after the other, come to what they come to without.
func TestARunDoesNotKnowWhatItsMemoryWasUsedForBefore(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	var memory sim.Memory
	for _, f := range files {
		sc := readScenario(t, f)
		for seed := uint64(1); seed <= 2; seed++ {
			anew, err := sim.Run(sc, seed)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sim.RunWith(sc, seed, sim.Options{Memory: &memory})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := account(anew), account(again); a != b {
				t.Errorf("%s, seed %d: anew\n%s\nin memory of before\n%s", f, seed, a, b)
			}
		}
	}
}
