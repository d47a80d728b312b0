package world

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// web is a Deployment of pods with two containers and a sidecar.
func web() *Workload {
	always := corev1.ContainerRestartPolicyAlways
	return &Workload{Server: "app", Resource: &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "tier": "front"}},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always}},
				Containers: []corev1.Container{
					{Name: "log", Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}}},
					{Name: "app", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}},
				},
			},
		}},
	}}
}

func TestWhichContainerServes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server    string
		index     int
		container string
	}{{"app", 1, "app"}, {"log", 0, "log"}, {"", 0, "log"}, {"proxy", 2, "proxy"}, {"gone", 0, ""}} {
		w := web()
		w.Server = c.server
		if i, name := w.ServerIndex(), w.Container().Name; i != c.index || name != c.container {
			t.Errorf("%q: container %d, %q; want %d, %q", c.server, i, name, c.index, c.container)
		}
	}
	w := web()
	w.Template().Spec.Containers, w.Template().Spec.InitContainers = nil, nil
	if i := w.ServerIndex(); i != -1 || w.Container().Name != "" {
		t.Errorf("no containers: %d", i)
	}
}

func TestWhatAWorkloadSaysOfItself(t *testing.T) {
	t.Parallel()
	w := web()
	if w.Name() != "shop/web" || w.Namespace() != "shop" || w.ObjectName() != "web" {
		t.Errorf("%s %s %s", w.Name(), w.Namespace(), w.ObjectName())
	}
	if w.Replicas() != 1 || w.Grace() != 30*engine.Second || w.Recreate() {
		t.Errorf("without a word: %d replicas, grace %s", w.Replicas(), w.Grace().Seconds())
	}
	replicas, grace := int32(10), int64(5)
	surge, unavailable := intstr.FromString("25%"), intstr.FromString("25%")
	w.Deployment().Spec.Replicas, w.Template().Spec.TerminationGracePeriodSeconds = &replicas, &grace
	w.Deployment().Spec.MinReadySeconds = 7
	if up, down := w.Fenceposts(); up != 0 || down != 0 {
		t.Errorf("without bounds: %d and %d", up, down)
	}
	w.Deployment().Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}
	if up, down := w.Fenceposts(); up != 3 || down != 2 || w.Replicas() != 10 || w.Grace() != 5*engine.Second || w.MinReadySeconds() != 7 {
		t.Errorf("surge %d, unavailable %d, %d replicas, grace %s, minReady %d", up, down, w.Replicas(), w.Grace().Seconds(), w.MinReadySeconds())
	}
}

func TestWhatSelectsAWorkload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		namespace string
		selector  map[string]string
		want      bool
	}{
		{"shop", map[string]string{"app": "web"}, true},
		{"shop", map[string]string{"app": "web", "tier": "front"}, true},
		{"shop", map[string]string{"app": "web", "tier": "back"}, false},
		{"shop", map[string]string{"app": "web", "zone": "a"}, false},
		{"shop", nil, false}, // its endpoints are somebody else's
		{"bank", map[string]string{"app": "web"}, false},
	} {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "web"}, Spec: corev1.ServiceSpec{Selector: c.selector}}
		if got := web().SelectedBy(s); got != c.want {
			t.Errorf("%s %v: %t", c.namespace, c.selector, got)
		}
	}
}

func TestTargetPort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target intstr.IntOrString
		number int32
		ok     bool
	}{{intstr.FromInt32(80), 80, true}, {intstr.FromString("http"), 8080, true}, {intstr.FromString("metrics"), 9090, true}, {intstr.FromString("grpc"), 0, false}} {
		if n, ok := TargetPort(c.target, web().Template()); n != c.number || ok != c.ok {
			t.Errorf("%s: %d, %t", c.target.String(), n, ok)
		}
	}
}

// A name of a port is looked for among the containers, then among the sidecars; an init container that ends has no port.
func TestTargetPortOfASidecar(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	named := func(name string, number int32) corev1.Container {
		return corev1.Container{Name: name, Ports: []corev1.ContainerPort{{Name: name, ContainerPort: number}, {Name: "both", ContainerPort: number}}}
	}
	envoy := named("envoy", 10000)
	envoy.RestartPolicy = &always
	pod := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{named("migrate", 9000), envoy}, Containers: []corev1.Container{named("app", 8080)}}}
	for name, want := range map[string]int32{"app": 8080, "envoy": 10000, "both": 8080, "migrate": 0} { // order: each for itself
		if n, ok := TargetPort(intstr.FromString(name), pod); n != want || ok != (want > 0) {
			t.Errorf("%s: %d, %t", name, n, ok)
		}
	}
	for name, want := range map[string]string{"app": ".containers[0]", "envoy": ".initContainers[1]", "other": ""} { // order: each for itself
		if got := ServingPath(&pod.Spec, name); got != "spec.template.spec"+want {
			t.Errorf("%s is at %s", name, got)
		}
	}
	if list := Serving(&pod.Spec); len(list) != 2 || list[0].Name != "app" || list[1].Name != "envoy" {
		t.Errorf("%v serve", list)
	}
}

// A Service serves a workload if there is such a Service and such a workload, and it selects the workload's pods.
func TestWhomAServiceServes(t *testing.T) {
	t.Parallel()
	service := func(name, app string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}}}
	}
	db := web()
	db.Resource.SetName("db")
	s := &Scenario{Workloads: []Workload{*db, *web()}, Services: []Service{{Service: service("web", "web")}, {Service: service("other", "other")}}}
	for asked, want := range map[[2]string]bool{
		{"shop/web", "shop/web"}: true, {"shop/web", "shop/db"}: true, {"shop/other", "shop/web"}: false, {"shop/web", "shop/gone"}: false, {"shop/gone", "shop/web"}: false,
	} {
		if got := s.Serves(asked[0], asked[1]); got != want {
			t.Errorf("%v: %v", asked, got)
		}
	}
}

// Where requests must not be done twice, a proxy that repeats what was not answered repeats only what never got there, and any other only GETs.
func TestWhatAProxyRepeatsOfRequestsThatAreNoGETs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, want Layer7 }{
		{Layer7{RetryOn: RetryReset, Retries: 2}, Layer7{RetryOn: RetryConnect, Retries: 2}},
		{Layer7{RetryOn: RetryConnect, Retries: 2}, Layer7{RetryOn: RetryConnect, GETs: 2}},
	} {
		got := tt.before
		if got.ForPOSTs(); got.RetryOn != tt.want.RetryOn || got.Retries != tt.want.Retries || got.GETs != tt.want.GETs {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}
