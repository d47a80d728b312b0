package network

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if os.Getenv("LAMEDUCK_KERNEL") != "" || os.Getenv("LAMEDUCK_E2E") != "" {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// small is two nodes with a pod each, and a client.
type small struct {
	*Network
	nodes  []*Node
	pods   []*Pod
	client *Client
}

func newSmall(t *testing.T) *small {
	t.Helper()
	if os.Getenv("LAMEDUCK_KERNEL") == "" && os.Getenv("LAMEDUCK_E2E") == "" {
		t.Skip("needs network namespaces: LAMEDUCK_E2E=1, as make e2e does")
	}
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	s := &small{Network: n}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.client, err = n.Client("client"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node-1", "node-2"} {
		node, err := n.Node(name)
		if err != nil {
			t.Fatal(err)
		}
		pod, err := node.Pod("pod of " + name)
		if err != nil {
			t.Fatal(err)
		}
		s.nodes, s.pods = append(s.nodes, node), append(s.pods, pod)
		serve(t, pod.Place)
	}
	return s
}

// serve answers connections with whom they come from.
func serve(t *testing.T, p *Place) {
	t.Helper()
	l, err := p.Listen(t.Context(), ":80")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, c.RemoteAddr().String())
			_ = c.Close()
		}
	}()
}

func answer(t *testing.T, c net.Conn, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return netip.MustParseAddrPort(string(text)).Addr().Unmap().String()
}

func TestPodsReachPodsOfAnyNode(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	for _, from := range s.pods {
		for _, to := range s.pods {
			for i, a := range to.Addrs {
				c, err := from.Dial(t.Context(), "tcp", netip.AddrPortFrom(a, 80).String())
				if got := answer(t, c, err); got != from.Addrs[i].String() {
					t.Errorf("from %s to %s: seen as %s, want %s", from.Name, a, got, from.Addrs[i])
				}
			}
		}
	}
}

func TestALoadBalancersConnectionGoesByWayOfTheNodeItIsToldTo(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	for i, text := range []string{"203.0.113.7", "2001:db8:113::7"} {
		vip := netip.MustParseAddr(text)
		for _, node := range s.nodes {
			// The node itself has the address, in place of rules that lead on from there.
			if err := node.Do(func() error { return address("lo", single(vip)) }); err != nil {
				t.Fatal(err)
			}
			l, err := node.Listen(t.Context(), netip.AddrPortFrom(vip, 8080).String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for c, err := l.Accept(); err == nil; c, err = l.Accept() {
					_, _ = io.WriteString(c, node.Name)
					_ = c.Close()
				}
			}()
		}
		for _, node := range s.nodes {
			c, err := s.client.DialVia(t.Context(), node, "tcp", netip.AddrPortFrom(vip, 8080).String())
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || string(got) != node.Name {
				t.Errorf("%s by way of %s came to %q, %v", text, node.Name, got, err)
			}
			if a := c.LocalAddr().String(); !strings.Contains(a, s.client.Addrs[i].String()) {
				t.Errorf("from %s, want %s", a, s.client.Addrs[i])
			}
			_ = c.Close()
		}
		if c, err := s.client.Dial(t.Context(), "tcp", netip.AddrPortFrom(vip, 8080).String()); err == nil {
			_ = c.Close()
			t.Errorf("%s is reached by way of no node", text)
		}
	}
}

func TestAPodThatIsGoneIsNotReached(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	gone, addrs := s.pods[1], s.pods[1].Addrs
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // who answers does so at once
	defer cancel()
	for _, a := range addrs {
		if c, err := s.pods[0].Dial(ctx, "tcp", netip.AddrPortFrom(a, 80).String()); err == nil {
			_ = c.Close()
			t.Errorf("%s still answers", a)
		}
	}
	next, err := s.nodes[1].Pod("next")
	if err != nil {
		t.Fatal(err)
	}
	if next.Addrs[0] != addrs[0].Next() {
		t.Errorf("the next pod has %s, want the next address after %s, not that of a pod which is gone", next.Addrs[0], addrs[0])
	}
}
