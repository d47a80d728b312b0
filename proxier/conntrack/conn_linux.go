package conntrack

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// conn is netlink sockets to the kernel's table of connections and list of addresses.
type conn struct {
	flows *nl.SocketHandle
	route *netlink.Handle
}

// patience is how long the kernel may take to answer. Only one in trouble takes that long.
const patience = 30 * time.Second

// openTable opens the table of a network namespace, 0 for the caller's. A socket stays where it was
// made.
func openTable(fd int) (table, error) {
	ns := netns.None()
	if fd != 0 {
		ns = netns.NsHandle(fd)
	}
	s, err := nl.GetNetlinkSocketAt(ns, netns.None(), unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("netlink socket to the table of connections: %w", err)
	}
	c := &conn{flows: &nl.SocketHandle{Socket: s}}
	limit := unix.NsecToTimeval(patience.Nanoseconds())
	if err := errors.Join(s.SetSendTimeout(&limit), s.SetReceiveTimeout(&limit)); err != nil {
		return nil, errors.Join(fmt.Errorf("netlink timeout: %w", err), c.close())
	}
	if c.route, err = netlink.NewHandleAt(ns, unix.NETLINK_ROUTE); err != nil {
		return nil, errors.Join(fmt.Errorf("netlink socket to the addresses: %w", err), c.close())
	}
	if err := c.route.SetSocketTimeout(patience); err != nil {
		return nil, errors.Join(fmt.Errorf("netlink timeout: %w", err), c.close())
	}
	return c, nil
}

func (c *conn) close() error {
	c.flows.Close()
	if c.route != nil {
		c.route.Close()
	}
	return nil
}

func inet(f endpoints.IPFamily) uint8 {
	if f == endpoints.IPv6 {
		return unix.AF_INET6
	}
	return unix.AF_INET
}

// attempts bounds how often a list is asked for that changed while the kernel wrote it.
const attempts = 3

// forget lists the UDP flows and deletes the stale ones.
func (c *conn) forget(family endpoints.IPFamily, stale func(Flow) bool) (int, error) {
	var entries [][]byte
	var err error
	for range attempts {
		if entries, err = c.list(family, stale); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("list flows: %w", err)
	}
	// Even of a list that is not whole, what is there is stale.
	deleted, refused := 0, 0
	var why error
	for _, entry := range entries {
		switch e := c.delete(family, entry); {
		case e == nil:
			deleted++
		case !errors.Is(e, fs.ErrNotExist): // those have timed out, or another program was faster
			refused, why = refused+1, e
		}
	}
	if refused > 0 {
		err = errors.Join(err, fmt.Errorf("delete %d of %d flows: %w", refused, len(entries), why))
	}
	return deleted, err
}

func (c *conn) request(family endpoints.IPFamily, operation, flags int) *nl.NetlinkRequest {
	r := nl.NewNetlinkRequest(int(netlink.ConntrackTable)<<8|operation, flags)
	r.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_NETFILTER: c.flows}
	r.AddData(&nl.Nfgenmsg{NfgenFamily: inet(family), Version: nl.NFNETLINK_V0})
	return r
}

// list returns the kernel's messages about the entries of a family that are stale.
func (c *conn) list(family endpoints.IPFamily, stale func(Flow) bool) ([][]byte, error) {
	r := c.request(family, nl.IPCTNL_MSG_CT_GET, unix.NLM_F_DUMP)
	for _, a := range onlyUDP() {
		r.AddData(a)
	}
	var entries [][]byte
	err := r.ExecuteIter(unix.NETLINK_NETFILTER, 0, func(message []byte) bool {
		if f, ok := flowOf(message); ok && stale(f) {
			entries = append(entries, message)
		}
		return true
	})
	return entries, err
}

// delete deletes an entry as it was listed: the kernel compares its identity, too, so that a new flow
// with the same addresses is not taken for the old one.
func (c *conn) delete(family endpoints.IPFamily, entry []byte) error {
	r := c.request(family, nl.IPCTNL_MSG_CT_DELETE, unix.NLM_F_ACK)
	r.AddRawData(entry[sizeofNfgenmsg:])
	_, err := r.Execute(unix.NETLINK_NETFILTER, 0)
	return err
}

func (c *conn) addresses(family endpoints.IPFamily) ([]netip.Addr, error) {
	var list []netlink.Addr
	var err error
	for range attempts {
		if list, err = c.route.AddrList(nil, int(inet(family))); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
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
