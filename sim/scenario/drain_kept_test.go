package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What is not simulated keeps a drain from its end where a budget does not let it go as things are, or where it is on its way out and there is
// no kubelet to stop it. Reference: docs/model/controllers.md 6, k8s.io/kubectl v0.36.3 pkg/drain/drain.go.
func TestWhatIsNotSimulatedMayKeepADrain(t *testing.T) {
	t.Parallel()
	budget := func(name, spec, status string) string {
		return "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " + name + ", namespace: shop}, spec: {selector: {}, " + spec + "}" + status + "}\n"
	}
	const none, one = ", status: {observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 2}", ", status: {observedGeneration: 1, disruptionsAllowed: 1}"
	db := livePod("db-0", "Redis db", "n1", "")
	sick := livePod("db-0", "Redis db", "n1", unready)
	going := strings.Replace(db, "name: db-0,", "name: db-0, deletionTimestamp: '2026-01-01T00:00:00Z',", 1)
	silent := strings.Replace(threeNodes, "name: n1}", "name: n1}, spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}", 1)
	for _, tt := range []struct{ what, input, want string }{
		{"no budget", threeNodes + db, ""},
		{"a status that allows one", threeNodes + db + budget("b", "minAvailable: 1", one), ""},
		{"a status that allows none", threeNodes + db + budget("b", "minAvailable: 1", none), "PodDisruptionBudget b (minAvailable 1) allows no eviction now"},
		{"no status, and no pod more than there are to be", threeNodes + db + budget("b", "minAvailable: 1", ""), "PodDisruptionBudget b (minAvailable 1) allows no eviction now"},
		{"no status, and one pod more", threeNodes + db + livePod("db-1", "Redis db", "n2", "") + budget("b", "minAvailable: 1", ""), ""},
		{"no status, and one pod more that is not ready", threeNodes + db + livePod("db-1", "Redis db", "n2", unready) + budget("b", "minAvailable: 1", ""), "PodDisruptionBudget b (minAvailable 1) allows no eviction now"},
		{"no status, and what its controller says counts", threeNodes + db + budget("b", "maxUnavailable: 0", ""), ""},
		{"a pod that is not ready, while enough are", threeNodes + sick + budget("b", "minAvailable: 2", none), ""},
		{"a pod that is not ready, while too few are", threeNodes + sick + budget("b", "minAvailable: 1", ""), "PodDisruptionBudget b (minAvailable 1) allows no eviction now"},
		{"a pod that is not ready, with AlwaysAllow", threeNodes + sick + budget("b", "minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow", ""), ""},
		{"a pod that is Pending", threeNodes + livePod("db-0", "Redis db", "n1", pending) + budget("b", "minAvailable: 1", ""), ""},
		{
			"two budgets", threeNodes + db + budget("b", "minAvailable: 0", one) + budget("c", "minAvailable: 0", one),
			"PodDisruptionBudget b (minAvailable 0) and PodDisruptionBudget c (minAvailable 0) both cover it, which the eviction API does not support",
		},
		{"on its way out", threeNodes + going, ""},
		{"on its way out where no kubelet is", silent + going, "on its way out already, and nobody stops it"},
	} {
		cases, problems := casesIn(t, placedWeb+livePod("web-1", "ReplicaSet web-7c9d", "n2", unready)+tt.input, Options{Actions: []string{"drain=n2", "n1"}})
		if len(cases) == 0 {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		got := ""
		on, node := cases[0].Drain.KeptBy()
		if on != nil {
			got = on.Why
			if want := "Redis shop/db (" + on.Why + ")"; on.Words() != want || node.Name != "n1" || strings.Contains(node.LetsGo(), "kubelet") != node.Silent {
				t.Errorf("%s: %s on %s", tt.what, on.Words(), node.Name)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// A bare Pod that has run to its end, or is on its way to it, is no server.
func TestABarePodThatIsOverIsNoWorkload(t *testing.T) {
	t.Parallel()
	running := livePod("bare", "", "n1", "")
	for _, tt := range []struct {
		pod  string
		want int
	}{
		{running, 1},
		{livePod("bare", "", "n1", "status: {phase: Succeeded}"), 0},
		{livePod("bare", "", "n1", "status: {phase: Failed}"), 0},
		{strings.Replace(running, "name: bare,", "name: bare, deletionTimestamp: '2026-01-01T00:00:00Z',", 1), 0},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(tt.pod)}}, manifest.Options{})
		if w := newInventory(objects.All); len(w.workloads) != tt.want || len(w.pods) != 1 {
			t.Errorf("%s: %d workloads, %d pods", tt.pod, len(w.workloads), len(w.pods))
		}
	}
}
