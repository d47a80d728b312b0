package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is what a Server answers from: a cluster, and the node's own state.
type world struct {
	cache *endpoints.Cache
	state atomic.Pointer[State]
}

func newWorld() *world {
	w := &world{cache: endpoints.NewCache(endpoints.CurrentOptions())}
	w.state.Store(&State{Node: healthcheck.NodeState{Known: true}})
	return w
}

// sync publishes the Table of all Services.
func (w *world) sync() *healthcheck.Table {
	st := *w.state.Load()
	st.Table = healthcheck.NewTable(w.cache.Snapshot(), "node-a")
	w.state.Store(&st)
	return st.Table
}

func (w *world) options() Options {
	return Options{
		State: func() State { return *w.state.Load() }, Behaviour: endpoints.CurrentOptions(), Now: func() time.Time { return start },
	}
}

// service is a dual-stack Service with a health-check node port.
func (w *world) service(name string, port int32) {
	w.cache.SetService(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: port,
			ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1", "fd10::1"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
			Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80}},
		},
	})
}

func (w *world) delete(name string) {
	w.cache.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: name})
}

// endpoint has the one endpoint of Service web, of IPv4 and on the node, be ready or not.
func (w *world) endpoint(ready bool) {
	port, portName, node := int32(8080), "", "node-a"
	w.cache.SetSlice(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, NodeName: &node, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
	})
}

