package observe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// pod is an endpoint: its conditions as "r/s/t", its node and zone hint.
type pod struct{ conditions, node, hint string }

// object returns the Service under test, of type LoadBalancer with policy Local.
func object(change func(*corev1.Service)) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
			HealthCheckNodePort: 31000, ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports:      []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}},
		},
	}
	if change != nil {
		change(svc)
	}
	return svc
}

func slice(pods []pod) *discoveryv1.EndpointSlice {
	port, name := int32(8080), ""
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for i, p := range pods {
		is := func(at int) *bool { v := p.conditions[at] == 'T'; return &v }
		e := discoveryv1.Endpoint{
			Addresses: []string{fmt.Sprintf("10.0.0.%d", i+1)}, NodeName: &p.node,
			Conditions: discoveryv1.EndpointConditions{Ready: is(0), Serving: is(2), Terminating: is(4)},
		}
		if p.hint != "" {
			e.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: p.hint}}}
		}
		s.Endpoints = append(s.Endpoints, e)
	}
	return s
}

// world is one state of a cluster as a node sees it. Without a Service it has none.
type world struct {
	svc  *corev1.Service
	pods []pod
	zone string
	also []*corev1.Service
}

func (w *world) plan() *plan.Plan {
	node := &plan.Node{Name: "here", Zone: w.zone, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
	cache := endpoints.NewCache(node.Options)
	for _, svc := range w.also {
		cache.SetService(svc)
	}
	if w.svc != nil {
		cache.SetService(w.svc)
		cache.SetSlice(slice(w.pods))
	}
	return plan.Build(cache.Snapshot(), node)
}

// lines writes Changes down, a line for each decision.
func lines(changes []Change) []string {
	var out []string
	for _, c := range changes {
		for _, e := range c.Endpoints {
			out = append(out, fmt.Sprintf("%s %s %s: %s -> %s", e.Port, e.Addr, e.List, Code(e.Was), Code(e.Is)))
		}
		for _, r := range c.Routes {
			line := fmt.Sprintf("%s %s from %s: %s -> %s (%s)", r.Port, r.Key, r.Source, r.Was, r.Is, r.Why)
			if r.Fresh {
				line += " fresh"
			}
			if r.Gone {
				line += " gone"
			}
			out = append(out, line)
		}
		for _, h := range c.Health {
			out = append(out, fmt.Sprintf("%s %s health: %d with %d -> %d with %d", c.Service, h.Family, h.Was.Port, h.Was.LocalEndpoints, h.Is.Port, h.Is.LocalEndpoints))
		}
	}
	return out
}

const (
	up       = "T/T/F"
	starting = "F/F/F"
	lame     = "F/T/T"
	failing  = "F/F/T"
)

func TestWhatANodeDecidesDifferently(t *testing.T) {
	t.Parallel()
	clusterOnly := func(s *corev1.Service) {
		s.Spec.Type, s.Spec.ExternalTrafficPolicy, s.Spec.HealthCheckNodePort = corev1.ServiceTypeClusterIP, "", 0
		s.Spec.Ports[0].NodePort = 0
	}
	second := object(func(s *corev1.Service) {
		s.Name = "zoo"
		clusterOnly(s)
	})
	for _, c := range []struct {
		name          string
		before, after *world
		want          []string
	}{
		{
			"the first state of a Service is all news",
			nil, &world{svc: object(nil), pods: []pod{{up, "here", ""}, {up, "there", ""}}},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: absent -> ready", "shop/web 10.0.0.1:8080 Local: absent -> ready",
				"shop/web 10.0.0.2:8080 Cluster: absent -> ready", "shop/web 10.0.0.2:8080 Local: absent -> remote",
				"shop/web IPv4 health: 0 with 0 -> 31000 with 1",
			},
		},
		{"nothing has changed", &world{svc: object(nil), pods: []pod{{up, "here", ""}}}, &world{svc: object(nil), pods: []pod{{up, "here", ""}}}, nil},
		{
			"KEP-1669: the last local pod is told to stop and serves on, the health port fails at once",
			&world{svc: object(nil), pods: []pod{{up, "here", ""}, {up, "there", ""}}},
			&world{svc: object(nil), pods: []pod{{lame, "here", ""}, {up, "there", ""}}},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: ready -> ready-preferred", "shop/web 10.0.0.1:8080 Local: ready -> terminating-fallback",
				"shop/web IPv4 health: 31000 with 1 -> 31000 with 0",
			},
		},
		{
			"with it gone, what comes from outside is dropped here",
			&world{svc: object(nil), pods: []pod{{lame, "here", ""}, {up, "there", ""}}},
			&world{svc: object(nil), pods: []pod{{failing, "here", ""}, {up, "there", ""}}},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: ready-preferred -> terminating-not-serving",
				"shop/web 10.0.0.1:8080 Local: terminating-fallback -> terminating-not-serving",
				"shop/web 0.0.0.0:30080/TCP from outside: forward -> drop (no-local-endpoints)",
			},
		},
		{
			"a pod that becomes ready elsewhere, and none here: no list of ours hears of the remote one's conditions but Cluster",
			&world{svc: object(clusterOnly), pods: []pod{{starting, "there", ""}}},
			&world{svc: object(clusterOnly), pods: []pod{{up, "there", ""}}},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: not-ready -> ready",
				"shop/web 10.96.0.1:80/TCP from node: reject -> forward (policy)", "shop/web 10.96.0.1:80/TCP from outside: reject -> forward (policy)",
			},
		},
		{
			"a new Service without endpoints",
			&world{}, &world{svc: object(clusterOnly)},
			[]string{
				"shop/web 10.96.0.1:80/TCP from node: forward -> reject (no-endpoints) fresh",
				"shop/web 10.96.0.1:80/TCP from outside: forward -> reject (no-endpoints) fresh",
			},
		},
		{
			"decisions that change where no rule does",
			&world{svc: object(clusterOnly), pods: []pod{{up, "there", ""}, {starting, "there", ""}}},
			&world{svc: object(clusterOnly), pods: []pod{{up, "there", ""}, {failing, "there", ""}}},
			[]string{"shop/web 10.0.0.2:8080 Cluster: not-ready -> terminating-not-serving"},
		},
		{
			"another zone of the node",
			&world{zone: "a", svc: object(clusterOnly), pods: []pod{{up, "there", "a"}, {up, "there", "b"}}},
			&world{zone: "b", svc: object(clusterOnly), pods: []pod{{up, "there", "a"}, {up, "there", "b"}}},
			[]string{"shop/web 10.0.0.1:8080 Cluster: ready -> other-zone", "shop/web 10.0.0.2:8080 Cluster: other-zone -> ready"},
		},
		{
			"a Service that is gone: a frontend that was refused is none any more",
			&world{svc: object(clusterOnly), pods: []pod{{starting, "there", ""}}}, &world{},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: not-ready -> absent",
				"shop/web 10.96.0.1:80/TCP from node: reject -> forward (policy) gone", "shop/web 10.96.0.1:80/TCP from outside: reject -> forward (policy) gone",
			},
		},
		{
			"the address of a Service that is gone falls to another one, which has no endpoints",
			&world{svc: object(clusterOnly), pods: []pod{{up, "there", ""}}, also: []*corev1.Service{second}},
			&world{also: []*corev1.Service{second}},
			[]string{
				"shop/web 10.0.0.1:8080 Cluster: ready -> absent",
				"shop/zoo 10.96.0.1:80/TCP from node: forward -> reject (no-endpoints)", "shop/zoo 10.96.0.1:80/TCP from outside: forward -> reject (no-endpoints)",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var before *plan.Plan
			if c.before != nil {
				before = c.before.plan()
			}
			after := c.after.plan()
			got := lines(Diff(before, after, Names(before, after)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A relist, or rules that were written again, may change nothing: then nothing is compared.
func TestOnlyServicesThatChangedAreLookedAt(t *testing.T) {
	t.Parallel()
	node := &plan.Node{Name: "here", Options: endpoints.CurrentOptions()}
	cache := endpoints.NewCache(node.Options)
	for _, name := range []string{"a", "b", "c"} {
		cache.SetService(object(func(s *corev1.Service) { s.Name = name }))
	}
	first := plan.Build(cache.Snapshot(), node)
	if names := Names(nil, first); len(names) != 3 {
		t.Errorf("of a first Plan: %v", names)
	}
	cache.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "a"})
	cache.SetService(object(func(s *corev1.Service) { s.Name, s.Spec.ClusterIPs = "c", []string{"10.96.0.9"} }))
	second := plan.Build(cache.Snapshot(), node)
	want := []endpoints.ServiceName{{Namespace: "shop", Name: "a"}, {Namespace: "shop", Name: "c"}}
	if names := Names(first, second); !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	other := *node
	if names := Names(second, plan.Build(cache.Snapshot(), &other)); len(names) != 2 {
		t.Errorf("of another node: %v", names)
	}
}

func TestASummaryCounts(t *testing.T) {
	t.Parallel()
	w := world{svc: object(nil), pods: []pod{{lame, "here", ""}, {up, "there", ""}}, also: []*corev1.Service{
		object(func(s *corev1.Service) {
			s.Name, s.Spec.ClusterIP, s.Spec.ClusterIPs = "none", "10.96.0.2", []string{"10.96.0.2"}
			s.Spec.HealthCheckNodePort, s.Spec.Ports[0].NodePort = 31001, 30081
		}),
	}}
	want := Summary{Services: 2, Ports: 2, Endpoints: 2, Fallbacks: 1, Rejecting: 2, HealthCheckNodePorts: 2}
	if diff := cmp.Diff(want, Summarize(w.plan())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.pods[0].conditions = failing
	want.Fallbacks, want.Dropping = 0, 1
	if diff := cmp.Diff(want, Summarize(w.plan())); diff != "" {
		t.Errorf("without one that serves here (-want +got):\n%s", diff)
	}
}

func TestEveryReasonHasItsSentence(t *testing.T) {
	t.Parallel()
	for _, r := range endpoints.Reasons() {
		e := Endpoint{List: endpoints.LocalList, Is: r}
		if e.Sentence() != r.Sentence(endpoints.LocalList) || Code(r) != r.String() {
			t.Errorf("%s: %q", Code(r), e.Sentence())
		}
	}
	if e := (Endpoint{}); Code(e.Is) != Absent || !strings.Contains(e.Sentence(), "no EndpointSlice") {
		t.Errorf("absent: %q %q", Code(e.Is), e.Sentence())
	}
}
