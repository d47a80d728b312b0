package network

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/vishvananda/netlink"
)

// The ranges of the cluster. LoadBalancerCIDRs are for Services' load-balancer addresses.
const (
	ClusterCIDRs      = "10.244.0.0/16,fd00:10:244::/48"
	ServiceCIDRs      = "10.96.0.0/16,fd00:96::/108"
	LoadBalancerCIDRs = "203.0.113.0/24,2001:db8:113::/64"
)

// The name of the bridge, and of the interface that every machine has on it.
const (
	bridge     = "wire"
	uplink     = "eth0"
	mostOnWire = 200
)

// Network is the wire and all that is on it.
type Network struct {
	wire *Place

	mu       sync.Mutex
	places   []*Place
	machines int
	nodes    []*Node
	clients  []*Client
}

// routers are where nodes send what they know no other way for: the rest of the world, which
// never answers.
func routers() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("172.18.0.254"), netip.MustParseAddr("fd00:172:18::fe")}
}

// Machine is a place on the wire.
type Machine struct {
	*Place
	Addrs []netip.Addr // IPv4, IPv6

	index int // from 1
}

// New makes a wire without anybody on it.
func New() (*Network, error) {
	p, err := found("the wire")
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	n := &Network{wire: p, places: []*Place{p}}
	err = p.Do(func() error {
		snoop := false // so that everybody hears neighbour solicitations
		b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge}, MulticastSnooping: &snoop}
		if err := netlink.LinkAdd(b); err != nil {
			return fmt.Errorf("make a bridge: %w", err)
		}
		return errors.Join(quiet(), up(bridge), address(bridge, netip.PrefixFrom(routers()[0], 24)), address(bridge, netip.PrefixFrom(routers()[1], 64)))
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("network: %w", err), n.Close())
	}
	return n, nil
}

// Close lets all namespaces go.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, p := range n.places {
		errs = append(errs, p.Close())
	}
	n.places = nil
	return errors.Join(errs...)
}

// Machine puts a machine on the wire.
func (n *Network) Machine(name string) (*Machine, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, err := n.machine(name)
	if err != nil {
		return nil, fmt.Errorf("network: %s: %w", name, err)
	}
	return m, nil
}

func (n *Network) machine(name string) (*Machine, error) {
	p, err := found(name)
	if err != nil {
		return nil, err
	}
	n.places = append(n.places, p)
	n.machines++
	i := n.machines
	if i > mostOnWire {
		return nil, fmt.Errorf("the wire is for %d machines", mostOnWire)
	}
	m := &Machine{Place: p, index: i, Addrs: []netip.Addr{
		netip.AddrFrom4([4]byte{172, 18, 0, byte(i)}),
		netip.MustParseAddr(fmt.Sprintf("fd00:172:18::%x", i)),
	}}
	if err := p.Do(quiet); err != nil {
		return nil, err
	}
	err = n.wire.Do(func() error {
		b, err := netlink.LinkByName(bridge)
		if err != nil {
			return fmt.Errorf("find the bridge: %w", err)
		}
		return wire(fmt.Sprintf("m%d", i), p, uplink, netlink.LinkAttrs{MasterIndex: b.Attrs().Index})
	})
	if err != nil {
		return nil, err
	}
	return m, p.Do(func() error {
		return errors.Join(address(uplink, netip.PrefixFrom(m.Addrs[0], 24)), address(uplink, netip.PrefixFrom(m.Addrs[1], 64)))
	})
}
