package record

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

// container is the name of every pod's container.
const container = "app"

// pods are the template of a workload's pods.
func pods(name string) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{}
	t.Labels = map[string]string{"app": name}
	t.Spec.Containers = []corev1.Container{{Name: container, Image: "example.com/" + name + ":1", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}}
	return t
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// deployment has so many pods, and rolls out with so many more and so many fewer, such as "1" or "25%".
func deployment(name string, replicas int32, surge, unavailable string, edits ...func(*appsv1.Deployment)) *appsv1.Deployment {
	more, fewer := intstr.Parse(surge), intstr.Parse(unavailable)
	d := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	d.Name = name
	d.Spec = appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(name), Template: pods(name), Strategy: appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &more, MaxUnavailable: &fewer},
	}}
	for _, edit := range edits {
		edit(d)
	}
	return d
}

// tier gives a Deployment's pods a label that those of others may have, too.
func tier(name string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Template.Labels["tier"] = name }
}

// keeps has a Deployment keep so many old ReplicaSets.
func keeps(history int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &history }
}

// stopsWithin is the grace period of a Deployment's pods.
func stopsWithin(seconds int64) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds }
}

// leaves has a Deployment's pods leave a node that has been out of reach for so long.
func leaves(after int64) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			d.Spec.Template.Spec.Tolerations = append(d.Spec.Template.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &after,
			})
		}
	}
}

// recreate is a Deployment with strategy Recreate.
func recreate(name string, replicas int32) *appsv1.Deployment {
	return deployment(name, replicas, "0", "1", func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	})
}

// waits has a Deployment's pods be ready for so long until they count.
func waits(seconds int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = seconds }
}

// apart has at most one of a Deployment's pods on a node.
func apart(d *appsv1.Deployment) {
	d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: selector(d.Name), TopologyKey: corev1.LabelHostname}},
	}}
}

func statefulSet(edits ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}}
	const name = "db"
	replicas := int32(3)
	s.Name = name
	s.Spec = appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector(name), Template: pods(name), ServiceName: name}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func parallel(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }

func onDelete(s *appsv1.StatefulSet) {
	s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
}

// partition has ordinals below it keep their revision.
func partition(n int32) func(*appsv1.StatefulSet) {
	return func(s *appsv1.StatefulSet) {
		s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
			Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &n},
		}
	}
}

func daemonSet(name, surge, unavailable string, edits ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	more, fewer := intstr.Parse(surge), intstr.Parse(unavailable)
	d := &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}}
	d.Name = name
	d.Spec = appsv1.DaemonSetSpec{Selector: selector(name), Template: pods(name), UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &more, MaxUnavailable: &fewer},
	}}
	for _, edit := range edits {
		edit(d)
	}
	return d
}

func service(name string) *corev1.Service {
	s := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}}
	s.Name = name
	s.Spec = corev1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}}
	return s
}

// budget covers the pods of web: "minAvailable" or "maxUnavailable".
func budget(name, field, value string, edits ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}}
	b.Name = name
	b.Spec.Selector = selector("web")
	v := intstr.Parse(value)
	if field == "minAvailable" {
		b.Spec.MinAvailable = &v
	} else {
		b.Spec.MaxUnavailable = &v
	}
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// whatever lets go what is not ready.
func whatever(b *policyv1.PodDisruptionBudget) {
	policy := policyv1.AlwaysAllow
	b.Spec.UnhealthyPodEvictionPolicy = &policy
}

// with is a workload and a Service of its name, and what else there is.
func with(name string, all ...runtime.Object) []runtime.Object { return append(all, service(name)) }

// times are the delays of a workload's pods, the same in each of so many revisions. ready below 0 is never.
func times(workload string, start, ready, stop float64, revisions ...int) []controlplane.Times {
	var out []controlplane.Times
	for _, r := range revisions {
		t := controlplane.Times{Workload: workload, Revision: r, Start: controlplane.Seconds(start), Stop: controlplane.Seconds(stop)}
		if s := controlplane.Seconds(ready); ready >= 0 {
			t.Ready = &s
		}
		out = append(out, t)
	}
	return out
}

// web are the usual times of three revisions of "web".
func web() []controlplane.Times { return times("web", 1, 1, 2.5, 0, 1, 2) }

// do is an action at a time.
func do(at float64, verb, workload string, edits ...func(*controlplane.Action)) controlplane.Action {
	a := controlplane.Action{At: controlplane.Seconds(at), Do: verb, Workload: workload}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func to(replicas int) func(*controlplane.Action) {
	return func(a *controlplane.Action) { a.Replicas = &replicas }
}

func image(name string) func(*controlplane.Action) {
	return func(a *controlplane.Action) { a.Image = name }
}

func pod(number int) func(*controlplane.Action) {
	return func(a *controlplane.Action) { a.Pod = &number }
}

// onNode has an action be about the first node.
func onNode(a *controlplane.Action) { a.Node = "node-1" }

// drains is kubectl drain of nodes.
func drains(at float64, nodes []string, edits ...func(*controlplane.Action)) controlplane.Action {
	a := controlplane.Action{At: controlplane.Seconds(at), Do: "drain", Nodes: nodes}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func within(timeout float64) func(*controlplane.Action) {
	return func(a *controlplane.Action) { t := controlplane.Seconds(timeout); a.Timeout = &t }
}

func grace(seconds float64) func(*controlplane.Action) {
	return func(a *controlplane.Action) { t := controlplane.Seconds(seconds); a.Grace = &t }
}

func byDeletion(a *controlplane.Action) { a.Delete = true }
