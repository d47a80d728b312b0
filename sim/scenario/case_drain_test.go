package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// sharedBudget covers what has the label tier: front, and another one, what has side: b.
const sharedBudget = `
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: front, namespace: shop}, spec: {minAvailable: 75%, selector: {matchLabels: {tier: front}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: side, namespace: shop}, spec: {minAvailable: 1, selector: {matchLabels: {side: b}}}}
`

// labelled is placedWeb under another name, with more labels of its pods.
func labelled(name, labels string) string {
	return "---" + strings.ReplaceAll(strings.ReplaceAll(placedWeb, "labels: {app: web", "labels: {app: web, "+labels), "web", name)
}

// Where pods are evicted the world of a case has what a budget counts together with its workload, and what another budget counts
// together with that; nobody asks those. A rollout evicts nothing. A kind that is not simulated is named.
// Reference: docs/model/simulator.md 5.4.
func TestWhatABudgetCountsIsInTheWorld(t *testing.T) {
	t.Parallel()
	input := labelled("fa", "tier: front") + labelled("fb", "tier: front, side: b") + labelled("fc", "side: b") + labelled("fd", "tier: back") + sharedBudget +
		"---\n" + `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: fe, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: fe}}, template: {metadata: {labels: {app: fe, tier: front}}, spec: {containers: [{name: c, image: nginx}]}}}}`
	cases, problems := casesIn(t, input, Options{Actions: []string{"rollout", "drain", "evict", "autoscaler", "karpenter", "pool-upgrade", "crash"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]string{
		"fa": "fa fb(bystander) fc(bystander)", "fb": "fa(bystander) fb fc(bystander)", "fc": "fa(bystander) fb(bystander) fc", "fd": "fd",
	}
	for i := range cases {
		c := &cases[i]
		if c.Workload == "shop/fe" { // named, and not judged
			continue
		}
		if c.Scenario == nil {
			t.Fatalf("%s: %s", c.ID, c.Reason)
		}
		var names []string
		for k := range c.Scenario.Workloads {
			name := c.Scenario.Workloads[k].ObjectName()
			if c.Scenario.Workloads[k].Bystander {
				name += "(bystander)"
			}
			names = append(names, name)
		}
		own := c.Workload[len("shop/"):]
		evicted, expected := !strings.Contains(c.ID, "/rollout/") && !strings.Contains(c.ID, "/crash/"), want[own]
		if !evicted {
			expected = own
		}
		if got := strings.Join(names, " "); got != expected {
			t.Errorf("%s: %s", c.ID, got)
		}
		says := ""
		for _, n := range c.Scenario.NotModelled {
			if n.ID == "budget" {
				says += n.What + "; "
			}
		}
		wants := ""
		if evicted && own != "fd" {
			wants = "PodDisruptionBudget front (minAvailable 75%) covers pods of Rollout fe, too, a kind that is not simulated: it counts without them; "
		}
		if says != wants {
			t.Errorf("%s: not modelled: %s", c.ID, says)
		}
		if evicted && own == "fa" {
			if services := fmt.Sprint(len(c.Scenario.Services)); services != "3" || !slices.IsSortedFunc(c.Scenario.Services, byService) {
				t.Errorf("%s: %s Services", c.ID, services)
			}
		}
	}
}

// byService orders Services as the input does, by their names.
func byService(a, b world.Service) int { return strings.Compare(a.Service.Name, b.Service.Name) }
