package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What seems to lose something more seldom than a case that does so in few of its runs is tried on more seeds than others are; what loses it in all
// of them is not.
func TestWhatIsNotSureIsTriedOnMoreSeeds(t *testing.T) {
	t.Parallel()
	cases := oneCase(t, "  replicas: 2", readiness, scenario.Options{})
	for with, want := range map[int]int{100: pairedSeeds, 34: surelySeeds} {
		u := unitsOf(cases)[0]
		u.record.Runs = nil
		for i := range surelySeeds {
			run := record.Run{Seed: uint64(i + 1), Settled: true, Streams: make([]record.Stream, len(u.sc.Traffic))}
			if i*with/surelySeeds != (i+1)*with/surelySeeds {
				run.Streams[0].Total, run.Streams[0].Failed = 1, 1
			}
			u.record.Runs = append(u.record.Runs, run)
		}
		u.record.Close()
		x := &trial{unit: u, alt: scenario.Alternatives(u.sc)[0], want: pairedSeeds, done: pairedSeeds}
		for i := range pairedSeeds {
			x.runs = append(x.runs, record.Run{Seed: uint64(i + 1), Settled: true, Streams: make([]record.Stream, len(u.sc.Traffic))})
		}
		(&pool{ctx: t.Context(), opts: &Options{}}).settle([]*trial{x})
		if len(x.runs) != want {
			t.Errorf("%d of 100 runs lose something: tried on %d seeds, want %d", with, len(x.runs), want)
		}
	}
}

// What most of a loss is put down to is left out on as many seeds as it takes: the median run may lose as much without kube-proxy's wait, and all
// together half.
func TestWithoutWhatIsBlamedRunsAreComparedTogether(t *testing.T) {
	t.Parallel()
	const calm = 30
	lost := func(requests ...uint64) (out []record.Run) {
		for _, n := range requests {
			out = append(out, record.Run{Settled: true, Streams: []record.Stream{{
				Totals: ledger.Totals{Total: 10_000, OK: 10_000 - n, Failed: n}, LostSeconds: engine.Time(n) * 10 * engine.Millisecond,
			}}})
		}
		return out
	}
	own := append(lost(slices.Repeat([]uint64{5}, calm)...), lost(slices.Repeat([]uint64{50}, calm/2)...)...)
	u := &unit{of: &scenario.Case{}, sc: &world.Scenario{}, record: record.Case{Runs: own}}
	u.record.Close()
	u.record.Causes = []record.Cause{{Blame: ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait}}}
	for value, more := range map[string]bool{"minSyncPeriod 0s": true, "minSyncPeriod 10s": false} {
		x := &trial{unit: u, alt: scenario.Alternative{ID: "proxy", Value: value}, runs: lost(slices.Repeat([]uint64{5}, 20)...)}
		if x.same() == more || x.untypical() != more {
			t.Errorf("%s: same %v, untypical %v", value, x.same(), x.untypical())
		}
	}
}
