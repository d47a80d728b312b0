//go:build linux

package conntrack

import (
	"fmt"
	"net"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
)

// BenchmarkLook is what a look through the table costs on a node with many connections, few of them
// over UDP and none stale.
func BenchmarkLook(b *testing.B) {
	for _, flows := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) {
			runtime.LockOSThread()
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				backendtest.Lacking(b, "no network namespace of its own: %v", err)
			}
			fill(b, flows)
			t, err := openTable(0)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = t.close() }()
			seen := 0
			for b.Loop() {
				seen = 0
				if _, err := t.forget(endpoints.IPv4, func(Flow) bool { seen++; return false }); err != nil {
					b.Fatal(err)
				}
			}
			if seen != flows/100 {
				b.Fatalf("%d flows over UDP were seen, want %d", seen, flows/100)
			}
		})
	}
}

// fill makes entries, each hundredth over UDP.
func fill(b *testing.B, n int) {
	b.Helper()
	h, err := netlink.NewHandle(unix.NETLINK_NETFILTER)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for i := range n {
		src, dst := net.IPv4(10, 1, byte(i>>16), byte(i>>8)).To4(), net.IPv4(10, 2, 0, byte(i)).To4()
		e := &netlink.ConntrackFlow{FamilyType: unix.AF_INET, TimeOut: 3600,
			Forward:   netlink.IPTuple{SrcIP: src, DstIP: dst, SrcPort: 4000, DstPort: 80, Protocol: unix.IPPROTO_TCP},
			Reverse:   netlink.IPTuple{SrcIP: dst, DstIP: src, SrcPort: 80, DstPort: 4000, Protocol: unix.IPPROTO_TCP},
			ProtoInfo: &netlink.ProtoInfoTCP{State: 3},
		}
		if i%100 == 0 {
			e.Forward.Protocol, e.Reverse.Protocol, e.ProtoInfo = unix.IPPROTO_UDP, unix.IPPROTO_UDP, nil
		}
		if err := h.ConntrackCreate(netlink.ConntrackTable, unix.AF_INET, e); err != nil {
			b.Fatal(err)
		}
	}
}
