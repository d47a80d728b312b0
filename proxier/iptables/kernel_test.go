//go:build linux

package iptables

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// reexec marks a test binary that started itself again in a user namespace.
const reexec = "LAMEDUCK_IPTABLES_REEXEC"

// TestMain gives an ordinary user the root of a namespace of its own, where there are any, and
// iptables-legacy a lock that it may take there.
func TestMain(m *testing.M) {
	if os.Geteuid() == 0 || os.Getenv(reexec) != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "lameduck-iptables")
	if err != nil {
		panic(err)
	}
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), reexec+"=1", "XTABLES_LOCKFILE="+dir+"/lock")
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	code := 0
	if err := self.Start(); err != nil {
		code = m.Run() // no user namespaces here: the kernel's tests skip
	} else if self.Wait() != nil {
		code = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// onBoth runs a test on both variants, each in a network namespace of its own.
func onBoth(t *testing.T, f func(t *testing.T, v Variant)) {
	t.Helper()
	for _, v := range []Variant{NFT, Legacy} {
		t.Run(v.String(), func(t *testing.T) {
			alone(t)
			f(t, v)
		})
	}
}

// alone puts the test's thread into a network namespace of its own. The thread ends with the
// test, and the namespace with it.
func alone(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		backendtest.Lacking(t, "no network namespace of its own: %v", err)
	}
	run(t, "ip", "link", "set", "lo", "up")
	if err := os.WriteFile(routeLocalnet, []byte("0"), 0); err != nil { // it begins as the machine is
		backendtest.Lacking(t, "%v", err)
	}
}

// run runs a tool in the test's namespace and returns what it prints.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	return feed(t, "", name, args...)
}

