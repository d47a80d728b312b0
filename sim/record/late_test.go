package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// late is one stream, with so many requests that were late and so many answered at a second try.
func late(n uint64) []Stream {
	return []Stream{{Totals: ledger.Totals{Slow: n, Rescued: n}}}
}

// Answers that are late by chance, in few runs or in as many without the action, are no matter of it.
func TestWhatTheActionMakesLate(t *testing.T) {
	t.Parallel()
	run := func(extra, without uint64) Run {
		return Run{Streams: late(extra), Without: late(without)}
	}
	times := func(n int, r Run) []Run {
		var out []Run
		for range n {
			out = append(out, r)
		}
		return out
	}
	for name, c := range map[string]struct { // order: each for itself
		runs []Run
		want uint64
	}{
		"no run":                          {nil, 0},
		"every run":                       {times(3, run(7, 2)), 21},
		"every run, without a second":     {times(2, Run{Streams: late(4)}), 8},
		"two of twenty":                   {append(times(18, run(0, 0)), run(907, 0), run(293, 0)), 0},
		"four of twenty":                  {append(times(16, run(0, 0)), times(4, run(5, 0))...), 0},
		"five of twenty":                  {append(times(15, run(0, 0)), times(5, run(5, 0))...), 25},
		"as many without the action":      {append(times(10, run(0, 9)), times(10, run(9, 1))...), 0},
		"more without the action":         {append(times(12, run(0, 9)), times(3, run(90, 1))...), 0},
		"far more with it than without":   {append(times(2, run(0, 9)), times(18, run(1, 9))...), 18},
		"a few more with it than without": {append(times(8, run(0, 9)), times(12, run(1, 9))...), 0},
	} {
		if slow, rescued := (&Case{Runs: c.runs}).ClientLate(0); slow != c.want || rescued != c.want {
			t.Errorf("%s: %d late, %d at a second try, want %d", name, slow, rescued, c.want)
		}
	}
}
