package server

import (
	"context"
	"net/netip"
	"sync"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// nodePorts are the sockets of Services. It has one owner, Server.Run.
type nodePorts struct {
	server  *Server
	open    map[netip.AddrPort]*opened
	running *sync.WaitGroup
}

// opened is a socket that is open, or tries to be.
type opened struct {
	end      context.CancelFunc
	released chan struct{} // closed when the address is free again
}

// follow opens what is wanted and closes what is not. Addresses are given up before others are taken: a socket for all
// addresses and one for a single one would be in each other's way.
func (p *nodePorts) follow(ctx context.Context) {
	wanted := p.server.wanted()
	var closing []*opened
	for at, o := range p.open { // order: sockets are independent of each other
		if !wanted[at] {
			o.end()
			closing = append(closing, o)
			delete(p.open, at)
		}
	}
	for _, o := range closing {
		<-o.released
	}
	for at := range wanted { // order: sockets are independent of each other
		if p.open[at] == nil {
			p.open[at] = p.start(ctx, at)
		}
	}
}

// start opens the socket of an address.
func (p *nodePorts) start(ctx context.Context, at netip.AddrPort) *opened {
	s, family := p.server, endpoints.FamilyOf(at.Addr())
	// Each family has a socket of its own: "tcp6" sets IPV6_V6ONLY, which leaves the port of IPv4 alone.
	network := "tcp4"
	if family == endpoints.IPv6 {
		network = "tcp6"
	}
	socket := s.socket(func() endpoints.ServiceName { return s.owner(at) }, network, at.String(), s.NodePort(family, at.Port()))
	ctx, end := context.WithCancel(ctx)
	o := &opened{end: end, released: make(chan struct{})}
	p.running.Go(func() {
		defer end()
		_ = socket.serve(ctx, sync.OnceFunc(func() { close(o.released) })) // it does not fail hard
	})
	return o
}

// wanted returns where the Services' ports are to be open.
func (s *Server) wanted() map[netip.AddrPort]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[netip.AddrPort]bool{}
	if s.table == nil {
		return out
	}
	for svc := range s.table.Services() {
		for _, a := range s.addrs {
			if endpoints.FamilyOf(a) == svc.Family {
				out[netip.AddrPortFrom(a, svc.Port)] = true
			}
		}
	}
	return out
}

// owner returns the Service that a port is open for.
func (s *Server) owner(at netip.AddrPort) endpoints.ServiceName {
	s.mu.Lock()
	defer s.mu.Unlock()
	svc, _ := s.table.Lookup(endpoints.FamilyOf(at.Addr()), at.Port())
	return svc.Name
}
