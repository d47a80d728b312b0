package scenario

import (
	"cmp"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Workloads of other makers, and ReplicationControllers, are not simulated: they are named as what they are, wherever a Service selects their pods.

// Kinds of workloads, as people say them where the kind alone would mislead.
const (
	kindJob     = "Job"
	kindRollout = "Rollout"
	kindKnative = "Knative Service"
)

// knativeLabel is what Knative's pods have of the name of their Service (knative.dev/serving,
// pkg/apis/serving/register.go; recalled).
const knativeLabel = "serving.knative.dev/service"

// templateOf is the pod template of a raw workload, nil for any other kind.
func templateOf(o *manifest.Object) *corev1.PodTemplateSpec {
	path := []string{"spec", "template"}
	switch o.Kind {
	case "CloneSet", "DaemonSet", "StatefulSet", "DeploymentConfig", "ReplicationController", "Rollout", "Job":
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	case "Service": // one of Kubernetes' own is not raw
	default:
		return nil
	}
	out := &corev1.PodTemplateSpec{}
	if text, err := json.Marshal(rawAt(o.Value, path...)); err != nil || json.Unmarshal(text, out) != nil {
		out = &corev1.PodTemplateSpec{} // what cannot be read has no labels that a Service could select
	}
	return out
}

// foreignKind is what people call the kind of a raw workload.
func foreignKind(o *manifest.Object) string {
	switch {
	case o.Group() == "apps.kruise.io" && o.Kind != "CloneSet":
		return "OpenKruise " + o.Kind
	case o.Kind == "Service":
		return kindKnative
	case o.Kind == "CronJob":
		return kindJob
	default:
		return o.Kind
	}
}

func (w *inventory) addForeign(o *manifest.Object, template *corev1.PodTemplateSpec) {
	own := owner{kind: foreignKind(o), namespace: o.Namespace, name: o.Name, template: template, replicas: -1, object: o}
	if n, ok := rawAt(o.Value, "spec", "replicas").(int64); ok && n >= 0 && n <= maxWhole {
		own.replicas = int32(n)
	}
	if own.kind == kindKnative {
		template.Labels = maps.Clone(template.Labels)
		if template.Labels == nil {
			template.Labels = map[string]string{}
		}
		template.Labels[knativeLabel] = o.Name
	}
	w.foreign = append(w.foreign, own)
}

// adopter is the Rollout that runs the pods of a Deployment in its stead (spec.workloadRef;
// recalled), nil for none.
func (w *inventory) adopter(d workload) *owner {
	for i := range w.foreign {
		o := &w.foreign[i]
		ref := rawAt(o.object.Value, "spec", "workloadRef")
		if o.kind == kindRollout && o.namespace == d.Namespace && rawText(ref, "name") == d.Name && cmp.Or(rawText(ref, "kind"), world.Deployment) == world.KindOf(d.Value) {
			return o
		}
	}
	return nil
}
