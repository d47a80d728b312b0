package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// quiet has a namespace take packets as they come: no address is checked for being in use, no
// route is learned, none is refused for the way it came by, and no error message is held back for
// there being many: a client could not tell that from a packet that was dropped.
func quiet() error {
	var errs []error
	for _, p := range [][2]string{
		{"ipv4/conf/all/rp_filter", "0"},
		{"ipv4/conf/default/rp_filter", "0"},
		{"ipv4/conf/all/send_redirects", "0"},
		{"ipv4/conf/default/send_redirects", "0"},
		{"ipv4/icmp_ratemask", "0"},
		{"ipv6/icmp/ratemask", "0"}, // type 0 only, which does not exist
		{"ipv6/conf/default/accept_dad", "0"},
		{"ipv6/conf/default/accept_ra", "0"},
		{"ipv6/conf/default/router_solicitations", "0"},
		{"ipv6/conf/default/accept_redirects", "0"},
		{"ipv6/conf/default/disable_ipv6", "0"},
		{"ipv6/conf/lo/disable_ipv6", "0"},
		{"ipv4/ip_local_port_range", "10000 65000"}, // clients do little else than connect
	} {
		errs = append(errs, set(p[0], p[1]))
	}
	return errors.Join(append(errs, up("lo"))...)
}

// forward has a namespace route packets between its interfaces.
func forward() error {
	return errors.Join(set("ipv4/ip_forward", "1"), set("ipv6/conf/all/forwarding", "1"))
}

// wire connects the namespace the thread is in with another one, and returns when packets pass.
// The kernel switches the ends on by the side (its link watch), and until then packets vanish.
func wire(own string, to *Place, peer string, attributes netlink.LinkAttrs) error {
	attributes.Name, attributes.Flags = own, net.FlagUp
	link := &netlink.Veth{LinkAttrs: attributes, PeerName: peer, PeerNamespace: netlink.NsFd(to.ns)}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("wire %s: %w", to.Name, err)
	}
	if err := to.Do(func() error { return up(peer) }); err != nil {
		return fmt.Errorf("%s: %w", to.Name, err)
	}
	return errors.Join(operational(own), to.Do(func() error { return operational(peer) }))
}

// operational waits until the kernel has switched an interface on.
func operational(name string) error {
	const patience, look = 10 * time.Second, time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(look) {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
	}
	return fmt.Errorf("%s is not switched on in %s", name, patience)
}

func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("switch %s on: %w", name, err)
	}
	return nil
}

// address gives an interface an address.
func address(name string, p netip.Prefix) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	a := &netlink.Addr{IPNet: ipNet(p)}
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	if err := netlink.AddrAdd(link, a); err != nil {
		return fmt.Errorf("add address %s: %w", p, err)
	}
	return nil
}

// route sends a range out by an interface, to a machine there if via is valid. Table 0 is the main one.
func route(name string, dst netip.Prefix, via netip.Addr, table int) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(dst), Table: table}
	if via.IsValid() {
		r.Gw, r.Flags = via.AsSlice(), int(netlink.FLAG_ONLINK)
	} else {
		r.Scope = netlink.SCOPE_LINK
	}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("route %s: %w", dst, err)
	}
	return nil
}

// neighbour tells for good which hardware address an address has, so that nobody has to ask.
func neighbour(name string, a netip.Addr, hardware net.HardwareAddr) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	family := netlink.FAMILY_V4
	if a.Is6() {
		family = netlink.FAMILY_V6
	}
	n := &netlink.Neigh{LinkIndex: link.Attrs().Index, Family: family, State: netlink.NUD_PERMANENT, IP: a.AsSlice(), HardwareAddr: hardware}
	if err := netlink.NeighSet(n); err != nil {
		return fmt.Errorf("tell where %s is: %w", a, err)
	}
	return nil
}

func hardware(name string) (net.HardwareAddr, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	return link.Attrs().HardwareAddr, nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// everywhere is the default route of a family.
func everywhere(like netip.Addr) netip.Prefix {
	if like.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

func single(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }
