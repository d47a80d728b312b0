package report

import (
	"slices"
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
			"with no grace period: a preStop hook has 1 s, and SIGKILL follows SIGTERM after 2 s (web.yaml:40)": {{}, {Overruled: []record.Overruled{of("a", false), of("b", false)}}},
		"PodDisruptionBudget web allows no eviction. GKE asks for 60 min at the node, then deletes the pods, whatever the budget says, " +
			"with what is left of their grace periods (web.yaml:40)": {{Overruled: []record.Overruled{of("a", true)}}},
	} {
		if got := strings.Join((&text{}).overruled(&record.Case{Runs: runs}), "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The result has each node at which a budget is overruled once, and in how many runs.
func TestResultHasWhatIsOverruled(t *testing.T) {
	t.Parallel()
	of := func(node string, left bool, limit engine.Time) record.Overruled {
		return record.Overruled{Workload: "shop/web", Node: node, By: "AKS", Why: "no", Limit: limit, Left: left, File: "web.yaml", Line: 40}
	}
	got := overruledOf(&record.Case{Runs: []record.Run{
		{}, {Overruled: []record.Overruled{of("b", true, engine.Hour)}}, {Overruled: []record.Overruled{of("a", false, engine.Second), of("b", true, engine.Hour)}},
	}})
	want := []Overruled{
		{"shop/web", "b", "AKS", "no", engine.Hour, true, &Source{"web.yaml", 40}, 2},
		{"shop/web", "a", "AKS", "no", engine.Second, false, &Source{"web.yaml", 40}, 1},
	}
	if !slices.EqualFunc(got, want, func(a, b Overruled) bool {
		same := a.Source != nil && *a.Source == *b.Source
		a.Source, b.Source = nil, nil
		return same && a == b
	}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if none := overruledOf(&record.Case{Runs: make([]record.Run, 2)}); none == nil || len(none) > 0 {
		t.Errorf("%v is to be an empty list", none)
	}
}

func TestRatesAreNamed(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]string{1000: "1 request/s", 500: "0.5 requests/s", 2000: "2 requests/s"} {
		if got := perSecond(rate); got != want {
			t.Errorf("%d: %q, want %q", rate, got, want)
		}
	}
}
