package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// rolePod is a pod of the StatefulSet db, or of another owner ("Cluster db"), with a role.
func rolePod(n int, owner, node, role string) string {
	labels := fmt.Sprintf("app: db, role: %s, statefulset.kubernetes.io/pod-name: db-%d, apps.kubernetes.io/pod-index: '%d', controller-revision-hash: db-5f", role, n, n)
	return strings.Replace(livePod(fmt.Sprintf("db-%d", n), owner, node, ""), "app: web, pod-template-hash: 7c9d", labels, 1)
}

// roleService leads to the pods of a role; "": to all.
func roleService(name, role string) string {
	if role != "" {
		role = ", role: " + role
	}
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: shop}, spec: {selector: {app: db%s}, ports: [{port: 5432}]}}\n", name, role)
}

func roleBudget(name, role string) string {
	return fmt.Sprintf("---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: shop}, spec: {minAvailable: 1, selector: {matchLabels: {app: db, role: %s}}}}\n", name, role)
}

const roleSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: x, ports: [{containerPort: 5432}]}]}
`

func rolePods(owner string) string {
	return rolePod(0, owner, "n1", "primary") + rolePod(1, owner, "n2", "replica") + rolePod(2, owner, "n3", "replica")
}

// In the drain of a node that is named the labels of pods' own decide which Services lead to them and which budgets cover them, and that who sets
// them is not simulated is said. Labels that Kubernetes adds are none of these.
func TestTheDrainOfANamedNodeGoesByPodsOwnLabels(t *testing.T) {
	t.Parallel()
	input := roleSet + rolePods("StatefulSet db") + threeNodes + roleService("rw", "primary") + roleService("ro", "replica") + roleBudget("primary", "primary")
	cases, problems := casesIn(t, input, Options{Actions: []string{"drain=n1"}})
	var ids []string
	for i := range cases {
		c := &cases[i]
		ids = append(ids, c.ID+" "+c.Verdict)
		s := c.Scenario
		if s == nil {
			t.Fatal(c.Reason)
		}
		w := s.Workload("shop/db")
		for n, role := range []string{"primary", "replica", "replica"} {
			if want := map[string]string{"app": "db", "role": role}; !maps.Equal(w.Placed[n].Labels, want) {
				t.Errorf("%s, pod %d: %v, want %v", c.ID, n, w.Placed[n].Labels, want)
			}
		}
		if len(s.Services) != 2 || len(s.Budgets) != 1 || !s.Relabels() {
			t.Errorf("%s: %d Services, %d budgets", c.ID, len(s.Services), len(s.Budgets))
		}
		said := func(n world.NotModelled) bool {
			return n.ID == world.Promotion && n.Direction == "fewer" && strings.Contains(n.What, "shop/db")
		}
		if !slices.ContainsFunc(s.NotModelled, said) {
			t.Errorf("%s: %+v", c.ID, s.NotModelled)
		}
	}
	if want := []string{"drain=n1 ", "shop/db/drain=n1/ro:5432 ", "shop/db/drain=n1/rw:5432 "}; !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
	if words := fmt.Sprint(problems); strings.Contains(words, "not in their template") {
		t.Error(words)
	}
}

// Elsewhere, and where nothing selects by them otherwise than by those of the template, pods have the labels of their template.
func TestLabelsOfPodsOwnThatDecideNothing(t *testing.T) {
	t.Parallel()
	set, all := roleSet+rolePods("StatefulSet db")+threeNodes, roleService("db", "")
	other := strings.Replace(strings.Replace(set, "app: db, role: primary", "app: debug, role: primary", 1), "app: db, role: replica", "app: debug, role: replica", 2)
	for name, tt := range map[string]struct {
		input, action string
		cases         []string
	}{
		"a Service of all":                         {set + all, "drain=n1", []string{"drain=n1", "shop/db/drain=n1/db:5432"}},
		"another action":                           {set + all + roleService("rw", "primary"), "drain", []string{"shop/db/drain/db:5432"}},
		"no Service":                               {set, "drain=n1", []string{"drain=n1"}},
		"a Service of another namespace":           {set + strings.Replace(roleService("rw", "primary"), "namespace: shop", "namespace: till", 1), "drain=n1", []string{"drain=n1"}},
		"pods that their controller does not keep": {other + strings.Replace(roleService("rw", "primary"), "app: db, ", "", 1), "drain=n1", []string{"drain=n1"}},
	} {
		cases, _ := casesIn(t, tt.input, Options{Actions: []string{tt.action}})
		var ids []string
		for i := range cases {
			ids = append(ids, cases[i].ID)
			s := cases[i].Scenario
			if s == nil || s.Workload("shop/db").OwnLabels() || s.Relabels() || slices.ContainsFunc(s.NotModelled, func(n world.NotModelled) bool { return n.ID == world.Promotion }) {
				t.Errorf("%s: %s: %+v", name, cases[i].ID, s)
			}
		}
		if !slices.Equal(ids, tt.cases) {
			t.Errorf("%s: %q, want %q", name, ids, tt.cases)
		}
	}
}

// Two drains of one input: what the first has found out of labels is no more than that of the second.
func TestLabelsOfPodsOwnInSeveralDrains(t *testing.T) {
	t.Parallel()
	input := roleSet + rolePods("StatefulSet db") + threeNodes + roleService("rw", "primary")
	cases, _ := casesIn(t, input, Options{Actions: []string{"drain=n1", "drain=n2", "rollout"}})
	var ids []string
	for i := range cases {
		ids = append(ids, cases[i].ID)
	}
	if want := []string{"drain=n1", "shop/db/drain=n1/rw:5432", "drain=n2", "shop/db/drain=n2/rw:5432"}; !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
}

// Pods of an operator's own, of which there is no template, are named with the Services that select them; in a drain with those alone that select one
// on its nodes. A budget of a role refuses the eviction until the role is another pod's, and keeps the drain where there is none.
func TestPodsOfAnOperatorAreNamed(t *testing.T) {
	t.Parallel()
	const owner = "Cluster db"
	services, budgets := roleService("ro", "replica")+roleService("rw", "primary"), roleBudget("primary", "primary")
	why := func(service string) string {
		return "Service " + service + " selects pods of the Cluster db: what its operator does is not simulated"
	}
	for name, tt := range map[string]struct {
		input, action string
		reasons       []string
		beyond        string
		kept          bool
	}{
		"the primary's node": {
			rolePods(owner), "drain=n1", []string{why("rw")},
			"Cluster shop/db (PodDisruptionBudget primary (minAvailable 1) lets it go once its operator has switched over to another pod, which is not simulated)", false,
		},
		"a replica's":              {rolePods(owner), "drain=n2", []string{why("ro")}, "Cluster shop/db", false},
		"whatever node":            {rolePods(owner), "drain", []string{why("ro"), why("rw")}, "", false},
		"the only pod's":           {rolePod(0, owner, "n1", "primary"), "drain=n1", []string{why("rw")}, "Cluster shop/db (PodDisruptionBudget primary (minAvailable 1) allows no eviction now)", true},
		"another one is not ready": {rolePod(0, owner, "n1", "primary") + strings.Replace(rolePod(1, owner, "n2", "replica"), "status: 'True'", "status: 'False'", 1), "drain=n1", []string{why("rw")}, "Cluster shop/db (PodDisruptionBudget primary (minAvailable 1) allows no eviction now)", true},
		"another one is on its way out": {
			rolePod(0, owner, "n1", "primary") + strings.Replace(rolePod(1, owner, "n2", "replica"), "name: db-1,", "name: db-1, deletionTimestamp: '2026-01-01T00:00:00Z',", 1), "drain=n1",
			[]string{why("rw")}, "Cluster shop/db (PodDisruptionBudget primary (minAvailable 1) allows no eviction now)", true,
		},
		"another one of another set": {rolePod(0, owner, "n1", "primary") + rolePod(1, "Cluster more", "n2", "replica"), "drain=n1", []string{why("rw")}, "Cluster shop/db (PodDisruptionBudget primary (minAvailable 1) allows no eviction now)", true},
		"a Job's pod is a Job's":     {strings.ReplaceAll(rolePods(owner), "Cluster", "Job"), "drain=n1", nil, "Job shop/db (PodDisruptionBudget primary (minAvailable 1) allows no eviction now)", true},
	} {
		cases, problems := casesIn(t, tt.input+threeNodes+services+budgets, Options{Actions: []string{tt.action}})
		var reasons []string
		for i := range cases {
			c := &cases[i]
			if c.Kind != KindNode {
				reasons = append(reasons, c.Reason)
				continue
			}
			on, _ := c.Drain.KeptBy()
			if got := c.Drain.Nodes[0].Beyond; len(got) != 1 || got[0].Words() != tt.beyond || (on != nil) != tt.kept {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if !slices.Equal(reasons, tt.reasons) {
			t.Errorf("%s: %q", name, reasons)
		}
		if words := fmt.Sprint(problems); tt.action == "drain" && strings.Contains(words, "selects no workload") {
			t.Errorf("%s: %s", name, words)
		}
	}
}

// In the drain of a node a Service is not named for a pod there that is on its way out, nor for one of another owner.
func TestAServiceIsNamedForPodsThatStay(t *testing.T) {
	t.Parallel()
	going := strings.Replace(rolePod(0, "Cluster db", "n1", "primary"), "name: db-0,", "name: db-0, deletionTimestamp: '2026-01-01T00:00:00Z',", 1)
	input := going + rolePod(1, "Cluster db", "n1", "replica") + rolePod(2, "Node n1", "n1", "static") + rolePod(3, "Cluster db", "n2", "primary") + threeNodes +
		roleService("rw", "primary") + roleService("ro", "replica") + roleService("st", "static")
	cases, _ := casesIn(t, input, Options{Actions: []string{"drain=n1"}})
	var services []string
	for i := range cases {
		services = append(services, cases[i].Service)
	}
	if want := []string{"", "shop/ro"}; !slices.Equal(services, want) {
		t.Errorf("%q, want %q", services, want)
	}
}

// Where no pod of such a workload is on the nodes nothing of it is simulated, and what leads to it is warned of as ever; where one is, so is what a
// budget counts together with it.
func TestWhatBelongsToADrainByLabelsOfPodsOwn(t *testing.T) {
	t.Parallel()
	input := roleSet + rolePods("StatefulSet db") + threeNodes + "---\n{apiVersion: v1, kind: Node, metadata: {name: n4}}\n" + strings.Replace(roleBudget("primary", "primary"), "app: db, ", "", 1) +
		strings.Replace(strings.Replace(strings.TrimPrefix(workerless, "\n"), "name: worker", "name: side", 1), "app: worker", "app: side, role: primary", 2) + livePod("side-7c9d-1", "Deployment side", "n2", "")
	cases, problems := casesIn(t, input, Options{Actions: []string{"drain=n1"}})
	if len(cases) == 0 || cases[0].Scenario == nil || cases[0].Scenario.Workload("shop/side") == nil || !cases[0].Scenario.Workload("shop/db").OwnLabels() {
		t.Fatalf("%+v, %v", cases, problems)
	}
	input = roleSet + rolePods("StatefulSet db") + threeNodes + "---\n{apiVersion: v1, kind: Node, metadata: {name: n4}}\n" + roleService("rw", "primary")
	_, problems = casesIn(t, input, Options{Actions: []string{"drain=n4"}})
	if words := fmt.Sprint(problems); !strings.Contains(words, "Service shop/rw: spec.selector: it selects pods by labels that are not in their template") {
		t.Error(words)
	}
}

// Static pods, pods that are over and those of a kind whose template the input has are no operator's.
func TestPodsThatAreNoOperators(t *testing.T) {
	t.Parallel()
	const rollout = `---
{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: db, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: x}]}}}}
`
	going := strings.Replace(rolePod(0, "Cluster db", "n1", "primary"), "name: db-0,", "name: db-0, deletionTimestamp: '2026-01-01T00:00:00Z',", 1)
	for name, tt := range map[string]struct {
		input string
		want  []string
	}{
		"a static pod":               {rolePod(0, "Node n1", "n1", "primary"), nil},
		"one that is on its way out": {going, nil},
		"a Rollout's":                {rolePod(0, "Rollout db", "n1", "primary") + rollout, []string{"Service all selects the Rollout db: a kind that is not simulated"}},
		"a Cluster's":                {rolePod(0, "Cluster db", "n1", "primary"), []string{"Service all selects pods of the Cluster db: what its operator does is not simulated"}},
	} {
		cases, _ := casesIn(t, tt.input+threeNodes+roleService("all", ""), Options{Actions: []string{"drain"}})
		var got []string
		for i := range cases {
			got = append(got, cases[i].Reason)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
