package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// clientsLose is a case of one run for each row: what each of its clients loses there, in milliseconds.
func clientsLose(rows ...[]engine.Time) *Case {
	c := &Case{}
	for _, row := range rows {
		var r Run
		r.Settled = true
		for _, ms := range row {
			r.Streams = append(r.Streams, Stream{LostSeconds: ms * engine.Millisecond, LongestOutage: ms * engine.Millisecond})
		}
		c.Runs = append(c.Runs, r)
	}
	c.Close()
	return c
}

func TestACasesFigureIsThatOfOneOfItsClients(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows         [][]engine.Time
		lost, outage Range
	}{
		"the client with the greatest median, and the highest of any": {
			rows: [][]engine.Time{{100, 400}, {300, 200}, {350, 50}},
			lost: Range{100, 300, 400}, outage: Range{100, 300, 400},
		},
		"medians that are equal: the one that may lose more": {
			rows: [][]engine.Time{{0, 0}, {0, 0}, {10, 50}},
			lost: Range{0, 0, 50}, outage: Range{0, 0, 50},
		},
		"one of them loses in each run, and none in most": {
			rows: [][]engine.Time{{2000, 0, 0}, {0, 3000, 0}, {0, 0, 4000}},
			lost: Range{2000, 3000, 4000}, outage: Range{2000, 3000, 4000},
		},
	} {
		c := clientsLose(test.rows...)
		for i, p := range []struct{ got, want Range }{{c.LostSeconds, test.lost}, {c.LongestOutage, test.outage}} {
			want := Range{p.want.Min * int64(engine.Millisecond), p.want.Median * int64(engine.Millisecond), p.want.Max * int64(engine.Millisecond)}
			if p.got != want {
				t.Errorf("%s: figure %d is %v, want %v", name, i, p.got, want)
			}
		}
	}
}
