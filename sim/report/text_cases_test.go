package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Cases that are not listed have one line for each verdict, also where others lie between them.
func TestCasesThatAreNotListedHaveALineForEachVerdict(t *testing.T) {
	t.Parallel()
	const second = 1_000_000_000
	var hidden []*record.Case
	for _, c := range []struct {
		v    record.Verdict
		lost int64
	}{{record.Depends, 70}, {record.Drops, 21}, {record.Drops, 19}, {record.Depends, 20}, {record.Drops, 18}} {
		hidden = append(hidden, &record.Case{Verdict: c.v, LostSeconds: record.Range{Median: c.lost * second}})
	}
	x := newText(&record.Simulation{}, TextOptions{}, everything)
	x.folded(hidden)
	if got, want := x.String(), "  2 more cases: depends, 20 s to 70 s lost (all lists them)\n  3 more cases: drops, 18 s to 21 s lost (all lists them)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
