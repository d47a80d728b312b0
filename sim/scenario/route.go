package scenario

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// routeTo finds what leads to a stream's Service port, nil when nothing does: the first of routesOf.
func (w *inventory) routeTo(t *world.Traffic, svc *corev1.Service) *world.Route {
	s, ok := w.service(svc.Namespace + "/" + svc.Name)
	if !ok {
		return nil
	}
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if int(p.Port) == t.Port && (p.Protocol == "" || p.Protocol == corev1.ProtocolTCP) {
			return w.routeOf(&subject{service: s, port: p})
		}
	}
	return nil
}

// head takes headless Services that a route leads to for such with an address of their own. What follows the route asks pods that it
// finds in EndpointSlices, or is told of, whether there is an address or not; who asks for the name is judged in no case.
func (w *inventory) head() {
	w.headed = map[string]bool{}
	for _, s := range w.services {
		if s.Value.Spec.ClusterIP != corev1.ClusterIPNone {
			continue
		}
		for i := range s.Value.Spec.Ports {
			w.headed[s.ID()] = w.headed[s.ID()] || w.routed(&subject{service: s, port: &s.Value.Spec.Ports[i]})
		}
		if w.headed[s.ID()] {
			s.Value.Spec.ClusterIP, s.Value.Spec.ClusterIPs = "", nil
		}
	}
}

// besideRoute tells the clients of a headless Service from those that come by a route.
func (w *inventory) besideRoute(service string) string {
	if w.headed[service] {
		return " inside the cluster"
	}
	return ""
}

// ingressClass finds the class of an Ingress: in the spec or, before Kubernetes 1.18, in an
// annotation; without one it is the cluster's default.
func (w *inventory) ingressClass(r *world.Route) {
	const annotation = "kubernetes.io/ingress.class"
	i := r.Ingress.Value
	if c := i.Spec.IngressClassName; c != nil {
		r.Class, r.Said = *c, "ingressClassName "+*c
	} else if c := i.Annotations[annotation]; c != "" {
		r.Class, r.Said = c, "annotation "+annotation+": "+c
	}
	for _, o := range w.ingressClasses {
		if r.Class == "" && rawText(o.Value, "metadata", "annotations", networkingv1.AnnotationIsDefaultIngressClass) == "true" {
			r.Class, r.Said = o.Name, "IngressClass "+o.Name+" is the default"
		}
		if o.Name == r.Class {
			r.Controller = rawText(o.Value, "spec", "controller")
		}
	}
}

// backendConfigOf finds the BackendConfig that a Service's annotation names for a port: under
// the port's name or number, or as the default (ingress-gce's documentation).
func (w *inventory) backendConfigOf(s *subject) *manifest.Object {
	var names struct {
		Default string            `json:"default"`
		Ports   map[string]string `json:"ports"`
	}
	a := s.service.Value.Annotations
	if json.Unmarshal([]byte(cmp.Or(a["cloud.google.com/backend-config"], a["beta.cloud.google.com/backend-config"])), &names) != nil {
		return nil
	}
	name := cmp.Or(names.Ports[s.port.Name], names.Ports[strconv.Itoa(int(s.port.Port))], names.Default)
	for _, o := range w.backendConfigs {
		if name != "" && o.Namespace == s.service.Namespace && o.Name == name {
			return o
		}
	}
	return nil
}

// policyOf finds the GCPBackendPolicy, or HealthCheckPolicy, of a Service: what Google's Gateways read in place of a BackendConfig
// (https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources; read).
func policyOf(policies []*manifest.Object, s *subject) *manifest.Object {
	for _, o := range policies {
		ref := rawAt(o.Value, "spec", "targetRef")
		if o.Namespace == s.service.Namespace && rawText(ref, "name") == s.service.Name && cmp.Or(rawText(ref, "kind"), "Service") == "Service" {
			return o
		}
	}
	return nil
}

