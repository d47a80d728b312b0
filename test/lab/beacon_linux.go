package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A beacon is how the lab knows, without waiting, that nothing more is to come: an echo request
// sent after the packet in question, from the same site by way of the node to Elsewhere, whose
// kernel answers it.
//
// The kernel hands a packet from one end of a veth pair, a bridge or the loopback interface to
// the other by putting it at the end of a queue that the sending processor has (netif_rx,
// enqueue_to_backlog), and works that queue off in order, on that processor. A packet in question
// and what kernels answer to it, a SYN ACK or an ICMP error, are therefore never overtaken by an
// echo request that was sent later and has as many hops: when its reply is here, so is everything
// else. It holds while neither neighbours nor checksums have to be waited for (addresses are
// fixed, nothing is asked for) and no receive packet steering is set up, which new interfaces
// never have.
type beacon struct {
	fd   int
	next uint16
}

// settle returns when everything sent so far, from this site or in answer to it, has arrived.
func (l *Lab) settle(s *site, family6 bool) error {
	if l.broken != nil {
		return l.broken
	}
	b, err := l.beacon(s, family6)
	if err != nil {
		return err
	}
	if err := b.request(s, family6); err != nil {
		return err
	}
	answered, err := b.await(s, family6, l.layout.Patience)
	if err == nil && !answered {
		l.broken = fmt.Errorf("%s sent an echo request to a place no rule is about, and got no reply in %s: "+
			"the lab's wires are broken, or a rule meets what it should not", s.Name, l.layout.Patience)
		return l.broken
	}
	return err
}

func (b *beacon) request(s *site, family6 bool) error {
	b.next++
	request := echoRequest(family6, uint16(b.fd), b.next) // an identifier: any 16 bits will do
	if err := unix.Send(b.fd, request, 0); err != nil {
		return fmt.Errorf("send an echo request from %s: %w", s.Name, err)
	}
	return nil
}

// await waits for the reply to the last request, and says whether it came.
func (b *beacon) await(s *site, family6 bool, limit time.Duration) (bool, error) {
	buf := make([]byte, 256)
	for {
		n, _, err := unix.Recvfrom(b.fd, buf, unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EAGAIN):
			poll := []unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}} // descriptors are small
			n, err := unix.Poll(poll, int(limit/time.Millisecond))
			if n == 0 && err == nil {
				return false, nil
			}
			if err != nil && !errors.Is(err, unix.EINTR) {
				return false, fmt.Errorf("wait for an echo reply in %s: %w", s.Name, err)
			}
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false, fmt.Errorf("receive an echo reply in %s: %w", s.Name, err)
		case isEchoReply(buf[:n], family6, uint16(b.fd), b.next): // as sent
			return true, nil
		}
	}
}

// beacon returns a site's beacon of a family.
func (l *Lab) beacon(s *site, family6 bool) (*beacon, error) {
	if b := l.beacons[s][family6]; b != nil {
		return b, nil
	}
	if err := l.enter(s); err != nil {
		return nil, err
	}
	target, err := firstOf(l.layout.Beacons, family6)
	if err != nil {
		return nil, fmt.Errorf("the layout's beacons: %w", err)
	}
	// The node may have addresses that Elsewhere has, too: those would get no reply.
	source, err := firstOf(s.Addrs, family6)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	b, err := aim(s, source, target)
	if err != nil {
		return nil, err
	}
	if l.beacons[s] == nil {
		l.beacons[s] = map[bool]*beacon{}
	}
	l.beacons[s][family6] = b
	return b, nil
}

// aim makes a beacon, in the namespace the thread is in.
func aim(s *site, source, target netip.Addr) (*beacon, error) {
	fd, err := echoSocket(target.Is6())
	if err != nil {
		return nil, fmt.Errorf("raw socket in %s: %w", s.Name, err)
	}
	err = unix.Bind(fd, sockaddr(netip.AddrPortFrom(source, 0)))
	if err == nil {
		err = unix.Connect(fd, sockaddr(netip.AddrPortFrom(target, 0)))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("aim at %s from %s: %w", target, s.Name, err), unix.Close(fd))
	}
	return &beacon{fd: fd}, nil
}

func firstOf(list []netip.Addr, family6 bool) (netip.Addr, error) {
	i := slices.IndexFunc(list, func(a netip.Addr) bool { return a.Is6() == family6 })
	if i < 0 {
		return netip.Addr{}, errors.New("no address of this family")
	}
	return list[i], nil
}

