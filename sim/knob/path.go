package knob

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Path is where a workload's manifest has the setting, or would have it: "spec.template.spec.terminationGracePeriodSeconds". Of prestop it is the
// hook, and the seconds are below it. ok is false for an object that cannot have the setting.
func (k Knob) Path(objects *manifest.Objects, o *manifest.Object) (path string, ok bool) {
	t := targetOf(objects, o)
	if t == nil {
		return "", false
	}
	const pod = "spec.template.spec"
	server := fmt.Sprintf("%s.containers[%d]", pod, slices.IndexFunc(t.spec.Containers, func(c corev1.Container) bool { return c.Name == t.server.Name }))
	update := "spec.updateStrategy"
	if _, deployment := t.resource.(*appsv1.Deployment); deployment {
		update = "spec.strategy"
	}
	path = map[string]string{
		"prestop":                    server + ".lifecycle.preStop",
		"grace":                      pod + ".terminationGracePeriodSeconds",
		"replicas":                   "spec.replicas",
		"minReadySeconds":            "spec.minReadySeconds",
		"maxSurge":                   update + ".rollingUpdate.maxSurge",
		"maxUnavailable":             update + ".rollingUpdate.maxUnavailable",
		"readiness.periodSeconds":    server + ".readinessProbe.periodSeconds",
		"readiness.failureThreshold": server + ".readinessProbe.failureThreshold",
	}[k.Name]
	_, ok = k.read(t)
	return path, path != "" && (ok || k.Name == "prestop")
}

// Replicas is how many pods a workload has, 0 for one whose settings are not turned.
func Replicas(objects *manifest.Objects, o *manifest.Object) int {
	t := targetOf(objects, o)
	if t == nil {
		return 0
	}
	return int(world.ReplicasOf(t.resource))
}
