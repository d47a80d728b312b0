package live

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Purpose is the question that the objects are to answer. It decides which are read.
type Purpose uint8

// The verbs that ask clusters.
const (
	Explain Purpose = iota
	Trace
	Sim
)

// scope says where the objects of a resource are looked for.
type scope uint8

const (
	inNamespaces  scope = iota // in the namespaces asked for
	inAll                      // in every namespace, whichever were asked for
	ofTheCluster               // they are in none
	itsNamespaces              // Namespaces themselves: those asked for, one by one
)

// resource is one kind of object, and what becomes of an answer without it.
type resource struct {
	group    string
	versions []string // that endpoints/manifest reads, the newest first
	name     string   // in URLs and RBAC rules
	scope    scope
	// lacks is what is missing when the objects may not be read; "" means that there is no answer.
	lacks string
	// alone has only objects read that no controller has made, of which there are few among many.
	alone bool
}

// at is the resource in one of its versions.
func (r resource) at(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.group, Version: version, Resource: r.name}
}

// qualified is the name as kubectl auth can-i takes it: endpointslices.discovery.k8s.io.
func (r resource) qualified() string {
	if r.group == "" {
		return r.name
	}
	return r.name + "." + r.group
}

// resources lists what a purpose has a use for: what endpoints/manifest reads, without what nothing looks at. ReplicaSets of
// Deployments above all, of which there are most: a pod says by its labels which it is of.
func (p Purpose) resources() []resource {
	v1 := []string{"v1"}
	services := resource{group: "", versions: v1, name: "services"}
	nodes := resource{group: "", versions: v1, name: "nodes", scope: ofTheCluster}
	if p == Sim {
		nodes.lacks = "the cluster's own nodes and zones, so that nodes are made up"
		return slices.Concat(simulated(services, nodes), routing(), foreign())
	}
	slices := resource{group: "discovery.k8s.io", versions: v1, name: "endpointslices"}
	if p == Trace { // a packet may meet any Service
		services.scope, slices.scope = inAll, inAll
	}
	nodes.lacks = "zones, addresses and pod CIDRs of nodes (--node-ip and --node-label say them)"
	return []resource{services, slices, nodes, {
		group: "networking.k8s.io", versions: []string{"v1", "v1beta1"}, name: "servicecidrs", scope: ofTheCluster,
		lacks: "what becomes of addresses in the Service ranges that are no Service's",
	}}
}

// simulated are workloads and what they stand on.
func simulated(services, nodes resource) []resource {
	v1 := []string{"v1"}
	return []resource{
		services,
		{group: "apps", versions: v1, name: "deployments"},
		{group: "apps", versions: v1, name: "statefulsets", lacks: "the names of StatefulSets"},
		{group: "apps", versions: v1, name: "daemonsets", lacks: "the names of DaemonSets"},
		{group: "autoscaling", versions: []string{"v2"}, name: "horizontalpodautoscalers", lacks: "the replicas that HorizontalPodAutoscalers keep"},
		nodes,
		{group: "", versions: v1, name: "pods", lacks: "which pods are where, so that a scheduler's guess stands for it"},
		{group: "policy", versions: v1, name: "poddisruptionbudgets", lacks: "the disruption budgets that drains heed"},
		{group: "", versions: v1, name: "persistentvolumeclaims", lacks: "which volumes only one node may have, so that each is taken for one of those"},
		{group: "", versions: v1, name: "namespaces", scope: itsNamespaces, lacks: "which namespaces have readiness gates of the AWS Load Balancer Controller"},
		{group: "admissionregistration.k8s.io", versions: v1, name: "validatingwebhookconfigurations", scope: ofTheCluster, lacks: webhooksLack},
		{group: "admissionregistration.k8s.io", versions: v1, name: "mutatingwebhookconfigurations", scope: ofTheCluster, lacks: webhooksLack},
	}
}

const (
	webhooksLack = "which Services the API server itself calls"
	routesLack   = "which Services an Ingress or HTTPRoute leads to"
	classesLack  = "which proxy takes care of Ingresses or HTTPRoutes"
)

// routing are what leads requests to Services from outside, and who takes care of it.
func routing() []resource {
	v1 := []string{"v1"}
	gateway := []string{"v1", "v1beta1"} // gateway-api 1.0 of 2023 brought v1
	const gateways = "gateway.networking.k8s.io"
	return []resource{
		{group: "networking.k8s.io", versions: v1, name: "ingresses", lacks: routesLack},
		{group: "networking.k8s.io", versions: v1, name: "ingressclasses", scope: ofTheCluster, lacks: classesLack},
		{group: gateways, versions: gateway, name: "httproutes", lacks: routesLack},
		{group: gateways, versions: gateway, name: "gateways", scope: inAll, lacks: classesLack}, // routes name those of other namespaces
		{group: gateways, versions: gateway, name: "gatewayclasses", scope: ofTheCluster, lacks: classesLack},
		{group: "cloud.google.com", versions: []string{"v1", "v1beta1"}, name: "backendconfigs", lacks: "the time-outs and health checks that BackendConfigs set"},
		{group: "networking.gke.io", versions: v1, name: "gcpbackendpolicies", lacks: "how long a Gateway's load balancer drains"},
	}
}

// foreign are the workloads and rules of other makers that endpoints/manifest keeps, so that a Service in front of them is told
// as it is from files, and Kubernetes' own that nothing rolls out: Jobs, and ReplicaSets that belong to nothing.
func foreign() []resource {
	const (
		workloads = "which Services lead to workloads of other makers"
		unrolled  = "which Services lead to Pods that nothing rolls out"
		meshes    = "which Services are reached through a mesh"
	)
	return []resource{
		{group: "batch", versions: []string{"v1"}, name: "cronjobs", lacks: unrolled},
		{group: "batch", versions: []string{"v1"}, name: "jobs", lacks: unrolled, alone: true},
		{group: "apps", versions: []string{"v1"}, name: "replicasets", lacks: unrolled, alone: true},
		{group: "argoproj.io", versions: []string{"v1alpha1"}, name: "rollouts", lacks: workloads},
		{group: "apps.kruise.io", versions: []string{"v1alpha1"}, name: "clonesets", lacks: workloads},
		{group: "apps.kruise.io", versions: []string{"v1beta1", "v1alpha1"}, name: "statefulsets", lacks: workloads},
		{group: "apps.kruise.io", versions: []string{"v1alpha1"}, name: "daemonsets", lacks: workloads},
		{group: "apps.openshift.io", versions: []string{"v1"}, name: "deploymentconfigs", lacks: workloads},
		{group: "serving.knative.dev", versions: []string{"v1"}, name: "services", lacks: workloads},
		{group: "keda.sh", versions: []string{"v1alpha1"}, name: "scaledobjects", lacks: "the replicas that ScaledObjects of KEDA keep"},
		{group: "networking.istio.io", versions: []string{"v1", "v1beta1", "v1alpha3"}, name: "virtualservices", lacks: meshes},
		{group: "networking.istio.io", versions: []string{"v1", "v1beta1", "v1alpha3"}, name: "destinationrules", lacks: meshes},
	}
}

// KindOf is what an object is called, as kubectl takes it: by its kind, and with its API group where one of Kubernetes' own kinds
// has the same name.
func KindOf(apiVersion, kind string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	switch group {
	case "apps.kruise.io", "serving.knative.dev":
		return kind + "." + group
	default:
		return kind
	}
}
