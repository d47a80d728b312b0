package lab

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Kernels of test machines have no SCTP sockets (CONFIG_IP_SCTP), but their tables of connections
// know the protocol. So the lab speaks as much of it by raw sockets as rules can see: a request
// is an INIT, the answer an INIT ACK with the server's words as its cookie, and an ABORT is
// TCP's reset (RFC 9260, 3.3). Both ends check the checksum, which covers all of a packet and
// which the node has to renew where it rewrites one.

// Chunks and parameters (RFC 9260, 3.2 and 3.3.2).
const (
	sctpInit, sctpInitAck, sctpAbort = 1, 2, 6

	sctpHeader  = 12 // ports, verification tag, checksum
	sctpFixed   = 20 // an INIT's chunk header, tag, window, two counts of streams, first number
	sctpCookie  = 7  // the parameter for a state cookie
	sctpRequest = 0xc0de
	// sctpRequest is of a kind that receivers skip if they do not know it: its upper bits are 11.
)

// sctpMessage is an SCTP packet with a single chunk.
type sctpMessage struct {
	src, dst uint16
	tag      uint32 // of whom it is for; 0 in an INIT
	chunk    byte
	own      uint32 // the sender's tag, in INIT and INIT ACK
	kind     uint16 // of the parameter
	text     []byte // in the parameter
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the packet, with its checksum.
func (m *sctpMessage) encode() []byte {
	b := binary.BigEndian.AppendUint16(nil, m.src)
	b = binary.BigEndian.AppendUint16(b, m.dst)
	b = binary.BigEndian.AppendUint32(b, m.tag)
	b = append(b, 0, 0, 0, 0, m.chunk, 0, 0, 0)
	if m.chunk != sctpAbort {
		b = binary.BigEndian.AppendUint32(b, m.own)
		b = binary.BigEndian.AppendUint32(b, 1<<16) // the window
		b = binary.BigEndian.AppendUint32(b, 1<<16|1)
		b = binary.BigEndian.AppendUint32(b, m.own)
		b = binary.BigEndian.AppendUint16(b, m.kind)
		b = binary.BigEndian.AppendUint16(b, uint16(4+len(m.text))) // a few words
		b = append(b, m.text...)
	}
	binary.BigEndian.PutUint16(b[sctpHeader+2:], uint16(len(b)-sctpHeader)) // a few words
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, castagnoli))
	return b
}

// decodeSCTP reads a packet that encode wrote; ok is false for any other, and for one whose
// checksum is wrong.
func decodeSCTP(b []byte) (m sctpMessage, ok bool) {
	if len(b) < sctpHeader+4 {
		return m, false
	}
	sum := binary.LittleEndian.Uint32(b[8:])
	b = append([]byte(nil), b...)
	clear(b[8:sctpHeader])
	if crc32.Checksum(b, castagnoli) != sum {
		return m, false
	}
	m = sctpMessage{
		src: binary.BigEndian.Uint16(b), dst: binary.BigEndian.Uint16(b[2:]), tag: binary.BigEndian.Uint32(b[4:]),
		chunk: b[sctpHeader],
	}
	if m.chunk == sctpAbort {
		return m, true
	}
	parameter := sctpHeader + sctpFixed
	if len(b) < parameter+4 {
		return m, false
	}
	m.own = binary.BigEndian.Uint32(b[sctpHeader+4:])
	m.kind = binary.BigEndian.Uint16(b[parameter:])
	n := int(binary.BigEndian.Uint16(b[parameter+2:]))
	if n < 4 || len(b) < parameter+n {
		return m, false
	}
	m.text = b[parameter+4 : parameter+n]
	return m, true
}

// sctpSocket makes a raw socket for SCTP in the namespace the thread is in.
func sctpSocket(family6 bool) (int, error) {
	family := unix.AF_INET
	if family6 {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_SCTP)
	if err != nil {
		return -1, fmt.Errorf("raw socket for SCTP: %w", err)
	}
	return fd, nil
}

// payload cuts off the IP header, which raw sockets deliver for IPv4 only.
func payload(packet []byte, family6 bool) []byte { return icmpMessage(packet, family6) }

// tag is the client's own of a flow.
func (f *Flow) tag() uint32 { return 1<<24 | uint32(f.Src.Port()) }

func (f *Flow) sctpInit() []byte {
	m := sctpMessage{src: f.Src.Port(), dst: f.Dst.Port(), chunk: sctpInit, own: f.tag(), kind: sctpRequest, text: []byte(f.sent)}
	return m.encode()
}

// sctpReply says what a packet means for the flow. While the Fate is Lost, nothing.
func (f *Flow) sctpReply(packet []byte) (Result, error) {
	r := Result{Fate: Lost}
	m, ok := decodeSCTP(payload(packet, f.Dst.Addr().Is6()))
	if !ok || m.src != f.Dst.Port() || m.dst != f.Src.Port() || m.tag != f.tag() {
		return r, nil // another flow's
	}
	if m.chunk == sctpAbort {
		return Result{Fate: Reset}, nil
	}
	if m.chunk != sctpInitAck || m.kind != sctpCookie {
		return r, nil
	}
	return f.answered(m.text)
}

// replyWithSCTP answers an INIT, from the address it was sent to.
func (s *servers) replyWithSCTP(sv *server) error {
	buf, control := make([]byte, 512), make([]byte, 256)
	n, controls, _, from, err := unix.Recvmsg(sv.fd, buf, control, unix.MSG_DONTWAIT)
	if err != nil {
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNREFUSED) {
			return nil
		}
		return fmt.Errorf("receive in %s: %w", sv.site.Name, err)
	}
	m, ok := decodeSCTP(payload(buf[:n], sv.family6))
	if !ok || m.chunk != sctpInit || m.kind != sctpRequest {
		return nil // what comes back to a client of this site, whose own socket has it, too
	}
	at, err := destination(control[:controls])
	if err != nil {
		return fmt.Errorf("receive in %s: %w", sv.site.Name, err)
	}
	reply := sctpMessage{src: m.dst, dst: m.src, tag: m.own, chunk: sctpAbort}
	peer := netip.AddrPortFrom(addrPort(from).Addr(), 0)
	if s.ports[port{SCTP, sv.family6, m.dst}] {
		a := Arrival{sv.site.Name, netip.AddrPortFrom(at, m.dst), netip.AddrPortFrom(peer.Addr(), m.src)}
		s.arrivals = append(s.arrivals, a)
		text, err := json.Marshal(answer{a, string(m.text)})
		if err != nil {
			return fmt.Errorf("encode an answer: %w", err)
		}
		reply.chunk, reply.own, reply.kind, reply.text = sctpInitAck, 1<<25|uint32(m.src), sctpCookie, text
	}
	if _, err := unix.SendmsgN(sv.fd, reply.encode(), sourceControl(at), sockaddr(peer), 0); err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("answer from %s: %w", sv.site.Name, err)
	}
	return nil
}