// darken closes a site's beacons.
func (l *Lab) darken(s *site) error {
	var errs []error
	for _, b := range l.beacons[s] { // order: each is closed by itself
		errs = append(errs, unix.Close(b.fd))
	}
	delete(l.beacons, s)
	return errors.Join(errs...)
}

// warmUp returns when every site has been heard at the other end of the node. The kernel
// switches the ends of a wire on by the side (its link watch), and until then packets vanish.
func (l *Lab) warmUp() error {
	for _, s := range l.sites {
		for _, family6 := range []bool{false, true} {
			if _, err := firstOf(s.Addrs, family6); err != nil || s.Name == l.layout.Elsewhere || s == l.node() {
				continue
			}
			b, err := l.beacon(s, family6)
			if err != nil {
				return err
			}
			if err := b.call(s, family6, l.layout.Patience); err != nil {
				return fmt.Errorf("the other end of the node: %w", err)
			}
		}
	}
	return nil
}

// findNode returns when the node has been heard at each of its addresses. The kernel makes IPv6
// addresses its own by the side, even if it need not ask whether another host has them.
func (l *Lab) findNode() error {
	s := l.sites[1]
	if err := l.enter(s); err != nil {
		return err
	}
	for _, target := range l.node().Addrs {
		source, err := firstOf(s.Addrs, target.Is6())
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		b, err := aim(s, source, target)
		if err != nil {
			return err
		}
		if err := errors.Join(b.call(s, target.Is6(), l.layout.Patience), unix.Close(b.fd)); err != nil {
			return fmt.Errorf("the node at %s: %w", target, err)
		}
	}
	return nil
}

// callEvery is how soon an echo request is repeated while the kernel sets something up.
const callEvery = 2 * time.Millisecond

// call sends echo requests until one of them is answered.
func (b *beacon) call(s *site, family6 bool, patience time.Duration) error {
	for range int(patience / callEvery) {
		if err := b.request(s, family6); err != nil {
			return err
		}
		if answered, err := b.await(s, family6, callEvery); err != nil || answered {
			return err
		}
	}
	return fmt.Errorf("%s hears nothing from there in %s", s.Name, patience)
}

// echoSocket makes a raw socket for ICMP in the namespace the thread is in.
func echoSocket(family6 bool) (int, error) {
	if family6 {
		return unix.Socket(unix.AF_INET6, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_ICMPV6)
	}
	return unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_ICMP)
}

// ICMP message types (RFC 792, RFC 4443).
const (
	echoReply4, unreachable4, echo4 = 0, 3, 8
	unreachable6, echo6, echoReply6 = 1, 128, 129
)

// echoRequest returns an echo request. The kernel fills in ICMPv6 checksums, but not ICMP's.
func echoRequest(family6 bool, id, sequence uint16) []byte {
	m := make([]byte, 8)
	m[0] = echo4
	if family6 {
		m[0] = echo6
	}
	binary.BigEndian.PutUint16(m[4:], id)
	binary.BigEndian.PutUint16(m[6:], sequence)
	if !family6 {
		binary.BigEndian.PutUint16(m[2:], checksum(m))
	}
	return m
}

// checksum is the one of RFC 1071, for an even number of bytes.
func checksum(m []byte) uint16 {
	var sum uint32
	for i := 0; i < len(m); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(m[i:]))
	}
	sum = sum&0xffff + sum>>16
	return ^uint16(sum + sum>>16) // the carry is added, the rest cut off, as RFC 1071 has it
}

// icmpMessage cuts off the IP header, which raw sockets deliver for IPv4 only.
func icmpMessage(packet []byte, family6 bool) []byte {
	if family6 {
		return packet
	}
	if len(packet) == 0 || len(packet) < int(packet[0]&0xf)*4 {
		return nil
	}
	return packet[int(packet[0]&0xf)*4:]
}

func isEchoReply(packet []byte, family6 bool, id, sequence uint16) bool {
	m := icmpMessage(packet, family6)
	want := byte(echoReply4)
	if family6 {
		want = echoReply6
	}
	return len(m) >= 8 && m[0] == want && binary.BigEndian.Uint16(m[4:]) == id && binary.BigEndian.Uint16(m[6:]) == sequence
}
