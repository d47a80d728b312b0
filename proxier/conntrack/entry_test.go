//go:build linux

package conntrack

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink/nl"
)

// message is what the kernel says of an entry from 192.0.2.1:40000 to 10.96.0.10:53, translated to
// 10.0.0.1:5353.
func message(protocol byte) []byte {
	direction := func(kind int, src, dst []byte, srcPort, dstPort byte) []byte {
		t := nl.NewRtAttr(kind|int(nl.NLA_F_NESTED), nil)
		ips := t.AddRtAttr(nl.CTA_TUPLE_IP|int(nl.NLA_F_NESTED), nil)
		ips.AddRtAttr(nl.CTA_IP_V4_SRC, src)
		ips.AddRtAttr(nl.CTA_IP_V4_DST, dst)
		proto := t.AddRtAttr(nl.CTA_TUPLE_PROTO|int(nl.NLA_F_NESTED), nil)
		proto.AddRtAttr(nl.CTA_PROTO_NUM, []byte{protocol})
		proto.AddRtAttr(nl.CTA_PROTO_SRC_PORT, []byte{0x14, srcPort})
		proto.AddRtAttr(nl.CTA_PROTO_DST_PORT, []byte{0x14, dstPort})
		return t.Serialize()
	}
	b := []byte{2, 0, 0, 0}
	b = append(b, direction(nl.CTA_TUPLE_ORIG, []byte{192, 0, 2, 1}, []byte{10, 96, 0, 10}, 1, 2)...)
	b = append(b, direction(nl.CTA_TUPLE_REPLY, []byte{10, 0, 0, 1}, []byte{192, 0, 2, 1}, 0xe9, 1)...)
	return append(b, nl.NewRtAttr(nl.CTA_STATUS, []byte{0, 0, 1, 0x8e}).Serialize()...)
}

func TestTheKernelsWords(t *testing.T) {
	t.Parallel()
	want := Flow{To: netip.MustParseAddrPort("10.96.0.10:5122"), Server: netip.MustParseAddrPort("10.0.0.1:5353")}
	if f, ok := flowOf(message(17)); !ok || f != want {
		t.Errorf("%+v, %t, want %+v", f, ok, want)
	}
	if f, ok := flowOf(message(6)); ok {
		t.Errorf("a TCP connection is taken for %+v", f)
	}
	whole := message(17)
	reply := len(whole) - 8 - 1 // within the second direction
	for _, size := range []int{0, 3, 4, 7, 20, reply} {
		if f, ok := flowOf(whole[:size]); ok {
			t.Errorf("%d bytes of %d are taken for %+v", size, len(whole), f)
		}
	}
}

// FuzzFlow: whatever a kernel says, nobody panics, and no entry is without addresses.
func FuzzFlow(f *testing.F) {
	f.Add(message(17))
	f.Add(message(6))
	f.Fuzz(func(t *testing.T, b []byte) {
		if flow, ok := flowOf(b); ok && (!flow.To.Addr().IsValid() || !flow.Server.Addr().IsValid()) {
			t.Errorf("%x: %+v", b, flow)
		}
	})
}

// Whoever has found what it looks for in an entry is not shown the rest, and what is not whole ends it.
func TestAWalkThroughAttributesEnds(t *testing.T) {
	t.Parallel()
	one := []byte{7, 0, 1, 0, 'a', 'b', 'c', 0}
	for name, c := range map[string]struct {
		b    []byte
		want int
	}{
		"two of them": {slices.Concat(one, one), 2}, "one and a half": {slices.Concat(one, one[:6]), 1}, "less than a head": {one[:3], 0},
		"one that is shorter than its head": {[]byte{3, 0, 1, 0, 'a'}, 0}, "the last without its end": {slices.Concat(one, one[:7]), 2}, "an empty one": {[]byte{4, 0, 1, 0}, 1},
	} {
		seen := 0
		for range attributes(c.b) {
			seen++
		}
		if seen != c.want {
			t.Errorf("%s: %d, want %d", name, seen, c.want)
		}
	}
	for kind, v := range attributes(slices.Concat(one, one)) {
		if kind != 1 || string(v) != "abc" {
			t.Errorf("attribute %d: %q", kind, v)
		}
		break
	}
}
