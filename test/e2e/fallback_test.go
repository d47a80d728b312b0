package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
)

// The terminating-endpoint cases of KEP-1669 (test plan, "e2e tests"), by the names that they have
// in Kubernetes. In each a pod that is terminating answers as long as its grace period lasts. While
// another one is ready nobody uses it; once that is gone, everybody does.

const fallback = "should fallback to %sterminating endpoints when there are no ready endpoints with %s"

// two are the pods of a case: one that is to be terminating, one that stays ready for a while.
const (
	workload  = "web"
	leaving   = "web-leaving"
	remaining = "web-remaining"
)

// fallbackCase is one of them, in a mode.
type fallbackCase struct {
	name   string
	kind   corev1.ServiceType
	change func(*corev1.ServiceSpec)
	local  bool // the Service's pods are on the first node, and the second one has to drop
	ways   func(c *cluster, s *corev1.Service, inside []*network.Pod, m int, mode string) []way
}

func fallbackCases() []fallbackCase {
	return []fallbackCase{
		{fmt.Sprintf(fallback, "", "internalTrafficPolicy=Cluster"), corev1.ServiceTypeClusterIP, func(*corev1.ServiceSpec) {}, false, fromInside},
		{fmt.Sprintf(fallback, "local ", "internalTrafficPolicy=Local"), corev1.ServiceTypeClusterIP, internalLocal, true, fromInside},
		{fmt.Sprintf(fallback, "", "externalTrafficPolicy=Cluster"), corev1.ServiceTypeLoadBalancer, func(*corev1.ServiceSpec) {}, false, fromOutside},
		{fmt.Sprintf(fallback, "local ", "externalTrafficPolicy=Local"), corev1.ServiceTypeLoadBalancer, externalLocal, true, fromOutside},
	}
}

// fromInside are the ways to ClusterIPs from a pod of the m-th node, and from the node.
func fromInside(c *cluster, s *corev1.Service, inside []*network.Pod, m int, mode string) []way {
	var out []way
	for _, to := range clusterIPs(s) {
		out = append(out,
			way{"pod of " + c.nodes[mode][m].Name, corev1.ProtocolTCP, inside[m].Dial, to},
			way{c.nodes[mode][m].Name, corev1.ProtocolTCP, c.nodes[mode][m].Dial, to})
	}
	return out
}

// fromOutside are the ways to node ports and load-balancer addresses by the m-th node.
func fromOutside(c *cluster, s *corev1.Service, _ []*network.Pod, m int, mode string) []way {
	n := c.nodes[mode][m].Node
	var out []way
	for _, to := range nodePorts(s, n, corev1.ProtocolTCP) {
		out = append(out, way{"outside", corev1.ProtocolTCP, c.outside.Dial, to})
	}
	for _, to := range loadBalancerIPs(s) {
		out = append(out, way{"outside by way of " + n.Name, corev1.ProtocolTCP, client.Via(c.outside, n), to})
	}
	return out
}

func TestTerminatingEndpoints(t *testing.T) {
	t.Parallel()
	for _, mode := range modes() {
		for _, f := range fallbackCases() {
			t.Run(mode+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				f.run(t, mode)
			})
		}
		t.Run(mode+"/"+"health check node port: should fail when all local endpoints are terminating, which still answer", func(t *testing.T) {
			t.Parallel()
			healthCheckNodePort(t, mode)
		})
	}
}

func (f fallbackCase) run(t *testing.T, mode string) {
	t.Helper()
	c := useCluster(t)
	namespace := c.namespace(t)
	nodes := c.nodes[mode]
	other := nodes[1]
	if f.local {
		other = nodes[0]
	}
	c.pod(t, namespace, workload, leaving, nodes[0], env("ON_SIGTERM", "ignore"), grace(300))
	c.pod(t, namespace, workload, remaining, other)
	inside := []*network.Pod{c.pod(t, namespace, "client", "client-1", nodes[0]), c.pod(t, namespace, "client", "client-2", nodes[1])}
	s := c.service(t, namespace, workload, f.kind, f.change)
	ways, none := f.ways(c, s, inside, 0, mode), f.ways(c, s, inside, 1, mode)
	if !f.local {
		ways, none = append(ways, none...), nil
	}
	allReach(t, ways, []string{leaving, remaining})

	c.remove(t, namespace, leaving, false)
	for _, w := range ways {
		until(t, "a terminating endpoint is left alone while another is ready", func(ctx context.Context) error { return w.onlyReaches(ctx, remaining) })
	}
	c.remove(t, namespace, remaining, true)
	for _, w := range ways {
		until(t, "a terminating endpoint is used when none is ready", func(ctx context.Context) error { return w.onlyReaches(ctx, leaving) })
	}
	for _, w := range none {
		if err := w.drops(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// healthCheckNodePort: a load balancer is told to send nothing more to a node whose endpoints are
// all terminating, while what it still sends is answered (KEP-1669, "externalTrafficPolicy: Local").
func healthCheckNodePort(t *testing.T, mode string) {
	t.Helper()
	c := useCluster(t)
	namespace := c.namespace(t)
	nodes := c.nodes[mode]
	c.pod(t, namespace, workload, leaving, nodes[0], env("ON_SIGTERM", "ignore"), grace(300))
	s := c.service(t, namespace, workload, corev1.ServiceTypeLoadBalancer, externalLocal)
	ways := fromOutside(c, s, nil, 0, mode)
	c.answers(t, s, nodes[0], http.StatusOK, 1)
	c.answers(t, s, nodes[1], http.StatusServiceUnavailable, 0)
	allReach(t, ways, []string{leaving})

	c.remove(t, namespace, leaving, false)
	c.answers(t, s, nodes[0], http.StatusServiceUnavailable, 0)
	for _, w := range ways {
		if err := w.onlyReaches(t.Context(), leaving); err != nil {
			t.Errorf("after the health check failed: %v", err)
		}
	}
	c.pod(t, namespace, workload, remaining, nodes[0])
	c.answers(t, s, nodes[0], http.StatusOK, 1)
	for _, w := range ways {
		until(t, "the new endpoint is used", func(ctx context.Context) error { return w.onlyReaches(ctx, remaining) })
	}
}

// answers waits until the health check node port of a node, asked from outside at each of its
// addresses, says so.
func (c *cluster) answers(t *testing.T, s *corev1.Service, m *member, code, local int) {
	t.Helper()
	body := fmt.Sprintf(`"localEndpoints": %d,`, local)
	for _, a := range m.Addrs {
		url := "http://" + netip.AddrPortFrom(a, uint16(s.Spec.HealthCheckNodePort)).String() + "/healthz" // a port
		until(t, fmt.Sprintf("%s says %d", url, code), func(ctx context.Context) error {
			got, text, err := node.Get(ctx, c.outside.Place, url)
			if err != nil {
				return err
			}
			if got != code || !strings.Contains(text, body) {
				return fmt.Errorf("status %d, body %s", got, text)
			}
			return nil
		})
	}
}
