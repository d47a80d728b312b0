package sim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	ms  = engine.Millisecond
	sec = engine.Second
)

// plainWorld is the world of the analytic tests: one Deployment with surge 1 and unavailable
// 0, no probes, every delay zero but the pod's start; one node, constant arrivals from inside
// over the ClusterIP with a new connection for each request; a rolling restart at 10 s.
func plainWorld(replicas int, minSync engine.Time) *world.Scenario {
	one, zero := intstr.FromInt32(1), intstr.FromInt32(0)
	n, grace := int32(replicas), int64(30)
	labels := map[string]string{"app": "web"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &zero},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: &grace,
					Containers: []corev1.Container{{
						Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
						ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3},
					}},
				},
			},
		},
	}
	cluster := corev1.ServiceInternalTrafficPolicyCluster
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, Selector: labels, InternalTrafficPolicy: &cluster,
			Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	profile, err := endpoints.ProfileFor(endpoints.CurrentVersion(), nil)
	if err != nil {
		panic(err)
	}
	return &world.Scenario{
		Name: fmt.Sprintf("plain %d", replicas), Kubernetes: profile,
		Nodes: []world.Node{{Name: "node-1", Zone: "a", Proxy: world.Proxy{Mode: "nftables", MinSyncPeriod: minSync, SyncPeriod: 30 * sec}}},
		Workloads: []world.Workload{{
			Resource: d,
			App:      world.App{Profile: "closes-and-finishes", Start: engine.Constant(15 * sec), Serve: engine.Constant(ms)},
		}},
		Services: []world.Service{{Service: svc}},
		Latency:  world.Latencies{},
		Traffic: []world.Traffic{{
			Name: "inside", Service: "default/web", Port: 80, Rate: 1000 * 1000, Arrivals: world.ArrivalsConstant,
			Timeout: 5 * sec,
		}},
		Actions: []world.Action{{At: 10 * sec, Operation: world.RolloutRestart{Workload: "deployment/web"}}},
		Warmup:  5 * sec,
	}
}
