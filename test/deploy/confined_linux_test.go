//go:build linux

package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/test/lab"
)

// As the manifests have it started, with the rights that they give, a proxy does all it has to do: it programs rules, has UDP flows
// forgotten, follows changes and answers for health, without a complaint.
func TestConfined(t *testing.T) {
	t.Parallel()
	binary := image(t)
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		if overlay == sim {
			return
		}
		n := newNode(t)
		p := n.start(t, n.cage(t, binary, i))
		p.await(t, "Rules are in force")
		n.api.awaitWatches()
		n.atWork(t, p)
		p.end(t)
	})
}

// Beside a kube-proxy, without any right and as nobody, what a node has to do is decided and nothing is done.
func TestSimIsConfined(t *testing.T) {
	t.Parallel()
	binary := image(t)
	n := newNode(t)
	c := n.cage(t, binary, install(t, root+"/manifests/rendered/sim.yaml"))
	if len(c.Keep) > 0 {
		t.Fatalf("capabilities %d", c.Keep)
	}
	if nobodyExists(t) {
		c.UID = nobody
	}
	c.Args = append(c.Args, "--master="+n.server) // which the pod's environment names
	p := n.start(t, c)
	p.await(t, "Decided for the first time, nothing is programmed")
	n.api.awaitWatches()
	if err := n.api.modify("discovery.k8s.io/endpointslices", slice("8", secondPod)); err != nil {
		t.Fatal(err)
	}
	p.await(t, "Endpoint decided")
	p.has(t, `:10270"`)
	n.answers(t, "127.0.0.1:10270/healthchecknodeports", "31234")
	var tables []*nftables.Table
	err := n.worker.Do(func() (err error) {
		tables, err = (&nftables.Conn{}).ListTables()
		return err
	})
	if err != nil || len(tables) > 0 {
		t.Errorf("%d tables of nftables (%v)", len(tables), err)
	}
	p.end(t)
	for _, a := range n.api.asked {
		if verb, _, _ := strings.Cut(a, " "); verb != "list" && verb != "watch" {
			t.Errorf("it asked to %s", a)
		}
	}
}

// Where a runtime made the right ambient, a user other than root could have it, too: nothing else of root's is needed. The tools of
// iptables-legacy need root's files: their lock, and the kernel's list of tables.
func TestConfinedAsNobody(t *testing.T) {
	t.Parallel()
	binary := image(t)
	if !nobodyExists(t) {
		t.Skip("there is one user in this namespace")
	}
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		if strings.HasPrefix(overlay, "iptables") || overlay == sim {
			return
		}
		n := newNode(t)
		c := n.cage(t, binary, i)
		c.UID, c.Ambient = nobody, true
		p := n.start(t, c)
		p.await(t, "Rules are in force")
		n.api.awaitWatches()
		n.atWork(t, p)
		p.end(t)
	})
}

// Without one of its rights a proxy ends, and says which it lacks. So no right is given for nothing. Neither is it
// enough to be given them as another user than root, as runtimes do: the program that begins has none.
func TestARightIsMissing(t *testing.T) {
	t.Parallel()
	binary := image(t)
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		if overlay == sim {
			return
		}
		n := newNode(t)
		for missing, name := range map[int]string{unix.CAP_NET_ADMIN: "CAP_NET_ADMIN", unix.CAP_NET_RAW: "CAP_NET_RAW"} {
			c := n.cage(t, binary, i)
			rest := []int{}
			for _, k := range c.Keep {
				if k != missing {
					rest = append(rest, k)
				}
			}
			if len(rest) == len(c.Keep) {
				continue
			}
			c.Keep = rest
			n.refuses(t, c, name)
		}
		if c := n.cage(t, binary, i); nobodyExists(t) {
			c.UID = nobody
			n.refuses(t, c, "CAP_NET_ADMIN")
		}
	})
}

// nobody is the user of the image.
const nobody = 65532

// nobodyExists says whether this user namespace has that user.
func nobodyExists(t *testing.T) bool {
	t.Helper()
	return os.Chown(t.TempDir(), nobody, nobody) == nil
}

// refuses starts a proxy that is to end with a complaint.
func (n *node) refuses(t *testing.T, c cage, about string) {
	t.Helper()
	p := n.start(t, c)
	text := p.rest()
	if err := p.cmd.Wait(); err == nil || !strings.Contains(text, about) {
		t.Errorf("without %s: %v\n%s", about, err, text)
	}
}

// node is a machine with a pod that serves, another to take over, a client, and an API server.
type node struct {
	*lab.Lab
	worker *lab.Worker
	api    *apiServer
	server string
}

// Addresses of it all.
const (
	clusterIP = "10.96.0.10"
	lbIP      = "198.51.100.9"
	nodeIP    = "192.168.1.1"
	firstPod  = "10.0.1.1"
	secondPod = "10.0.1.2"
	clientIP  = "203.0.113.1"
)

func newNode(t *testing.T) *node {
	t.Helper()
	one := func(a string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(a)} }
	beacons := []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:db8:ff::1")}
	l, err := lab.New(lab.Layout{
		Interfaces: []string{"eth0", "cbr0"}, Elsewhere: "elsewhere", Beacons: beacons,
		Sites: []lab.Site{
			{Name: "first", Addrs: append(one(firstPod), netip.MustParseAddr("fd00:1::1")), Interface: "cbr0"},
			{Name: "second", Addrs: append(one(secondPod), netip.MustParseAddr("fd00:1::2")), Interface: "cbr0"},
			{Name: "client", Addrs: append(one(clientIP), netip.MustParseAddr("2001:db8:113::1")), Interface: "eth0"},
			{Name: "elsewhere", Addrs: beacons, Interface: "eth0"},
		},
	})
	if err != nil {
		t.Fatalf("LAMEDUCK_KERNEL is set: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &node{Lab: l, api: newAPIServer()}
	if err := l.SetNodeAddresses([]netip.Addr{netip.MustParseAddr(nodeIP), netip.MustParseAddr("fd00:168::1")}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []lab.Protocol{lab.TCP, lab.UDP} {
		if err := l.Listen(p, false, 8080); err != nil {
			t.Fatal(err)
		}
	}
	if n.worker, err = l.Worker(lab.NodeName); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.worker.Close)
	n.api.objects["services"] = []any{service()}
	n.api.objects["discovery.k8s.io/endpointslices"] = []any{slice("1", firstPod)}
	n.serve(t)
	return n
}

// serve has the API server answer on the node's loopback.
func (n *node) serve(t *testing.T) {
	t.Helper()
	var l net.Listener
	err := n.worker.Do(func() (err error) {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n.server = "http://" + l.Addr().String()
	s := &http.Server{Handler: n.api} // only the test asks
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), ignoreClosed(<-done)); err != nil {
			t.Error(err)
		}
	})
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func service() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{Kind: "Service", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "1"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ClusterIP: clusterIP, ClusterIPs: []string{clusterIP}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: 31234,
			Ports: []corev1.ServicePort{
				{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}, {Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 30053},
			},
		},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: lbIP}}}},
	}
}

// slice has one endpoint, on this node.
func slice(version, address string) *discoveryv1.EndpointSlice {
	tcp, udp, http, dns, port, yes, here := corev1.ProtocolTCP, corev1.ProtocolUDP, "http", "dns", int32(8080), true, "node-1"
	return &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{Kind: "EndpointSlice", APIVersion: "discovery.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-1", ResourceVersion: version, Labels: map[string]string{discoveryv1.LabelServiceName: "web"},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}, NodeName: &here, Conditions: discoveryv1.EndpointConditions{Ready: &yes}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &http, Protocol: &tcp, Port: &port}, {Name: &dns, Protocol: &udp, Port: &port}},
	}
}

// cage is what the manifests say of the container, with the API server in its kubeconfig.
func (n *node) cage(t *testing.T, binary string, i *installation) cage {
	t.Helper()
	numbers := map[corev1.Capability]int{"NET_ADMIN": unix.CAP_NET_ADMIN, "NET_RAW": unix.CAP_NET_RAW}
	c := cage{
		Program: binary, Root: t.TempDir(), Tools: strings.Contains(i.container().Image, "iptables"),
		Files: map[string]string{
			"config.conf": i.config.Data["config.conf"],
			"kubeconfig.conf": fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x}}]\n"+
				"clusters: [{name: x, cluster: {server: %q}}]\n", n.server),
		},
	}
	for _, a := range i.container().Args {
		c.Args = append(c.Args, strings.ReplaceAll(a, "$(NODE_NAME)", "node-1"))
	}
	c.Args = append(c.Args, "-vv")
	for _, k := range i.container().SecurityContext.Capabilities.Add {
		number, known := numbers[k]
		if !known {
			t.Fatalf("capability %s", k)
		}
		c.Keep = append(c.Keep, number)
	}
	return c
}

// proxy is one that runs.
type proxy struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner // of what it says
	said  []string
}

