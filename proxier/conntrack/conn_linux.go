package conntrack

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// conn is netlink sockets to the kernel's table of connections and list of addresses.
type conn struct{ handle *netlink.Handle }

// patience is how long the kernel may take to answer. Only one in trouble takes that long.
const patience = 30 * time.Second

// openTable opens the table of a network namespace, 0 for the caller's. A socket stays where it was
// made.
func openTable(fd int) (table, error) {
	ns := netns.None()
	if fd != 0 {
		ns = netns.NsHandle(fd)
	}
	h, err := netlink.NewHandleAt(ns, unix.NETLINK_NETFILTER, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink sockets: %w", err)
	}
	if err := h.SetSocketTimeout(patience); err != nil {
		h.Close()
		return nil, fmt.Errorf("netlink timeout: %w", err)
	}
	return &conn{h}, nil
}

func (c *conn) close() error {
	c.handle.Close()
	return nil
}

func inet(f endpoints.IPFamily) netlink.InetFamily {
	if f == endpoints.IPv6 {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

// attempts bounds how often a listing is tried that changed while the kernel wrote it.
const attempts = 3

// forget lists the table and deletes what is stale as it stood in the list: the kernel compares the
// entry's identity, so that a new flow with the same addresses is not taken for an old one.
func (c *conn) forget(family endpoints.IPFamily, stale func(Flow) bool) (int, error) {
	total := 0
	for try := 1; ; try++ {
		n, err := c.handle.ConntrackDeleteFilters(netlink.ConntrackTable, inet(family), filter(stale))
		total += int(n) //nolint:gosec // a number of entries
		if try == attempts || !errors.Is(err, netlink.ErrDumpInterrupted) {
			return total, err
		}
	}
}

// filter picks stale UDP flows out of all entries.
type filter func(Flow) bool

// MatchConntrackFlow says whether an entry is to be deleted.
func (f filter) MatchConntrackFlow(e *netlink.ConntrackFlow) bool {
	if e.Forward.Protocol != unix.IPPROTO_UDP {
		return false
	}
	to, ok := netip.AddrFromSlice(e.Forward.DstIP)
	server, ok2 := netip.AddrFromSlice(e.Reverse.SrcIP)
	return ok && ok2 && f(Flow{
		To:     netip.AddrPortFrom(to, e.Forward.DstPort),
		Server: netip.AddrPortFrom(server, e.Reverse.SrcPort),
	})
}

func (c *conn) addresses(family endpoints.IPFamily) ([]netip.Addr, error) {
	for try := 1; ; try++ {
		list, err := c.handle.AddrList(nil, int(inet(family)))
		if try < attempts && errors.Is(err, netlink.ErrDumpInterrupted) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("addresses: %w", err)
		}
		out := make([]netip.Addr, 0, len(list))
		for i := range list {
			if a, ok := netip.AddrFromSlice(list[i].IP); ok {
				out = append(out, a.Unmap())
			}
		}
		return out, nil
	}
}
