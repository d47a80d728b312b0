package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// CountsForHints says whether a node's CPU counts for proportional hints: it is not of the
// control plane and it is ready (k8s.io/endpointslice 0.36.3 topologycache.go; verified). A
// node that says nothing of its state is taken to be ready.
func (n *Node) CountsForHints() bool {
	if n.Joins || n.Apart { // zones and CPU stay as they are during a run
		return false
	}
	if n.Object == nil {
		return true
	}
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, ok := n.Object.Labels[label]; ok {
			return false
		}
	}
	for _, c := range n.Object.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// Silent says whether the input shows a node whose kubelet the control plane has not heard of for too long: its condition Ready is
// Unknown, or it has the taint of that (docs/model/pod-lifecycle.md 6). Nobody stops its pods.
func (n *Node) Silent() bool {
	if n.Object == nil {
		return false
	}
	return slices.ContainsFunc(n.Object.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	}) || slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
}

// assumedCPU is what nodes are given that do not say how much they have, in 1/1000.
const assumedCPU = 4000

// AllocatableCPU returns a node's allocatable CPU in 1/1000; said is false when the node does
// not say it and has as much as every other such node.
func (n *Node) AllocatableCPU() (milli int64, said bool) {
	if n.Object == nil {
		return assumedCPU, false
	}
	q, ok := n.Object.Status.Allocatable[corev1.ResourceCPU]
	if !ok {
		return assumedCPU, false
	}
	return q.MilliValue(), true
}
