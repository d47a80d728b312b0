package scenario

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// sharePattern is so many per cent, as a budget has it.
const sharePattern = `^(100|[1-9]?[0-9])%$`

var shareWords = regexp.MustCompile(sharePattern)

// shareOf reads a number of pods, or so many per cent of them.
func shareOf(v any) (intstr.IntOrString, bool) {
	switch v := v.(type) {
	case int64:
		return intstr.FromInt32(int32(min(max(v, 0), maxWhole))), v >= 0 && v <= maxWhole
	case string:
		return intstr.FromString(v), shareWords.MatchString(v)
	default:
		return intstr.IntOrString{}, false
	}
}

// setBudget reads kubectl patch of a disruption budget.
func (b *builder) setBudget(v cursor, namespace string) (world.Operation, bool) {
	of := v.get("of")
	kind, name, _ := strings.Cut(of.text(""), "/")
	if k := strings.ToLower(kind); name == "" || k != "poddisruptionbudget" && k != "poddisruptionbudgets" && k != "pdb" {
		of.fail("%q is no disruption budget: want poddisruptionbudget/NAME", of.text(""))
		return nil, false
	}
	o := world.SetBudget{MinAvailable: shareIn(v.get("minAvailable")), MaxUnavailable: shareIn(v.get("maxUnavailable")), Policy: v.get("unhealthyPodEvictionPolicy").text("")}
	switch {
	case o.MinAvailable != nil && o.MaxUnavailable != nil:
		v.fail("a budget has minAvailable or maxUnavailable, not both")
		return nil, false
	case o.MinAvailable == nil && o.MaxUnavailable == nil && o.Policy == "":
		v.fail("say what it becomes: setBudget: {of: poddisruptionbudget/NAME, maxUnavailable: 1}")
		return nil, false
	}
	var ok bool
	o.Budget, ok = b.budgetNamed(of, namespace, name)
	return o, ok
}

// shareIn is what a field says, nil for nothing.
func shareIn(c cursor) *intstr.IntOrString {
	n, ok := shareOf(c.v)
	if !c.present() || !ok {
		return nil
	}
	return &n
}

// budgetNamed finds a budget that covers pods of the Scenario's workloads.
func (b *builder) budgetNamed(c cursor, namespace, name string) (id string, ok bool) {
	var found, names []string
	for i := range b.out.Budgets {
		x := b.out.Budgets[i].Value
		names = append(names, x.Name)
		if x.Name == name && (namespace == "" || namespace == x.Namespace) {
			found = append(found, x.Namespace+"/"+x.Name)
		}
	}
	switch len(found) {
	case 0:
		c.fail("there is no PodDisruptionBudget %s of the Scenario's pods; %s", name, didYouMean(name, names))
		return "", false
	case 1:
		return found[0], true
	default:
		c.fail("there are several: %s; say which with namespace", strings.Join(found, ", "))
		return "", false
	}
}

// heedsBudgets says that the Scenario has budgets, and an action that asks for evictions. The actions are not all read yet when it is asked.
func (b *builder) heedsBudgets() bool {
	return len(b.out.Budgets) > 0 && slices.ContainsFunc(b.doc.spec().get("actions").items(), func(a cursor) bool {
		return slices.Contains([]string{"drain", "karpenter"}, a.get("spotNotice").get("handler").text("")) || slices.ContainsFunc([]string{"cordon", "drain", "evict", "scaleDownNode", "karpenter", "upgradePool"}, func(verb string) bool { return a.get(verb).present() })
	})
}
