package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// agentRig is a whole proxy, but for the kernel and the API server: real servers on real sockets.
type agentRig struct {
	*proxy
	t       *testing.T
	backend *rules
	at      map[string]chan string // where servers listen, by what they are for
	inForce chan struct{}
}

func start(t *testing.T, node *plan.Node, change func(*Options)) *agentRig {
	t.Helper()
	r := &agentRig{
		t: t, backend: &rules{}, inForce: make(chan struct{}, 8),
		at: map[string]chan string{"metrics": make(chan string, 8), "health": make(chan string, 8), "sim": make(chan string, 8)},
	}
	o := Options{
		Log:     funcr.NewJSON(r.heed, funcr.Options{Verbosity: 2}),
		Pace:    pace.Policy{RetryInterval: time.Minute},
		Servers: ServerOptions{Metrics: "127.0.0.1:0", Healthz: "127.0.0.1:0"},
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.proxy, err = newProxy(o, node, r.backend, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	r.serve(ctx, &running)
	running.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return r
}

// heed reads the log: where servers listen, and that rules are in force.
func (r *agentRig) heed(line string) {
	var entry struct{ Msg, For, Address string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		r.t.Errorf("%v: %s", err, line)
	}
	switch entry.Msg {
	case "Listening":
		r.at[entry.For] <- entry.Address
	case "Rules are in force", "Decided for the first time, nothing is programmed":
		r.inForce <- struct{}{}
	}
}

func thisNode() *plan.Node {
	return &plan.Node{Name: "node-1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
}

// get asks one of the servers.
func (r *agentRig) get(url string) (int, string) {
	r.t.Helper()
	// No connection is kept: the servers' end would wait for it.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + url)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestMetricsOfARealProxy(t *testing.T) {
	t.Parallel()
	r := start(t, thisNode(), func(o *Options) { o.Servers.Build = map[string]string{"version": "v1"} })
	at := <-r.at["metrics"]
	if status, body := r.get(at + "/proxyMode"); status != 200 || body != "nftables" {
		t.Errorf("/proxyMode: %d %q", status, body)
	}
	if status, body := r.get(at + "/healthz"); status != 200 || body != "ok" {
		t.Errorf("/healthz: %d %q", status, body)
	}
	if status, _ := r.get(at + "/debug/pprof/"); status != 404 {
		t.Errorf("profiles without having been asked for: %d", status)
	}
	r.SetNode(thisNode())
	r.Synced()
	<-r.inForce
	_, body := r.get(at + "/metrics")
	for _, want := range []string{
		`kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv6"} 1`, `lameduck_build_info{version="v1"} 1`,
		`kubeproxy_sync_proxy_rules_service_changes_total 0`, `kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv4"} 0`,
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", want, body)
		}
	}
}

func TestProfilesAreServedWhereAskedFor(t *testing.T) {
	t.Parallel()
	r := start(t, thisNode(), func(o *Options) { o.Servers.Profiling = true })
	if status, body := r.get(<-r.at["metrics"] + "/debug/pprof/goroutine?debug=1"); status != 200 || !strings.HasPrefix(body, "goroutine profile:") {
		t.Errorf("%d %.80q", status, body)
	}
}

// loopback is an address of this process' own: nobody else's ports are in the way.
func loopback() netip.Addr {
	pid := os.Getpid()
	return netip.AddrFrom4([4]byte{127, 1 + byte(pid>>16&0x7f), byte(pid >> 8), 1 | byte(pid)})
}

// freePorts returns two ports of that address that nobody has, not even for all addresses.
func freePorts(t *testing.T) (a, b uint16) {
	t.Helper()
	var ports [2]uint16
	for i := range ports {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", netip.AddrPortFrom(loopback(), 0).String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports[i] = netip.MustParseAddrPort(l.Addr().String()).Port()
	}
	return ports[0], ports[1]
}

func local(name string, port int32) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: port,
			ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}},
		},
	}
}

func slice(service string, ready bool) *discoveryv1.EndpointSlice {
	port, name, node, serving := int32(8080), "", "node-1", true
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, NodeName: &node,
			Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving}}},
	}
}

