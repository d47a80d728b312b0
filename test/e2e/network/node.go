package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"github.com/vishvananda/netlink"
)

// Node is a machine that has pods.
type Node struct {
	*Machine
	PodCIDRs []netip.Prefix // IPv4, IPv6

	network *Network
	mu      sync.Mutex
	used    [256]bool // last bytes of pods' addresses
	last    int       // the one given out last
}

// Pod is a place behind a node.
type Pod struct {
	*Place
	Addrs []netip.Addr // IPv4, IPv6

	node   *Node
	number int
}

// The gateways of pods are nobody's addresses: they only stand for the node's hardware address.
func gateways() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("169.254.0.1"), netip.MustParseAddr("fe80::1")}
}

// Node puts a node on the wire, and tells it and all others the way to each other's pods.
func (n *Network) Node(name string) (*Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	node, err := n.node(name)
	if err != nil {
		return nil, fmt.Errorf("network: %s: %w", name, err)
	}
	return node, nil
}

func (n *Network) node(name string) (*Node, error) {
	m, err := n.machine(name)
	if err != nil {
		return nil, err
	}
	err = m.Do(func() error {
		err := forward()
		for _, via := range routers() {
			err = errors.Join(err, route(uplink, everywhere(via), via, 0))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	node := &Node{Machine: m, network: n, PodCIDRs: []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(m.index), 0}), 24), // at most mostOnWire
		netip.MustParsePrefix(fmt.Sprintf("fd00:10:244:%x::/64", m.index)),
	}}
	for _, other := range n.nodes {
		if err := errors.Join(node.knowsPodsOf(other), other.knowsPodsOf(node)); err != nil {
			return nil, err
		}
	}
	n.nodes = append(n.nodes, node)
	for _, c := range n.clients {
		if err := c.knows(node); err != nil {
			return nil, err
		}
	}
	return node, nil
}

func (node *Node) knowsPodsOf(other *Node) error {
	return node.Do(func() error {
		var errs []error
		for i, cidr := range other.PodCIDRs {
			errs = append(errs, route(uplink, cidr, other.Addrs[i], 0))
		}
		return errors.Join(errs...)
	})
}

// Pod puts a pod behind the node.
func (node *Node) Pod(name string) (*Pod, error) {
	number, err := node.free()
	if err != nil {
		return nil, fmt.Errorf("network: %s: %w", name, err)
	}
	p, err := found(name)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	pod := &Pod{Place: p, node: node, number: number}
	for _, cidr := range node.PodCIDRs {
		b := cidr.Addr().AsSlice()
		b[len(b)-1] = byte(number) // below 256
		a, _ := netip.AddrFromSlice(b)
		pod.Addrs = append(pod.Addrs, a)
	}
	if err := pod.connect(); err != nil {
		return nil, errors.Join(fmt.Errorf("network: %s: %w", name, err), pod.Close())
	}
	return pod, nil
}

// free takes a number that no pod of the node has. 0 and 1 are not for pods, as 255 is not. The next
// one is taken, not the lowest, as the usual address managers do (host-local of the CNI plugins, which
// kind has, too): rules that still lead to a pod which is gone are not to find its successor there.
func (node *Node) free() (int, error) {
	node.mu.Lock()
	defer node.mu.Unlock()
	const first, count = 2, len(node.used) - 3
	for n := range count {
		i := first + (max(node.last+1, first)-first+n)%count
		if !node.used[i] {
			node.used[i], node.last = true, i
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s has as many pods as there are addresses", node.Name)
}

// link is the name of the node's end.
func (p *Pod) link() string { return fmt.Sprintf("pod%d", p.number) }

// connect wires a pod to its node: packets of both ends meet the node's rules as routed ones, as
// with kind's network (kindnetd's ptp plugin).
func (p *Pod) connect() error {
	if err := p.Do(quiet); err != nil {
		return err
	}
	var node, own net.HardwareAddr
	err := p.node.Do(func() (err error) {
		if err = wire(p.link(), p.Place, uplink, netlink.LinkAttrs{}); err == nil {
			node, err = hardware(p.link())
		}
		return err
	})
	if err != nil {
		return err
	}
	err = p.Do(func() (err error) {
		own, err = hardware(uplink)
		for i, via := range gateways() {
			err = errors.Join(err,
				address(uplink, single(p.Addrs[i])), neighbour(uplink, via, node), route(uplink, everywhere(via), via, 0))
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.node.Do(func() (err error) {
		for _, a := range p.Addrs {
			err = errors.Join(err, neighbour(p.link(), a, own), route(p.link(), single(a), netip.Addr{}, 0))
		}
		return err
	})
}

// Close takes the pod off its node: nobody is behind its addresses any more, whatever still
// holds the namespace.
func (p *Pod) Close() error {
	err := p.node.Do(func() error {
		link, err := netlink.LinkByName(p.link())
		if err != nil {
			return fmt.Errorf("find %s: %w", p.link(), err)
		}
		return netlink.LinkDel(link)
	})
	p.node.mu.Lock()
	p.node.used[p.number] = false
	p.node.mu.Unlock()
	return errors.Join(err, p.Place.Close())
}
