package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is not simulated is called by its name, found by its controller or by the class that people give it.
func TestProxiesThatAreNotSimulatedHaveNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ class, controller, want string }{
		{"azure-application-gateway", "", "Azure Application Gateway"},
		{"azure/application-gateway", "", "Azure Application Gateway"},
		{"x", "azure/application-gateway", "Azure Application Gateway"},
		{"azure-alb-external", "", "Azure Application Gateway for Containers"},
		{"x", "alb.networking.azure.io/alb-controller", "Azure Application Gateway for Containers"},
		{"amazon-vpc-lattice", "", "Amazon VPC Lattice"},
		{"x", "application-networking.k8s.aws/gateway-api-controller", "Amazon VPC Lattice"},
		{"my-ngrok", "", "ngrok"},
		{"x", "k8s.ngrok.com/ingress-controller", "ngrok"},
		{"x", "ngrok.com/gateway-controller", "ngrok"},
		{"traefik-internal", "", "Traefik"},
		{"x", "traefik.io/ingress-controller", "Traefik"},
		{"haproxy", "", "HAProxy"},
		{"x", "haproxy.org/ingress-controller", "HAProxy"},
		{"x", "haproxy-ingress.github.io/controller", "HAProxy"},
		{"kong", "", "Kong"},
		{"x", "ingress-controllers.konghq.com/kong", "Kong"},
		{"x", "konghq.com/kic-gateway-controller", "Kong"},
		{"istio", "", "Istio"},
		{"x", "istio.io/gateway-controller", "Istio"},
		{"contour", "", "Contour"},
		{"x", "projectcontour.io/gateway-controller", "Contour"},
		{"cilium", "", "Cilium"},
		{"x", "cilium.io/ingress-controller", "Cilium"},
		{"x", "io.cilium/gateway-controller", "Cilium"},
		{"apisix", "", "APISIX"},
		{"x", "apisix.apache.org/apisix-ingress", "APISIX"},
		{"ambassador", "", "Emissary"},
		{"x", "getambassador.io/ingress-controller", "Emissary"},
		{"openshift-default", "", "OpenShift's router"},
		{"x", "openshift.io/ingress-to-route", "OpenShift's router"},
		{"x", "nginx.org/ingress-controller", "F5's NGINX Ingress Controller"},
		{"x", "gateway.nginx.org/nginx-gateway-controller", "NGINX Gateway Fabric"},
		{"traefik", "example.com/other", "controller example.com/other"},
		{"nginx", "", ""},
		{"x", "", ""},
	} {
		if p, ok := standsFor(&world.Route{Class: tt.class, Controller: tt.controller}); p.name != tt.want || ok != (tt.want != "") {
			t.Errorf("class %s, controller %s: %q %t, want %q", tt.class, tt.controller, p.name, ok, tt.want)
		}
	}
}

// The strictest of a pod template's spread constraints counts.
func TestTheStrictestSpreadCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		skews []int32
		want  int
	}{{nil, 0}, {[]int32{3}, 3}, {[]int32{3, 1}, 1}, {[]int32{1, 3}, 1}, {[]int32{2, 2}, 2}} {
		var template corev1.PodTemplateSpec
		template.Labels = map[string]string{"app": "web"}
		for _, skew := range tt.skews {
			template.Spec.TopologySpreadConstraints = append(template.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: skew, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels},
			})
		}
		if got := evenly(&template); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.skews, got, tt.want)
		}
	}
}
