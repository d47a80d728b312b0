package record

import (
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gone makes the gaps of default/db in a run, in seconds; a negative one had not ended.
func gone(most int, pods ...Gap) []SetGaps {
	for i := range pods {
		if pods[i].Back = pods[i].For >= 0; !pods[i].Back {
			pods[i].For = -pods[i].For
		}
		pods[i].For *= engine.Second
	}
	return []SetGaps{{Workload: "default/db", Pods: pods, Most: most}}
}

// The gaps of each pod over all runs, whether the case is judged or not: a run in which none went counts for how many went at once, and what
// did not end has no length.
func TestTheGapOfEachPod(t *testing.T) {
	t.Parallel()
	const s = int64(engine.Second)
	want := []Gaps{{Workload: "default/db", Most: Range{0, 1, 2}, Pods: []PodGap{
		{Pod: "db-1", For: Range{4 * s, 5 * s, 9 * s}}, {Pod: "db-0", For: Range{6 * s, 6 * s, 6 * s}, NotBack: 1}, {Pod: "db-2", NotBack: 1},
	}}}
	for _, verdict := range []Verdict{"", NotJudged} {
		c := &Case{Verdict: verdict, Runs: []Run{
			{Seed: 1, Settled: true, Gaps: gone(1, Gap{Pod: "db-1", For: 4}, Gap{Pod: "db-0", For: 6})},
			{Seed: 2, Settled: true},
			{Seed: 3, Settled: true, Gaps: gone(2, Gap{Pod: "db-2", For: -20}, Gap{Pod: "db-0", For: -30}, Gap{Pod: "db-1", For: 9}, Gap{Pod: "db-1", For: 5})},
		}}
		c.Clients = []Client{{Rate: 1000}}
		for i := range c.Runs {
			c.Runs[i].Streams = []Stream{{Totals: ledger.Totals{Total: 10, OK: 10}}}
		}
		c.Close()
		if !reflect.DeepEqual(c.Gaps, want) {
			t.Errorf("%q: %+v, want %+v", verdict, c.Gaps, want)
		}
	}
}

// A Scenario can say how long a pod may be gone, in each run.
func TestWhatIsExpectedOfGaps(t *testing.T) {
	t.Parallel()
	for want, bounds := range map[string][2]engine.Time{
		"": {4, 9}, "gapSeconds: only 4 in seed 1, less than min 4.001": {4*engine.Second + engine.Millisecond, 9},
		"gapSeconds: 9 in seed 2, more than max 8": {4, 8},
	} {
		least, most := bounds[0], bounds[1]*engine.Second
		if least < engine.Second {
			least *= engine.Second
		}
		c := &Case{Expectation: &world.Expect{GapSecondsMin: &least, GapSecondsMax: &most}, Runs: []Run{
			{Seed: 1, Gaps: gone(1, Gap{Pod: "db-1", For: 4}, Gap{Pod: "db-0", For: 6})}, {Seed: 2, Gaps: gone(1, Gap{Pod: "db-1", For: 9})},
		}}
		got := ""
		if out := expectGaps(c); len(out) > 0 {
			got = out[0]
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		c.Runs = append(c.Runs, Run{Seed: 3})
		if out := expectGaps(c); want == "" && (len(out) != 1 || out[0] != "gapSeconds: no pod of a StatefulSet goes in seed 3") {
			t.Errorf("a run in which none goes: %q", out)
		}
	}
}