func (n *node) start(t *testing.T, c cage) *proxy {
	t.Helper()
	description, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	p := &proxy{cmd: exec.Command("/proc/self/exe"), lines: bufio.NewScanner(out)}
	p.cmd.Env = append(os.Environ(), caged+"="+string(description))
	p.cmd.Stdout, p.cmd.Stderr = in, in
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if err := n.worker.Do(func() error { return errors.Join(p.cmd.Start(), in.Close()) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended, but for a failure
	return p
}

// has waits for a line that says something, which it may have said already.
func (p *proxy) has(t *testing.T, what string) {
	t.Helper()
	if !slices.ContainsFunc(p.said, func(line string) bool { return strings.Contains(line, what) }) {
		p.await(t, what)
	}
}

// await reads on to a line that says something.
func (p *proxy) await(t *testing.T, what string) {
	t.Helper()
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
		if strings.Contains(p.lines.Text(), what) {
			return
		}
	}
	t.Fatalf("it ended before it said %q:\n%s", what, strings.Join(p.said, "\n"))
}

// rest reads to the end.
func (p *proxy) rest() string {
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
	}
	return strings.Join(p.said, "\n")
}

// complaint is a line that klog writes for an error or a warning.
var complaint = regexp.MustCompile(`(?m)^(E|W|warning|lameduck:).*$`)

// end stops a proxy, which is to have complained of nothing.
func (p *proxy) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	text := p.rest()
	if err := p.cmd.Wait(); err != nil || complaint.MatchString(text) {
		t.Errorf("it ended with %v, and complained: %q\n%s", err, complaint.FindAllString(text, -1), text)
	}
}

// atWork has a proxy do everything once.
func (n *node) atWork(t *testing.T, p *proxy) {
	t.Helper()
	to := func(a string, port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(a), port) }
	flow := n.reaches(t, lab.Dial{From: "client", Protocol: lab.UDP, Src: to(clientIP, 40000), Dst: to(lbIP, 53)}, "first")
	n.reaches(t, lab.Dial{From: "client", Protocol: lab.TCP, Src: to(clientIP, 40001), Dst: to(lbIP, 80)}, "first")
	for _, port := range []string{":31234", ":10256", ":10249"} {
		p.has(t, port+`"`) // as it says of each that is open, which may be later than the rules
	}
	n.answers(t, nodeIP+":31234", `"localEndpoints":1`)
	n.answers(t, "127.0.0.1:10256/livez", `"healthy":true`)
	n.answers(t, "127.0.0.1:10249/metrics", "kubeproxy_sync_proxy_rules_duration_seconds")

	for _, s := range []*discoveryv1.EndpointSlice{slice("8", secondPod), more(slice("9", secondPod))} {
		if err := n.api.modify("discovery.k8s.io/endpointslices", s); err != nil {
			t.Fatal(err)
		}
		p.await(t, "Rules are in force") // the second time the flows of the first have been looked through
	}
	if r, err := flow.Again(); err != nil || r.Fate != lab.Answered || r.Arrival.By != "second" {
		t.Errorf("a flow over UDP whose endpoint has gone: %s by %s (%v)", r.Fate, r.Arrival.By, err)
	}
	n.reaches(t, lab.Dial{From: "client", Protocol: lab.TCP, Src: to(clientIP, 40002), Dst: to(lbIP, 80)}, "second")
}

// more adds an endpoint somewhere else, which changes no way from outside.
func more(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	elsewhere := "node-2"
	e := s.Endpoints[0]
	e.Addresses, e.NodeName = []string{"10.0.2.1"}, &elsewhere
	s.Endpoints = append(s.Endpoints, e)
	return s
}

func (n *node) reaches(t *testing.T, d lab.Dial, site string) *lab.Flow {
	t.Helper()
	f, r, err := n.Open(d)
	if err != nil || r.Fate != lab.Answered || r.Arrival.By != site {
		t.Fatalf("%s: %s by %s, want an answer by %s (%v)", d, r.Fate, r.Arrival.By, site, err)
	}
	return f
}

// answers asks a server on the node.
func (n *node) answers(t *testing.T, url, want string) {
	t.Helper()
	dial := func(_ context.Context, network, address string) (c net.Conn, err error) {
		err = n.worker.Do(func() error { c, err = net.Dial(network, address); return err })
		return c, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	answer, err := client.Get("http://" + url)
	if err != nil {
		t.Error(err)
		return
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || !strings.Contains(strings.ReplaceAll(string(body), " ", ""), want) {
		t.Errorf("%s: %d %.200s, want %s (%v)", url, answer.StatusCode, body, want, err)
	}
}
