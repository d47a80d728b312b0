package conntrack

import (
	"encoding/binary"
	"iter"
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Attributes and flags that package nl does not have (linux/netfilter/nfnetlink_conntrack.h,
// net/netfilter/nf_internals.h).
const (
	ctaFilter           = 25
	ctaFilterOrigFlags  = 1
	filterByProtocol    = 1 << 3
	sizeofNfgenmsg      = 4
	sizeofAttributeHead = 4
)

// onlyUDP asks the kernel to list no other entries. It saves the most part of a look: a node has many
// connections, and few over UDP. Kernels before 5.8 do not know of it and list all.
func onlyUDP() []*nl.RtAttr {
	tuple := nl.NewRtAttr(int(nl.NLA_F_NESTED|nl.CTA_TUPLE_ORIG), nil)
	tuple.AddRtAttr(int(nl.NLA_F_NESTED|nl.CTA_TUPLE_PROTO), nil).AddRtAttr(nl.CTA_PROTO_NUM, []byte{unix.IPPROTO_UDP})
	filter := nl.NewRtAttr(int(nl.NLA_F_NESTED|ctaFilter), nil)
	filter.AddRtAttr(ctaFilterOrigFlags, nl.Uint32Attr(filterByProtocol))
	return []*nl.RtAttr{tuple, filter}
}

// flowOf reads the kernel's message about an entry. It returns false unless that is a UDP flow.
func flowOf(message []byte) (Flow, bool) {
	if len(message) < sizeofNfgenmsg {
		return Flow{}, false
	}
	var original, reply tuple
	for kind, value := range attributes(message[sizeofNfgenmsg:]) {
		switch kind {
		case nl.CTA_TUPLE_ORIG:
			original = tupleOf(value)
		case nl.CTA_TUPLE_REPLY:
			reply = tupleOf(value)
		}
	}
	f := Flow{To: original.dst, Server: reply.src}
	return f, original.protocol == unix.IPPROTO_UDP && f.To.IsValid() && f.Server.IsValid()
}

// tuple is one direction of a flow.
type tuple struct {
	src, dst netip.AddrPort
	protocol uint8
}

func tupleOf(b []byte) tuple {
	var t tuple
	var src, dst netip.Addr
	var srcPort, dstPort uint16
	for part, nested := range attributes(b) {
		for kind, value := range attributes(nested) {
			switch {
			case part == nl.CTA_TUPLE_IP && (kind == nl.CTA_IP_V4_SRC || kind == nl.CTA_IP_V6_SRC):
				src, _ = netip.AddrFromSlice(value)
			case part == nl.CTA_TUPLE_IP && (kind == nl.CTA_IP_V4_DST || kind == nl.CTA_IP_V6_DST):
				dst, _ = netip.AddrFromSlice(value)
			case part == nl.CTA_TUPLE_PROTO && kind == nl.CTA_PROTO_NUM && len(value) == 1:
				t.protocol = value[0]
			case part == nl.CTA_TUPLE_PROTO && kind == nl.CTA_PROTO_SRC_PORT && len(value) == 2:
				srcPort = binary.BigEndian.Uint16(value)
			case part == nl.CTA_TUPLE_PROTO && kind == nl.CTA_PROTO_DST_PORT && len(value) == 2:
				dstPort = binary.BigEndian.Uint16(value)
			}
		}
	}
	t.src, t.dst = netip.AddrPortFrom(src, srcPort), netip.AddrPortFrom(dst, dstPort)
	return t
}

// attributes walks netlink attributes. It ends at one that is not whole.
func attributes(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= sizeofAttributeHead {
			size := int(binary.NativeEndian.Uint16(b))
			if size < sizeofAttributeHead || size > len(b) {
				return
			}
			kind := binary.NativeEndian.Uint16(b[2:]) & nl.NLA_TYPE_MASK
			if !yield(kind, b[sizeofAttributeHead:size]) {
				return
			}
			b = b[min(len(b), (size+3)&^3):] // each begins at a multiple of 4
		}
	}
}
