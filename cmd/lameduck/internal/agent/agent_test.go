package agent

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier/host"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/source/files"
)

const shop = `apiVersion: v1
kind: Service
metadata: {namespace: shop, name: web}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  healthCheckNodePort: 31005
  clusterIP: 10.96.0.1
  ports: [{port: 80, nodePort: 30080}]
`

// signalled is a context as signal.NotifyContext ends it: with a cause that is not context.Canceled, since Go 1.26.
func signalled(t *testing.T) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, func() { cancel(errors.New("terminated")) }
}

// The whole proxy but for the kernel: files in, health ports open, an end that closes them and leaves the rules alone.
func TestAProxyFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	node := thisNode()
	node.Addresses = []netip.Addr{loopback()}
	node.NodePortAddresses = []netip.Prefix{netip.PrefixFrom(loopback(), 32), netip.MustParsePrefix("fd00:9::/64")}
	r := &agentRig{t: t, backend: &rules{}, inForce: make(chan struct{}, 8), at: map[string]chan string{"health": make(chan string, 8)}}
	o := Options{
		Node: func(Known) (*plan.Node, error) { return node, nil }, Pace: pace.Policy{RetryInterval: time.Minute},
		Files: &files.Options{Paths: []string{dir}, Node: "node-1", Log: logr.Discard()},
		Log:   funcr.NewJSON(r.heed, funcr.Options{Verbosity: 2}),
	}
	p, err := newProxy(o, node, r.backend, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := signalled(t)
	done := make(chan error)
	go func() { done <- p.run(ctx, Known{}) }()
	<-r.inForce
	at := <-r.at["health"]
	if want := netip.AddrPortFrom(loopback(), 31005).String(); at != want {
		t.Errorf("the health-check node port is open at %s, want %s", at, want)
	}
	if status, body := r.get(at); status != 503 {
		t.Errorf("without an endpoint: %d %s", status, body)
	}
	r.backend.take()
	end()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	if got := r.backend.take(); got != "" {
		t.Errorf("the end touched the rules: %s", got)
	}
	// As with a kube-proxy that is killed: a load balancer finds nobody, and takes the node out.
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v, %v", conn, err)
	}
}

// Reference: KubeProxyConfiguration, bindAddressHardFail.
func TestAProxyThatFailsHardEndsWhereItsPortIsTaken(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, servers := range []ServerOptions{{Healthz: l.Addr().String()}, {Metrics: l.Addr().String()}} {
		servers.FailHard = true
		node := thisNode()
		o := Options{
			Node: func(Known) (*plan.Node, error) { return node, nil }, Servers: servers,
			Files: &files.Options{Paths: []string{t.TempDir()}, Node: "node-1", Log: logr.Discard()},
		}
		p, err := newProxy(o, node, &rules{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var listen *server.ListenError
		if err := p.run(t.Context(), Known{}); !errors.As(err, &listen) || listen.Address != l.Addr().String() {
			t.Errorf("%+v: ended with %v", servers, err)
		}
	}
}

func TestAnEndIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		takes time.Duration // after the end
		fails error
		want  string
		after time.Duration
	}{
		{"nothing is under way", 0, nil, "", 0},
		{"a sync is waited for", endGrace / 2, nil, "", endGrace / 2},
		{"what it says is passed on", time.Second, errors.New("no"), "no", time.Second},
		{"a tool that hangs is not", time.Hour, nil, "ended in the midst of a sync or a request that was not over after 10s; the next start writes all rules again", endGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, end := signalled(t)
				time.AfterFunc(time.Minute, end)
				began := time.Now()
				err := within(ctx, endGrace, func() error {
					<-ctx.Done()
					time.Sleep(c.takes)
					return c.fails
				})
				got := ""
				if err != nil {
					got = err.Error()
				}
				if after := time.Since(began) - time.Minute; got != c.want || after != c.after {
					t.Errorf("%q after %v, want %q after %v", got, after, c.want, c.after)
				}
				time.Sleep(c.takes) // the bubble waits for what was left behind
			})
		})
	}
	if err := within(t.Context(), endGrace, func() error { return errors.New("at once") }); err == nil || err.Error() != "at once" {
		t.Errorf("without an end: %v", err)
	}
}

// What is wrong with the node ends a proxy before it begins, with its error.
func TestANodeThatCannotBeEndsTheProxy(t *testing.T) {
	t.Parallel()
	wrong := errors.New("no such node")
	var known Known
	err := Run(t.Context(), Options{Node: func(k Known) (*plan.Node, error) { known = k; return nil, wrong }})
	if own, _ := host.Addresses(); !errors.Is(err, wrong) || !slices.Equal(known.Host, own) { // none in a network namespace of its own
		t.Errorf("%v, asked with %+v of %v", err, known, own)
	}
}
