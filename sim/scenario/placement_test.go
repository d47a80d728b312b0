package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// placedWeb is a Deployment of three replicas and its Service.
const placedWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// livePod writes a Pod as kubectl prints it, cut to what counts. owner is "Kind name", or "".
func livePod(name, owner, node, rest string) string {
	var ref string
	if kind, of, ok := strings.Cut(owner, " "); ok {
		ref = fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u, controller: true}]", kind, of)
	}
	if node != "" {
		node = "nodeName: " + node + ", "
	}
	if rest == "" {
		rest = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}"
	}
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: shop, labels: {app: web, pod-template-hash: 7c9d}%s}, spec: {%scontainers: [{name: c, image: x}]}, %s}\n",
		name, ref, node, rest)
}

const (
	threeNodes = "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: n2}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: n3}}\n"
	unready    = "status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}"
	pending    = "status: {phase: Pending}"
)

// Pods are those of a Deployment by their ReplicaSet, or, without that, by its name; what is over, or on no node of the cluster, is none.
func TestPodsArePlacedWhereTheInputHasThem(t *testing.T) {
	t.Parallel()
	const set = "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: odd, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}}}\n"
	ready := func(nodes ...string) (out []world.Placed) {
		for _, n := range nodes {
			out = append(out, world.Placed{Node: n, Ready: true})
		}
		return out
	}
	for name, tc := range map[string]struct {
		input string
		want  []world.Placed
	}{
		"no pods":                             {threeNodes, nil},
		"by the name of the ReplicaSet":       {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n3", "") + livePod("b", "ReplicaSet web-7c9d", "n3", ""), ready("n3", "n3")},
		"by the ReplicaSet":                   {threeNodes + set + livePod("a", "ReplicaSet odd", "n2", ""), ready("n2")},
		"of a ReplicaSet of another":          {threeNodes + livePod("a", "ReplicaSet api-7c9d", "n2", ""), nil},
		"that no controller keeps":            {threeNodes + livePod("a", "StatefulSet web", "n2", ""), nil},
		"those that are not ready come last":  {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", unready) + livePod("b", "ReplicaSet web-7c9d", "n2", ""), append(ready("n2"), world.Placed{Node: "n1"})},
		"and those that are Pending after it": {threeNodes + livePod("a", "ReplicaSet web-7c9d", "", pending) + livePod("b", "ReplicaSet web-7c9d", "n2", unready), []world.Placed{{Node: "n2"}, {}}},
		"one that has failed is none":         {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", "status: {phase: Failed}"), nil},
		"one on a node that there is not":     {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n9", ""), nil},
		"no more than replicas":               {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", unready) + livePod("b", "ReplicaSet web-7c9d", "n1", "") + livePod("c", "ReplicaSet web-7c9d", "n2", "") + livePod("d", "ReplicaSet web-7c9d", "n3", ""), ready("n1", "n2", "n3")},
		"without Nodes they are of the pods":  {livePod("a", "ReplicaSet web-7c9d", "big", ""), ready("big")},
		"what it costs to delete one": {
			threeNodes + strings.Replace(livePod("a", "ReplicaSet web-7c9d", "n1", ""), "labels:", `annotations: {controller.kubernetes.io/pod-deletion-cost: "-100"}, labels:`, 1) +
				strings.Replace(livePod("b", "ReplicaSet web-7c9d", "n2", ""), "labels:", `annotations: {controller.kubernetes.io/pod-deletion-cost: "+100"}, labels:`, 1),
			[]world.Placed{{Node: "n1", Ready: true, Cost: -100}, {Node: "n2", Ready: true}},
		},
		"one written by hand is taken as well": {threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", "status: {}"), ready("n1")},
	} {
		cases, problems := casesIn(t, placedWeb+tc.input, Options{})
		if len(cases) == 0 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if diff := cmp.Diff(tc.want, cases[0].Scenario.Workloads[0].Placed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if placed := strings.Contains(Normal(cases[0].Scenario), "placed: ["); placed != (tc.want != nil) {
			t.Errorf("%s: the normal form says placed: %v", name, placed)
		}
	}
}

// A bare Pod in a manifest says nothing of how it is: it is where the scheduler would have put it, and well. One of a cluster is as its
// status says.
func TestABarePodOfAManifestIsWell(t *testing.T) {
	t.Parallel()
	const service = "---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n"
	for name, tc := range map[string]struct {
		pod  string
		want []world.Placed
	}{
		"a manifest's":                {livePod("a", "", "", "status: {}"), nil},
		"a manifest's, bound by hand": {livePod("a", "", "n1", "status: {}"), []world.Placed{{Node: "n1", Ready: true}}},
		"a cluster's":                 {livePod("a", "", "n1", unready), []world.Placed{{Node: "n1"}}},
		"a cluster's that is Pending": {livePod("a", "", "", pending), []world.Placed{{}}},
	} {
		cases, problems := casesIn(t, threeNodes+tc.pod+service, Options{Actions: []string{"evict"}})
		if len(cases) == 0 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if diff := cmp.Diff(tc.want, cases[0].Scenario.Workloads[0].Placed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// casesIn makes the cases of one text.
func casesIn(t *testing.T, text string, opts Options) ([]Case, []manifest.Problem) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	return inferKept(t, objects, opts)
}

// workerless is a Deployment without a Service on a node.
const workerless = `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: shop}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec: {containers: [{name: w, image: registry.example.com/worker}]}
`

// A drain of a node is one world for all: its own case, and one of each Service entry that has pods there. What nobody asks is in it,
// too; what has its pods elsewhere is not.
func TestTheCasesOfADrainOfANode(t *testing.T) {
	t.Parallel()
	api := strings.ReplaceAll(placedWeb, "web", "api")
	cart := strings.ReplaceAll(placedWeb, "web", "cart")
	input := placedWeb + "---" + api + "---" + cart + workerless + threeNodes +
		livePod("a", "ReplicaSet web-7c9d", "n1", "") + livePod("b", "ReplicaSet api-7c9d", "n1", "") + livePod("c", "ReplicaSet cart-7c9d", "n2", "") +
		livePod("w", "ReplicaSet worker-7c9d", "n1", "")
	cases, problems := casesIn(t, input, Options{Actions: []string{"drain=n1", "n3"}})
	var ids []string
	for i := range cases {
		c := &cases[i]
		ids = append(ids, c.ID)
		var names []string
		for k := range c.Scenario.Workloads {
			w := &c.Scenario.Workloads[k]
			if names = append(names, w.ObjectName()); w.Bystander == (w.Name() == c.Workload) || w.Aside == (w.Name() == c.Workload) {
				t.Errorf("%s: %s is a bystander: %v", c.ID, w.Name(), w.Bystander)
			}
		}
		if got := strings.Join(names, " "); got != "api web worker" {
			t.Errorf("%s: workloads %s", c.ID, got)
		}
		if got := c.Scenario.Actions[0].Target(); got != "n1 n3" || len(c.Scenario.Services) != 2 {
			t.Errorf("%s: drains %s, %d Services", c.ID, got, len(c.Scenario.Services))
		}
		for k := range c.Scenario.Traffic {
			if nodes := c.Scenario.Traffic[k].Nodes; len(nodes) != 1 || nodes[0] != "n2" {
				t.Errorf("%s: clients on %v", c.ID, nodes)
			}
		}
	}
	want := []string{"drain=n1,n3", "shop/api/drain=n1,n3/api:80", "shop/web/drain=n1,n3/web:80"}
	if diff := cmp.Diff(want, ids); diff != "" || cases[0].Kind != KindNode || cases[0].Drain == nil || len(problems) > 0 {
		t.Errorf("%v\n%s", problems, diff)
	}
}

// Two Deployments behind one Service are one entry.
func TestAnEntryOfTwoWorkloadsIsOneCaseOfADrain(t *testing.T) {
	t.Parallel()
	second := strings.Replace(strings.Split(placedWeb, "---")[0], "name: web, namespace", "name: web2, namespace", 1)
	input := placedWeb + "---" + second + threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", "") + livePod("b", "ReplicaSet web2-7c9d", "n1", "")
	cases, _ := casesIn(t, input, Options{Actions: []string{"drain=n1"}})
	if len(cases) != 2 || cases[1].ID != "shop/web/drain=n1/web:80" {
		t.Errorf("%d cases", len(cases))
	}
}

// A node that there is not is an error with those that there are; one where nothing is simulated has one case, which says so.
func TestADrainOfANodeThatThereIsNot(t *testing.T) {
	t.Parallel()
	input := placedWeb + threeNodes + livePod("a", "ReplicaSet web-7c9d", "n1", "")
	cases, problems := casesIn(t, input, Options{Actions: []string{"rollout", "drain=n9"}})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, `there is no node "n9"; there are n1, n2, n3`) || len(cases) != 1 {
		t.Errorf("%v", problems)
	}
	_, problems = casesIn(t, input, Options{Actions: []string{"drain="}})
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "say which node, such as drain=n1; there are n1, n2, n3") {
		t.Error(problems)
	}
	cases, problems = casesIn(t, input, Options{Actions: []string{"drain=n2"}})
	if len(problems) != 0 || len(cases) != 1 || cases[0].Verdict != NotJudged || cases[0].Reason == "" || cases[0].Drain.Nodes[0].Name != "n2" {
		t.Errorf("%v %+v", problems, cases)
	}
}

// What kubectl drain finds is sorted as its filters do: Reference: k8s.io/kubectl v0.36.3 pkg/drain/filters.go.
func TestWhatADrainFindsOnANode(t *testing.T) {
	t.Parallel()
	const emptyDir = ", volumes: [{name: tmp, emptyDir: {}}]"
	local := func(pod string) string { return strings.Replace(pod, "image: x}]", "image: x}]"+emptyDir, 1) }
	budget := "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: shop}, spec: {minAvailable: 5, selector: {}}, status: {observedGeneration: 1, disruptionsAllowed: 0}}\n"
	input := placedWeb + threeNodes + budget +
		local(livePod("web-1", "ReplicaSet web-7c9d", "n1", "")) + livePod("web-2", "ReplicaSet web-7c9d", "n1", unready) + livePod("web-3", "ReplicaSet web-7c9d", "", pending) +
		local(livePod("agent", "DaemonSet agent", "n1", "")) + livePod("bare", "", "n1", "") + livePod("db-0", "StatefulSet db", "n1", "") + livePod("done", "Job done", "n1", "status: {phase: Succeeded}") +
		strings.Replace(livePod("etcd-n1", "Node n1", "n1", ""), "namespace: shop,", "namespace: shop, annotations: {kubernetes.io/config.mirror: x},", 1) + livePod("other", "StatefulSet db", "n2", "") +
		strings.Replace(local(livePod("over", "", "n1", "status: {phase: Succeeded}")), "spec: {", "spec: {restartPolicy: Never, ", 1)
	cases, problems := casesIn(t, input, Options{Actions: []string{"drain=n1"}})
	if len(cases) == 0 {
		t.Fatal(problems)
	}
	const refuses = "PodDisruptionBudget all (minAvailable 5) allows no eviction now"
	want := &DrainPlan{
		Nodes: []NodePlan{{
			Name:  "n1",
			Leave: []OnNode{{"Pod", "shop/bare", 1, "", false, false}, {"Deployment", "shop/web", 2, "", false, false}},
			Beyond: []OnNode{
				{"StatefulSet", "shop/db", 1, refuses, true, false}, {"Job", "shop/done", 1, "finished", false, false}, {"Pod", "shop/over", 1, "finished", false, false},
			},
			Stay: []OnNode{{"DaemonSet", "shop/agent", 1, "", false, false}, {"static Pod", "shop/etcd-n1", 1, "", false, false}},
			Refused: []Refused{
				{"--ignore-daemonsets", []string{"shop/agent"}}, {"--delete-emptydir-data", []string{"shop/web-1"}}, {"--force", []string{"shop/bare"}},
			},
		}},
		Unwell: []string{"shop/web-2 is not Ready", "shop/web-3 is Pending"},
	}
	if diff := cmp.Diff(want, cases[0].Drain); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A word after a drain is a node of it, unless it is an action.
func TestNodesAndActionsInAList(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"drain":                           "[] [drain]",
		"drain=a":                         "[[a]] []",
		"rollout,drain=a,b,evict,drain=c": "[[a b] [c]] [rollout evict]",
		"drain=a,evict,b":                 "[[a]] [evict b]",
	} {
		drains, others := NodesDrained(strings.Split(words, ","))
		if got := fmt.Sprint(drains, others); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// The pods of a StatefulSet are where they are by their numbers; one that is missing is Pending.
func TestPodsOfAStatefulSetArePlacedByTheirNumber(t *testing.T) {
	t.Parallel()
	set := strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "name: web, namespace: shop}\nspec:\n  replicas", "name: web, namespace: shop}\nspec:\n  ordinals: {start: 1}\n  replicas").
		Replace(strings.Split(placedWeb, "---")[0])
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(
		set + threeNodes + livePod("web-3", "StatefulSet web", "n3", "") + livePod("web-1", "StatefulSet web", "n2", unready) + livePod("web-9", "StatefulSet web", "n1", ""))}}, manifest.Options{})
	w := newInventory(objects.All)
	x, _ := w.workload("shop/web")
	nodes := []world.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}
	got := w.placed(&world.Workload{Resource: x.Value}, nodes, false)
	want := []world.Placed{{Node: "n2"}, {}, {Node: "n3", Ready: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
