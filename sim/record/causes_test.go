package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// The cause of most of what is lost comes first, whether or not another pod could have answered in all of it.
func TestTheCauseOfMostComesFirst(t *testing.T) {
	t.Parallel()
	group := func(cause ledger.Cause, elsewhere bool, n uint64) ledger.Group {
		return ledger.Group{Blame: ledger.Blame{Cause: cause, Elsewhere: elsewhere}, Count: n}
	}
	c := &Case{Runs: []Run{{Groups: []ledger.Group{
		group(ledger.ListenerClosed, true, 38), group(ledger.NotListeningYet, true, 25), group(ledger.NotListeningYet, false, 29), group(ledger.StaleRules, true, 8),
	}}}}
	var got []ledger.Cause
	for _, x := range causesOf(c) {
		got = append(got, x.Cause)
	}
	want := []ledger.Cause{ledger.NotListeningYet, ledger.NotListeningYet, ledger.ListenerClosed, ledger.StaleRules}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// A cause has what it did in all runs: how often clients saw which outcome, since when and until when, and its example in the worst run.
func TestACauseIsAddedUpOverRuns(t *testing.T) {
	t.Parallel()
	group := func(outcome ledger.Outcome, n uint64, first, last engine.Time, example uint64) ledger.Group {
		return ledger.Group{Blame: ledger.Blame{Cause: ledger.StaleRules}, Outcome: outcome, Count: n, First: first, Last: last, Example: ledger.Request{Number: example}}
	}
	c := &Case{WorstSeed: 2, Runs: []Run{
		{Seed: 1, Groups: []ledger.Group{group(ledger.Refused, 3, 5, 9, 1), group(ledger.Timeout, 4, 2, 7, 2)}},
		{Seed: 2, Groups: []ledger.Group{group(ledger.Refused, 5, 6, 11, 3), group(ledger.Refused, 1, 6, 11, 4)}},
	}}
	got := causesOf(c)
	if len(got) != 1 {
		t.Fatal(got)
	}
	x := got[0]
	if x.Count != 13 || x.Outcomes[ledger.Refused] != 9 || x.Outcomes[ledger.Timeout] != 4 || x.First != 2 || x.Last != 11 || x.Example.Seed != 2 || x.Example.Request.Number != 3 {
		t.Errorf("%+v", x)
	}
}
