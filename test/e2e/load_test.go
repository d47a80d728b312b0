package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// pause is that between two requests of a load: some hundreds a second leave the rest of the
// machine to the cluster.
const pause = 2 * time.Millisecond

// traffic is continuous requests to a Service, each over a connection of its own, connections that
// are kept, and the counters that show what a client would not have noticed.
type traffic struct {
	load   *client.Load
	kept   []*client.Conn
	places map[*network.Place]int // repetitions before
}

// startTraffic begins traffic over these ways.
func (c *cluster) startTraffic(t *testing.T, ways []way, places ...*network.Place) *traffic {
	t.Helper()
	x := &traffic{places: map[*network.Place]int{}}
	for _, p := range places {
		n, err := p.Repetitions()
		if err != nil {
			t.Fatal(err)
		}
		x.places[p] = n
	}
	var targets []client.Target
	for _, w := range ways {
		kept, err := client.Open(t.Context(), w.dial, w.to)
		if err != nil {
			t.Fatalf("%s to %s: %v", w.name, w.to, err)
		}
		t.Cleanup(func() { _ = kept.Close() })
		x.kept = append(x.kept, kept)
		targets = append(targets, client.Target{Name: w.name + " to " + w.to.String(), Dial: w.dial, To: w.to})
	}
	c.forgetUntaken(t)
	x.load = client.Start(t.Context(), pause, targets...)
	return x
}

// another waits until so many more requests were made.
func (x *traffic) another(t *testing.T, requests int) {
	t.Helper()
	want := x.load.Count() + requests
	until(t, fmt.Sprintf("%d requests were made", want), func(context.Context) error {
		if n := x.load.Count(); n < want {
			return fmt.Errorf("%d were", n)
		}
		return nil
	})
}

// keptAnswer asks on every connection that was made in the beginning.
func (x *traffic) keptAnswer(t *testing.T) {
	t.Helper()
	for _, c := range x.kept {
		ctx, cancel := context.WithTimeout(t.Context(), client.Limit)
		if _, err := c.Ask(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

// unscathed ends the load, and fails if anything got lost, be it one packet.
func (x *traffic) unscathed(t *testing.T) {
	t.Helper()
	r := x.load.Stop()
	t.Log(r)
	if n := len(r.Failures()); n > 0 {
		t.Errorf("%d requests failed", n)
	}
	for p, before := range x.places { // order: each is looked at by itself
		if n, err := p.Repetitions(); err != nil || n != before {
			t.Errorf("%s sent %d first packets again, error %v", p.Name, n-before, err)
		}
	}
}

// someWays lead to a Service over TCP: from outside to every address by each node, from a pod to
// its ClusterIPs.
func (c *cluster) someWays(s *corev1.Service, mode string, inside *network.Pod) []way {
	var out []way
	for i := range c.nodes[mode] {
		out = append(out, fromOutside(c, s, nil, i, mode)...)
	}
	for _, to := range clusterIPs(s) {
		out = append(out, way{inside.Name, corev1.ProtocolTCP, inside.Dial, to})
	}
	return out
}
