package sweep

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Where a Service leads to pods of several workloads, a node without an answer has a pod of none of them: it is the Service that is named.
func TestANodeWithoutAPodOfAnyWorkloadNamesTheService(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"one workload": false, "two workloads": true} { // order: each for itself
		cases := webOn(t, "  type: NodePort\n  externalTrafficPolicy: Local\n", scenario.Options{})
		sc := cases[0].Scenario
		if both {
			beside := sc.Workloads[0]
			beside.Aside = true
			sc.Workloads = append(sc.Workloads, beside)
		}
		want := ""
		if both {
			want = "web"
		}
		if got := recordOf(&cases[0], sc).Clients[0].Shared; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What two changes cost alike is said once.
func TestWhatChangesCostAlikeIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := &search{workload: "shop/web"}
	change := func(id, cost, destructive string) fix.Change {
		return fix.Change{ID: id, Title: id, Cost: cost, Destructive: destructive}
	}
	f := s.describe(&attempt{changes: []fix.Change{change("a", "one hop", "x"), change("b", "one hop", "y"), change("c", "a pod", "x")}})
	if f.Cost != "one hop; a pod" || f.Destructive != "x; y" || strings.Count(f.Cost, "hop") != 1 {
		t.Errorf("%q, %q", f.Cost, f.Destructive)
	}
}
