package world

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Route is what leads requests to a Service port through a proxy: an Ingress, or an HTTPRoute.
type Route struct {
	Ingress manifest.Typed[*networkingv1.Ingress] // the zero value for an HTTPRoute
	Object  *manifest.Object                      // either of them
	Class   string                                // of the Ingress, or of the HTTPRoute's Gateway; "" when nothing says it
	Said    string                                // where that stands: "ingressClassName nginx"
	Gateway string                                // the name of that Gateway, where the route leads through several kinds of them; else ""
	// Controller is who takes care of the class, as an IngressClass or GatewayClass says; "" when
	// there is none in the input.
	Controller string
	// Main is the Service that ingress-nginx sends the rest of the requests to where Ingress is a canary, and all of them while the canary has
	// no endpoint; "" where it is none.
	Main string
	// Parked says why it sends no request whose answer anybody waits for, "" where it does.
	Parked string
	// Retry is what sends a request to another pod when one fails, for all rules that lead to the Service; SomeRetry one for some of them. nil for none.
	Retry, SomeRetry *Retry

	NodePort bool             // the Service port has one
	Service  *corev1.Service  // what it leads to
	Backend  *manifest.Object // a BackendConfig, or a GCPBackendPolicy of an HTTPRoute; nil for none
	Health   *manifest.Object // a HealthCheckPolicy of an HTTPRoute; nil for none
}

// Retry is a field by which a gateway asks again.
type Retry struct {
	Object         *manifest.Object // that has it: an HTTPRoute, or a policy
	Path           string
	Times          int
	Connect, Reset bool // it is about connections that do not come about, and such that are reset
	Limited        bool // each try has a time limit of its own
}