func addrs(text ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range text {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// Reference: docs/model/kube-proxy.md 5.2; Kubernetes 1.36 pkg/proxy/healthcheck/proxy_health.go.
func TestTheProxysOwnPort(t *testing.T) {
	t.Parallel()
	const v4 = endpoints.IPv4
	healthy := healthcheck.ProxyState{}.Updated(v4, start.Add(-time.Hour))
	late := healthy.Queued(v4, start.Add(-healthcheck.Timeout))
	known, leaving := healthcheck.NodeState{Known: true}, healthcheck.NodeState{Known: true, Deleting: true}
	tests := map[string]struct {
		method, path string
		state        State
		status       int
		counted      string
	}{
		"healthz of a healthy proxy":            {"GET", "/healthz", State{Proxy: healthy, Node: known}, 200, "/healthz 200"},
		"healthz of one that is late":           {"GET", "/healthz", State{Proxy: late, Node: known}, 503, "/healthz 503"},
		"healthz of a node that leaves":         {"GET", "/healthz", State{Proxy: healthy, Node: leaving}, 503, "/healthz 503"},
		"healthz of a node nobody knows":        {"GET", "/healthz", State{}, 503, "/healthz 503"},
		"livez of a healthy proxy":              {"GET", "/livez", State{Proxy: healthy}, 200, "/livez 200"},
		"livez of one that is late":             {"GET", "/livez", State{Proxy: late, Node: known}, 503, "/livez 503"},
		"livez does not mind the node":          {"GET", "/livez", State{Proxy: healthy, Node: leaving}, 200, "/livez 200"},
		"the method does not matter":            {"POST", "/livez", State{Proxy: healthy}, 200, "/livez 200"},
		"nor does what stands behind the path":  {"GET", "/healthz?verbose", State{Proxy: healthy, Node: known}, 200, "/healthz 200"},
		"another path is not found":             {"GET", "/", State{Proxy: healthy, Node: known}, 404, ""},
		"nor is one that begins like it":        {"GET", "/healthz/ping", State{Proxy: healthy, Node: known}, 404, ""},
		"readyz is not kube-proxy's":            {"GET", "/readyz", State{Proxy: healthy, Node: known}, 404, ""},
		"a path that leads there is redirected": {"GET", "//healthz", State{Proxy: healthy, Node: known}, 307, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, counted := newWorld(), ""
			w.state.Store(&tt.state)
			o := w.options()
			o.Answered = func(path string, status int) { counted = fmt.Sprint(path, " ", status) }
			rec := httptest.NewRecorder()
			New(o).own().ServeHTTP(rec, httptest.NewRequest(tt.method, tt.path, http.NoBody))
			if rec.Code != tt.status || counted != tt.counted {
				t.Errorf("status %d, counted %q; want %d, %q", rec.Code, counted, tt.status, tt.counted)
			}
			if tt.counted == "" {
				return
			}
			want := healthcheck.Livez(tt.state.Proxy, start, healthcheck.Timeout)
			if strings.HasPrefix(tt.path, "/healthz") {
				want = healthcheck.Healthz(tt.state.Proxy, tt.state.Node, start, healthcheck.Timeout, endpoints.CurrentOptions())
			}
			if diff := cmp.Diff(want, healthcheck.Answer{Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// network opens real sockets, at ports that are free, and remembers which were asked for.
type network struct {
	mu   sync.Mutex
	open map[string]net.Addr // by what was asked for
	news chan string         // what came and went
}

func newNetwork() *network { return &network{open: map[string]net.Addr{}, news: make(chan string, 64)} }

// listen takes any free port of the loopback address.
func (n *network) listen(ctx context.Context, netw, address string) (net.Listener, error) {
	at := "127.0.0.1:0"
	if netw == "tcp6" {
		at = "[::1]:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, netw, at)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.open[netw+" "+address] = l.Addr()
	n.mu.Unlock()
	n.news <- "open " + netw + " " + address
	return &heard{Listener: l, close: sync.OnceFunc(func() { n.news <- "close " + netw + " " + address })}, nil
}

func (n *network) at(asked string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open[asked].String()
}

// wait waits for as many pieces of news as are wanted, in any order.
func (n *network) wait(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, <-n.news)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("sockets (-want +got):\n%s", diff)
	}
}

// heard says when it is closed.
type heard struct {
	net.Listener
	close func()
}

func (h *heard) Close() error {
	err := h.Listener.Close()
	h.close()
	return err
}

func haveIPv6(t *testing.T) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// run has a Server run until the test is over.
func run(t *testing.T, o Options) *Server {
	t.Helper()
	s := New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// Reference: docs/model/kube-proxy.md 5.1; Kubernetes 1.36 pkg/proxy/healthcheck/service_health.go.
func TestPortsOpenAndCloseWithTheirServices(t *testing.T) {
	t.Parallel()
	haveIPv6(t)
	w, n := newWorld(), newNetwork()
	o := w.options()
	o.Listen, o.Trouble = n.listen, func(p Trouble) { t.Errorf("%+v", p) }
	s := run(t, o)
	all := addrs("0.0.0.0", "::")
	wants := func(asked string, want healthcheck.Answer) {
		t.Helper()
		status, header, body := get(t, "http://"+n.at(asked)+"/any/path")
		header.Del("Date")
		header.Del("Content-Length")
		header.Del("Connection") // the client's wish
		if diff := cmp.Diff(want, healthcheck.Answer{Status: status, Header: header, Body: []byte(body)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", asked, diff)
		}
	}
	web := func(port uint16, local int) healthcheck.Service {
		return healthcheck.Service{Name: endpoints.ServiceName{Namespace: "shop", Name: "web"}, Port: port, LocalEndpoints: local}
	}
	says := func(svc healthcheck.Service, healthy bool) healthcheck.Answer {
		return healthcheck.ServiceAnswer(svc, healthy, endpoints.CurrentOptions())
	}

	w.service("web", 31000)
	w.endpoint(true)
	s.Follow(w.sync(), all)
	n.wait(t, "open tcp4 0.0.0.0:31000", "open tcp6 [::]:31000")
	wants("tcp4 0.0.0.0:31000", says(web(31000, 1), true))
	wants("tcp6 [::]:31000", says(web(31000, 0), true)) // the endpoint is of IPv4

	w.endpoint(false) // and the answer follows, with the Table and without a socket's doing
	s.Follow(w.sync(), all)
	wants("tcp4 0.0.0.0:31000", says(web(31000, 0), true))
	w.endpoint(true)
	w.sync()
	st := *w.state.Load()
	st.Proxy = healthcheck.ProxyState{}.Updated(endpoints.IPv4, start).Queued(endpoints.IPv4, start.Add(-healthcheck.Timeout))
	w.state.Store(&st)
	wants("tcp4 0.0.0.0:31000", says(web(31000, 1), false))

	w.service("web", 31001) // another port
	s.Follow(w.sync(), all)
	n.wait(t, "close tcp4 0.0.0.0:31000", "close tcp6 [::]:31000", "open tcp4 0.0.0.0:31001", "open tcp6 [::]:31001")
	wants("tcp4 0.0.0.0:31001", says(web(31001, 1), false))

	s.Follow(w.sync(), addrs("192.0.2.1", "192.0.2.2")) // only some addresses, none of IPv6
	n.wait(t, "close tcp4 0.0.0.0:31001", "close tcp6 [::]:31001", "open tcp4 192.0.2.1:31001", "open tcp4 192.0.2.2:31001")
	s.Follow(w.sync(), addrs("192.0.2.2"))
	n.wait(t, "close tcp4 192.0.2.1:31001")
	wants("tcp4 192.0.2.2:31001", says(web(31001, 1), false))

	w.delete("web") // another Service gets the port at once: the socket stays
	w.service("api", 31001)
	s.Follow(w.sync(), addrs("192.0.2.2"))
	api := web(31001, 0)
	api.Name.Name = "api"
	wants("tcp4 192.0.2.2:31001", says(api, false))
	w.delete("api")
	s.Follow(w.sync(), addrs("192.0.2.2"))
	n.wait(t, "close tcp4 192.0.2.2:31001")
	if len(n.news) != 0 {
		t.Errorf("and %s", <-n.news)
	}
}

func TestTheProxysOwnPortOnARealSocket(t *testing.T) {
	t.Parallel()
	w := newWorld()
	at := make(chan string, 1)
	o := w.options()
	o.Address, o.Listening, o.Trouble = "127.0.0.1:0", func(a net.Addr) { at <- a.String() }, func(p Trouble) { t.Errorf("%+v", p) }
	run(t, o)
	status, header, body := get(t, "http://"+<-at+"/healthz")
	want := healthcheck.Healthz(healthcheck.ProxyState{}, healthcheck.NodeState{Known: true}, start, healthcheck.Timeout, o.Behaviour)
	if status != 200 || header.Get("Content-Type") != "application/json" || body != string(want.Body) {
		t.Errorf("%d %v %s", status, header, body)
	}
}

// The library's own listeners take the port of both families for an address of all.
func TestFamiliesDoNotTakeEachOthersPort(t *testing.T) {
	t.Parallel()
	haveIPv6(t)
	w := newWorld()
	w.service("web", 31000)
	opened := make(chan net.Addr, 2)
	o := w.options()
	o.Listening, o.Trouble = func(a net.Addr) { opened <- a }, func(p Trouble) { t.Errorf("%+v", p) }
	var mu sync.Mutex
	port := "0" // the first socket's is any that is free, the second has to get the same
	o.Listen = func(ctx context.Context, netw, address string) (net.Listener, error) {
		mu.Lock()
		defer mu.Unlock()
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, netw, net.JoinHostPort(host, port))
		if err == nil {
			_, port, err = net.SplitHostPort(l.Addr().String())
		}
		return l, err
	}
	s := run(t, o)
	s.Follow(w.sync(), addrs("0.0.0.0", "::"))
	<-opened
	<-opened
}

// bubble opens sockets without a network. As in a kernel, an address of all is in the way of all addresses.
type bubble struct {
	mu       sync.Mutex
	taken    string // what somebody else has
	lanes    map[string]*lane
	troubles []string // what was reported
}

func newBubble(taken string) *bubble { return &bubble{taken: taken, lanes: map[string]*lane{}} }

// free has somebody else let go of an address.
func (b *bubble) free() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = ""
}

// lane returns the socket of an address when everybody waits, nil if there was none.
func (b *bubble) lane(address string) *lane {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lanes[address]
}

// reported returns what was when everybody waits.
func (b *bubble) reported() []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.troubles)
}

func (b *bubble) listen(_ context.Context, _, address string) (net.Listener, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken == address {
		return nil, errors.New("address already in use")
	}
	for other, l := range b.lanes { // order: any will do
		select {
		case <-l.gone:
			continue
		default:
		}
		all := strings.HasPrefix(other, "0.0.0.0:") || strings.HasPrefix(address, "0.0.0.0:")
		if all && other[strings.LastIndex(other, ":"):] == address[strings.LastIndex(address, ":"):] {
			return nil, fmt.Errorf("address already in use: %s is open", other)
		}
	}
	b.lanes[address] = newLane()
	return b.lanes[address], nil
}

// inBubble runs a Server on a bubble's sockets.
func inBubble(t *testing.T, w *world, b *bubble, test func(s *Server)) {
	t.Helper()
	began := time.Now()
	o := w.options()
	o.Listen = b.listen
	o.Trouble = func(p Trouble) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.troubles = append(b.troubles, fmt.Sprintf("%v %s %s %v", time.Since(began), p.Service, p.Address, p.Err))
	}
	s := New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	test(s)
	cancel()
	<-done
}

// Reference: KubeProxyConfiguration, bindAddressHardFail; Kubernetes 1.36 cmd/kube-proxy/app/server.go, serveHealthz, and
// pkg/proxy/healthcheck/service_health.go, which knows nothing of it.
func TestOnlyTheProxysOwnPortFailsHard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(), newBubble("192.0.2.1:31000")
		w.service("web", 31000)
		o := w.options()
		o.Listen, o.FailHard, o.Address = b.listen, true, "192.0.2.1:10256"
		s := New(o)
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context()) }()
		s.Follow(w.sync(), addrs("192.0.2.1"))
		time.Sleep(time.Minute)
		if len(done) > 0 {
			t.Fatalf("ended for a Service's port: %v", <-done)
		}
		_ = b.lane("192.0.2.1:10256").Close() // as if the kernel took it away
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "192.0.2.1:10256") {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAPortThatIsTakenHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(), newBubble("192.0.2.1:31000")
		w.service("web", 31000)
		w.service("api", 31001)
		inBubble(t, w, b, func(s *Server) {
			at := addrs("192.0.2.1")
			s.Follow(w.sync(), at)
			if b.lane("192.0.2.1:31001") == nil {
				t.Error("the other port is not open")
			}
			time.Sleep(time.Minute)
			s.Follow(w.sync(), at) // the same again does not make a second attempt of it
			b.free()
			time.Sleep(RetryInterval)
			if b.lane("192.0.2.1:31000") == nil {
				t.Error("the port is not open, though it is free")
			}
			want := []string{"0s shop/web 192.0.2.1:31000 listen on 192.0.2.1:31000: address already in use"}
			if diff := cmp.Diff(want, b.reported()); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	})
}

