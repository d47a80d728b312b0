package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
)

// TestAProxyIsAskedToEndAndStartedAgain has SIGTERM leave rules in force and close the health
// ports, in both families, and the next proxy adopt what is there: no request and no connection
// is lost at either.
func TestAProxyIsAskedToEndAndStartedAgain(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			c := useCluster(t)
			namespace, m := c.namespace(t), c.nodes[mode][0]
			const name = "graceful"
			c.deploy(t, namespace, name, 1, template(name, on(m.Name)))
			s := c.service(t, namespace, name, corev1.ServiceTypeLoadBalancer, func(s *corev1.ServiceSpec) {
				s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
			})
			inside := c.pod(t, namespace, "client", "client", m)
			var targets []client.Target
			var kept []net.Conn
			for i := range families() {
				for _, w := range []way{
					{"pod", corev1.ProtocolTCP, inside.Dial, clusterIPs(s)[i]},
					{"outside", corev1.ProtocolTCP, c.outside.Dial, nodePorts(s, m.Node, corev1.ProtocolTCP)[i]},
					{"outside by way of " + m.Name, corev1.ProtocolTCP, client.Via(c.outside, m.Node), loadBalancerIPs(s)[i]},
				} {
					allReach(t, []way{w}, c.podsOf(t, namespace, name, 1))
					targets = append(targets, client.Target{Name: w.name + " to " + w.to.String(), Dial: w.dial, To: w.to})
					kept = append(kept, connect(t, w))
				}
			}
			c.forgetUntaken(t)
			load := client.Start(t.Context(), 2*time.Millisecond, targets...)
			some := func() {
				until(t, "a hundred more requests were made", moreThan(load, load.Count()+100))
			}
			for _, a := range m.Addrs {
				healthAt(t, m, a, uint16(s.Spec.HealthCheckNodePort), true) // a port
			}
			some()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := m.proxy.Stop(ctx); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if !m.proxy.Running() { // the test has ended early
					_ = m.proxy.Start(context.WithoutCancel(ctx))
				}
			})
			for _, a := range m.Addrs {
				healthAt(t, m, a, uint16(s.Spec.HealthCheckNodePort), false) // a port
				healthAt(t, m, a, node.HealthzPort, false)
			}
			some()
			if err := m.proxy.Start(ctx); err != nil {
				t.Fatal(err)
			}
			some()
			for _, a := range m.Addrs {
				healthAt(t, m, a, uint16(s.Spec.HealthCheckNodePort), true) // a port
				healthAt(t, m, a, node.HealthzPort, true)
			}
			for _, k := range kept {
				stillThere(t, k)
			}
			r := load.Stop()
			t.Log(r)
			if n := len(r.Failures()); n > 0 {
				t.Errorf("%d requests failed", n)
			}
		})
	}
}

func moreThan(l *client.Load, n int) func(context.Context) error {
	return func(context.Context) error {
		if have := l.Count(); have < n {
			return fmt.Errorf("%d were", have)
		}
		return nil
	}
}

// connect makes a connection that is kept.
func connect(t *testing.T, w way) net.Conn {
	t.Helper()
	k, err := w.dial(t.Context(), "tcp", w.to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// stillThere sends a request on a connection.
func stillThere(t *testing.T, k net.Conn) {
	t.Helper()
	err := k.SetDeadline(time.Now().Add(client.Limit))
	if err == nil {
		_, err = io.WriteString(k, "GET / HTTP/1.1\r\nHost: kept\r\n\r\n")
	}
	if err != nil {
		t.Error(err)
		return
	}
	response, err := http.ReadResponse(bufio.NewReader(k), nil)
	if err != nil {
		t.Errorf("on the connection to %s: %v", k.RemoteAddr(), err)
		return
	}
	_ = response.Body.Close() // nobody reads it
}

// healthAt waits until a health port of a node is open and says that all is well, or is closed.
func healthAt(t *testing.T, m *member, a netip.Addr, port uint16, open bool) {
	t.Helper()
	url := fmt.Sprintf("http://%s/", netip.AddrPortFrom(a, port))
	if port == node.HealthzPort {
		url += "healthz"
	}
	until(t, url+" is as it should be", func(ctx context.Context) error {
		code, body, err := m.proxy.Get(ctx, url)
		switch closed := errors.Is(err, syscall.ECONNREFUSED); {
		case open && (err != nil || code != http.StatusOK):
			return fmt.Errorf("status %d, %s, error %w", code, body, err)
		case !open && !closed:
			return fmt.Errorf("status %d, %s, error %w; want nobody to listen", code, body, err)
		}
		return nil
	})
}