// feed runs a tool with an input.
func feed(t testing.TB, input, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		backendtest.Lacking(t, "no %s here: %v", name, err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// backend returns a Backend in the test's namespace.
func backend(t testing.TB, node *plan.Node, opts Options) *Backend {
	t.Helper()
	installed(t, opts.Variant)
	b, err := New(node, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// installed skips a test where the tools of a variant are missing.
func installed(t testing.TB, v Variant) {
	t.Helper()
	for _, f := range endpoints.Families() {
		if _, err := exec.LookPath(command(f, v, "")); err != nil {
			backendtest.Lacking(t, "no such tool here: %v", err)
		}
	}
}

func apply(t testing.TB, b *Backend, p *plan.Plan, d plan.Delta) {
	t.Helper()
	if err := b.Apply(p, d); err != nil {
		t.Fatal(err)
	}
}

// notRules is what iptables-save prints beside rules: dates and counters.
var notRules = regexp.MustCompile(`(?m)^#.*\n|\[\d+:\d+\]`)

// listing is what a family's tables hold.
func listing(t testing.TB, v Variant, f endpoints.IPFamily) string {
	t.Helper()
	return notRules.ReplaceAllString(run(t, command(f, v, "-save")), "")
}

func TestChangesInTheKernel(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		w := backendtest.NewWorld(3, testNode())
		b := backend(t, w.Node, Options{Variant: v})
		paper, fakes := onFakes(w.Node, Options{})
		for range 60 {
			w.Disturb(t, 25)
			p, d := w.Step(t)
			apply(t, b, p, d)
			apply(t, paper, p, d)
		}
		if got := b.writtenWhole(); !slices.Equal(got, []int{1, 1}) {
			t.Errorf("the families were written %v times; nobody but us was there", got)
		}
		var changed []string
		for i, f := range endpoints.Families() {
			changed = append(changed, listing(t, v, f))
			have := parseSaved(changed[i])
			counts, want := map[string]int{}, map[string]int{}
			for _, tb := range tables() {
				for name, c := range have[tb] {
					counts[tb.String()+" "+name] = len(c.rules)
				}
				for name, rules := range fakes[i].tables[tb] {
					if _, there := have[tb][name]; there || len(rules) > 0 {
						want[tb.String()+" "+name] = len(rules)
					}
				}
			}
			if diff := cmp.Diff(want, counts); diff != "" {
				t.Errorf("%s: numbers of rules (- paper, + kernel):\n%s", f, diff)
			}
		}
		if err := b.Check(w.Plan); err != nil || b.families[0].replaced+b.families[1].replaced != 2 {
			t.Errorf("a check: %v, written %v times", err, b.writtenWhole())
		}
		if err := b.Resync(w.Plan); err != nil {
			t.Fatal(err)
		}
		for i, f := range endpoints.Families() {
			if diff := cmp.Diff(sorted(listing(t, v, f)), sorted(changed[i])); diff != "" {
				t.Errorf("%s (- whole, + one by one):\n%s", f, diff)
			}
		}
	})
}

// sorted brings declarations of chains, which iptables-nft keeps in the order in which they were
// made, and chains into one order; rules stay in theirs.
func sorted(text string) []string {
	lines := strings.Split(text, "\n")
	slices.SortStableFunc(lines, func(a, b string) int {
		chainOf := func(line string) string {
			words := append(strings.Fields(line), "", "")
			return words[0] + " " + words[1]
		}
		return strings.Compare(chainOf(a), chainOf(b))
	})
	return lines
}

func TestTheToolsTakeTheDump(t *testing.T) {
	for name, node := range nodes() {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, v Variant) {
				w := backendtest.NewWorld(2, node)
				for range 60 {
					w.Disturb(t, 30)
				}
				p, _ := w.Step(t)
				for _, f := range endpoints.Families() {
					var text bytes.Buffer
					if err := Dump(&text, p, Options{Families: []endpoints.IPFamily{f}}); err != nil {
						t.Fatal(err)
					}
					feed(t, text.String(), command(f, v, "-restore"))
					loaded := sorted(listing(t, v, f))
					feed(t, "*nat\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n", command(f, v, "-restore"))
					b := backend(t, node, Options{Variant: v, Families: []endpoints.IPFamily{f}})
					apply(t, b, p, plan.Delta{})
					note := ":" + names{defaultPrefix}.chain(openedLoopback) + " - " // of what the machine was like
					applied := slices.DeleteFunc(sorted(listing(t, v, f)), func(line string) bool { return line == note })
					if diff := cmp.Diff(loaded, applied); diff != "" {
						t.Errorf("%s (- dump, + Apply):\n%s", f, diff)
					}
				}
			})
		})
	}
}

// leftBehind is what a kube-proxy leaves that was killed: chains that lead to a Service that is
// gone, jumps, canaries; and what belongs to others.
const leftBehind = `*mangle
:KUBE-PROXY-CANARY - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-PROXY-CANARY - [0:0]
:MINE - [0:0]
-A INPUT -j KUBE-FIREWALL
-A FORWARD -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A FORWARD -j MINE
-A MINE -s 192.0.2.1/32 -j DROP
COMMIT
*nat
:KUBE-SERVICES - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-PROXY-CANARY - [0:0]
:KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]
:KUBE-SEP-AAAAAAAAAAAAAAAA - [0:0]
:CNI-HOSTPORT - [0:0]
-A PREROUTING -j CNI-HOSTPORT
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
-A KUBE-SERVICES -d 10.96.9.9/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-AAAAAAAAAAAAAAAA
-A KUBE-SVC-AAAAAAAAAAAAAAAA -j KUBE-SEP-AAAAAAAAAAAAAAAA
-A KUBE-SEP-AAAAAAAAAAAAAAAA -p tcp -j DNAT --to-destination 10.244.0.1:80
COMMIT
`

func TestChainsAreTakenOverAndRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		w := backendtest.NewWorld(3, testNode())
		feed(t, leftBehind, command(endpoints.IPv4, v, "-restore"))
		backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice("10.244.0.5"))
		p, d := w.Step(t)
		apply(t, backend(t, w.Node, Options{Variant: v}), p, d)
		first := listing(t, v, endpoints.IPv4)
		for _, gone := range []string{"AAAAAAAAAAAAAAAA", "KUBE-PROXY-CANARY", "10.96.9.9"} {
			if strings.Contains(first, gone) {
				t.Errorf("%s is still there:\n%s", gone, first)
			}
		}
		for _, line := range []string{"-A PREROUTING .* -j KUBE-SERVICES\n", "-A FORWARD .* -j KUBE-SERVICES\n", "-A OUTPUT .* -j KUBE-SERVICES\n", "-A FORWARD -j MINE\n"} {
			want := 1
			if strings.Contains(line, "OUTPUT") {
				want = 2 // nat and filter
			}
			if n := len(regexp.MustCompile(line).FindAllString(first, -1)); n != want {
				t.Errorf("%d times %s, want %d", n, line, want)
			}
		}

		again := backend(t, w.Node, Options{Variant: v}) // an earlier run of our own
		apply(t, again, p, plan.Delta{})
		if diff := cmp.Diff(sorted(first), sorted(listing(t, v, endpoints.IPv4))); diff != "" {
			t.Errorf("another run (- first, + second):\n%s", diff)
		}

		feed(t, "*nat\n:KUBE-PROXY-CANARY - [0:0]\nCOMMIT\n*mangle\n:KUBE-PROXY-CANARY - [0:0]\nCOMMIT\n", command(endpoints.IPv4, v, "-restore"), "--noflush")
		if err := again.Check(p); !errors.Is(err, ErrKubeProxy) {
			t.Errorf("a canary came back: %v, want %v", err, ErrKubeProxy)
		}
		if _, err := New(w.Node, Options{Variant: v}); !errors.Is(err, ErrKubeProxy) {
			t.Errorf("New: %v, want %v", err, ErrKubeProxy)
		}
		last := backend(t, w.Node, Options{Variant: v, TakeOver: true})
		for range 2 {
			if err := last.Cleanup(); err != nil {
				t.Fatal(err)
			}
		}
		left := listing(t, v, endpoints.IPv4)
		for _, want := range []string{"-A MINE -s 192.0.2.1/32 -j DROP", "-A PREROUTING -j CNI-HOSTPORT", ":KUBE-FIREWALL", ":KUBE-KUBELET-CANARY", ":KUBE-PROXY-CANARY", "-A INPUT -j KUBE-FIREWALL"} {
			if !strings.Contains(left, want) {
				t.Errorf("%s was removed:\n%s", want, left)
			}
		}
		if regexp.MustCompile("LAMEDUCK|KUBE-S|KUBE-MARK|KUBE-E|KUBE-N|KUBE-POST|KUBE-FORWARD|kubernetes").MatchString(left) {
			t.Errorf("left behind:\n%s", left)
		}
	})
}

func TestFlushesAreRepaired(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		w := backendtest.NewWorld(4, testNode())
		b := backend(t, w.Node, Options{Variant: v})
		backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice("10.244.0.5", "10.244.0.6"))
		p, d := w.Step(t)
		apply(t, b, p, d)
		whole := sorted(listing(t, v, endpoints.IPv4))
		tool := command(endpoints.IPv4, v, "")
		for i, lines := range [][]string{
			{"-t nat -F"}, {"-t nat -F", "-t nat -X"}, {"-F", "-X"}, {"-t mangle -X"},
			{"-t nat -D PREROUTING 1"}, {"-t nat -F KUBE-POSTROUTING"}, {"-t nat -I KUBE-MARK-MASQ 1 -j RETURN"},
		} {
			for _, line := range lines {
				run(t, tool, strings.Fields(line)...)
			}
			apply(t, b, p, plan.Delta{})
			if b.families[0].replaced != i+2 {
				t.Errorf("%q: written %d times, want %d", lines, b.families[0].replaced, i+2)
			}
			if diff := cmp.Diff(whole, sorted(listing(t, v, endpoints.IPv4))); diff != "" {
				t.Errorf("%q (- before, + after):\n%s", lines, diff)
			}
		}
	})
}

func TestTheRehearsalLeavesNothingBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		b := backend(t, testNode(), Options{Variant: v})
		if got := listing(t, v, endpoints.IPv4); strings.Contains(got, "KUBE") {
			t.Errorf("left behind:\n%s", got)
		}
		if f := b.families[0].features; f.nft != (v == NFT) || !f.randomFully {
			t.Errorf("features are %+v", f)
		}
		if err := b.Cleanup(); err != nil { // of nothing
			t.Error(err)
		}
	})
}

func TestWhatTheToolRefusesIsNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		b := backend(t, testNode(), Options{Variant: v})
		err := b.families[0].kernel.restore("*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -j KUBE-NOWHERE\nCOMMIT\n")
		if err == nil || !strings.Contains(err.Error(), "iptables-"+v.String()+"-restore") || !strings.Contains(err.Error(), "KUBE-") {
			t.Errorf("got %v, want the tool and the rule", err)
		}
	})
}

func TestABackendWorksInTheNamespaceItIsGiven(t *testing.T) {
	alone(t)
	node := testNode()
	node.LocalhostNodePorts = true
	machine := newNamespace(t)
	ns, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", machine.tid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ns.Close() }()
	b := backend(t, node, Options{Variant: NFT, NetNS: int(ns.Fd())})
	apply(t, b, plan.Empty(node), plan.Delta{})
	if got := listing(t, NFT, endpoints.IPv4); strings.Contains(got, "KUBE") {
		t.Errorf("chains in the caller's namespace: %s", got)
	}
	switchAt := func() string {
		text, err := os.ReadFile(routeLocalnet)
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(text))
	}
	there := ""
	err = machine.do(func() error {
		out, err := exec.Command("iptables-nft-save").Output()
		if !strings.Contains(string(out), "-A INPUT -j KUBE-FIREWALL") {
			return fmt.Errorf("%w: %s", err, out)
		}
		there = switchAt()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if here := switchAt(); here != "0" || there != "1" {
		t.Errorf("127.0.0.0/8 is routed here: %s, there: %s", here, there)
	}
}

// namespace is a machine of its own: a thread that runs what it is given.
type namespace struct {
	tid  int
	work chan func()
}

// newNamespace makes a machine. It ends with the test.
func newNamespace(t *testing.T) *namespace {
	t.Helper()
	n := &namespace{work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		n.tid = unix.Gettid()
		ready <- unix.Unshare(unix.CLONE_NEWNET)
		for f := range n.work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		backendtest.Lacking(t, "no network namespace of its own: %v", err)
	}
	t.Cleanup(func() { close(n.work) })
	if err := n.do(func() error { return exec.Command("ip", "link", "set", "lo", "up").Run() }); err != nil {
		t.Fatal(err)
	}
	return n
}

// do runs f on the machine.
func (n *namespace) do(f func() error) error {
	err := make(chan error)
	n.work <- func() { err <- f() }
	return <-err
}

// TestNoConnectionIsLostWhileEndpointsChange: all endpoints listen all the time, so whichever a
// packet is sent to, between whichever two restores, it is answered. Now and then another
// process takes the chains over.
func TestNoConnectionIsLostWhileEndpointsChange(t *testing.T) {
	for _, v := range []Variant{NFT, Legacy} {
		t.Run(v.String(), func(t *testing.T) {
			machine := newNamespace(t)
			var b *Backend
			w := backendtest.NewWorld(6, testNode())
			listen(t, machine)
			var ns *os.File
			err := machine.do(func() (err error) { ns, err = os.Open("/proc/thread-self/ns/net"); return err })
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = ns.Close() }()
			opts := Options{Variant: v, Families: []endpoints.IPFamily{endpoints.IPv4}, NetNS: int(ns.Fd())}
			b = backend(t, w.Node, opts)
			changes := 0
			change := func() {
				var addrs []string
				for i := range 1 + w.Rand.IntN(1<<w.Rand.IntN(5)) {
					addrs = append(addrs, backendtest.PodAddr(endpoints.IPv4, i))
				}
				backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice(addrs...))
				backendtest.SetService(t, w.Cache, w.Service(5, "svc-5"), w.Slices("svc-5")...) // with the rules in other chains that it has now and then
				p, d := w.Step(t)
				if changes%10 == 9 {
					b = backend(t, w.Node, opts)
				}
				apply(t, b, p, d)
				changes++
			}
			change()
			done := make(chan error, 1)
			stop := make(chan struct{})
			connections := 0
			machine.work <- func() { done <- connectUntil(stop, &connections) }
			for range 60 {
				change()
			}
			close(stop)
			if err := <-done; err != nil {
				t.Errorf("connection %d: %v, during %d changes", connections, err, changes)
			}
			if connections < 100 {
				t.Errorf("only %d connections meanwhile", connections)
			}
			t.Logf("%d connections during %d changes", connections, changes)
		})
	}
}

