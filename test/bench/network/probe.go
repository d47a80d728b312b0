package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
)

// Prober finds out when the first connection reaches an endpoint. It sends the first packet of
// one connection after the other, each from a port and address of its own, and sees which of
// them arrive. Each costs some microseconds, and an established connection would need ten times
// as many: that is what makes 100 us visible.
type Prober struct {
	// GiveUp, if there is one, says after each packet whether there is a reason to stop.
	GiveUp func() error

	out    int // a raw socket of the client
	pods   *Place
	next   uint32 // counts connections
	packet [packetSize]byte
}

const (
	ipHeader, tcpHeader = 20, 20
	packetSize          = ipHeader + tcpHeader
	firstPort           = 1024
	ports               = 65536 - firstPort
	sources             = 1 << 14
)

// NewProber returns a Prober.
func (n *Network) NewProber() (*Prober, error) {
	p := &Prober{pods: n.Pods}
	err := n.Client.Do(func() (err error) {
		p.out, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("network: raw socket of the client: %w", err)
	}
	return p, nil
}

// Close lets the socket go.
func (p *Prober) Close() error { return unix.Close(p.out) }

// Watch is an endpoint's ear: it hears every packet to an address.
type Watch struct{ fd int }

// Listen returns the ears of an endpoint.
func (p *Prober) Listen(at netip.Addr) (*Watch, error) {
	w := &Watch{}
	err := p.pods.Do(func() (err error) {
		w.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
		if err != nil {
			return err
		}
		return unix.Bind(w.fd, &unix.SockaddrInet4{Addr: at.As4()})
	})
	if err != nil {
		return nil, fmt.Errorf("network: raw socket of %s: %w", at, err)
	}
	return w, nil
}

// Close lets the socket go.
func (w *Watch) Close() error { return unix.Close(w.fd) }

// heard says whether a packet arrived since it was last asked, and forgets it.
func (w *Watch) heard() (bool, error) {
	var b [packetSize]byte
	heard := false
	for {
		_, _, err := unix.Recvfrom(w.fd, b[:], 0)
		switch {
		case err == nil:
			heard = true
		case errors.Is(err, unix.EAGAIN):
			return heard, nil
		case !errors.Is(err, unix.EINTR):
			return heard, fmt.Errorf("network: receive: %w", err)
		}
	}
}

// send sends the first packet of a connection.
func (p *Prober) send(to netip.AddrPort) error {
	p.next++
	base := netip.MustParsePrefix(probeNet).Addr().As4()
	source := binary.BigEndian.Uint32(base[:]) + 1 + p.next/ports%sources
	syn(p.packet[:], source, uint16(firstPort+p.next%ports), to, p.next)
	err := unix.Sendto(p.out, p.packet[:], 0, &unix.SockaddrInet4{Addr: to.Addr().As4()})
	if err != nil {
		return fmt.Errorf("network: send to %s: %w", to, err)
	}
	return nil
}

// syn writes an IPv4 packet with a TCP SYN.
func syn(b []byte, source uint32, port uint16, to netip.AddrPort, sequence uint32) {
	clear(b)
	dst := to.Addr().As4()
	b[0], b[8], b[9] = 0x45, 64, unix.IPPROTO_TCP // version and length, time to live, protocol
	binary.BigEndian.PutUint16(b[2:], packetSize)
	binary.BigEndian.PutUint32(b[12:], source)
	copy(b[16:], dst[:])
	binary.BigEndian.PutUint16(b[10:], checksum(b[:ipHeader], 0))

	t := b[ipHeader:]
	binary.BigEndian.PutUint16(t, port)
	binary.BigEndian.PutUint16(t[2:], to.Port())
	binary.BigEndian.PutUint32(t[4:], sequence)
	t[12], t[13] = tcpHeader/4<<4, 0x02 // length, SYN
	binary.BigEndian.PutUint16(t[14:], 0xffff)
	pseudo := uint32(unix.IPPROTO_TCP + tcpHeader)
	for i := 12; i < ipHeader; i += 2 {
		pseudo += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	binary.BigEndian.PutUint16(t[16:], checksum(t, pseudo))
}

// checksum is the Internet's (RFC 1071).
func checksum(b []byte, sum uint32) uint16 {
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum) // 16 bits are left
}

// ErrTimeout says that a Prober's limit was over first.
var ErrTimeout = errors.New("nothing arrived in time")

// over says whether to stop sending.
func (p *Prober) over(now, from time.Time, limit time.Duration) error {
	if now.Sub(from) > limit {
		return ErrTimeout
	}
	if p.GiveUp != nil {
		return p.GiveUp()
	}
	return nil
}

// share is which part of the time that has passed may pass between two packets. It bounds the
// error of a measurement and the number of packets that a slow one takes: with 5 endpoints the
// fifth packet on average is the one that arrives, 0.5 % late.
const share = 1000

// First sends to a Service until something arrives at an endpoint, and says when.
func (p *Prober) First(service netip.Addr, at *Watch, from time.Time, limit time.Duration) (time.Time, error) {
	to := netip.AddrPortFrom(service, objects.Port)
	for {
		if err := p.send(to); err != nil {
			return time.Time{}, err
		}
		heard, err := at.heard()
		now := time.Now()
		if heard || err != nil {
			return now, err
		}
		if err := p.over(now, from, limit); err != nil {
			return now, err
		}
		pause(now, now.Sub(from)/share)
	}
}

// Last sends to a Service until nothing more arrives at one of its n endpoints, and says when
// the last packet did, or when the first one was sent if none did. It is sure when it would be
// missed by accident once in 10^8 times.
func (p *Prober) Last(service netip.Addr, at *Watch, n int, from time.Time, limit time.Duration) (time.Time, error) {
	to := netip.AddrPortFrom(service, objects.Port)
	last := time.Now()
	for missed := 0; missed < 20*n; {
		if err := p.send(to); err != nil {
			return last, err
		}
		missed++
		heard, err := at.heard()
		now := time.Now()
		if err != nil {
			return last, err
		}
		if heard {
			last, missed = now, 0
		}
		if err := p.over(now, from, limit); err != nil {
			return last, err
		}
		if missed < 3*n { // beyond, it is probably over
			pause(now, now.Sub(from)/share)
		}
	}
	return last, nil
}

// pause waits. To sleep takes some 60 us longer than asked for, but not to sleep would take a
// processor from the proxy.
func pause(now time.Time, d time.Duration) {
	if d > 50*time.Microsecond {
		time.Sleep(d)
		return
	}
	for time.Since(now) < d {
	}
}
