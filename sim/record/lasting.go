package record

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A run ends when nothing has happened in its world for half a minute. What still fails then fails until somebody acts: how many seconds of it
// are counted says when the run ended, and nothing else.
const (
	toTheEnd    = engine.Second      // within that before the end of the run the last request fails
	forLong     = 10 * engine.Second // from the first of them on, at least
	moreThanOdd = 10                 // of them, or it may be chance
	whole       = 1_000_000          // as a Fraction
	nearlyAll   = 950_000
)

// lasting is the part of a client's requests that fails for the same cause until the end of a run, 0 for none. What becomes of single
// connections now and then is none of that, nor is what was cut off.
func (r *Run) lasting(client int, rate int) Fraction {
	if r.CutOff || rate == 0 {
		return 0
	}
	var sum Fraction
	for i := range r.Groups {
		g := &r.Groups[i]
		long := g.Last - g.First
		if g.Stream != client || g.Last < r.End-toTheEnd || long < forLong || g.Count < moreThanOdd || g.Blame.Cause == ledger.KeepaliveRace {
			continue
		}
		asked := int64(rate) * int64(long/engine.Millisecond) / 1_000_000
		sum += Fraction(whole * int64(g.Count) / max(asked, 1)) //nolint:gosec // not more than there are in a run
	}
	return min(sum, whole)
}

// LastingOf is the part of a client's requests that fails without an end, in the median run, 0 where that ends in most.
func (c *Case) LastingOf(client int) Fraction {
	if len(c.Runs) == 0 {
		return 0
	}
	var parts []int64
	for i := range c.Runs {
		parts = append(parts, int64(c.Runs[i].lasting(client, c.Clients[client].Rate)))
	}
	part := Fraction(rangeOf(parts).Median)
	if c.Clients[client].BacksOff && part < nearlyAll {
		return 0 // these connections are tried again, later than the run went on
	}
	return part
}

// Lasting is the greatest part of any client's requests that fails without an end.
func (c *Case) Lasting() Fraction {
	var most Fraction
	for i := range c.Clients {
		most = max(most, c.LastingOf(i))
	}
	return most
}
