package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// What every site and the node are to each other. The gateways are nobody's addresses: they only
// stand for the node's hardware address, so that the node may have any addresses or none.
const (
	siteInterface = "eth0"
	gateway4      = "169.254.0.1"
	gateway6      = "fe80::1"
	placeholder   = "169.254.0.2/32" // the node's, of host scope: never the source of what leaves it
)

// Everywhere packets come from and go to as sent: no address is asked for or checked for
// being in use, no route is learned, and no error message is held back for there being many.
func quietParameters() [][2]string {
	return [][2]string{
		{"ipv4/conf/all/rp_filter", "0"},
		{"ipv4/conf/default/rp_filter", "0"},
		{"ipv4/conf/all/send_redirects", "0"}, // they go out by the interface they came in by
		{"ipv4/conf/default/send_redirects", "0"},
		{"ipv4/icmp_ratemask", "0"},
		{"ipv6/icmp/ratemask", "0"}, // type 0 only, which does not exist
		{"ipv6/conf/default/accept_dad", "0"},
		{"ipv6/conf/default/accept_ra", "0"},
		{"ipv6/conf/default/router_solicitations", "0"},
		{"ipv6/conf/default/accept_redirects", "0"},
		{"ipv6/conf/default/disable_ipv6", "0"},
		{"ipv6/conf/lo/disable_ipv6", "0"},
	}
}

func nodeParameters() [][2]string {
	return append(quietParameters(), [][2]string{
		{"ipv4/ip_forward", "1"},
		{"ipv6/conf/all/forwarding", "1"},
		// The lab's SCTP stays at these stages, and a flow is to outlive a change of rules on a
		// machine under load: not the 3 seconds they have, but the 210 of an association.
		{"netfilter/nf_conntrack_sctp_timeout_cookie_wait", "210"},
		{"netfilter/nf_conntrack_sctp_timeout_cookie_echoed", "210"},
	}...)
}

// plainBridges has bridges hand frames over without showing their packets to IP's rules first, so
// that each packet passes prerouting once, as one that was routed. Kernels without br_netfilter do
// nothing else, and lack the parameters.
func plainBridges() error {
	for _, name := range []string{"ip", "ip6", "arp"} {
		err := set("bridge/bridge-nf-call-"+name+"tables", "0")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep IP's rules out of bridges: %w", err)
		}
	}
	return nil
}

func setAll(parameters [][2]string) error {
	for _, p := range parameters {
		if err := set(p[0], p[1]); err != nil {
			return fmt.Errorf("set net/%s to %s: %w", p[0], p[1], err)
		}
	}
	return nil
}

// build makes the namespaces and the wires between them.
func (l *Lab) build() error {
	if _, err := l.found(Site{Name: NodeName}); err != nil {
		return err
	}
	if err := errors.Join(setAll(nodeParameters()), plainBridges()); err != nil {
		return err
	}
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("routing socket of the node: %w", err)
	}
	defer h.Close()
	bridges, err := l.buildNode(h)
	if err != nil {
		return err
	}
	for i, description := range l.layout.Sites {
		b := slices.Index(l.layout.Interfaces, description.Interface)
		if b < 0 {
			return fmt.Errorf("%s is behind %q, which the node does not have", description.Name, description.Interface)
		}
		if err := l.buildSite(h, i, description, bridges[b]); err != nil {
			return fmt.Errorf("%s: %w", description.Name, err)
		}
	}
	if err := l.warmUp(); err != nil {
		return err
	}
	return l.servers.prepare()
}

// buildNode makes the node's own interfaces.
func (l *Lab) buildNode(h *netlink.Handle) ([]*netlink.Bridge, error) {
	if err := up(h, "lo"); err != nil {
		return nil, err
	}
	var bridges []*netlink.Bridge
	for i, name := range l.layout.Interfaces {
		b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name, HardwareAddr: bridgeHardware(i), Flags: net.FlagUp}}
		if err := h.LinkAdd(b); err != nil {
			return nil, fmt.Errorf("make bridge %s: %w", name, err)
		}
		bridges = append(bridges, b)
	}
	// An interface that loses its last IPv4 address loses its routes, too.
	keep := &netlink.Addr{IPNet: ipNet(netip.MustParsePrefix(placeholder)), Scope: int(netlink.SCOPE_HOST)}
	if err := h.AddrAdd(bridges[0], keep); err != nil {
		return nil, fmt.Errorf("add address %s: %w", placeholder, err)
	}
	return bridges, nil
}

func bridgeHardware(i int) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 1, byte(i)} }
func siteHardware(i int) net.HardwareAddr   { return net.HardwareAddr{2, 0, 0, 0, 2, byte(i)} }

// buildSite makes the i-th site, on one of the node's bridges.
func (l *Lab) buildSite(node *netlink.Handle, i int, description Site, bridge *netlink.Bridge) error {
	s, err := l.found(description)
	if err != nil {
		return err
	}
	if err := setAll(quietParameters()); err != nil {
		return err
	}
	wire := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("site%d", i), MasterIndex: bridge.Index, Flags: net.FlagUp},
		PeerName:  siteInterface, PeerHardwareAddr: siteHardware(i), PeerNamespace: netlink.NsFd(s.ns),
	}
	if err := node.LinkAdd(wire); err != nil {
		return fmt.Errorf("wire it to the node: %w", err)
	}
	if err := connectSite(s, bridge.HardwareAddr); err != nil {
		return err
	}
	return connectNode(node, s, bridge.Index, siteHardware(i), s.Name == l.layout.Elsewhere)
}

