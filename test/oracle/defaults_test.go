package oracle

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	upadmission "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"
	upapps "k8s.io/kubernetes/pkg/apis/apps/v1"
	upautoscaling "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	upcore "k8s.io/kubernetes/pkg/apis/core/v1"
	updiscovery "k8s.io/kubernetes/pkg/apis/discovery/v1"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// defaultedObjects is how many objects of each kind TestOracleDefaults compares.
const defaultedObjects = 1000

// TestOracleDefaults compares the defaults that lameduck fills into manifests with those
// of the API server, over objects of which any field may be missing. What lameduck leaves
// alone on purpose is taken out of both first; leftAlone lists it.
func TestOracleDefaults(t *testing.T) {
	t.Run("Service", func(t *testing.T) { compareDefaults(t, manifest.DefaultService, upcore.SetObjectDefaults_Service) })
	t.Run("EndpointSlice", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultEndpointSlice, func(s *discoveryv1.EndpointSlice) { updiscovery.SetObjectDefaults_EndpointSlice(s) })
	})
	t.Run("Node", func(t *testing.T) { compareDefaults(t, manifest.DefaultNode, upcore.SetObjectDefaults_Node) })
	t.Run("Pod", func(t *testing.T) { compareDefaults(t, manifest.DefaultPod, upcore.SetObjectDefaults_Pod) })
	t.Run("Deployment", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultDeployment, upapps.SetObjectDefaults_Deployment)
	})
	t.Run("ReplicaSet", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultReplicaSet, upapps.SetObjectDefaults_ReplicaSet)
	})
	t.Run("StatefulSet", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultStatefulSet, upapps.SetObjectDefaults_StatefulSet)
	})
	t.Run("DaemonSet", func(t *testing.T) { compareDefaults(t, manifest.DefaultDaemonSet, upapps.SetObjectDefaults_DaemonSet) })
	t.Run("HorizontalPodAutoscaler", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultHorizontalPodAutoscaler, upautoscaling.SetObjectDefaults_HorizontalPodAutoscaler)
	})
	t.Run("ValidatingWebhookConfiguration", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultValidatingWebhookConfiguration, upadmission.SetObjectDefaults_ValidatingWebhookConfiguration)
	})
	t.Run("MutatingWebhookConfiguration", func(t *testing.T) {
		compareDefaults(t, manifest.DefaultMutatingWebhookConfiguration, upadmission.SetObjectDefaults_MutatingWebhookConfiguration)
	})
}

// compareDefaults defaults random objects of one kind with both functions.
func compareDefaults[T any, P interface {
	*T
	runtime.Object
}](t *testing.T, ours, theirs func(P)) {
	t.Helper()
	t.Parallel()
	for seed := range int64(defaultedObjects) {
		var object P = new(T)
		filler(seed).Fill(object)
		thin(reflect.ValueOf(object).Elem(), rand.New(rand.NewPCG(uint64(seed), 1)))
		a, b := clone(t, object), clone(t, object)
		ours(a)
		theirs(b)
		leftAlone(reflect.ValueOf(a))
		leftAlone(reflect.ValueOf(b))
		if !equality.Semantic.DeepEqual(a, b) {
			t.Fatalf("seed %d: the API server has, and lameduck has not (-), or the reverse (+):\n%s",
				seed, lineDiff(defaultsText(t, b), defaultsText(t, a)))
		}
	}
}

func clone[P runtime.Object](t *testing.T, object P) P {
	t.Helper()
	c, ok := object.DeepCopyObject().(P)
	if !ok {
		t.Fatalf("a copy of %T is none", object)
	}
	return c
}

// thin takes out optional parts that a filler always makes: pointers to types it has a
// function for.
func thin(v reflect.Value, r *rand.Rand) {
	if v.Kind() == reflect.Pointer && r.IntN(2) == 0 {
		v.SetZero()
	}
	for part := range parts(v) {
		thin(part, r)
	}
}

// parts walks what a pointer points to, the items of a slice or the fields of a struct.
func parts(v reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		n, part := 0, v.Field
		switch v.Kind() { //nolint:exhaustive // other kinds have no parts
		case reflect.Pointer:
			if !v.IsNil() {
				yield(v.Elem())
			}
		case reflect.Slice:
			n, part = v.Len(), v.Index
		case reflect.Struct:
			n = v.NumField()
		}
		for i := range n {
			if v.Kind() == reflect.Struct && !v.Type().Field(i).IsExported() {
				continue
			}
			if !yield(part(i)) {
				return
			}
		}
	}
}

