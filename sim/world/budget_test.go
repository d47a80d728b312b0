package world

import (
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What a budget wants, against the words of docs/model/controllers.md 6.1 for every small number: percentages are the least whole
// number of pods that is no less than the part.
func TestWhatABudgetWants(t *testing.T) {
	t.Parallel()
	part := func(percent, of int) int { // the least n with 100 n >= percent * of
		n := 0
		for 100*n < percent*of {
			n++
		}
		return n
	}
	for scale := range 13 {
		for pods := range 15 { // those that terminate, and those of a surge
			for n := range 15 {
				v := intstr.FromInt32(int32(n))
				b := Budget{Value: &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &v}}}
				wants(t, &b, pods, scale, pods, n)
				b.Value.Spec = policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &v}
				wants(t, &b, pods, scale, scale, max(0, scale-n))
			}
			for percent := range 101 {
				v := intstr.FromString(fmt.Sprintf("%d%%", percent))
				b := Budget{Value: &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &v}}}
				wants(t, &b, pods, scale, scale, part(percent, scale))
				b.Value.Spec = policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &v}
				wants(t, &b, pods, scale, scale, scale-part(percent, scale))
			}
			wants(t, &Budget{Value: &policyv1.PodDisruptionBudget{}}, pods, scale, 0, 0)
		}
	}
}

func wants(t *testing.T, b *Budget, pods, scale, expected, desired int) {
	t.Helper()
	if gotExpected, gotDesired := b.Desired(pods, scale); gotExpected != expected || gotDesired != desired {
		t.Fatalf("%s, %d pods, scale %d: %d expected and %d desired, want %d and %d", b.Words(), pods, scale, gotExpected, gotDesired, expected, desired)
	}
}

func TestWhichPodsABudgetCovers(t *testing.T) {
	t.Parallel()
	web := map[string]string{"app": "web"}
	for name, c := range map[string]struct {
		selector  *metav1.LabelSelector
		namespace string
		want      bool
	}{
		"its labels":                      {&metav1.LabelSelector{MatchLabels: web}, "shop", true},
		"other labels":                    {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}, "shop", false},
		"another namespace":               {&metav1.LabelSelector{MatchLabels: web}, "default", false},
		"an empty selector":               {&metav1.LabelSelector{}, "shop", true},
		"no selector":                     {nil, "shop", false},
		"a selector that is none of ours": {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "near"}}}, "shop", false},
	} {
		b := Budget{Value: &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: c.selector}}}
		if got := b.Covers(c.namespace, web); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestABudgetIsNamedWithWhatItAsksFor(t *testing.T) {
	t.Parallel()
	two, half := intstr.FromInt32(2), intstr.FromString("50%")
	for want, spec := range map[string]policyv1.PodDisruptionBudgetSpec{
		"PodDisruptionBudget web (minAvailable 2)":     {MinAvailable: &two},
		"PodDisruptionBudget web (maxUnavailable 50%)": {MaxUnavailable: &half},
		"PodDisruptionBudget web":                      {},
	} {
		b := Budget{Value: &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}}
		if got := b.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
