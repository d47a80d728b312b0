package conntrack

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// thisNode has one address that node ports answer on and, see local, one that its Node object does
// not have.
func thisNode() *plan.Node {
	return &plan.Node{Name: "node-a", Addresses: addrs("192.0.2.1", "fd02::1"), Options: endpoints.CurrentOptions()}
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// dns is a Service with a UDP and a TCP port 53, on a ClusterIP of each family, a load-balancer IP,
// an external IP and a node port, which forwards to pods on its own node only.
func dns() *corev1.Service {
	local := corev1.ServiceInternalTrafficPolicyLocal
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "dns"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, InternalTrafficPolicy: &local, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			ClusterIP: "10.96.0.10", ClusterIPs: []string{"10.96.0.10", "fd10::10"},
			IPFamilies:  []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
			ExternalIPs: []string{"198.51.100.10"},
			Ports: []corev1.ServicePort{
				{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 30053},
				{Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53, NodePort: 30053},
			},
		},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "203.0.113.10"}}}},
	}
}

// state is an endpoint's conditions.
type state struct{ ready, serving, terminating bool }

var (
	ready     = state{true, true, false}
	draining  = state{false, true, true}   // told to stop, and serving
	stopping  = state{false, false, true}  // told to stop, and no longer serving
	failing   = state{false, false, false} // not told to stop, and failing its probe
	published = state{true, false, false}  // failing, of a Service with publishNotReadyAddresses
)

type pod struct {
	ip string
	state
}

// slices returns the EndpointSlices of Service dns, one per family, with pods that are on another
// node: no policy of dns lets this node use them.
func slicesOf(pods ...pod) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, f := range endpoints.Families() {
		s := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "kube-system", Name: "dns-" + f.String(), Labels: map[string]string{discoveryv1.LabelServiceName: "dns"}},
			AddressType: discoveryv1.AddressType(f.String()),
		}
		for name, protocol := range map[string]corev1.Protocol{"dns": corev1.ProtocolUDP, "dns-tcp": corev1.ProtocolTCP} { // order: of ports, which are found by name
			port := int32(5353)
			s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: &name, Protocol: &protocol, Port: &port})
		}
		for _, p := range pods {
			if endpoints.FamilyOf(netip.MustParseAddr(p.ip)) == f {
				node := "node-b"
				s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{p.ip}, NodeName: &node, Conditions: discoveryv1.EndpointConditions{
					Ready: &p.ready, Serving: &p.serving, Terminating: &p.terminating,
				}})
			}
		}
		out = append(out, s)
	}
	return out
}

// world is a cluster, as the Plans of one node see it.
type world struct {
	t     *testing.T
	cache *endpoints.Cache
	plan  *plan.Plan
}

func newWorld(t *testing.T, node *plan.Node) *world {
	t.Helper()
	w := &world{t: t, cache: endpoints.NewCache(node.Options)}
	w.plan = plan.Build(w.cache.Snapshot(), node)
	return w
}

// next returns the Plan after svc, nil for none, and its slices have been delivered.
func (w *world) next(svc *corev1.Service, pods ...pod) (*plan.Plan, []endpoints.ServiceName) {
	w.t.Helper()
	w.cache.DeleteService(endpoints.ServiceName{Namespace: "kube-system", Name: "dns"})
	if svc != nil {
		if p := w.cache.SetService(svc); len(p) > 0 {
			w.t.Fatal(p)
		}
	}
	for _, s := range slicesOf(pods...) {
		if p := w.cache.SetSlice(s); len(p) > 0 {
			w.t.Fatal(p)
		}
	}
	snap := w.cache.Snapshot()
	w.plan, _ = plan.Update(w.plan, snap, snap.Changed())
	return w.plan, snap.Changed()
}
