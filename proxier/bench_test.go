package proxier

import (
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// nowhere is a Backend that does nothing.
type nowhere struct{ applied chan struct{} }

func (n nowhere) Apply(*plan.Plan, plan.Delta) error { n.applied <- struct{}{}; return nil }
func (n nowhere) Resync(*plan.Plan) error            { n.applied <- struct{}{}; return nil }
func (n nowhere) Close() error                       { return nil }

// BenchmarkOneEndpoint is the loop's own part of the way from the delivery of a slice with one other
// endpoint to the call of the Backend: everything but the Backend.
func BenchmarkOneEndpoint(b *testing.B) {
	for _, services := range []int{1_000, 10_000, 30_000} {
		b.Run(fmt.Sprintf("%dx5", services), func(b *testing.B) {
			n := nowhere{make(chan struct{})}
			p, err := New(Options{Backend: n, Node: node(), Pace: pace.Policy{RetryInterval: time.Second}})
			if err != nil {
				b.Fatal(err)
			}
			var slices [2]*discoveryv1.EndpointSlice
			for i := range services {
				name := fmt.Sprintf("s%05d", i)
				svc := service(name, fmt.Sprintf("10.96.%d.%d", i>>8, i&255))
				svc.Spec.HealthCheckNodePort = 0
				p.SetService(svc)
				for j := range slices {
					ips := make([]string, 5)
					for k := range ips {
						ips[k] = fmt.Sprintf("10.%d.%d.%d", k+j, i>>8, i&255)
					}
					slices[j] = slice(name, ips...)
				}
				p.SetSlice(slices[0])
			}
			p.Synced()
			go func() { _ = p.Run(b.Context()) }()
			<-n.applied
			i := 0
			for b.Loop() {
				i++
				p.SetSlice(slices[i%2])
				<-n.applied
			}
		})
	}
}
