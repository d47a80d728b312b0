package endpoints

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ep is an endpoint as the tables write it. Its address is 10.0.0.<n>:8080, and it goes by n.
type ep struct {
	n     int
	cond  string // "r/s/t", such as "F/T/T"
	node  string
	zones []string
	nodes []string
}

// The four kinds of endpoint that most tables need, on a node.
func ready(n int, node string) ep       { return ep{n: n, cond: "T/T/F", node: node} }
func draining(n int, node string) ep    { return ep{n: n, cond: "F/T/T", node: node} }
func notReady(n int, node string) ep    { return ep{n: n, cond: "F/F/F", node: node} }
func notServing(n int, node string) ep  { return ep{n: n, cond: "F/F/T", node: node} }
func (e ep) zone(names ...string) ep    { e.zones = names; return e }
func (e ep) forNode(names ...string) ep { e.nodes = names; return e }

func conditions(s string) Conditions {
	var c Conditions
	for i, bit := range []Conditions{Ready, Serving, Terminating} {
		if s[2*i] == 'T' {
			c |= bit
		}
	}
	return c
}

// newPort returns sp with endpoints, as the Cache would have built it from one slice.
func newPort(sp ServicePort, eps ...ep) *ServicePort {
	g := group{}
	for _, e := range eps {
		g.endpoints = append(g.endpoints, Endpoint{
			Addr:       netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(e.n)}), 8080),
			NodeName:   e.node,
			Meta:       &Meta{ForZones: e.zones, ForNodes: e.nodes},
			Conditions: conditions(e.cond),
		})
	}
	g.finish()
	g.give(&sp)
	return &sp
}

// The ports of the tables: which lists they use is in their name.
var (
	clusterPort = ServicePort{}
	localPort   = ServicePort{InternalPolicy: PolicyLocal}
	bothPort    = ServicePort{ExternalPolicy: PolicyLocal, NodePort: 30080}
)

// describe writes a Selection on one line, endpoints by the last byte of their address:
//
//	Cluster 1 2; Local fallback 3; reachable 1 2 3; any; PreferSameZone
func describe(sp *ServicePort, s Selection) string {
	parts := []string{
		"Cluster " + describeList(sp, s.Cluster),
		"Local " + describeList(sp, s.Local),
		"reachable " + describeIndex(sp, s.Reachable),
		map[bool]string{true: "any", false: "nothing anywhere"}[s.HasAny],
	}
	if s.Topology != TopologyNone {
		parts = append(parts, s.Topology.String())
	}
	return strings.Join(parts, "; ")
}

func describeList(sp *ServicePort, l List) string {
	switch {
	case !l.Used && !l.Fallback && l.Index == nil:
		return "unused"
	case !l.Used:
		return fmt.Sprintf("UNUSED BUT NOT BLANK %+v", l)
	case l.Fallback:
		return "fallback " + describeIndex(sp, l.Index)
	default:
		return describeIndex(sp, l.Index)
	}
}

func describeIndex(sp *ServicePort, index []int32) string {
	if index == nil {
		return "none"
	}
	if len(index) == 0 {
		return "EMPTY BUT NOT NIL"
	}
	var names []string
	for _, i := range index {
		names = append(names, strconv.Itoa(int(sp.Endpoints[i].Addr.Addr().As4()[3])))
	}
	return strings.Join(names, " ")
}

// wantSelection compares what Select and Decide say with a line of describe.
func wantSelection(t *testing.T, sp *ServicePort, node NodeInfo, o Options, want string) {
	t.Helper()
	if got := describe(sp, Select(sp, node, o)); got != want {
		t.Errorf("Select on %q\n got %s\nwant %s", node.Name, got, want)
	}
	s, decisions := Decide(sp, node, o, nil)
	if got := describe(sp, s); got != want {
		t.Errorf("Decide on %q\n got %s\nwant %s", node.Name, got, want)
	}
	if len(decisions) != len(sp.Endpoints) {
		t.Errorf("%d decisions for %d endpoints", len(decisions), len(sp.Endpoints))
	}
}

// Builders of API objects.

func ptr[T any](v T) *T { return &v }

// apiService is a ClusterIP Service shop/<name> with TCP port 80 named http.
func apiService(name string, change ...func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type:      corev1.ServiceTypeClusterIP,
			ClusterIP: "10.96.0.1",
			Ports:     []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80}},
		},
	}
	for _, c := range change {
		c(svc)
	}
	return svc
}

func dualStack(svc *corev1.Service) {
	svc.Spec.ClusterIPs = []string{"10.96.0.1", "fd00::1"}
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
}

// apiSlice is an IPv4 EndpointSlice shop/<name> of Service shop/<service> with port 8080/TCP
// named http.
func apiSlice(service, name string, eps ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr("http"), Port: ptr(int32(8080)), Protocol: ptr(corev1.ProtocolTCP)}},
		Endpoints:   eps,
	}
}

// api writes an ep the way an API object does.
func (e ep) api() discoveryv1.Endpoint {
	c := conditions(e.cond)
	out := discoveryv1.Endpoint{
		Addresses: []string{fmt.Sprintf("10.0.0.%d", e.n)},
		Conditions: discoveryv1.EndpointConditions{
			Ready: ptr(c.Ready()), Serving: ptr(c.Serving()), Terminating: ptr(c.Terminating()),
		},
	}
	if e.node != "" {
		out.NodeName = ptr(e.node)
	}
	if e.zones != nil || e.nodes != nil {
		out.Hints = &discoveryv1.EndpointHints{}
		for _, z := range e.zones {
			out.Hints.ForZones = append(out.Hints.ForZones, discoveryv1.ForZone{Name: z})
		}
		for _, n := range e.nodes {
			out.Hints.ForNodes = append(out.Hints.ForNodes, discoveryv1.ForNode{Name: n})
		}
	}
	return out
}

func currentCache() *Cache { return NewCache(CurrentOptions()) }

func shop(name string) ServiceName { return ServiceName{"shop", name} }

// portOf returns port i of Service shop/<name>, in both families' order.
func portOf(t *testing.T, s *Snapshot, name string, i int) *ServicePort {
	t.Helper()
	svc := s.Service(shop(name))
	if svc == nil || len(svc.Ports) <= i {
		t.Fatalf("no port %d of Service %s in the snapshot", i, name)
	}
	return &svc.Ports[i]
}

// addrs lists the addresses of a port's endpoints with their conditions.
func addrs(sp *ServicePort) []string {
	var out []string
	for i := range sp.Endpoints {
		out = append(out, fmt.Sprintf("%s %s", sp.Endpoints[i].Addr, sp.Endpoints[i].Conditions))
	}
	return out
}

// mustTake fails when the cache finds a problem in an object.
func mustTake(t *testing.T, c *Cache, objects ...any) {
	t.Helper()
	for _, o := range objects {
		var p []Problem
		switch o := o.(type) {
		case *corev1.Service:
			p = c.SetService(o)
		case *discoveryv1.EndpointSlice:
			p = c.SetSlice(o)
		default:
			t.Fatalf("no object: %T", o)
		}
		if len(p) > 0 {
			t.Fatalf("unexpected problems: %v", p)
		}
	}
}
