package sweep

import (
	"math/rand/v2"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// made is a run without a world that loses two seconds, without any answer in them or not.
func made(outage bool) record.Run {
	s := record.Stream{Totals: ledger.Totals{Total: 1000, OK: 800, Failed: 200}, LostSeconds: 2 * engine.Second}
	if outage {
		s.LongestOutage = 2 * engine.Second
	}
	return record.Run{Events: 100, Settled: true, Streams: []record.Stream{s}}
}

// decide gives a case runs of which a part is an outage, stage by stage as central does, and returns how many it had in the end.
func decide(draws *rand.Rand, percent int) (c *record.Case, runs int) {
	u := &unit{of: &scenario.Case{}}
	u.record.Runs = append(u.record.Runs, made(draws.IntN(100) < percent))
	for _, stage := range stages {
		for n := u.upTo(stage); len(u.record.Runs) < n; {
			u.record.Runs = append(u.record.Runs, made(draws.IntN(100) < percent))
		}
	}
	u.record.Close()
	return &u.record, len(u.record.Runs)
}

// On many seeds: the word is the right one in 95 of 100 cases where an outage in 40 % of the runs or in 60 % is told from one in
// half; what is said without a border is wrong in one of twenty at most, whatever the part is; and what is in truth on the border
// costs a third of the most there may be.
func TestTheWordIsTheSameWithOtherSeeds(t *testing.T) {
	t.Parallel()
	const times = 500
	draws := rand.New(rand.NewPCG(1, 2))
	for _, x := range []struct {
		percent    int
		word       record.Verdict // "" for on the border
		most, seen int            // runs on average; cases of times with another word, at most
	}{
		{20, record.Drops, 101, 0}, {35, record.Drops, 150, 5}, {40, record.Drops, 240, 25}, {50, "", 340, times},
		{60, record.Outage, 240, 25}, {65, record.Outage, 150, 5}, {80, record.Outage, 101, 0},
	} {
		runs, wrong, surelyWrong := 0, 0, 0
		for range times {
			c, n := decide(draws, x.percent)
			runs += n
			if c.Verdict != x.word {
				wrong++
			}
			if c.Verdict != x.word && c.Reason == "" {
				surelyWrong++
			}
		}
		if runs > x.most*times || wrong > x.seen || surelyWrong > times/20 {
			t.Errorf("an outage in %d %%: %d runs on average, another word in %d of %d cases, in %d of them as if it were sure", x.percent, runs/times, wrong, times, surelyWrong)
		}
	}
}