// rawAt goes down a raw object, nil where there is nothing.
func rawAt(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func rawText(v any, path ...string) string {
	s, _ := rawAt(v, path...).(string)
	return s
}

func rawList(v any, path ...string) []any {
	l, _ := rawAt(v, path...).([]any)
	return l
}

// maker is who makes a proxy.
type maker string

// The makers that presets know.
const (
	makerAWS   maker = "alb"
	makerGKE   maker = "gce"
	makerNginx maker = "nginx"
	makerEnvoy maker = "envoy"
	makerOther maker = ""
)

// madeBy goes by the controller of the class where the input says it, else by the class's name:
// a class is called anything, and nginx is the name of more than one controller's.
func madeBy(r *world.Route) maker {
	switch c := r.Controller; {
	case c == "k8s.io/ingress-nginx":
		return makerNginx
	case c == albController, c == autoModeALB, strings.HasPrefix(c, "gateway.k8s.aws/alb"):
		return makerAWS
	case strings.HasPrefix(c, "networking.gke.io/"):
		return makerGKE
	case strings.HasPrefix(c, "gateway.envoyproxy.io/"):
		return makerEnvoy
	case c != "":
		return makerOther
	}
	if r.Main != "" { // nobody else reads canary
		return makerNginx
	}
	if r.Ingress.Value == nil {
		switch c := r.Class; {
		case r.Said == "" && googleKey(r) != "": // nobody else reads these
			return makerGKE
		case strings.HasPrefix(c, "gke-l7-"):
			return makerGKE
		case c == "eg", strings.HasPrefix(c, "envoy"):
			return makerEnvoy
		case slices.Contains(strings.Split(c, "-"), "alb"):
			return makerAWS
		case hasTrafficPolicy(r): // nobody else reads these
			return makerEnvoy
		}
		return makerOther
	}
	if m := classMaker(r.Class); m != makerOther {
		return m
	}
	if c, ok := claimOf(r); ok {
		return c.maker
	}
	if r.Said == "" && googleKey(r) != "" && len(claimsOf(r)) == 0 { // nobody else reads these, but GKE sets the first one at any Service
		return makerGKE
	}
	return makerOther
}

// passesTLS says that ingress-nginx is told to pass connections on as they are: it decrypts nothing, and neither retries requests nor keeps
// connections of its own.
func passesTLS(r *world.Route) bool {
	v, _ := routeAnnotation(r, nginxPrefix+"ssl-passthrough")
	return v == "true"
}

// googleKey is an annotation of the Service that only Google's controllers read, "" where it has none.
func googleKey(r *world.Route) string {
	for _, key := range []string{"cloud.google.com/neg", "cloud.google.com/backend-config"} {
		if r.Service.Annotations[key] != "" {
			return key
		}
	}
	return ""
}

// autoModeALB is the controller of EKS Auto Mode, whose targets are pods unless something says instances
// (https://docs.aws.amazon.com/eks/latest/userguide/auto-networking.html; verified).
const autoModeALB = "eks.amazonaws.com/alb"

const (
	albPrefix   = "alb.ingress.kubernetes.io/"
	nginxPrefix = "nginx.ingress.kubernetes.io/"
)

// annotation is one of the Ingress, and where it stands. The AWS Load Balancer Controller reads
// the Service's first (recalled): at is nil then.
func routeAnnotation(r *world.Route, key string) (value string, at *manifest.Object) {
	if r.Object.Kind == kindBinding { // the target group is somebody else's
		return "", nil
	}
	if v, ok := r.Service.Annotations[key]; ok && strings.HasPrefix(key, albPrefix) {
		return v, nil
	}
	if r.Ingress.Value == nil {
		return "", nil
	}
	return r.Ingress.Value.Annotations[key], r.Object
}

// find says which proxy it is (docs/model/simulator.md 5.2), in a provider's cluster: "" is
// anybody's.
func findRoute(r *world.Route, provider string) balancerFound {
	f := balancerFound{why: r.Said}
	if c, ok := claimOf(r); ok {
		f.why = c.said(r)
	}
	switch madeBy(r) {
	case makerAWS:
		if r.Object.Kind == kindBinding {
			findBound(r, &f)
			break
		}
		findRouteALB(r, &f)
	case makerGKE:
		findRouteGKE(r, &f)
		f.why = cmp.Or(f.why, "annotation "+googleKey(r)+" of Service "+r.Service.Name)
	case makerNginx:
		f.name, f.why = nginxName, cmp.Or(f.why, "annotation "+nginxPrefix+"canary")
	case makerEnvoy:
		f.name, f.why = envoyGateway, cmp.Or(f.why, "a "+kindTrafficPolicy+" is its own")+retriesBy(r.Retry)
	default:
		return findRouteAny(r, provider)
	}
	f.basis = inferred
	return f
}

// albController is the controller that an IngressClass of the AWS Load Balancer Controller names.
const albController = "ingress.k8s.aws/alb"

// kindBinding binds a Service port to a target group that somebody made, of an ALB or an NLB: the controller registers its targets there
// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/targetgroupbinding/targetgroupbinding/; recalled).
const kindBinding = "TargetGroupBinding"

// bindingOf is the TargetGroupBinding of a Service port, nil for none. Those that the controller makes by itself, for an Ingress or a Service
// of type LoadBalancer, have a label and say nothing new.
func (w *inventory) bindingOf(s *subject) *manifest.Object {
	for _, o := range w.bindings {
		ref := rawAt(o.Value, "spec", "serviceRef")
		labels, _ := rawAt(o.Value, "metadata", "labels").(map[string]any)
		own := labels["ingress.k8s.aws/stack"] != nil || labels["service.k8s.aws/stack-name"] != nil || labels["gateway.k8s.aws/stack-name"] != nil
		if own || o.Namespace != s.service.Namespace || rawText(ref, "name") != s.service.Name {
			continue
		}
		if number, ok := rawAt(ref, "port").(int64); ok && number == int64(s.port.Port) || rawText(ref, "port") == s.port.Name && s.port.Name != "" {
			return o
		}
	}
	return nil
}

// findBound: whether the target group is an ALB's or an NLB's its name does not say, but a protocol version of HTTP is an ALB's alone. Without
// a targetType it is the target group's own, which has no nodes without a node port.
func findBound(r *world.Route, f *balancerFound) {
	target := rawText(r.Object.Value, "spec", "targetType")
	switch {
	case target == "instance":
		f.families = []string{"aws-alb-instance", "aws-nlb-instance"}
	case target == "ip", !r.NodePort:
		f.families = []string{"aws-alb-ip", "aws-nlb-ip"}
	default:
		f.families = []string{"aws-alb-ip", "aws-nlb-ip", "aws-alb-instance", "aws-nlb-instance"}
	}
	if target != "" {
		f.why += ", targetType " + target
	}
	if rawText(r.Object.Value, "spec", "targetGroupProtocolVersion") != "" {
		f.families = slices.DeleteFunc(f.families, func(name string) bool { return strings.HasPrefix(name, "aws-nlb-") })
	}
	f.name = f.families[0]
}

// findALB: targets are instances unless something says ip (the controller's default; recalled),
// and instances need a node port.
func findRouteALB(r *world.Route, f *balancerFound) {
	switch target, _ := routeAnnotation(r, albPrefix+"target-type"); {
	case target == "ip":
		f.name = "aws-alb-ip"
	case target == "instance":
		f.name = "aws-alb-instance"
	case !r.NodePort:
		f.name = "aws-alb-ip"
		f.why += ", without a node port for instances"
	case r.Controller == autoModeALB:
		f.name = "aws-alb-ip"
		f.why += ", of EKS Auto Mode"
	default:
		f.name, f.others = "aws-alb-instance", []string{"aws-alb-ip"}
	}
}

// findGKE: Gateways have network endpoint groups, and Ingresses where the Service's annotation
// asks for them, or the cluster does (recalled).
func findRouteGKE(r *world.Route, f *balancerFound) {
	neg := strings.ReplaceAll(r.Service.Annotations["cloud.google.com/neg"], " ", "")
	switch {
	case r.Ingress.Value == nil, neg != "" && !strings.Contains(neg, `"ingress":false`):
		f.name = "gke-l7-neg"
	case neg == "" && !r.NodePort:
		f.name = "gke-l7-neg"
		f.why += ", without a node port for instance groups"
	case neg == "":
		f.name, f.families = "gke-l7-neg", []string{"gke-l7-neg", "gke-l7-instance-group"}
	default:
		f.name = "gke-l7-instance-group"
	}
}

// findRouteAny is a proxy of which nothing is known, but perhaps its class: a provider's has a class of
// a known name, and one that says whose it is excludes all others.
func findRouteAny(r *world.Route, provider string) balancerFound {
	f := balancerFound{name: anyProxy, why: r.Said, basis: "assumed"}
	if c, ok := claimOf(r); ok {
		f.why = c.said(r)
	}
	gateway := r.Ingress.Value == nil
	stands, known := standsFor(r)
	if stands.cloud {
		f.name = world.CloudGateway
	}
	switch {
	case r.Controller != "":
		f.why += ", of " + r.Controller
		return f
	case known:
		return f
	case contradiction(r) != "":
		if f.why, f.families = contradiction(r), claimedFamilies(r); len(f.families) == 0 {
			f.families = unknownProxies(gateway, provider)
		}
	case r.Said != "" && gateway:
		f.families = []string{anyProxy, "envoy-gateway"}
	case r.Said != "":
		f.families = []string{anyProxy, "ingress-nginx"}
	case gateway:
		f.why = "the Gateway of " + r.Object.String() + " is not in the input"
		f.families = unknownProxies(gateway, provider)
	default:
		f.why = r.Object.String() + " says no class"
		f.families = unknownProxies(gateway, provider)
	}
	f.name = f.families[0]
	return f
}
