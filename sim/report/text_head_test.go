package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A budget that somebody overrules after a while is named with how long that takes at each node, and how the pods end then.
func TestABudgetThatIsOverruledIsNamed(t *testing.T) {
	t.Parallel()
	of := func(node string, left bool) record.Overruled {
		return record.Overruled{Workload: "shop/web", Node: node, By: "GKE", Why: "PodDisruptionBudget web allows no eviction", Limit: engine.Hour, Left: left, File: "web.yaml", Line: 40}
	}
	for want, runs := range map[string][]record.Run{
		"": {{}, {}},
		"PodDisruptionBudget web allows no eviction. GKE asks for 60 min at each of 2 nodes, then deletes the pods, whatever the budget says, " +
			"with no grace period: SIGKILL, and no preStop hook (web.yaml:40)": {{}, {Overruled: []record.Overruled{of("a", false), of("b", false)}}},
		"PodDisruptionBudget web allows no eviction. GKE asks for 60 min at the node, then deletes the pods, whatever the budget says, " +
			"with what is left of their grace periods (web.yaml:40)": {{Overruled: []record.Overruled{of("a", true)}}},
	} {
		if got := strings.Join((&text{}).overruled(&record.Case{Runs: runs}), "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
