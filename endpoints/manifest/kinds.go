package manifest

import (
	"maps"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// apiObject is what every typed kind is.
type apiObject interface {
	metav1.Object
	runtime.Object
}

// kindInfo is what Load knows about one kind.
type kindInfo struct {
	// apiVersion is the version its objects have in Objects.
	apiVersion             string
	clusterScoped, unnamed bool
	// foreign says that it is a kind of others: an object without a name is left out.
	foreign bool
	// read lists further versions that are read: a nil constructor says that
	// their fields are the same.
	read map[string]func() apiObject
	// old lists versions that are not read, with the Kubernetes version that
	// dropped them.
	old map[string]string
	// newValue makes an empty object; nil means the kind is kept raw.
	newValue func() apiObject
	// finish fills in defaults, then removes what the API server would refuse
	// and says so. It returns false when nothing useful is left.
	finish func(*Object) ([]Problem, bool)
}

// kindTable returns what Load reads, by kind.
func kindTable() map[string]*kindInfo {
	out := rawTable()
	maps.Copy(out, typedTable())
	return out
}

// rawTable are the kinds that are kept as they are written.
func rawTable() map[string]*kindInfo {
	return map[string]*kindInfo{
		"Gateway": {apiVersion: "gateway.networking.k8s.io/v1",
			read: map[string]func() apiObject{"gateway.networking.k8s.io/v1beta1": nil}},
		"HTTPRoute": {apiVersion: "gateway.networking.k8s.io/v1",
			read: map[string]func() apiObject{"gateway.networking.k8s.io/v1beta1": nil}},
		"GatewayClass": {apiVersion: "gateway.networking.k8s.io/v1", clusterScoped: true,
			read: map[string]func() apiObject{"gateway.networking.k8s.io/v1beta1": nil}},
		"IngressClass": {apiVersion: "networking.k8s.io/v1", clusterScoped: true,
			old: map[string]string{"networking.k8s.io/v1beta1": "1.22"}},
		"BackendConfig": {apiVersion: "cloud.google.com/v1",
			read: map[string]func() apiObject{"cloud.google.com/v1beta1": nil}},
		"GCPBackendPolicy":  {apiVersion: "networking.gke.io/v1"},
		"HealthCheckPolicy": {apiVersion: "networking.gke.io/v1"},
	}
}

// typedTable are those with a type of the API, and lameduck's own.
func typedTable() map[string]*kindInfo {
	return map[string]*kindInfo{
		"Service": {apiVersion: "v1",
			newValue: func() apiObject { return &corev1.Service{} }, finish: finishWith(DefaultService, validateService)},
		"EndpointSlice": {apiVersion: "discovery.k8s.io/v1",
			old:      map[string]string{"discovery.k8s.io/v1beta1": "1.25", "discovery.k8s.io/v1alpha1": "1.21"},
			newValue: func() apiObject { return &discoveryv1.EndpointSlice{} }, finish: finishWith(DefaultEndpointSlice, validateEndpointSlice)},
		"Node": {apiVersion: "v1", clusterScoped: true,
			newValue: func() apiObject { return &corev1.Node{} }, finish: finishWith(DefaultNode, validateNode)},
		"Namespace": {apiVersion: "v1", clusterScoped: true,
			newValue: func() apiObject { return &corev1.Namespace{} }},
		"ServiceCIDR": {apiVersion: "networking.k8s.io/v1", clusterScoped: true,
			read:     map[string]func() apiObject{"networking.k8s.io/v1beta1": nil},
			old:      map[string]string{"networking.k8s.io/v1alpha1": "1.31"},
			newValue: func() apiObject { return &networkingv1.ServiceCIDR{} }, finish: finishWith(nil, validateServiceCIDR)},
		"Pod": {apiVersion: "v1",
			newValue: func() apiObject { return &corev1.Pod{} }, finish: finishWith(DefaultPod, validatePod)},
		"PersistentVolumeClaim": {apiVersion: "v1",
			newValue: func() apiObject { return &corev1.PersistentVolumeClaim{} }},
		"Deployment": {apiVersion: "apps/v1",
			old:      map[string]string{"extensions/v1beta1": "1.16", "apps/v1beta1": "1.16", "apps/v1beta2": "1.16"},
			newValue: func() apiObject { return &appsv1.Deployment{} }, finish: finishWith(DefaultDeployment, validateDeployment)},
		"ReplicaSet": {apiVersion: "apps/v1",
			old:      map[string]string{"extensions/v1beta1": "1.16", "apps/v1beta2": "1.16"},
			newValue: func() apiObject { return &appsv1.ReplicaSet{} }, finish: finishWith(DefaultReplicaSet, validateReplicaSet)},
		"StatefulSet": {apiVersion: "apps/v1",
			old:      map[string]string{"apps/v1beta1": "1.16", "apps/v1beta2": "1.16"},
			newValue: func() apiObject { return &appsv1.StatefulSet{} }, finish: finishWith(DefaultStatefulSet, validateStatefulSet)},
		"DaemonSet": {apiVersion: "apps/v1",
			old:      map[string]string{"extensions/v1beta1": "1.16", "apps/v1beta2": "1.16"},
			newValue: func() apiObject { return &appsv1.DaemonSet{} }, finish: finishWith(DefaultDaemonSet, validateDaemonSet)},
		"PodDisruptionBudget": {apiVersion: "policy/v1",
			old:      map[string]string{"policy/v1beta1": "1.25"},
			newValue: func() apiObject { return &policyv1.PodDisruptionBudget{} }, finish: finishWith(nil, validatePodDisruptionBudget)},
		"HorizontalPodAutoscaler": {apiVersion: "autoscaling/v2",
			read:     map[string]func() apiObject{"autoscaling/v1": func() apiObject { return &autoscalingv1.HorizontalPodAutoscaler{} }},
			old:      map[string]string{"autoscaling/v2beta1": "1.25", "autoscaling/v2beta2": "1.26"},
			newValue: func() apiObject { return &autoscalingv2.HorizontalPodAutoscaler{} }, finish: finishWith(DefaultHorizontalPodAutoscaler, validateHorizontalPodAutoscaler)},
		"Ingress": {apiVersion: "networking.k8s.io/v1",
			old:      map[string]string{"extensions/v1beta1": "1.22", "networking.k8s.io/v1beta1": "1.22"},
			newValue: func() apiObject { return &networkingv1.Ingress{} }, finish: finishWith(nil, validateIngress)},
		"ValidatingWebhookConfiguration": {apiVersion: "admissionregistration.k8s.io/v1", clusterScoped: true,
			old:      map[string]string{"admissionregistration.k8s.io/v1beta1": "1.22"},
			newValue: func() apiObject { return &admissionv1.ValidatingWebhookConfiguration{} }, finish: finishWith(DefaultValidatingWebhookConfiguration, nil)},
		"MutatingWebhookConfiguration": {apiVersion: "admissionregistration.k8s.io/v1", clusterScoped: true,
			old:      map[string]string{"admissionregistration.k8s.io/v1beta1": "1.22"},
			newValue: func() apiObject { return &admissionv1.MutatingWebhookConfiguration{} }, finish: finishWith(DefaultMutatingWebhookConfiguration, nil)},
		"KubeProxyConfiguration": {apiVersion: "kubeproxy.config.k8s.io/v1alpha1", clusterScoped: true, unnamed: true},
		"KubeletConfiguration":   {apiVersion: "kubelet.config.k8s.io/v1beta1", clusterScoped: true, unnamed: true},
		"Scenario":               {apiVersion: "lameduck/v1alpha1", clusterScoped: true, unnamed: true},
	}
}

// finishWith makes a finish function of a defaulting and a validating one;
// either may be nil.
func finishWith[T any](setDefaults func(T), validate func(*Object, T) ([]Problem, bool)) func(*Object) ([]Problem, bool) {
	return func(o *Object) ([]Problem, bool) {
		v, _ := o.Value.(T) // kindTable pairs them
		if setDefaults != nil {
			setDefaults(v)
		}
		if validate == nil {
			return nil, true
		}
		return validate(o, v)
	}
}

// use is what to do with a document of some apiVersion and kind.
type use struct {
	info *kindInfo
	// newValue makes the object to decode into, nil for a raw kind.
	newValue func() apiObject
	// skip says not to read it. message, if any, tells why; field is the one at
	// fault, apiVersion or kind.
	skip           bool
	field, message string
	severity       Severity
}

// skipFor is the use of an object that is skipped with a message.
func skipFor(info *kindInfo, severity Severity, field, message string) use {
	return use{info: info, skip: true, field: field, message: message, severity: severity}
}

// lookup decides what to do with a kind.
func lookup(kinds map[string]*kindInfo, apiVersion, kind string) use {
	group, _, versioned := strings.Cut(apiVersion, "/")
	if !versioned {
		group = ""
	}
	if foreign(group, kind) {
		return use{info: &kindInfo{apiVersion: apiVersion, unnamed: true, foreign: true}}
	}
	info := kinds[kind]
	if info == nil {
		return skipUnknown(kinds, group, apiVersion, kind)
	}
	if apiVersion == info.apiVersion {
		return use{info: info, newValue: info.newValue}
	}
	if other, ok := info.read[apiVersion]; ok {
		if other == nil {
			other = info.newValue
		}
		return use{info: info, newValue: other}
	}
	if removed := info.old[apiVersion]; removed != "" {
		return skipFor(info, Warning, "apiVersion", apiVersion+" is gone since Kubernetes "+removed+"; skipped, use "+info.apiVersion)
	}
	own := groupOf(info.apiVersion)
	switch {
	case own == ownGroup && ours(group):
		return skipFor(info, Error, "apiVersion", "unknown version "+apiVersion+"; use "+info.apiVersion)
	case group == own, builtin(group):
		return skipFor(info, Warning, "apiVersion", apiVersion+" has no "+kind+" that lameduck knows; skipped, use "+info.apiVersion)
	}
	return use{skip: true} // a kind of another group with the same name
}

// kustomize is the group of what is no object of a cluster: it says how others are made.
const kustomize = "kustomize.config.k8s.io"

// ownGroup is that of lameduck's own kinds.
const ownGroup = "lameduck"

// ours says that a group is meant to be lameduck's: most groups have a domain, and this one has none.
func ours(group string) bool { return group == ownGroup || strings.HasPrefix(group, ownGroup+".") }

// skipUnknown is for the kinds that are not in the table. They are skipped
// without a word, unless they look like a slip of the pen.
func skipUnknown(kinds map[string]*kindInfo, group, apiVersion, kind string) use {
	if ours(group) {
		return skipFor(nil, Error, "kind", "unknown kind; "+apiVersion+" has Scenario")
	}
	if group == kustomize {
		return skipFor(nil, Warning, "", "not built, so what it adds and changes is not in the answer: -k DIR builds it, or kubectl kustomize DIR before")
	}
	if !builtin(group) {
		return use{skip: true}
	}
	for _, name := range sortedKeys(kinds) {
		info := kinds[name]
		near := len(kind) / 3 // edits: one in a word like Servce, two in a long one
		similar := strings.EqualFold(name, kind) || near > 1 && info.newValue != nil && distance(kind, name, 3) < min(near, 3)
		if similar && builtin(groupOf(info.apiVersion)) {
			return skipFor(nil, Warning, "kind", "unknown kind, skipped; did you mean "+name+"?")
		}
	}
	return use{skip: true}
}

func groupOf(apiVersion string) string {
	group, _, versioned := strings.Cut(apiVersion, "/")
	if !versioned {
		return ""
	}
	return group
}

// builtin reports whether a group is Kubernetes' own: only those are sure to
// mean by Service what Kubernetes means.
func builtin(group string) bool {
	return !strings.Contains(group, ".") && group != "lameduck" || strings.HasSuffix(group, ".k8s.io")
}
