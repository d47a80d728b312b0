package sim

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// controller is an ingress controller that is a workload of the Scenario: clients connect to its
// pods, and each pod has its own watch of the endpoints that it asks.
type controller struct {
	run    *run
	stream int
	spec   *world.Ingress
	entry  cluster.Entry // of the Service behind it
	pods   []*forwarder  // by pod; nil for those that have not been asked
}

// openControllers makes the ingress controllers of a scenario, with the pods that run.
func (r *run) openControllers() {
	r.inside = make([]*controller, len(r.sc.Traffic))
	for i := range r.sc.Traffic {
		t := &r.sc.Traffic[i]
		if t.Ingress == nil {
			continue
		}
		inner := *t
		inner.External, inner.Nodes = false, nil // its pods ask from inside
		entry, ok := r.cluster.Entry(inner)
		if !ok {
			panic(fmt.Sprintf("sim: no Service %s", t.Service)) // scenario looks it up
		}
		c := &controller{run: r, stream: i, spec: t.Ingress, entry: entry}
		r.inside[i] = c
		for _, e := range r.cluster.SettledEndpoints(r.routes[i].entry) {
			c.in(e.Pod)
		}
	}
}

// in returns what a pod of the controller knows. One that starts during the run has listed the
// endpoints before it was ready.
func (c *controller) in(pod api.PodID) *forwarder {
	for int(pod) >= len(c.pods) {
		c.pods = append(c.pods, nil)
	}
	if c.pods[pod] == nil {
		name := fmt.Sprintf("ingress %s of stream %d", c.run.cluster.PodName(pod), c.stream)
		f := c.run.newForwarder(name, c.spec.Proxy, c.entry)
		f.legs = []traffic.Leg{{Stream: c.stream, Proxy: int(pod)}}
		c.pods[pod] = f
		f.Sends(f.b.Active())
		f.b.Introduce()
	}
	return c.pods[pod]
}
