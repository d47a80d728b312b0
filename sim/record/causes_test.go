package record

import (
	"testing"

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
