package world

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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

// scaled resolves a count or a percentage of total. The API has checked its form.
func scaled(v intstr.IntOrString, total int, roundUp bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, total, roundUp)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// FencepostsOf resolves a Deployment's maxSurge and maxUnavailable; both are 0 for strategy
// Recreate.
func FencepostsOf(d *appsv1.Deployment) (surge, unavailable int) {
	u := d.Spec.Strategy.RollingUpdate
	if u == nil || u.MaxSurge == nil || u.MaxUnavailable == nil {
		return 0, 0
	}
	return Fenceposts(int(ReplicasOf(d)), *u.MaxSurge, *u.MaxUnavailable)
}
