package sweep

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// drainedCases are those of some actions on the workload, without those that are not judged.
func drainedCases(t *testing.T, text string, actions ...string) []scenario.Case {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{Actions: actions})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) {
		t.Fatalf("%v %v", problems, more)
	}
	var out []scenario.Case
	for i := range cases {
		if cases[i].Verdict == "" {
			out = append(out, cases[i])
		}
	}
	return out
}

const (
	aloneWeb   = "  replicas: 1\n"
	budgetText = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec:\n  minAvailable: 2\n  selector: {matchLabels: {app: web}}\n"
)

// A single pod is given a second one and a budget, not a hook that has it wait for its successor; a database is not, and that is said.
func TestASinglePodIsGivenASecondOne(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, "  replicas: 2\n", aloneWeb, 1)
	s := swept(t, drainedCases(t, text, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)") {
		t.Fatalf("%+v", s.Fixes)
	}
	if x := s.Fixes[0].Cases[0]; x.Confirm.Runs != 20 || 10*x.Confirm.LostSeconds.Median > x.Before.Median || x.Action != "node drain" {
		t.Errorf("%+v", x)
	}
	redis := strings.Replace(text, "image: example.com/web", "image: redis:7", 1)
	s = swept(t, drainedCases(t, redis, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	said := false
	for _, n := range s.NoHelp {
		said = said || n.Title == "replicas: 2" && n.Why == "a second database, or cache, would not have the data of the first"
	}
	for _, f := range s.Fixes {
		if strings.Contains(f.Title, "replicas") {
			t.Errorf("%s", f.Title)
		}
	}
	if !said {
		t.Errorf("%+v", s.NoHelp)
	}
}

// A hook that has the only pod wait for its successor is a poor answer to a drain, also where a rollout of the same workload asks for one: the
// second pod comes first, and the hook stands for who does without.
func TestAPoorAnswerToADrainIsOneBesideARollout(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, "  replicas: 2\n", aloneWeb+"  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n", 1)
	s := swept(t, drainedCases(t, text, "rollout", "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)") || !strings.Contains(s.Fixes[0].Title, ", preStop: sleep") || s.Fixes[0].Alone != "" {
		t.Fatalf("%+v", s.Fixes)
	}
	if len(s.Fixes) < 2 || !strings.HasPrefix(s.Fixes[1].Title, "preStop: sleep") {
		t.Errorf("%+v", s.Fixes)
	}
}

// A drain that a budget blocks for ever gets the budget that lets it end; a rollout of the same workload gets what it needs for itself.
func TestABlockedDrainGetsAWayOut(t *testing.T) {
	t.Parallel()
	s := swept(t, drainedCases(t, web+budgetText, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if s.Cases[0].Verdict != record.Blocked || len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "maxUnavailable: 1 in its PodDisruptionBudget") {
		t.Fatalf("%s %+v", s.Cases[0].Verdict, s.Fixes)
	}
	if x := s.Fixes[0].Cases[0]; x.StuckBefore != 5 || x.Stuck != 0 || x.Confirm.Stuck != 0 || x.Confirm.Runs != 20 {
		t.Errorf("%+v", x)
	}
	both := swept(t, drainedCases(t, web+budgetText, "rollout", "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	for _, f := range both.Fixes {
		for _, x := range f.Cases {
			if strings.HasPrefix(f.Title, "maxUnavailable: 1 in") != (x.Action == "node drain") {
				t.Errorf("%s is for the %s", f.Title, x.Action)
			}
		}
	}
}

// A budget that allows nothing puts off what GKE does to a node for an hour: the runs say so, and a budget that lets a pod go is what helps
// first. A hook is as long as the news takes: nodes that have not joined hear of nothing. Reference: docs/model/controllers.md 8.2 Time of GKE.
func TestABudgetThatIsOverruled(t *testing.T) {
	t.Parallel()
	inside := strings.Replace(web, "  type: NodePort\n", "", 1)
	s := swept(t, drainedCases(t, inside+budgetText, "pool-upgrade"), Options{Runs: 2, Fixes: 1, ConfirmRuns: 2})
	c := &s.Cases[0]
	o, nodes := c.OverruledBy()
	if o == nil || nodes < 2 || o.By != "GKE" || o.Limit != 3600*engine.Second || o.Left || o.Line == 0 || !strings.Contains(o.Why, "allows no eviction") {
		t.Fatalf("%+v of %d nodes", o, nodes)
	}
	if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "maxUnavailable: 1 in its PodDisruptionBudget") {
		t.Fatalf("%+v", s.Fixes)
	}
	if title := s.Fixes[0].Title; !strings.HasSuffix(title, "preStop: sleep 5") && !strings.HasSuffix(title, "preStop: sleep 15") && strings.Contains(title, "sleep") {
		t.Error(title)
	}
}

// In the drain of a node each case says what becomes of its own traffic: what a budget of another blocks is no verdict of it.
func TestCasesOfADrainedNodeAreJudgedByThemselves(t *testing.T) {
	t.Parallel()
	api := strings.NewReplacer("name: web", "name: api", "app: web", "app: api", "name: peers", "name: mates").Replace(web)
	var pods strings.Builder
	for _, p := range []string{"web n1", "web n2", "api n1", "api n2"} {
		app, node, _ := strings.Cut(p, " ")
		pods.WriteString("\n---\n{apiVersion: v1, kind: Pod, metadata: {name: " + app + "-x-" + node + ", namespace: shop, labels: {app: " + app + ", pod-template-hash: x}, " +
			"ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " + app + "-x, uid: u, controller: true}]}, spec: {nodeName: " + node + ", containers: [{name: c, image: c}]}}")
	}
	s := swept(t, drainedCases(t, web+budgetText+"---"+api+pods.String(), "drain=n1"), Options{Runs: 10})
	verdicts := map[string]record.Verdict{}
	for i := range s.Cases {
		c := &s.Cases[i]
		verdicts[c.ID] = c.Verdict
		what, runs := c.BlockedBy()
		if len(what) != 1 || what[0].Workload != "shop/web" || runs[0] != 10 {
			t.Errorf("%s: blocked by %+v", c.ID, what)
		}
		for _, r := range c.Runs {
			if c.Workload == "shop/api" && (r.Stuck != nil || !r.Settled) {
				t.Errorf("%s: %+v", c.ID, r.Stuck)
			}
		}
	}
	if verdicts["drain=n1"] != record.Blocked || verdicts["shop/web/drain=n1/web:80"] != record.Blocked || verdicts["shop/api/drain=n1/api:80"] != record.Drops {
		t.Errorf("%v", verdicts)
	}
}

// A budget that covers two workloads counts the pods of both: of four that are to be three one may go. Where it lets none go the way
// out goes by both, too: what two pods of the one could spare, four could not.
func TestABudgetOfTwoWorkloads(t *testing.T) {
	t.Parallel()
	tiered := strings.Replace(strings.TrimPrefix(web, "\n"), "labels: {app: web}", "labels: {app: web, tier: front}", 1)
	budget := "\n---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: front, namespace: shop}, spec: {minAvailable: 75%, selector: {matchLabels: {tier: front}}}}\n"
	both := tiered + "\n---\n" + strings.ReplaceAll(strings.ReplaceAll(tiered, "name: web", "name: api"), "app: web", "app: api") + budget
	for name, c := range map[string]struct {
		text, verdict string
		fix           string
	}{
		"one of four may go":  {both, "", ""},
		"one workload":        {tiered + budget, "blocked", "maxUnavailable: 1 in its PodDisruptionBudget"},
		"none of four may go": {strings.Replace(both, "75%", "4", 1), "blocked", "maxUnavailable: 1 in its PodDisruptionBudget"},
	} {
		s := swept(t, drainedCases(t, c.text, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
		for i := range s.Cases {
			if v := s.Cases[i].Verdict; v.Endless() != (c.verdict != "") || c.verdict != "" && string(v) != c.verdict {
				t.Errorf("%s: %s is %s", name, s.Cases[i].Workload, v)
			}
		}
		if c.fix != "" && (len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, c.fix)) {
			t.Errorf("%s: %+v", name, s.Fixes)
		}
	}
}

// What of a blocked drain is lost once it ends hangs by the load balancer: the hook beside the budget holds over the range that is reported of
// that, as one of a drain that is not blocked does. Of aws-nlb-ip: 110 to 300 s until it leaves a target that was removed.
func TestTheHookOfABlockedDrainHoldsOverWhatIsReported(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, "  type: NodePort\n", "  type: LoadBalancer\n", 1) + budgetText
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"drain"}, Env: "eks", LB: "aws-nlb-ip"})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	cases = slices.DeleteFunc(cases, func(c scenario.Case) bool { return c.Verdict != "" })
	s := swept(t, cases, Options{Runs: 3, Fixes: 1, ConfirmRuns: 5})
	if s.Cases[0].Verdict != record.Blocked || len(s.Fixes) == 0 {
		t.Fatalf("%s %+v", s.Cases[0].Verdict, s.Fixes)
	}
	_, hook, found := strings.Cut(s.Fixes[0].Title, "preStop: sleep ")
	hook, _, _ = strings.Cut(hook, ",")
	if seconds, err := strconv.Atoi(hook); !found || err != nil || seconds < 300 {
		t.Errorf("%s", s.Fixes[0].Title)
	}
}

