//go:build linux

package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
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

// withFiles has the process open no more than some further files, as if nobody had any left, until the returned function is called. The
// next ones have the lowest numbers that are free.
func withFiles(t *testing.T, n int) (undo func()) {
	t.Helper()
	var free []*os.File
	for range n + 1 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		free = append(free, f)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(free[n].Fd()) //nolint:gosec // a small number
	for _, f := range free {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}
}

// Addresses that cannot be listed are not taken for none, neither at first nor later.
func TestAddressesThatCannotBeListed(t *testing.T) {
	link := alone(t)
	wants := func(what string, err error, words string) {
		t.Helper()
		if !errors.Is(err, unix.EMFILE) || !strings.HasPrefix(err.Error(), words) {
			t.Errorf("%s: %v, want %q", what, err, words)
		}
	}
	undo := withFiles(t, 0)
	addrs, listed := Addresses()
	unwatched := Watch(t.Context(), func([]netip.Addr) { t.Error("told of addresses that nobody has listed") })
	undo()
	if addrs != nil {
		t.Errorf("listed %v", addrs)
	}
	wants("listed", listed, "host: list addresses: ")
	wants("watched", unwatched, "host: watch addresses: ")
	undo = withFiles(t, 1)
	err := Watch(t.Context(), func([]netip.Addr) { t.Error("told of addresses that nobody has listed") })
	undo()
	wants("watched, and not listed", err, "host: list addresses: ")
	told := 0
	err = Watch(t.Context(), func([]netip.Addr) {
		told++
		if err := netlink.AddrAdd(link, address("192.0.2.6/32")); err != nil {
			t.Error(err)
		}
		undo = withFiles(t, 0)
	})
	undo()
	if wants("listed later", err, "host: list addresses: "); told != 1 {
		t.Errorf("told %d times", told)
	}
}

// Changes that come faster than anybody listens get lost, and that ends a watch: whoever watches again is told of all addresses.
func TestChangesThatGetLostEndAWatch(t *testing.T) {
	link := alone(t)
	err := Watch(t.Context(), func([]netip.Addr) {
		for range 2000 {
			if err := errors.Join(netlink.AddrAdd(link, address("192.0.2.6/32")), netlink.AddrDel(link, address("192.0.2.6/32"))); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err == nil || err.Error() != "host: the kernel stopped telling of addresses" {
		t.Errorf("got %v", err)
	}
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
		{"[192.0.2.6 fd00::7]", func() error { return add(link, "192.0.2.7/24") }},
		{"[192.0.2.6 192.0.2.7 fd00::7]", func() error { return netlink.AddrDel(link, address("192.0.2.6/32")) }},
		{"[192.0.2.7 fd00::7]", func() error { // as at first
			return netlink.AddrDel(link, address("192.0.2.7/24"))
		}},
		{"[fd00::7]", nil},
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
	if want := []netip.Addr{netip.MustParseAddr("fd00::7")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
