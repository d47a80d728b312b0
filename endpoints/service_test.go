package endpoints

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// full returns a Service that says something in every field a proxy reads.
func full(svc *corev1.Service) {
	dualStack(svc)
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.Ports = []corev1.ServicePort{
		{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080},
		{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 30053},
	}
	svc.Spec.ExternalIPs = []string{"192.0.2.1", "2001:db8::1"}
	svc.Spec.LoadBalancerSourceRanges = []string{"198.51.100.0/24", " 2001:db8:1::/48 "}
	svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr(int32(60))}}
	svc.Spec.InternalTrafficPolicy = ptr(corev1.ServiceInternalTrafficPolicyLocal)
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	svc.Spec.HealthCheckNodePort = 31000
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.1"}, {IP: "2001:db8::2", IPMode: ptr(corev1.LoadBalancerIPModeVIP)}}
}

// wantPorts converts a Service with o and compares both families' ports.
func wantPorts(t *testing.T, o Options, svc *corev1.Service, want ...ServicePort) {
	t.Helper()
	c := NewCache(o)
	mustTake(t, c, svc)
	var got []ServicePort
	if s := c.Snapshot().Service(ServiceName{svc.Namespace, svc.Name}); s != nil {
		got = s.Ports
	}
	opts := cmp.Options{cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.AllowUnexported(ServicePort{}, digest{})}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

// Reference: kube-proxy 1.36 serviceport.go, newBaseServiceInfo.
func TestWhatAServicePortCarries(t *testing.T) {
	t.Parallel()
	four := ServicePort{
		Name: ServicePortName{shop("cart"), "http", TCP}, Family: IPv4, Type: "LoadBalancer", Port: 80, NodePort: 30080,
		ClusterIP: netip.MustParseAddr("10.96.0.1"), ExternalIPs: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
		LoadBalancerIPs: []netip.Addr{netip.MustParseAddr("203.0.113.1")}, SourceRanges: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
		AffinityTimeout: time.Minute, HealthCheckNodePort: 31000, InternalPolicy: PolicyLocal, ExternalPolicy: PolicyLocal,
	}
	six := four
	six.Family, six.ClusterIP = IPv6, netip.MustParseAddr("fd00::1")
	six.ExternalIPs = []netip.Addr{netip.MustParseAddr("2001:db8::1")}
	six.LoadBalancerIPs = []netip.Addr{netip.MustParseAddr("2001:db8::2")}
	six.SourceRanges = []netip.Prefix{netip.MustParsePrefix("2001:db8:1::/48")}
	dns := func(sp ServicePort) ServicePort {
		sp.Name.Port, sp.Name.Protocol, sp.Port, sp.NodePort = "dns", UDP, 53, 30053
		return sp
	}
	wantPorts(t, CurrentOptions(), apiService("cart", full), four, dns(four), six, dns(six))
	wantPorts(t, CurrentOptions(), apiService("cart"), ServicePort{
		Name: ServicePortName{shop("cart"), "http", TCP}, Family: IPv4, Type: "ClusterIP", Port: 80, ClusterIP: netip.MustParseAddr("10.96.0.1"),
	})
}

func TestServiceDetails(t *testing.T) {
	t.Parallel()
	type port = ServicePort
	tests := map[string]struct {
		change func(*corev1.Service)
		get    func(*port) any
		want   any
	}{
		"session affinity None has no timeout": {
			func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityNone },
			func(p *port) any { return p.AffinityTimeout }, time.Duration(0)},
		// Reference: docs/model/kube-proxy.md 4.
		"ClientIP without a config is 3 hours": {
			func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP },
			func(p *port) any { return p.AffinityTimeout }, 3 * time.Hour},
		"ClientIP with a blank config is 3 hours": {
			func(s *corev1.Service) {
				s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
				s.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{}}
			},
			func(p *port) any { return p.AffinityTimeout }, 3 * time.Hour},
		"ClientIP with an empty config is 3 hours": {
			func(s *corev1.Service) {
				s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
				s.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{}
			},
			func(p *port) any { return p.AffinityTimeout }, 3 * time.Hour},
		"external Local of a plain ClusterIP Service is Cluster": {
			func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal },
			func(p *port) any { return p.ExternalPolicy }, PolicyCluster},
		"external Local of a ClusterIP Service with external IPs is Local": {
			func(s *corev1.Service) {
				s.Spec.ExternalIPs = []string{"192.0.2.1"}
				s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
			},
			func(p *port) any { return p.ExternalPolicy }, PolicyLocal},
		"external Local of a NodePort Service is Local": {
			func(s *corev1.Service) {
				s.Spec.Type = corev1.ServiceTypeNodePort
				s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
			},
			func(p *port) any { return p.ExternalPolicy }, PolicyLocal},
		// Reference: docs/model/kube-proxy.md 5.1 Exists.
		"a NodePort Service has no health-check node port": {
			func(s *corev1.Service) { full(s); s.Spec.Type = corev1.ServiceTypeNodePort },
			func(p *port) any { return p.HealthCheckNodePort }, uint16(0)},
		"external Cluster has no health-check node port": {
			func(s *corev1.Service) {
				full(s)
				s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
			},
			func(p *port) any { return p.HealthCheckNodePort }, uint16(0)},
		"internal policy Cluster, said": {
			func(s *corev1.Service) {
				s.Spec.InternalTrafficPolicy = ptr(corev1.ServiceInternalTrafficPolicyCluster)
			},
			func(p *port) any { return p.InternalPolicy }, PolicyCluster},
		// Reference: docs/model/kube-proxy.md 4.
		"a load-balancer IP with ipMode Proxy is left alone": {
			func(s *corev1.Service) {
				full(s)
				s.Status.LoadBalancer.Ingress[0].IPMode = ptr(corev1.LoadBalancerIPModeProxy)
			},
			func(p *port) any { return len(p.LoadBalancerIPs) }, 0},
		"a load balancer with a hostname only has no IP": {
			func(s *corev1.Service) {
				full(s)
				s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "lb.example"}}
			},
			func(p *port) any { return p.LoadBalancerIPs == nil }, true},
		"a source range of everything admits everyone": {
			func(s *corev1.Service) {
				full(s)
				s.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "0.0.0.0/0"}
			},
			func(p *port) any { return p.SourceRanges == nil }, true},
		"source ranges of the other family alone admit everyone": {
			func(s *corev1.Service) { full(s); s.Spec.LoadBalancerSourceRanges = []string{"2001:db8::/32"} },
			func(p *port) any { return p.SourceRanges == nil }, true},
		"an IPv4-mapped source range is the IPv4 range": {
			func(s *corev1.Service) { full(s); s.Spec.LoadBalancerSourceRanges = []string{"::ffff:10.0.0.0/104"} },
			func(p *port) any { return fmt.Sprint(p.SourceRanges) }, "[10.0.0.0/8]"},
		"a port without a protocol is TCP": {
			func(s *corev1.Service) { s.Spec.Ports[0].Protocol = "" },
			func(p *port) any { return p.Name.Protocol }, TCP},
		"a Service written before dual stack has a clusterIP only": {
			func(s *corev1.Service) { s.Spec.ClusterIP = "fd00::5" },
			func(p *port) any { return p.Family.String() + " " + p.ClusterIP.String() }, "IPv6 fd00::5"},
		"a family without a clusterIP has no ports": {
			func(s *corev1.Service) { dualStack(s); s.Spec.ClusterIPs = s.Spec.ClusterIPs[:1] },
			func(p *port) any { return p.Family }, IPv4},
		"of two ports with one name and protocol the last counts": {
			func(s *corev1.Service) {
				s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "http", Protocol: corev1.ProtocolTCP, Port: 81})
			},
			func(p *port) any { return p.Port }, uint16(81)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := currentCache()
			mustTake(t, c, apiService("cart", tt.change))
			if got := tt.get(portOf(t, c.Snapshot(), "cart", 0)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOptionsOfOldVersionsReadServicesTheirWay(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 11 ServiceInternalTrafficPolicy and LoadBalancerIPMode.
	svc := apiService("cart", full)
	svc.Status.LoadBalancer.Ingress[0].IPMode = ptr(corev1.LoadBalancerIPModeProxy)
	for _, modern := range []bool{false, true} {
		c := NewCache(Options{InternalTrafficPolicy: modern, LoadBalancerIPMode: modern})
		mustTake(t, c, svc)
		sp := portOf(t, c.Snapshot(), "cart", 0)
		if got := sp.InternalPolicy == PolicyLocal; got != modern {
			t.Errorf("internal Local is read: %v, want %v", got, modern)
		}
		if got := len(sp.LoadBalancerIPs) == 0; got != modern {
			t.Errorf("a load-balancer IP with ipMode Proxy is left alone: %v, want %v", got, modern)
		}
	}
}

func TestServiceProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*corev1.Service)
		want   string
		ports  int // left of 2 in 2 families
	}{
		"no IP as clusterIP": {func(s *corev1.Service) { s.Spec.ClusterIPs[0] = "cart" },
			`Service shop/cart: spec.clusterIPs[0]: "cart" is not an IPv4 address; the Service is skipped for IPv4`, 2},
		"a clusterIP of the other family": {func(s *corev1.Service) { s.Spec.ClusterIPs[1] = "10.0.0.1" },
			`Service shop/cart: spec.clusterIPs[1]: "10.0.0.1" is not an IPv6 address; the Service is skipped for IPv6`, 2},
		"an unknown protocol": {func(s *corev1.Service) { s.Spec.Ports[0].Protocol = "ICMP" },
			`Service shop/cart: spec.ports[0].protocol: "ICMP" is not TCP, UDP or SCTP; the port is skipped`, 2},
		"port zero": {func(s *corev1.Service) { s.Spec.Ports[1].Port = 0 },
			`Service shop/cart: spec.ports[1].port: 0 is not a port number, 1 to 65535; the port is skipped`, 2},
		"a node port past 65535": {func(s *corev1.Service) { s.Spec.Ports[1].NodePort = 65536 },
			`Service shop/cart: spec.ports[1].nodePort: 65536 is not a port number, 1 to 65535; the port is skipped`, 2},
		"no IP as external IP": {func(s *corev1.Service) { s.Spec.ExternalIPs[0] = "x" },
			`Service shop/cart: spec.externalIPs[0]: "x" is not an IP address; it is skipped`, 4},
		"no IP as load-balancer IP": {func(s *corev1.Service) { s.Status.LoadBalancer.Ingress[1].IP = "x" },
			`Service shop/cart: status.loadBalancer.ingress[1].ip: "x" is not an IP address; it is skipped`, 4},
		"no CIDR as source range": {func(s *corev1.Service) { s.Spec.LoadBalancerSourceRanges[0] = "x" },
			`Service shop/cart: spec.loadBalancerSourceRanges[0]: "x" is not a CIDR such as 10.0.0.0/8 or fd00::/64; it is skipped`, 4},
		"an impossible health-check node port": {func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 70000 },
			`Service shop/cart: spec.healthCheckNodePort: 70000 is not a port number, 1 to 65535; the port is skipped`, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := currentCache()
			svc := apiService("cart", full)
			tt.change(svc)
			var got []string
			for _, p := range c.SetService(svc) {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" { // once, not once per family
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if n := len(c.Snapshot().Service(shop("cart")).Ports); n != tt.ports {
				t.Errorf("%d ports left, want %d", n, tt.ports)
			}
		})
	}
}

