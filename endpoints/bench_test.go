package endpoints

import (
	"fmt"
	"net/netip"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// benchPort returns a port with n endpoints on n/5+1 nodes in three zones, in address order.
func benchPort(n int, change func(i int, e *Endpoint)) *ServicePort {
	g := group{}
	for i := range n {
		e := Endpoint{
			Addr:       netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 8080),
			NodeName:   fmt.Sprintf("node-%d", i/5),
			Meta:       &Meta{},
			Conditions: Ready | Serving,
		}
		if change != nil {
			change(i, &e)
		}
		g.endpoints = append(g.endpoints, e)
	}
	g.finish()
	sp := &ServicePort{ClusterIP: netip.AddrFrom4([4]byte{10, 96, 0, 1}), Port: 80, NodePort: 30080}
	g.give(sp)
	return sp
}

// benchPorts are the shapes that take different paths through Select.
func benchPorts(n int) []struct {
	name string
	sp   *ServicePort
} {
	plain := benchPort(n, nil)
	local := benchPort(n, nil)
	local.InternalPolicy, local.ExternalPolicy = PolicyLocal, PolicyLocal
	return []struct {
		name string
		sp   *ServicePort
	}{
		{"plain", plain},
		{"hints", benchPort(n, func(i int, e *Endpoint) { e.Meta = &Meta{ForZones: []string{fmt.Sprintf("zone-%d", i%3)}} })},
		{"local", local},
		{"fallback", benchPort(n, func(_ int, e *Endpoint) { e.Conditions = Serving | Terminating })},
	}
}

var benchSizes = []int{5, 50, 1000}

func perEndpoint(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/endpoint")
}

func BenchmarkSelect(b *testing.B) {
	node, o := NodeInfo{Name: "node-0", Zone: "zone-0"}, CurrentOptions()
	for _, n := range benchSizes {
		for _, p := range benchPorts(n) {
			b.Run(fmt.Sprintf("%dendpoints/%s", n, p.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Select(p.sp, node, o)
				}
				perEndpoint(b, n)
			})
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	node, o := NodeInfo{Name: "node-0", Zone: "zone-0"}, CurrentOptions()
	for _, n := range benchSizes {
		for _, p := range benchPorts(n) {
			b.Run(fmt.Sprintf("%dendpoints/%s", n, p.name), func(b *testing.B) {
				var dst []Decision
				b.ReportAllocs()
				for b.Loop() {
					_, dst = Decide(p.sp, node, o, dst[:0])
				}
				perEndpoint(b, n)
			})
		}
	}
}

// BenchmarkCacheOneSliceChange measures one endpoint of one Service changing its
// readiness, from the API object to the published Snapshot. The number of other Services
// must not matter.
func BenchmarkCacheOneSliceChange(b *testing.B) {
	for _, n := range []int{1000, 30000} {
		b.Run(fmt.Sprintf("%dservices x5", n), func(b *testing.B) {
			c := currentCache()
			for i := range n {
				name := fmt.Sprintf("s%05d", i)
				c.SetService(apiService(name))
				c.SetSlice(benchSlice(name, "T/T/F"))
			}
			c.Snapshot()
			name := fmt.Sprintf("s%05d", n/2)
			states := [2]*discoveryv1.EndpointSlice{benchSlice(name, "F/T/T"), benchSlice(name, "T/T/F")}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.SetSlice(states[i%2])
				if len(c.Snapshot().Changed()) != 1 {
					b.Fatal("no change")
				}
			}
		})
	}
}

func benchSlice(service, first string) *discoveryv1.EndpointSlice {
	return apiSlice(service, service+"-1",
		ep{n: 1, cond: first, node: "a"}.api(), ready(2, "b").api(), ready(3, "c").api(), ready(4, "d").api(), ready(5, "e").api())
}
