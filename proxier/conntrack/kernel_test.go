//go:build linux

package conntrack

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
)

// reexec marks a test binary that started itself again in a user namespace.
const reexec = "LAMEDUCK_CONNTRACK_REEXEC"

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

// machine is a node with its pods in one network namespace: all their addresses are on its
// loopback interface. The whole proxy runs on it: loop, rules and clean-up.
type machine struct {
	t         *testing.T
	proxier   *proxier.Proxier
	forgotten int
}

// place is what a family's test needs to know.
type place struct{ node, podA, podB, vip, ranges, bits, flags string }

func places() map[string]place {
	return map[string]place{
		"IPv4": {"192.0.2.1", "10.0.0.1", "10.0.0.2", "10.96.0.10", "10.96.0.0/16", "/32", ""},
		"IPv6": {"fd02::1", "fd00::1", "fd00::2", "fd10::10", "fd10::/64", "/128", " nodad"}, // else it is tentative, and not to be bound to, until a kernel's worker has looked at it
	}
}

// newMachine puts the test's thread into a network namespace of its own. The thread ends with the
// test, and the namespace with it.
func newMachine(t *testing.T, at place) *machine {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		backendtest.Lacking(t, "no network namespace of its own: %v", err)
	}
	ip(t, "link set lo up")
	for _, a := range []string{at.node, at.podA, at.podB} {
		ip(t, "address add "+a+at.bits+" dev lo"+at.flags)
	}
	// What no rule translates leaves by an interface at whose other end is nobody.
	ip(t, "link add way-out type veth peer name nobody")
	ip(t, "link set way-out up")
	ip(t, "link set nobody up")
	ip(t, "route add "+at.ranges+" dev way-out")
	m := &machine{t: t}
	node := thisNode()
	b, err := nftables.New(node, nftables.Options{})
	if err != nil {
		backendtest.Lacking(t, "no nftables: %v", err)
	}
	t.Cleanup(func() { _ = b.Close() })
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	m.proxier, err = proxier.New(proxier.Options{
		Backend: b, Node: node, Conntrack: c, Cleaned: func(c proxier.Cleaning) { m.forgotten += c.Forgotten[0] + c.Forgotten[1] },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ip(t *testing.T, args string) {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		backendtest.Lacking(t, "no ip here: %v", err)
	}
	if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", args, err, out)
	}
}

// sync has the proxy program dns with these pods, and says how many flows it forgot.
func (m *machine) sync(pods ...pod) int {
	m.t.Helper()
	svc := dns()
	svc.Spec.InternalTrafficPolicy, svc.Spec.ExternalTrafficPolicy = nil, "" // any pod will do
	m.proxier.SetService(svc)
	for _, s := range slicesOf(pods...) {
		m.proxier.SetSlice(s)
	}
	return m.once()
}

func (m *machine) once() int {
	m.t.Helper()
	m.forgotten = 0
	if err := m.proxier.Once(); err != nil {
		m.t.Fatal(err)
	}
	return m.forgotten
}

// serve answers every datagram and connection at a pod's address with its name.
func (m *machine) serve(addr, name string) {
	m.t.Helper()
	at := netip.AddrPortFrom(netip.MustParseAddr(addr), 5353)
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		m.t.Fatal(err)
	}
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = udp.Close(); _ = tcp.Close() })
	go func() {
		buf := make([]byte, 64)
		for {
			_, from, err := udp.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = udp.WriteToUDPAddrPort([]byte(name), from)
		}
	}()
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			go answer(c, name)
		}
	}()
}

func answer(c net.Conn, name string) {
	defer func() { _ = c.Close() }()
	buf := make([]byte, 1)
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			return
		}
		if _, err := c.Write([]byte(name)); err != nil {
			return
		}
	}
}

// client is one end of a flow.
type client struct {
	t    *testing.T
	conn net.Conn
}

// dial opens a flow from the node's address to a Service's.
func (m *machine) dial(network string, at place, to string) *client {
	m.t.Helper()
	from := netip.AddrPortFrom(netip.MustParseAddr(at.node), 0)
	d := net.Dialer{LocalAddr: net.UDPAddrFromAddrPort(from)}
	if network == "tcp" {
		d.LocalAddr = net.TCPAddrFromAddrPort(from)
	}
	c, err := d.Dial(network, to)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = c.Close() })
	return &client{m.t, c}
}

// testPatience is for failures only: who answers does so at once, who refuses as well.
const testPatience = 20 * time.Second

// again is when a datagram is sent again, as resolvers do. One was lost once, the first of a flow, on a loaded machine in whose other
// namespaces flows and rules came and went; what is looked at here is who answers, and test/fault looks whether packets are lost.
const again = 2 * time.Second

