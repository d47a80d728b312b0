package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Namespaces are the labels of the namespaces that the input has, by name.
type Namespaces map[string]map[string]string

// term is one of a pod's terms of affinity or anti-affinity to other pods (Kubernetes 1.36 pkg/scheduler/framework/types.go,
// AffinityTerm, and pkg/registry/core/pod/strategy.go for matchLabelKeys; verified).
type term struct {
	key        string // topologyKey
	weight     int64  // of a preferred term, less than 0 for anti-affinity
	selector   labels.Selector
	namespaces []string
	spaces     labels.Selector // namespaceSelector, nil for none
}

// newTerm reads a term of a pod with some labels in a namespace.
func newTerm(t *corev1.PodAffinityTerm, weight int64, namespace string, own labels.Set) term {
	out := term{key: t.TopologyKey, weight: weight, selector: selectorOf(t.LabelSelector), namespaces: t.Namespaces}
	if t.LabelSelector != nil {
		out.selector = alike(alike(out.selector, t.MatchLabelKeys, selection.In, own), t.MismatchLabelKeys, selection.NotIn, own)
	}
	switch {
	case t.NamespaceSelector != nil:
		out.spaces = selectorOf(t.NamespaceSelector)
	case len(t.Namespaces) == 0:
		out.namespaces = []string{namespace}
	}
	return out
}

// selectorOf reads a label selector; one that the API server would have refused, or none, matches nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	out, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return out
}

// alike has a selector ask for the pod's own value, or another one, of some labels, as far as the pod has them.
func alike(s labels.Selector, keys []string, op selection.Operator, own labels.Set) labels.Selector {
	if _, selectable := s.Requirements(); !selectable {
		return s
	}
	for _, key := range keys {
		value, ok := own[key]
		if !ok {
			continue
		}
		if r, err := labels.NewRequirement(key, op, []string{value}); err == nil {
			s = s.Add(*r)
		}
	}
	return s
}

// of says whether a term is about the pods of a Kind.
func (t *term) of(k *Kind, known Namespaces) bool {
	return t.selector.Matches(k.labels) && (slices.Contains(t.namespaces, k.Namespace) || t.spaces != nil && inSpaces(t.spaces, k.Namespace, known))
}

// inSpaces says whether a namespaceSelector selects a namespace. Each has the label kubernetes.io/metadata.name. One that the input
// does not have may have any other label: it is taken to be selected.
func inSpaces(s labels.Selector, namespace string, known Namespaces) bool {
	have, found := known[namespace]
	set := labels.Merge(have, labels.Set{corev1.LabelMetadataName: namespace})
	if found {
		return s.Matches(set)
	}
	all, selectable := s.Requirements()
	return selectable && !slices.ContainsFunc(all, func(r labels.Requirement) bool {
		return r.Key() == corev1.LabelMetadataName && !r.Matches(set)
	})
}

// ofAll says whether all of some terms are about the pods of a Kind; none are about nothing.
func ofAll(terms []term, k *Kind, known Namespaces) bool {
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t term) bool { return !t.of(k, known) })
}

// requiredTerms reads the terms that have to be met, preferredTerms those that count, of affinity with sign 1 and of
// anti-affinity with -1.
func requiredTerms(list []corev1.PodAffinityTerm, namespace string, own labels.Set) []term {
	var out []term
	for i := range list {
		out = append(out, newTerm(&list[i], 0, namespace, own))
	}
	return out
}

func preferredTerms(list []corev1.WeightedPodAffinityTerm, sign int64, namespace string, own labels.Set) []term {
	var out []term
	for i := range list {
		out = append(out, newTerm(&list[i].PodAffinityTerm, sign*int64(list[i].Weight), namespace, own))
	}
	return out
}
