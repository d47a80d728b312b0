package iptables

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Names that everybody has seen: of the Services that every cluster has.
func TestChainsHaveKubeProxysNames(t *testing.T) {
	t.Parallel()
	name := func(ns, svc, port string, p endpoints.Protocol) endpoints.ServicePortName {
		return endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: ns, Name: svc}, Port: port, Protocol: p}
	}
	n := names{defaultPrefix}
	for want, got := range map[string]string{
		"KUBE-SVC-NPX46M4PTMTKRN6Y": n.servicePort(clusterChain, name("default", "kubernetes", "https", endpoints.TCP)),
		"KUBE-SVC-TCOU7JCQXEZGVUNU": n.servicePort(clusterChain, name("kube-system", "kube-dns", "dns", endpoints.UDP)),
		"KUBE-SVC-ERIFXISQEP7F7OF4": n.servicePort(clusterChain, name("kube-system", "kube-dns", "dns-tcp", endpoints.TCP)),
		// kube-proxy 1.36 iptables/proxier_test.go, TestOverallIPTablesRules.
		"KUBE-SVC-XPGD46QRK7WJZT7O": n.servicePort(clusterChain, name("ns1", "svc1", "p80", endpoints.TCP)),
		"KUBE-SEP-SXIVWICOYRO3J4NJ": n.endpoint(name("ns1", "svc1", "p80", endpoints.TCP), netip.MustParseAddrPort("10.180.0.1:80")),
		"KUBE-SVL-GNZBNJ2PO5MGZ6GT": n.servicePort(localChain, name("ns2", "svc2", "p80", endpoints.TCP)),
		"KUBE-EXT-GNZBNJ2PO5MGZ6GT": n.servicePort(externalChain, name("ns2", "svc2", "p80", endpoints.TCP)),
		"KUBE-FW-NUKIZ6OKUXPJNT4C":  n.servicePort(firewallChain, name("ns5", "svc5", "p80", endpoints.TCP)),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !n.isServicePorts(got) || (names{"KUBEX"}).isServicePorts(got) {
			t.Errorf("whose is %s?", got)
		}
	}
	for _, other := range []string{"KUBE-SERVICES", "KUBE-MARK-MASQ", "KUBE-SVC", "KUBE-SVC-", "KUBE-ROUTER-INPUT", "CNI-SVC-X", "KUBE-KUBELET-CANARY"} {
		if n.isServicePorts(other) {
			t.Errorf("%s is no chain of a service port", other)
		}
	}
	long := names{strings.Repeat("X", maxPrefix)}
	for _, what := range []string{services, externalServices, proxyFirewall, ownCanary, kubeletCanary, "SVC-" + strings.Repeat("A", hashLength)} {
		if c := long.chain(what); len(c) > 28 {
			t.Errorf("%s has %d characters", c, len(c))
		}
	}
}

// nodes are nodes of every configuration that shows in the rules.
func nodes() map[string]*plan.Node {
	out := map[string]*plan.Node{"cluster CIDR": testNode()}
	edit := func(name string, f func(*plan.Node)) {
		n := testNode()
		f(n)
		out[name] = n
	}
	edit("bridge, localhost", func(n *plan.Node) {
		n.Detector = plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: "cbr0"}
		n.LocalhostNodePorts = true
	})
	edit("interface prefix", func(n *plan.Node) {
		n.Detector = plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: "veth"}
	})
	edit("no detector, masqueradeAll", func(n *plan.Node) { n.Detector, n.MasqueradeAll = plan.LocalDetector{}, true })
	edit("ranges with localhost", func(n *plan.Node) {
		n.LocalhostNodePorts = true
		n.NodePortAddresses = append(n.PrimaryNodePortAddresses(), netip.MustParsePrefix("127.0.0.0/9"), netip.MustParsePrefix("64.0.0.0/2"))
	})
	edit("alpha of KEP-1669", func(n *plan.Node) { n.Options.TerminatingFallback = endpoints.FallbackExternalLocal })
	return out
}

// dumped is all that a state holds, as text.
func dumped(s *state, p *plan.Plan) string {
	var b bytes.Buffer
	s.dump(&b, p)
	return b.String()
}

// coverage says of every address and port whether something becomes of its packets: a rule
// translates them, or one refuses them.
func coverage(l layout, k *fakeKernel) map[string]bool {
	out := map[string]bool{}
	for s := natServices; s <= filterExternal; s++ {
		for _, rule := range k.tables[s.table()][l.sharedName(s)] {
			words := strings.Fields(rule)
			key := ""
			for i, w := range words {
				if w == "-d" || w == "-p" || w == "--dport" {
					key += words[i+1] + " "
				}
			}
			out[key] = true
		}
	}
	return out
}