// listen answers on all pods' addresses, which the machine has itself.
func listen(t *testing.T, n *namespace) {
	t.Helper()
	var l net.Listener
	err := n.do(func() (err error) {
		for _, args := range []string{"addr add 10.244.0.0/24 dev lo", "route add default dev lo"} {
			if err := exec.Command("ip", strings.Fields(args)...).Run(); err != nil {
				return err
			}
		}
		l, err = net.Listen("tcp", "0.0.0.0:8080")
		return err
	})
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
			_ = c.Close()
		}
	}()
}

// connectUntil opens connections until it is told to stop, or one is lost.
func connectUntil(stop chan struct{}, n *int) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		c, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", "10.96.0.1:80")
		if err == nil {
			err = errors.Join(c.Close(), noRepetition())
		}
		if err != nil {
			return err
		}
		*n++
	}
}

// noRepetition says whether a first packet had to be sent again: a refused one comes through
// at the second attempt, a second later, and its loss would not show.
func noRepetition() error {
	text, err := os.ReadFile("/proc/thread-self/net/netstat")
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if j := slices.Index(names, "TCPSynRetrans"); j >= 0 && values[j] != "0" {
			return fmt.Errorf("%s first packets were sent again", values[j])
		} else if j >= 0 {
			return nil
		}
	}
	return errors.New("the kernel does not count repeated first packets")
}

