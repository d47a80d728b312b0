package oracle

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/proxy"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// The differences that docs/limits-of-the-proxy.md argues. Each test shows both sides, so that an
// upstream release that changes its mind is noticed, and so is lameduck.

var knownPort = proxy.ServicePortName{
	NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}, Port: "http", Protocol: corev1.ProtocolTCP,
}

func knownService(clusterIP string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: clusterIP, ClusterIPs: []string{clusterIP},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports:      []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80}},
		},
	}
}

func knownSlice(name, service string, addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr("http"), Protocol: ptr(corev1.ProtocolTCP), Port: ptr(int32(8080))}},
	}
	for _, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}, NodeName: ptr("node-1")})
	}
	return s
}

// theirEndpoints lists what kube-proxy on node-1 makes of a port, as "address" each.
func theirEndpoints(m proxy.EndpointsMap, name proxy.ServicePortName) string {
	var out []string
	for _, ep := range m[name] {
		out = append(out, ep.String())
	}
	return strings.Join(out, " ")
}

// ourEndpoints lists the endpoints that lameduck on node-1 uses for the Service.
func ourEndpoints(t *testing.T, c *endpoints.Cache) string {
	t.Helper()
	svc := c.Snapshot().Service(endpoints.ServiceName{Namespace: "ns", Name: "a"})
	if svc == nil {
		t.Fatal("lameduck has no service a")
	}
	var out []string
	for _, i := range endpoints.Select(&svc.Ports[0], endpoints.NodeInfo{Name: "node-1"}, endpoints.CurrentOptions()).Cluster.Index {
		out = append(out, svc.Ports[0].Endpoints[i].Addr.String())
	}
	return strings.Join(out, " ")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A slice whose label comes to name another Service: kube-proxy files the update under the
// new name and never looks at the old one again, where the endpoints stay even after the
// slice is deleted. lameduck moves it.
func TestOracleKnownSliceMove(t *testing.T) {
	for _, label := range []string{"b", ""} {
		tracker, m := proxy.NewEndpointsChangeTracker(corev1.IPv4Protocol, "node-1", nil, nil), proxy.EndpointsMap{}
		ours := endpoints.NewCache(endpoints.CurrentOptions())
		ours.SetService(knownService("10.96.0.1"))
		before, after := knownSlice("s", "a", "10.1.0.1"), knownSlice("s", label, "10.1.0.1")

		tracker.EndpointSliceUpdate(before, false)
		m.Update(tracker)
		tracker.EndpointSliceUpdate(after, false)
		m.Update(tracker)
		ours.SetSlice(before)
		ours.SetSlice(after)
		want(t, "kube-proxy after the move", theirEndpoints(m, knownPort), "10.1.0.1:8080")
		want(t, "lameduck after the move", ourEndpoints(t, ours), "")

		tracker.EndpointSliceUpdate(after, true)
		m.Update(tracker)
		want(t, "kube-proxy after the deletion", theirEndpoints(m, knownPort), "10.1.0.1:8080")
	}
}

// An address that is no address, or not of the slice's family: kube-proxy keeps it, prints
// the first as "<nil>", counts both as local ready endpoints and leaves the consequences to
// the kernel's tools. lameduck skips the endpoint and says so.
func TestOracleKnownAddresses(t *testing.T) {
	for address, printed := range map[string]string{
		"no-address": "<nil>:8080", "fd00::1": "[fd00::1]:8080", "fe80::1%eth0": "<nil>:8080", "": "<nil>:8080",
	} {
		tracker, m := proxy.NewEndpointsChangeTracker(corev1.IPv4Protocol, "node-1", nil, nil), proxy.EndpointsMap{}
		tracker.EndpointSliceUpdate(knownSlice("s", "a", address), false)
		m.Update(tracker)
		want(t, "kube-proxy", strings.Trim(theirEndpoints(m, knownPort), " "), printed)
		if n := m.LocalReadyEndpoints()[knownPort.NamespacedName]; n != 1 {
			t.Errorf("%q: kube-proxy counts %d local ready endpoints, want 1", address, n)
		}
		ours := endpoints.NewCache(endpoints.CurrentOptions())
		ours.SetService(knownService("10.96.0.1"))
		if p := ours.SetSlice(knownSlice("s", "a", address)); len(p) != 1 {
			t.Errorf("%q: lameduck reports %v, want one problem", address, p)
		}
		want(t, "lameduck", ourEndpoints(t, ours), "")
	}
}

// The same address without a terminating condition in two slices: kube-proxy takes the one
// it happens to visit last, lameduck the one of the last slice in name order.
func TestOracleKnownDuplicates(t *testing.T) {
	first, second := knownSlice("s1", "a", "10.1.0.1"), knownSlice("s2", "a", "10.1.0.1")
	second.Endpoints[0].Conditions.Ready = ptr(false)
	seen := map[bool]bool{}
	for range 1000 { // each of the two outcomes has a chance of about one half
		tracker, m := proxy.NewEndpointsChangeTracker(corev1.IPv4Protocol, "node-1", nil, nil), proxy.EndpointsMap{}
		tracker.EndpointSliceUpdate(first, false)
		tracker.EndpointSliceUpdate(second, false)
		m.Update(tracker)
		seen[m[knownPort][0].IsReady()] = true
	}
	if len(seen) != 2 {
		t.Errorf("kube-proxy has become consistent: ready is always %v", seen)
	}
	for _, order := range [][]*discoveryv1.EndpointSlice{{first, second}, {second, first}} {
		ours := endpoints.NewCache(endpoints.CurrentOptions())
		ours.SetService(knownService("10.96.0.1"))
		ours.SetSlice(order[0])
		ours.SetSlice(order[1])
		want(t, "lameduck", ourEndpoints(t, ours), "")
	}
}

// What API validation or defaulting rules out and files can hold nevertheless.
func TestOracleKnownInvalid(t *testing.T) {
	overflow := knownSlice("s", "a", "10.1.0.1")
	overflow.Ports[0].Port = ptr(int32(65536 + 80))
	tracker, m := proxy.NewEndpointsChangeTracker(corev1.IPv4Protocol, "node-1", nil, nil), proxy.EndpointsMap{}
	tracker.EndpointSliceUpdate(overflow, false)
	m.Update(tracker)
	want(t, "kube-proxy, port 65616", theirEndpoints(m, knownPort), "10.1.0.1:65616")
	ours := endpoints.NewCache(endpoints.CurrentOptions())
	ours.SetService(knownService("10.96.0.1"))
	if p := ours.SetSlice(overflow); len(p) != 1 {
		t.Errorf("port 65616: lameduck reports %v, want one problem", p)
	}

	undefaulted := knownSlice("s", "a", "10.1.0.1")
	undefaulted.Ports[0].Protocol = nil
	want(t, "kube-proxy, nil protocol", panics(func() {
		tracker.EndpointSliceUpdate(undefaulted, false)
		m.Update(tracker)
	}), "panics")
	ours.SetSlice(undefaulted)
	want(t, "lameduck, nil protocol", ourEndpoints(t, ours), "10.1.0.1:8080")

	unknown := knownSlice("s", "a", "10.1.0.1")
	unknown.Ports[0].Protocol = ptr(corev1.Protocol("QUIC"))
	if p := ours.SetSlice(unknown); len(p) != 1 {
		t.Errorf("protocol QUIC: lameduck reports %v, want one problem", p)
	}
	want(t, "lameduck, protocol QUIC", ourEndpoints(t, ours), "")
}

// The same for Services: kube-proxy trusts what it is given.
func TestOracleKnownInvalidServices(t *testing.T) {
	affinity := knownService("10.96.0.1")
	affinity.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	tracker := proxy.NewServiceChangeTracker(corev1.IPv4Protocol, nil, nil)
	want(t, "kube-proxy, affinity without a timeout", panics(func() { tracker.Update(nil, affinity) }), "panics")
	ours := endpoints.NewCache(endpoints.CurrentOptions())
	ours.SetService(affinity)
	want(t, "lameduck, affinity without a timeout", fmt.Sprint(ours.Snapshot().Service(endpoints.ServiceName{Namespace: "ns", Name: "a"}).Ports[0].AffinityTimeout), "3h0m0s")

	for _, ip := range []string{"no-address", "fd00::1"} {
		m := proxy.ServicePortMap{}
		tracker := proxy.NewServiceChangeTracker(corev1.IPv4Protocol, nil, nil)
		tracker.Update(nil, knownService(ip))
		m.Update(tracker)
		if len(m) != 1 {
			t.Errorf("clusterIP %q: kube-proxy has %d ports, want 1", ip, len(m))
		}
		ours := endpoints.NewCache(endpoints.CurrentOptions())
		if p := ours.SetService(knownService(ip)); len(p) != 1 {
			t.Errorf("clusterIP %q: lameduck reports %v, want one problem", ip, p)
		}
		if n := ours.Snapshot().Len(); n != 0 {
			t.Errorf("clusterIP %q: lameduck has %d services, want none", ip, n)
		}
	}
}

func panics(f func()) (what string) {
	defer func() {
		if recover() != nil {
			what = "panics"
		}
	}()
	f()
	return "goes on"
}
