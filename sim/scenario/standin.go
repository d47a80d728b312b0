package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	// annotations are beginnings of those of an Ingress that only it reads.
	annotations []string
	// cloud says that the proxy is outside of the cluster, and changed through its maker's API.
	cloud bool
	// retries is to how many other pods it takes a request whose connection came to nothing, unless it is told otherwise.
	retries int
	// tries is the annotation of an Ingress or a Service that says how many, "" for none that is read.
	tries string
}

// foreignProxies lists those that people know by name (https://kubernetes.io/docs/concepts/services-networking/ingress-controllers/, and
// the makers' own pages; recalled). That Azure's gateway takes some 30 s is reported (https://dev.to/jayakrishnayadav24, "Zero-Downtime
// Deployments on AKS", and https://chunliu.me/2021/05/05/scaling-with-application-gateway-ingress-controller/). Retries: Istio's documents
// (Traffic management, Retries: twice), Kong's (Service.retries: 5), nginx's proxy_next_upstream (error and timeout, all others); all recalled.
func foreignProxies() []foreignProxy {
	return []foreignProxy{
		{name: "Azure Application Gateway", classes: []string{"azure-application-gateway", "azure/application-gateway"}, controllers: []string{"azure/application-gateway"}, annotations: []string{"appgw.ingress.kubernetes.io/"}, cloud: true},
		{name: "Azure Application Gateway for Containers", classes: []string{"azure-alb-external"}, controllers: []string{"alb.networking.azure.io/"}, annotations: []string{"alb.networking.azure.io/"}, cloud: true},
		{name: "Amazon VPC Lattice", classes: []string{"amazon-vpc-lattice"}, controllers: []string{"application-networking.k8s.aws/"}, cloud: true},
		{name: "ngrok", word: "ngrok", controllers: []string{"k8s.ngrok.com/", "ngrok.com/"}, annotations: []string{"k8s.ngrok.com/"}, cloud: true},
		{name: "Traefik", word: "traefik", controllers: []string{"traefik.io/"}, annotations: []string{"traefik.ingress.kubernetes.io/"}},
		{name: "HAProxy", word: "haproxy", controllers: []string{"haproxy.org/", "haproxy-ingress.github.io/"}, annotations: []string{"haproxy.org/", "haproxy-ingress.github.io/"}},
		{name: "Kong", word: "kong", controllers: []string{"ingress-controllers.konghq.com/", "konghq.com/"}, annotations: []string{"konghq.com/"}, retries: 5, tries: "konghq.com/retries"},
		{name: "Istio", word: "istio", controllers: []string{"istio.io/"}, retries: 2},
		{name: "Contour", word: "contour", controllers: []string{"projectcontour.io/"}, annotations: []string{"projectcontour.io/"}},
		{name: "Cilium", word: "cilium", controllers: []string{"cilium.io/", "io.cilium/"}, annotations: []string{"ingress.cilium.io/"}},
		{name: "APISIX", word: "apisix", controllers: []string{"apisix.apache.org/"}, annotations: []string{"k8s.apisix.apache.org/"}},
		{name: "Emissary", word: "ambassador", controllers: []string{"getambassador.io/"}, annotations: []string{"getambassador.io/"}},
		{name: "OpenShift's router", word: "openshift", controllers: []string{"openshift.io/"}, annotations: []string{"route.openshift.io/"}},
		{name: "F5's NGINX Ingress Controller", controllers: []string{"nginx.org/"}, annotations: []string{"nginx.org/", "nginx.com/"}, retries: allOthers},
		{name: "NGINX Gateway Fabric", controllers: []string{"gateway.nginx.org/"}, retries: allOthers},
	}
}

// standsFor finds what l7-generic stands in for behind a class: by the controller where the input names one, else by the name of the
// class, else by annotations that only one controller reads. ok is false where nothing says that it is none of the presets'.
func standsFor(r *world.Route) (p foreignProxy, ok bool) {
	if r.Controller != "" {
		for _, p := range foreignProxies() {
			if slices.ContainsFunc(p.controllers, func(c string) bool { return strings.HasPrefix(r.Controller, c) }) {
				return p, true
			}
		}
		return foreignProxy{name: "controller " + r.Controller}, true
	}
	if p, ok := foreignClass(r.Class); ok {
		return p, true
	}
	c, ok := claimOf(r)
	return c.foreign, ok && c.maker == makerOther
}

