//go:build linux

package iptables

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// size is a cluster of so many Services with so many endpoints each.
type size struct{ services, endpoints int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.services, s.endpoints) }

func sizes() []size { return []size{{1000, 5}, {10000, 5}} }

// cluster fills a world with ClusterIP Services.
func (s size) cluster(b *testing.B) *backendtest.World {
	b.Helper()
	w := backendtest.NewWorld(1, testNode())
	for i := range s.services {
		backendtest.SetService(b, w.Cache, s.service(i), s.slice(i, 0))
	}
	w.Step(b)
	return w
}

func (s size) service(i int) *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", fmt.Sprintf("svc-%d", i)
	addr := backendtest.IP4(10, 96+i/62500, i/250%250, i%250+1)
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = addr, []string{addr}
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Protocol: corev1.ProtocolTCP, Port: 80}}
	return svc
}

// slice holds a Service's endpoints, a few on the node; with a version of 1 the first is another.
func (s size) slice(i, version int) *discoveryv1.EndpointSlice {
	slice := backendtest.SliceOf(fmt.Sprintf("svc-%d", i), endpoints.IPv4, corev1.ProtocolTCP)
	for j := range s.endpoints {
		n := i*s.endpoints + j
		last := n%250 + 1
		if j == 0 && version == 1 {
			last = 252
		}
		backendtest.AddEndpoint(slice, backendtest.IP4(10, 128+n/62500, n/250%250, last), n%100, true)
	}
	return slice
}

// measure times each round by itself, and reports the median and the ninth decile in
// milliseconds: the mean of a noisy machine says little. before is done before each round, if it
// is not nil, and counts for nothing.
func measure(b *testing.B, before, round func(i int) error) {
	b.Helper()
	debug.FreeOSMemory()
	b.ReportAllocs()
	var took []time.Duration
	var cpu time.Duration
	for i := 0; b.Loop(); i++ {
		if before != nil {
			b.StopTimer()
			if err := before(i); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		start, used := time.Now(), processorTime(b)
		if err := round(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		cpu += processorTime(b) - used
	}
	b.ReportMetric(cpu.Seconds()*1e3/float64(len(took)), "cpu-ms/op")
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*9/10].Seconds()*1e3, "p90-ms")
}

// processorTime is what this process and the tools that it ran have used of processors, which
// neighbours on the machine make less of a difference to.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if err := unix.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return sum
}

// onEach runs a benchmark with each size on each variant, in a namespace of its own, and
// where a chain for every endpoint does not take minutes, with those, which are kube-proxy's.
func onEach(b *testing.B, f func(b *testing.B, s size, opts Options)) {
	b.Helper()
	for _, s := range sizes() {
		for _, v := range []Variant{NFT, Legacy} {
			for _, all := range []bool{false, true} {
				if v == NFT && all && s.services > 1000 {
					continue
				}
				name := s.String() + "/" + v.String()
				if all {
					name += "/endpoint-chains"
				}
				b.Run(name, func(b *testing.B) {
					alone(b)
					f(b, s, Options{Variant: v, EndpointChains: all, Families: []endpoints.IPFamily{endpoints.IPv4}})
				})
			}
		}
	}
}

// BenchmarkRender is what a whole load costs before the first tool runs.
func BenchmarkRender(b *testing.B) {
	for _, s := range sizes() {
		b.Run(s.String(), func(b *testing.B) {
			w := s.cluster(b)
			opts := Options{Families: []endpoints.IPFamily{endpoints.IPv4}}
			measure(b, nil, func(int) error { return Dump(io.Discard, w.Plan, opts) })
		})
	}
}

// BenchmarkStart is a first Apply to empty tables.
func BenchmarkStart(b *testing.B) {
	onEach(b, func(b *testing.B, s size, opts Options) {
		b.Helper()
		w := s.cluster(b)
		var k *Backend
		empty := func(int) error {
			if k != nil {
				if err := k.Cleanup(); err != nil {
					return err
				}
			}
			k = backend(b, w.Node, opts)
			return nil
		}
		measure(b, empty, func(int) error { return k.Apply(w.Plan, plan.Delta{}) })
	})
}

// BenchmarkResync writes what is there once more.
func BenchmarkResync(b *testing.B) {
	onEach(b, func(b *testing.B, s size, opts Options) {
		b.Helper()
		w := s.cluster(b)
		k := backend(b, w.Node, opts)
		apply(b, k, w.Plan, plan.Delta{})
		measure(b, nil, func(int) error { return k.Resync(w.Plan) })
	})
}

func BenchmarkCheck(b *testing.B) {
	onEach(b, func(b *testing.B, s size, opts Options) {
		b.Helper()
		w := s.cluster(b)
		k := backend(b, w.Node, opts)
		apply(b, k, w.Plan, plan.Delta{})
		measure(b, nil, func(int) error { return k.Check(w.Plan) })
		if k.families[0].replaced != 1 {
			b.Fatal("something was amiss")
		}
	})
}

// benchmarkPair applies two Plans in turn, each by what it differs in from the other.
func benchmarkPair(b *testing.B, change func(b *testing.B, s size, w *backendtest.World) func(version int)) {
	onEach(b, func(b *testing.B, s size, opts Options) {
		b.Helper()
		w := s.cluster(b)
		k := backend(b, w.Node, opts)
		apply(b, k, w.Plan, plan.Delta{})
		to := change(b, s, w)
		var plans [2]*plan.Plan
		var deltas [2]plan.Delta
		for _, version := range []int{1, 0} {
			to(version)
			plans[version], deltas[version] = w.Step(b)
		}
		measure(b, nil, func(i int) error { return k.Apply(plans[(i+1)%2], deltas[(i+1)%2]) })
		if k.families[0].replaced != 1 {
			b.Fatal("all was written again")
		}
	})
}

func BenchmarkOneEndpointReplaced(b *testing.B) {
	benchmarkPair(b, func(b *testing.B, s size, w *backendtest.World) func(int) {
		b.Helper()
		return func(version int) { backendtest.SetService(b, w.Cache, s.service(7), s.slice(7, version)) }
	})
}

func BenchmarkOneServiceAddedOrRemoved(b *testing.B) {
	benchmarkPair(b, func(b *testing.B, s size, w *backendtest.World) func(int) {
		b.Helper()
		i := s.services
		return func(version int) {
			if version == 1 {
				backendtest.SetService(b, w.Cache, s.service(i), s.slice(i, 0))
				return
			}
			w.Cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: s.service(i).Name})
		}
	})
}