// ask sends something and returns the name of who answers, or "refused".
func (c *client) ask() string {
	c.t.Helper()
	c.forgive()
	buf := make([]byte, 1)
	_, tcp := c.conn.(*net.TCPConn)
	var err error
	for end := time.Now().Add(testPatience); ; {
		wait := end
		if first := time.Now().Add(again); !tcp && first.Before(end) {
			wait = first
		}
		if err := c.conn.SetDeadline(wait); err != nil {
			c.t.Fatal(err)
		}
		if _, err = c.conn.Write([]byte("?")); err == nil {
			_, err = io.ReadFull(c.conn, buf)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || wait.Equal(end) {
			break
		}
		c.t.Logf("%s asks %s again", c.conn.LocalAddr(), c.conn.RemoteAddr())
	}
	switch {
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.EPERM):
		return "refused"
	case err != nil:
		c.t.Fatal(err)
	}
	return string(buf)
}

func (c *client) want(what, who string) {
	c.t.Helper()
	if got := c.ask(); got != who {
		c.t.Errorf("%s: %s, want %s", what, got, who)
	}
}

// forgive has the socket forget an error that came for what was sent before.
func (c *client) forgive() {
	c.t.Helper()
	raw, ok := c.conn.(syscall.Conn)
	if !ok {
		c.t.Fatalf("%T is no socket", c.conn)
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		c.t.Fatal(err)
	}
	err = rc.Control(func(fd uintptr) { _, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) })
	if err != nil {
		c.t.Fatal(err)
	}
}

func wantForgotten(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d flows forgotten, want %d", what, got, want)
	}
}

// TestTheKernelForgetsStaleFlows: pod a goes on answering all the time, so that a flow that was not
// forgotten shows.
func TestTheKernelForgetsStaleFlows(t *testing.T) {
	for family, at := range places() {
		t.Run(family, func(t *testing.T) {
			m := newMachine(t, at)
			m.serve(at.podA, "a")
			m.serve(at.podB, "b")
			vip, nodePort := net.JoinHostPort(at.vip, "53"), net.JoinHostPort(at.node, "30053")
			m.sync(pod{at.podA, ready})
			flows := []*client{m.dial("udp", at, vip), m.dial("udp", at, nodePort)}
			tcp := m.dial("tcp", at, vip)
			other := m.dial("udp", at, net.JoinHostPort(at.podA, "5353")) // no Service's
			for _, f := range flows {
				f.want("a flow to the only endpoint", "a")
			}
			tcp.want("a connection to the only endpoint", "a")
			other.want("a flow past the Service", "a")

			wantForgotten(t, "a terminates and serves", m.sync(pod{at.podA, draining}, pod{at.podB, ready}), 0)
			for _, f := range flows {
				f.want("a flow to one that terminates and serves", "a")
			}
			m.dial("udp", at, vip).want("a new flow meanwhile", "b")

			wantForgotten(t, "a no longer serves", m.sync(pod{at.podA, stopping}, pod{at.podB, ready}), 2)
			for _, f := range flows {
				f.want("a flow to one that no longer serves", "b")
			}

			wantForgotten(t, "nobody serves", m.sync(), 3)
			for _, f := range flows {
				f.want("a flow without any endpoint", "refused")
			}

			wantForgotten(t, "a is back", m.sync(pod{at.podA, ready}), 0)
			for _, f := range flows {
				f.want("a flow to one that is back", "a")
			}
			m.proxier.DeleteService(endpoints.ServiceName{Namespace: "kube-system", Name: "dns"})
			wantForgotten(t, "the Service is gone", m.once(), 2)

			tcp.want("a connection, through all of it", "a")
			other.want("a flow past the Service, through all of it", "a")
		})
	}
}

// TestTheKernelForgetsWhatWasSentTooEarly: an entry from before the Service had its address would
// keep the flow from ever being translated.
func TestTheKernelForgetsWhatWasSentTooEarly(t *testing.T) {
	for family, at := range places() {
		t.Run(family, func(t *testing.T) {
			m := newMachine(t, at)
			m.serve(at.podA, "a")
			m.once() // rules without Services
			early := m.dial("udp", at, net.JoinHostPort(at.vip, "53"))
			if _, err := early.conn.Write([]byte("?")); err != nil {
				t.Fatal(err)
			}
			wantForgotten(t, "the Service comes", m.sync(pod{at.podA, ready}), 1)
			early.want("a flow from before the Service", "a")
		})
	}
}

// TestOtherNamespacesAreReachedByDescriptor: the flows are where the descriptor says, not the caller.
func TestOtherNamespacesAreReachedByDescriptor(t *testing.T) {
	at := places()["IPv4"]
	m := newMachine(t, at)
	m.serve(at.podA, "a")
	m.sync(pod{at.podA, ready})
	m.dial("udp", at, net.JoinHostPort(at.vip, "53")).want("a flow", "a")
	there, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = there.Close() }()

	done := make(chan error)
	go func() { // on a thread that is elsewhere
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- forgetAll(int(there.Fd()))
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	list, err := netlink.ConntrackTableList(netlink.ConntrackTable, unix.AF_INET)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Forward.Protocol == unix.IPPROTO_UDP {
			t.Errorf("left: %s", e)
		}
	}
}

// forgetAll deletes all UDP flows of a namespace.
func forgetAll(ns int) error {
	c, err := openTable(ns)
	if err != nil {
		return err
	}
	n, err := c.forget(endpoints.IPv4, func(Flow) bool { return true })
	if err == nil && n != 1 {
		err = errors.New("not one flow was there")
	}
	return errors.Join(err, c.close())
}
