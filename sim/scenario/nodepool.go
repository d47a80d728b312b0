package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What a NodePool of Karpenter's says of how it is disrupted.

// consolidation is the reason for which Karpenter replaces a node in the cases of manifests.
const consolidation = "Underutilized"

// poolBudget is the least budget of a NodePool that holds at all times for consolidation: all of its nodes where it has budgets, and none of
// these is one. said is false where it has no budgets (https://karpenter.sh/docs/concepts/disruption/#nodes; that a list of which none
// holds is no limit is recalled).
func poolBudget(p *manifest.Object) (least world.NodeBudget, said bool) {
	budgets, ok := rawAt(p.Value, "spec", "disruption", "budgets").([]any)
	if !ok {
		return least, false
	}
	const many = 1000 // nodes by which budgets are compared
	for _, b := range budgets {
		if rawText(b, "schedule") != "" || !forConsolidation(b) {
			continue
		}
		if n, ok := budgetOf(fmt.Sprint(rawAt(b, "nodes"))); ok && (!said || n.Of(many) < least.Of(many)) {
			least, said = n, true
		}
	}
	if !said && len(budgets) > 0 {
		return world.NodeBudget{Number: 100, PerCent: true}, true
	}
	return least, said
}

// impossible warns of what a NodePool says and cannot mean: it is read as if it did not say it.
func (b *builder) impossible(p *manifest.Object) {
	budgets, _ := rawAt(p.Value, "spec", "disruption", "budgets").([]any)
	for i, x := range budgets {
		said := rawAt(x, "nodes")
		if _, ok := budgetOf(fmt.Sprint(said)); said != nil && !ok {
			path := fmt.Sprintf("spec.disruption.budgets[%d].nodes", i)
			b.doc.problems = append(b.doc.problems, p.Problem(manifest.Warning, path, fmt.Sprintf("%q is no number of nodes such as 1 or \"10%%\"; this budget is left out", fmt.Sprint(said))))
		}
	}
	b.misspelt(p)
	if said := rawText(rawAt(p.Value, "spec", "template", "spec"), "terminationGracePeriod"); said != "" && poolGrace(p) == 0 {
		b.doc.problems = append(b.doc.problems, p.Problem(manifest.Warning, "spec.template.spec.terminationGracePeriod", fmt.Sprintf("%q is no duration such as 48h; it is left out", said)))
	}
}

// forConsolidation says whether a budget holds for consolidation: one without reasons holds for all.
func forConsolidation(budget any) bool {
	reasons, ok := rawAt(budget, "reasons").([]any)
	return !ok || slices.Contains(reasons, any(consolidation))
}

// poolGrace is a NodePool's terminationGracePeriod, 0 for none.
func poolGrace(p *manifest.Object) engine.Time {
	d, err := time.ParseDuration(rawText(rawAt(p.Value, "spec", "template", "spec"), "terminationGracePeriod"))
	if err != nil || d < 0 {
		return 0
	}
	return engine.FromDuration(d)
}

// otherTimes says that budgets of a NodePool hold at times only: none of these times is simulated.
func otherTimes(p *manifest.Object) string {
	for _, x := range rawList(p.Value, "spec", "disruption", "budgets") {
		if when := rawText(x, "schedule"); when != "" && forConsolidation(x) {
			return fmt.Sprintf(" (outside of %q, when it is %v)", when, rawAt(x, "nodes"))
		}
	}
	return ""
}

// poolFields are the fields of a NodePool around those that are read here, by the path of what they are in (karpenter.sh/v1,
// https://karpenter.sh/docs/concepts/nodepools/; kubelet is v1beta1's).
var poolFields = []struct {
	path, fields []string
}{
	{nil, []string{"template", "disruption", "limits", "weight", "replicas"}},
	{[]string{"disruption"}, []string{"consolidationPolicy", "consolidateAfter", "expireAfter", "budgets"}},
	{[]string{"template"}, []string{"metadata", "spec"}},
	{[]string{"template", "spec"}, []string{"taints", "startupTaints", "requirements", "nodeClassRef", "terminationGracePeriod", "expireAfter", "kubelet"}},
}

// misspelt warns of fields of a NodePool that are nearly one that it has: they do nothing. Others may be a newer version's.
func (b *builder) misspelt(p *manifest.Object) {
	for _, f := range poolFields {
		b.misspeltIn(p, rawAt(rawAt(p.Value, "spec"), f.path...), strings.Join(append([]string{"spec"}, f.path...), "."), f.fields)
	}
	for i, x := range rawList(p.Value, "spec", "disruption", "budgets") {
		b.misspeltIn(p, x, fmt.Sprintf("spec.disruption.budgets[%d]", i), []string{"nodes", "schedule", "duration", "reasons"})
	}
}

// misspeltIn is misspelt for the fields of one part.
func (b *builder) misspeltIn(p *manifest.Object, part any, path string, fields []string) {
	m, _ := part.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(fields, key) {
			continue
		}
		if near := nearest(key, fields); near != "" {
			b.doc.problems = append(b.doc.problems, p.Problem(manifest.Warning, path+"."+key, fmt.Sprintf("a NodePool has no %s here, so that it does nothing: did you mean %s?", key, near)))
		}
	}
}
