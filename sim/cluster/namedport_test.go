package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Of two workloads with the same labels only the pods that have the port of the name are endpoints, whichever workload comes first.
// Reference: docs/model/controllers.md 9.3 Named ports.
func TestOnlyPodsWithTheNamedPortAreEndpoints(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		b := newBuild(2)
		b.svc.Spec.Ports[0].TargetPort = intstr.FromString("http")
		b.d.Spec.Template.Spec.Containers[0].Ports[0].Name = "http"
		other := b.d.DeepCopy()
		other.Name = "other"
		other.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 9090}}
		b.Workloads = append(b.Workloads, world.Workload{Resource: other, Hooks: map[string]world.Hook{}})
		if first {
			b.Workloads[0], b.Workloads[1] = b.Workloads[1], b.Workloads[0]
		}
		b.Traffic = []world.Traffic{{Service: "default/web", Port: 80}}
		w := b.start(t, 1)
		w.run(5 * sec)
		if e := w.entryOf(t, false); len(w.ids()) != 2 || len(w.livePods) != 4 || e.TargetPort() != 8080 || len(e.workloads) != 1 {
			t.Errorf("the other one is first: %t: %d endpoints of %d pods, port %d, workloads %v", first, len(w.ids()), len(w.livePods), e.TargetPort(), e.workloads)
		}
	}
}