func TestAServiceOfWhichNothingIsLeftIsNotThere(t *testing.T) {
	t.Parallel()
	c := currentCache()
	mustTake(t, c, apiService("cart"))
	c.Snapshot()
	if p := c.SetService(apiService("cart", func(s *corev1.Service) { s.Spec.Ports[0].Port = 70000 })); len(p) != 1 {
		t.Errorf("problems %v, want one", p)
	}
	if s := c.Snapshot(); s.Service(shop("cart")) != nil || len(s.Changed()) != 1 {
		t.Errorf("the Service is still there, or its end went unnoticed: changed %v", s.Changed())
	}
}

// samePort must look at every field, or a change to the forgotten one would never arrive.
func TestSamePortLooksAtEveryField(t *testing.T) {
	t.Parallel()
	filledIn := map[string]bool{"Endpoints": true, "digest": true} // not the Service's to say
	typ := reflect.TypeFor[ServicePort]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		if filledIn[f.Name] {
			continue
		}
		var a, b ServicePort
		v := reflect.ValueOf(&b).Elem().Field(i)
		switch v.Interface().(type) {
		case ServicePortName:
			v.Set(reflect.ValueOf(ServicePortName{Port: "x"}))
		case netip.Addr:
			v.Set(reflect.ValueOf(netip.MustParseAddr("10.0.0.1")))
		case []netip.Addr:
			v.Set(reflect.ValueOf([]netip.Addr{{}}))
		case []netip.Prefix:
			v.Set(reflect.ValueOf([]netip.Prefix{{}}))
		case string:
			v.SetString("x")
		case time.Duration:
			v.SetInt(1)
		default:
			v.SetUint(1)
		}
		if samePort(a, b) || !samePort(b, b) {
			t.Errorf("samePort does not look at %s", f.Name)
		}
	}
}

