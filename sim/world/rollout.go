package world

import "k8s.io/apimachinery/pkg/util/intstr"

// Fenceposts resolves maxSurge and maxUnavailable for a number of replicas: percentages round
// up for surge and down for unavailable; if both come to 0, one pod may be unavailable, since
// the update could not move otherwise.
func Fenceposts(replicas int, maxSurge, maxUnavailable intstr.IntOrString) (surge, unavailable int) {
	surge = scaled(maxSurge, replicas, true)
	unavailable = scaled(maxUnavailable, replicas, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, replicas)
}

// DaemonFenceposts resolves maxSurge and maxUnavailable of a DaemonSet for the number of nodes that are to have a pod: percentages
// round up for both. Exactly one of them is not 0, which the API has checked; if both came to 0, one pod may be unavailable (Kubernetes
// 1.36 pkg/controller/daemon/update.go, updatedDesiredNodeCounts; verified).
func DaemonFenceposts(nodes int, maxSurge, maxUnavailable intstr.IntOrString) (surge, unavailable int) {
	surge, unavailable = scaled(maxSurge, nodes, true), scaled(maxUnavailable, nodes, true)
	if nodes > 0 && surge == 0 && unavailable == 0 {
		return 0, 1
	}
	return surge, unavailable
}

// scaled resolves a count or a percentage of total. The API has checked its form.
func scaled(v intstr.IntOrString, total int, roundUp bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, total, roundUp)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// FencepostsOf resolves the maxSurge and maxUnavailable of a Resource for a number of replicas, or of a DaemonSet's nodes; both are 0 where an update is not a
// rolling one, as for strategy Recreate.
func FencepostsOf(r Resource, replicas int) (surge, unavailable int) {
	switch s, u := RollingOf(r); {
	case s == nil || u == nil:
		return 0, 0
	case KindOf(r) == DaemonSet:
		return DaemonFenceposts(replicas, *s, *u)
	default:
		return Fenceposts(replicas, *s, *u)
	}
}

// StatefulUnavailable is how many pods of a StatefulSet an update takes away at a time, where maxUnavailable is heeded: percentages
// round down, and it is one at least; 1 where nothing is said (Kubernetes 1.36 pkg/controller/statefulset/stateful_set_utils.go,
// getStatefulSetMaxUnavailable; verified).
func StatefulUnavailable(maxUnavailable *intstr.IntOrString, replicas int) int {
	if maxUnavailable == nil {
		return 1
	}
	return max(1, scaled(*maxUnavailable, replicas, false))
}
