package world

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Resource is the object that says which pods a Workload has: a Deployment, StatefulSet, DaemonSet or ReplicaSet, or a BarePod. What
// the simulator asks of a kind is answered in this file, so that another kind is one more case of each switch.
type Resource interface {
	metav1.Object
	runtime.Object
}

// The kinds of Resources, as a manifest writes them.
const (
	Deployment  = "Deployment"
	StatefulSet = "StatefulSet"
	DaemonSet   = "DaemonSet"
	ReplicaSet  = "ReplicaSet"
	Pod         = "Pod"
)

// BarePod is a Pod that no controller keeps. Template is what it is made of, so that it reads like the pods of the other kinds: its
// labels, annotations and spec are those of the Pod.
type BarePod struct {
	*corev1.Pod
	Template corev1.PodTemplateSpec
}

// NewBarePod is a Pod as a Resource.
func NewBarePod(p *corev1.Pod) *BarePod {
	return &BarePod{Pod: p, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations}, Spec: p.Spec}}
}

// DeepCopyObject copies the template, too.
func (p *BarePod) DeepCopyObject() runtime.Object {
	return &BarePod{Pod: p.DeepCopy(), Template: *p.Template.DeepCopy()}
}

// KindOf is the kind of a Resource, as a manifest writes it.
func KindOf(r Resource) string {
	switch r.(type) {
	case *appsv1.Deployment:
		return Deployment
	case *appsv1.StatefulSet:
		return StatefulSet
	case *appsv1.DaemonSet:
		return DaemonSet
	case *appsv1.ReplicaSet:
		return ReplicaSet
	case *BarePod:
		return Pod
	default:
		return ""
	}
}

// TemplateOf is what the pods of a Resource are made of; nil for an object that makes none.
func TemplateOf(r Resource) *corev1.PodTemplateSpec {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return &r.Spec.Template
	case *appsv1.StatefulSet:
		return &r.Spec.Template
	case *appsv1.DaemonSet:
		return &r.Spec.Template
	case *appsv1.ReplicaSet:
		return &r.Spec.Template
	case *BarePod:
		return &r.Template
	default:
		return nil
	}
}

// SpecOf is what a Resource asks for: its spec, of the type that its kind has.
func SpecOf(r Resource) any {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return r.Spec
	case *appsv1.StatefulSet:
		return r.Spec
	case *appsv1.DaemonSet:
		return r.Spec
	case *appsv1.ReplicaSet:
		return r.Spec
	case *BarePod:
		return r.Template
	default:
		return nil
	}
}

// replicasIn is where a Resource says how many pods it asks for, nil for a kind that has no such field.
func replicasIn(r Resource) **int32 {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return &r.Spec.Replicas
	case *appsv1.StatefulSet:
		return &r.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &r.Spec.Replicas
	default:
		return nil
	}
}

// Scales says whether a Resource has a number of replicas that can be changed.
func Scales(r Resource) bool { return replicasIn(r) != nil }

// SetReplicas changes how many pods a Resource asks for, where it says that.
func SetReplicas(r Resource, n int32) {
	if at := replicasIn(r); at != nil {
		*at = &n
	}
}

// ReplicasOf returns the replicas that a Resource asks for, 1 where it does not say.
func ReplicasOf(r Resource) int32 {
	if at := replicasIn(r); at != nil && *at != nil {
		return **at
	}
	return 1
}

// MinReadySecondsOf is how long a pod has to be ready until it counts as available.
func MinReadySecondsOf(r Resource) int32 {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return r.Spec.MinReadySeconds
	case *appsv1.StatefulSet:
		return r.Spec.MinReadySeconds
	case *appsv1.DaemonSet:
		return r.Spec.MinReadySeconds
	case *appsv1.ReplicaSet:
		return r.Spec.MinReadySeconds
	default:
		return 0
	}
}

// RollsOut says whether something rolls out another template of a Resource: nothing does for a bare ReplicaSet, whose pods stay as
// they are, or for a bare Pod.
func RollsOut(r Resource) bool {
	switch r.(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet:
		return true
	default:
		return false
	}
}

// RollingOf returns maxSurge and maxUnavailable as they are written; both are nil where an update is not a rolling one.
func RollingOf(r Resource) (surge, unavailable *intstr.IntOrString) {
	switch r := r.(type) {
	case *appsv1.Deployment:
		if u := r.Spec.Strategy.RollingUpdate; u != nil {
			return u.MaxSurge, u.MaxUnavailable
		}
	case *appsv1.DaemonSet:
		if u := r.Spec.UpdateStrategy.RollingUpdate; u != nil {
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
	case *appsv1.StatefulSet:
		manifest.DefaultStatefulSet(r)
	case *appsv1.DaemonSet:
		manifest.DefaultDaemonSet(r)
	case *appsv1.ReplicaSet:
		manifest.DefaultReplicaSet(r)
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
	out := CopyOf(r)
	SetReplicas(out, int32(replicas))
	return out
}