// connectSite gives a site its addresses, and the node as its only way out.
func connectSite(s *site, gateway net.HardwareAddr) error {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("routing socket: %w", err)
	}
	defer h.Close()
	if err := up(h, "lo"); err != nil {
		return err
	}
	if err := up(h, siteInterface); err != nil {
		return err
	}
	link, err := h.LinkByName(siteInterface)
	if err != nil {
		return fmt.Errorf("find %s: %w", siteInterface, err)
	}
	for _, a := range s.Addrs {
		if err := addAddress(h, link, a); err != nil {
			return err
		}
	}
	for _, via := range []netip.Addr{netip.MustParseAddr(gateway4), netip.MustParseAddr(gateway6)} {
		if err := addRoute(h, link.Attrs().Index, unspecified(via), via, gateway); err != nil {
			return err
		}
	}
	return nil
}

// connectNode tells the node the way to a site.
func connectNode(h *netlink.Handle, s *site, bridge int, hardware net.HardwareAddr, elsewhere bool) error {
	if elsewhere {
		// Whatever the node knows no way for goes to a router that has no address of its own.
		for _, via := range []netip.Addr{netip.MustParseAddr(gateway4), netip.MustParseAddr(gateway6)} {
			if err := addRoute(h, bridge, unspecified(via), via, hardware); err != nil {
				return err
			}
		}
		return nil
	}
	for _, a := range s.Addrs {
		if err := addRoute(h, bridge, netip.PrefixFrom(a, a.BitLen()), a, hardware); err != nil {
			return err
		}
	}
	return nil
}

// addRoute sends a range to the machine with a hardware address, known by the address via.
func addRoute(h *netlink.Handle, link int, dst netip.Prefix, via netip.Addr, hardware net.HardwareAddr) error {
	err := h.NeighSet(&netlink.Neigh{
		LinkIndex: link, Family: routeFamily(via), State: netlink.NUD_PERMANENT, IP: via.AsSlice(), HardwareAddr: hardware,
	})
	if err != nil {
		return fmt.Errorf("tell where %s is: %w", via, err)
	}
	route := &netlink.Route{LinkIndex: link, Dst: ipNet(dst)}
	if dst.Addr() == via {
		route.Scope = netlink.SCOPE_LINK
	} else {
		route.Gw, route.Flags = via.AsSlice(), int(netlink.FLAG_ONLINK)
	}
	if err := h.RouteAdd(route); err != nil {
		return fmt.Errorf("route %s: %w", dst, err)
	}
	return nil
}

// SetNodeAddresses gives the node these addresses instead of those it has, loopback apart. The
// first one of a family is the one it prefers.
func (l *Lab) SetNodeAddresses(addrs []netip.Addr) error {
	if slices.Equal(addrs, l.node().Addrs) {
		return nil
	}
	return l.Do(NodeName, func() error {
		h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("lab: routing socket of the node: %w", err)
		}
		defer h.Close()
		link, err := h.LinkByName(l.layout.Interfaces[0])
		if err != nil {
			return fmt.Errorf("lab: find %s: %w", l.layout.Interfaces[0], err)
		}
		had, err := h.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			return fmt.Errorf("lab: list the node's addresses: %w", err)
		}
		for i := range had {
			if had[i].IP.IsLinkLocalUnicast() {
				continue // the kernel's own, and the placeholder
			}
			if err := h.AddrDel(link, &had[i]); err != nil {
				return fmt.Errorf("lab: remove the node's address %s: %w", had[i].IP, err)
			}
		}
		l.node().Addrs = slices.Clone(addrs)
		if err := errors.Join(addInOrder(h, link, addrs), l.darken(l.node())); err != nil {
			return fmt.Errorf("lab: %w", err)
		}
		return l.findNode()
	})
}

// addInOrder makes the first address the preferred one: IPv4 prefers what was added first, IPv6
// what was added last (seen on kernel 6.18, and a test holds it).
func addInOrder(h *netlink.Handle, link netlink.Link, addrs []netip.Addr) error {
	for _, a := range addrs {
		if a.Is4() {
			if err := addAddress(h, link, a); err != nil {
				return err
			}
		}
	}
	for _, a := range slices.Backward(addrs) {
		if a.Is6() {
			if err := addAddress(h, link, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func addAddress(h *netlink.Handle, link netlink.Link, a netip.Addr) error {
	addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(a, a.BitLen()))}
	if a.Is6() {
		addr.Flags = unix.IFA_F_NODAD
	}
	if err := h.AddrAdd(link, addr); err != nil {
		return fmt.Errorf("add address %s: %w", a, err)
	}
	return nil
}

func up(h *netlink.Handle, name string) error {
	link, err := h.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := h.LinkSetUp(link); err != nil {
		return fmt.Errorf("switch %s on: %w", name, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func unspecified(like netip.Addr) netip.Prefix {
	if like.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

func routeFamily(a netip.Addr) int {
	if a.Is4() {
		return netlink.FAMILY_V4
	}
	return netlink.FAMILY_V6
}
