package iptables

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// testNode knows pods by the cluster CIDR and serves node ports on all its addresses.
func testNode() *plan.Node {
	return &plan.Node{
		Name: "node-1", Zone: "zone-a", Dialect: plan.IPTables,
		Addresses: []netip.Addr{netip.MustParseAddr("192.168.10.1"), netip.MustParseAddr("fd00:168:10::1")},
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{
			netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("fd00:244::/32"),
		}},
		ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd00:96::/64")},
		Options:      endpoints.CurrentOptions(),
	}
}

// world is a cluster whose Services change at random, and the Plans that follow.
type world struct {
	rng   *rand.Rand
	cache *endpoints.Cache
	node  *plan.Node
	plan  *plan.Plan
}

func newWorld(seed uint64, node *plan.Node) *world {
	return &world{
		rng: rand.New(rand.NewPCG(seed, 1)), cache: endpoints.NewCache(node.Options), node: node, plan: plan.Empty(node),
	}
}

// step returns the next Plan and what differs.
func (w *world) step(t testing.TB) (*plan.Plan, plan.Delta) {
	t.Helper()
	snap := w.cache.Snapshot()
	next, d := plan.Update(w.plan, snap, snap.Changed())
	w.plan = next
	return next, d
}

// disturb replaces or deletes one of n Services.
func (w *world) disturb(t testing.TB, n int) {
	t.Helper()
	i := w.rng.IntN(n)
	name := fmt.Sprintf("svc-%d", i)
	if w.rng.IntN(12) == 0 {
		w.cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: name})
		return
	}
	setService(t, w.cache, w.service(i, name), w.slices(name)...)
}

func setService(t testing.TB, cache *endpoints.Cache, svc *corev1.Service, slices ...*discoveryv1.EndpointSlice) {
	t.Helper()
	problems := cache.SetService(svc)
	for _, s := range slices {
		problems = append(problems, cache.SetSlice(s)...)
	}
	if len(problems) > 0 {
		t.Fatalf("invalid Service: %v", problems)
	}
}

func ip4(a, b, c, d int) string { return fmt.Sprintf("%d.%d.%d.%d", a, b, c, d) }

func (w *world) service(i int, name string) *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", name
	v4, v6 := ip4(10, 96, i/250, i%250+1), fmt.Sprintf("fd00:96::%x", i+1)
	svc.Spec.Type = corev1.ServiceTypeClusterIP
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = v4, []string{v4, v6}
	w.policies(svc)
	protocol := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}[w.rng.IntN(3)]
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Protocol: protocol, Port: 80}}
	if w.rng.IntN(2) == 0 {
		svc.Spec.Type = corev1.ServiceTypeLoadBalancer
		svc.Spec.Ports[0].NodePort = int32(30000 + i)
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip4(192, 0, 2, i%200+1)}, {IP: fmt.Sprintf("2001:db8:2::%x", i+1)}}
		for r := range w.rng.IntN(3) {
			svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges,
				fmt.Sprintf("203.0.%d.0/24", w.rng.IntN(3)+r), fmt.Sprintf("2001:db8:%x::/48", w.rng.IntN(3)))
		}
	}
	if w.rng.IntN(3) == 0 {
		// Some are another's: claims are lost and inherited.
		svc.Spec.ExternalIPs = []string{ip4(198, 51, 100, w.rng.IntN(5)+1), fmt.Sprintf("2001:db8:100::%x", w.rng.IntN(5)+1)}
	}
	return svc
}

func (w *world) policies(svc *corev1.Service) {
	if w.rng.IntN(3) == 0 {
		local := corev1.ServiceInternalTrafficPolicyLocal
		svc.Spec.InternalTrafficPolicy = &local
	}
	if w.rng.IntN(2) == 0 {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if w.rng.IntN(3) == 0 {
		seconds := []int32{10800, 600}[w.rng.IntN(2)]
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	}
}

func (w *world) slices(name string) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, family := range endpoints.Families() {
		slice := sliceOf(name, family, corev1.ProtocolTCP)
		all := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
		slice.Ports = nil
		for _, p := range all {
			port := int32(8080)
			portName := "p"
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &portName, Protocol: &p, Port: &port})
		}
		for range w.rng.IntN(7) {
			host := w.rng.IntN(12) + 1
			addEndpoint(slice, podAddr(family, host), host%3, w.rng.IntN(4) > 0)
		}
		out = append(out, slice)
	}
	return out
}

func podAddr(family endpoints.IPFamily, host int) string {
	if family == endpoints.IPv6 {
		return fmt.Sprintf("fd00:244:1::%x", host)
	}
	return ip4(10, 244, host/250, host%250+1)
}

func sliceOf(name string, family endpoints.IPFamily, protocol corev1.Protocol) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressType(family.String())}
	slice.Namespace, slice.Name = "default", name+"-"+family.String()
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	portName, port := "p", int32(8080)
	slice.Ports = []discoveryv1.EndpointPort{{Name: &portName, Protocol: &protocol, Port: &port}}
	return slice
}

func addEndpoint(s *discoveryv1.EndpointSlice, addr string, node int, ready bool) {
	name := fmt.Sprintf("node-%d", node)
	serving, terminating := true, !ready
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
		Addresses: []string{addr}, NodeName: &name,
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
	})
}

// packetService is a Service with a node port that keeps the client's address.
func packetService() *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", "web"
	svc.Spec.Type = corev1.ServiceTypeNodePort
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "10.96.0.1", []string{"10.96.0.1"}
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30001}}
	return svc
}

// packetSlice holds ready endpoints on the node.
func packetSlice(addrs ...string) *discoveryv1.EndpointSlice {
	slice := sliceOf("web", endpoints.IPv4, corev1.ProtocolTCP)
	for _, a := range addrs {
		addEndpoint(slice, a, 1, true)
	}
	return slice
}
