package e2e

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
)

// TestEveryAddressOfAServiceLeadsToEveryPod has two pods on two nodes, and asks them by ClusterIP,
// node port and load-balancer address, in both families and over TCP and UDP, from pods, from
// nodes and from outside.
func TestEveryAddressOfAServiceLeadsToEveryPod(t *testing.T) {
	t.Parallel()
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := useCluster(t)
			const name = "web"
			namespace := c.namespace(t)
			c.deploy(t, namespace, name, 2, template(name, spread(mode, name)))
			s := c.service(t, namespace, name, corev1.ServiceTypeLoadBalancer)
			pods := c.podsOf(t, namespace, name, 2)
			for i, m := range c.nodes[mode] {
				inside := c.pod(t, namespace, "client", fmt.Sprintf("client-%d", i+1), m)
				allReach(t, c.waysInside(s, m, mode, "pod", inside.Dial), pods)
				allReach(t, c.waysInside(s, m, mode, "node", m.Dial), pods)
				seenAs(t, s, inside.Dial, inside.Addrs)
			}
			allReach(t, c.waysOutside(s, mode), pods)
		})
	}
}

// waysInside are to every address of a Service, from a place of the cluster.
func (c *cluster) waysInside(s *corev1.Service, m *member, mode, what string, dial client.Dial) []way {
	var out []way
	for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		for _, other := range c.nodes[mode] {
			for _, a := range slices.Concat(clusterIPs(s), loadBalancerIPs(s), nodePorts(s, other.Node, protocol)) {
				out = append(out, way{what + " of " + m.Name, protocol, dial, a})
			}
		}
	}
	return out
}

// waysOutside are those of clients that are no part of the cluster.
func (c *cluster) waysOutside(s *corev1.Service, mode string) []way {
	var out []way
	for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		for _, m := range c.nodes[mode] {
			for _, a := range nodePorts(s, m.Node, protocol) {
				out = append(out, way{"outside", protocol, c.outside.Dial, a})
			}
			for _, a := range loadBalancerIPs(s) {
				out = append(out, way{"outside by way of " + m.Name, protocol, client.Via(c.outside, m.Node), a})
			}
		}
	}
	return out
}

// seenAs checks that a pod is seen as itself by those it asks at a ClusterIP: no node stands in
// for it.
func seenAs(t *testing.T, s *corev1.Service, dial client.Dial, addrs []netip.Addr) {
	t.Helper()
	for i, to := range clusterIPs(s) {
		a, err := client.Get(t.Context(), dial, to)
		if err != nil {
			t.Error(err)
		}
		if a.Seen != addrs[i] {
			t.Errorf("%s to %s is seen as %s", addrs[i], to, a.Seen)
		}
	}
}
