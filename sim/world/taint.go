package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// TaintsOf lists the taints of a Node that keep pods off it, or drive them away. A made-up node has none.
func TaintsOf(n *corev1.Node) []corev1.Taint {
	if n == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectNoSchedule && t.Effect != corev1.TaintEffectNoExecute
	})
}

// Tolerates says whether tolerations cover all taints.
func Tolerates(tolerations []corev1.Toleration, taints []corev1.Taint) bool {
	for i := range taints {
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(&t, &taints[i]) }) {
			return false
		}
	}
	return true
}

// tolerates says whether a toleration covers a taint: what it does not name is any.
func tolerates(t *corev1.Toleration, taint *corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	if t.Operator == corev1.TolerationOpExists {
		return true
	}
	return t.Key != "" && t.Value == taint.Value
}
