package plan_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// benchSize is a cluster of Services with a ClusterIP, one in ten with external addresses.
type benchSize struct{ services, endpoints int }

// turns is how many Services take turns in being changed, at every size.
const turns = 500

// turn returns the number of the Service whose turn is the i-th.
func (size benchSize) turn(i int) int { return i % turns * (size.services / turns) }

func benchNode(d plan.Dialect) *plan.Node {
	return &plan.Node{
		Name: "n0", Dialect: d, Addresses: []netip.Addr{netip.MustParseAddr("192.168.0.1")},
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		Options:  endpoints.CurrentOptions(),
	}
}

func benchName(i int) endpoints.ServiceName {
	return endpoints.ServiceName{Namespace: fmt.Sprintf("team-%02d", i%40), Name: fmt.Sprintf("service-%05d", i)}
}

// fill puts the Services of a size into a cache.
func (size benchSize) fill(tb testing.TB, c *endpoints.Cache) {
	tb.Helper()
	nodePort := int32(30000)
	for i := range size.services {
		n := benchName(i)
		kind := i / (size.services / turns) % 20 // as many of each among those that take turns
		w := worldService{
			namespace: n.Namespace, name: n.Name, exposed: kind < 2, externalLocal: kind < 1,
			clusterIP: netip.AddrFrom4([4]byte{172, 16 + byte(i>>16), byte(i >> 8), byte(i)}),
			external:  netip.AddrFrom4([4]byte{198, 18 + byte(i>>16), byte(i >> 8), byte(i)}),
			nodePort:  nodePort,
		}
		if w.exposed {
			nodePort++
		}
		if problems := c.SetService(w.object()); problems != nil {
			tb.Fatal(problems)
		}
		size.setSlice(tb, c, i, 0)
	}
}

// setSlice writes a Service's endpoints; another generation replaces the last one of them.
func (size benchSize) setSlice(tb testing.TB, c *endpoints.Cache, i, generation int) {
	tb.Helper()
	n := benchName(i)
	list := make([]worldEndpoint, size.endpoints)
	for j := range list {
		host := j
		if j == size.endpoints-1 {
			host += generation % 200
		}
		list[j] = worldEndpoint{addr: netip.AddrFrom4([4]byte{10 + byte(host), byte(i >> 16), byte(i >> 8), byte(i)}), node: fmt.Sprintf("n%d", (i+j)%100), ready: true}
	}
	if problems := c.SetSlice(sliceObject(n.Namespace, n.Name, list)); problems != nil {
		tb.Fatal(problems)
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, size := range []benchSize{{1000, 5}, {10000, 5}, {10000, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size.services, size.endpoints), func(b *testing.B) {
			c := endpoints.NewCache(endpoints.CurrentOptions())
			size.fill(b, c)
			snap, node := c.Snapshot(), benchNode(plan.NFTables)
			b.ReportAllocs()
			for b.Loop() {
				plan.Build(snap, node)
			}
		})
	}
}

// BenchmarkUpdateOneService replaces one endpoint of one Service. As many Services take turns
// at every size, spread over all of them: what differs is the size of the cluster, not how
// much of it is in the processor's cache. It counts Update alone, not the cache and its
// Snapshot before it, which are another package's; p50 is the median, which neighbours on the
// machine and garbage collection leave alone. B/op and allocs/op are the whole round's.
func BenchmarkUpdateOneService(b *testing.B) {
	for _, services := range []int{1000, 10000, 30000} {
		size := benchSize{services, 5}
		b.Run(fmt.Sprintf("%dservicesx%d", services, size.endpoints), func(b *testing.B) {
			c := endpoints.NewCache(endpoints.CurrentOptions())
			size.fill(b, c)
			p := plan.Build(c.Snapshot(), benchNode(plan.NFTables))
			var took []time.Duration
			var sum time.Duration
			runtime.GC() // what filling left behind is not Update's
			for i := 0; b.Loop(); i++ {
				size.setSlice(b, c, size.turn(i), 1+i/turns)
				snap := c.Snapshot()
				start := time.Now()
				next, delta := plan.Update(p, snap, snap.Changed())
				took = append(took, time.Since(start))
				sum += took[i]
				if len(delta.Services) != 1 {
					b.Fatalf("%d Services differ", len(delta.Services))
				}
				p = next
			}
			slices.Sort(took)
			b.ReportMetric(float64(sum)/float64(len(took)), "ns/op")
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns/op")
		})
	}
}

// BenchmarkUpdateNothing changes what this node does not care for: the Plan is made again, and
// nothing is left to do.
func BenchmarkUpdateNothing(b *testing.B) {
	size := benchSize{1000, 5}
	c := endpoints.NewCache(endpoints.CurrentOptions())
	size.fill(b, c)
	p := plan.Build(c.Snapshot(), benchNode(plan.NFTables))
	snap := c.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if _, delta := plan.Update(p, snap, snap.Changed()); !delta.Empty() {
			b.Fatal("a delta for nothing")
		}
	}
}
