package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// foreignProxy is a controller of Ingresses or Gateways that is not simulated: a proxy of which nothing is known stands in for it.
type foreignProxy struct {
	name string
	// classes are the usual names of its class; word says that one is a word of the class, as of traefik-internal.
	classes []string
	word    string
	// controllers are beginnings of the controller that an IngressClass or GatewayClass names.
	controllers []string
	// cloud says that the proxy is outside of the cluster, and changed through its maker's API.
	cloud bool
}

// foreignProxies lists those that people know by name (https://kubernetes.io/docs/concepts/services-networking/ingress-controllers/, and
// the makers' own pages; recalled). That Azure's gateway takes some 30 s is reported (https://dev.to/jayakrishnayadav24, "Zero-Downtime
// Deployments on AKS", and https://chunliu.me/2021/05/05/scaling-with-application-gateway-ingress-controller/).
func foreignProxies() []foreignProxy {
	return []foreignProxy{
		{name: "Azure Application Gateway", classes: []string{"azure-application-gateway", "azure/application-gateway"}, controllers: []string{"azure/application-gateway"}, cloud: true},
		{name: "Azure Application Gateway for Containers", classes: []string{"azure-alb-external"}, controllers: []string{"alb.networking.azure.io/"}, cloud: true},
		{name: "Amazon VPC Lattice", classes: []string{"amazon-vpc-lattice"}, controllers: []string{"application-networking.k8s.aws/"}, cloud: true},
		{name: "ngrok", word: "ngrok", controllers: []string{"k8s.ngrok.com/", "ngrok.com/"}, cloud: true},
		{name: "Traefik", word: "traefik", controllers: []string{"traefik.io/"}},
		{name: "HAProxy", word: "haproxy", controllers: []string{"haproxy.org/", "haproxy-ingress.github.io/"}},
		{name: "Kong", word: "kong", controllers: []string{"ingress-controllers.konghq.com/", "konghq.com/"}},
		{name: "Istio", word: "istio", controllers: []string{"istio.io/"}},
		{name: "Contour", word: "contour", controllers: []string{"projectcontour.io/"}},
		{name: "Cilium", word: "cilium", controllers: []string{"cilium.io/", "io.cilium/"}},
		{name: "APISIX", word: "apisix", controllers: []string{"apisix.apache.org/"}},
		{name: "Emissary", word: "ambassador", controllers: []string{"getambassador.io/"}},
		{name: "OpenShift's router", word: "openshift", controllers: []string{"openshift.io/"}},
		{name: "F5's NGINX Ingress Controller", controllers: []string{"nginx.org/"}},
		{name: "NGINX Gateway Fabric", controllers: []string{"gateway.nginx.org/"}},
	}
}

// standsFor finds what l7-generic stands in for behind a class: by the controller where the input names one, else by the name of the
// class. ok is false where nothing says that it is none of the presets'.
func standsFor(r *world.Route) (p foreignProxy, ok bool) {
	if r.Controller != "" {
		for _, p := range foreignProxies() {
			if slices.ContainsFunc(p.controllers, func(c string) bool { return strings.HasPrefix(r.Controller, c) }) {
				return p, true
			}
		}
		return foreignProxy{name: "controller " + r.Controller}, true
	}
	words := strings.FieldsFunc(r.Class, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	for _, p := range foreignProxies() {
		if slices.Contains(p.classes, r.Class) || p.word != "" && slices.Contains(words, p.word) {
			return p, true
		}
	}
	return foreignProxy{}, false
}

// classField is where the class of a Route is said, or would be.
func classField(r *world.Route) string {
	if r.Ingress.Value == nil {
		return "spec.parentRefs"
	}
	return "spec.ingressClassName"
}

// standIn says which proxy is simulated in place of a stream's, "" where it is that one, or nobody knows, or the user has said what it is.
func (b *builder) standIn(t *world.Traffic) string {
	if t.LB == nil || t.LB.Preset != presetGeneric || t.Route == nil || b.balancerName() != lbAuto || b.overridden() || madeBy(t.Route) != makerOther {
		return ""
	}
	p, ok := standsFor(t.Route)
	if !ok {
		return ""
	}
	words := fmt.Sprintf("%s (%s, %s) is not simulated", p.name, t.Route.Said, where(t.Route.Object, classField(t.Route)))
	if p.cloud {
		return words + ": a proxy in the cluster stands in for it, and is no likeness. The real one is told of pods through its maker's API, which is reported to take tens of seconds, not one"
	}
	return words + ": any proxy in the cluster that follows EndpointSlices stands in for it (" + presetGeneric + ")"
}