func TestCountsForHealthChecks(t *testing.T) {
	t.Parallel()
	// Reference: kube-proxy 1.36 endpointschangetracker.go, LocalReadyEndpoints;
	// docs/model/kube-proxy.md 5.1.
	c := currentCache()
	svc := apiService("cart", full)
	slice := apiSlice("cart", "cart-1",
		ready(1, "a").api(), ready(2, "b").api(), draining(3, "a").api(), ready(4, "").api(), notReady(5, "a").api())
	unmatched := apiSlice("cart", "cart-2", ready(1, "a").api(), ready(6, "a").api()) // a port the Service does not have
	unmatched.Ports[0].Name = ptr("admin")
	replaced := apiSlice("cart", "cart-3", ready(7, "a").api(), notReady(7, "a").api()) // the second entry counts
	mustTake(t, c, svc, slice, unmatched, replaced)
	s := c.Snapshot().Service(shop("cart"))
	o := CurrentOptions()
	for node, want := range map[string]int{"a": 2, "b": 1, "c": 0, "": 0} {
		if got := s.LocalReadyEndpoints(IPv4, node, o); got != want {
			t.Errorf("%d local ready endpoints on node %q, want %d", got, node, want)
		}
	}
	if got := s.LocalReadyEndpoints(IPv6, "a", o); got != 0 {
		t.Errorf("%d local ready IPv6 endpoints, want none", got)
	}
	if p4, p6 := s.HealthCheckNodePort(IPv4), s.HealthCheckNodePort(IPv6); p4 != 31000 || p6 != 31000 {
		t.Errorf("health-check node ports %d and %d, want 31000", p4, p6)
	}
	single := currentCache()
	mustTake(t, single, apiService("cart"))
	if p := single.Snapshot().Service(shop("cart")).HealthCheckNodePort(IPv6); p != 0 {
		t.Errorf("health-check node port %d of a Service that has none", p)
	}
}

