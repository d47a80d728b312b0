package live

import (
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// A cluster is called by the context that it was found by, else by its server; one whose pod this process is has neither.
func TestNamesOfClusters(t *testing.T) {
	t.Parallel()
	config := &rest.Config{Host: "https://192.0.2.1:6443"}
	some := api.Config{Clusters: map[string]*api.Cluster{"one": {}}}
	for _, c := range []struct {
		context string
		raw     api.Config
		want    string
	}{{"kind", some, "kind"}, {"kind", api.Config{}, "kind"}, {"", some, "https://192.0.2.1:6443"}, {"", api.Config{}, "in-cluster"}} {
		if got := nameOf(c.context, config, c.raw); got != c.want {
			t.Errorf("context %q of %d clusters: %q, want %q", c.context, len(c.raw.Clusters), got, c.want)
		}
	}
}
