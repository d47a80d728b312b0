package timeline

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
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

// Stories are told of what is in focus: of the pods that have lanes, of the nodes that are drawn, and of what belongs to neither.
func TestWhatIsToldOfWhatIsInFocus(t *testing.T) {
	t.Parallel()
	r := NewRecorder(webApp(t), &Focus{Pods: []api.PodID{4}, Nodes: []int{1}})
	for _, tt := range []struct {
		kind      event.Kind
		pod, node int
		want      bool
	}{
		{event.Rules, -1, 1, true}, {event.Rules, -1, 0, false}, {event.HealthPort, -1, 1, true}, {event.HealthPort, -1, 0, false}, {event.Wait, -1, 1, true}, {event.Wait, -1, 0, false},
		{event.Balancer, 4, -1, true}, {event.Balancer, 3, -1, false}, {event.Balancer, 3, 1, false}, {event.Balancer, -1, 1, true}, {event.Balancer, -1, 0, false},
		{event.Deleted, 4, -1, true}, {event.Deleted, 3, -1, false}, {event.Deleted, 3, 1, false}, {event.Cordoned, -1, 0, true},
	} {
		e := event.Event{Kind: tt.kind, Pod: api.PodID(tt.pod), Node: tt.node}
		if got := r.tells(&e); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
		if !NewRecorder(webApp(t), nil).tells(&e) {
			t.Errorf("%+v is not told without a focus", tt)
		}
	}
}