// filler draws objects of which many parts are missing; enumerations take their own values
// or none.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 2).MaxDepth(40).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(100)), resource.DecimalSI)
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = pickRandom(c, intstr.FromInt32(0), intstr.FromInt32(80), intstr.FromString(""), intstr.FromString("http"))
		},
		func(v *string, c randfill.Continue) { *v = pickRandom(c, "", "", "some-name") },
		func(v *int32, c randfill.Continue) { *v = pickRandom[int32](c, 0, 0, 1, 8080) },
		func(v *int64, c randfill.Continue) { *v = pickRandom[int64](c, 0, 0, 1, 30) },
		func(v *corev1.ServiceType, c randfill.Continue) {
			*v = pickRandom(c, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName)
		},
		func(v *corev1.ServiceAffinity, c randfill.Continue) {
			*v = pickRandom(c, "", corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)
		},
		func(v *corev1.Protocol, c randfill.Continue) {
			*v = pickRandom(c, "", corev1.ProtocolTCP, corev1.ProtocolUDP)
		},
		func(v *appsv1.DeploymentStrategyType, c randfill.Continue) {
			*v = pickRandom(c, "", appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType)
		},
		func(v *appsv1.StatefulSetUpdateStrategyType, c randfill.Continue) {
			*v = pickRandom(c, "", appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
		},
		func(v *appsv1.DaemonSetUpdateStrategyType, c randfill.Continue) {
			*v = pickRandom(c, "", appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType)
		},
		func(*runtime.RawExtension, randfill.Continue) {},
		func(*metav1.ObjectMeta, randfill.Continue) {}, // nothing in it is defaulted
		func(*metav1.Time, randfill.Continue) {},
	)
}

func pickRandom[T any](c randfill.Continue, from ...T) T { return from[c.Intn(len(from))] }

// ignored are the fields that lameduck does not default, or that the API server defaults
// elsewhere than in its defaulting functions, by the type that holds them.
var ignored = map[reflect.Type][]string{
	// How a pod is set up, not how it starts, answers and stops.
	reflect.TypeFor[corev1.PodSpec]():                  {"DNSPolicy", "SecurityContext", "EnableServiceLinks", "Volumes"},
	reflect.TypeFor[corev1.Container]():                {"TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "Env"},
	reflect.TypeFor[corev1.EphemeralContainerCommon](): {"TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "Env"},
	reflect.TypeFor[appsv1.StatefulSetSpec]():          {"VolumeClaimTemplates"},
	// What a webhook is asked about, not how its failure is felt.
	reflect.TypeFor[admissionv1.ValidatingWebhook](): {"MatchPolicy", "NamespaceSelector", "ObjectSelector", "Rules"},
	reflect.TypeFor[admissionv1.MutatingWebhook]():   {"MatchPolicy", "NamespaceSelector", "ObjectSelector", "Rules", "ReinvocationPolicy"},
	// Derived when a Service is created, in pkg/registry/core/service.
	reflect.TypeFor[corev1.ServiceSpec](): {"ClusterIP", "ClusterIPs", "IPFamilies", "IPFamilyPolicy"},
}

// leftAlone zeroes the ignored fields, wherever they are.
func leftAlone(v reflect.Value) {
	for _, name := range ignored[v.Type()] {
		v.FieldByName(name).SetZero()
	}
	for part := range parts(v) {
		leftAlone(part)
	}
}

func defaultsText(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lineDiff shows where two texts part, by lines; it is for people.
func lineDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	start := 0
	for start < min(len(x), len(y)) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < min(len(x), len(y))-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	var out strings.Builder
	for _, l := range x[max(0, start-8):start] {
		fmt.Fprintf(&out, "  %s\n", l)
	}
	for _, l := range x[start : len(x)-end] {
		fmt.Fprintf(&out, "- %s\n", l)
	}
	for _, l := range y[start : len(y)-end] {
		fmt.Fprintf(&out, "+ %s\n", l)
	}
	return out.String()
}
