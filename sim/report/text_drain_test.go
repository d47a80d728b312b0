package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Of the Services with pods on a node that is drained it is said how many lose something in any run, of those that are judged and that
// this drain is about.
func TestHowManyServicesNoticeADrain(t *testing.T) {
	t.Parallel()
	drain := &record.Case{Action: "drain=a", Kind: scenario.KindNode}
	entry := func(action string, verdict record.Verdict, withLoss int) *record.Case {
		return &record.Case{Action: action, Kind: "Deployment", Verdict: verdict, WithLoss: withLoss}
	}
	holds, loses := entry("drain=a", record.Holds, 0), entry("drain=a", record.Drops, 1)
	for name, c := range map[string]struct {
		entries []*record.Case
		want    string
	}{
		"none":                  {nil, " Nothing that is judged has pods there."},
		"others":                {[]*record.Case{drain, entry("drain=b", record.Drops, 3), entry("drain=a", record.NotJudged, 3)}, " Nothing that is judged has pods there."},
		"one that holds":        {[]*record.Case{holds}, " Nothing is lost of the traffic of 1 Service entry."},
		"two that hold":         {[]*record.Case{holds, holds}, " Nothing is lost of the traffic of 2 Service entries."},
		"one that loses":        {[]*record.Case{drain, loses}, " 1 of 1 Service entry loses traffic."},
		"one of two that loses": {[]*record.Case{loses, holds}, " 1 of 2 Service entries lose traffic."},
	} {
		if got := noticedWords(c.entries, drain); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
