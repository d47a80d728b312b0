package lab

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// Dial is a flow to open.
type Dial struct {
	From     string // a site, or NodeName
	Protocol Protocol
	// Src has to be one of the site's addresses. With Echo its port is the identifier.
	Src, Dst netip.AddrPort
	// Mirror looks out for the packet coming back to the site it left, with its own source: its
	// kernel gives that to nobody.
	Mirror bool
}

// String returns "tcp from client, 203.0.113.7:40001 to 10.96.0.10:80".
func (d Dial) String() string {
	return fmt.Sprintf("%s from %s, %s to %s", d.Protocol, d.From, d.Src, d.Dst)
}

// Fate is what became of a request.
type Fate uint8

// The fates.
const (
	Answered Fate = iota // a server got it, and its answer came back
	Refused              // by an ICMP error
	Reset                // by TCP or SCTP: a host got it and does not listen
	Returned             // it came back to the site it left, see Dial.Mirror
	Lost                 // neither, and nothing more is to come
)

// String returns the fate in a word.
func (f Fate) String() string {
	return [...]string{"answered", "refused", "reset", "returned", "lost"}[f]
}

// Result is what became of a request.
type Result struct {
	Fate Fate
	// Arrival says who answered, or for Returned what came back.
	Arrival Arrival
	// Error is what came with Refused.
	Error ICMPError
	// Arrivals are all servers that saw the request. If it is Lost, their answers were.
	Arrivals []Arrival
}

// Flow is a client's end of a flow that was answered.
type Flow struct {
	Dial
	lab    *Lab
	site   *site
	fd     int
	mirror int // -1 without
	number uint16
	sent   string // the last request
	dialed bool   // there is a connection to send requests on, or none is needed
}

// Open sends the first packet of a flow and says what became of it. The Flow is nil unless it
// was answered.
func (l *Lab) Open(d Dial) (*Flow, Result, error) {
	var f *Flow
	var r Result
	err := l.run(func() error {
		s, err := l.site(d.From)
		if err != nil {
			return err
		}
		if f, err = l.dial(s, d); err != nil {
			return fmt.Errorf("lab: %s: %w", d, err)
		}
		if r, err = f.exchange(); err != nil || r.Fate != Answered {
			err = errors.Join(err, f.close())
			f = nil
		}
		if err != nil {
			return fmt.Errorf("lab: %s: %w", d, err)
		}
		return nil
	})
	return f, r, err
}

// Again sends another packet of the flow.
func (f *Flow) Again() (Result, error) {
	var r Result
	err := f.lab.run(func() (err error) {
		if r, err = f.exchange(); err != nil {
			return fmt.Errorf("lab: %s: %w", f, err)
		}
		return nil
	})
	return r, err
}

// Close ends the flow, by a reset if it is a connection, which leaves nothing behind in either
// end's kernel. The node's may remember it, see Forget.
func (f *Flow) Close() error { return f.lab.run(f.close) }

func (f *Flow) close() error {
	delete(f.lab.open, f)
	var errs []error
	if f.Protocol == TCP || f.Protocol == UDP {
		errs = append(errs, disconnect(f.fd))
	}
	errs = append(errs, unix.Close(f.fd))
	if f.mirror >= 0 {
		errs = append(errs, unix.Close(f.mirror))
	}
	_, err := f.lab.servers.serve() // they notice resets
	return errors.Join(append(errs, err)...)
}

