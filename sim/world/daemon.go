package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// DaemonTolerations lists what pods of a DaemonSet tolerate: what their template says, and what the controller adds (Kubernetes
// 1.36 pkg/controller/daemon/util/daemonset_util.go, AddOrUpdateDaemonPodTolerations; verified).
func DaemonTolerations(pod *corev1.PodSpec) []corev1.Toleration {
	out := slices.Clone(pod.Tolerations)
	add := func(effect corev1.TaintEffect, keys ...string) {
		for _, key := range keys {
			always := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
			out = slices.DeleteFunc(out, func(t corev1.Toleration) bool { // one for a time
				t.TolerationSeconds = nil
				return t == always
			})
			out = append(out, always)
		}
	}
	add(corev1.TaintEffectNoExecute, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable)
	add(corev1.TaintEffectNoSchedule, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable)
	if pod.HostNetwork {
		add(corev1.TaintEffectNoSchedule, corev1.TaintNodeNetworkUnavailable)
	}
	return out
}

// DaemonRuns says whether a DaemonSet is to have a pod on a node with some taints, and whether one that is there may stay, which
// a taint of effect NoSchedule does not change (Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go, NodeShouldRunDaemonPod;
// verified).
func DaemonRuns(pod *corev1.PodSpec, n *Node, taints []corev1.Taint) (runs, stays bool) {
	if n.Apart || pod.NodeName != "" && pod.NodeName != n.Name || !Admits(pod, n.Object) {
		return false, false
	}
	tolerations := DaemonTolerations(pod)
	driving := slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
	return Tolerates(tolerations, taints), Tolerates(tolerations, driving)
}

// CountDaemons has each DaemonSet know how many nodes it has a pod on, as the nodes are at the beginning.
func (s *Scenario) CountDaemons() {
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.Kind() != DaemonSet {
			continue
		}
		w.Nodes = 0
		for n := range s.Nodes {
			if s.Nodes[n].Joins {
				continue
			}
			if runs, _ := DaemonRuns(&w.Template().Spec, &s.Nodes[n], TaintsOf(s.Nodes[n].Object)); runs {
				w.Nodes++
			}
		}
	}
}

// OnDelete says that nobody replaces the pods of a Resource when its template changes: the next one that is made in the place of one
// that somebody has deleted is of the new template.
func OnDelete(r Resource) bool {
	switch r := r.(type) {
	case *appsv1.DaemonSet:
		return r.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	case *appsv1.StatefulSet:
		return r.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	default:
		return false
	}
}

// PartitionOf is the ordinal, counted from the first, from which on an update of a StatefulSet replaces pods; 0 for all other kinds
// (Kubernetes 1.36 pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet; verified).
func PartitionOf(r Resource) int32 {
	s, ok := r.(*appsv1.StatefulSet)
	if !ok || s.Spec.UpdateStrategy.RollingUpdate == nil || s.Spec.UpdateStrategy.RollingUpdate.Partition == nil {
		return 0
	}
	return *s.Spec.UpdateStrategy.RollingUpdate.Partition
}

// TolerationsOf lists what the pods of a Resource tolerate.
func TolerationsOf(r Resource) []corev1.Toleration {
	spec := &TemplateOf(r).Spec
	if KindOf(r) == DaemonSet {
		return DaemonTolerations(spec)
	}
	return spec.Tolerations
}
