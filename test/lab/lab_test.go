//go:build linux

package lab

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
)

func TestMain(m *testing.M) {
	if code, ran := InUserNamespace(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func addresses(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// small is a node with two pods and a client. Elsewhere has 192.0.2.1, and so has the node in
// one test.
func small() Layout {
	return Layout{
		Interfaces: []string{"eth0", "cbr0"},
		Sites: []Site{
			{"pod", addresses("10.0.1.1", "fd00:1::1"), "cbr0"},
			{"other pod", addresses("10.0.1.2", "fd00:1::2"), "cbr0"},
			{"client", addresses("203.0.113.1", "2001:db8:113::1"), "eth0"},
			{"elsewhere", addresses("198.18.0.1", "2001:db8:ff::1", "192.0.2.1", "2001:db8:2::1"), "eth0"},
		},
		Elsewhere: "elsewhere",
		Beacons:   addresses("198.18.0.1", "2001:db8:ff::1"),
	}
}

func newLab(t *testing.T) *Lab {
	t.Helper()
	return newLabOf(t, small())
}

func newLabOf(t *testing.T, layout Layout) *Lab {
	t.Helper()
	l, err := New(layout)
	if err != nil {
		backendtest.Lacking(t, "needs network namespaces: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.SetNodeAddresses(addresses("192.168.1.1", "192.168.2.1", "fd00:168::1", "fd00:168::2")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Protocol{TCP, UDP, SCTP, Echo} {
		for _, family6 := range []bool{false, true} {
			if err := l.Listen(p, family6, 80); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

// dial describes a flow from an address of a site.
func dial(from, src, dst string, p Protocol) Dial {
	return Dial{From: from, Protocol: p, Src: netip.AddrPortFrom(netip.MustParseAddr(src), 40000), Dst: netip.MustParseAddrPort(dst)}
}

func TestEverybodyIsReached(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, c := range []struct{ from, src, to, dst string }{
		{"client", "203.0.113.1", "pod", "10.0.1.1:80"},
		{"client", "2001:db8:113::1", "pod", "[fd00:1::1]:80"},
		{"pod", "10.0.1.1", "other pod", "10.0.1.2:80"},
		{"pod", "fd00:1::1", "other pod", "[fd00:1::2]:80"},
		{"pod", "10.0.1.1", "elsewhere", "192.0.2.1:80"},
		{"pod", "fd00:1::1", "elsewhere", "[2001:db8:2::1]:80"},
		{"pod", "10.0.1.1", NodeName, "192.168.1.1:80"},
		{"client", "203.0.113.1", NodeName, "192.168.2.1:80"},
		{"client", "2001:db8:113::1", NodeName, "[fd00:168::2]:80"},
		{NodeName, "192.168.2.1", "pod", "10.0.1.1:80"},
		{NodeName, "fd00:168::2", "client", "[2001:db8:113::1]:80"},
		{NodeName, "127.0.0.1", NodeName, "127.0.0.1:80"},
		{NodeName, "::1", NodeName, "[::1]:80"},
	} {
		for _, p := range []Protocol{TCP, UDP, SCTP, Echo} {
			d := dial(c.from, c.src, c.dst, p)
			f, r, err := l.Open(d)
			if err != nil || r.Fate != Answered {
				t.Errorf("%s: %s, arrivals %v, error %v", d, r.Fate, r.Arrivals, err)
				continue
			}
			want := Arrival{c.to, d.Dst, d.Src}
			if p == Echo {
				want.By = "a kernel"
			}
			again, err := f.Again()
			if err != nil || r.Arrival != want || again.Arrival != want {
				t.Errorf("%s: %s, then %s, want %s; error %v", d, r.Arrival, again.Arrival, want, err)
			}
			if err := f.Close(); err != nil {
				t.Errorf("%s: close: %v", d, err)
			}
		}
	}
}

// What is not answered is told apart, without waiting.
func TestFates(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	err := l.Do(NodeName, func() error {
		for dst, kind := range map[string]int{
			"192.0.2.66": unix.RTN_BLACKHOLE, "2001:db8:2::66": unix.RTN_BLACKHOLE,
			"192.0.2.77": unix.RTN_PROHIBIT, "2001:db8:2::77": unix.RTN_PROHIBIT,
		} {
			a := netip.MustParseAddr(dst)
			if err := netlink.RouteAdd(&netlink.Route{Dst: single(a), Type: kind}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, dst string
		protocol Protocol
		want     Fate
		icmp     [2]uint8 // type and code
	}{
		{"203.0.113.1", "192.0.2.66:80", TCP, Lost, [2]uint8{}},
		{"203.0.113.1", "192.0.2.66:80", UDP, Lost, [2]uint8{}},
		{"203.0.113.1", "192.0.2.66:80", Echo, Lost, [2]uint8{}},
		{"203.0.113.1", "192.0.2.66:80", SCTP, Lost, [2]uint8{}},
		{"2001:db8:113::1", "[2001:db8:2::66]:80", SCTP, Lost, [2]uint8{}},
		{"203.0.113.1", "192.0.2.77:80", SCTP, Refused, [2]uint8{3, 13}},
		{"2001:db8:113::1", "[2001:db8:2::77]:80", SCTP, Refused, [2]uint8{1, 1}},
		{"203.0.113.1", "10.0.1.1:81", SCTP, Reset, [2]uint8{}},
		{"2001:db8:113::1", "[fd00:1::1]:81", SCTP, Reset, [2]uint8{}},
		{"2001:db8:113::1", "[2001:db8:2::66]:80", TCP, Lost, [2]uint8{}},
		{"2001:db8:113::1", "[2001:db8:2::66]:80", UDP, Lost, [2]uint8{}},
		{"203.0.113.1", "192.0.2.77:80", TCP, Refused, [2]uint8{3, 13}},
		{"203.0.113.1", "192.0.2.77:80", UDP, Refused, [2]uint8{3, 13}},
		{"203.0.113.1", "192.0.2.77:80", Echo, Refused, [2]uint8{3, 13}},
		{"2001:db8:113::1", "[2001:db8:2::77]:80", TCP, Refused, [2]uint8{1, 1}},
		{"2001:db8:113::1", "[2001:db8:2::77]:80", Echo, Refused, [2]uint8{1, 1}},
		{"203.0.113.1", "10.0.1.1:81", TCP, Reset, [2]uint8{}},
		{"203.0.113.1", "10.0.1.1:81", UDP, Refused, [2]uint8{3, 3}},
		{"2001:db8:113::1", "[fd00:1::1]:81", TCP, Reset, [2]uint8{}},
		{"2001:db8:113::1", "[fd00:1::1]:81", UDP, Refused, [2]uint8{1, 4}},
	} {
		d := dial("client", c.src, c.dst, c.protocol)
		f, r, err := l.Open(d)
		if err != nil || f != nil || r.Fate != c.want || [2]uint8{r.Error.Type, r.Error.Code} != c.icmp || len(r.Arrivals) > 0 {
			t.Errorf("%s: %s, %s, arrivals %v, error %v; want %s with type and code %v", d, r.Fate, r.Error, r.Arrivals, err, c.want, c.icmp)
		}
		if port := c.icmp == [2]uint8{3, 3} || c.icmp == [2]uint8{1, 4}; r.Error.PortUnreachable() != port {
			t.Errorf("%s: port unreachable is %v, want %v", d, !port, port)
		}
	}
}

// The node's addresses are those that were set last, in order of preference.
func TestNodeAddresses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := l.SetNodeAddresses(addresses("192.0.2.1", "192.168.3.1", "2001:db8:2::1", "fd00:168::3")); err != nil {
		t.Fatal(err)
	}
	for dst, want := range map[string]string{"192.0.2.1:80": NodeName, "[2001:db8:2::1]:80": NodeName, "192.168.3.1:80": NodeName} {
		src := "203.0.113.1"
		if strings.HasPrefix(dst, "[") {
			src = "2001:db8:113::1"
		}
		f, r, err := l.Open(dial("client", src, dst, TCP))
		if err != nil || r.Arrival.By != want {
			t.Errorf("%s is %q, error %v, want %q", dst, r.Arrival.By, err, want)
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	_, r, err := l.Open(dial("client", "203.0.113.1", "192.168.1.1:80", TCP))
	if err != nil || r.Fate != Lost {
		t.Errorf("an address that the node had before: %s, error %v, want lost", r.Fate, err)
	}
}

// Of several addresses the node prefers the first one, as a source of its own packets and for
// masquerading.
func TestFirstNodeAddressIsPreferred(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for dst, want := range map[string]string{"203.0.113.1:80": "192.168.1.1", "[2001:db8:113::1]:80": "fd00:168::1"} {
		err := l.Do(NodeName, func() error {
			c, err := net.Dial("udp", dst)
			if err != nil {
				return err
			}
			if got := netip.MustParseAddrPort(c.LocalAddr().String()).Addr().String(); got != want {
				t.Errorf("the node calls %s as %s, want %s", dst, got, want)
			}
			return c.Close()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A port can be used again as soon as its flow is closed, and the flow's entry is gone then.
func TestFlowsLeaveNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 50 {
		for _, p := range []Protocol{TCP, UDP, SCTP} {
			d := dial("client", "203.0.113.1", "10.0.1.1:80", p)
			f, r, err := l.Open(d)
			if err != nil || r.Fate != Answered {
				t.Fatalf("%s, the %d. time: %s, error %v", d, i+1, r.Fate, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := l.Forget(p, d.Src, d.Dst); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.ForgetAll(); err != nil {
		t.Fatal(err)
	}
}

// A lab whose echo requests are met by a rule says so, and calls nothing lost.
func TestBrokenLab(t *testing.T) {
	t.Parallel()
	layout := small()
	layout.Patience = time.Second
	l := newLabOf(t, layout)
	err := l.Do(NodeName, func() error {
		return netlink.RouteAdd(&netlink.Route{Dst: single(layout.Beacons[0]), Type: unix.RTN_BLACKHOLE})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dst := range []string{"192.0.2.99:80", "192.0.2.98:80"} {
		_, _, err := l.Open(dial("client", "203.0.113.1", dst, UDP))
		if err == nil || !strings.Contains(err.Error(), "client sent an echo request to a place no rule is about, and got no reply in 1s") {
			t.Errorf("%s: error %v", dst, err)
		}
	}
}

func TestLayoutsThatCannotBe(t *testing.T) {
	t.Parallel()
	newLab(t) // or skip
	layout := small()
	layout.Sites[0].Interface = "eth7"
	if _, err := New(layout); err == nil || !strings.Contains(err.Error(), `pod is behind "eth7", which the node does not have`) {
		t.Errorf("error %v", err)
	}
	l := newLab(t)
	if err := l.Do("nobody", func() error { return nil }); err == nil || !strings.Contains(err.Error(), `no site is called "nobody"`) {
		t.Errorf("error %v", err)
	}
}
