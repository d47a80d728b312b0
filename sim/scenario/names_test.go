package scenario

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// A port that an Ingress names by a word is the one of that name, whatever its number; a number counts where there is no word.
func TestThePortThatAnIngressNames(t *testing.T) {
	t.Parallel()
	p := &corev1.ServicePort{Name: "http", Port: 80}
	for _, c := range []struct {
		name   string
		number int32
		want   bool
	}{{"http", 0, true}, {"https", 0, false}, {"https", 80, false}, {"", 80, true}, {"", 8080, false}, {"", 0, false}} {
		if got := namesPort(c.name, c.number, p); got != c.want {
			t.Errorf("%q, %d: %v, want %v", c.name, c.number, got, c.want)
		}
	}
	if namesPort("", 0, &corev1.ServicePort{Port: 80}) {
		t.Error("nothing names a port without a name")
	}
}

// A route leads to a Service of its own namespace unless it names another, and to each port unless it names one.
func TestTheServiceThatARouteNames(t *testing.T) {
	t.Parallel()
	s := &subject{service: manifest.Typed[*corev1.Service]{Object: &manifest.Object{Name: "web", Namespace: "shop"}}, port: &corev1.ServicePort{Port: 80}}
	for _, c := range []struct {
		namespace string
		ref       map[string]any
		want      bool
	}{
		{"shop", map[string]any{"name": "web", "port": int64(80)}, true}, {"shop", map[string]any{"name": "web"}, true},
		{"shop", map[string]any{"name": "web", "port": int64(81)}, false}, {"shop", map[string]any{"name": "api", "port": int64(80)}, false},
		{"infra", map[string]any{"name": "web", "port": int64(80)}, false},
		{"infra", map[string]any{"name": "web", "port": int64(80), "namespace": "shop"}, true},
		{"shop", map[string]any{"name": "web", "port": int64(80), "namespace": "infra"}, false},
	} {
		route := &manifest.Object{Namespace: c.namespace, Value: map[string]any{"spec": map[string]any{"rules": []any{map[string]any{"backendRefs": []any{c.ref}}}}}}
		refs, _ := refsOf(route, s)
		if got := len(refs) > 0; got != c.want {
			t.Errorf("a route of %s to %v: %v, want %v", c.namespace, c.ref, got, c.want)
		}
	}
}

// A port of a Scenario's traffic is one of TCP where several have its number and no protocol is given.
func TestThePortThatTrafficNames(t *testing.T) {
	t.Parallel()
	s := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}, {Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP}, {Name: "quic", Port: 443, Protocol: corev1.ProtocolUDP},
	}}}
	for _, c := range []struct {
		port, protocol string
		want           int
	}{{"53", "", 1}, {"53", "UDP", 0}, {"53", "TCP", 1}, {"dns", "", 0}, {"dns-tcp", "", 1}, {"443", "", 2}, {"80", "", -1}, {"", "", -1}} {
		if got := portIndex(s, c.port, c.protocol); got != c.want {
			t.Errorf("port %q, protocol %q: %d, want %d", c.port, c.protocol, got, c.want)
		}
	}
}

// What a Service selects of another maker's kind is known by the labels of its pods, wherever its template stands.
func TestTheTemplateOfARawWorkload(t *testing.T) {
	t.Parallel()
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}}
	spec := map[string]any{"template": template}
	for kind, value := range map[string]map[string]any{
		"Rollout": {"spec": spec}, "Job": {"spec": spec}, "Service": {"spec": spec}, "CronJob": {"spec": map[string]any{"jobTemplate": map[string]any{"spec": spec}}},
	} {
		got := templateOf(&manifest.Object{Kind: kind, Value: value})
		if got == nil || got.Labels["app"] != "web" {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if got := templateOf(&manifest.Object{Kind: "Certificate", Value: map[string]any{"spec": spec}}); got != nil {
		t.Errorf("a kind that has no pods: %v", got)
	}
}

// Nobody waits for a connection over UDP, nor uses one again; a resolver has a patience of its own.
func TestAssumptionsOfClientsOverUDP(t *testing.T) {
	t.Parallel()
	const dns = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: dns}, spec: {replicas: 2, selector: {matchLabels: {app: dns}}, template: {
  metadata: {labels: {app: dns}}, spec: {containers: [{name: dns, image: example.com/dns, ports: [{containerPort: 53, protocol: UDP}]}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: dns}, spec: {selector: {app: dns}, ports: [{port: 53, protocol: UDP}]}}
`
	objects, _ := manifest.Load([]manifest.File{{Name: "dns.yaml", Data: []byte(dns)}}, manifest.Options{})
	cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
	if len(cases) != 1 || manifest.HasErrors(problems) {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	var ids []string
	for _, a := range cases[0].Scenario.Assumptions {
		ids = append(ids, a.ID)
	}
	for id, want := range map[string]bool{"timeout": false, "connect-timeout": false, "keepalive-repeat": false, "syn-repeats": false, "dead-address": false} {
		if slices.Contains(ids, id) != want {
			t.Errorf("%s assumed: %v, want %v; %q", id, !want, want, ids)
		}
	}
}
