package world

import (
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Budget is a PodDisruptionBudget of the input.
type Budget struct {
	Value  *policyv1.PodDisruptionBudget
	Object *manifest.Object // for positions; nil when made up
}

// At is where a field of it stands, or its nearest ancestor; the zero Position where nothing does.
func (b *Budget) At(path string) manifest.Position {
	if b.Object == nil {
		return manifest.Position{}
	}
	return b.Object.At(path)
}

// SetBudget is kubectl patch poddisruptionbudget: its numbers or its policy become others. One of the two numbers takes the place of the
// other.
type SetBudget struct {
	Budget                       string              // "ns/name"
	MinAvailable, MaxUnavailable *intstr.IntOrString // nil for both: they stay
	Policy                       string              // unhealthyPodEvictionPolicy, "" for the one that it has
}

func (o SetBudget) words() (verb, target, value string) {
	var parts []string
	if o.MinAvailable != nil {
		parts = append(parts, "minAvailable="+o.MinAvailable.String())
	}
	if o.MaxUnavailable != nil {
		parts = append(parts, "maxUnavailable="+o.MaxUnavailable.String())
	}
	if o.Policy != "" {
		parts = append(parts, "unhealthyPodEvictionPolicy="+o.Policy)
	}
	return "setBudget", o.Budget, strings.Join(parts, " ")
}

// On is a budget as the operation leaves it, without a place in a file where that is another.
func (o *SetBudget) On(b *Budget) (to Budget, changed bool) {
	out := b.Value.DeepCopy()
	if o.MinAvailable != nil || o.MaxUnavailable != nil {
		out.Spec.MinAvailable, out.Spec.MaxUnavailable = o.MinAvailable, o.MaxUnavailable
	}
	if policy := policyv1.UnhealthyPodEvictionPolicyType(o.Policy); o.Policy != "" {
		out.Spec.UnhealthyPodEvictionPolicy = &policy
	}
	if equality.Semantic.DeepEqual(out.Spec, b.Value.Spec) {
		return *b, false
	}
	return Budget{Value: out}, true
}

// Covers says whether a budget is for pods with such labels: an empty selector selects every pod of the
// namespace, none at all no pod (policy/v1).
func (b *Budget) Covers(namespace string, podLabels map[string]string) bool {
	if namespace != b.Value.Namespace {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Value.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(podLabels))
}

// Bound is the field that says how many pods are to stay, its value and its path, nil for neither.
func (b *Budget) Bound() (value *intstr.IntOrString, path string) {
	switch spec := &b.Value.Spec; {
	case spec.MaxUnavailable != nil:
		return spec.MaxUnavailable, "spec.maxUnavailable"
	case spec.MinAvailable != nil:
		return spec.MinAvailable, "spec.minAvailable"
	default:
		return nil, ""
	}
}

// Desired is how many pods a budget expects, and how many of them are to be ready: pods is how many it covers
// now, those that terminate included, scale how many their controllers are to keep. Percentages round up, those
// of maxUnavailable, too (Kubernetes 1.36 pkg/controller/disruption/disruption.go getExpectedPodCount; verified).
func (b *Budget) Desired(pods, scale int) (expected, desired int) {
	switch spec := &b.Value.Spec; {
	case spec.MaxUnavailable != nil:
		return scale, max(0, scale-scaled(*spec.MaxUnavailable, scale, true))
	case spec.MinAvailable == nil:
		return 0, 0
	case spec.MinAvailable.Type == intstr.Int:
		return pods, scaled(*spec.MinAvailable, 0, true)
	default:
		return scale, scaled(*spec.MinAvailable, scale, true)
	}
}

// Words name a budget and what it asks for: "PodDisruptionBudget web (minAvailable 2)".
func (b *Budget) Words() string {
	words := "PodDisruptionBudget " + b.Value.Name
	if v, path := b.Bound(); v != nil {
		words += fmt.Sprintf(" (%s %s)", path[len("spec."):], v)
	}
	return words
}
