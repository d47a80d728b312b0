package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	"github.com/lameduck-proxy/lameduck/test/e2e/controlplane"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
	"github.com/lameduck-proxy/lameduck/test/e2e/process"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// Twins are two nodes of the same name with the same addresses, one with kube-proxy and one with
// lameduck, which follow the same API server. Each is the middle of a lab, whose other sites have
// the addresses of all endpoints and clients, and which knows what became of a packet without
// waiting (package lab).
const (
	twinAddr4, twinAddr6 = "192.168.77.1", "fd00:168:77::1"
	twinSteps            = 12
	twinEvents           = 6 // in each step
	// enough connections for all of three endpoints, of which one is left out once in 10^35 times
	enoughDraws = 200
	// Ports of clients are above those that anybody listens on, and below those that the kernel gives out and node ports.
	firstPort, lastPort = 11000, 29999
)

// endpointSites are those that slices name, the first two of them pods of the node.
func endpointSites() []lab.Site {
	return []lab.Site{
		{Name: "pod A", Addrs: addrs("10.244.77.11", "fd00:10:244:4d::11"), Interface: "cbr0"},
		{Name: "pod B", Addrs: addrs("10.244.77.12", "fd00:10:244:4d::12"), Interface: "cbr0"},
		{Name: "remote A", Addrs: addrs("10.244.78.21", "fd00:10:244:4e::21"), Interface: "eth0"},
		{Name: "remote B", Addrs: addrs("10.244.78.22", "fd00:10:244:4e::22"), Interface: "eth0"},
	}
}

// clientAddrs are so many that session affinity spreads them over all endpoints.
const clientAddrs = 40

func twinLayout() lab.Layout {
	client := lab.Site{Name: "client", Interface: "eth0"}
	pod := lab.Site{Name: "pod", Interface: "cbr0"}
	for i := range clientAddrs {
		client.Addrs = append(client.Addrs, addrs(fmt.Sprintf("198.51.100.%d", i+1), fmt.Sprintf("2001:db8:51::%x", i+1))...)
		pod.Addrs = append(pod.Addrs, addrs(fmt.Sprintf("10.244.77.%d", i+101), fmt.Sprintf("fd00:10:244:4d::%x", i+0x101))...)
	}
	elsewhere := lab.Site{Name: "elsewhere", Addrs: addrs("198.18.0.1", "2001:db8:ff::1"), Interface: "eth0"}
	return lab.Layout{
		Interfaces: []string{"eth0", "cbr0"}, Sites: append(endpointSites(), client, pod, elsewhere),
		Elsewhere: elsewhere.Name, Beacons: elsewhere.Addrs,
	}
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// twin is one of the two.
type twin struct {
	name   string // of its proxy
	lab    *lab.Lab
	worker *lab.Worker
	port   uint16 // of the last flow's client
	log    string
}

// TestLameduckAnswersAsKubeProxy has the same objects and events told to kube-proxy and to
// lameduck, and compares what their ports answer and what becomes of packets.
func TestLameduckAnswersAsKubeProxy(t *testing.T) {
	t.Parallel()
	for i, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := useCluster(t)
			p := newPair(t, c, mode, uint64(i)+1)
			for step := range twinSteps {
				p.step(t, step)
				if t.Failed() {
					t.Fatalf("seed %d, step %d, after these events:\n%s", p.seed, step, strings.Join(p.world.events, "\n"))
				}
			}
			p.sawAll(t)
		})
	}
}

// pair is both twins with the world they are told of.
type pair struct {
	c     *cluster
	node  string
	seed  uint64
	twins [2]*twin
	world *twinWorld
	seen  map[string]int // how often each kind of answer was compared
}

func newPair(t *testing.T, c *cluster, mode string, seed uint64) *pair {
	t.Helper()
	p := &pair{c: c, node: "twin-" + mode, seed: seed, seen: map[string]int{}}
	p.world = newTwinWorld(c, c.namespace(t), p.node, int(seed)*twinServices, rand.New(rand.NewPCG(seed, 0))) // chosen, not secret
	p.world.join(t)
	argv, env, err := component.Command(component.KubeProxy)
	if err != nil {
		t.Fatal(err)
	}
	p.twins[0] = p.start(t, "kube-proxy", mode, argv, env)
	p.twins[1] = p.start(t, "lameduck", mode, []string{c.nodes[mode][0].proxy.Program, "proxy"}, nil)
	return p
}

