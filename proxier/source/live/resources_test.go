package live

import (
	"fmt"
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
		Sim:     {[]string{"deployments.apps", "services"}, []string{"jobs.batch", "replicasets.apps"}, 31},
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

// All that the simulator has read, whole: group, versions, scope, and whether one by one.
func TestWhatTheSimulatorHasRead(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range Sim.resources() {
		got = append(got, fmt.Sprintf("%s %s %d %t: %s", r.qualified(), strings.Join(r.versions, ","), r.scope, r.alone, r.lacks))
	}
	want := strings.Split(strings.TrimSpace(simResources), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

const simResources = `
services v1 0 false: 
deployments.apps v1 0 false: 
statefulsets.apps v1 0 false: the names of StatefulSets
daemonsets.apps v1 0 false: the names of DaemonSets
horizontalpodautoscalers.autoscaling v2 0 false: the replicas that HorizontalPodAutoscalers keep
nodes v1 2 false: the cluster's own nodes and zones, so that nodes are made up
pods v1 0 false: which pods are where, so that a scheduler's guess stands for it
poddisruptionbudgets.policy v1 0 false: the disruption budgets that drains heed
persistentvolumeclaims v1 0 false: which volumes only one node may have, so that each is taken for one of those
namespaces v1 3 false: which namespaces have readiness gates of the AWS Load Balancer Controller
validatingwebhookconfigurations.admissionregistration.k8s.io v1 2 false: which Services the API server itself calls
mutatingwebhookconfigurations.admissionregistration.k8s.io v1 2 false: which Services the API server itself calls
ingresses.networking.k8s.io v1 0 false: which Services an Ingress or HTTPRoute leads to
ingressclasses.networking.k8s.io v1 2 false: which proxy takes care of Ingresses or HTTPRoutes
httproutes.gateway.networking.k8s.io v1,v1beta1 0 false: which Services an Ingress or HTTPRoute leads to
gateways.gateway.networking.k8s.io v1,v1beta1 1 false: which proxy takes care of Ingresses or HTTPRoutes
gatewayclasses.gateway.networking.k8s.io v1,v1beta1 2 false: which proxy takes care of Ingresses or HTTPRoutes
backendconfigs.cloud.google.com v1,v1beta1 0 false: the time-outs and health checks that BackendConfigs set
gcpbackendpolicies.networking.gke.io v1 0 false: how long a Gateway's load balancer drains
cronjobs.batch v1 0 false: which Services lead to Pods that nothing rolls out
jobs.batch v1 0 true: which Services lead to Pods that nothing rolls out
replicasets.apps v1 0 true: which Services lead to Pods that nothing rolls out
rollouts.argoproj.io v1alpha1 0 false: which Services lead to workloads of other makers
clonesets.apps.kruise.io v1alpha1 0 false: which Services lead to workloads of other makers
statefulsets.apps.kruise.io v1beta1,v1alpha1 0 false: which Services lead to workloads of other makers
daemonsets.apps.kruise.io v1alpha1 0 false: which Services lead to workloads of other makers
deploymentconfigs.apps.openshift.io v1 0 false: which Services lead to workloads of other makers
services.serving.knative.dev v1 0 false: which Services lead to workloads of other makers
scaledobjects.keda.sh v1alpha1 0 false: the replicas that ScaledObjects of KEDA keep
virtualservices.networking.istio.io v1,v1beta1,v1alpha3 0 false: which Services are reached through a mesh
destinationrules.networking.istio.io v1,v1beta1,v1alpha3 0 false: which Services are reached through a mesh
`
