package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// pooled is a Node that says of which pool it is.
func pooled(name, label, pool, more string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s: %s}}%s}\n", name, label, pool, more)
}

const tainted = ", spec: {taints: [{key: gpu, effect: NoSchedule}]}"

// nodePoolOf is a NodePool with a budget, and what its template says.
func nodePoolOf(name, budget, template string) string {
	return fmt.Sprintf("---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: %s}, spec: {disruption: {budgets: [{nodes: '%s'}]}, template: {%s}}}\n", name, budget, template)
}

// Whose cluster it is stands in a providerID of a Node, else in the label of a managed pool.
func TestWhoseClusterTheNodesAreOf(t *testing.T) {
	t.Parallel()
	gke := pooled("n1", "cloud.google.com/gke-nodepool", "a", "")
	for text, want := range map[string]string{
		altWeb:       "  ",
		altWeb + gke: "gce n1 label cloud.google.com/gke-nodepool of Node n1",
		altWeb + pooled("n1", "eks.amazonaws.com/nodegroup", "a", "") + pooled("n2", "agentpool", "a", ""): "aws n1 label eks.amazonaws.com/nodegroup of Node n1",
		altWeb + gke + pooled("n2", "disk", "fast", ", spec: {providerID: 'hcloud://7'}"):                  "hcloud n2 providerID hcloud of Node n2",
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		provider, node, why := providerOf(newInventory(objects.All).nodes)
		if got := provider + " " + node + " " + why; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A node is disrupted by the budget of the NodePool that it is of: by its label, and else by which nodes the pods may be on. Reference:
// docs/model/controllers.md 8.1 Pools.
func TestTheNodePoolOfAWorkload(t *testing.T) {
	t.Parallel()
	one, two := nodePoolOf("one", "1", "spec: {taints: [{key: gpu, effect: NoSchedule}]}"), nodePoolOf("two", "2", "metadata: {labels: {disk: fast}}")
	onFast := strings.Replace(altWeb, "    spec:\n", "    spec:\n      nodeSelector: {disk: fast}\n", 1)
	if onFast == altWeb {
		t.Fatal("the workload selects no node")
	}
	for name, c := range map[string]struct {
		input string
		want  string // of what is assumed
		pool  []string
		why   string
	}{
		"no NodePool":               {altWeb, "budget 10% of the nodes", nil, ""},
		"of another taint":          {altWeb + one + two, "by NodePool two", nil, ""},
		"in their order":            {altWeb + two + one, "by NodePool two", nil, ""},
		"by its labels":             {onFast + nodePoolOf("zero", "3", "") + two, "by NodePool two", nil, ""},
		"none takes it: the first":  {onFast + one, "by NodePool one", nil, ""},
		"by the label of the nodes": {altWeb + two + nodePoolOf("b", "7", "") + pooled("n1", nodePoolLabel, "b", "") + pooled("n2", nodePoolLabel, "b", ""), "by NodePool b", []string{"n1", "n2"}, ""},
		"the nodes it may run on":   {altWeb + nodePoolOf("a", "7", "") + two + pooled("n1", nodePoolLabel, "a", tainted) + pooled("n2", nodePoolLabel, "two", ""), "by NodePool two", []string{"n2"}, ""},
		"it is not in the input":    {altWeb + two + pooled("n1", nodePoolLabel, "b", "") + pooled("n2", nodePoolLabel, "b", ""), "budget 10% of the nodes of NodePool b, which the input does not have", []string{"n1", "n2"}, ""},
		"its budget is 0":           {altWeb + two + nodePoolOf("b", "0", "") + pooled("n1", nodePoolLabel, "b", ""), "", nil, "NodePool b lets no node go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, problems := casesIn(t, c.input, Options{Actions: []string{"karpenter"}})
			if c.why != "" {
				if cases[0].Scenario != nil || !strings.Contains(cases[0].Reason, c.why) {
					t.Errorf("judged, or for another reason: %s", cases[0].Reason)
				}
				return
			}
			s := cases[0].Scenario
			if s == nil {
				t.Fatal(cases[0].Reason, problems)
			}
			i := slices.IndexFunc(s.Assumptions, func(a world.Assumption) bool { return a.ID == "pool" })
			o, ok := s.Actions[0].Operation.(world.Consolidate)
			if !ok || !strings.Contains(s.Assumptions[i].Value, c.want) || !slices.Equal(o.Pool, c.pool) {
				t.Errorf("%q, nodes %q; want %q, %q", s.Assumptions[i].Value, o.Pool, c.want, c.pool)
			}
		})
	}
}

// A budget in per cent is of the nodes of its NodePool, and the node with most pods is looked for among these.
func TestABudgetIsOfItsNodePool(t *testing.T) {
	t.Parallel()
	input := altWeb + nodePoolOf("b", "50%", "")
	for i := range 6 {
		input += pooled(fmt.Sprintf("n%d", i), nodePoolLabel, map[bool]string{true: "b", false: "other"}[i < 2], map[bool]string{false: tainted}[i < 2])
	}
	cases, _ := casesIn(t, input, Options{Actions: []string{"karpenter"}})
	s := cases[0].Scenario
	if taking, ok := s.TakingOf(&s.Actions[0]); !ok || taking.AtOnce != 1 || !strings.Contains(s.Actions[0].Value(), "budget=50% of 2") {
		t.Errorf("%d nodes at a time: %s", taking.AtOnce, s.Actions[0].Value())
	}
}

// A managed pool is upgraded as a whole, and no other: that which most pods of the workload are on, or may be on. Whose it is is known by the
// label, and clients are on other nodes. Reference: docs/model/controllers.md 8.2 Pools.
func TestOnePoolIsUpgraded(t *testing.T) {
	t.Parallel()
	const gke, eks, aks = "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool"
	pod := func(name, node string) string {
		return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: web-1-%s, namespace: shop, labels: {app: web, pod-template-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: true, uid: u}]}, spec: {nodeName: %s, containers: [{name: c, image: i}]}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}\n", name, node)
	}
	for name, c := range map[string]struct {
		input, provider string
		pool            []string
	}{
		"nothing says so":    {altWeb + "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n", world.PoolGKE, nil},
		"where it may run":   {altWeb + pooled("n1", eks, "a", tainted) + pooled("n2", eks, "b", "") + pooled("n3", eks, "b", ""), world.PoolEKS, []string{"n2", "n3"}},
		"the larger":         {altWeb + pooled("n1", aks, "a", "") + pooled("n2", aks, "b", "") + pooled("n3", aks, "b", ""), world.PoolAKS, []string{"n2", "n3"}},
		"where its pods are": {altWeb + pooled("n1", gke, "a", "") + pooled("n2", gke, "b", "") + pooled("n3", gke, "b", "") + pod("x", "n1"), world.PoolGKE, []string{"n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, problems := casesIn(t, c.input, Options{Actions: []string{"pool-upgrade"}})
			s := cases[0].Scenario
			if s == nil {
				t.Fatal(cases[0].Reason, problems)
			}
			o, ok := s.Actions[0].Operation.(world.UpgradePool)
			if !ok || o.Provider != c.provider || !slices.Equal(o.Nodes, c.pool) {
				t.Errorf("%s %q, want %s %q", o.Provider, o.Nodes, c.provider, c.pool)
			}
			for i := range s.Traffic {
				for _, n := range s.Traffic[i].Nodes {
					if slices.Contains(c.pool, n) || strings.HasSuffix(n, "-new") {
						t.Errorf("clients run on %s", n)
					}
				}
			}
		})
	}
}

