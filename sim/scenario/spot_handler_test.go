package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const nodePool = `
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {requirements: []}}}
`

// runs is a workload of the cluster's own.
func runs(kind, name, image, env string) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: kube-system}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: %s, env: [%s]}]}
`, kind, name, image, env)
}

// handling is who reacts to the spot notice of a case, as its assumption says, what is done, and the others that are tried.
func handling(t *testing.T, input, env string) string {
	t.Helper()
	cases, problems := casesIn(t, input, Options{Actions: []string{"spot"}, Env: env})
	if manifest.HasErrors(problems) || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	s := cases[0].Scenario
	did := func(s *world.Scenario) string {
		o, _ := s.Actions[0].Operation.(world.SpotNotice)
		return fmt.Sprintf("%s, %d nodes", o.Handler(), len(s.Nodes)-len(s.Standing()))
	}
	out := []string{did(s)}
	for _, a := range s.Assumptions {
		if a.ID == "spot-handler" {
			out = append(out, a.Value+" ("+a.Basis+")")
		}
	}
	for _, a := range Alternatives(s) {
		if a.ID == "spot-handler" {
			out = append(out, a.Value+": "+did(a.Scenario))
		}
	}
	return strings.Join(out, "; ")
}

// Without anything in the input nobody reacts to a spot notice, and what Karpenter or a handler would do is tried. A NodePool has Karpenter
// react, which its controller may not be set to: what is known of it is not varied. Its queue is AWS's. Reference:
// docs/model/pod-lifecycle.md 5 Spot handlers.
func TestWhoReactsToASpotNotice(t *testing.T) {
	t.Parallel()
	const (
		drains    = "; a node termination handler drains the node: drain, 0 nodes"
		karpenter = "; Karpenter empties the node: karpenter, 1 nodes"
		image     = "public.ecr.aws/karpenter/controller:1.8.1"
		queue     = "{name: INTERRUPTION_QUEUE, value: mine}"
	)
	for name, c := range map[string]struct{ input, env, want string }{
		"nothing": {altWeb, "", "none, 0 nodes; nobody reacts (assumed)" + karpenter + drains},
		"on GKE":  {altWeb + nodePool, "gke", "none, 0 nodes; nobody reacts (assumed)" + drains},
		"a NodePool": {
			altWeb + nodePool, "",
			"karpenter, 1 nodes; Karpenter empties the node, by NodePool default, if its controller has INTERRUPTION_QUEUE (assumed); nobody reacts: none, 0 nodes" + drains,
		},
		"a queue": {
			altWeb + nodePool + runs("Deployment", "karpenter", image, queue), "eks",
			"karpenter, 1 nodes; Karpenter empties the node, by INTERRUPTION_QUEUE of Deployment karpenter (inferred)",
		},
		"no queue": {
			altWeb + nodePool + runs("Deployment", "karpenter", image, ""), "eks",
			"none, 0 nodes; nobody reacts, by Deployment karpenter without INTERRUPTION_QUEUE (inferred)",
		},
		"a handler": {
			altWeb + runs("DaemonSet", "nth", "public.ecr.aws/aws-ec2/aws-node-termination-handler:v1.25.0", ""), "",
			"drain, 0 nodes; a node termination handler drains the node, by DaemonSet nth (inferred)",
		},
	} {
		if got := handling(t, c.input, c.env); got != c.want {
			t.Errorf("%s:\n%s\n%s", name, got, c.want)
		}
	}
}

// The NodePool that is named is that of the node with the workload's pods: as the node is labelled, else by where the pods may run. On the nodes of a
// provider's managed pool Karpenter has nothing to do.
func TestTheNodePoolOfTheWorkloadsNodeReacts(t *testing.T) {
	t.Parallel()
	pools := nodePool + strings.Replace(nodePool, "name: default", "name: spot", 1)
	node := func(name, label string) string {
		return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {" + label + "}}}\n"
	}
	const by = "Karpenter empties the node, by NodePool %s, if its controller has INTERRUPTION_QUEUE (assumed)"
	on := livePod("web-7c9d-1", "Deployment web", "n2", "") + livePod("web-7c9d-2", "Deployment web", "n2", "") + livePod("web-7c9d-3", "Deployment web", "n1", "")
	tainted := strings.Replace(nodePool, "requirements: []", "taints: [{key: gpu, effect: NoSchedule}]", 1) + strings.Replace(nodePool, "name: default", "name: spot", 1)
	for name, tt := range map[string]struct{ input, want string }{
		"that of its node":                 {pools + node("n1", "karpenter.sh/nodepool: default") + node("n2", "karpenter.sh/nodepool: spot") + on, fmt.Sprintf(by, "spot")},
		"without the object":               {node("n1", "") + node("n2", "karpenter.sh/nodepool: other") + on, fmt.Sprintf(by, "other")},
		"a managed pool":                   {pools + node("n1", "karpenter.sh/nodepool: default") + node("n2", "eks.amazonaws.com/nodegroup: spot") + on, "nobody reacts (assumed)"},
		"fewer pods on the managed pool":   {pools + node("n2", "karpenter.sh/nodepool: spot") + node("n1", "eks.amazonaws.com/nodegroup: spot") + on, fmt.Sprintf(by, "spot")},
		"no labels":                        {pools + node("n1", "") + node("n2", "") + on, fmt.Sprintf(by, "default")},
		"no labels, and one takes no pods": {tainted + node("n1", "") + node("n2", "") + on, fmt.Sprintf(by, "spot")},
	} {
		if got := strings.Split(handling(t, altWeb+tt.input, "eks"), "; ")[1]; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// Only Karpenter has a node join at a spot notice.
func TestANodeInPlaceOfASpotMachine(t *testing.T) {
	t.Parallel()
	for handler, want := range map[string]string{
		"karpenter": "",
		"drain":     "nobody has a node join at the notice but Karpenter: handler: karpenter",
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s, namespace: shop}\nspec: {actions: [{spotNotice: {node: node-1, handler: " + handler + ", provision: 30s}}]}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
		s, problems := parseKept(t, objects, Options{})
		if got := fmt.Sprint(problems); (want != "") != manifest.HasErrors(problems) || !strings.Contains(got, want) {
			t.Errorf("%s: %v", handler, problems)
		}
		if want == "" && (s[0].Actions[0].Value() != "notice=2m0s handler=karpenter provision=30s" || len(s[0].Nodes) != 4) {
			t.Errorf("%q, %d nodes", s[0].Actions[0].Value(), len(s[0].Nodes))
		}
	}
}