// start makes a twin.
func (p *pair) start(t *testing.T, name, mode string, argv, env []string) *twin {
	t.Helper()
	l, err := lab.New(twinLayout())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	errs := []error{l.SetNodeAddresses(addrs(twinAddr4, twinAddr6))}
	for _, family6 := range []bool{false, true} {
		errs = append(errs, l.Listen(lab.TCP, family6, appPort), l.Listen(lab.UDP, family6, appPort))
	}
	w, err := l.Worker(lab.NodeName)
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	x := &twin{name: name, lab: l, worker: w, port: firstPort, log: filepath.Join(p.c.dir, p.node+"-"+name+".log")}
	kubeconfig := p.reachAPIServer(t, x)
	config, err := node.WriteConfig(filepath.Join(p.c.dir, p.node+"-"+name+".yaml"), mode, kubeconfig, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	x.run(t, process.Spec{
		Name: name + " of " + p.node, Argv: append(argv, "--config="+config, "--hostname-override="+p.node),
		Env: append(env, "XTABLES_LOCKFILE="+filepath.Join(p.c.dir, p.node+"-"+name+".xtables.lock")), Log: x.log,
	})
	return x
}

func (x *twin) run(t *testing.T, spec process.Spec) {
	t.Helper()
	var running *process.Process
	err := x.worker.Do(func() (err error) {
		running, err = process.Start(spec)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Kill)
	until(t, spec.Name+" is healthy", func(ctx context.Context) error {
		if err := running.Err(); err != nil {
			t.Fatalf("%v\n%s", err, process.Tail(spec.Log, 20))
		}
		answer := x.get(ctx, healthzAt(netip.MustParseAddr("127.0.0.1"), "healthz"))
		if !strings.HasPrefix(answer, "200 ") {
			return errors.New(answer)
		}
		return nil
	})
}

// reachAPIServer has the API server answer on a loopback address of the twin's node, which the
// lab has no other wire to, and writes a kubeconfig for it.
func (p *pair) reachAPIServer(t *testing.T, x *twin) string {
	t.Helper()
	path, err := p.c.control.Kubeconfig(controlplane.ProxyUser(), p.node+"-"+x.name)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var server string
	for _, cluster := range config.Clusters { // order: there is one
		server, cluster.Server = strings.TrimPrefix(cluster.Server, "https://"), "https://127.0.0.1:6443"
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	var l net.Listener
	err = x.worker.Do(func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:6443")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go forward(l, func() (net.Conn, error) { return p.c.outside.Dial(context.Background(), "tcp", server) })
	return path
}

// step tells both twins of some events, and compares them when both have acted on all of them.
func (p *pair) step(t *testing.T, step int) {
	t.Helper()
	for range twinEvents {
		p.world.event(t)
	}
	// Rules are in force before health-check ports are opened and closed, by the same sync. The
	// next one begins when it is done: whoever follows the second marker has finished with the first.
	for range 2 {
		p.settled(t, p.world.marker(t))
	}
	for _, x := range p.twins {
		if err := x.lab.ForgetAll(); err != nil { // so that ports may be used again
			t.Fatal(err)
		}
	}
	p.compareHealth(t)
	for _, s := range p.world.list() {
		p.comparePackets(t, s)
	}
	t.Logf("step %d: so far %v", step, p.seen)
}

// settled returns when both twins follow a marker, and know what is to be known of their node.
func (p *pair) settled(t *testing.T, m *corev1.Service) {
	t.Helper()
	for _, x := range p.twins {
		for i, ip := range m.Spec.ClusterIPs {
			d := lab.Dial{From: "pod", Protocol: lab.TCP, Dst: netip.AddrPortFrom(netip.MustParseAddr(ip), servicePort)}
			until(t, x.name+" leads to "+p.world.marked(), func(context.Context) error {
				r, err := x.open(d, i, 0)
				if err == nil && (r.Fate != lab.Answered || r.Arrival.By != p.world.marked()) {
					err = fmt.Errorf("%s: %s", r.Fate, r.Arrival)
				}
				return err
			})
		}
		until(t, x.name+" knows the node's taint", func(ctx context.Context) error {
			got := x.get(ctx, healthzAt(netip.MustParseAddr("127.0.0.1"), "healthz"))
			if strings.HasPrefix(got, "503 ") != p.world.tainted {
				return errors.New(got)
			}
			return nil
		})
	}
}

// open sends the first packet of a flow from one of a site's addresses, on a port of its own.
func (x *twin) open(d lab.Dial, family, from int) (lab.Result, error) {
	src := addrs(twinAddr4, twinAddr6)[family]
	for _, s := range twinLayout().Sites {
		if s.Name == d.From {
			src = s.Addrs[from%(len(s.Addrs)/2)*2+family]
		}
	}
	if x.port++; x.port > lastPort {
		x.port = firstPort
	}
	d.Src = netip.AddrPortFrom(src, x.port)
	f, r, err := x.lab.Open(d)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return r, err
}

// sawAll fails if what was compared is not all there is to compare.
func (p *pair) sawAll(t *testing.T) {
	t.Helper()
	for _, kind := range []string{
		"answered", "answered, masqueraded", "answered by several", "answered, sticky", "refused", "lost",
		"health 200", "health 503", "health closed", "healthz 200", "healthz 503",
	} {
		if p.seen[kind] == 0 {
			t.Errorf("nothing that was compared was %q: %v", kind, slices.Sorted(maps.Keys(p.seen)))
		}
	}
}

// join makes the Node that both twins are.
func (w *twinWorld) join(t *testing.T) {
	t.Helper()
	n := &corev1.Node{}
	n.Name, n.Labels = w.node, map[string]string{corev1.LabelHostname: w.node, corev1.LabelTopologyZone: w.zone}
	n.Spec.Unschedulable = true
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: twinAddr4}, {Type: corev1.NodeInternalIP, Address: twinAddr6}}
	if _, err := w.c.admin.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), client10)
		defer cancel()
		if err := w.c.admin.CoreV1().Nodes().Delete(ctx, w.node, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
