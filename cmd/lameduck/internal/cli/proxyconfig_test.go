package cli

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What a KubeProxyConfiguration leaves out is kube-proxy's default. Reference: Kubernetes 1.36
// pkg/proxy/apis/config/v1alpha1/defaults.go, cmd/kube-proxy/app/server_linux.go;
// docs/model/kube-proxy.md 10.
func TestDefaultsOfAKubeProxyConfiguration(t *testing.T) {
	t.Parallel()
	const primary = "[192.168.0.11/32 fd00:9::11/128]"
	for _, c := range []struct {
		name, config, want string
	}{
		{"no configuration", "", "nftables, node ports on " + primary + ", localhost false"},
		{"an empty one", "mode: ''", "iptables, node ports on [], localhost true"},
		{"nftables", "mode: nftables", "nftables, node ports on " + primary + ", localhost false"},
		{"localhost turned off", "iptables: {localhostNodePorts: false}", "iptables, node ports on [], localhost false"},
		{"localhost turned on, where it never is", "mode: nftables\niptables: {localhostNodePorts: true}", "nftables, node ports on " + primary + ", localhost false"},
		{"primary", "nodePortAddresses: [primary]", "iptables, node ports on " + primary + ", localhost true"},
		{"another primary address", "mode: nftables\nbindAddress: 192.168.1.11", "nftables, node ports on [192.168.1.11/32 fd00:9::11/128], localhost false"},
		{"a range", "mode: nftables\nnodePortAddresses: [10.0.0.0/8]", "nftables, node ports on [10.0.0.0/8], localhost false"},
	} {
		objects := &manifest.Objects{}
		if c.config != "" {
			var problems []manifest.Problem
			text := "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n" + c.config + "\n"
			objects, problems = manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
			if len(problems) > 0 {
				t.Fatalf("%s: %v", c.name, problems)
			}
		}
		f := &nodeFlags{node: "node-1", ips: []string{"192.168.0.11", "192.168.1.11", "fd00:9::11"}}
		node, err := f.resolve(objects, endpoints.Profile{Version: endpoints.CurrentVersion(), Options: endpoints.CurrentOptions()}, Streams{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := fmt.Sprintf("%s, node ports on %v, localhost %v", node.Dialect, node.NodePortAddresses, node.LocalhostNodePorts)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
