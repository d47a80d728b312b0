package scenario

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is not as in a cluster is said, where hints by annotation are asked for.
func TestWhatOfHintsIsLeftOut(t *testing.T) {
	t.Parallel()
	said := world.Node{Object: &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}}}}
	if milli, ok := said.AllocatableCPU(); milli != 1500 || !ok {
		t.Errorf("%d %t", milli, ok)
	}
	for _, c := range []struct {
		name  string
		auto  string
		nodes []world.Node
		want  []string
	}{
		{"made-up nodes", "Auto", []world.Node{said, {}}, []string{"hints-ties", "hints-cpu"}},
		{"nodes that say their CPU", "Auto", []world.Node{said}, []string{"hints-ties"}},
		{"no annotation", "", []world.Node{{}}, nil},
	} {
		svc := &world.Service{Service: &corev1.Service{}}
		svc.Service.Annotations = map[string]string{corev1.AnnotationTopologyMode: c.auto}
		b := &builder{out: &world.Scenario{Nodes: c.nodes, Kubernetes: endpoints.Profile{Version: endpoints.CurrentVersion(), Options: endpoints.CurrentOptions()}}}
		b.hintsLeftOut(svc)
		var got []string
		for _, n := range b.out.NotModelled {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
