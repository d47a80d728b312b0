package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// claim is an annotation of an Ingress that only one controller reads: whose it is.
type claim struct {
	maker   maker
	foreign foreignProxy // of a controller that is not simulated
	key     string
}

// ownPrefix begins annotations that only one simulated controller reads (aws-load-balancer-controller pkg/annotations, ingress-nginx
// internal/ingress/annotations/parser, and GKE's documents on Ingress; recalled).
type ownPrefix struct {
	prefix string
	maker  maker
}

func ownPrefixes() []ownPrefix {
	return []ownPrefix{
		{albPrefix, makerAWS},
		{nginxPrefix, makerNginx},
		{"networking.gke.io/", makerGKE},
		{"kubernetes.io/ingress.global-static-ip-name", makerGKE},
		{"kubernetes.io/ingress.regional-static-ip-name", makerGKE},
		{"ingress.gcp.kubernetes.io/", makerGKE},
	}
}

// claimsOf are those of an Ingress, the first annotation by name of each controller.
func claimsOf(r *world.Route) []claim {
	if r.Ingress.Value == nil {
		return nil
	}
	var out []claim
	for _, key := range sortedKeys(r.Ingress.Value.Annotations) {
		c, ok := claimed(key)
		if ok && !slices.ContainsFunc(out, func(x claim) bool { return x.maker == c.maker && x.foreign.name == c.foreign.name }) {
			out = append(out, c)
		}
	}
	return out
}

// claimed says whose annotation it is, if only one controller's.
func claimed(key string) (claim, bool) {
	for _, p := range ownPrefixes() {
		if strings.HasPrefix(key, p.prefix) {
			return claim{maker: p.maker, key: key}, true
		}
	}
	for _, p := range foreignProxies() {
		if slices.ContainsFunc(p.annotations, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return claim{maker: makerOther, foreign: p, key: key}, true
		}
	}
	return claim{}, false
}

// claimOf is the annotation by which an Ingress is a controller's, where neither a controller nor the name of its class says whose it is. ok is
// false where nothing, or more than one controller's annotations, are there.
func claimOf(r *world.Route) (c claim, ok bool) {
	if r.Controller != "" || classMaker(r.Class) != makerOther {
		return claim{}, false
	}
	if _, known := foreignClass(r.Class); known {
		return claim{}, false
	}
	all := claimsOf(r)
	if len(all) != 1 {
		return claim{}, false
	}
	return all[0], true
}

// said is what says of an annotation whose Ingress it is, with its place.
func (c *claim) said(r *world.Route) string {
	return "annotation " + c.key + ", " + where(r.Object, annotationPath(c.key))
}

// contradiction names annotations of several controllers, "" where there are none, or something else says whose the Ingress is.
func contradiction(r *world.Route) string {
	all := claimsOf(r)
	_, foreign := foreignClass(r.Class)
	if len(all) < 2 || r.Controller != "" || foreign || classMaker(r.Class) != makerOther {
		return ""
	}
	var words []string
	for i := range all {
		words = append(words, fmt.Sprintf("%s, %s", all[i].key, where(r.Object, annotationPath(all[i].key))))
	}
	return Contradicts + strings.Join(words, "; ")
}

// claimedFamilies are the load balancers of the controllers whose annotations an Ingress has, nil where one of them is not simulated: then it might
// be any.
func claimedFamilies(r *world.Route) []string {
	var out []string
	for _, c := range claimsOf(r) {
		f := balancerFound{name: "ingress-nginx"}
		switch c.maker {
		case makerNginx:
		case makerAWS:
			findRouteALB(r, &f)
		case makerGKE:
			findRouteGKE(r, &f)
		default:
			return nil
		}
		out = append(out, f.name)
	}
	return out
}

// Contradicts begins what is said of annotations of several controllers.
const Contradicts = "annotations of several controllers: "

// classMaker goes by the usual name of a class of Ingresses.
func classMaker(class string) maker {
	switch class {
	case "alb":
		return makerAWS
	case "gce", "gce-internal":
		return makerGKE
	case "nginx":
		return makerNginx
	default:
		return makerOther
	}
}

// nginxBypass says why ingress-nginx sends an Ingress's requests to the Service, and not to pods; "" where it does not.
func nginxBypass(r *world.Route) string {
	if passesTLS(r) { // internal/ingress/controller/nginx.go OnUpdate and pkg/tcpproxy, main; verified
		return fmt.Sprintf("ingress-nginx passes TLS connections on to the Service (annotation ssl-passthrough, %s, with its flag --enable-ssl-passthrough) and repeats nothing, and its own hop is left out",
			where(r.Object, annotationPath(nginxPrefix+"ssl-passthrough")))
	}
	if v, _ := routeAnnotation(r, nginxPrefix+"service-upstream"); v == "true" {
		return "ingress-nginx sends to the Service (annotation service-upstream), and its own connections and retries are left out"
	}
	return ""
}