// What is done to nodes on which no pod of a workload is, or can be, is not done to that workload: nothing is said to hold.
func TestAPoolOfOthersIsNotTakenFromAWorkload(t *testing.T) {
	t.Parallel()
	const eks = "eks.amazonaws.com/nodegroup"
	on := "---\n{apiVersion: v1, kind: Pod, metadata: {name: web-1-x, namespace: shop, labels: {app: web, pod-template-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: true, uid: u}]}, spec: {nodeName: n2, containers: [{name: c, image: i}]}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}\n"
	for _, c := range []struct{ action, label, spec, more, want string }{
		{"pool-upgrade", eks, tainted, "", "nothing to upgrade: none of its pods is, or may be, on a node of a managed pool of the input"},
		{"pool-upgrade", eks, "", on, "nothing to upgrade: none of its pods"},
		{"pool-upgrade", eks, "", "", ""},
		{"karpenter", nodePoolLabel, tainted, "", "nothing to replace: none of its pods is, or may be, on a node of a NodePool of the input"},
		{"karpenter", nodePoolLabel, "", on, "nothing to replace: none of its pods"},
		{"karpenter", nodePoolLabel, "", "", ""},
	} {
		nodes := pooled("n1", c.label, "system", c.spec) + pooled("n2", "role", "apps", "") + pooled("n3", "role", "apps", "")
		cases, problems := casesIn(t, altWeb+nodes+c.more, Options{Actions: []string{c.action}})
		if len(cases) != 1 || (cases[0].Scenario == nil) != (c.want != "") || !strings.Contains(cases[0].Reason, c.want) {
			t.Errorf("%+v: %+v, %v", c, cases, problems)
		}
	}
}

// Whose pool is upgraded is told by a node of that pool.
func TestWhosePoolItIsIsToldByItsOwnNodes(t *testing.T) {
	t.Parallel()
	const gke = "cloud.google.com/gke-nodepool"
	cases, problems := casesIn(t, altWeb+pooled("n1", gke, "system", tainted)+pooled("n2", gke, "apps", ""), Options{Actions: []string{"pool-upgrade"}})
	if len(cases) != 1 || cases[0].Scenario == nil {
		t.Fatal(cases, problems)
	}
	for _, a := range cases[0].Scenario.Assumptions {
		if a.ID == "pool" && !strings.HasSuffix(a.Value, "pool apps, by "+gke+" of Node n2") {
			t.Error(a.Value)
		}
	}
}

// Where the only node is replaced, clients are elsewhere: on it they would go with it, and nobody would ask the pods that come back.
func TestClientsOutliveTheOnlyNode(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[string]string{ // order: each for itself
		pooled("n1", nodePoolLabel, "a", ""):                                        "[clients-1]",
		pooled("n1", nodePoolLabel, "a", "") + pooled("n2", nodePoolLabel, "a", ""): "[]",
	} {
		cases, problems := casesIn(t, altWeb+nodes, Options{Actions: []string{"karpenter"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(cases, problems)
		}
		s := cases[0].Scenario
		if got := fmt.Sprint(s.Traffic[0].Nodes); got != want {
			t.Errorf("clients are on %s, want %s", got, want)
		}
		if there := slices.Contains(world.NodeNames(s.Nodes), "clients-1"); there != (want != "[]") {
			t.Errorf("nodes %v", world.NodeNames(s.Nodes))
		}
	}
}
