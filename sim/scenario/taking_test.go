package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The budget of a NodePool is the least that holds at all times for consolidation. Without budgets it is another's default to say; where all
// of them are for other times or reasons there is no limit. Reference: docs/model/controllers.md 8.1 Budgets.
func TestBudgetsOfANodePool(t *testing.T) {
	t.Parallel()
	b := func(nodes string, more ...any) map[string]any {
		out := map[string]any{"nodes": nodes}
		for i := 0; i < len(more); i += 2 {
			out[fmt.Sprint(more[i])] = more[i+1]
		}
		return out
	}
	for name, c := range map[string]struct {
		budgets []any
		want    string
	}{
		"none":                     {nil, ""},
		"an empty list":            {[]any{}, ""},
		"the least":                {[]any{b("30%"), b("5"), b("20%")}, "5"},
		"for other reasons":        {[]any{b("30%"), b("0", "reasons", []any{"Drifted", "Empty"})}, "30%"},
		"for consolidation, too":   {[]any{b("30%"), b("0", "reasons", []any{"Drifted", "Underutilized"})}, "0"},
		"at other times":           {[]any{b("30%"), b("0", "schedule", "@daily", "duration", "10m")}, "30%"},
		"none that holds":          {[]any{b("0", "schedule", "@daily", "duration", "10m")}, "100%"},
		"none for these reasons":   {[]any{b("0", "reasons", []any{"Drifted"})}, "100%"},
		"a budget without a value": {[]any{map[string]any{}, b("2")}, "2"},
	} {
		spec := map[string]any{}
		if c.budgets != nil {
			spec["disruption"] = map[string]any{"budgets": c.budgets}
		}
		got, said := poolBudget(&manifest.Object{Value: map[string]any{"spec": spec}})
		if said != (c.want != "") || said && got.String() != c.want {
			t.Errorf("%s: %s, said %v", name, got, said)
		}
	}
}

// That a budget holds at times, none of which is simulated, is said where it would keep nodes.
func TestABudgetOfOtherTimesIsSaid(t *testing.T) {
	t.Parallel()
	pool := func(budget string) string {
		return altWeb + "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {disruption: {budgets: [{nodes: 50%}, " + budget + "]}}}\n"
	}
	for budget, want := range map[string]string{
		"{nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h}":                     `budget 50% (outside of "0 9 * * mon-fri", when it is 0), no terminationGracePeriod, by NodePool p`,
		"{nodes: '0', schedule: '0 9 * * mon-fri', duration: 8h, reasons: [Drifted]}": "budget 50%, no terminationGracePeriod, by NodePool p",
		"{nodes: 60%}": "budget 50%, no terminationGracePeriod, by NodePool p",
	} {
		cases, _ := casesIn(t, pool(budget), Options{Actions: []string{"karpenter"}})
		said := ""
		for _, a := range cases[0].Scenario.Assumptions {
			if a.ID == "pool" {
				said = a.Value
			}
		}
		if said != "Karpenter: "+want {
			t.Errorf("%s: %q, want %q", budget, said, "Karpenter: "+want)
		}
	}
}

// A run goes on for as long as a drain may take by its timeout; one that may take longer than can be simulated is refused.
func TestARunGoesOnForTheTimeoutOfADrain(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]engine.Time{"2h": 5 * engine.Hour, "5m": 70 * engine.Minute, "100h": 0} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: long}\nspec:\n  actions:\n  - {at: 5s, drain: {nodes: [node-1, node-2], timeout: " + timeout + "}}\n---\n" +
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}}}\n---\n" +
			"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n"
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		list, more := parseKept(t, objects, Options{})
		if manifest.HasErrors(problems) || manifest.HasErrors(more) != (want == 0) {
			t.Errorf("%s: %v %v", timeout, problems, more)
			continue
		}
		if want > 0 && list[0].Until != want {
			t.Errorf("%s: until %s", timeout, list[0].Until.Duration())
		}
	}
}

