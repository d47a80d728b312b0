package endpointslice

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// noEndpoints is an API with one Service that no pod is behind.
type noEndpoints struct{ hints Hinting }

func (noEndpoints) ServicesOf(int) []int { return []int{0} }
func (noEndpoints) EndpointsOf(out []Entry, _ int, _ *api.Service, _ []api.PodList) []Entry {
	return out
}
func (n *noEndpoints) Hinting(int) *Hinting                          { return &n.hints }
func (noEndpoints) SliceOf(int, int, int, []Entry) func() api.Object { return nil }

// Reference: docs/model/measured.md 1 stale cache; endpointslice_controller.go, the failure
// back-off: 1 s, 2 s, ...
func TestBackOffOfAStaleCache(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	eng := engine.New(1, engine.Limits{Events: 1000})
	d := &control.Desk{
		Engine: eng, API: api.New(eng, engine.Dist{}, func(api.Key) string { return "" }),
		Latencies: &world.Latencies{}, Workloads: make([]world.Workload, 1),
	}
	c := New(d, 1, &noEndpoints{})
	c.inFlight[0] = 1
	for _, want := range []engine.Time{sec, 2 * sec, 4 * sec, 8 * sec} {
		if c.sync(0); c.backoff[0] != want {
			t.Errorf("back-off %v, want %v", c.backoff[0], want)
		}
	}
	c.inFlight[0] = 0
	if c.sync(0); c.backoff[0] != 0 {
		t.Error("a sync that works ends the back-off")
	}
}

// What a Service's endpoints are for a node depends on that node alone where some traffic stays on it, or each node has hints of its own.
func TestWhoseNodesDiffer(t *testing.T) {
	t.Parallel()
	local, all := corev1.ServiceInternalTrafficPolicyLocal, corev1.ServiceInternalTrafficPolicyCluster
	for _, c := range []struct {
		external corev1.ServiceExternalTrafficPolicy
		internal *corev1.ServiceInternalTrafficPolicy
		mode     world.HintMode
		want     bool
	}{
		{"", nil, 0, false},
		{corev1.ServiceExternalTrafficPolicyCluster, &all, world.HintsSameZone, false},
		{corev1.ServiceExternalTrafficPolicyCluster, &all, world.HintsProportional, false},
		{corev1.ServiceExternalTrafficPolicyLocal, &all, 0, true},
		{corev1.ServiceExternalTrafficPolicyCluster, &local, 0, true},
		{"", &local, 0, true},
		{corev1.ServiceExternalTrafficPolicyCluster, &all, world.HintsSameNode, true},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{ExternalTrafficPolicy: c.external, InternalTrafficPolicy: c.internal}}
		if got := NodesDiffer(svc, Hinting{Mode: c.mode}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
