//go:build linux

package nftables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/nftables"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// reexec marks a test binary that started itself again in a user namespace.
const reexec = "LAMEDUCK_NFTABLES_REEXEC"

// TestMain gives an ordinary user the root of a namespace of its own, where there are any.
func TestMain(m *testing.M) {
	if os.Geteuid() == 0 || os.Getenv(reexec) != "" {
		os.Exit(m.Run())
	}
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), reexec+"=1")
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := self.Start(); err != nil {
		os.Exit(m.Run()) // no user namespaces here: the kernel's tests skip
	}
	if err := self.Wait(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
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
}

// run runs a tool in the test's namespace and returns what it prints.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		backendtest.Lacking(t, "no %s here: %v", name, err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// backend returns a Backend in the test's namespace.
func backend(t testing.TB, node *plan.Node) *Backend {
	t.Helper()
	b, err := New(node, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestTheToolListsEveryShapeOfRule: nft 1.0.6 aborts on some that the kernel takes, and with it
// the administrator's whole listing (README.md, hazard 2).
func TestTheToolListsEveryShapeOfRule(t *testing.T) {
	for name, node := range nodes() {
		t.Run(name, func(t *testing.T) {
			alone(t)
			b, w := backend(t, node), backendtest.NewWorld(1, node)
			for range 120 {
				w.Disturb(t, 60)
			}
			p, d := w.Step(t)
			apply(t, b, p, d)
			text := run(t, "nft", "list", "ruleset")
			for _, want := range []string{"table ip lameduck", "table ip6 lameduck", "@sticky-local-endpoints", "@source-ranges-", "numgen random mod 1024", "counter packets 0 bytes 0 reject"} {
				if !strings.Contains(text, want) {
					t.Errorf("the listing lacks %q", want)
				}
			}
			if strings.Contains(text, "[invalid type]") {
				t.Error("the listing has an invalid type")
			}
			run(t, "nft", "-j", "list", "ruleset")
		})
	}
}

func apply(t testing.TB, b *Backend, p *plan.Plan, d plan.Delta) {
	t.Helper()
	if err := b.Apply(p, d); err != nil {
		t.Fatal(err)
	}
}

func TestTheToolTakesTheDump(t *testing.T) {
	for name, node := range nodes() {
		t.Run(name, func(t *testing.T) {
			alone(t)
			w := backendtest.NewWorld(2, node)
			for range 60 {
				w.Disturb(t, 30)
			}
			p, _ := w.Step(t)
			var text, again bytes.Buffer
			for _, out := range []*bytes.Buffer{&text, &again} {
				if err := Dump(out, p, Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if text.String() != again.String() {
				t.Error("two dumps of one Plan differ")
			}
			file := t.TempDir() + "/dump.nft"
			if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			skipWithoutRoom(t, file)
			run(t, "nft", "-f", file)
			if got := run(t, "nft", "list", "map", "ip", "lameduck", "frontends"); !strings.Contains(got, "tcp . 80 : 0:") {
				t.Errorf("frontends after loading the dump:\n%s", got)
			}
		})
	}
}

func TestABackendWorksInTheNamespaceAndTheFamilyItIsGiven(t *testing.T) {
	machine := newNamespace(t)
	ns, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", machine.tid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	alone(t)
	b, err := New(testNode(), Options{NetNS: int(ns.Fd()), Families: []endpoints.IPFamily{endpoints.IPv6}, Table: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	if got := run(t, "nft", "list", "tables"); got != "" {
		t.Errorf("tables in the caller's namespace: %s", got)
	}
	err = machine.do(func() error {
		out, err := exec.Command("nft", "list", "tables").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err == nil && got != "table ip6 mine" {
			return fmt.Errorf("tables: %q", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// skipWithoutRoom skips a test where the tool may not force the room in its socket that the text
// of so many chains takes.
func skipWithoutRoom(t *testing.T, file string) {
	t.Helper()
	if os.Getenv(reexec) == "" {
		return
	}
	out, err := exec.Command("nft", "-c", "-f", file).CombinedOutput()
	if err != nil && strings.Contains(string(out), "Message too long") {
		t.Skipf("the nft tool has no right to a larger send buffer in a user namespace: %s", out)
	}
}

// kernelRows reads the rows of a table back, with another reader than the one that wrote them.
func kernelRows(t testing.TB, f endpoints.IPFamily) [numRowSets]map[string]string {
	t.Helper()
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	var out [numRowSets]map[string]string
	for i, s := range setTable {
		if i >= numRowSets {
			break
		}
		out[i] = map[string]string{}
		elements, err := c.GetSetElements(&nftables.Set{
			Table: &nftables.Table{Name: "lameduck", Family: nftables.TableFamily(nfFamily(f))}, Name: s.name,
		})
		if err != nil {
			t.Fatalf("read %s: %v", s.name, err)
		}
		for _, e := range elements {
			out[i][string(e.Key)] = string(e.Val)
		}
	}
	return out
}

func TestAThousandChangesLeaveInTheKernelWhatTheyLeaveOnPaper(t *testing.T) {
	alone(t)
	w := backendtest.NewWorld(3, testNode())
	b := backend(t, w.Node)
	var states []*state
	var tables []*table
	for _, f := range endpoints.Families() {
		s, paper := newState(w.Node, f), newTable(f)
		paper.commit(t, s.create(w.Plan))
		states, tables = append(states, s), append(tables, paper)
	}
	apply(t, b, w.Plan, plan.Delta{})
	for range 1000 {
		w.Disturb(t, 25)
		p, d := w.Step(t)
		apply(t, b, p, d)
		for i, s := range states {
			tables[i].commit(t, s.apply(&d))
		}
	}
	for i, f := range endpoints.Families() {
		if diff := cmp.Diff(tables[i].rows, kernelRows(t, f)); diff != "" {
			t.Errorf("%s (- paper, + kernel):\n%s", f, diff)
		}
	}
	if b.replaced != 1 {
		t.Errorf("the tables were replaced %d times; nobody but us was there", b.replaced-1)
	}
	chains := map[string]bool{}
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.ListChainsOfTableFamily(nftables.TableFamilyIPv4)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		chains[x.Name] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(tables[0].chains)), slices.Sorted(maps.Keys(chains))); diff != "" {
		t.Errorf("chains (- paper, + kernel):\n%s", diff)
	}
}

func TestForeignChangesAreRepaired(t *testing.T) {
	for _, c := range []struct {
		name     string
		do       []string // of the nft tool
		replaced bool
	}{
		{"the whole ruleset is flushed", []string{"flush ruleset"}, true},
		{"our table is deleted", []string{"delete table ip lameduck"}, true},
		{"our rules are flushed", []string{"flush table ip6 lameduck"}, true},
		{"a chain's rules are flushed", []string{"flush chain ip lameduck try-4"}, true},
		{"a chain is added", []string{"add chain ip lameduck mine"}, true},
		{"a chain is added that our rules would jump to", []string{"delete table ip lameduck; add table ip lameduck; add chain ip lameduck services { type filter hook forward priority 0; }"}, true},
		{"a set is another", []string{"delete table ip lameduck; add table ip lameduck; add set ip lameduck frontends { type ipv4_addr; }"}, true},
		{"a set and an object are added", []string{"add set ip6 lameduck frontends-2 { type ipv4_addr; }", "add counter ip6 lameduck mine"}, true},
		{"our table is deleted and made again", []string{"delete table ip lameduck; add table ip lameduck"}, true},
		{"a set is emptied that is about to change", []string{"flush map ip lameduck frontends"}, true},
		{"another table changes", []string{"add table ip other", "add chain ip other mine"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			alone(t)
			b, w := backend(t, testNode()), backendtest.NewWorld(4, testNode())
			backendtest.SetService(t, w.Cache, w.Service(1, "svc-1"), w.Slices("svc-1")...)
			p, d := w.Step(t)
			apply(t, b, p, d)
			for _, line := range c.do {
				run(t, "nft", line)
			}
			w.Cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: "svc-1"})
			backendtest.SetService(t, w.Cache, w.Service(2, "svc-2"), w.Slices("svc-2")...)
			p, d = w.Step(t)
			apply(t, b, p, d)
			if got := b.replaced > 1; got != c.replaced {
				t.Errorf("replaced %v, want %v", got, c.replaced)
			}
			for _, f := range endpoints.Families() {
				want := newTable(f)
				want.commit(t, newState(w.Node, f).create(p))
				got := newTable(f)
				got.rows = kernelRows(t, f)
				if diff := cmp.Diff(want.rows[frontends], got.rows[frontends]); diff != "" {
					t.Errorf("frontends (- want, + got):\n%s", diff)
				}
			}
			if strings.Contains(run(t, "nft", "list", "table", "ip", "lameduck"), "chain mine") {
				t.Error("the foreign chain is still there")
			}
		})
	}
}

// drain returns how many of the datagrams that have come are about our tables: the kernel has sent
// them by the time a transaction is over.
func drain(t *testing.T, w *watcher) (foreign, all int) {
	t.Helper()
	for {
		n, _, err := unix.Recvfrom(w.fd, w.in[:], unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			return foreign, all
		}
		if errors.Is(err, unix.ENOBUFS) { // where nobody may force more room
			foreign, all = foreign+1, all+1
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all++
		if w.concerns(w.in[:n]) {
			foreign++
		}
	}
}

// TestWatchHearsOfForeignHandsAndOfNoOthers also puts right what nothing but Watch can notice.
func TestWatchHearsOfForeignHandsAndOfNoOthers(t *testing.T) {
	alone(t)
	run(t, "nft", "add table ip other")
	b, w := backend(t, testNode()), backendtest.NewWorld(4, testNode())
	n, err := b.kernel.watch(b.opts)
	if err != nil {
		t.Fatal(err)
	}
	listen, ok := n.(*watcher)
	if !ok {
		t.Fatalf("the notices are %T", n)
	}
	defer listen.close() //nolint:errcheck // the test is over
	for range 50 {
		w.Disturb(t, 20)
		p, d := w.Step(t)
		apply(t, b, p, d)
	}
	if err := b.Resync(w.Plan); err != nil {
		t.Fatal(err)
	}
	if _, all := drain(t, listen); all > 0 {
		t.Errorf("%d notices of our own transactions", all)
	}
	run(t, "nft", "add chain ip other mine; add set ip other frontends { type ipv4_addr; }")
	run(t, "nft", "add table inet lameduck; add chain inet lameduck services")
	if foreign, all := drain(t, listen); foreign > 0 || all == 0 {
		t.Errorf("of %d notices of other tables %d are about ours", all, foreign)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	told, err := b.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := run(t, "nft", "-s", "list", "table", "ip", "lameduck")
	for _, edit := range []string{
		"add element ip lameduck cluster-ips { 192.0.2.77 }",
		"flush set ip lameduck cluster-ips",
		"flush map ip lameduck frontends",
		"flush map ip lameduck classes",
		"add rule ip lameduck services drop",
		"insert rule ip lameduck prerouting accept",
		"flush chain ip lameduck try-1",
		"add set ip lameduck mine { type ipv4_addr; }",
		"add counter ip lameduck mine",
		"add table ip lameduck { flags dormant; }",
		"add chain ip lameduck prerouting { policy drop; }",
		"delete table ip lameduck",
		"flush ruleset",
	} {
		run(t, "nft", edit)
		if foreign, _ := drain(t, listen); foreign == 0 {
			t.Errorf("%s: nobody heard of it", edit)
		}
		<-told
		// Once more than it is told: a transaction of others may be several datagrams.
		for range 2 {
			apply(t, b, w.Plan, plan.Delta{})
		}
		after := run(t, "nft", "-s", "list", "table", "ip", "lameduck")
		if diff := cmp.Diff(sortedLines(before), sortedLines(after)); diff != "" {
			t.Errorf("%s: not repaired (- before, + after):\n%s", edit, diff)
		}
		drain(t, listen)
	}
}

// sortedLines is a listing without the order that sets have in it.
func sortedLines(listing string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(listing, ", ", ",\n")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "elements = {")
		if line = strings.Trim(line, "{}, "); line != "" {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func TestAnApplyWithoutADifferenceRepairsToo(t *testing.T) {
	alone(t)
	b := backend(t, testNode())
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	run(t, "nft", "flush ruleset")
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	run(t, "nft", "list", "table", "ip", "lameduck")
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	if b.replaced != 2 {
		t.Errorf("replaced %d times, want 2", b.replaced)
	}
}

func TestCleanupRemovesOurTablesAndNothingElse(t *testing.T) {
	alone(t)
	run(t, "nft", "add table ip lameduck-too; add table inet lameduck; add chain inet lameduck mine")
	b := backend(t, testNode())
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	for range 2 { // the second time there is nothing to remove
		if err := b.Cleanup(); err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(run(t, "nft", "list", "tables"))
		if want := strings.Fields("table ip lameduck-too table inet lameduck"); !slices.Equal(got, want) {
			t.Errorf("tables left: %v, want %v", got, want)
		}
	}
	apply(t, b, plan.Empty(b.node), plan.Delta{})
}

func TestTheRehearsalLeavesNothingBehind(t *testing.T) {
	alone(t)
	backend(t, testNode())
	if got := run(t, "nft", "list", "ruleset"); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
}

func TestWhatTheKernelRefusesIsNamed(t *testing.T) {
	alone(t)
	b := backend(t, testNode())
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	c := &tableChange{family: endpoints.IPv4, rows: newChanges(endpoints.IPv4), chains: []chain{
		{name: "odd", rules: []rule{ruleOf(setPriority{vipKey(false), "nowhere"})}},
	}}
	err := b.kernel.commit("lameduck", []*tableChange{c}, 0, false)
	if !errors.Is(err, unix.ENOENT) || !strings.Contains(fmt.Sprint(err), "chain odd (meta priority set ip daddr . meta l4proto . th dport map @nowhere)") {
		t.Errorf("got %v, want the rule and ENOENT", err)
	}
	if got := run(t, "nft", "list", "chains", "ip"); strings.Contains(got, "odd") || !strings.Contains(got, "chain services") {
		t.Errorf("after a refusal the chains are\n%s", got)
	}
	for _, f := range features() {
		for _, family := range endpoints.Families() {
			if err := b.rehearse([]*tableChange{f.change(family)}); err != nil {
				t.Errorf("%s: %v", f.what, err)
			}
		}
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
	n.run(t, "ip", "link", "set", "lo", "up")
	return n
}

// do runs f on the machine.
func (n *namespace) do(f func() error) error {
	err := make(chan error)
	n.work <- func() { err <- f() }
	return <-err
}

func (n *namespace) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		backendtest.Lacking(t, "no %s here: %v", name, err)
	}
	err := n.do(func() error {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// connect joins two machines by a cable, with an address at each end.
func connect(t *testing.T, a, b *namespace, name, addrA, addrB string) {
	t.Helper()
	a.run(t, "ip", "link", "add", name, "type", "veth", "peer", "name", name+"p")
	a.run(t, "ip", "link", "set", name+"p", "netns", fmt.Sprint(b.tid))
	for _, end := range []struct {
		n          *namespace
		name, addr string
	}{{a, name, addrA}, {b, name + "p", addrB}} {
		end.n.run(t, "ip", "addr", "add", end.addr, "dev", end.name)
		end.n.run(t, "ip", "link", "set", end.name, "up")
	}
}

// serve answers every connection with the address it sees, and then echoes.
func serve(t *testing.T, n *namespace, at string) {
	t.Helper()
	var l net.Listener
	err := n.do(func() (err error) {
		l, err = net.Listen("tcp", at)
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
			go func() {
				defer func() { _ = c.Close() }()
				host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
				fmt.Fprintf(c, "%-64s", at+" sees "+host)
				buf := make([]byte, 64)
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
					if _, err := c.Write(buf); err != nil {
						return
					}
				}
			}()
		}
	}()
}

// dial opens a connection and returns what the server said.
func (n *namespace) dial(at string) (c net.Conn, said string, err error) {
	err = n.do(func() error {
		c, err = (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", at)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	said, err = hear(c)
	return c, said, err
}

func hear(c net.Conn) (string, error) {
	buf := make([]byte, 64)
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	n, err := c.Read(buf)
	return strings.TrimSpace(string(buf[:n])), err
}

// TestPacketsGoWhereTheRulesSend: a client beyond the node, the node, and two pods behind it.
func TestPacketsGoWhereTheRulesSend(t *testing.T) {
	node, client, pods := newNamespace(t), newNamespace(t), newNamespace(t)
	connect(t, node, client, "up0", "192.168.10.1/24", "192.168.10.9/24")
	connect(t, node, pods, "cbr0", "10.244.0.1/24", "10.244.0.5/24")
	pods.run(t, "ip", "addr", "add", "10.244.0.6/24", "dev", "cbr0p")
	node.run(t, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	client.run(t, "ip", "route", "add", "default", "via", "192.168.10.1")
	pods.run(t, "ip", "route", "add", "default", "via", "10.244.0.1")
	node.run(t, "ip", "route", "add", "default", "via", "192.168.10.9") // what leaves untranslated gets lost there
	serve(t, pods, "10.244.0.5:8080")
	serve(t, pods, "10.244.0.6:8080")

	w := backendtest.NewWorld(5, testNode())
	var b *Backend
	if err := node.do(func() (err error) { b, err = New(w.Node, Options{}); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	svc := backendtest.PacketService()
	backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice("10.244.0.5"))
	p, d := w.Step(t)
	apply(t, b, p, d)

	expect := func(from *namespace, at, want string) net.Conn {
		t.Helper()
		c, said, err := from.dial(at)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if said != want {
			t.Fatalf("%s: %q, want %q", at, said, want)
		}
		return c
	}
	kept := expect(client, "10.96.0.1:80", "10.244.0.5:8080 sees 10.244.0.1")
	expect(client, "192.168.10.1:30001", "10.244.0.5:8080 sees 192.168.10.9")
	expect(node, "10.96.0.1:80", "10.244.0.5:8080 sees 10.244.0.1")
	expect(pods, "10.96.0.1:80", "10.244.0.5:8080 sees 10.244.0.1") // to itself: masqueraded

	// Another process takes the tables over, and the endpoint is replaced; the flow stays.
	var next *Backend
	if err := node.do(func() (err error) { next, err = New(w.Node, Options{}); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = next.Close() })
	apply(t, next, p, plan.Delta{})
	backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice("10.244.0.6"))
	p, d = w.Step(t)
	apply(t, next, p, d)
	if _, err := fmt.Fprintf(kept, "still there"); err != nil {
		t.Fatal(err)
	}
	if said, err := hear(kept); err != nil || !strings.HasPrefix(said, "still there") {
		t.Fatalf("the flow from before: %q, %v", said, err)
	}
	expect(client, "10.96.0.1:80", "10.244.0.6:8080 sees 10.244.0.1")

	backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice())
	p, d = w.Step(t)
	apply(t, next, p, d)
	if _, _, err := client.dial("10.96.0.1:80"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without endpoints: %v, want a refusal", err)
	}
}

// TestNoConnectionIsLostWhileEndpointsChange: all endpoints listen all the time, so whichever a
// packet is sent to, between whichever two transactions, it is answered.
func TestNoConnectionIsLostWhileEndpointsChange(t *testing.T) {
	machine := newNamespace(t)
	machine.run(t, "ip", "addr", "add", "10.244.0.0/24", "dev", "lo")
	machine.run(t, "ip", "route", "add", "default", "dev", "lo")
	serve(t, machine, "0.0.0.0:8080")
	w := backendtest.NewWorld(6, testNode())
	var b *Backend
	if err := machine.do(func() (err error) { b, err = New(w.Node, Options{}); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	change := func() {
		var addrs []string
		for i := range 1 + w.Rand.IntN(1<<w.Rand.IntN(5)) {
			addrs = append(addrs, backendtest.PodAddr(endpoints.IPv4, i))
		}
		backendtest.SetService(t, w.Cache, backendtest.PacketService(), backendtest.PacketSlice(addrs...))
		p, d := w.Step(t)
		apply(t, b, p, d)
	}
	change()
	const connections = 2000
	done := make(chan error, 1)
	machine.work <- func() {
		for i := range connections {
			c, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", "10.96.0.1:80")
			if err == nil {
				err = errors.Join(c.Close(), noRepetition())
			}
			if err != nil {
				done <- fmt.Errorf("connection %d: %w", i, err)
				return
			}
		}
		done <- nil
	}
	changes := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%v, during %d changes", err, changes)
			}
			if changes < 100 {
				t.Errorf("only %d changes meanwhile", changes)
			}
			t.Logf("%d connections during %d changes", connections, changes)
			return
		default:
			change()
			changes++
		}
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

// TestAFullMemoryServesAllTheSame: a client that cannot be remembered gets an endpoint as if there
// were no affinity, and is refused by nobody (README.md, hazard 8).
func TestAFullMemoryServesAllTheSame(t *testing.T) {
	machine := newNamespace(t)
	machine.run(t, "ip", "addr", "add", "10.244.0.0/24", "dev", "lo")
	machine.run(t, "ip", "route", "add", "default", "dev", "lo")
	serve(t, machine, "0.0.0.0:8080")
	w := backendtest.NewWorld(6, testNode())
	var b *Backend
	if err := machine.do(func() (err error) { b, err = New(w.Node, Options{}); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	b.kernel = smallMemory{b.kernel}
	svc := backendtest.PacketService()
	svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice("10.244.0.5", "10.244.0.6", "10.244.0.7"))
	p, d := w.Step(t)
	apply(t, b, p, d)
	machine.run(t, "nft", "add element ip lameduck sticky { ffff:0 . 192.0.2.1 : ffff:1, ffff:0 . 192.0.2.2 : ffff:1 }")
	for range 50 {
		c, _, err := machine.dial("10.96.0.1:80")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	err := machine.do(func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		elements, err := c.GetSetElements(&nftables.Set{Table: &nftables.Table{Name: "lameduck", Family: nftables.TableFamilyIPv4}, Name: "sticky"})
		if err == nil && len(elements) != smallMemorySize {
			err = fmt.Errorf("%d clients are remembered, want %d that were there before", len(elements), smallMemorySize)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// smallMemory is a kernel in which tables remember very few clients: to have them remember all that
// they can takes the kernel a minute.
type smallMemory struct{ kernel }

const smallMemorySize = 2

func (k smallMemory) commit(table string, changes []*tableChange, generation uint32, check bool) error {
	for _, c := range changes {
		for i := range c.sets {
			if c.sets[i].kind == memory {
				c.sets[i].size = smallMemorySize
			}
		}
	}
	return k.kernel.commit(table, changes, generation, check)
}

// Remove needs no Backend, and says whether there was anything.
func TestRemoveTellsWhatItFound(t *testing.T) {
	alone(t)
	run(t, "nft", "add table inet lameduck; add table ip other; add chain ip other mine")
	want := func(when string, want bool) {
		t.Helper()
		if got, err := Remove(Options{}); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", when, got, err, want)
		}
	}
	want("at first", false)
	b := backend(t, testNode())
	apply(t, b, plan.Empty(b.node), plan.Delta{})
	if got, err := Chains(Options{}, endpoints.IPv4); err != nil || !slices.Contains(got, "other mine") {
		t.Errorf("chains: %q, %v", got, err)
	}
	want("with rules", true)
	want("when they are gone", false)
	if got := strings.Fields(run(t, "nft", "list", "tables")); !slices.Equal(got, strings.Fields("table inet lameduck table ip other")) {
		t.Errorf("tables left: %v", got)
	}
}

// Whoever may not look does not say that there is nothing.
func TestARightThatIsMissingIsNamed(t *testing.T) {
	alone(t)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := make([]unix.CapUserData, 2)
	if err := unix.Capset(&header, &none[0]); err != nil { // of this thread, which ends with the test
		t.Fatal(err)
	}
	if _, err := Remove(Options{}); err == nil || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
		t.Errorf("got %v", err)
	}
	if _, err := Chains(Options{}, endpoints.IPv6); err == nil || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
		t.Errorf("got %v", err)
	}
}

// What somebody else made in the place of our tables, and each time that our rules had to be written again, is told once.
func TestRemovedTablesAndRepairsAreTold(t *testing.T) {
	alone(t)
	run(t, "nft", "add table ip lameduck; add chain ip lameduck mine; add table ip6 lameduck")
	b := backend(t, testNode())
	p := plan.Empty(b.node)
	want := func(when string, repairs int, removed ...string) {
		t.Helper()
		if got := b.Removed(); b.Repairs() != repairs || !slices.Equal(got, removed) {
			t.Errorf("%s: %d repairs, removed %q; want %d, %q", when, b.Repairs(), got, repairs, removed)
		}
	}
	apply(t, b, p, plan.Delta{})
	want("at first", 0, "table ip lameduck") // that of ip6 was empty
	apply(t, b, p, plan.Delta{})
	want("with nothing to do", 0)
	run(t, "nft", "flush ruleset")
	apply(t, b, p, plan.Delta{})
	want("after a flush", 1)
	run(t, "nft", "delete table ip lameduck; add table ip lameduck; add set ip lameduck mine { type ipv4_addr; }")
	apply(t, b, p, plan.Delta{})
	want("after an exchange", 2, "table ip lameduck")
	if err := b.Resync(p); err != nil {
		t.Fatal(err)
	}
	want("after a resync that was asked for", 2)
	next := backend(t, testNode()) // what an earlier run left is ours
	apply(t, next, p, plan.Delta{})
	if got := next.Removed(); got != nil || next.Repairs() != 0 {
		t.Errorf("after a restart: removed %q, %d repairs", got, next.Repairs())
	}
}