// Whose pool is upgraded is known by the kind of cluster, else by the load balancer before it: then no other provider's upgrade is tried.
// Only where nothing says it, Google's is assumed, and the others are tried.
func TestWhosePoolIsUpgraded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts     Options
		provider string
		others   int
	}{
		"by the kind of cluster":    {Options{Env: "eks", LB: "metallb-l2"}, world.PoolEKS, 0},
		"the cluster's word counts": {Options{Env: "aks", LB: "aws-nlb-ip"}, world.PoolAKS, 0},
		"by its load balancer":      {Options{LB: "aws-nlb-instance"}, world.PoolEKS, 0},
		"by Azure's":                {Options{LB: "azure-standard"}, world.PoolAKS, 0},
		"by Google's":               {Options{LB: "gke-l4"}, world.PoolGKE, 0},
		"nothing says it":           {Options{LB: "metallb-l2"}, world.PoolGKE, 2},
		"each load balancer that it may be has its own": {Options{}, world.PoolGKE, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opts.Actions = []string{"pool-upgrade"}
			cases, problems := casesIn(t, routedWeb("type: LoadBalancer", "", ""), c.opts)
			if len(cases) != 1 || cases[0].Scenario == nil {
				t.Fatal(cases, problems)
			}
			s, others := cases[0].Scenario, 0
			for _, a := range Alternatives(s) {
				if a.ID == "pool" {
					others++
				}
			}
			if got := upgradedBy(s); got != c.provider || others != c.others {
				t.Errorf("%s and %d others, want %s and %d", got, others, c.provider, c.others)
			}
			for _, f := range cases[0].Families {
				want := poolBehind(f.Scenario.Traffic)
				if got := upgradedBy(f.Scenario); want != "" && got != want {
					t.Errorf("behind %s: %s, want %s", f.Preset, got, want)
				}
			}
		})
	}
}

func upgradedBy(s *world.Scenario) string {
	if o, ok := s.Actions[0].Operation.(world.UpgradePool); ok {
		return o.Provider
	}
	return ""
}

// Who sends to nodes themselves may be told of a node that goes, or not: what they lose is how long a run lasts. So they are judged only
// where all nodes stay.
func TestClientsOfNodesAreJudgedWhereNodesStay(t *testing.T) {
	t.Parallel()
	for action, judged := range map[string]bool{
		"rollout": true, "drain": true, "evict": true, "crash": false, "reboot": false, "delete-node": false, "shutdown": false, "spot": false,
		"autoscaler": false, "karpenter": false, "pool-upgrade": false,
	} {
		for _, c := range []struct {
			spec string
			lb   string
		}{{"type: NodePort", ""}, {"type: LoadBalancer", "none"}} {
			cases, _ := casesIn(t, routedWeb(c.spec, "", ""), Options{LB: c.lb, Actions: []string{action}})
			got, why := false, ""
			for i := range cases {
				s := cases[i].Scenario
				got = got || cases[i].Verdict != NotJudged && s != nil && s.Traffic[0].External
				why += cases[i].Reason
			}
			if got != judged || !judged && !strings.Contains(why, "go to nodes themselves") {
				t.Errorf("%s, %s: judged %t, want %t: %q", c.spec, action, got, judged, why)
			}
		}
	}
}

// An annotation by which pods keep their node is one of pods, and has one of two values: anything else does nothing, and is warned of where it
// matters. Reference: docs/model/controllers.md 8 Kept.
func TestAnAnnotationThatDoesNothing(t *testing.T) {
	t.Parallel()
	const safe, disrupt = "cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt"
	onPods := func(name, value string) string {
		return strings.Replace(altWeb, "metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, annotations: {"+name+": '"+value+"'}}", 1)
	}
	for _, tt := range []struct{ what, text, action, want string }{
		{"none", altWeb, "autoscaler", ""},
		{"false", onPods(safe, "false"), "autoscaler", ""},
		{"no", onPods(safe, "no"), "autoscaler", `spec.template.metadata.annotations: cluster-autoscaler.kubernetes.io/safe-to-evict: "no" does nothing: say true or false`},
		{"no, for Karpenter", onPods(safe, "no"), "karpenter", ""},
		{"true", onPods(disrupt, "true"), "karpenter", ""},
		{"yes", onPods(disrupt, "yes"), "karpenter", `spec.template.metadata.annotations: karpenter.sh/do-not-disrupt: "yes" does nothing: say true`},
		{"yes, for the autoscaler", onPods(disrupt, "yes"), "autoscaler", ""},
		{
			"of the Deployment", strings.Replace(altWeb, "{name: web, namespace: shop}", "{name: web, namespace: shop, annotations: {"+disrupt+": 'true'}}", 1), "karpenter",
			"metadata.annotations: karpenter.sh/do-not-disrupt does nothing here: it is read of pods, and belongs in spec.template.metadata",
		},
	} {
		_, problems := casesIn(t, tt.text, Options{Actions: []string{tt.action}})
		got := ""
		for _, p := range problems {
			if strings.Contains(p.Message, "does nothing") {
				got = p.Field + ": " + p.Message
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}
