package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Arrival is what a server says of a request that reached it.
type Arrival struct {
	By  string         // the site it is in
	At  netip.AddrPort // its own address, as the request has it
	Saw netip.AddrPort // where the request came from, as far as it can tell
}

// String returns "pod A at 10.244.1.11:8080, seeing 203.0.113.7:40001".
func (a Arrival) String() string { return fmt.Sprintf("%s at %s, seeing %s", a.By, a.At, a.Saw) }

// answer is what a server sends back.
type answer struct {
	Arrival
	Request string
}

// servers are the sockets on which sites can be reached. They have no threads: the sender of
// something calls serve.
type servers struct {
	epoll    int
	sockets  map[int32]*server
	ports    map[port]bool
	arrivals []Arrival // since it was emptied last
}

// port is something all sites listen on.
type port struct {
	protocol Protocol
	family6  bool
	number   uint16
}

// server is a socket of a site: a listener, a connection that it accepted, or one for datagrams.
type server struct {
	fd        int
	site      *site
	protocol  Protocol
	family6   bool
	connected bool
	arrival   Arrival // of a connection
}

func (s *servers) prepare() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	s.epoll, s.sockets, s.ports = fd, map[int32]*server{}, map[port]bool{}
	return nil
}

func (s *servers) close() error {
	if s.sockets == nil {
		return nil
	}
	var errs []error
	for _, sv := range s.sockets { // order: each is closed by itself
		errs = append(errs, unix.Close(sv.fd))
	}
	s.sockets = nil
	return errors.Join(append(errs, unix.Close(s.epoll))...)
}

// Listen has every site and the node answer on a port, on all their addresses of a family, for
// as long as the lab lasts.
func (l *Lab) Listen(protocol Protocol, family6 bool, number uint16) error {
	p := port{protocol, family6, number}
	if protocol == Echo {
		return nil // kernels answer
	}
	return l.run(func() error {
		if l.servers.ports[p] {
			return nil
		}
		l.servers.ports[p] = true
		if protocol == SCTP { // one raw socket has all ports of a site
			p.number = 0
			if l.servers.ports[p] {
				return nil
			}
			l.servers.ports[p] = true
		}
		for _, s := range l.sites {
			if err := l.listen(s, p); err != nil {
				return fmt.Errorf("lab: listen on port %d in %s: %w", number, s.Name, err)
			}
		}
		return nil
	})
}

func (l *Lab) listen(s *site, p port) error {
	if err := l.enter(s); err != nil {
		return err
	}
	fd, err := socket(p.protocol, p.family6)
	if err != nil {
		return err
	}
	if err := l.servers.add(&server{fd: fd, site: s, protocol: p.protocol, family6: p.family6}); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	if err := prepareListener(fd, p); err != nil {
		return err
	}
	if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(anyAddress(p.family6), p.number))); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if p.protocol == TCP {
		return unix.Listen(fd, unix.SOMAXCONN)
	}
	return nil
}

// prepareListener asks for the address that a datagram was sent to, which wildcard sockets have
// to be told, and keeps the families apart.
func prepareListener(fd int, p port) error {
	if p.family6 && p.protocol != SCTP { // raw sockets are of one family anyway
		if err := unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return fmt.Errorf("IPV6_V6ONLY: %w", err)
		}
	}
	if p.protocol == TCP {
		return nil
	}
	if p.family6 {
		return unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_PKTINFO, 1)
}

// add takes a socket over: it is closed with the others.
func (s *servers) add(sv *server) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(sv.fd)} // descriptors are small
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, sv.fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	s.sockets[event.Fd] = sv
	return nil
}

// drop closes a connection. To close its descriptor does not take it out of epoll while a program
// that another thread is starting has it, too.
func (s *servers) drop(sv *server) error {
	delete(s.sockets, int32(sv.fd)) // descriptors are small
	return errors.Join(unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, sv.fd, nil), unix.Close(sv.fd))
}

// hangUp ends the connections whose clients cannot reach them any more.
func (s *servers) hangUp() error {
	var errs []error
	for _, sv := range s.sockets { // order: each is closed by itself
		if sv.connected {
			errs = append(errs, disconnect(sv.fd), s.drop(sv))
		}
	}
	return errors.Join(errs...)
}

// serve answers everything that has arrived, and says whether there was anything.
func (s *servers) serve() (bool, error) {
	served := false
	events := make([]unix.EpollEvent, 16)
	for {
		n, err := unix.EpollWait(s.epoll, events, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return served, fmt.Errorf("epoll: %w", err)
		}
		if n <= 0 {
			return served, nil
		}
		for _, e := range events[:n] {
			served = true
			if err := s.serveOne(s.sockets[e.Fd]); err != nil {
				return served, err
			}
		}
	}
}

func (s *servers) serveOne(sv *server) error {
	switch {
	case sv.connected:
		return s.reply(sv)
	case sv.protocol == TCP:
		return s.accept(sv)
	case sv.protocol == SCTP:
		return s.replyWithSCTP(sv)
	default:
		return s.replyTo(sv)
	}
}

// accept takes a new connection. One that was given up meanwhile is nobody's loss.
func (s *servers) accept(sv *server) error {
	fd, peer, err := unix.Accept4(sv.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ECONNABORTED) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("accept in %s: %w", sv.site.Name, err)
	}
	local, err := unix.Getsockname(fd)
	if err != nil {
		return errors.Join(fmt.Errorf("getsockname in %s: %w", sv.site.Name, err), unix.Close(fd))
	}
	conn := &server{fd: fd, site: sv.site, protocol: TCP, family6: sv.family6, connected: true}
	conn.arrival = Arrival{sv.site.Name, addrPort(local), addrPort(peer)}
	if err := s.add(conn); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	s.arrivals = append(s.arrivals, conn.arrival)
	return nil
}

// reply answers on a connection, or closes what the client has closed.
func (s *servers) reply(sv *server) error {
	buf := make([]byte, 256)
	n, _, err := unix.Recvfrom(sv.fd, buf, unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil
	case err != nil || n == 0: // reset, or closed in order
		return s.drop(sv)
	}
	text, err := json.Marshal(answer{sv.arrival, string(buf[:n])})
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if err := unix.Send(sv.fd, text, unix.MSG_NOSIGNAL); err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return fmt.Errorf("answer from %s: %w", sv.site.Name, err)
	}
	return nil
}

// replyTo answers a datagram, from the address it was sent to.
func (s *servers) replyTo(sv *server) error {
	buf, control := make([]byte, 256), make([]byte, 256)
	n, controls, _, from, err := unix.Recvmsg(sv.fd, buf, control, unix.MSG_DONTWAIT)
	if err != nil {
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNREFUSED) {
			return nil
		}
		return fmt.Errorf("receive in %s: %w", sv.site.Name, err)
	}
	at, err := destination(control[:controls])
	if err != nil {
		return fmt.Errorf("receive in %s: %w", sv.site.Name, err)
	}
	local, err := unix.Getsockname(sv.fd)
	if err != nil {
		return fmt.Errorf("getsockname in %s: %w", sv.site.Name, err)
	}
	a := Arrival{sv.site.Name, netip.AddrPortFrom(at, addrPort(local).Port()), addrPort(from)}
	s.arrivals = append(s.arrivals, a)
	text, err := json.Marshal(answer{a, string(buf[:n])})
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if _, err := unix.SendmsgN(sv.fd, text, sourceControl(at), from, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("answer from %s: %w", sv.site.Name, err)
	}
	return nil
}
