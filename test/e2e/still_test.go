package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
)

// stillN is a workload on the nodes of a rollout that nobody replaces. Requests of less than a second
// also fail where the machine stands still for as long; then those to this workload fail, too.
const stillN = "still"

// stall is how far apart two failures of one stall may have begun.
const stall = time.Second

// standStill deploys it, and has clients ask it by way of each node in turn.
func (c *cluster) standStill(t *testing.T) *client.Load {
	t.Helper()
	namespace := c.namespace(t)
	c.deploy(t, namespace, stillN, 2, template(stillN, spread(slowLabel, stillN)))
	to := loadBalancerIPs(c.service(t, namespace, stillN, corev1.ServiceTypeLoadBalancer))[0]
	pods := c.podsOf(t, namespace, stillN, 2)
	var targets []client.Target
	for _, m := range c.nodes[slowLabel] {
		x := way{"outside by way of " + m.Name, corev1.ProtocolTCP, client.Via(c.outside, m.Node), to}
		until(t, "every way leads to each pod that stays", func(ctx context.Context) error { return x.reaches(ctx, pods) })
		targets = append(targets, client.Target{Name: x.name, Dial: x.dial, To: to})
	}
	c.forgetUntaken(t)
	last := 0
	return client.StartAtRate(t.Context(), 2*perRequest, requestLimit, func() int {
		last = (last + 1) % len(targets)
		return last
	}, targets...)
}

// stop ends the traffic of a rollout, and returns what failed while requests to pods that stay were
// answered in time, and what was answered after more than requestLimit meanwhile: TCP had sent the
// first packet again.
func (w *rolling) stop(t *testing.T) (failed, repeated []client.Record) {
	t.Helper()
	report, still := w.load.Stop(), w.still.Stop()
	stalls := still.Failures()
	for _, r := range report.Records {
		stalled := slices.ContainsFunc(stalls, func(s client.Record) bool {
			return s.Target == r.Target && s.At.Sub(r.At).Abs() < stall
		})
		switch {
		case stalled:
		case r.Failure != nil:
			failed = append(failed, r)
		case r.Took > requestLimit:
			repeated = append(repeated, r)
		}
	}
	t.Logf("%s\nto pods that stay: %s\nwhile those to pods that stay were answered: %d requests failed, %d were answered late",
		report, still, len(failed), len(repeated))
	if 4*len(stalls) > len(still.Records) {
		t.Fatalf("%d of %d requests to pods that stay failed: the machine is too busy to tell what the rollout loses", len(stalls), len(still.Records))
	}
	return failed, repeated
}
