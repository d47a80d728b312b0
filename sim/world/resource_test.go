package world

import (
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What a Deployment says is answered by each question; one that says nothing gets the API server's defaults.
func TestWhatAResourceSays(t *testing.T) {
	t.Parallel()
	replicas, surge, unavailable := int32(4), intstr.FromString("50%"), intstr.FromInt32(1)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, MinReadySeconds: 7,
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}},
	}}
	if KindOf(d) != "Deployment" || TemplateOf(d) != &d.Spec.Template || ReplicasOf(d) != 4 || MinReadySecondsOf(d) != 7 || !reflect.DeepEqual(SpecOf(d), d.Spec) {
		t.Errorf("kind %s, %d replicas, %d s", KindOf(d), ReplicasOf(d), MinReadySecondsOf(d))
	}
	if s, u := RollingOf(d); s != &surge || u != &unavailable {
		t.Errorf("maxSurge %v, maxUnavailable %v", s, u)
	}
	if s, u := FencepostsOf(d, 6); s != 3 || u != 1 {
		t.Errorf("of six pods %d more and %d fewer, expected 3 and 1", s, u)
	}
	empty := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}}}
	if s, u := FencepostsOf(empty, 6); s != 0 || u != 0 || ReplicasOf(empty) != 1 {
		t.Errorf("Recreate: %d more, %d fewer, %d replicas", s, u, ReplicasOf(empty))
	}
	if !(&Workload{Resource: empty}).Recreate() || (&Workload{Resource: d}).Recreate() {
		t.Error("Recreate is the strategy of one of them")
	}
}

// What is done to a copy, the API server's defaults among it, is not done to the Resource.
func TestACopyIsChangedByItself(t *testing.T) {
	t.Parallel()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	out := CopyOf(d)
	TemplateOf(out).Spec.RestartPolicy = corev1.RestartPolicyNever
	Default(out)
	if d.Spec.Template.Spec.RestartPolicy != "" || d.Spec.Replicas != nil {
		t.Errorf("the Deployment itself was changed: %+v", d.Spec)
	}
	after := (&Workload{Resource: out}).Deployment()
	if after.Spec.Replicas == nil || *after.Spec.Replicas != 1 || after.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("after the edit %+v", after.Spec)
	}
}

// An object that makes no pods has none of it, and is no Deployment.
func TestAResourceThatMakesNoPods(t *testing.T) {
	t.Parallel()
	w := Workload{Resource: &corev1.ConfigMap{}}
	s, u := RollingOf(w.Resource)
	if w.Deployment() != nil || w.Kind() != "" || TemplateOf(w.Resource) != nil || SpecOf(w.Resource) != nil || MinReadySecondsOf(w.Resource) != 0 || s != nil || u != nil || w.Recreate() {
		t.Errorf("a ConfigMap is %q, %v, %v", w.Kind(), s, u)
	}
}