func TestAPortThatIsTakenIsGivenUpWithItsService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(), newBubble("192.0.2.1:31000")
		w.service("web", 31000)
		inBubble(t, w, b, func(s *Server) {
			s.Follow(w.sync(), addrs("192.0.2.1"))
			time.Sleep(RetryInterval / 2)
			w.delete("web")
			s.Follow(w.sync(), addrs("192.0.2.1"))
			b.free()
			time.Sleep(time.Minute)
			if b.lane("192.0.2.1:31000") != nil {
				t.Error("a port is open for nobody")
			}
		})
	})
}

func TestAddressesAreGivenUpBeforeOthersAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(), newBubble("")
		w.service("web", 31000)
		inBubble(t, w, b, func(s *Server) {
			for _, at := range [][]netip.Addr{addrs("0.0.0.0"), addrs("192.0.2.1", "192.0.2.2"), addrs("0.0.0.0")} {
				s.Follow(w.sync(), at)
				if len(b.reported()) != 0 || b.lane(netip.AddrPortFrom(at[0], 31000).String()) == nil {
					t.Errorf("in their own way: %q", b.reported())
				}
			}
		})
	})
}

// Upstream answers 200 there: hcHandler.ServeHTTP returns without writing (Kubernetes 1.36 service_health.go).
func TestAServiceThatIsGoneAnswers503WhileItsPortCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, b := newWorld(), newBubble("")
		w.service("web", 31000)
		w.endpoint(true)
		inBubble(t, w, b, func(s *Server) {
			s.Follow(w.sync(), addrs("192.0.2.1"))
			lane := b.lane("192.0.2.1:31000")
			ask := func() (int, string) {
				t.Helper()
				conn := lane.dial()
				if _, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				r, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(r.Body)
				if err := errors.Join(err, r.Body.Close()); err != nil {
					t.Fatal(err)
				}
				return r.StatusCode, string(body)
			}
			if status, body := ask(); status != 200 || !strings.Contains(body, `"name": "web"`) {
				t.Errorf("at first %d %s", status, body)
			}
			w.delete("web")
			table := w.sync()
			if status, body := ask(); status != 503 || !strings.Contains(body, `"name": ""`) {
				t.Errorf("when it is gone %d %s", status, body)
			}
			conn := lane.dial()
			s.Follow(table, addrs("192.0.2.1"))
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("the connection is not closed: %v", err)
			}
		})
	})
}
