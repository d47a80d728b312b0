package kustomize

import (
	"os"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"
)

// noProxy leaves a cluster without a kube-proxy; kind's published types have no name for it.
const noProxy = "none"

// The cluster of examples/kind is one that kind takes: fields by its own types, and no kube-proxy.
func TestKindCluster(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/kind/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c v1alpha4.Cluster
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatal(err)
	}
	v1alpha4.SetDefaultsCluster(&c)
	roles := map[v1alpha4.NodeRole]int{}
	for _, n := range c.Nodes {
		roles[n.Role]++
	}
	if c.Kind != "Cluster" || c.APIVersion != "kind.x-k8s.io/v1alpha4" || c.Name != "lameduck" || c.Networking.KubeProxyMode != noProxy ||
		roles[v1alpha4.ControlPlaneRole] != 1 || roles[v1alpha4.WorkerRole] != 2 {
		t.Errorf("%+v, nodes %v", c, roles)
	}
}