// Reference: docs/model/kube-proxy.md 5.1 and 5.2.
func TestHealthOfARealProxy(t *testing.T) {
	t.Parallel()
	node := thisNode()
	node.Addresses = []netip.Addr{loopback()}
	node.NodePortAddresses = []netip.Prefix{netip.PrefixFrom(loopback(), 32), netip.MustParsePrefix("fd00:9::/64")} // nothing of IPv6
	r := start(t, node, nil)
	own := <-r.at["health"]
	wants := func(url string, want int, contains string) {
		t.Helper()
		if status, body := r.get(url); status != want || !strings.Contains(body, contains) {
			t.Errorf("%s: %d %s, want %d and %s", url, status, body, want, contains)
		}
	}
	wants(own+"/healthz", 503, `"nodeEligible":false`) // nobody knows the node yet
	wants(own+"/livez", 200, `"healthy":true`)

	f := &feed{Proxier: r.Proxier, build: func(Known) (*plan.Node, error) { return node, nil }, log: logr.Discard()}
	f.SetNode(object("a"))
	first, second := freePorts(t)
	r.SetService(local("web", int32(first)))
	r.SetSlice(slice("web", true))
	f.Synced()
	<-r.inForce
	wants(own+"/healthz", 200, `"nodeEligible":true`)
	port := <-r.at["health"]
	if want := netip.AddrPortFrom(loopback(), first).String(); port != want {
		t.Fatalf("the Service's port is open at %s, want %s", port, want)
	}
	wants(port, 200, `"localEndpoints": 1`)
	r.SetSlice(slice("web", false))
	<-r.inForce
	wants(port, 503, `"localEndpoints": 0`)
	r.SetService(local("web", int32(second)))
	<-r.inForce
	port = <-r.at["health"]
	wants(port, 503, `"name": "web"`)

	_, body := r.get(<-r.at["metrics"] + "/metrics")
	for _, want := range []string{
		`kubeproxy_proxy_healthz_total{code="200"} 1`, `kubeproxy_proxy_healthz_total{code="503"} 1`, `kubeproxy_proxy_livez_total{code="200"} 1`,
		`kubeproxy_sync_proxy_rules_endpoint_changes_total 2`, `kubeproxy_sync_proxy_rules_service_changes_total 2`,
		`kubeproxy_sync_partial_proxy_rules_duration_seconds_count{ip_family="IPv4"} 2`,
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", want, body)
		}
	}
}

// Reference: docs/model/kube-proxy.md 5.1 Listen; Kubernetes 1.36
// pkg/proxy/util/nodeport_addresses.go, GetNodeIPs.
func TestWhereServicesPortsAreOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, ranges, want string
	}{
		{"nothing is limited", "", "0.0.0.0 ::"},
		{"one family is", "192.0.2.0/24", "192.0.2.1 192.0.2.2 ::"},
		{"to one address", "192.0.2.2/32 fd00:9::/64", "192.0.2.2 fd00:9::1"},
		{"to none", "198.51.100.0/24 fd00:8::/64", ""},
		{"everything is no limit", "192.0.2.2/32 0.0.0.0/0", "0.0.0.0 ::"},
		{"loopback", "127.0.0.0/8 ::1/128", "127.0.0.1 ::1"},
	} {
		node := thisNode()
		for _, a := range []string{"192.0.2.2", "fd00:9::1"} {
			node.Addresses = append(node.Addresses, netip.MustParseAddr(a))
		}
		for r := range strings.FieldsSeq(c.ranges) {
			node.NodePortAddresses = append(node.NodePortAddresses, netip.MustParsePrefix(r))
		}
		var got []string
		for _, a := range healthAddresses(node) {
			got = append(got, a.String())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

func TestAPortThatIsTakenIsLogged(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan string, 8)
	start(t, thisNode(), func(o *Options) {
		o.Log = funcr.NewJSON(func(line string) { heard <- line }, funcr.Options{})
		o.Servers = ServerOptions{Metrics: l.Addr().String(), Healthz: l.Addr().String()}
	})
	got := <-heard + "\n" + <-heard
	for _, want := range []string{`"msg":"Not served"`, `"for":"metrics"`, `"msg":"Health is not served"`, "address already in use"} {
		if !strings.Contains(got, want) {
			t.Errorf("logged without %s:\n%s", want, got)
		}
	}
}

// What is not served is said with its Service, where it is a Service's, and with its address.
func TestWhichHealthPortIsNotServed(t *testing.T) {
	t.Parallel()
	var lines []string
	p := &proxy{opts: Options{Log: funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{})}, reporter: newReporter(Options{}, "node-1")}
	p.trouble(server.Trouble{Service: endpoints.ServiceName{Namespace: "shop", Name: "web"}, Address: "0.0.0.0:31000", Err: errors.New("taken")})
	p.trouble(server.Trouble{Address: "0.0.0.0:10256", Err: errors.New("taken")})
	if len(lines) != 2 || !strings.Contains(lines[0], `"service":"shop/web"`) || strings.Contains(lines[1], `"service"`) ||
		!strings.Contains(lines[0], `"address":"0.0.0.0:31000"`) || !strings.Contains(lines[1], `"address":"0.0.0.0:10256"`) {
		t.Errorf("logged\n%s", strings.Join(lines, "\n"))
	}
}
