package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A line says for how long each pod of a StatefulSet is gone; of many it names the first two and the last.
func TestTheGapOfEachPodInWords(t *testing.T) {
	t.Parallel()
	pods := func(names ...string) (out []record.PodGap) {
		for i, name := range names {
			s := int64(i+4) * int64(engine.Second)
			out = append(out, record.PodGap{Pod: name, For: record.Range{Min: s, Median: s, Max: s + int64(engine.Second)}})
		}
		return out
	}
	alone := pods("db-0")
	alone[0].For.Max = alone[0].For.Min
	open := pods("db-1", "db-0")
	open[0].NotBack = 1
	for _, c := range []struct {
		most int64
		pods []record.PodGap
		want string
	}{
		{1, alone, "db-0 is gone for 4 s"},
		{1, pods("db-0"), "db-0 is gone for 4 s (medians; at most 5 s)"},
		{1, pods("db-1", "db-0"), "db-1 is gone for 4 s and db-0 for 5 s, one at a time (medians; at most 6 s)"},
		{2, pods("db-2", "db-1", "db-0"), "db-2 is gone for 4 s, db-1 for 5 s and db-0 for 6 s, up to 2 at once (medians; at most 7 s)"},
		{1, pods("db-4", "db-3", "db-2", "db-1", "db-0"), "db-4 is gone for 4 s, db-3 for 5 s and so on to db-0 for 8 s, one at a time (medians; at most 9 s)"},
		{1, open, ""},
		{1, []record.PodGap{{Pod: "db-0"}}, ""},
		{0, nil, ""},
	} {
		if got := gapWords(&record.Gaps{Pods: c.pods, Most: record.Range{Max: c.most}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
