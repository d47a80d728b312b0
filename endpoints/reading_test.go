package endpoints

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// wantEndpoints compares the endpoints of the first port of Service cart with lines of addrs.
func wantEndpoints(t *testing.T, c *Cache, want ...string) *ServicePort {
	t.Helper()
	sp := portOf(t, c.Snapshot(), "cart", 0)
	if diff := cmp.Diff(want, addrs(sp)); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	return sp
}

// Reference: kube-proxy 1.36 endpointslicecache.go, addEndpoints; docs/model/kube-proxy.md 1,
// "Conditions".
func TestNilConditions(t *testing.T) {
	t.Parallel()
	no, yes := ptr(false), ptr(true)
	for name, tt := range map[string]struct {
		in   discoveryv1.EndpointConditions
		want string
	}{
		"all nil: ready, serving, not terminating":        {discoveryv1.EndpointConditions{}, "T/T/F"},
		"ready nil is true":                               {discoveryv1.EndpointConditions{Ready: nil, Serving: no, Terminating: no}, "T/F/F"},
		"serving nil is true even when ready is false":    {discoveryv1.EndpointConditions{Ready: no, Terminating: yes}, "F/T/T"},
		"terminating nil is false":                        {discoveryv1.EndpointConditions{Ready: no, Serving: no}, "F/F/F"},
		"false is not nil":                                {discoveryv1.EndpointConditions{Ready: no, Serving: no, Terminating: no}, "F/F/F"},
		"true":                                            {discoveryv1.EndpointConditions{Ready: yes, Serving: yes, Terminating: yes}, "T/T/T"},
		"ready nil is true even when terminating is true": {discoveryv1.EndpointConditions{Terminating: yes}, "T/T/T"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := ready(1, "a").api()
			e.Conditions = tt.in
			c := currentCache()
			mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", e))
			wantEndpoints(t, c, "10.0.0.1:8080 "+tt.want)
		})
	}
}

func TestPublishNotReadyAddressesOnlyShowsAsReady(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/controllers.md 9.1 publishNotReadyAddresses.
	c := currentCache()
	mustTake(t, c, apiService("cart", func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }),
		apiSlice("cart", "cart-1", notReady(1, "a").api()))
	sp := wantEndpoints(t, c, "10.0.0.1:8080 F/F/F")
	wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster none; Local unused; reachable none; nothing anywhere")
}

func TestOnlyTheFirstAddressOfAnEndpointIsUsed(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1; kube-proxy 1.36 endpointslicecache.go, addEndpoints.
	e := ready(1, "a").api()
	e.Addresses = append(e.Addresses, "10.0.0.2", "not an address")
	c := currentCache()
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", e))
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
}

func TestPortsWithoutANameOrNumberAreIgnored(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1; kube-proxy 1.36 endpointslicecache.go,
	// endpointInfoByServicePort.
	for name, port := range map[string]discoveryv1.EndpointPort{
		"nil name":    {Port: ptr(int32(9090))},
		"nil number":  {Name: ptr("http")},
		"zero number": {Name: ptr("http"), Port: ptr(int32(0))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slice := apiSlice("cart", "cart-1", ready(1, "a").api())
			slice.Ports = append([]discoveryv1.EndpointPort{port}, slice.Ports...)
			c := currentCache()
			mustTake(t, c, apiService("cart"), slice)
			wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
		})
	}
}

func TestAnEmptyPortNameIsANameOfItsOwn(t *testing.T) {
	t.Parallel()
	c := currentCache()
	unnamed := apiSlice("cart", "cart-1", ready(1, "a").api())
	unnamed.Ports[0].Name = ptr("")
	mustTake(t, c, apiService("cart", func(s *corev1.Service) { s.Spec.Ports[0].Name = "" }), unnamed,
		apiSlice("cart", "cart-2", ready(2, "a").api())) // named http: matches nothing
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
}

