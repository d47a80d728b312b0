package e2e

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// Ports of the Services and pods of all cases.
const (
	servicePort = 80
	appPort     = 8080
)

// appLabel tells the pods of a workload, and the Service for them, from others of the namespace.
const appLabel = "app"

// template is a pod with an app that is asked every second whether it is ready.
func template(name string, change ...func(*corev1.PodSpec)) corev1.PodTemplateSpec {
	p := corev1.PodTemplateSpec{}
	p.Labels = map[string]string{appLabel: name}
	p.Spec.Containers = []corev1.Container{{
		Name: "app", Image: "app",
		ReadinessProbe: &corev1.Probe{
			PeriodSeconds: 1, FailureThreshold: 1,
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(appPort)}},
		},
	}}
	for _, f := range change {
		f(&p.Spec)
	}
	return p
}

// on has pods run on a node.
func on(node string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{corev1.LabelHostname: node} }
}

// spread has the pods of a workload run on the nodes of a mode, as many on each.
func spread(mode, name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{modeLabel: mode}
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: name}},
		}}
	}
}

// env sets a variable of the app (package app).
func env(name, value string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	}
}

// grace is how long a pod has to end.
func grace(seconds int64) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = &seconds }
}

// preStop has a pod sleep before it is asked to end.
func preStop(seconds int64) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
	}
}

// deploy makes a Deployment and returns when its pods are ready.
func (c *cluster) deploy(t *testing.T, namespace, name string, replicas int32, p corev1.PodTemplateSpec, change ...func(*appsv1.Deployment)) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	d.Name = name
	d.Spec = appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: p.Labels}, Template: p}
	for _, f := range change {
		f(d)
	}
	d, err := c.admin.AppsV1().Deployments(namespace).Create(t.Context(), d, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, name)
	return d
}

// rolledOut returns when all of a Deployment's pods are new ones, and ready.
func (c *cluster) rolledOut(t *testing.T, namespace, name string) {
	t.Helper()
	until(t, "Deployment "+name+" is rolled out", func(ctx context.Context) error {
		d, err := c.admin.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s, want := &d.Status, *d.Spec.Replicas
		if s.ObservedGeneration < d.Generation || s.UpdatedReplicas != want || s.Replicas != want || s.AvailableReplicas != want {
			return fmt.Errorf("status %+v", *s)
		}
		return nil
	})
}

// pod makes a pod of a workload that nobody replaces, and returns where it is when it is ready.
func (c *cluster) pod(t *testing.T, namespace, app, name string, m *member, change ...func(*corev1.PodSpec)) *network.Pod {
	t.Helper()
	p := template(app, append(change, on(m.Name))...)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: p.Labels}, Spec: p.Spec}
	if _, err := c.admin.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "Pod "+name+" is ready", func(ctx context.Context) error {
		p, err := c.admin.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !conditionTrue(p, corev1.PodReady) {
			return fmt.Errorf("status %+v", p.Status)
		}
		return nil
	})
	return m.kubelet.Place(namespace, name)
}

func conditionTrue(p *corev1.Pod, name corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == name {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// remove deletes a pod, with its own grace period or at once.
func (c *cluster) remove(t *testing.T, namespace, name string, force bool) {
	t.Helper()
	o := metav1.DeleteOptions{}
	if force {
		o.GracePeriodSeconds = new(int64)
	}
	if err := c.admin.CoreV1().Pods(namespace).Delete(t.Context(), name, o); err != nil {
		t.Fatal(err)
	}
}

// service makes a Service of both families for the pods of a workload. A load balancer's
// addresses are set as a cloud's controller would set them.
func (c *cluster) service(t *testing.T, namespace, name string, kind corev1.ServiceType, change ...func(*corev1.ServiceSpec)) *corev1.Service {
	t.Helper()
	both := corev1.IPFamilyPolicyRequireDualStack
	s := &corev1.Service{}
	s.Name = name
	s.Spec = corev1.ServiceSpec{
		Type: kind, Selector: map[string]string{appLabel: name}, IPFamilyPolicy: &both,
		Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: servicePort, TargetPort: intstr.FromInt32(appPort)},
			{Name: "udp", Protocol: corev1.ProtocolUDP, Port: servicePort, TargetPort: intstr.FromInt32(appPort)},
		},
	}
	for _, f := range change {
		f(&s.Spec)
	}
	s, err := c.admin.CoreV1().Services(namespace).Create(t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if kind != corev1.ServiceTypeLoadBalancer {
		return s
	}
	n := balancers.Add(1)
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{
		{IP: fmt.Sprintf("203.0.113.%d", n)}, {IP: fmt.Sprintf("2001:db8:113::%x", n)},
	}
	if s, err = c.admin.CoreV1().Services(namespace).UpdateStatus(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// balancers counts the load-balancer addresses in use.
var balancers atomic.Int32

// externalLocal and internalLocal have a Service's traffic stay on the node it comes to.
func externalLocal(s *corev1.ServiceSpec) {
	s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
}

func internalLocal(s *corev1.ServiceSpec) {
	local := corev1.ServiceInternalTrafficPolicyLocal
	s.InternalTrafficPolicy = &local
}

// The addresses of a Service, IPv4 and IPv6.

func clusterIPs(s *corev1.Service) []netip.AddrPort { return at(servicePort, s.Spec.ClusterIPs...) }

func loadBalancerIPs(s *corev1.Service) []netip.AddrPort {
	return at(servicePort, s.Status.LoadBalancer.Ingress[0].IP, s.Status.LoadBalancer.Ingress[1].IP)
}

func nodePorts(s *corev1.Service, n *network.Node, protocol corev1.Protocol) []netip.AddrPort {
	for _, p := range s.Spec.Ports {
		if p.Protocol == protocol {
			return at(uint16(p.NodePort), n.Addrs[0].String(), n.Addrs[1].String()) // a port
		}
	}
	return nil
}

func at(port uint16, addrs ...string) []netip.AddrPort {
	var out []netip.AddrPort
	for _, a := range addrs {
		out = append(out, netip.AddrPortFrom(netip.MustParseAddr(a), port))
	}
	return out
}

// endpoint is what an EndpointSlice says of a pod.
type endpoint struct{ ready, serving, terminating bool }

// endpoints are those of a Service in one family, by the names of pods.
func (c *cluster) endpoints(ctx context.Context, namespace, service string, family discoveryv1.AddressType) (map[string]endpoint, error) {
	slices, err := c.admin.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil {
		return nil, err
	}
	out := map[string]endpoint{}
	for i := range slices.Items {
		if slices.Items[i].AddressType != family {
			continue
		}
		for _, e := range slices.Items[i].Endpoints {
			is := func(b *bool) bool { return b != nil && *b }
			out[e.TargetRef.Name] = endpoint{is(e.Conditions.Ready), is(e.Conditions.Serving), is(e.Conditions.Terminating)}
		}
	}
	return out, nil
}
