package sweep

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A node port of a node that is drained, with policy Local, answers nobody until a pod comes back: that does not end, and is not as long as the
// run is. One that is cut off says nothing of it.
func TestANodePortOfADrainedNodeIsLostWithoutAnEnd(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, "  type: NodePort\n", "  type: NodePort\n  externalTrafficPolicy: Local\n", 1)
	for _, node := range []string{"a", "b"} {
		text += "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node + "}\n"
	}
	for _, until := range []engine.Time{0, 30 * engine.Second} {
		cases := drainedCases(t, text, "drain")
		outside := 0
		for i := range cases {
			cases[i].Scenario.Until = until
		}
		for _, c := range swept(t, cases, Options{Runs: 3}).Cases {
			if !c.Clients[0].External {
				continue
			}
			outside++
			if part := c.Lasting(); until == 0 && (part < 450_000 || part > 550_000) || until > 0 && part != 0 || c.Verdict != record.Drops {
				t.Errorf("until %s s: %s, %d lasts", until.Seconds(), c.Verdict, part)
			}
			if limits := (record.Limits{MaxLost: engine.Hour}); c.Fails(limits) != (until == 0) {
				t.Errorf("until %s s: a finding %v", until.Seconds(), c.Fails(limits))
			}
		}
		if outside == 0 {
			t.Error("nobody asks from outside")
		}
	}
}