func TestPortsMatchByNameAndProtocol(t *testing.T) {
	t.Parallel()
	// Reference: kube-proxy 1.36 endpointslicecache.go, endpointInfoByServicePort (ServicePortName).
	c := currentCache()
	svc := apiService("dns", func(s *corev1.Service) {
		s.Spec.Ports = []corev1.ServicePort{
			{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53},
			{Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53},
			{Name: "metrics", Protocol: corev1.ProtocolTCP, Port: 9153},
			{Name: "sctp", Protocol: corev1.ProtocolSCTP, Port: 1},
		}
	})
	slice := apiSlice("dns", "dns-1", ready(1, "a").api())
	slice.Ports = []discoveryv1.EndpointPort{
		{Name: ptr("dns"), Port: ptr(int32(5353)), Protocol: ptr(corev1.ProtocolUDP)},
		{Name: ptr("dns-tcp"), Port: ptr(int32(5354))}, // nil protocol is TCP
		{Name: ptr("metrics"), Port: ptr(int32(9153)), Protocol: ptr(corev1.ProtocolUDP)},
		{Name: ptr("sctp"), Port: ptr(int32(7)), Protocol: ptr(corev1.ProtocolSCTP)},
	}
	mustTake(t, c, svc, slice)
	s := c.Snapshot()
	for i, want := range [][]string{{"10.0.0.1:5353 T/T/F"}, {"10.0.0.1:5354 T/T/F"}, nil, {"10.0.0.1:7 T/T/F"}} {
		if diff := cmp.Diff(want, addrs(portOf(t, s, "dns", i))); diff != "" {
			t.Errorf("port %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestTargetPortsMayDifferBetweenSlices(t *testing.T) {
	t.Parallel()
	c := currentCache()
	other := apiSlice("cart", "cart-2", ready(1, "a").api(), ready(2, "a").api())
	other.Ports[0].Port = ptr(int32(9090))
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", ready(1, "a").api(), ready(3, "b").api()), other)
	sp := wantEndpoints(t, c, "10.0.0.1:8080 T/T/F", "10.0.0.1:9090 T/T/F", "10.0.0.2:9090 T/T/F", "10.0.0.3:8080 T/T/F")
	wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster 1 1 2 3; Local unused; reachable 1 1 2 3; any")
}

func TestEndpointsAreInAddressOrderNotStringOrder(t *testing.T) {
	t.Parallel()
	// Upstream sorts by string, which puts 10.0.0.10 before 10.0.0.2; the set is the same.
	c := currentCache()
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", ready(10, "a").api(), ready(2, "a").api()),
		apiSlice("cart", "cart-2", ready(1, "a").api()))
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F", "10.0.0.2:8080 T/T/F", "10.0.0.10:8080 T/T/F")
}

func TestEntriesWithOneAddressAreInOrderOfSliceNameAndPlace(t *testing.T) {
	t.Parallel()
	c := currentCache()
	mustTake(t, c, apiService("cart"),
		apiSlice("cart", "cart-b", notServing(1, "a").api(), notReady(1, "a").api()),
		apiSlice("cart", "cart-a", draining(1, "a").api()))
	sp := wantEndpoints(t, c, "10.0.0.1:8080 F/T/T", "10.0.0.1:8080 F/F/T", "10.0.0.1:8080 F/F/F")
	var from []string
	for i := range sp.Endpoints {
		from = append(from, sp.Endpoints[i].Meta.Slice)
	}
	if diff := cmp.Diff([]string{"cart-a", "cart-b", "cart-b"}, from); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
}

func TestADuplicateInTwoSlicesOrByIPReuse(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1 Same IP:port; kube-proxy 1.36 endpointslicecache.go,
	// addEndpoints.
	c := currentCache()
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", draining(1, "a").api()), apiSlice("cart", "cart-2", ready(1, "b").api()))
	sp := wantEndpoints(t, c, "10.0.0.1:8080 F/T/T", "10.0.0.1:8080 T/T/F")
	_, d := Decide(sp, nodeA, CurrentOptions(), nil)
	if d[0].Cluster != ReasonDuplicate || d[1].Cluster != ReasonReady {
		t.Errorf("decisions %v, want the running pod to count", d)
	}
}

// Reference: docs/model/kube-proxy.md 1; kube-proxy 1.36 cmd/kube-proxy (informer selectors) and
// endpointslicecache.go, endpointSliceCacheKeys.
func TestSlicesThatNoProxyReads(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*discoveryv1.EndpointSlice){
		"labelled headless":            func(s *discoveryv1.EndpointSlice) { s.Labels[corev1.IsHeadlessService] = "" },
		"without a Service's name":     func(s *discoveryv1.EndpointSlice) { delete(s.Labels, discoveryv1.LabelServiceName) },
		"with an empty Service's name": func(s *discoveryv1.EndpointSlice) { s.Labels[discoveryv1.LabelServiceName] = "" },
		"without labels":               func(s *discoveryv1.EndpointSlice) { s.Labels = nil },
		"of type FQDN":                 func(s *discoveryv1.EndpointSlice) { s.AddressType = discoveryv1.AddressTypeFQDN },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := currentCache()
			slice := apiSlice("cart", "cart-1", ready(1, "a").api())
			mustTake(t, c, apiService("cart"), slice)
			wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
			slice = slice.DeepCopy()
			change(slice)
			mustTake(t, c, slice) // it leaves without a problem
			wantEndpoints(t, c)
		})
	}
}

