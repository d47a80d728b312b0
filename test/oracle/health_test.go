package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	upstream "k8s.io/kubernetes/pkg/proxy/healthcheck"
	proxyutil "k8s.io/kubernetes/pkg/proxy/util"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
)

// Upstream's handlers are reached through real sockets on the loopback interface: their
// types are not exported.

// portTries bounds how often a free port may be snatched away between being found and used.
const portTries = 20

// freePort returns a TCP port of 127.0.0.1 that nobody used a moment ago.
func freePort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return addr.Port()
}

// get returns a response as the text both sides are compared by, its date left out.
func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return "", err
	}
	return responseText(resp.StatusCode, resp.Header, body), nil
}

func responseText(status int, h http.Header, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", status)
	for _, name := range []string{"Content-Type", "X-Content-Type-Options", "X-Load-Balancing-Endpoint-Weight"} {
		fmt.Fprintf(&b, "%s: %q\n", name, h.Values(name))
	}
	return b.String() + "\n" + string(body)
}

type fixedHealth bool

func (h fixedHealth) Health() upstream.ProxyHealth { return upstream.ProxyHealth{Healthy: bool(h)} }

// TestOracleServiceHealth compares what a health-check node port answers.
func TestOracleServiceHealth(t *testing.T) {
	names := []types.NamespacedName{
		{Namespace: "default", Name: "web"}, {Namespace: "kube-system", Name: "a"}, {Namespace: "a-b-c", Name: strings.Repeat("x", 63)},
	}
	for _, healthy := range []bool{true, false} {
		for _, name := range names {
			server, port := serviceHealthServer(t, name, healthy)
			for _, count := range []int{0, 1, 2, 17, 100000, 0} {
				if err := server.SyncEndpoints(map[types.NamespacedName]int{name: count}); err != nil {
					t.Fatal(err)
				}
				theirs, err := get(fmt.Sprintf("http://127.0.0.1:%d/any/path", port))
				if err != nil {
					t.Fatal(err)
				}
				a := healthcheck.ServiceAnswer(healthcheck.Service{
					Name: endpoints.ServiceName{Namespace: name.Namespace, Name: name.Name}, Port: port, LocalEndpoints: count,
				}, healthy, endpoints.CurrentOptions())
				if ours := responseText(a.Status, a.Header, a.Body); ours != theirs {
					t.Errorf("%s, %d endpoints, healthy %t: kube-proxy\n%s\nlameduck\n%s", name, count, healthy, theirs, ours)
				}
			}
			if err := server.SyncServices(nil); err != nil {
				t.Error(err)
			}
		}
	}
}

func serviceHealthServer(t *testing.T, name types.NamespacedName, healthy bool) (upstream.ServiceHealthServer, uint16) {
	t.Helper()
	local := proxyutil.NewNodePortAddresses(corev1.IPv4Protocol, []string{"127.0.0.0/8"})
	for range portTries {
		port := freePort(t)
		server := upstream.NewServiceHealthServer("node-1", nil, local, fixedHealth(healthy), corev1.IPv4Protocol)
		if err := server.SyncServices(map[types.NamespacedName]uint16{name: port}); err != nil {
			t.Fatal(err)
		}
		// A port that could not be opened is only logged upstream; ours or a stranger's
		// shows in the answer.
		if text, err := get(fmt.Sprintf("http://127.0.0.1:%d/", port)); err == nil && strings.Contains(text, name.Name) {
			return server, port
		}
		_ = server.SyncServices(nil)
	}
	t.Fatalf("no port found in %d tries", portTries)
	return nil, 0
}

// nodeObject is the Node that kube-proxy has last seen, nil before the first.
type nodeObject struct{ node *corev1.Node }

func (n *nodeObject) Node() *corev1.Node { return n.node }