// odd are addresses that something is special about, with the uses for which that matters: ClusterIP, external IP, load-balancer IP, endpoint.
// Reference: Kubernetes 1.36 pkg/apis/core/validation/validation.go, ValidateEndpointIP.
func odd() map[string]string {
	return map[string]string{
		"0.0.0.0": "CELP", "::": "CELP", "127.0.0.1": "CEP", "127.255.0.9": "CEP", "::1": "CEP",
		"224.0.0.5": "CEP", "ff02::1": "CEP", "239.1.2.3": "CEP", "ff05::1": "CEP", "255.255.255.255": "CEP",
		"169.254.7.7": "EP", "fe80::1": "EP", "::ffff:127.0.0.1": "CEP",
		"192.0.2.1": "", "10.255.255.255": "", "2001:db8::1": "", "240.0.0.1": "",
	}
}

func TestAddressesThatNothingCanHaveAreSkippedAndReported(t *testing.T) {
	t.Parallel()
	for text, unusable := range odd() {
		a, err := parseAddr(text)
		if err != nil {
			t.Fatal(err)
		}
		plain := "192.0.2.9"
		if a.Is6() {
			plain = "2001:db8::9"
		}
		for _, use := range []string{"C", "E", "L", "P"} {
			svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: plain, Ports: []corev1.ServicePort{{Port: 80}}}}
			svc.Namespace, svc.Name = "shop", "web"
			port, name := int32(80), ""
			s := &discoveryv1.EndpointSlice{
				AddressType: discoveryv1.AddressType(FamilyOf(a).String()), Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
			}
			s.Namespace, s.Name, s.Labels = "shop", "web-1", map[string]string{discoveryv1.LabelServiceName: "web"}
			switch use {
			case "C":
				svc.Spec.ClusterIP = text
			case "E":
				svc.Spec.ExternalIPs = []string{text}
			case "L":
				svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: text}}
			case "P":
				s.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{text}}}
			}
			cache := NewCache(CurrentOptions())
			problems := append(cache.SetService(svc), cache.SetSlice(s)...)
			kept := 0
			for one := range cache.Snapshot().Services() {
				for _, sp := range one.Ports {
					kept += map[string]int{"C": 1, "E": len(sp.ExternalIPs), "L": len(sp.LoadBalancerIPs), "P": len(sp.Endpoints)}[use]
				}
			}
			skipped := strings.Contains(unusable, use)
			if (kept == 0) != skipped || (len(problems) > 0) != skipped {
				t.Errorf("%s as %s: kept %v, reported %v", text, use, kept == 1, problems)
			}
		}
	}
}
