package sweep

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
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
