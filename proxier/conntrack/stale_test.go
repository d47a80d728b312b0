package conntrack

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// local is what the kernel of this node says its addresses are.
var local = addrs("127.0.0.1", "192.0.2.1", "169.254.20.10", "::1", "fd02::1")

// Reference: docs/model/kube-proxy.md 7, the rows on UDP; kube-proxy 1.36
// pkg/proxy/conntrack/cleanup.go.
func TestWhichFlowsAreStale(t *testing.T) {
	t.Parallel()
	const vip, a, b = "10.96.0.10:53", "10.0.0.1", "10.0.0.2"
	primaryOnly := thisNode()
	primaryOnly.NodePortAddresses = primaryOnly.PrimaryNodePortAddresses()
	onLoopback := thisNode()
	onLoopback.Dialect, onLoopback.LocalhostNodePorts = plan.IPTables, true
	for _, c := range []struct {
		name       string
		node       *plan.Node
		pods       []pod
		to, server string
		want       bool
	}{
		{"to an endpoint that is ready", nil, []pod{{a, ready}}, vip, a + ":5353", false},
		{"to one on another node, which policy Local keeps this node from using", nil, []pod{{a, ready}, {b, ready}}, vip, b + ":5353", false},
		{"to one that terminates and serves, though another is ready", nil, []pod{{a, draining}, {b, ready}}, vip, a + ":5353", false},
		{"to one that terminates and no longer serves", nil, []pod{{a, stopping}, {b, ready}}, vip, a + ":5353", true},
		{"to one that fails its probe", nil, []pod{{a, failing}, {b, ready}}, vip, a + ":5353", true},
		{"to one that fails its probe and is published all the same", nil, []pod{{a, published}, {b, ready}}, vip, a + ":5353", false},
		{"to one that is gone", nil, []pod{{b, ready}}, vip, a + ":5353", true},
		{"to an endpoint's other port", nil, []pod{{a, ready}}, vip, a + ":53", true},
		{"to one that is gone, as all are (kubernetes issue 139628)", nil, nil, vip, a + ":5353", true},
		{"to one that no longer serves, as none does", nil, []pod{{a, stopping}}, vip, a + ":5353", true},
		{"not translated, from before the Service", nil, []pod{{a, ready}}, vip, vip, true},
		{"not translated, and there is no endpoint", nil, nil, vip, vip, true},
		{"to another port of the ClusterIP", nil, []pod{{a, ready}}, "10.96.0.10:54", b + ":5353", false},
		{"to a load-balancer IP", nil, []pod{{a, ready}}, "203.0.113.10:53", b + ":5353", true},
		{"to a load-balancer IP, and the endpoint serves", nil, []pod{{a, draining}}, "203.0.113.10:53", a + ":5353", false},
		{"to an external IP", nil, []pod{{a, ready}}, "198.51.100.10:53", b + ":5353", true},
		{"to a node port", nil, []pod{{a, ready}}, "192.0.2.1:30053", b + ":5353", true},
		{"to a node port, and the endpoint serves", nil, []pod{{a, draining}}, "192.0.2.1:30053", a + ":5353", false},
		{"to a node port on an address that the Node object does not have", nil, []pod{{a, ready}}, "169.254.20.10:30053", b + ":5353", true},
		{"to a node port's number on an address without node ports", primaryOnly, []pod{{a, ready}}, "169.254.20.10:30053", "169.254.20.10:30053", false},
		{"to a node port on the one address that has them", primaryOnly, []pod{{a, ready}}, "192.0.2.1:30053", b + ":5353", true},
		{"to a node port's number on loopback, where there are none", nil, []pod{{a, ready}}, "127.0.0.1:30053", "127.0.0.1:30053", false},
		{"to a node port on loopback, where there are some", onLoopback, []pod{{a, ready}}, "127.0.0.1:30053", "127.0.0.1:30053", true},
		{"to a node port's number at somebody else's address", nil, []pod{{a, ready}}, "198.51.100.77:30053", "198.51.100.77:30053", false},
		{"to the Service's port on the node itself", nil, []pod{{a, ready}}, "192.0.2.1:53", "192.0.2.1:53", false},
		{"to nothing of a Service's, translated by somebody else", nil, []pod{{a, ready}}, "192.0.2.9:53", b + ":53", false},
		{"over IPv6, to one that is gone", nil, []pod{{"fd00::2", ready}}, "[fd10::10]:53", "[fd00::1]:5353", true},
		{"over IPv6, to one that serves", nil, []pod{{"fd00::1", draining}}, "[fd10::10]:53", "[fd00::1]:5353", false},
		{"over IPv6, which has no endpoint while IPv4 has", nil, []pod{{a, ready}}, "[fd10::10]:53", "[fd00::1]:5353", true},
		{"over IPv6, to a node port", nil, []pod{{"fd00::2", ready}}, "[fd02::1]:30053", "[fd00::1]:5353", true},
	} {
		node := c.node
		if node == nil {
			node = thisNode()
		}
		p, _ := newWorld(t, node).next(dns(), c.pods...)
		j := newJudge(p, nil, local)
		f := Flow{To: netip.MustParseAddrPort(c.to), Server: netip.MustParseAddrPort(c.server)}
		for range 2 { // what is remembered from the first time is the same
			if got := j.stale(f); got != c.want {
				t.Errorf("a flow %s: stale %t, want %t", c.name, got, c.want)
			}
		}
	}
}

