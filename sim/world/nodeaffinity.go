package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Admits says whether a pod's nodeSelector and required node affinity let it run on a node. A
// made-up node has every label. A Node object has those that each kubelet sets, too: they are often
// left out of Nodes that were written by hand.
func Admits(pod *corev1.PodSpec, n *corev1.Node) bool {
	if n == nil {
		return true
	}
	have := labelsOf(n)
	if !labels.SelectorFromSet(pod.NodeSelector).Matches(have) {
		return false
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil || pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return meetsTerm(&t, n, have) })
}

// labelsOf are a Node's labels, with those that each kubelet sets.
func labelsOf(n *corev1.Node) labels.Set {
	have := labels.Set{corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	for k, v := range n.Labels { // order: a map of its own
		have[k] = v
	}
	return have
}

// meetsTerm says whether a node meets a term; an empty one is met by none.
func meetsTerm(t *corev1.NodeSelectorTerm, n *corev1.Node, have labels.Set) bool {
	return len(t.MatchExpressions)+len(t.MatchFields) > 0 &&
		meets(t.MatchExpressions, have) && meets(t.MatchFields, labels.Set{"metadata.name": n.Name})
}

// Meets says whether a node meets a preferred term of node affinity. Made-up nodes do not differ in that.
func Meets(t *corev1.NodeSelectorTerm, n *corev1.Node) bool {
	return n != nil && meetsTerm(t, n, labelsOf(n))
}

// meets says whether labels meet all requirements. One that is malformed is met by none.
func meets(all []corev1.NodeSelectorRequirement, have labels.Set) bool {
	for _, r := range all {
		op := map[corev1.NodeSelectorOperator]selection.Operator{
			corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
			corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
		}[r.Operator]
		required, err := labels.NewRequirement(r.Key, op, r.Values)
		if err != nil || !required.Matches(have) {
			return false
		}
	}
	return true
}
