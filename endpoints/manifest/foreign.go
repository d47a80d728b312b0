package manifest

import "slices"

// foreign says whether a kind is one that is kept raw, whatever its version, because Services may
// lead to its pods, or requests may go another way because of it. Nothing is asked of such an
// object, not even a name.
func foreign(group, kind string) bool {
	return slices.Contains(map[string][]string{
		"apps.kruise.io":      {"CloneSet", "DaemonSet", "StatefulSet"}, // OpenKruise
		"apps.openshift.io":   {"DeploymentConfig"},
		"argoproj.io":         {"Rollout"},
		"batch":               {"CronJob", "Job"},
		"karpenter.sh":        {"NodePool"},
		"keda.sh":             {"ScaledObject"},
		"networking.istio.io": {"DestinationRule", "VirtualService"},
		"serving.knative.dev": {"Service"},
	}[group], kind)
}

// Group is the API group of an object, "" for the core group.
func (o *Object) Group() string { return groupOf(o.APIVersion) }