func TestFlowsOfServicesThatAreGone(t *testing.T) {
	t.Parallel()
	const a, b = "10.0.0.1:5353", "10.0.0.2:5353"
	w := newWorld(t, thisNode())
	older, _ := w.next(dns(), pod{"10.0.0.1", ready})
	moved := dns()
	moved.Spec.ExternalIPs = []string{"198.51.100.11"}
	old, _ := w.next(moved, pod{"10.0.0.1", ready})
	now, _ := w.next(nil)
	j := newJudge(now, []*plan.Plan{older, old}, local)
	for _, c := range []struct {
		name, to, server string
		want             bool
	}{
		{"to its ClusterIP", "10.96.0.10:53", a, true},
		{"whose endpoint nobody remembers", "10.96.0.10:53", b, true},
		{"to an address that it gave up before", "198.51.100.10:53", a, true},
		{"to its last external IP", "198.51.100.11:53", a, true},
		{"to its node port", "192.0.2.1:30053", a, true},
		{"to its node port's number elsewhere", "192.0.2.7:30053", a, false},
		{"that was never translated", "10.96.0.10:53", "10.96.0.10:53", false},
		{"to another port", "10.96.0.10:54", a, false},
	} {
		f := Flow{To: netip.MustParseAddrPort(c.to), Server: netip.MustParseAddrPort(c.server)}
		if got := j.stale(f); got != c.want {
			t.Errorf("a flow %s: stale %t, want %t", c.name, got, c.want)
		}
	}
}

func TestWhenItIsWorthLooking(t *testing.T) {
	t.Parallel()
	a, b := pod{"10.0.0.1", ready}, pod{"10.0.0.2", ready}
	with := func(p pod, s state) pod { p.state = s; return p }
	edit := func(change func(*corev1.Service)) *corev1.Service {
		svc := dns()
		change(svc)
		return svc
	}
	tcpOnly := edit(func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[1:] })
	for _, c := range []struct {
		name        string
		old, now    *corev1.Service
		before, pod []pod
		want        bool
	}{
		{"an endpoint more", dns(), dns(), []pod{a}, []pod{a, b}, false},
		{"one that is told to stop and serves", dns(), dns(), []pod{a, b}, []pod{with(a, draining), b}, false},
		{"one that stops serving after that", dns(), dns(), []pod{with(a, draining), b}, []pod{with(a, stopping), b}, true},
		{"one that stops serving and is published", dns(), dns(), []pod{a, b}, []pod{with(a, published), b}, false},
		{"one less that served", dns(), dns(), []pod{a, b}, []pod{b}, true},
		{"one less that did not", dns(), dns(), []pod{with(a, stopping), b}, []pod{b}, false},
		{"one that takes the place of another", dns(), dns(), []pod{a}, []pod{b}, true},
		{"the last one leaves", dns(), dns(), []pod{a}, nil, true},
		{"the first one comes", dns(), dns(), nil, []pod{a}, true},
		{"none, and none comes", dns(), dns(), nil, []pod{with(a, failing)}, false},
		{"the Service goes", dns(), nil, []pod{a}, []pod{a}, true},
		{"the Service comes", nil, dns(), []pod{a}, []pod{a}, true},
		{"an address goes", dns(), edit(func(s *corev1.Service) { s.Spec.ExternalIPs = nil }), []pod{a}, []pod{a}, true},
		{"an address comes", edit(func(s *corev1.Service) { s.Spec.ExternalIPs = nil }), dns(), []pod{a}, []pod{a}, true},
		{"another node port", dns(), edit(func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30054 }), []pod{a}, []pod{a}, true},
		{"another node port of TCP", dns(), edit(func(s *corev1.Service) { s.Spec.Ports[1].NodePort = 30054 }), []pod{a}, []pod{a}, false},
		{"another policy", dns(), edit(func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = "" }), []pod{a}, []pod{a}, false},
		{"the port gets another name, and is another port", dns(), edit(func(s *corev1.Service) { s.Spec.Ports[0].Name = "domain" }), []pod{a}, []pod{a}, true},
		{"no port over UDP", tcpOnly, tcpOnly, []pod{a, b}, []pod{b}, false},
		{"the last port over UDP goes", dns(), tcpOnly, []pod{a}, []pod{a}, true},
	} {
		w := newWorld(t, thisNode())
		old, _ := w.next(c.old, c.before...)
		now, changed := w.next(c.now, c.pod...)
		cl := newCleaner(Options{}, &memory{})
		cl.Follow(old, nil)
		if _, err := cl.Clean(); err != nil {
			t.Fatal(err)
		}
		if got := cl.Follow(now, changed); got != c.want {
			t.Errorf("%s: worth looking %t, want %t", c.name, got, c.want)
		}
	}
}
