package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Client is a machine that is no part of the cluster, and a load balancer: each of its
// connections to a load-balancer address goes by way of a node of its choice, whatever other
// connections do.
type Client struct{ *Machine }

// Client puts a client on the wire.
func (n *Network) Client(name string) (*Client, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, err := n.machine(name)
	if err != nil {
		return nil, fmt.Errorf("network: %s: %w", name, err)
	}
	c := &Client{m}
	for _, node := range n.nodes {
		if err := c.knows(node); err != nil {
			return nil, fmt.Errorf("network: %s: %w", name, err)
		}
	}
	n.clients = append(n.clients, c)
	return c, nil
}

// knows gives packets that are marked with a node's number a way of their own.
func (c *Client) knows(node *Node) error {
	return c.Do(func() error {
		var errs []error
		table := tableOf(node)
		for i, cidr := range strings.Split(LoadBalancerCIDRs, ",") {
			r := netlink.NewRule()
			r.Family, r.Mark, r.Table = netlink.FAMILY_V4, uint32(node.index), table // a small number
			if i == 1 {
				r.Family = netlink.FAMILY_V6
			}
			if err := netlink.RuleAdd(r); err != nil {
				errs = append(errs, fmt.Errorf("add a rule for mark %d: %w", node.index, err))
			}
			errs = append(errs, route(uplink, netip.MustParsePrefix(cidr), node.Addrs[i], table))
		}
		return errors.Join(errs...)
	})
}

func tableOf(node *Node) int { return 1000 + node.index }

// DialVia connects by way of a node. Only load-balancer addresses are reached that way.
func (c *Client) DialVia(ctx context.Context, node *Node, network, address string) (conn net.Conn, err error) {
	d := &net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, node.index)
		})
		return errors.Join(err, failed)
	}}
	err = c.Enter(func() error {
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}
