package healthcheck

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// loadBalancer is a Service whose health-check node port is hc, dual stack.
func loadBalancer(name string, hc int32) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1", "fd00::1"},
			IPFamilies:          []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
			Ports:               []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}},
			HealthCheckNodePort: hc,
		},
	}
}

type pod struct {
	ip, node                    string
	ready, serving, terminating bool
}

func slice(service, name string, pods ...pod) *discoveryv1.EndpointSlice {
	port, protocol, portName := int32(8080), corev1.ProtocolTCP, "http"
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: &port, Protocol: &protocol}},
	}
	for i := range pods {
		p := pods[i]
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{p.ip}, NodeName: &p.node,
			Conditions: discoveryv1.EndpointConditions{Ready: &p.ready, Serving: &p.serving, Terminating: &p.terminating},
		})
	}
	return s
}

func ready(ip, node string) pod       { return pod{ip, node, true, true, false} }
func terminating(ip, node string) pod { return pod{ip, node, false, true, true} }

func newCache() *endpoints.Cache { return endpoints.NewCache(endpoints.CurrentOptions()) }

// Reference: KEP-1669, "Proposal"; kube-proxy 1.36 pkg/proxy/topology.go and
// endpointschangetracker.go (getLocalReadyEndpointIPs).
func TestATerminatingEndpointServesWhileItsHealthCheckFails(t *testing.T) {
	t.Parallel()
	c := newCache()
	c.SetService(loadBalancer("cart", 31000))
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.1", "node-a"), ready("10.0.0.2", "node-b")))
	node := endpoints.NodeInfo{Name: "node-a"}
	before := c.Snapshot()
	table := NewTable(before, node.Name)
	c.SetSlice(slice("cart", "cart-1", terminating("10.0.0.1", "node-a"), ready("10.0.0.2", "node-b")))
	after := c.Snapshot()
	next := table.Next(after)

	if a := table.Answer(v4, 31000, true); a.Status != 200 {
		t.Errorf("while the endpoint is ready the port answers %d, want 200", a.Status)
	}
	wantAnswer(t, next.Answer(v4, 31000, true), Answer{503,
		header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "0"),
		body("{", "\t\"service\": {", "\t\t\"namespace\": \"shop\",", "\t\t\"name\": \"cart\"", "\t},", "\t\"localEndpoints\": 0,", "\t\"serviceProxyHealthy\": true", "}")})

	sp := &after.Service(endpoints.ServiceName{Namespace: "shop", Name: "cart"}).Ports[0]
	s := endpoints.Select(sp, node, after.Options())
	if !s.Local.Fallback || len(s.Local.Index) != 1 || sp.Endpoints[s.Local.Index[0]].Addr.String() != "10.0.0.1:8080" {
		t.Errorf("the rules do not serve on: Local list %+v", s.Local)
	}
}

func TestTheCountIsOfDistinctReadyLocalIPs(t *testing.T) {
	t.Parallel()
	// Reference: kube-proxy 1.36 endpointschangetracker.go, LocalReadyEndpoints;
	// docs/model/kube-proxy.md 5.1.
	tests := map[string]struct {
		pods []pod
		want int
	}{
		"none":                        {nil, 0},
		"remote ones do not count":    {[]pod{ready("10.0.0.1", "node-b")}, 0},
		"local ones do":               {[]pod{ready("10.0.0.1", "node-a"), ready("10.0.0.2", "node-a")}, 2},
		"terminating ones do not":     {[]pod{ready("10.0.0.1", "node-a"), terminating("10.0.0.2", "node-a")}, 1},
		"not-ready ones do not":       {[]pod{{"10.0.0.1", "node-a", false, false, false}}, 0},
		"published not-ready ones do": {[]pod{{"10.0.0.1", "node-a", true, false, true}}, 1},
		"ones on no node do not":      {[]pod{ready("10.0.0.1", "")}, 0},
		"one IP counts once":          {[]pod{ready("10.0.0.1", "node-a"), ready("10.0.0.1", "node-a")}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCache()
			c.SetService(loadBalancer("cart", 31000))
			c.SetSlice(slice("cart", "cart-1", tt.pods...))
			s, ok := NewTable(c.Snapshot(), "node-a").Lookup(v4, 31000)
			want := Service{endpoints.ServiceName{Namespace: "shop", Name: "cart"}, v4, 31000, tt.want}
			if !ok || s != want {
				t.Errorf("Lookup = %+v, %v, want %+v", s, ok, want)
			}
		})
	}
}