// TestLoopbackStaysClosedToTheNetwork: node ports on localhost need a switch that lets anybody
// on the node's network reach what listens on 127.0.0.1 only (kubernetes issue 90259).
func TestLoopbackStaysClosedToTheNetwork(t *testing.T) {
	for _, v := range []Variant{NFT, Legacy} {
		t.Run(v.String(), func(t *testing.T) {
			installed(t, v)
			machine, neighbour := newNamespace(t), newNamespace(t)
			in := func(n *namespace, line string) {
				t.Helper()
				words := strings.Fields(line)
				if out, err := runOn(n, words[0], words[1:]...); err != nil {
					t.Fatalf("%s: %v: %s", line, err, out)
				}
			}
			in(machine, fmt.Sprintf("ip link add up0 type veth peer name up0 netns %d", neighbour.tid))
			in(machine, "ip addr add 192.168.10.1/24 dev up0")
			in(machine, "ip link set up0 up")
			in(neighbour, "ip addr add 192.168.10.9/24 dev up0")
			in(neighbour, "ip link set up0 up")
			in(neighbour, "ip addr del 127.0.0.1/8 dev lo")
			in(neighbour, "ip route add 127.0.0.1/32 via 192.168.10.1 src 192.168.10.9")
			for _, n := range []*namespace{machine, neighbour} {
				if err := n.do(func() error { return setRouteLocalnet("1", func() error { return nil }) }); err != nil {
					t.Fatal(err)
				}
			}
			var l net.Listener
			if err := machine.do(func() (err error) { l, err = net.Listen("tcp", "127.0.0.1:1234"); return err }); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			err := neighbour.do(func() error {
				c, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", "127.0.0.1:1234")
				if err == nil {
					err = c.Close()
				}
				return err
			})
			if err != nil {
				t.Fatalf("127.0.0.1 is closed before anybody closes it, so that this test would notice nothing: %v", err)
			}
			node := testNode()
			node.LocalhostNodePorts = true
			err = machine.do(func() error {
				b, err := New(node, Options{Variant: v, Families: []endpoints.IPFamily{endpoints.IPv4}})
				if err == nil {
					err = b.Apply(plan.Empty(node), plan.Delta{})
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := neighbour.do(knock); err != nil {
				t.Error(err)
			}
		})
	}
}

// knock begins a connection to 127.0.0.1, then one to where nobody listens: when that is refused,
// the first one has been answered, or never will be.
func knock() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	err = unix.Connect(fd, &unix.SockaddrInet4{Port: 1234, Addr: [4]byte{127, 0, 0, 1}})
	if !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("knock: %w", err)
	}
	if _, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", "192.168.10.1:1235"); !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("a port that nobody listens on: %w", err)
	}
	const synSent = 2 // tcp_states.h
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err == nil && info.State != synSent {
		err = fmt.Errorf("127.0.0.1 answers to the network: state %d", info.State)
	}
	return err
}

// runOn runs a tool on a machine.
func runOn(n *namespace, name string, args ...string) (out []byte, err error) {
	err = n.do(func() (err error) {
		out, err = exec.Command(name, args...).CombinedOutput()
		return err
	})
	return out, err
}

// Where /proc/sys is read-only, as in a container without privileges, everything else is in force.
func TestAReadOnlySettingKeepsOnlyLocalhostFromNodePorts(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			backendtest.Lacking(t, "no mount namespace of its own: %v", err)
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil { // what follows is nobody else's
			backendtest.Lacking(t, "mounts cannot be made private here: %v", err)
		}
		for _, flags := range []uintptr{unix.MS_BIND, unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY} {
			if err := unix.Mount("/proc/sys", "/proc/sys", "", flags, ""); err != nil {
				backendtest.Lacking(t, "/proc/sys cannot be made read-only here: %v", err)
			}
		}
		node := testNode()
		node.LocalhostNodePorts = true
		b, err := New(node, Options{Variant: v})
		if err != nil {
			backendtest.Lacking(t, "no %v here: %v", v, err)
		}
		w := backendtest.NewWorld(1, node)
		for range 40 {
			w.Disturb(t, 20)
		}
		p, _ := w.Step(t)
		for _, put := range []func() error{func() error { return b.Resync(p) }, func() error { return b.Check(p) }} {
			if err := put(); err != nil {
				t.Fatal(err)
			}
			without := fmt.Sprint(b.Without())
			for _, want := range []string{"127.0.0.1", "route_localnet: read-only file system", "iptables.localhostNodePorts", "--iptables-localhost-nodeports=false", "/proc/sys"} {
				if !strings.Contains(without, want) {
					t.Errorf("%q does not say %q", without, want)
				}
			}
		}
		rules := run(t, "iptables-"+v.String()+"-save")
		if !strings.Contains(rules, "! -d 127.0.0.0/8") || !strings.Contains(rules, "-A KUBE-SERVICES") || strings.Contains(rules, "LAMEDUCK-LOCALNET") {
			t.Errorf("rules:\n%s", rules)
		}
		other := *node
		other.LocalhostNodePorts = false
		if err := b.Apply(plan.Empty(&other), plan.Delta{}); err != nil || b.Without() != nil {
			t.Errorf("a node without localhost node ports: %v, without %v", err, b.Without())
		}
		if err := b.Cleanup(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
}