// TestOracleProxyHealth compares /healthz and /livez. Upstream reads the real clock, so a
// state is made by the order of events and by a timeout that has always, or never, passed;
// lameduck is then asked with the times upstream printed.
func TestOracleProxyHealth(t *testing.T) {
	for _, timeout := range []time.Duration{time.Nanosecond, time.Hour} {
		node := &nodeObject{}
		hs, base := proxyHealthServer(t, timeout, node)
		queued := map[corev1.IPFamily]bool{}
		steps := []struct {
			queue, update corev1.IPFamily
		}{
			{}, {queue: corev1.IPv4Protocol}, {update: corev1.IPv4Protocol}, {queue: corev1.IPv4Protocol}, {queue: corev1.IPv6Protocol},
			{update: corev1.IPv6Protocol}, {queue: corev1.IPv6Protocol}, {update: corev1.IPv4Protocol}, {update: corev1.IPv6Protocol},
		}
		for i, step := range steps {
			if step.queue != "" {
				hs.QueuedUpdate(step.queue)
				queued[step.queue] = true
			}
			if step.update != "" {
				hs.Updated(step.update)
				delete(queued, step.update)
			}
			for what, object := range healthNodes() {
				node.node = object
				for _, path := range []string{"/healthz", "/livez"} {
					theirs, err := get(base + path)
					if err != nil {
						t.Fatal(err)
					}
					theirs, ours := askAgain(t, path, theirs, queued, object, timeout)
					if theirs != ours {
						t.Errorf("step %d, timeout %v, %s, %s: kube-proxy\n%s\nlameduck\n%s", i, timeout, what, path, theirs, ours)
					}
				}
			}
		}
	}
}

func healthNodes() map[string]*corev1.Node {
	taint := func(key string, effect corev1.TaintEffect) *corev1.Node {
		return &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: key, Effect: effect}}}}
	}
	return map[string]*corev1.Node{
		"node not known":      nil,
		"node":                {},
		"node being deleted":  {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr(metav1.Unix(1, 0))}},
		"node to be deleted":  taint(healthcheck.ToBeDeletedTaint, corev1.TaintEffectNoSchedule),
		"node, no effect":     taint(healthcheck.ToBeDeletedTaint, ""),
		"node cordoned":       {Spec: corev1.NodeSpec{Unschedulable: true}},
		"node not ready":      taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		"node, taint in case": taint(strings.ToLower(healthcheck.ToBeDeletedTaint), corev1.TaintEffectNoSchedule),
	}
}

// askAgain asks lameduck what kube-proxy was asked, at the moments in its answer. When all
// is well, kube-proxy reads the clock a second time for lastUpdated; lameduck has one now.
func askAgain(t *testing.T, path, theirs string, queued map[corev1.IPFamily]bool, node *corev1.Node, timeout time.Duration) (string, string) {
	t.Helper()
	_, body, _ := strings.Cut(theirs, "\n\n")
	var health upstream.ProxyHealth
	if err := json.Unmarshal([]byte(body), &health); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	var state healthcheck.ProxyState
	for _, f := range endpoints.Families() {
		family := corev1.IPFamily(f.String())
		if s, ok := health.Status[family]; ok {
			state = state.Updated(f, s.LastUpdated)
		}
		if queued[family] {
			state = state.Queued(f, health.CurrentTime.Add(-time.Second))
		}
	}
	var n healthcheck.NodeState
	if node != nil {
		n = healthcheck.NodeState{Known: true, Deleting: node.DeletionTimestamp != nil}
		for _, taint := range node.Spec.Taints {
			n.Taints = append(n.Taints, taint.Key)
		}
	}
	a := healthcheck.Livez(state, health.CurrentTime, timeout)
	if path == "/healthz" {
		a = healthcheck.Healthz(state, n, health.CurrentTime, timeout, endpoints.CurrentOptions())
	}
	if a.OK() {
		if health.LastUpdated.Before(health.CurrentTime) {
			t.Errorf("kube-proxy is well and was updated at %v, before %v", health.LastUpdated, health.CurrentTime)
		}
		theirs = strings.Replace(theirs, timeText(t, health.LastUpdated), timeText(t, health.CurrentTime), 1)
	}
	return theirs, responseText(a.Status, a.Header, a.Body)
}

func timeText(t *testing.T, at time.Time) string {
	t.Helper()
	text, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// proxyHealthServer starts upstream's server, which runs until the process ends: it offers
// no way to stop.
func proxyHealthServer(t *testing.T, timeout time.Duration, node *nodeObject) (*upstream.ProxyHealthServer, string) {
	t.Helper()
	for range portTries {
		addr := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		hs := upstream.NewProxyHealthServer(addr, timeout, node)
		failed := make(chan error, 1)
		go func() { failed <- hs.Run(context.Background()) }()
		for listening := false; !listening; {
			select {
			case err := <-failed:
				t.Logf("%v, taking another port", err)
				listening = true // by a stranger
			default:
				conn, err := net.Dial("tcp4", addr)
				if err != nil {
					runtime.Gosched()
					continue
				}
				_ = conn.Close()
				return hs, "http://" + addr
			}
		}
	}
	t.Fatalf("no port found in %d tries", portTries)
	return nil, ""
}
