package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// What fails for the same cause from some moment until the end of most runs does not end, whatever the seconds of it come to. Two causes that
// both go on add up; one that is over, that is rare, or that a run was cut off in does not count.
func TestALossThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	group := func(cause ledger.Cause, first, last engine.Time, n uint64) ledger.Group {
		return ledger.Group{Blame: ledger.Blame{Cause: cause}, First: first, Last: last, Count: n}
	}
	half := group(ledger.NoLocalEndpoint, 20*sec, 60*sec, 2000)
	for name, c := range map[string]struct {
		groups []ledger.Group
		cut    bool
		want   Fraction
	}{
		"nothing":        {nil, false, 0},
		"half of it":     {[]ledger.Group{half}, false, 500_000},
		"two causes":     {[]ledger.Group{half, group(ledger.NodeGone, 39*sec+sec/2, 60*sec-sec/2, 500)}, false, 750_000},
		"all and more":   {[]ledger.Group{half, group(ledger.NodeGone, 20*sec, 60*sec, 2100)}, false, 1_000_000},
		"over before":    {[]ledger.Group{group(ledger.NodeGone, 20*sec, 58*sec, 1900)}, false, 0},
		"just begun":     {[]ledger.Group{group(ledger.NodeGone, 55*sec, 60*sec, 500)}, false, 0},
		"a few":          {[]ledger.Group{group(ledger.NodeGone, 20*sec, 60*sec, 9)}, false, 0},
		"now and then":   {[]ledger.Group{group(ledger.KeepaliveRace, 20*sec, 60*sec, 400)}, false, 0},
		"cut off":        {[]ledger.Group{half}, true, 0},
		"another client": {[]ledger.Group{{Stream: 1, First: 20 * sec, Last: 60 * sec, Count: 2000}}, false, 0},
		"without a rate": {[]ledger.Group{{Stream: 2, First: 20 * sec, Last: 60 * sec, Count: 2000}}, false, 0},
	} {
		runs := []Run{{End: 60 * sec, CutOff: c.cut, Groups: c.groups}, {End: 60 * sec, CutOff: c.cut, Groups: c.groups}, {End: 60 * sec}}
		x := &Case{Clients: []Client{{Rate: 100_000}, {Rate: 0}, {Rate: 0}}, Runs: runs}
		if got := x.Lasting(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	backing := &Case{Clients: []Client{{Rate: 100_000, BacksOff: true}}, Runs: []Run{{End: 60 * sec, Groups: []ledger.Group{half}}}}
	if got := backing.Lasting(); got != 0 {
		t.Errorf("clients that wait to connect again: %d", got)
	}
	backing.Runs[0].Groups = []ledger.Group{group(ledger.NodeGone, 20*sec, 60*sec, 4000)}
	if got := backing.Lasting(); got != 1_000_000 {
		t.Errorf("all of them: %d", got)
	}
	if got := new(Case).Lasting(); got != 0 {
		t.Error(got)
	}
}

// An outage of which all goes on is one for good, whether pods are ready or not: the Service may be gone. One of which a part goes on is none.
func TestAnOutageThatGoesOnIsForGood(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	for n, want := range map[uint64]bool{4000: true, 2000: false} {
		r := Run{
			End: 60 * sec, Settled: true, Usable: Usable{Now: 3},
			Streams: []Stream{{Totals: ledger.Totals{Total: 6000, Failed: n}, LostSeconds: 40 * sec, LongestOutage: 40 * sec}},
			Groups:  []ledger.Group{{First: 20 * sec, Last: 60 * sec, Count: n}},
		}
		c := &Case{Clients: []Client{{Rate: 100_000}}, Runs: []Run{r}}
		c.Close()
		if c.Verdict != Outage || c.ForGood() != want {
			t.Errorf("%d failed: %s, for good %v", n, c.Verdict, c.ForGood())
		}
	}
}