// Reference: kube-proxy 1.36 util.ShouldSkipService and cmd/kube-proxy (informer selectors);
// docs/model/kube-proxy.md 1.
func TestServicesThatNoProxyHandles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*corev1.Service)
		why    string
	}{
		"headless":                 {func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone }, "headless"},
		"ExternalName":             {func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeExternalName }, "DNS alias"},
		"without a ClusterIP":      {func(s *corev1.Service) { s.Spec.ClusterIP = "" }, "no clusterIP yet"},
		"another proxy's":          {func(s *corev1.Service) { s.Labels = map[string]string{ServiceProxyNameLabel: "istio"} }, "label service.kubernetes.io/service-proxy-name=istio"},
		"with an empty proxy name": {func(s *corev1.Service) { s.Labels = map[string]string{ServiceProxyNameLabel: ""} }, "label service.kubernetes.io/service-proxy-name)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := currentCache()
			svc := apiService("cart")
			mustTake(t, c, svc, apiSlice("cart", "cart-1", ready(1, "a").api()))
			wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
			svc = svc.DeepCopy()
			tt.change(svc)
			if got := Unproxied(svc); !strings.Contains(got, tt.why) {
				t.Errorf("Unproxied says %q, want something with %q", got, tt.why)
			}
			mustTake(t, c, svc)
			s := c.Snapshot()
			if s.Service(shop("cart")) != nil || s.Len() != 0 || !slices.Equal(s.Changed(), []ServiceName{shop("cart")}) {
				t.Errorf("the Service is still there, or its end went unnoticed: changed %v", s.Changed())
			}
		})
	}
	if got := Unproxied(apiService("cart")); got != "" {
		t.Errorf("Unproxied says %q of a Service that the proxy handles", got)
	}
}

func TestFamiliesAreSeparateWorlds(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1 Both IP families.
	c := currentCache()
	six := apiSlice("cart", "cart-6", ready(1, "a").api())
	six.AddressType, six.Endpoints[0].Addresses = discoveryv1.AddressTypeIPv6, []string{"fd00::a"}
	mustTake(t, c, apiService("cart", dualStack), apiSlice("cart", "cart-4", ready(1, "a").api(), ready(2, "b").api()), six)
	s := c.Snapshot()
	if n := len(s.Service(shop("cart")).Ports); n != 2 {
		t.Fatalf("%d ports, want one per family", n)
	}
	for i, want := range []struct {
		family IPFamily
		ip     string
		addrs  []string
	}{
		{IPv4, "10.96.0.1", []string{"10.0.0.1:8080 T/T/F", "10.0.0.2:8080 T/T/F"}},
		{IPv6, "fd00::1", []string{"[fd00::a]:8080 T/T/F"}},
	} {
		sp := portOf(t, s, "cart", i)
		if sp.Family != want.family || sp.ClusterIP.String() != want.ip {
			t.Errorf("port %d is %s on %s, want %s on %s", i, sp.Family, sp.ClusterIP, want.family, want.ip)
		}
		if diff := cmp.Diff(want.addrs, addrs(sp)); diff != "" {
			t.Errorf("%s endpoints (-want +got):\n%s", want.family, diff)
		}
	}
}

