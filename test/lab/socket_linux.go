package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket makes a socket in the namespace the thread is in.
func socket(p Protocol, family6 bool) (int, error) {
	family, kind := unix.AF_INET, unix.SOCK_STREAM
	if family6 {
		family = unix.AF_INET6
	}
	switch p {
	case Echo:
		return echoSocket(family6)
	case SCTP:
		return sctpSocket(family6)
	case UDP:
		kind = unix.SOCK_DGRAM
	case TCP:
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(p))
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	return fd, nil
}

// disconnect ends what a socket is connected to: at once, with a reset if that is TCP. To close
// the socket does not do: a program that is being started by another thread has it, too, until it
// really runs.
func disconnect(fd int) error {
	unspecified := unix.RawSockaddrInet4{Family: unix.AF_UNSPEC}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&unspecified)), unix.SizeofSockaddrInet4)
	if errno != 0 {
		return fmt.Errorf("disconnect: %w", errno)
	}
	return nil
}

func anyAddress(family6 bool) netip.Addr {
	if family6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func addrPort(s unix.Sockaddr) netip.AddrPort {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port)) // it is a port
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(s.Addr), uint16(s.Port)) // it is a port
	default:
		return netip.AddrPort{}
	}
}

// destination reads the address that a datagram was sent to.
func destination(control []byte) (netip.Addr, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("control message: %w", err)
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return netip.AddrFrom4([4]byte(m.Data[8:12])), nil // struct in_pktinfo, ipi_addr
		case m.Header.Level == unix.SOL_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			return netip.AddrFrom16([16]byte(m.Data[:16])), nil // struct in6_pktinfo, ipi6_addr
		}
	}
	return netip.Addr{}, errors.New("a datagram without its destination")
}

// sourceControl has a datagram leave with this source.
func sourceControl(a netip.Addr) []byte {
	if a.Is4() {
		return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: a.As4()})
	}
	return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: a.As16()})
}

// reportErrors has ICMP errors kept for a socket, with their type and sender, from its first
// packet on. Without it, an IPv6 client learns of a refusal only when it repeats its SYN.
func reportErrors(fd int, family6 bool) error {
	if family6 {
		return unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_RECVERR, 1)
	}
	return unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_RECVERR, 1)
}

// ICMPError is an ICMP or ICMPv6 message about a packet.
type ICMPError struct {
	Type, Code uint8
	From       netip.Addr // who sent it
}

// PortUnreachable says whether it is what packet filters refuse with (RFC 792, RFC 4443).
func (e ICMPError) PortUnreachable() bool {
	if e.From.Is4() {
		return e.Type == unreachable4 && e.Code == 3
	}
	return e.Type == unreachable6 && e.Code == 4
}

// String returns "ICMP type 3 code 3 from 192.168.10.1".
func (e ICMPError) String() string {
	return fmt.Sprintf("ICMP type %d code %d from %s", e.Type, e.Code, e.From)
}

// icmpError takes an ICMP error off a socket's queue, if there is one.
func icmpError(fd int) (ICMPError, bool, error) {
	control := make([]byte, 512)
	_, n, _, _, err := unix.Recvmsg(fd, nil, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if errors.Is(err, unix.EAGAIN) {
		return ICMPError{}, false, nil
	}
	if err != nil {
		return ICMPError{}, false, fmt.Errorf("read the error queue: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return ICMPError{}, false, fmt.Errorf("error queue: %w", err)
	}
	for _, m := range messages {
		reported := m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_RECVERR ||
			m.Header.Level == unix.SOL_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if e, ok := parseExtendedError(m.Data); reported && ok {
			return e, true, nil
		}
	}
	return ICMPError{}, false, nil
}

// parseExtendedError reads a struct sock_extended_err (linux/errqueue.h) and the address after it.
func parseExtendedError(data []byte) (ICMPError, bool) {
	size := int(unsafe.Sizeof(unix.SockExtendedErr{}))
	if len(data) < size+2 {
		return ICMPError{}, false
	}
	origin, offender := data[4], data[size:]
	e := ICMPError{Type: data[5], Code: data[6]}
	switch family := binary.NativeEndian.Uint16(offender); {
	case origin != unix.SO_EE_ORIGIN_ICMP && origin != unix.SO_EE_ORIGIN_ICMP6:
		return ICMPError{}, false
	case family == unix.AF_INET && len(offender) >= 8:
		e.From = netip.AddrFrom4([4]byte(offender[4:8]))
	case family == unix.AF_INET6 && len(offender) >= 24:
		e.From = netip.AddrFrom16([16]byte(offender[8:24]))
	}
	return e, true
}
