package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pods with hostNetwork have the address of their node: one after another the same, whoever asks it meets the one that is there, and
// when there is none, the node's kernel refuses. Another workload has other ports there. Reference: docs/limits-of-the-simulator.md.
func TestPodsOfTheNetworkOfTheirNode(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(1).network().recreate().another("canary", 1).app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
	b.Workloads[1].Deployment().Spec.Template.Spec.Containers[0].Ports[0].ContainerPort = 8081
	w := b.start(t, 1)
	at := w.PodInstance(0).IP
	if other := w.PodInstance(1); other.IP == at || w.Instance(other.IP) != other {
		t.Errorf("the pod of another workload has the address %s, this one %s", other.IP, at)
	}
	w.do(10*sec, "rolloutRestart", "web", "")
	w.at(11*sec+500*ms, func() {
		if i := w.Instance(at); i.Sandbox && i.Listening || !i.Answers() {
			t.Errorf("between the two: %+v", i)
		}
	})
	w.run(30 * sec)
	i := w.Instance(at)
	if i == nil || i.Pod != 2 || !i.Accepts() || w.Unrest() != "" {
		t.Fatalf("after the rollout %+v is there, and %q", i, w.Unrest())
	}
	if p := as[*api.Pod](w.store.Get(api.PodKey(2))); p.IP != at {
		t.Errorf("the new pod has the address %s, expected %s", p.IP, at)
	}
	w.kubelets[0].Die()
	if i.Answers() || w.PodInstance(0).Answers() {
		t.Error("a machine that is gone answers")
	}
}
