package explain

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func TestAPacketIsAnAddressAndADestination(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"192.0.2.7", "203.0.113.10:80", "192.0.2.7:40000 203.0.113.10:80/tcp"},
		{"192.0.2.7", "203.0.113.10:80/udp", "192.0.2.7:40000 203.0.113.10:80/udp"},
		{"2001:db8::7", "[2001:db8::1]:53/sctp", "[2001:db8::7]:40000 [2001:db8::1]:53/sctp"},
		{"", "203.0.113.10:80", "from IP and to IP:PORT/PROTOCOL are needed"},
		{"192.0.2.7", "", "from IP and to IP:PORT/PROTOCOL are needed"},
		{"here", "203.0.113.10:80", `from "here": want an IP address such as 192.0.2.7`},
		{"192.0.2.7", "203.0.113.10:80/icmp", `to "203.0.113.10:80/icmp": protocol "icmp" is not tcp, udp or sctp`},
		{"192.0.2.7", "203.0.113.10", `to "203.0.113.10": want an address and port such as 203.0.113.10:80/tcp or [2001:db8::1]:53/udp`},
		{"192.0.2.7", "203.0.113.10:0", `to "203.0.113.10:0": want an address and port such as 203.0.113.10:80/tcp or [2001:db8::1]:53/udp`},
		{"192.0.2.7", "[2001:db8::1]:53", "from 192.0.2.7 to 2001:db8::1: the addresses are of different IP families"},
	} {
		p, err := ParsePacket(c.from, c.to)
		got := p.Src.String() + " " + p.Dst.String() + "/" + p.Protocol.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("from %q to %q: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// shop is a Service with policy Local: a pod on node-1 that drains, a ready one on node-2.
func shop() *endpoints.Snapshot {
	cache := endpoints.NewCache(endpoints.CurrentOptions())
	cache.SetService(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.96.0.80", ClusterIPs: []string{"10.96.0.80"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			Ports:                 []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}},
		},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "203.0.113.10"}}}},
	})
	yes, no, port, name, proto := true, false, int32(8080), "http", corev1.ProtocolTCP
	here, there := "node-1", "node-2"
	cache.SetSlice(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &proto}},
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.0.1.7"}, NodeName: &here, Conditions: discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}},
			{Addresses: []string{"10.0.1.4"}, NodeName: &there, Conditions: discoveryv1.EndpointConditions{Ready: &yes, Serving: &yes, Terminating: &no}},
		},
	})
	return cache.Snapshot()
}

// traced is a packet from outside to the load balancer's address, on a node.
func traced(t *testing.T, node *plan.Node) *Trace {
	t.Helper()
	p, err := ParsePacket("198.51.100.7", "203.0.113.10:80")
	if err != nil {
		t.Fatal(err)
	}
	node.Options = endpoints.CurrentOptions()
	node.Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	return BuildTrace(plan.Build(shop(), node), p, profile(t, "1.36", nil))
}

func TestATraceEndsWhereTheRulesLead(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]struct {
		verdict, service string
		endpoints        []string
	}{
		"node-1": {"endpoints", "shop/web:http", []string{"10.0.1.7:8080"}}, // the one that drains and serves
		"node-2": {"endpoints", "shop/web:http", []string{"10.0.1.4:8080"}},
		"node-3": {"drop", "shop/web:http", []string{}},
	} {
		a := traced(t, &plan.Node{Name: node})
		if a.Verdict != want.verdict || a.Service != want.service || !cmp.Equal(a.Endpoints, want.endpoints) || a.Node != node || len(a.Hops) == 0 {
			t.Errorf("%s: %+v", node, a)
		}
	}
}

func TestAnotherModeIsNamedOnlyWhereItDiffers(t *testing.T) {
	t.Parallel()
	a := traced(t, &plan.Node{Name: "node-2"})
	same := traced(t, &plan.Node{Name: "node-2", Dialect: plan.IPTables})
	if a.Compare(same); a.OtherMode != nil {
		t.Errorf("the same answer counts as another: %+v", a.OtherMode)
	}
	for name, differ := range map[string]func(*Trace){
		"verdict":    func(o *Trace) { o.Verdict = "drop" },
		"endpoints":  func(o *Trace) { o.Endpoints = nil },
		"masquerade": func(o *Trace) { o.Masquerade = !o.Masquerade },
	} {
		other := *same
		differ(&other)
		a.OtherMode = nil
		if a.Compare(&other); a.OtherMode == nil || a.OtherMode.Mode != "iptables" {
			t.Errorf("another %s is not named", name)
		}
		var text strings.Builder
		if err := a.WriteText(&text, TextOptions{}); err != nil || !strings.Contains(text.String(), "iptables mode differs") {
			t.Errorf("%v: %s", err, text.String())
		}
	}
}

// A trace for people has the verdict and the way first, then who decides, what is unusual about that, and every hop.
func TestATraceForPeople(t *testing.T) {
	t.Parallel()
	a := &Trace{
		Node: "node-1", KubernetesVersion: "1.36", Mode: "nftables", TerminatingFallback: "on", WhatIf: []string{"SomeGate"}, Notes: []string{"read this"},
		From: "192.0.2.7", To: "10.96.0.1:80/tcp", Verdict: "endpoints", Endpoints: []string{"10.0.0.1:80", "10.0.0.2:80"},
		Hops: []Hop{{"source", "from outside"}, {"endpoints", "two of them"}},
	}
	var text strings.Builder
	if err := a.WriteText(&text, TextOptions{Style: func(r Role, word string) string { return fmt.Sprint(r == Good, " ", word) }}); err != nil {
		t.Fatal(err)
	}
	const want = `true ENDPOINTS 192.0.2.7 -> 10.96.0.1:80/tcp -> 10.0.0.1:80 | 10.0.0.2:80
sent on to an endpoint
as kube-proxy 1.36 in nftables mode does it on node-1, terminating fallback on
WHAT IF: no real cluster of version 1.36 can set SomeGate this way
note: read this
source from outside
endpoints two of them
`
	var lines []string
	for line := range strings.Lines(text.String()) {
		if words := strings.Join(strings.Fields(line), " "); words != "" {
			lines = append(lines, words+"\n")
		}
	}
	if got := strings.Join(lines, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
