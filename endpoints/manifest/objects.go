package manifest

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Object is one object of the input, of a kind lameduck reads.
type Object struct {
	// Position is where the object's document (or List item) starts.
	Position
	// APIVersion and Kind are those of Value. An object of an older version
	// that was converted (autoscaling/v1) has the version it was converted to.
	APIVersion, Kind string
	// Namespace is "" for cluster-scoped kinds and never "" for the others.
	Namespace string
	// Name is metadata.name. A KubeProxyConfiguration has none.
	Name string
	// Value is the defaulted object, a pointer such as *corev1.Service. For
	// the kinds kept raw it is a map[string]any of nil, bool, int64, float64,
	// string, []any and map[string]any, without defaults. The caller of Load
	// owns it.
	Value any

	root *node
	gone bool
}

// String returns "Kind namespace/name".
func (o *Object) String() string {
	if id := o.ID(); id != "" {
		return o.Kind + " " + id
	}
	return o.Kind
}

// ID returns "namespace/name", the name alone for a cluster-scoped object, ""
// for one without a name.
func (o *Object) ID() string {
	if o.Namespace == "" || o.Name == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Problem returns a Problem about one field of the object, at the position of
// its value. A path of "" means the whole object.
func (o *Object) Problem(severity Severity, path, message string) Problem {
	p := Problem{Position: o.Position, Kind: o.Kind, Name: o.ID(), Field: path, Message: message, Severity: severity}
	if path != "" {
		p.Position = o.ValueAt(path)
	}
	return p
}

// Typed is an Object together with its Value's Go type.
type Typed[T any] struct {
	*Object
	// Value is Object.Value, typed. Never nil in what Load returns.
	Value T
}

// Skipped counts the objects of a kind that lameduck has no use for.
type Skipped struct {
	APIVersion, Kind string
	Count            int
}

// Objects is what Load read. Each list is in input order and nil when the input
// has none of that kind; an object that a later one of the same kind, namespace
// and name replaces is not in it.
type Objects struct {
	// Services and the lists below are what the proxy core reads.
	Services       []Typed[*corev1.Service]
	EndpointSlices []Typed[*discoveryv1.EndpointSlice]
	Nodes          []Typed[*corev1.Node]
	ServiceCIDRs   []Typed[*networkingv1.ServiceCIDR]

	// Pods and the lists below are what the simulator reads besides; of Namespaces the labels.
	Pods                     []Typed[*corev1.Pod]
	Deployments              []Typed[*appsv1.Deployment]
	ReplicaSets              []Typed[*appsv1.ReplicaSet]
	StatefulSets             []Typed[*appsv1.StatefulSet]
	DaemonSets               []Typed[*appsv1.DaemonSet]
	PodDisruptionBudgets     []Typed[*policyv1.PodDisruptionBudget]
	HorizontalPodAutoscalers []Typed[*autoscalingv2.HorizontalPodAutoscaler]
	Ingresses                []Typed[*networkingv1.Ingress]
	Namespaces               []Typed[*corev1.Namespace]
	PersistentVolumeClaims   []Typed[*corev1.PersistentVolumeClaim]

	// ValidatingWebhookConfigurations and MutatingWebhookConfigurations say which
	// Services the API server itself depends on.
	ValidatingWebhookConfigurations []Typed[*admissionv1.ValidatingWebhookConfiguration]
	MutatingWebhookConfigurations   []Typed[*admissionv1.MutatingWebhookConfiguration]

	// KubeProxyConfigurations are kubeproxy.config.k8s.io/v1alpha1, raw.
	KubeProxyConfigurations []*Object
	// KubeletConfigurations are kubelet.config.k8s.io/v1beta1, raw.
	KubeletConfigurations []*Object
	// Scenarios are lameduck/v1alpha1, raw.
	Scenarios []*Object
	// Gateways, their classes and HTTPRoutes are gateway.networking.k8s.io, raw.
	Gateways       []*Object
	GatewayClasses []*Object
	HTTPRoutes     []*Object
	// IngressClasses say which controller an Ingress is for, raw.
	IngressClasses []*Object
	// BackendConfigs are cloud.google.com/v1, raw.
	BackendConfigs []*Object
	// BackendPolicies are GCPBackendPolicies of networking.gke.io/v1, raw: what BackendConfigs are to a Gateway.
	BackendPolicies []*Object
	// HealthPolicies are HealthCheckPolicies of networking.gke.io/v1, raw: what health checks of a Gateway's backends are like.
	HealthPolicies []*Object
	// Foreign are workloads and traffic rules of others, such as Rollouts of argoproj.io, raw. Their Kind may be that of
	// another list, as Knative's Service is: the Group tells them apart.
	Foreign []*Object

	// All holds every object of the lists above, in input order.
	All []*Object
	// Unusable are objects of which a warning says that they are skipped, since the API server would refuse them: what they mean is not known.
	Unusable []*Object
	// Skipped counts the objects of other kinds, sorted by apiVersion, then
	// kind.
	Skipped []Skipped
}

// Without returns the objects that no problem is about; those that one is about are Unusable.
func (os *Objects) Without(problems []Problem) *Objects {
	about := map[[3]string]bool{}
	for i := range problems {
		about[[3]string{problems[i].File, problems[i].Kind, problems[i].Name}] = true
	}
	out := &Objects{Unusable: slices.Clone(os.Unusable), Skipped: os.Skipped}
	for _, o := range os.All {
		if about[[3]string{o.File, o.Kind, o.ID()}] {
			out.Unusable = append(out.Unusable, o)
		} else {
			out.All = append(out.All, o)
		}
	}
	out.collect()
	return out
}

// collect fills the typed lists from All.
func (os *Objects) collect() {
	for _, o := range os.All {
		switch v := o.Value.(type) {
		case *corev1.Service:
			os.Services = append(os.Services, Typed[*corev1.Service]{o, v})
		case *discoveryv1.EndpointSlice:
			os.EndpointSlices = append(os.EndpointSlices, Typed[*discoveryv1.EndpointSlice]{o, v})
		case *corev1.Node:
			os.Nodes = append(os.Nodes, Typed[*corev1.Node]{o, v})
		case *networkingv1.ServiceCIDR:
			os.ServiceCIDRs = append(os.ServiceCIDRs, Typed[*networkingv1.ServiceCIDR]{o, v})
		case *corev1.Pod:
			os.Pods = append(os.Pods, Typed[*corev1.Pod]{o, v})
		case *appsv1.Deployment:
			os.Deployments = append(os.Deployments, Typed[*appsv1.Deployment]{o, v})
		case *appsv1.ReplicaSet:
			os.ReplicaSets = append(os.ReplicaSets, Typed[*appsv1.ReplicaSet]{o, v})
		case *appsv1.StatefulSet:
			os.StatefulSets = append(os.StatefulSets, Typed[*appsv1.StatefulSet]{o, v})
		case *appsv1.DaemonSet:
			os.DaemonSets = append(os.DaemonSets, Typed[*appsv1.DaemonSet]{o, v})
		case *policyv1.PodDisruptionBudget:
			os.PodDisruptionBudgets = append(os.PodDisruptionBudgets, Typed[*policyv1.PodDisruptionBudget]{o, v})
		case *autoscalingv2.HorizontalPodAutoscaler:
			os.HorizontalPodAutoscalers = append(os.HorizontalPodAutoscalers, Typed[*autoscalingv2.HorizontalPodAutoscaler]{o, v})
		case *networkingv1.Ingress:
			os.Ingresses = append(os.Ingresses, Typed[*networkingv1.Ingress]{o, v})
		case *corev1.PersistentVolumeClaim:
			os.PersistentVolumeClaims = append(os.PersistentVolumeClaims, Typed[*corev1.PersistentVolumeClaim]{o, v})
		case *corev1.Namespace:
			os.Namespaces = append(os.Namespaces, Typed[*corev1.Namespace]{o, v})
		case *admissionv1.ValidatingWebhookConfiguration:
			os.ValidatingWebhookConfigurations = append(os.ValidatingWebhookConfigurations, Typed[*admissionv1.ValidatingWebhookConfiguration]{o, v})
		case *admissionv1.MutatingWebhookConfiguration:
			os.MutatingWebhookConfigurations = append(os.MutatingWebhookConfigurations, Typed[*admissionv1.MutatingWebhookConfiguration]{o, v})
		default:
			os.collectRaw(o)
		}
	}
}

func (os *Objects) collectRaw(o *Object) {
	if foreign(o.Group(), o.Kind) {
		os.Foreign = append(os.Foreign, o)
		return
	}
	switch o.Kind {
	case "KubeProxyConfiguration":
		os.KubeProxyConfigurations = append(os.KubeProxyConfigurations, o)
	case "KubeletConfiguration":
		os.KubeletConfigurations = append(os.KubeletConfigurations, o)
	case "Scenario":
		os.Scenarios = append(os.Scenarios, o)
	case "Gateway":
		os.Gateways = append(os.Gateways, o)
	case "GatewayClass":
		os.GatewayClasses = append(os.GatewayClasses, o)
	case "IngressClass":
		os.IngressClasses = append(os.IngressClasses, o)
	case "GCPBackendPolicy":
		os.BackendPolicies = append(os.BackendPolicies, o)
	case "HealthCheckPolicy":
		os.HealthPolicies = append(os.HealthPolicies, o)
	case "BackendConfig":
		os.BackendConfigs = append(os.BackendConfigs, o)
	case "HTTPRoute":
		os.HTTPRoutes = append(os.HTTPRoutes, o)
	}
}

// Decode fills *into, a struct with json tags, from the object's document, for
// the kinds whose Value is raw. It returns every problem at once, with
// positions: an Error for a value of the wrong type (into keeps its zero value)
// and a Warning for a field that into does not have, apiVersion, kind and
// metadata excepted. Defaults are the caller's business: what the document does
// not mention is left as it was.
func (o *Object) Decode(into any) []Problem {
	var problems []Problem
	for _, f := range newDecoder().decode(o.root, into) {
		if f.severity == Warning && (f.field == "apiVersion" || f.field == "kind" || f.field == "metadata") {
			continue
		}
		p := o.Problem(f.severity, f.field, f.message)
		p.Position = o.position(f.at)
		problems = append(problems, p)
	}
	return problems
}