// dial makes the client's socket, and begins to connect it.
func (l *Lab) dial(s *site, d Dial) (*Flow, error) {
	if err := l.enter(s); err != nil {
		return nil, err
	}
	fd, err := socket(d.Protocol, d.Dst.Addr().Is6())
	if err != nil {
		return nil, err
	}
	f := &Flow{Dial: d, lab: l, site: s, fd: fd, mirror: -1}
	l.open[f] = true
	if err := f.connect(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *Flow) connect() error {
	if f.Mirror {
		if err := f.watch(); err != nil {
			return err
		}
	}
	if err := reportErrors(f.fd, f.Dst.Addr().Is6()); err != nil {
		return fmt.Errorf("ask for ICMP errors: %w", err)
	}
	// Its port may be used again as soon as it is closed.
	if err := unix.SetsockoptInt(f.fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("SO_REUSEADDR: %w", err)
	}
	src, dst := f.Src, f.Dst
	if f.Protocol == Echo || f.Protocol == SCTP { // raw sockets have no ports
		src, dst = netip.AddrPortFrom(src.Addr(), 0), netip.AddrPortFrom(dst.Addr(), 0)
	}
	if err := unix.Bind(f.fd, sockaddr(src)); err != nil {
		return fmt.Errorf("bind to %s: %w", src, err)
	}
	switch err := unix.Connect(f.fd, sockaddr(dst)); {
	case err == nil:
		f.dialed = f.Protocol != TCP
		return nil
	case errors.Is(err, unix.EINPROGRESS):
		return nil
	default:
		return fmt.Errorf("connect: %w", err)
	}
}

// quietRounds is how often the lab asks again whether anything is to come before it says no. One
// is enough as the kernel works (see beacon); the second one is for packets with more hops than
// an echo request has.
const quietRounds = 2

// exchange sends a request and has it answered. Client and servers take turns until somebody is
// done, or nothing moves any more.
func (f *Flow) exchange() (Result, error) {
	f.lab.servers.arrivals = nil
	f.sent = ""
	for quiet := 0; ; {
		r, moved, err := f.step()
		if err != nil {
			return r, err
		}
		if r.Fate != Lost {
			r.Arrivals = f.lab.servers.arrivals
			return r, nil
		}
		served, err := f.lab.servers.serve()
		switch {
		case err != nil:
			return r, err
		case moved || served:
			quiet = 0
		case quiet == quietRounds:
			return f.silence()
		default:
			quiet++
			if err := f.lab.settle(f.site, f.Dst.Addr().Is6()); err != nil {
				return r, err
			}
		}
	}
}

// silence is the result when nothing came back.
func (f *Flow) silence() (Result, error) {
	r := Result{Fate: Lost, Arrivals: f.lab.servers.arrivals}
	if f.mirror < 0 {
		return r, nil
	}
	a, found, err := f.returned()
	if found {
		r.Fate, r.Arrival = Returned, a
	}
	return r, err
}

// step does what the client can do now. As long as the Fate is Lost, the request is on its way.
func (f *Flow) step() (r Result, moved bool, err error) {
	r.Fate = Lost
	if !f.dialed {
		if r, moved, err = f.finishConnect(); err != nil || r.Fate != Lost || !f.dialed {
			return r, moved, err
		}
	}
	if f.sent == "" {
		return r, true, f.send()
	}
	return f.receive()
}

// finishConnect looks whether a TCP connection is there.
func (f *Flow) finishConnect() (r Result, moved bool, err error) {
	r.Fate = Lost
	poll := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLOUT}} // descriptors are small
	n, err := unix.Poll(poll, 0)
	if n == 0 || errors.Is(err, unix.EINTR) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("poll: %w", err)
	}
	code, err := unix.GetsockoptInt(f.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return r, false, fmt.Errorf("SO_ERROR: %w", err)
	}
	if code != 0 || poll[0].Revents&unix.POLLERR != 0 {
		return f.failure(unix.Errno(code)) // it is one
	}
	f.dialed = true
	return r, true, nil
}

// failure says how a request was turned down.
func (f *Flow) failure(code error) (r Result, moved bool, err error) {
	r.Fate = Lost
	icmp, queued, err := icmpError(f.fd)
	switch {
	case err != nil:
		return r, false, err
	case queued:
		return Result{Fate: Refused, Error: icmp}, true, nil
	case errors.Is(code, unix.ECONNREFUSED) || errors.Is(code, unix.ECONNRESET) || errors.Is(code, unix.EPIPE):
		return Result{Fate: Reset}, true, nil
	default:
		return r, false, fmt.Errorf("neither answered nor refused: %w", code)
	}
}