// That a budget does nothing where pods are spread over the nodes says nothing against it: nobody knows that they are, and where they
// share the node that is drained all of them are away at once.
func TestABudgetIsForPodsThatShareANode(t *testing.T) {
	t.Parallel()
	s := swept(t, drainedCases(t, web, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20, Sensitivity: true})
	for _, n := range s.NoHelp {
		if strings.Contains(n.Title, "PodDisruptionBudget") {
			t.Errorf("%s is said not to help", n.Title)
		}
	}
	alternatives := s.Cases[0].Alternatives
	i := slices.IndexFunc(alternatives, func(a record.Alternative) bool { return a.ID == scenario.Places })
	if i < 0 || alternatives[i].Verdict != record.Outage || alternatives[i].Effect == record.NoEffect {
		t.Errorf("where the pods are does not decide: %+v", alternatives)
	}
}

// A node whose kubelet is silent by its Node object, or by the taint of that: its pods count as not ready, whatever their status says, and
// once they are evicted they stay. One whose kubelet says itself that it is not ready stops its pods.
func TestADrainOfANodeWhoseKubeletIsSilent(t *testing.T) {
	t.Parallel()
	var pods strings.Builder
	for _, node := range []string{"n1", "n2"} {
		pods.WriteString("\n---\n{apiVersion: v1, kind: Pod, metadata: {name: web-x-" + node + ", namespace: shop, labels: {app: web, pod-template-hash: x}, " +
			"ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-x, uid: u, controller: true}]}, spec: {nodeName: " + node + ", containers: [{name: c, image: c}]}}")
	}
	node := func(name, spec, ready string) string {
		return "\n---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + "}, spec: {" + spec + "}, status: {conditions: [{type: Ready, status: '" + ready + "'}]}}"
	}
	const unreachable = "taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]"
	for name, c := range map[string]struct{ spec, ready, why string }{
		"unknown":     {"", "Unknown", "the kubelet of n1 is silent"},
		"taint":       {unreachable, "True", "the kubelet of n1 is silent"},
		"not ready":   {"", "False", ""},
		"all is well": {"", "True", ""},
	} {
		s := swept(t, drainedCases(t, web+pods.String()+node("n1", c.spec, c.ready)+node("n2", "", "True")+node("n3", "", "True"), "drain=n1"), Options{Runs: 5})
		for i := range s.Cases {
			what, runs := s.Cases[i].BlockedBy()
			silent := len(what) == 1 && runs[0] == 5 && strings.Contains(what[0].Why, "stays Terminating: "+c.why) && strings.HasPrefix(what[0].What, "that kubelet again")
			if c.why == "" && len(what) > 0 || c.why != "" && !silent {
				t.Errorf("%s: %s: blocked by %+v", name, s.Cases[i].ID, what)
			}
			if c.why != "" && s.Cases[i].WithLoss > 0 {
				t.Errorf("%s: %s loses something of a pod that is not ready", name, s.Cases[i].ID)
			}
		}
	}
}

// Once the Node of a machine that is off is deleted, a pod that no other node takes waits for another one.
func TestADeletedNodeIsNotEnoughForAPodThatNoOtherTakes(t *testing.T) {
	t.Parallel()
	zoned := strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "replicas: 2", "replicas: 3", "      containers:",
		"      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}\n      containers:").Replace(web)
	for nodes, want := range map[int]string{3: "another node in its place", 6: "once its machine is off for good"} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(zoned)}}, manifest.Options{})
		cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"crash"}, Nodes: nodes})
		if manifest.HasErrors(problems) {
			t.Fatal(problems)
		}
		s := swept(t, cases[:1], Options{Runs: 3})
		stuck := s.Cases[0].Stuck
		if stuck == nil || !strings.Contains(stuck.What, want) || strings.Contains(stuck.What, "another node") != (nodes == 3) {
			t.Errorf("%d nodes: %+v", nodes, stuck)
		}
	}
}
