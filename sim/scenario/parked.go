package scenario

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Routes by which no request comes whose answer anybody waits for: the parked colour of a blue-green pair, a canary that has not begun, and a Service
// that gets copies alone. What its pods lose then nobody notices.

// Parked begins the reason of a case that is not judged since all routes to its Service are of that kind.
const Parked = "nobody waits for an answer of Service "

// parked says why nobody asks the port of an entry from outside, "" where somebody does. Who asks the Service and not its route is judged in no case.
func (b *builder) parked(e *entry) string {
	if e.class != ClassOutside && e.class != ClassH2 {
		return ""
	}
	if r := b.world.routeOf(&e.subject); r != nil {
		return r.Parked
	}
	return ""
}

// parkedCanary says that ingress-nginx sends a canary nothing: its weight is 0, as it is where nobody says it, and no header or cookie chooses it
// (docs/model/load-balancers.md 5.1 Canary).
func parkedCanary(r *world.Route) string {
	if !isCanary(r.Ingress.Value) || madeBy(r) != makerNginx || canaryPart(r) != noCanary {
		return ""
	}
	return fmt.Sprintf("%s%s: canary-weight of %s (%s) is 0, so that no request comes that way now; with more than 0 it is judged",
		Parked, r.Service.Name, r.Object, where(r.Object, annotationPath(nginxPrefix+"canary-weight")))
}

// backendRef is what names a Service port in an HTTPRoute or GRPCRoute, which is kept raw.
type backendRef struct {
	value any
	path  string
	rule  int
}

// parkedRoute says that the refs of an HTTPRoute or GRPCRoute to a Service port are all of weight 0, or that there are none and it gets copies of
// requests alone (docs/model/load-balancers.md 5.2 Weight 0).
func parkedRoute(o *manifest.Object, s *subject, refs, mirrors []backendRef) string {
	for _, ref := range refs {
		if weight, ok := rawAt(ref.value, "weight").(int64); !ok || weight != 0 {
			return ""
		}
	}
	if len(refs) == 0 {
		return fmt.Sprintf("%s%s: %s (%s) sends it copies of requests (RequestMirror), and what is lost of those no client notices",
			Parked, s.service.Name, o, where(o, mirrors[0].path))
	}
	return fmt.Sprintf("%s%s: its weight in %s (%s) is 0, so that no request comes that way now; with more than 0 it is judged",
		Parked, s.service.Name, o, where(o, refs[0].path+".weight"))
}

// refsOf are the backends of an HTTPRoute or GRPCRoute that are a Service port, and those of them to which it sends copies.
func refsOf(o *manifest.Object, s *subject) (refs, mirrors []backendRef) {
	mirrored := func(v any, at string) {
		for i, f := range rawList(v, "filters") {
			if ref := rawAt(f, "requestMirror", "backendRef"); ref != nil && refersTo(o, ref, s) {
				mirrors = append(mirrors, backendRef{value: ref, path: fmt.Sprintf("%s.filters[%d]", at, i)})
			}
		}
	}
	for i, rule := range rawList(o.Value, "spec", "rules") {
		at := fmt.Sprintf("spec.rules[%d]", i)
		mirrored(rule, at)
		for k, ref := range rawList(rule, "backendRefs") {
			at := fmt.Sprintf("%s.backendRefs[%d]", at, k)
			mirrored(ref, at)
			if refersTo(o, ref, s) {
				refs = append(refs, backendRef{ref, at, i})
			}
		}
	}
	return refs, mirrors
}

// refersTo says whether a reference to a backend is one to a Service port: without a namespace it is in that of the route, and without a port it is
// to any.
func refersTo(o *manifest.Object, ref any, s *subject) bool {
	namespace, ok := rawAt(ref, "namespace").(string)
	if !ok {
		namespace = o.Namespace
	}
	port, hasPort := rawAt(ref, "port").(int64)
	return rawText(ref, "name") == s.service.Name && namespace == s.service.Namespace && (!hasPort || port == int64(s.port.Port))
}