// TestAThousandChangesOneByOneComeToTheSameAsTheWhole, and at no moment between two tables an
// address that is answered before and after a change is answered by nobody.
func TestAThousandChangesOneByOneComeToTheSameAsTheWhole(t *testing.T) {
	t.Parallel()
	seed := uint64(0)
	for name, node := range nodes() {
		for _, f := range endpoints.Families() {
			seed++
			t.Run(name+"/"+f.String(), func(t *testing.T) {
				t.Parallel()
				changes := 1000
				if name != "cluster CIDR" {
					changes = 150
				}
				play(t, backendtest.NewWorld(seed, node), Options{Families: []endpoints.IPFamily{f}, EndpointChains: seed%3 == 0}, changes)
			})
		}
	}
}

func play(t *testing.T, w *backendtest.World, opts Options, changes int) {
	t.Helper()
	b, kernels := onFakes(w.Node, opts)
	f, k := b.families[0], kernels[0]
	if err := b.Apply(w.Plan, plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	for i := range changes {
		before := coverage(f.layout, k)
		var moments []map[string]bool
		k.onCommit = func() { moments = append(moments, coverage(f.layout, k)) }
		for range w.Rand.IntN(3) + 1 {
			w.Disturb(t, 12)
		}
		p, d := w.Step(t)
		if w.Rand.IntN(50) == 0 {
			if err := b.Resync(p); err != nil {
				t.Fatal(err)
			}
			f.replaced--
		} else if err := b.Apply(p, d); err != nil {
			t.Fatal(err)
		}
		after := coverage(f.layout, k)
		for key := range before {
			if after[key] && slices.ContainsFunc(moments, func(m map[string]bool) bool { return !m[key] }) {
				t.Fatalf("change %d: for a moment nothing becomes of packets to %s\n%s", i, key, k.texts[len(k.texts)-1])
			}
		}
		if i%20 != 0 && i < changes-20 {
			continue
		}
		if diff := cmp.Diff(dumped(newState(f.layout, p), p), dumped(f.state, p)); diff != "" {
			t.Fatalf("change %d (- whole, + one by one):\n%s", i, diff)
		}
		fresh, others := onFakes(w.Node, opts)
		if err := fresh.Apply(p, plan.Delta{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(others[0].text(), k.text()); diff != "" {
			t.Fatalf("change %d: kernel (- whole, + one by one):\n%s", i, diff)
		}
	}
	if f.replaced != 1 {
		t.Errorf("all was written %d times without need", f.replaced-1)
	}
}

// FuzzChanges does the same with any sequence of worlds.
func FuzzChanges(f *testing.F) {
	f.Add(uint64(1), uint8(10), false)
	f.Add(uint64(7), uint8(30), true)
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8, endpointChains bool) {
		all := nodes()
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range all {
				if !yield(name) {
					return
				}
			}
		})
		node := all[names[rand.New(rand.NewPCG(seed, 2)).IntN(len(names))]]
		family := endpoints.Families()[seed%2]
		play(t, backendtest.NewWorld(seed, node), Options{Families: []endpoints.IPFamily{family}, EndpointChains: endpointChains}, int(changes%60))
	})
}

// A change costs what changes: an endpoint its Service's chain, and no chain of all Services.
func TestAChangeWritesTheChainsThatChange(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(1, testNode())
	b, kernels := onFakes(w.Node, Options{})
	for i := 100; i < 120; i++ {
		backendtest.SetService(t, w.Cache, w.Service(i, fmt.Sprintf("svc-%d", i)), w.Slices(fmt.Sprintf("svc-%d", i))...)
	}
	backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice("10.244.0.5", "10.244.0.6"))
	if err := b.Apply(w.Step(t)); err != nil {
		t.Fatal(err)
	}
	backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice("10.244.0.5", "10.244.0.7"))
	v4, v6 := len(kernels[0].texts), len(kernels[1].texts)
	if err := b.Apply(w.Step(t)); err != nil {
		t.Fatal(err)
	}
	if len(kernels[1].texts) != v6 {
		t.Errorf("IPv6 was written for a change of IPv4: %s", kernels[1].texts[v6])
	}
	if len(kernels[0].texts) != v4+1 {
		t.Fatalf("%d restores, want one", len(kernels[0].texts)-v4)
	}
	name := endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: "default", Name: "web"}, Port: "p"}
	n := names{defaultPrefix}
	svc, svl := n.servicePort(clusterChain, name), n.servicePort(localChain, name)
	want := "*nat\n:" + svc + " - [0:0]\n:" + svl + " - [0:0]\n" +
		"-A " + svc + " ! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ\n" +
		"-A " + svc + " -p tcp -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.244.0.5:8080\n" +
		"-A " + svc + " -p tcp -j DNAT --to-destination 10.244.0.7:8080\n" +
		"-A " + svl + " -p tcp -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.244.0.5:8080\n" +
		"-A " + svl + " -p tcp -j DNAT --to-destination 10.244.0.7:8080\nCOMMIT\n"
	if diff := cmp.Diff(want, kernels[0].texts[v4]); diff != "" {
		t.Errorf("(- want, + got):\n%s", diff)
	}
}

