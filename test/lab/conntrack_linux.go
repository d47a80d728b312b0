package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Reset ends all flows at both ends, and has the node forget them. Servers go on listening, and
// rules are left to the program that made them.
func (l *Lab) Reset() error {
	err := l.run(func() error {
		var errs []error
		for f := range l.open { // order: each is closed by itself
			errs = append(errs, f.close())
		}
		errs = append(errs, l.servers.hangUp())
		return errors.Join(errs...)
	})
	return errors.Join(err, l.ForgetAll())
}

// ForgetAll empties the node's table of connections. No other machine's or namespace's is
// touched: each has its own.
func (l *Lab) ForgetAll() error {
	return l.Do(NodeName, func() error {
		if err := netlink.ConntrackTableFlush(netlink.ConntrackTable); err != nil {
			return fmt.Errorf("lab: empty the node's table of connections: %w", err)
		}
		return nil
	})
}

// Forget removes the entries of one flow from the node's table of connections.
func (l *Lab) Forget(p Protocol, src, dst netip.AddrPort) error {
	filter := &netlink.ConntrackFilter{}
	err := errors.Join(
		filter.AddProtocol(uint8(p)),
		filter.AddIPNet(netlink.ConntrackOrigSrcIP, single(src.Addr())), filter.AddPort(netlink.ConntrackOrigSrcPort, src.Port()),
		filter.AddIPNet(netlink.ConntrackOrigDstIP, single(dst.Addr())), filter.AddPort(netlink.ConntrackOrigDstPort, dst.Port()),
	)
	if err != nil {
		return fmt.Errorf("lab: describe the flow from %s to %s: %w", src, dst, err)
	}
	return l.Do(NodeName, func() error {
		family := netlink.InetFamily(unix.AF_INET)
		if dst.Addr().Is6() {
			family = unix.AF_INET6
		}
		if _, err := netlink.ConntrackDeleteFilters(netlink.ConntrackTable, family, filter); err != nil {
			return fmt.Errorf("lab: remove the flow from %s to %s: %w", src, dst, err)
		}
		return nil
	})
}

func single(a netip.Addr) *net.IPNet { return ipNet(netip.PrefixFrom(a, a.BitLen())) }
