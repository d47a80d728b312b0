package memory

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// bigWorld is a node with so many Services of five endpoints each, and packets from a pod
// for them in turn.
func bigWorld(tb testing.TB, services int) (*Dataplane, []packet.Packet) {
	tb.Helper()
	c := endpoints.NewCache(endpoints.CurrentOptions())
	var packets []packet.Packet
	for i := range services {
		sp := portOf(5, 0)
		sp.Name.Name = fmt.Sprintf("service-%05d", i)
		sp.ClusterIP = addr(172, 16, byte(i>>8), byte(i))
		for j := range sp.Endpoints {
			sp.Endpoints[j].Addr = netip.AddrPortFrom(addr(10, byte(j), byte(i>>8), byte(i)), 8080)
		}
		svc, slice := objects(sp)
		problems := append(c.SetService(svc), c.SetSlice(slice)...)
		if len(problems) > 0 {
			tb.Fatal(problems)
		}
		p := client(uint16(i))
		p.Dst = netip.AddrPortFrom(sp.ClusterIP, 80)
		packets = append(packets, p)
	}
	return New(plan.Build(c.Snapshot(), node())), packets
}

func sizes(b *testing.B, f func(b *testing.B, dp *Dataplane, packets []packet.Packet)) {
	for _, services := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("%dservicesx5", services), func(b *testing.B) {
			dp, packets := bigWorld(b, services)
			b.ReportAllocs()
			f(b, dp, packets)
		})
	}
}

func BenchmarkTrace(b *testing.B) {
	sizes(b, func(b *testing.B, dp *Dataplane, packets []packet.Packet) {
		i := 0
		for b.Loop() {
			dp.Trace(packets[i*7919%len(packets)])
			i++
		}
	})
}

func BenchmarkSendNew(b *testing.B) {
	sizes(b, func(b *testing.B, dp *Dataplane, packets []packet.Packet) {
		i := 0
		for b.Loop() {
			p := packets[i*7919%len(packets)]
			if dp.Send(p, 0, splitMix(1, uint64(i))).Verdict != packet.Endpoints {
				b.Fatal("no endpoint")
			}
			dp.Close(p.Flow())
			i++
		}
	})
}

func BenchmarkSendEstablished(b *testing.B) {
	sizes(b, func(b *testing.B, dp *Dataplane, packets []packet.Packet) {
		for i, p := range packets {
			dp.Send(p, 0, splitMix(1, uint64(i)))
		}
		i := 0
		for b.Loop() {
			if !dp.Send(packets[i*7919%len(packets)], 0, 0).Established {
				b.Fatal("a new flow")
			}
			i++
		}
	})
}
