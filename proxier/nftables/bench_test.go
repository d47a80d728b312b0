//go:build linux

package nftables

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// size is a cluster of so many Services with so many endpoints each.
type size struct{ services, endpoints int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.services, s.endpoints) }

func sizes() []size { return []size{{1000, 5}, {10000, 5}, {30000, 3}, {10000, 50}} }

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

// quantiles reports the median and the ninth decile of an operation, in microseconds: the mean
// of a noisy machine says little.
func quantiles(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-us")
	b.ReportMetric(float64(took[len(took)*9/10].Nanoseconds())/1e3, "p90-us")
}

// measure times each round by itself.
func measure(b *testing.B, round func(i int) error) {
	b.Helper()
	b.ReportAllocs()
	took := make([]time.Duration, 0, b.N)
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if err := round(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	quantiles(b, took)
}

// encoded is a transaction ready to be sent: what is left is the kernel's work.
func encoded(b *testing.B, changes ...*tableChange) *encoder {
	b.Helper()
	e := &encoder{table: defaultTable, mark: defaultMark}
	if err := e.batch(changes, 0, false); err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkWholeLoad replaces the tables by those of a whole Plan; raw is the same batch, encoded
// before.
func BenchmarkWholeLoad(b *testing.B) {
	for _, s := range sizes() {
		b.Run(s.String(), func(b *testing.B) {
			alone(b)
			w, k := s.cluster(b), backend(b, testNode())
			debug.FreeOSMemory()
			measure(b, func(int) error { return k.Resync(w.Plan) })
		})
		b.Run(s.String()+"/raw", func(b *testing.B) {
			alone(b)
			w, k := s.cluster(b), backend(b, testNode())
			c, ok := k.kernel.(*conn)
			if !ok {
				b.Fatalf("the kernel is a %T", k.kernel)
			}
			var changes []*tableChange
			for _, f := range endpoints.Families() {
				changes = append(changes, newState(w.Node, f).create(w.Plan))
			}
			e := encoded(b, changes...)
			b.ReportMetric(float64(len(e.b))/1e6, "MB")
			measure(b, func(int) error { return c.send(e) })
		})
	}
}

// there and back again: two Plans and what leads from each to the other.
type pair struct {
	plans  [2]*plan.Plan
	deltas [2]plan.Delta // deltas[i] leads to plans[i]
}

// pairOf makes a pair from what changes the world to and fro.
func pairOf(b *testing.B, w *backendtest.World, change func(version int)) pair {
	b.Helper()
	change(0)
	w.Step(b)
	var p pair
	change(1)
	p.plans[1], p.deltas[1] = w.Step(b)
	change(0)
	p.plans[0], p.deltas[0] = w.Step(b)
	return p
}

// changer returns what changes a world to a version, 0 or 1.
type changer func(b *testing.B, s size, w *backendtest.World) func(version int)

// benchmarkPair applies a pair over and over; raw sends the same two batches, encoded before.
func benchmarkPair(b *testing.B, change changer) {
	for _, s := range sizes() {
		b.Run(s.String(), func(b *testing.B) { applyPair(b, s, change) })
		b.Run(s.String()+"/raw", func(b *testing.B) {
			alone(b)
			w, k := s.cluster(b), backend(b, testNode())
			p := pairOf(b, w, change(b, s, w))
			apply(b, k, p.plans[0], plan.Delta{})
			c, ok := k.kernel.(*conn)
			if !ok {
				b.Fatalf("the kernel is a %T", k.kernel)
			}
			one := encoded(b, k.states[0].apply(&p.deltas[1]))
			zero := encoded(b, k.states[0].apply(&p.deltas[0]))
			batches := [2]*encoder{zero, one}
			debug.FreeOSMemory()
			measure(b, func(i int) error { return c.send(batches[(i+1)%2]) })
		})
	}
}

func applyPair(b *testing.B, s size, change changer) {
	b.Helper()
	alone(b)
	w, k := s.cluster(b), backend(b, testNode())
	p := pairOf(b, w, change(b, s, w))
	apply(b, k, p.plans[0], plan.Delta{})
	debug.FreeOSMemory()
	measure(b, func(i int) error { return k.Apply(p.plans[(i+1)%2], p.deltas[(i+1)%2]) })
	if k.replaced > 1 {
		b.Fatalf("the tables were replaced %d times: that is not what was to be measured", k.replaced-1)
	}
}

func BenchmarkOneEndpointReplaced(b *testing.B) {
	benchmarkPair(b, func(b *testing.B, s size, w *backendtest.World) func(int) {
		b.Helper()
		return func(version int) { backendtest.SetService(b, w.Cache, s.service(7), s.slice(7, version)) }
	})
}

// balancer is a Service with a load-balancer IP and a node port.
func (s size) balancer(i int) *corev1.Service {
	svc := s.service(i)
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.Ports[0].NodePort = 30007
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.7"}}
	return svc
}

// benchmarkService changes a Service with a load balancer to and fro. What it sends depends on what was sent before
// (numbers that are not used again soon, chains that are there already), so that it cannot be encoded before.
func benchmarkService(b *testing.B, change func(*corev1.Service)) {
	for _, s := range sizes() {
		b.Run(s.String(), func(b *testing.B) {
			applyPair(b, s, func(b *testing.B, s size, w *backendtest.World) func(int) {
				b.Helper()
				return func(version int) {
					svc := s.balancer(7)
					if version == 1 {
						change(svc)
					}
					backendtest.SetService(b, w.Cache, svc, s.slice(7, 0))
				}
			})
		})
	}
}

func BenchmarkAffinityTurnedOnOrOff(b *testing.B) {
	benchmarkService(b, func(svc *corev1.Service) {
		seconds := int32(10800)
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	})
}

func BenchmarkLocalPolicyTurnedOnOrOff(b *testing.B) {
	benchmarkService(b, func(svc *corev1.Service) { svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
}

// BenchmarkSourceRangesTurnedOnOrOff makes a set and a chain at run time, and removes them.
func BenchmarkSourceRangesTurnedOnOrOff(b *testing.B) {
	benchmarkService(b, func(svc *corev1.Service) {
		svc.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "198.51.100.0/24"}
	})
}

// BenchmarkThousandEndpointsReplaced replaces one endpoint of each of 1,000 Services, in one transaction.
func BenchmarkThousandEndpointsReplaced(b *testing.B) {
	benchmarkPair(b, func(b *testing.B, s size, w *backendtest.World) func(int) {
		b.Helper()
		return func(version int) {
			for i := range 1000 {
				backendtest.SetService(b, w.Cache, s.service(i), s.slice(i, version))
			}
		}
	})
}

// BenchmarkCountChanged has one endpoint less, and one more again.
func BenchmarkCountChanged(b *testing.B) {
	benchmarkPair(b, func(b *testing.B, s size, w *backendtest.World) func(int) {
		b.Helper()
		return func(version int) {
			slice := s.slice(7, 0)
			slice.Endpoints = slice.Endpoints[version:]
			backendtest.SetService(b, w.Cache, s.service(7), slice)
		}
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
