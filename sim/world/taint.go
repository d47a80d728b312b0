package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
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

// defaultPatience is how long pods tolerate it that their node is not ready, or cannot be reached, unless they say otherwise (the
// admission plugin DefaultTolerationSeconds; Kubernetes 1.36, verified).
const defaultPatience = 300 * engine.Second

// longest is from how many seconds on a toleration is one for ever: no run lasts 68 years.
const longest = 1 << 31

// Endures says how long a pod tolerates a NoExecute taint that its node has for its condition: ever for always, less than 0 for not at
// all. Of its own tolerations the first that matches counts; without one of that key the API server has added its own.
func Endures(tolerations []corev1.Toleration, taint corev1.Taint) (patience engine.Time, ever bool) {
	said := slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return (t.Key == taint.Key || t.Key == "") && (t.Effect == taint.Effect || t.Effect == "")
	})
	if !said {
		return defaultPatience, false
	}
	i := slices.IndexFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(&t, &taint) })
	switch {
	case i < 0:
		return -1, false
	case tolerations[i].TolerationSeconds == nil, *tolerations[i].TolerationSeconds >= longest:
		return 0, true
	default:
		return engine.Time(max(0, *tolerations[i].TolerationSeconds)) * engine.Second, false
	}
}
