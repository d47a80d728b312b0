package timeline

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A world is large by its pods, of which a rollout has twice as many, or by its nodes.
func TestWhichWorldsAreLarge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pods  int32
		nodes int
		want  bool
	}{{1, 1, false}, {mostPods / 2, mostNodes, false}, {mostPods/2 + 1, 1, true}, {1, mostNodes + 1, true}} {
		s := &world.Scenario{
			Workloads: []world.Workload{{Resource: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &tt.pods}}}}, Nodes: make([]world.Node, tt.nodes),
		}
		if got := large(s); got != tt.want {
			t.Errorf("%d pods, %d nodes: %v", tt.pods, tt.nodes, got)
		}
	}
}
