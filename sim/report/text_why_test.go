package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// What is less than a hundredth of the loss has no row of its own but for those who ask for everything.
func TestSmallCausesShareARow(t *testing.T) {
	t.Parallel()
	c := &record.Case{Runs: []record.Run{{Streams: []record.Stream{{Totals: ledger.Totals{Total: 2000, Failed: 1000}}}}}, Causes: []record.Cause{
		{Blame: ledger.Blame{Cause: ledger.NodeGone}, Count: 986}, {Blame: ledger.Blame{Cause: ledger.StaleRules}, Count: 10},
		{Blame: ledger.Blame{Cause: ledger.Crashed}, Count: 3}, {Blame: ledger.Blame{Cause: ledger.NoEndpoint}, Count: 1},
	}}
	for verbose, want := range map[bool]string{
		false: "99 % the node behind the connection is gone node-gone 1 % a node's rules are out of date stale-rules <1 % 2 more causes, each less than 1 % (-v) ",
		true: "99 % the node behind the connection is gone node-gone 1 % a node's rules are out of date stale-rules <1 % the process crashed crashed " +
			"<1 % no pod is ready, on any node no-endpoint ",
	} {
		text := newText(&record.Simulation{}, TextOptions{Verbose: verbose}, everything)
		text.causes(c)
		if got := flow(text.String()); got != " "+want && got != want {
			t.Errorf("verbose %v: %q, want %q", verbose, got, want)
		}
	}
}

// Where nothing was answered though pods could, both are said so that they agree.
func TestPodsThatNobodyWasLedTo(t *testing.T) {
	t.Parallel()
	const led = ": pods were there all the time, also while nothing was answered"
	for _, tt := range []struct {
		usable record.Usable
		outage engine.Time
		want   string
	}{
		{record.Usable{Of: 3, Min: 2, For: engine.Second}, 0, "At the worst moment 2 of 3 pods could answer, for 1 s in the worst run."},
		{record.Usable{Of: 3, Min: 2, For: engine.Second}, engine.Second, "At the worst moment 2 of 3 pods could answer, for 1 s in the worst run" + led + "."},
		{record.Usable{Of: 3, For: engine.Second}, engine.Second, "At the worst moment 0 of 3 pods could answer, for 1 s in the worst run."},
		{record.Usable{Of: 3, Min: 3, For: engine.Second}, engine.Second, ""},
	} {
		if got := fewestWords(&record.Case{Usable: tt.usable, LongestOutage: record.Range{Median: int64(tt.outage)}}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.usable, got, tt.want)
		}
	}
}
