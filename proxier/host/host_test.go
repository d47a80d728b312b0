//go:build linux

package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
)

// alone puts the test's thread into a network namespace of its own, which has a link called wire. Both end with
// the test.
func alone(t *testing.T) netlink.Link {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		backendtest.Lacking(t, "no network namespace of its own: %v", err)
	}
	wire := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "wire"}, PeerName: "end"}
	if err := netlink.LinkAdd(wire); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lo", "wire", "end"} {
		link, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	link, err := netlink.LinkByName("wire")
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func address(s string) *netlink.Addr {
	a, err := netlink.ParseAddr(s)
	if err != nil {
		panic(err)
	}
	a.Flags = unix.IFA_F_NODAD
	return a
}

// Of an address it has to be known that no other machine has it, and others have to reach it.
func TestWhichAddressesAreUsable(t *testing.T) {
	t.Parallel()
	const permanent = unix.IFA_F_PERMANENT
	for _, c := range []struct {
		addr  string
		flags int
		want  bool
	}{
		{"192.0.2.7", permanent, true}, {"fd00::7", 0, true}, {"fd00::7", permanent | unix.IFA_F_DEPRECATED, true},
		{"127.0.0.1", permanent, false}, {"127.1.2.3", permanent, false}, {"::1", permanent, false},
		{"169.254.0.7", permanent, false}, {"fe80::7", permanent, false},
		{"fd00::7", permanent | unix.IFA_F_TENTATIVE, false}, {"fd00::7", permanent | unix.IFA_F_DADFAILED, false},
		{"fd00::7", unix.IFA_F_TENTATIVE | unix.IFA_F_OPTIMISTIC, false},
	} {
		if got := usable(netip.MustParseAddr(c.addr), c.flags); got != c.want {
			t.Errorf("%s with flags %#x: %v, want %v", c.addr, c.flags, got, c.want)
		}
	}
}

// Each address is told once, loopback and link-local ones are not, and each change is.
func TestWatch(t *testing.T) {
	link := alone(t)
	end, err := netlink.LinkByName("end")
	if err != nil {
		t.Fatal(err)
	}
	add := func(to netlink.Link, addrs ...string) (err error) {
		for _, a := range addrs {
			err = errors.Join(err, netlink.AddrAdd(to, address(a)))
		}
		return err
	}
	if err := errors.Join(add(link, "192.0.2.7/24", "fd00::7/64", "169.254.0.7/16"), add(end, "192.0.2.7/32")); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		told string
		next func() error
	}{
		{"[192.0.2.7 fd00::7]", func() error { return add(link, "169.254.0.8/32", "192.0.2.6/32") }}, // the first one is nobody's business
		{"[192.0.2.6 192.0.2.7 fd00::7]", func() error {
			return errors.Join(netlink.AddrDel(end, address("192.0.2.7/32")), netlink.AddrDel(link, address("192.0.2.7/24")))
		}},
		{"[192.0.2.6 fd00::7]", nil},
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Watch(ctx, func(addrs []netip.Addr) {
		step := steps[0]
		steps = steps[1:]
		if got := fmt.Sprint(addrs); got != step.told {
			t.Errorf("told %s, want %s", got, step.told)
		}
		if step.next == nil {
			cancel()
		} else if err := step.next(); err != nil {
			t.Error(err)
			cancel()
		}
	})
	if err != nil || len(steps) > 0 {
		t.Errorf("ended with %v, %d changes untold", err, len(steps))
	}
	got, err := Addresses()
	if want := []netip.Addr{netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("fd00::7")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
