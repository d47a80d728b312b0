package sweep

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// 40 runs of a rollout that loses much in each: the first 20 are compared with the world that nothing is done to, in which
// all is answered, and none after them.
func TestWorldsAreCountedByWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	worlds := map[Purpose]int{}
	c := &simulate(t, "  replicas: 2", readiness, scenario.Options{}, Options{Runs: 40, Counts: worlds}).Cases[0]
	if len(c.Runs) != 40 || c.LostSeconds.Min < int64(much) || worlds[ForVerdict] != 40 || worlds[ForPair] != calmRuns || worlds[ForStory] != 1 {
		t.Errorf("%d runs that lose %d ns at least, %v", len(c.Runs), c.LostSeconds.Min, worlds)
	}
	for _, what := range []Purpose{ForOther, ForLate, ForSearch, ForConfirm} {
		if worlds[what] != 0 {
			t.Errorf("nobody asked for %s: %d", what, worlds[what])
		}
	}
	simulate(t, "  replicas: 2", readiness, scenario.Options{}, Options{Runs: 3, Fixes: 1, ConfirmRuns: 4, Counts: worlds})
	// What was found was tried on all three of its own seeds before: four new ones are left, for it and for the least hook that does as much.
	if worlds[ForVerdict] != 43 || worlds[ForLate] != 3 || worlds[ForConfirm] != 2*4 || worlds[ForSearch] == 0 {
		t.Errorf("with a fix: %v", worlds)
	}
}

// Where something fails without the action, each run is compared: what it loses by itself is not the action's.
func TestWhereANodeNeverAnswersEachRunIsPaired(t *testing.T) {
	t.Parallel()
	worlds := map[Purpose]int{}
	s := swept(t, webOn(t, "  type: NodePort\n  externalTrafficPolicy: Local\n", scenario.Options{}), Options{Runs: 25, Counts: worlds})
	for i := range s.Cases[0].Runs {
		if s.Cases[0].Runs[i].Without == nil {
			t.Errorf("run %d is not compared", i)
		}
	}
	if worlds[ForPair] != 2*25 {
		t.Errorf("the run without the action, and the one with it again with a list of who failed: %v", worlds)
	}
}

// With a service proxy that does not wait a rollout loses about a tenth of a second: more in some runs, less in others.
func TestARunThatLosesLittleIsComparedThoughTheWorldIsCalm(t *testing.T) {
	t.Parallel()
	sc := oneCase(t, "  replicas: 2", readiness, scenario.Options{Set: []string{"nodes.proxy.minSyncPeriod=0s"}})[0].Scenario
	little, more := 0, 0
	for seed := range uint64(20) {
		out := paired(sc, seed+1, pairedSmall)
		switch {
		case out.err != nil:
			t.Fatal(out.err)
		case out.run.LostSeconds() >= much:
			more++
			if out.pairs != 0 || out.run.Without != nil {
				t.Errorf("seed %d loses %s and is compared", seed+1, out.run.LostSeconds().Seconds())
			}
		case touched(out.run):
			little++
			if out.pairs != 1 || !out.run.Calm() {
				t.Errorf("seed %d loses %s and is not compared", seed+1, out.run.LostSeconds().Seconds())
			}
		}
	}
	if little == 0 || more == 0 {
		t.Errorf("%d runs lose little, %d more", little, more)
	}
}
