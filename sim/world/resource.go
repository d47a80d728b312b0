package world

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Resource is the object that says which pods a Workload has: a Deployment. What the simulator asks of a kind is answered in this
// file, so that another kind is one more case of each switch.
type Resource interface {
	metav1.Object
	runtime.Object
}

// KindOf is the kind of a Resource, as a manifest writes it.
func KindOf(r Resource) string {
	switch r.(type) {
	case *appsv1.Deployment:
		return "Deployment"
	default:
		return ""
	}
}

// TemplateOf is what the pods of a Resource are made of; nil for an object that makes none.
func TemplateOf(r Resource) *corev1.PodTemplateSpec {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return &r.Spec.Template
	default:
		return nil
	}
}

// SpecOf is what a Resource asks for: its spec, of the type that its kind has.
func SpecOf(r Resource) any {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return r.Spec
	default:
		return nil
	}
}

// ReplicasOf returns the replicas that a Resource asks for, 1 where it does not say.
func ReplicasOf(r Resource) int32 {
	switch r := r.(type) {
	case *appsv1.Deployment:
		if n := r.Spec.Replicas; n != nil {
			return *n
		}
	}
	return 1
}

// MinReadySecondsOf is how long a pod has to be ready until it counts as available.
func MinReadySecondsOf(r Resource) int32 {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return r.Spec.MinReadySeconds
	default:
		return 0
	}
}

// RollingOf returns maxSurge and maxUnavailable as they are written; both are nil where an update is not a rolling one.
func RollingOf(r Resource) (surge, unavailable *intstr.IntOrString) {
	switch r := r.(type) {
	case *appsv1.Deployment:
		if u := r.Spec.Strategy.RollingUpdate; u != nil {
			return u.MaxSurge, u.MaxUnavailable
		}
	}
	return nil, nil
}

// Default fills in what a Resource does not say, as the API server does.
func Default(r Resource) {
	switch r := r.(type) {
	case *appsv1.Deployment:
		manifest.DefaultDeployment(r)
	}
}

// CopyOf returns a Resource that can be changed while others read this one.
func CopyOf(r Resource) Resource {
	out, ok := r.DeepCopyObject().(Resource)
	if !ok {
		panic("world: a copy of another type: " + KindOf(r)) // a copy is of the same type
	}
	return out
}

// WithReplicas returns a copy of a Resource that asks for so many replicas.
func WithReplicas(r Resource, replicas int) Resource {
	out, n := CopyOf(r), int32(replicas)
	switch out := out.(type) {
	case *appsv1.Deployment:
		out.Spec.Replicas = &n
	}
	return out
}
