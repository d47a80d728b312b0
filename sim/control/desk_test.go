package control

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	ms  = engine.Millisecond
	sec = engine.Second
)

// testDesk is one of a cluster with one Deployment, whose writes take 10 ms.
type testDesk struct {
	Desk
	t    *testing.T
	eng  *engine.Engine
	made int
}

func newDesk(t *testing.T, nodes int) *testDesk {
	t.Helper()
	d := &testDesk{t: t, eng: engine.New(1, engine.Limits{Events: 100_000})}
	write := engine.Constant(10 * ms)
	d.Desk = Desk{
		Engine: d.eng, API: api.New(d.eng, write, func(api.Key) string { return "object" }), Latencies: &world.Latencies{APIWrite: write}, Specs: d,
		Nodes: make([]world.Node, nodes), Workloads: []world.Workload{{Resource: &appsv1.Deployment{}}},
	}
	return d
}

func (d *testDesk) ResourceOf(api.ReplicaSetID) world.Resource                  { return d.Workloads[0].Resource }
func (d *testDesk) SettingsOf(int) world.Resource                               { return d.Workloads[0].Resource }
func (d *testDesk) MinReady(int) engine.Time                                    { return 0 }
func (d *testDesk) Deletion(api.PodID, engine.Time) func(api.Object) api.Object { return api.Gone }
func (d *testDesk) PodsOn(int) []*api.Pod                                       { return nil }

// NewPod makes a pod of an age of no importance.
func (d *testDesk) NewPod(id api.ReplicaSetID) *api.Pod {
	d.made++
	return &api.Pod{ID: api.PodID(d.made - 1), ReplicaSet: &id, Workload: id.Workload, Revision: id.Revision, Node: -1, DeletedAt: api.Never}
}

// NewNamed makes one whose name does not matter.
func (d *testDesk) NewNamed(id api.ReplicaSetID, _ string, ordinal int) *api.Pod {
	p := d.NewPod(id)
	p.ReplicaSet, p.Ordinal = nil, ordinal
	return p
}

func (d *testDesk) at(t engine.Time, run func()) {
	d.eng.At(t, engine.ClassAction, d.eng.Register("test"), "test", run)
}

func (d *testDesk) run(until engine.Time) {
	d.t.Helper()
	if err := d.eng.RunUntil(until); err != nil {
		d.t.Fatal(err)
	}
}
