package iptables

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// gallery is a cluster of one Service of each kind that has rules of its own.
func gallery(t *testing.T, node *plan.Node) *plan.Plan {
	t.Helper()
	c := endpoints.NewCache(node.Options)
	add := func(name, ip string, edit func(*corev1.Service), addrs ...string) {
		svc := backendtest.PacketService()
		svc.Name, svc.Spec.ClusterIP, svc.Spec.ClusterIPs = name, ip, []string{ip}
		svc.Spec.Type, svc.Spec.ExternalTrafficPolicy, svc.Spec.Ports[0].NodePort = corev1.ServiceTypeClusterIP, "", 0
		edit(svc)
		slice := backendtest.SliceOf(name, endpoints.IPv4, svc.Spec.Ports[0].Protocol)
		for i, a := range addrs {
			if a != "" { // the first runs on the node
				backendtest.AddEndpoint(slice, a, i+1, true)
			}
		}
		backendtest.SetService(t, c, svc, slice)
	}
	local := corev1.ServiceInternalTrafficPolicyLocal
	balanced := func(svc *corev1.Service) {
		svc.Spec.Type, svc.Spec.ExternalIPs = corev1.ServiceTypeLoadBalancer, []string{"198.51.100.1"}
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
		svc.Spec.Ports[0].NodePort = 30001
	}
	add("cluster-ip", "10.96.0.1", func(*corev1.Service) {}, "10.244.0.1", "10.244.1.1", "10.244.2.1")
	add("empty", "10.96.0.2", func(svc *corev1.Service) {
		svc.Spec.Ports[0].NodePort, svc.Spec.Type = 30002, corev1.ServiceTypeNodePort
	})
	add("exposed", "10.96.0.3", balanced, "10.244.0.3")
	add("firewalled", "10.96.0.4", func(svc *corev1.Service) {
		balanced(svc)
		svc.Spec.ExternalIPs, svc.Status.LoadBalancer.Ingress[0].IP, svc.Spec.Ports[0].NodePort = nil, "192.0.2.4", 30004
		svc.Spec.LoadBalancerSourceRanges = []string{"203.0.113.0/24", "192.168.0.0/16"}
	}, "10.244.0.4")
	add("local", "10.96.0.5", func(svc *corev1.Service) {
		balanced(svc)
		svc.Spec.ExternalIPs, svc.Status.LoadBalancer.Ingress[0].IP, svc.Spec.Ports[0].NodePort = nil, "192.0.2.5", 30005
		svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 32005
		svc.Spec.InternalTrafficPolicy = &local
	}, "10.244.0.5", "10.244.1.5")
	add("nothing-local", "10.96.0.6", func(svc *corev1.Service) {
		svc.Spec.InternalTrafficPolicy = &local
		svc.Spec.Type, svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeNodePort, corev1.ServiceExternalTrafficPolicyLocal
		svc.Spec.Ports[0].Protocol, svc.Spec.Ports[0].NodePort = corev1.ProtocolUDP, 30006
	}, "", "10.244.1.6")
	add("sticky", "10.96.0.7", func(svc *corev1.Service) {
		svc.Spec.SessionAffinity, svc.Spec.Ports[0].Protocol = corev1.ServiceAffinityClientIP, corev1.ProtocolSCTP
	}, "10.244.0.7", "10.244.1.7")
	return plan.Build(c.Snapshot(), node)
}

func TestDump(t *testing.T) {
	t.Parallel()
	localhost := testNode()
	localhost.LocalhostNodePorts = true
	for name, c := range map[string]struct {
		node *plan.Node
		opts Options
	}{
		"default":         {testNode(), Options{}},
		"endpoint-chains": {localhost, Options{EndpointChains: true, ChainPrefix: "ASIDE", MasqueradeMark: 0x8000, Families: []endpoints.IPFamily{endpoints.IPv4}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text bytes.Buffer
			if err := Dump(&text, gallery(t, c.node), c.opts); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("(- want, + got):\n%s", diff)
			}
		})
	}
}
