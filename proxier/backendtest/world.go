package backendtest

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

// WorldNode knows pods by the cluster CIDR and serves node ports on all its addresses.
func WorldNode(dialect plan.Dialect) *plan.Node {
	return &plan.Node{
		Name: "node-1", Zone: "zone-a", Dialect: dialect,
		Addresses: []netip.Addr{netip.MustParseAddr("192.168.10.1"), netip.MustParseAddr("fd00:168:10::1")},
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{
			netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("fd00:244::/32"),
		}},
		ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd00:96::/64")},
		Options:      endpoints.CurrentOptions(),
	}
}

// World is a cluster whose Services change at random, the same for the same seed, and the Plans that
// follow: for tests of a Backend's changes against a load from nothing.
type World struct {
	Rand  *rand.Rand
	Cache *endpoints.Cache
	Node  *plan.Node
	Plan  *plan.Plan // after the last Step
}

// NewWorld returns a cluster without Services, seen from a node.
func NewWorld(seed uint64, node *plan.Node) *World {
	return &World{
		Rand: rand.New(rand.NewPCG(seed, 1)), Cache: endpoints.NewCache(node.Options), Node: node, Plan: plan.Empty(node),
	}
}

// Step returns the next Plan and what differs.
func (w *World) Step(t testing.TB) (*plan.Plan, plan.Delta) {
	t.Helper()
	snap := w.Cache.Snapshot()
	next, d := plan.Update(w.Plan, snap, snap.Changed())
	w.Plan = next
	return next, d
}

// Disturb replaces or deletes one of n Services.
func (w *World) Disturb(t testing.TB, n int) {
	t.Helper()
	i := w.Rand.IntN(n)
	name := fmt.Sprintf("svc-%d", i)
	if w.Rand.IntN(12) == 0 {
		w.Cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: name})
		return
	}
	SetService(t, w.Cache, w.Service(i, name), w.Slices(name)...)
}

// SetService adds a Service with its slices to a Cache, and fails the test if anything in them cannot be used.
func SetService(t testing.TB, cache *endpoints.Cache, svc *corev1.Service, slices ...*discoveryv1.EndpointSlice) {
	t.Helper()
	problems := cache.SetService(svc)
	for _, s := range slices {
		problems = append(problems, cache.SetSlice(s)...)
	}
	if len(problems) > 0 {
		t.Fatalf("invalid Service: %v", problems)
	}
}

// IP4 returns an address of four numbers.
func IP4(a, b, c, d int) string { return fmt.Sprintf("%d.%d.%d.%d", a, b, c, d) }

// Service draws what kind of Service the i-th is.
func (w *World) Service(i int, name string) *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", name
	v4, v6 := IP4(10, 96, i/250, i%250+1), fmt.Sprintf("fd00:96::%x", i+1)
	svc.Spec.Type = corev1.ServiceTypeClusterIP
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = v4, []string{v4, v6}
	w.policies(svc)
	protocol := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}[w.Rand.IntN(3)]
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Protocol: protocol, Port: 80}}
	if w.Rand.IntN(2) == 0 {
		svc.Spec.Type = corev1.ServiceTypeLoadBalancer
		svc.Spec.Ports[0].NodePort = int32(30000 + i)
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: IP4(192, 0, 2, i%200+1)}, {IP: fmt.Sprintf("2001:db8:2::%x", i+1)}}
		for r := range w.Rand.IntN(3) {
			svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges,
				fmt.Sprintf("203.0.%d.0/24", w.Rand.IntN(3)+r), fmt.Sprintf("2001:db8:%x::/48", w.Rand.IntN(3)))
		}
	}
	if w.Rand.IntN(3) == 0 {
		// Some are another's: claims are lost and inherited.
		svc.Spec.ExternalIPs = []string{IP4(198, 51, 100, w.Rand.IntN(5)+1), fmt.Sprintf("2001:db8:100::%x", w.Rand.IntN(5)+1)}
	}
	return svc
}

func (w *World) policies(svc *corev1.Service) {
	if w.Rand.IntN(3) == 0 {
		local := corev1.ServiceInternalTrafficPolicyLocal
		svc.Spec.InternalTrafficPolicy = &local
	}
	if w.Rand.IntN(2) == 0 {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if w.Rand.IntN(3) == 0 {
		seconds := []int32{10800, 600}[w.Rand.IntN(2)]
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	}
}

// Slices draws endpoints of both families.
func (w *World) Slices(name string) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, family := range endpoints.Families() {
		slice := SliceOf(name, family, corev1.ProtocolTCP)
		all := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
		slice.Ports = nil
		for _, p := range all {
			port := int32(8080)
			portName := "p"
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &portName, Protocol: &p, Port: &port})
		}
		for range w.Rand.IntN(7) {
			host := w.Rand.IntN(12) + 1
			AddEndpoint(slice, PodAddr(family, host), host%3, w.Rand.IntN(4) > 0)
		}
		out = append(out, slice)
	}
	return out
}

// PodAddr is the address of the n-th pod in a family.
func PodAddr(family endpoints.IPFamily, host int) string {
	if family == endpoints.IPv6 {
		return fmt.Sprintf("fd00:244:1::%x", host)
	}
	return IP4(10, 244, host/250, host%250+1)
}

// SliceOf returns a slice of a Service without endpoints, whose port is 8080.
func SliceOf(name string, family endpoints.IPFamily, protocol corev1.Protocol) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressType(family.String())}
	slice.Namespace, slice.Name = "default", name+"-"+family.String()
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	portName, port := "p", int32(8080)
	slice.Ports = []discoveryv1.EndpointPort{{Name: &portName, Protocol: &protocol, Port: &port}}
	return slice
}

// AddEndpoint adds an endpoint on a node, ready, or serving while it terminates.
func AddEndpoint(s *discoveryv1.EndpointSlice, addr string, node int, ready bool) {
	name := fmt.Sprintf("node-%d", node)
	serving, terminating := true, !ready
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
		Addresses: []string{addr}, NodeName: &name,
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
	})
}

// PacketService is a Service with a node port that keeps the client's address.
func PacketService() *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", "web"
	svc.Spec.Type = corev1.ServiceTypeNodePort
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "10.96.0.1", []string{"10.96.0.1"}
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30001}}
	return svc
}

// PacketSlice holds ready endpoints on the node.
func PacketSlice(addrs ...string) *discoveryv1.EndpointSlice {
	slice := SliceOf("web", endpoints.IPv4, corev1.ProtocolTCP)
	for _, a := range addrs {
		AddEndpoint(slice, a, 1, true)
	}
	return slice
}