// foreignClass is whose a class is by its name, of the controllers that are not simulated.
func foreignClass(class string) (p foreignProxy, ok bool) {
	words := strings.FieldsFunc(class, func(c rune) bool { return c == '-' || c == '_' || c == '.' })
	for _, p := range foreignProxies() {
		if slices.Contains(p.classes, class) || p.word != "" && slices.Contains(words, p.word) {
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
	if t.LB == nil || !Nameless(t.LB.Preset) || t.Route == nil || b.balancerName() != lbAuto || b.overridden() || madeBy(t.Route) != makerOther {
		return ""
	}
	p, ok := standsFor(t.Route)
	if !ok {
		return ""
	}
	if n, ok := p.told(t.Route); ok {
		p.retries = n
	}
	words := fmt.Sprintf("%s (%s, %s) is not simulated", p.name, t.Route.Said, where(t.Route.Object, classField(t.Route)))
	if c, ok := claimOf(t.Route); ok {
		words = fmt.Sprintf("%s (%s) is not simulated", p.name, c.said(t.Route))
	}
	if unread := p.unread(t.Route); len(unread) > 0 {
		words += ", nor what " + Listed(unread, 3) + " ask for"
		if len(unread) == 1 {
			words = strings.TrimSuffix(words, " ask for") + " asks for"
		}
	}
	if p.cloud {
		return words + ": any gateway stands in for it that a provider's API tells of pods, which is reported to take from a second to minutes, without health checks (" + world.CloudGateway + ")"
	}
	if p.retries > 0 {
		return fmt.Sprintf("%s: any proxy in the cluster that follows EndpointSlices, and tries %s when a connection comes to nothing, stands in for it (%s)", words, more(p.retries), anyProxy)
	}
	return words + ": any proxy in the cluster that follows EndpointSlices stands in for it (" + anyProxy + ")"
}

// aboutWays says that an annotation is about which pods get requests and for how long they are waited for, by its name: those about names, paths
// and certificates lose nothing.
func aboutWays(name string) bool {
	return slices.ContainsFunc([]string{"drain", "timeout", "retr", "tries", "next-upstream", "health", "check", "probe", "slow", "upstream", "sticky", "affinity", "sessions"}, func(word string) bool { return strings.Contains(name, word) })
}

// unread are the annotations of a proxy's own on what leads to a Service, and on the Service, which nobody here reads.
func (p *foreignProxy) unread(r *world.Route) []string {
	of := func(annotations map[string]string) (out []string) {
		for _, key := range sortedKeys(annotations) {
			if slices.ContainsFunc(p.annotations, func(prefix string) bool { return strings.HasPrefix(key, prefix) && aboutWays(key[len(prefix):]) }) {
				out = append(out, key)
			}
		}
		return out
	}
	var out []string
	if r.Ingress.Value != nil {
		out = of(r.Ingress.Value.Annotations)
	}
	return slices.DeleteFunc(distinct(append(out, of(r.Service.Annotations)...)), func(key string) bool { return key == p.tries })
}

// told is to how many other pods annotations have a proxy take a request; ok is false where they do not say.
func (p *foreignProxy) told(r *world.Route) (retries int, ok bool) {
	said := r.Service.Annotations[p.tries]
	if r.Ingress.Value != nil {
		said = cmp.Or(said, r.Ingress.Value.Annotations[p.tries])
	}
	retries, err := strconv.Atoi(said)
	return retries, p.tries != "" && err == nil && retries >= 0
}

// allOthers is how many other servers nginx tries: all, of which this is enough.
const allOthers = 3

func more(n int) string {
	if n == 1 {
		return "one pod more"
	}
	return fmt.Sprintf("%d pods more", n)
}

// likeItsMaker has what stands in for a proxy repeat requests as that does.
func likeItsMaker(lb *world.LoadBalancer, r *world.Route) {
	if r == nil || lb.Preset != anyProxy || lb.Layer7.RetriesSaid || madeBy(r) != makerOther {
		return
	}
	p, ok := standsFor(r)
	if n, told := p.told(r); told {
		p.retries = n
	}
	if ok && p.retries > 0 {
		lb.Layer7.Retries = p.retries
	}
}