func TestWhatAnEndpointCarries(t *testing.T) {
	t.Parallel()
	e := ready(1, "node-1").zone("x", "y").forNode("n").api()
	e.Zone = ptr("x")
	e.TargetRef = &corev1.ObjectReference{Kind: "Pod", Name: "cart-abc"}
	bare := ready(2, "").api()
	bare.TargetRef = &corev1.ObjectReference{Kind: "Node", Name: "not-a-pod"}
	bare.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{}}
	c := currentCache()
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", e, bare))
	sp := wantEndpoints(t, c, "10.0.0.1:8080 T/T/F", "10.0.0.2:8080 T/T/F")
	if diff := cmp.Diff(&Meta{Pod: "cart-abc", Slice: "cart-1", Zone: "x", ForZones: []string{"x", "y"}, ForNodes: []string{"n"}}, sp.Endpoints[0].Meta); diff != "" {
		t.Errorf("Meta (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Meta{Slice: "cart-1"}, sp.Endpoints[1].Meta); diff != "" { // nil, not empty
		t.Errorf("Meta of a bare endpoint (-want +got):\n%s", diff)
	}
	if sp.Endpoints[0].NodeName != "node-1" || sp.Endpoints[1].NodeName != "" {
		t.Errorf("nodes %q and %q", sp.Endpoints[0].NodeName, sp.Endpoints[1].NodeName)
	}
}

// What the API would refuse, and files can hold: each skipped part has a Problem, the rest
// is used.
func TestSliceProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*discoveryv1.EndpointSlice)
		want   string // the Problem
		left   int    // endpoints left of two
	}{
		"an unknown address type": {func(s *discoveryv1.EndpointSlice) { s.AddressType = "IPv5" },
			`EndpointSlice shop/cart-1: addressType: "IPv5" is not IPv4, IPv6 or FQDN; the slice is skipped`, 0},
		"no address type": {func(s *discoveryv1.EndpointSlice) { s.AddressType = "" },
			`EndpointSlice shop/cart-1: addressType: "" is not IPv4, IPv6 or FQDN; the slice is skipped`, 0},
		"no address": {func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = nil },
			`EndpointSlice shop/cart-1: endpoints[0].addresses: an endpoint needs an address; it is skipped`, 1},
		"empty addresses": {func(s *discoveryv1.EndpointSlice) { s.Endpoints[1].Addresses = []string{} },
			`EndpointSlice shop/cart-1: endpoints[1].addresses: an endpoint needs an address; it is skipped`, 1},
		"no IP": {func(s *discoveryv1.EndpointSlice) { s.Endpoints[1].Addresses[0] = "localhost" },
			`EndpointSlice shop/cart-1: endpoints[1].addresses[0]: "localhost" is not an IP address; the endpoint is skipped`, 1},
		"the other family": {func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses[0] = "fd00::1" },
			`EndpointSlice shop/cart-1: endpoints[0].addresses[0]: fd00::1 is not an IPv4 address, as the slice's addressType says; the endpoint is skipped`, 1},
		"an unknown protocol": {func(s *discoveryv1.EndpointSlice) { s.Ports[0].Protocol = ptr(corev1.Protocol("tcp")) },
			`EndpointSlice shop/cart-1: ports[0].protocol: "tcp" is not TCP, UDP or SCTP; the port is skipped`, 0},
		"a negative port": {func(s *discoveryv1.EndpointSlice) { s.Ports[0].Port = ptr(int32(-1)) },
			`EndpointSlice shop/cart-1: ports[0].port: -1 is not a port number, 1 to 65535; the port is skipped`, 0},
		"a port past 65535": {func(s *discoveryv1.EndpointSlice) { s.Ports[0].Port = ptr(int32(65536)) },
			`EndpointSlice shop/cart-1: ports[0].port: 65536 is not a port number, 1 to 65535; the port is skipped`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := currentCache()
			mustTake(t, c, apiService("cart"))
			slice := apiSlice("cart", "cart-1", ready(1, "a").api(), ready(2, "a").api())
			tt.change(slice)
			for range 2 { // a re-sent object says its problems again
				var got []string
				for _, p := range c.SetSlice(slice) {
					got = append(got, p.Error())
				}
				if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
			}
			if n := len(portOf(t, c.Snapshot(), "cart", 0).Endpoints); n != tt.left {
				t.Errorf("%d endpoints left, want %d", n, tt.left)
			}
		})
	}
}

func TestASliceThatTurnsBadLeaves(t *testing.T) {
	t.Parallel()
	c := currentCache()
	slice := apiSlice("cart", "cart-1", ready(1, "a").api())
	mustTake(t, c, apiService("cart"), slice)
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
	slice = slice.DeepCopy()
	slice.AddressType = "IPv5"
	if p := c.SetSlice(slice); len(p) != 1 {
		t.Errorf("problems %v, want one", p)
	}
	wantEndpoints(t, c)
}
