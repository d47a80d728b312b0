package live

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Each resource says in which versions and where it is read, and what is missing without it, once. What there is no answer without, what no
// namespace has, and what is read one by one, are few, and named here.
func TestEveryResourceSaysWhereItIsReadAndWhatItIsFor(t *testing.T) {
	t.Parallel()
	scopes := map[string]scope{
		"nodes": ofTheCluster, "servicecidrs.networking.k8s.io": ofTheCluster, "namespaces": itsNamespaces,
		"validatingwebhookconfigurations.admissionregistration.k8s.io": ofTheCluster, "mutatingwebhookconfigurations.admissionregistration.k8s.io": ofTheCluster,
		"ingressclasses.networking.k8s.io": ofTheCluster, "gatewayclasses.gateway.networking.k8s.io": ofTheCluster, "gateways.gateway.networking.k8s.io": inAll,
	}
	for purpose, c := range map[Purpose]struct {
		needed, alone []string
		all           int
	}{
		Explain: {[]string{"endpointslices.discovery.k8s.io", "services"}, nil, 4},
		Trace:   {[]string{"endpointslices.discovery.k8s.io", "services"}, nil, 4},
		Sim:     {[]string{"deployments.apps", "services"}, []string{"jobs.batch", "replicasets.apps"}, 29},
	} {
		var needed, alone []string
		seen := map[string]bool{}
		for _, r := range purpose.resources() {
			name := r.qualified()
			if r.name == "" || len(r.versions) == 0 || slices.ContainsFunc(r.versions, func(v string) bool { return !strings.HasPrefix(v, "v") }) || seen[name] {
				t.Errorf("%+v", r)
			}
			seen[name] = true
			want := scopes[name]
			if purpose == Trace && (r.name == "services" || r.name == "endpointslices") {
				want = inAll
			}
			if r.scope != want {
				t.Errorf("%s is looked for in scope %d, want %d", name, r.scope, want)
			}
			if r.lacks == "" {
				needed = append(needed, name)
			}
			if r.alone {
				alone = append(alone, name)
			}
		}
		slices.Sort(needed)
		slices.Sort(alone)
		if !slices.Equal(needed, c.needed) || !slices.Equal(alone, c.alone) || len(seen) != c.all {
			t.Errorf("purpose %v: needed %q, one by one %q, of %d: %q", purpose, needed, alone, len(seen), slices.Sorted(maps.Keys(seen)))
		}
	}
}