// send sends a request nobody has sent before.
func (f *Flow) send() error {
	f.number++
	f.sent = f.Src.String() + " " + strconv.Itoa(int(f.number))
	request := []byte(f.sent)
	switch f.Protocol {
	case Echo:
		request = echoRequest(f.Dst.Addr().Is6(), f.Src.Port(), f.number)
	case SCTP:
		request = f.sctpInit()
	default:
	}
	err := unix.Send(f.fd, request, unix.MSG_NOSIGNAL)
	switch {
	case errors.Is(err, unix.EPERM):
		return nil // the node's own rules drop what it sends: so much for that packet
	case errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE):
		return nil // receive hears of it
	case err != nil:
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// receive looks for the answer.
func (f *Flow) receive() (r Result, moved bool, err error) {
	r.Fate = Lost
	buf := make([]byte, 1024)
	n, _, err := unix.Recvfrom(f.fd, buf, unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return r, false, nil
	case err != nil:
		return f.failure(err)
	case f.Protocol == Echo:
		return f.echoed(buf[:n]), true, nil
	case f.Protocol == SCTP:
		r, err = f.sctpReply(buf[:n])
		return r, true, err
	case n == 0:
		return Result{Fate: Reset}, true, nil
	}
	r, err = f.answered(buf[:n])
	return r, true, err
}

// answered reads what a server says. The Fate is Lost if it is about an earlier request.
func (f *Flow) answered(text []byte) (Result, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return Result{Fate: Lost}, fmt.Errorf("an answer that no server of the lab gives: %q: %w", text, err)
	}
	if a.Request != f.sent {
		return Result{Fate: Lost}, nil
	}
	return Result{Fate: Answered, Arrival: a.Arrival}, nil
}

// echoed says what an ICMP message means for an echo request.
func (f *Flow) echoed(packet []byte) Result {
	family6 := f.Dst.Addr().Is6()
	if isEchoReply(packet, family6, f.Src.Port(), f.number) {
		return Result{Fate: Answered, Arrival: Arrival{By: "a kernel", At: f.Dst, Saw: f.Src}}
	}
	return Result{Fate: Lost}
}

// watch opens the mirror.
func (f *Flow) watch() error {
	kind := uint16(unix.ETH_P_IP)
	if f.Dst.Addr().Is6() {
		kind = unix.ETH_P_IPV6
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(bigEndian(kind)))
	if err != nil {
		return fmt.Errorf("packet socket: %w", err)
	}
	f.mirror = fd
	return nil
}

func bigEndian(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// returned looks for the flow's own packet among those that came in.
func (f *Flow) returned() (Arrival, bool, error) {
	buf := make([]byte, 2048)
	for {
		n, from, err := unix.Recvfrom(f.mirror, buf, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			return Arrival{}, false, nil
		}
		if err != nil {
			return Arrival{}, false, fmt.Errorf("packet socket: %w", err)
		}
		link, ok := from.(*unix.SockaddrLinklayer)
		if !ok || link.Pkttype != unix.PACKET_HOST {
			continue
		}
		if src, dst, ok := header(buf[:n], f.Protocol); ok && src == f.Src && dst != f.Dst {
			return Arrival{By: f.From, At: dst, Saw: src}, true, nil
		}
	}
}

// header reads the addresses and ports of a packet of a protocol, without IPv6 extensions.
func header(p []byte, protocol Protocol) (src, dst netip.AddrPort, ok bool) {
	if len(p) < 20 {
		return src, dst, false
	}
	var from, to netip.Addr
	var next Protocol
	var ports []byte
	if length := int(p[0]&0xf) * 4; p[0]>>4 == 4 && len(p) >= length+4 {
		from, to = netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20]))
		next, ports = Protocol(p[9]), p[length:]
	} else if p[0]>>4 == 6 && len(p) >= 44 {
		from, to = netip.AddrFrom16([16]byte(p[8:24])), netip.AddrFrom16([16]byte(p[24:40]))
		next, ports = Protocol(p[6]), p[40:]
	}
	if next != protocol || ports == nil {
		return src, dst, false
	}
	return netip.AddrPortFrom(from, binary.BigEndian.Uint16(ports)), netip.AddrPortFrom(to, binary.BigEndian.Uint16(ports[2:])), true
}
