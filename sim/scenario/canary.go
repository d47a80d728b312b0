package scenario

import (
	"cmp"
	"slices"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// isCanary says whether ingress-nginx takes an Ingress for the canary of others (docs/model/load-balancers.md 5.1 Canary).
func isCanary(i *networkingv1.Ingress) bool {
	return i != nil && i.Annotations[nginxPrefix+"canary"] == "true"
}

// mainOf is the Service of the Ingress that has a host and path of the canary that leads to a port, "" for none.
func (w *inventory) mainOf(s *subject, canary manifest.Typed[*networkingv1.Ingress]) string {
	if !isCanary(canary.Value) {
		return ""
	}
	own, main := backendsOf(canary.Value), ""
	for _, i := range w.ingresses {
		if i.Namespace != canary.Namespace || isCanary(i.Value) {
			continue
		}
		for way, service := range backendsOf(i.Value) { // order: the least counts
			if own[way] == s.service.Name && service != s.service.Name && (main == "" || service < main) {
				main = service
			}
		}
	}
	return main
}

// backendsOf are the Services of an Ingress, by host and path.
func backendsOf(i *networkingv1.Ingress) map[[2]string]string {
	out := map[[2]string]string{}
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, p := range rule.HTTP.Paths {
			if p.Backend.Service != nil {
				out[[2]string{rule.Host, cmp.Or(p.Path, "/")}] = p.Backend.Service.Name
			}
		}
	}
	return out
}

// canaryPart is which requests a canary gets: its weight of canary-weight-total, 100 by default, or what a header or cookie chooses.
func canaryPart(r *world.Route) string {
	number := func(key string) int64 {
		v, _ := routeAnnotation(r, nginxPrefix+key)
		n, _ := strconv.ParseInt(v, 10, 32)
		return max(n, 0)
	}
	chosen := slices.ContainsFunc([]string{"canary-by-header", "canary-by-cookie"}, func(key string) bool {
		v, _ := routeAnnotation(r, nginxPrefix+key)
		return v != ""
	})
	switch n := number("canary-weight"); {
	case n > 0 && chosen:
		return percent(n, cmp.Or(number("canary-weight-total"), 100)) + " of its requests, and those that a header or cookie chooses,"
	case n > 0:
		return percent(n, cmp.Or(number("canary-weight-total"), 100)) + " of its requests"
	case chosen:
		return "those of its requests that a header or cookie chooses"
	default:
		return noCanary
	}
}

// noCanary is the part of a canary that nothing chooses.
const noCanary = "none of its requests (canary-weight 0)"
