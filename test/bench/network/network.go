// Package network is the three network namespaces that one measurement takes place in:
//
//	client (a pod, 10.255.0.2) -- node (the proxy under test) -- pods (every endpoint there is)
//
// The pods' namespace has all of their addresses at once and answers on all of them, so that it
// is the node's rules alone that decide which endpoint a connection reaches. The client and the
// prober see it from outside: nothing here asks the proxy what it thinks it has done.
//
// The namespaces have no names: they last as long as the process. The package works on Linux
// only, as root of a user namespace at least.
package network

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
)

// The wires, and the ranges behind them. Endpoints have 10.128.0.0/10 and 10.192.0.0/11 (package
// objects), clients 10.255.0.0/16: the prober's packets have a source of their own each.
const (
	clientNet, clientGateway, clientAddress = "10.255.0.0/16", "10.255.0.1", "10.255.0.2"
	podsGateway, podsAddress                = "10.254.0.1", "10.254.0.2"
	probeNet                                = "10.255.128.0/17"
)

func podNets() []string { return []string{"10.128.0.0/10", "10.192.0.0/11"} }

// Place is a namespace, with a thread that is in it for as long as it lasts.
type Place struct {
	name string
	ns   int // file descriptor
	work chan func()
}

// Network is the three of them.
type Network struct {
	Node, Client, Pods *Place
	listener           net.Listener
}

// New makes a network in which every endpoint answers.
func New() (*Network, error) {
	n := &Network{}
	for _, p := range []struct {
		place **Place
		name  string
	}{{&n.Node, "node"}, {&n.Client, "client"}, {&n.Pods, "pods"}} {
		made, err := newPlace(p.name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("network: %w", err), n.Close())
		}
		*p.place = made
	}
	if err := errors.Join(n.connect(), n.listen()); err != nil {
		return nil, errors.Join(fmt.Errorf("network: %w", err), n.Close())
	}
	return n, nil
}

// Close lets the namespaces go.
func (n *Network) Close() error {
	var errs []error
	if n.listener != nil {
		errs = append(errs, n.listener.Close())
	}
	for _, p := range []*Place{n.Node, n.Client, n.Pods} {
		if p != nil {
			close(p.work)
			errs = append(errs, unix.Close(p.ns))
		}
	}
	return errors.Join(errs...)
}

func newPlace(name string) (*Place, error) {
	p := &Place{name: name, ns: -1, work: make(chan func())}
	started := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		err := p.found()
		started <- err
		if err != nil {
			return
		}
		for f := range p.work {
			f()
		}
	}()
	return p, <-started
}

func (p *Place) found() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace for the %s (this takes root): %w", p.name, err)
	}
	ns, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the namespace of the %s: %w", p.name, err)
	}
	p.ns = ns
	for _, parameter := range []string{"ipv4/conf/all/rp_filter", "ipv4/conf/default/rp_filter"} {
		if err := os.WriteFile("/proc/sys/net/"+parameter, []byte("0"), 0); err != nil {
			return fmt.Errorf("set net/%s of the %s: %w", parameter, p.name, err)
		}
	}
	return nil
}

// Do calls f on a thread in the namespace. Sockets that f makes stay there, and processes that
// it starts.
func (p *Place) Do(f func() error) error {
	done := make(chan error)
	p.work <- func() { done <- f() }
	return <-done
}

// connect makes the wires and tells everybody the way.
func (n *Network) connect() error {
	wires := []struct {
		place            *Place
		gateway, address string
		anyOf            []string // ranges that are the place's, every address of them
		routes           []string // what the node finds behind the wire
	}{
		{n.Client, clientGateway + "/16", clientAddress + "/16", []string{probeNet}, []string{probeNet}},
		{n.Pods, podsGateway + "/24", podsAddress + "/24", podNets(), podNets()},
	}
	if err := n.Node.Do(prepareNode); err != nil {
		return err
	}
	for _, w := range wires {
		if err := n.Node.Do(func() error { return wire(w.place) }); err != nil {
			return err
		}
		if err := w.place.Do(func() error { return connectPlace(w.address, w.gateway, w.anyOf) }); err != nil {
			return err
		}
		if err := n.Node.Do(func() error { return connectNode(w.place.name, w.gateway, w.address, w.routes) }); err != nil {
			return err
		}
	}
	return n.Pods.Do(silence)
}