func TestFamiliesAreCountedAndAnsweredApart(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1 Both IP families.
	c := newCache()
	c.SetService(loadBalancer("cart", 31000))
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.1", "node-a")))
	table := NewTable(c.Snapshot(), "node-a")
	if a, b := table.Answer(v4, 31000, true), table.Answer(v6, 31000, true); a.Status != 200 || b.Status != 503 {
		t.Errorf("IPv4 answers %d and IPv6 %d, want 200 and 503", a.Status, b.Status)
	}
}

func TestOnlyLoadBalancersWithPolicyLocalHaveAPort(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 5.1 Exists.
	tests := map[string]func(*corev1.Service){
		"type NodePort":        func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort },
		"type ClusterIP":       func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP },
		"policy Cluster":       func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster },
		"no port allocated":    func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 0 },
		"an impossible port":   func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 70000 },
		"another proxy's":      func(s *corev1.Service) { s.Labels = map[string]string{endpoints.ServiceProxyNameLabel: "x"} },
		"headless":             func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone },
		"without any port":     func(s *corev1.Service) { s.Spec.Ports = nil },
		"not even a ClusterIP": func(s *corev1.Service) { s.Spec.ClusterIP = "" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCache()
			svc := loadBalancer("cart", 31000)
			change(svc)
			c.SetService(svc)
			if got := slices.Collect(NewTable(c.Snapshot(), "node-a").Services()); len(got) != 0 {
				t.Errorf("ports to listen on: %+v, want none", got)
			}
		})
	}
	if _, ok := ServiceOf(nil, v4, "node-a", endpoints.Options{}); ok {
		t.Error("a Service that does not exist has a health-check node port")
	}
}

func TestAServiceThatIsGoneAnswers503(t *testing.T) {
	t.Parallel()
	// Upstream answers 200 there: hcHandler.ServeHTTP returns without writing (kube-proxy 1.36 service_health.go).
	c := newCache()
	c.SetService(loadBalancer("cart", 31000))
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.1", "node-a")))
	table := NewTable(c.Snapshot(), "node-a")
	c.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "cart"})
	table = table.Next(c.Snapshot())
	wantAnswer(t, table.Answer(v4, 31000, true), Answer{503,
		header("Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Load-Balancing-Endpoint-Weight", "0"),
		body("{", "\t\"service\": {", "\t\t\"namespace\": \"\",", "\t\t\"name\": \"\"", "\t},", "\t\"localEndpoints\": 0,", "\t\"serviceProxyHealthy\": true", "}")})
}

func TestAPortClaimedTwiceBelongsToTheFirstName(t *testing.T) {
	t.Parallel()
	c := newCache()
	for _, name := range []string{"b", "c", "a"} {
		c.SetService(loadBalancer(name, 31000))
	}
	c.SetService(loadBalancer("d", 30999))
	table := NewTable(c.Snapshot(), "node-a")
	if diff := cmp.Diff([]string{"d/IPv4/30999", "a/IPv4/31000", "d/IPv6/30999", "a/IPv6/31000"}, brief(slices.Collect(table.Services()))); diff != "" {
		t.Errorf("Services (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b/IPv4/31000", "c/IPv4/31000", "b/IPv6/31000", "c/IPv6/31000"}, brief(table.Refused())); diff != "" {
		t.Errorf("Refused (-want +got):\n%s", diff)
	}
	if s, ok := table.Lookup(v4, 31000); !ok || s.Name.Name != "a" {
		t.Errorf("Lookup = %+v, %v, want a", s, ok)
	}
	c.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "a"})
	if s, ok := table.Next(c.Snapshot()).Lookup(v4, 31000); !ok || s.Name.Name != "b" {
		t.Errorf("after a is gone, Lookup = %+v, %v, want b", s, ok)
	}
}