// hairpinMatches runs a program of the classic packet filter, the four instructions of it.
func hairpinMatches(t *testing.T, program string, packet []byte) bool {
	t.Helper()
	lines := strings.Split(program, ",")[1:]
	var acc, index uint32
	for at := 0; at < len(lines); at++ {
		var code, yes, no, k int
		if _, err := fmt.Sscanf(lines[at], "%d %d %d %d", &code, &yes, &no, &k); err != nil {
			t.Fatal(err)
		}
		switch code {
		case 0x20:
			acc = uint32(packet[k])<<24 | uint32(packet[k+1])<<16 | uint32(packet[k+2])<<8 | uint32(packet[k+3])
		case 0x07:
			index = acc
		case 0x1d:
			if acc == index {
				at += yes
			} else {
				at += no
			}
		case 0x06:
			return k != 0
		default:
			t.Fatalf("instruction %q", lines[at])
		}
	}
	t.Fatal("the program does not end")
	return false
}

func TestTheHairpinProgramComparesAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family   endpoints.IPFamily
		from, at int
		size     int
	}{{endpoints.IPv4, 12, 16, 4}, {endpoints.IPv6, 8, 24, 16}} {
		program := hairpinProgram(c.family)
		if n := strings.Count(program, ","); !strings.HasPrefix(program, fmt.Sprint(n)+",") {
			t.Errorf("%s: %d instructions announced wrongly: %s", c.family, n, program)
		}
		packet := make([]byte, 40)
		for i := range c.size {
			packet[c.from+i], packet[c.at+i] = byte(200+i), byte(200+i)
		}
		if !hairpinMatches(t, program, packet) {
			t.Errorf("%s: a packet to itself is not noticed", c.family)
		}
		for i := range c.size {
			packet[c.at+i]++
			if hairpinMatches(t, program, packet) {
				t.Errorf("%s: addresses that differ in byte %d are taken for the same", c.family, i)
			}
			packet[c.at+i]--
		}
	}
}

// An address that two Services claim is in the rules once, for the one that has it.
func TestAnAddressIsOneServices(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(4, testNode())
	for range 60 {
		w.Disturb(t, 25)
	}
	p, _ := w.Step(t)
	if len(p.Conflicts()) == 0 {
		t.Fatal("no conflict to look at")
	}
	for _, f := range endpoints.Families() {
		b, kernels := onFakes(w.Node, Options{Families: []endpoints.IPFamily{f}})
		if err := b.Apply(p, plan.Delta{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for s := natServices; s <= filterExternal; s++ {
			for _, rule := range kernels[0].tables[s.table()][b.families[0].layout.sharedName(s)] {
				if i := strings.Index(rule, "-d "); i >= 0 && !strings.Contains(rule, "addrtype") {
					got = append(got, fmt.Sprintf("%s by %s", strings.Join(strings.Fields(rule[i:])[:2], " "), strings.Fields(rule[strings.Index(rule, `"`)+1:])[0]))
				}
			}
		}
		slices.Sort(got)
		var want []string
		for fe := range p.Frontends() {
			if fe.Family() != f || fe.Kind == plan.NodePort {
				continue
			}
			line := fmt.Sprintf("-d %s by %s", single(fe.Key.Addr), fe.Service)
			want = append(want, line)
			if _, refused := refuses(fe); refused && forwards(fe) {
				want = append(want, line) // some get through, others are refused
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (- want, + got):\n%s", f, diff)
		}
	}
}

func TestOddNamesAreHarmlessInComments(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"default/web:http":          "default/web:http",
		"default/a\"\n-A INPUT\\:ü": "default/a__-A_INPUT_:_",
		strings.Repeat("x", 300):    strings.Repeat("x", maxLabel),
	} {
		if got := label(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