func prepareNode() error {
	// What the prober leaves behind in the table of connections: the default is 120 s. Where
	// connection tracking is not there yet, that will have to do.
	err := os.WriteFile("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent", []byte("10"), 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("have the node forget connections: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return fmt.Errorf("have the node forward: %w", err)
	}
	return address("lo", objects.NodeIP+"/32")
}

// wire is made in the node's namespace.
func wire(to *Place) error {
	link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: to.name}, PeerName: "eth0", PeerNamespace: netlink.NsFd(to.ns)}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("wire the %s: %w", to.name, err)
	}
	return nil
}

func connectPlace(own, gateway string, anyOf []string) error {
	if err := errors.Join(address("lo", ""), address("eth0", own)); err != nil {
		return err
	}
	if err := route("eth0", "0.0.0.0/0", prefixAddr(gateway), false); err != nil {
		return err
	}
	for _, r := range anyOf {
		if err := route("lo", r, netip.Addr{}, true); err != nil {
			return err
		}
	}
	return nil
}

// silence has endpoints not answer the prober: the two packets that follow would make each of its
// own take three times as long.
func silence() error {
	r := &netlink.Route{Dst: ipNet(netip.MustParsePrefix(probeNet)), Type: unix.RTN_BLACKHOLE}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("leave the prober without answer: %w", err)
	}
	return nil
}

func connectNode(link, own, via string, routes []string) error {
	if err := address(link, own); err != nil {
		return err
	}
	for _, r := range routes {
		if err := route(link, r, prefixAddr(via), false); err != nil {
			return err
		}
	}
	return nil
}

func prefixAddr(s string) netip.Addr { return netip.MustParsePrefix(s).Addr() }

// address switches an interface on, and gives it an address unless that is "".
func address(name, prefix string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("switch %s on: %w", name, err)
	}
	if prefix == "" {
		return nil
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(netip.MustParsePrefix(prefix))}); err != nil {
		return fmt.Errorf("add address %s: %w", prefix, err)
	}
	return nil
}

// route sends a range to via, or makes all of it local.
func route(name, dst string, via netip.Addr, local bool) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(netip.MustParsePrefix(dst))}
	if local {
		r.Type, r.Table, r.Scope = unix.RTN_LOCAL, unix.RT_TABLE_LOCAL, netlink.SCOPE_HOST
	} else {
		r.Gw = via.AsSlice()
	}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("route %s: %w", dst, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// listen has every endpoint take connections and keep them until the client goes.
func (n *Network) listen() error {
	l, err := n.Pods.Listen(fmt.Sprintf(":%d", objects.TargetPort))
	if err != nil {
		return err
	}
	n.listener = l
	go func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go hold(c)
			}
		}
	}()
	return nil
}

// hold waits for the client to go. To hang up first could look like a connection that failed.
func hold(c net.Conn) {
	var b [1]byte
	_, _ = c.Read(b[:]) // the client resets it
	_ = c.Close()       // it is gone already
}

// Listen returns a listener in the namespace; connections to it are served by any thread.
func (p *Place) Listen(address string) (l net.Listener, err error) {
	err = p.Do(func() error {
		l, err = net.Listen("tcp4", address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s of the %s: %w", address, p.name, err)
	}
	return l, nil
}

// Dial connects from the namespace.
func (p *Place) Dial(address string) (c net.Conn, err error) {
	err = p.Do(func() error {
		c, err = net.Dial("tcp4", address)
		return err
	})
	return c, err
}