func brief(list []Service) []string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s/%s/%d", s.Name.Name, s.Family, s.Port))
	}
	return out
}

func TestNextEqualsANewTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1669))
		c := newCache()
		table := NewTable(c.Snapshot(), "node-a")
		for step := range 60 {
			randomEvent(r, c)
			s := c.Snapshot()
			if r.IntN(8) == 0 { // the node does not look at every snapshot
				continue
			}
			old, was := table, contents(table)
			table = table.Next(s)
			if want, got := contents(NewTable(s, "node-a")), contents(table); !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d step %d (-new +next):\n%s", seed, step, cmp.Diff(want, got))
			}
			if is := contents(old); !reflect.DeepEqual(was, is) {
				t.Fatalf("seed %d step %d: Next changed the table it was called on:\n%s", seed, step, cmp.Diff(was, is))
			}
		}
	}
}

// contents is all that a Table says: who has each port, then who was refused.
func contents(t *Table) [2][]Service {
	return [2][]Service{slices.Collect(t.Services()), t.Refused()}
}

func randomEvent(r *rand.Rand, c *endpoints.Cache) {
	name := string(rune('a' + r.IntN(6)))
	switch r.IntN(5) {
	case 0:
		c.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: name})
	case 1, 2:
		c.SetService(loadBalancer(name, int32(31000+r.IntN(4)))) // few ports: some are claimed twice
	default:
		pods := make([]pod, r.IntN(3))
		for i := range pods {
			pods[i] = ready(fmt.Sprintf("10.0.0.%d", 1+r.IntN(3)), []string{"node-a", "node-b"}[r.IntN(2)])
		}
		c.SetSlice(slice(name, name+"-1", pods...))
	}
}

func TestNextSharesWhatDidNotChange(t *testing.T) {
	t.Parallel()
	c := newCache()
	c.SetService(loadBalancer("cart", 31000))
	c.SetService(loadBalancer("till", 32000))
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.1", "node-a")))
	table := NewTable(c.Snapshot(), "node-a")
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.1", "node-a"), ready("10.0.0.2", "node-b")))
	remote := table.Next(c.Snapshot())
	if remote.pages != table.pages {
		t.Error("a remote endpoint changed a page, though no port and no count differs")
	}
	c.SetSlice(slice("cart", "cart-1", ready("10.0.0.2", "node-b")))
	local := remote.Next(c.Snapshot())
	changed, _ := slot(v4, 31000)
	for i := range local.pages {
		if differs := local.pages[i] != table.pages[i]; differs != (i == changed) {
			t.Errorf("page %d differs: %v, though only page %d should", i, differs, changed)
		}
	}
}

func BenchmarkServiceAnswer(b *testing.B) {
	s := Service{Name: endpoints.ServiceName{Namespace: "shop", Name: "cart"}, Port: 31000, LocalEndpoints: 3}
	o := endpoints.CurrentOptions()
	b.ReportAllocs()
	for b.Loop() {
		ServiceAnswer(s, true, o)
	}
}

// BenchmarkTableNext measures one endpoint becoming ready among so many Services, of which
// a tenth have a health-check node port.
func BenchmarkTableNext(b *testing.B) {
	for _, n := range []int{1000, 30000} {
		b.Run(fmt.Sprintf("%dservices", n), func(b *testing.B) {
			c := newCache()
			for i := range n {
				svc := loadBalancer(fmt.Sprintf("s%05d", i), int32(30000+i%2768))
				if i%10 != 0 {
					svc.Spec.Type = corev1.ServiceTypeClusterIP
				}
				c.SetService(svc)
			}
			states := [2]*endpoints.Snapshot{}
			for i := range states {
				c.SetSlice(slice("s00010", "s00010-1", ready("10.0.0.1", []string{"node-a", "node-b"}[i])))
				states[i] = c.Snapshot()
			}
			first := NewTable(states[0], "node-a")
			b.ReportAllocs()
			for b.Loop() {
				first.Next(states[1])
			}
		})
	}
}
