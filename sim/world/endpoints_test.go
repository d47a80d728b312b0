package world

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ported is a Deployment whose pods have ports of some names.
func ported(name string, ports ...string) Workload {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}}
	d.Spec.Template.Labels = map[string]string{"app": "web"}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
	for i, p := range ports {
		c := &d.Spec.Template.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: p, ContainerPort: int32(8080 + i)})
	}
	return Workload{Resource: d}
}

// Each pod is looked at for the port of a name, and one without it is no endpoint of that port; one that clients do not ask for is no matter.
// Reference: docs/model/controllers.md 9.3 Named ports.
func TestPodsWithoutAPortOfTheNameAreNoEndpoints(t *testing.T) {
	t.Parallel()
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{
		{Port: 80, TargetPort: intstr.FromString("http")}, {Port: 9090, TargetPort: intstr.FromString("metrics")}, {Port: 70, TargetPort: intstr.FromInt32(7070)},
	}}}
	both, http, other := ported("both", "http", "metrics"), ported("http", "http"), ported("other", "web")
	for name, tt := range map[string]struct { // order: each for itself
		traffic           []Traffic
		actions           []Action
		both, http, other bool
	}{
		"nobody asks, and a number is there": {nil, nil, true, true, true},
		"one port is asked":                  {[]Traffic{{Service: "shop/web", Port: 80}}, nil, true, true, false},
		"another one is":                     {[]Traffic{{Service: "shop/web", Port: 9090}}, nil, true, false, false},
		"both are":                           {[]Traffic{{Service: "shop/web", Port: 80}, {Service: "shop/web", Port: 9090}}, nil, true, true, false},
		"a number is asked":                  {[]Traffic{{Service: "shop/web", Port: 70}}, nil, true, true, true},
		"another Service's port is":          {[]Traffic{{Service: "shop/api", Port: 80}}, nil, true, true, true},
		"a controller asks for its clients":  {[]Traffic{{Service: "shop/api", Port: 1, Ingress: &Ingress{Service: "shop/web", Port: 9090}}}, nil, true, false, false},
		"the Service leads elsewhere later":  {[]Traffic{{Service: "shop/web", Port: 80}}, []Action{{Operation: SetPort{Service: "shop/web", TargetName: "web"}}}, true, true, true},
	} {
		s := &Scenario{Services: []Service{{Service: svc}}, Workloads: []Workload{both, http, other}, Traffic: tt.traffic, Actions: tt.actions}
		for i, want := range []bool{tt.both, tt.http, tt.other} {
			w := &s.Workloads[i]
			if s.Serves("shop/web", w.Name()) != want || s.Endpoints(svc, w) != want || s.MaySelect(svc, w) != want {
				t.Errorf("%s: endpoints of %s: %t", name, w.Name(), !want)
			}
		}
	}
	s := &Scenario{Services: []Service{{Service: svc}}, Workloads: []Workload{other, both}, Traffic: []Traffic{{Service: "shop/web", Port: 80}}}
	if met := s.Met(0, true); met == nil || met.Name() != "shop/both" {
		t.Errorf("a request met %v", met)
	}
}
