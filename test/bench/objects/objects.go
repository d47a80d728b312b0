// Package objects makes the API objects of a cluster of a given size, the same for every proxy
// that is measured: a node, ClusterIP Services, and one EndpointSlice each, with the fields that
// a real control plane fills in (managedFields apart, which nobody reads but everybody decodes).
package objects

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What everything in a cluster has in common.
const (
	NodeName    = "node-0"
	NodeIP      = "192.168.77.1"
	Port        = 80   // of every Service
	TargetPort  = 8080 // of every endpoint
	ServiceCIDR = "10.96.0.0/12"
	// PodCIDR holds the pods: endpoints at first, endpoints that came later, and clients.
	PodCIDR = "10.128.0.0/9"

	firstService  = "10.96.1.0"
	firstEndpoint = "10.128.1.0"
	firstLater    = "10.192.1.0"
	nodes         = 100
	namespace     = "default"
)

// Size is a cluster of so many Services with so many endpoints each.
type Size struct{ Services, Endpoints int }

// Limits of a Size: what the ranges hold, and an EndpointSlice by the controller's default.
const (
	maxServices  = 200_000
	maxEndpoints = 100
	maxTotal     = 4_000_000
)

// ParseSize reads "10000x5".
func ParseSize(s string) (Size, error) {
	a, b, ok := strings.Cut(s, "x")
	n, errN := strconv.Atoi(a)
	m, errM := strconv.Atoi(b)
	if !ok || errN != nil || errM != nil || n < 2 || n > maxServices || m < 2 || m > maxEndpoints || n*m > maxTotal {
		return Size{}, fmt.Errorf("size %q: want SERVICESxENDPOINTS with 2 to %d services of 2 to %d endpoints, %d in all, such as 1000x5",
			s, maxServices, maxEndpoints, maxTotal)
	}
	return Size{n, m}, nil
}

// String returns "10000x5".
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Services, s.Endpoints) }

// offset returns the n-th address after one.
func offset(base string, n int) netip.Addr {
	b := netip.MustParseAddr(base).As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n) // the sizes are limited
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// ClusterIP returns the address of the i-th Service.
func ClusterIP(i int) netip.Addr { return offset(firstService, i) }

// Endpoint returns the address of the j-th endpoint that the i-th Service has at first.
func (s Size) Endpoint(i, j int) netip.Addr { return offset(firstEndpoint, i*s.Endpoints+j) }

// endpoints returns the addresses that the i-th Service has at first.
func (s Size) endpoints(i int) []netip.Addr {
	out := make([]netip.Addr, s.Endpoints)
	for j := range out {
		out[j] = s.Endpoint(i, j)
	}
	return out
}

// Later returns the n-th address that no endpoint has at first.
func Later(n int) netip.Addr { return offset(firstLater, n) }

func meta(kind, name string, i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: uid(kind, i), Generation: 1,
		CreationTimestamp: metav1.Unix(1_750_000_000+int64(i), 0),
		Labels:            map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "bench"},
	}
}

// uid looks like one.
func uid(kind string, i int) types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", i, len(kind), i*7919))
}

func serviceName(i int) string { return fmt.Sprintf("svc-%d", i) }

// Service returns the i-th Service.
func Service(i int) *corev1.Service {
	policy, internal, single := corev1.IPFamilyPolicySingleStack, corev1.ServiceInternalTrafficPolicyCluster, ClusterIP(i).String()
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta("Service", serviceName(i), i),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: single, ClusterIPs: []string{single},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: &policy, InternalTrafficPolicy: &internal,
			Selector:        map[string]string{"app.kubernetes.io/name": serviceName(i)},
			SessionAffinity: corev1.ServiceAffinityNone,
			Ports:           []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: Port, TargetPort: intstr.FromInt32(TargetPort)}},
		},
	}
}

// Slice returns the EndpointSlice of the i-th Service with the endpoints it has at first.
func (s Size) Slice(i int) *discoveryv1.EndpointSlice { return SliceOf(i, s.endpoints(i)) }

// SliceOf returns the EndpointSlice of the i-th Service with these endpoints, all of them ready.
func SliceOf(i int, addresses []netip.Addr) *discoveryv1.EndpointSlice {
	name, port, protocol, portNumber, yes := serviceName(i), "http", corev1.ProtocolTCP, int32(TargetPort), true
	m := meta("EndpointSlice", name+"-abcde", i)
	m.GenerateName = name + "-"
	m.Labels[discoveryv1.LabelServiceName] = name
	m.Labels[discoveryv1.LabelManagedBy] = "endpointslice-controller.k8s.io"
	m.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "Service", Name: name, UID: uid("Service", i), Controller: &yes, BlockOwnerDeletion: &yes,
	}}
	slice := &discoveryv1.EndpointSlice{
		TypeMeta:   metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: m, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: &port, Protocol: &protocol, Port: &portNumber}},
	}
	for j, a := range addresses {
		slice.Endpoints = append(slice.Endpoints, endpoint(i, j, a))
	}
	return slice
}

func endpoint(i, j int, address netip.Addr) discoveryv1.Endpoint {
	ready, serving, terminating := true, true, false
	b := address.As4()
	host := 1 + (int(b[2])*256+int(b[3]))%(nodes-1) // nothing runs on the node that is measured
	node, zone := fmt.Sprintf("node-%d", host), fmt.Sprintf("zone-%c", 'a'+host%3)
	return discoveryv1.Endpoint{
		Addresses:  []string{address.String()},
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		NodeName:   &node, Zone: &zone,
		TargetRef: &corev1.ObjectReference{
			Kind: "Pod", Namespace: namespace, Name: fmt.Sprintf("%s-7d9f8b6c5-%05d", serviceName(i), j), UID: uid("Pod", i*maxEndpoints+j),
		},
	}
}

// Node returns the node that is measured.
func Node() *corev1.Node {
	m := metav1.ObjectMeta{
		Name: NodeName, UID: uid("Node", 0), CreationTimestamp: metav1.Unix(1_750_000_000, 0),
		Labels: map[string]string{corev1.LabelHostname: NodeName, corev1.LabelTopologyZone: "zone-a"},
	}
	return &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: m,
		Spec: corev1.NodeSpec{PodCIDR: "10.255.0.0/24", PodCIDRs: []string{"10.255.0.0/24"}},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: NodeIP}, {Type: corev1.NodeHostName, Address: NodeName},
		}},
	}
}

// ServiceCIDRs returns the range that ClusterIPs come from.
func ServiceCIDRs() *networkingv1.ServiceCIDR {
	return &networkingv1.ServiceCIDR{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "ServiceCIDR"},
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", UID: uid("ServiceCIDR", 0)},
		Spec:       networkingv1.ServiceCIDRSpec{CIDRs: []string{ServiceCIDR}},
	}
}
