package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A Service port may have several entrances: its own load balancer, and what Ingresses and HTTPRoutes lead through. One Ingress for those
// inside and one for the rest of the world is common. What pods lose behind one says nothing of another, so each kind is a case of its own.

// entrance is one way for requests to a Service port that has several.
type entrance struct {
	route *world.Route // nil: the Service's own load balancer
	kind  string       // the same for entrances of which every request would fare the same
}

// mostEntrances is how many kinds a port has cases for: each is simulated and mended for itself.
const mostEntrances = 4

// words name an entrance beside others: "Ingress public".
func (n *entrance) words() string {
	switch {
	case n.route == nil:
		return "the Service's load balancer"
	case n.route.Gateway != "":
		return n.route.Object.Kind + " " + n.route.Object.Name + " of Gateway " + n.route.Gateway
	default:
		return n.route.Object.Kind + " " + n.route.Object.Name
	}
}

// id is words for the ID of a case.
func (n *entrance) id() string {
	if n.route == nil {
		return "lb"
	}
	parts := []string{strings.ToLower(n.route.Object.Kind), n.route.Object.Name, n.route.Gateway}
	return strings.TrimSuffix(strings.Join(parts, "-"), "-")
}

// routesOf are all that lead to a Service port, in an order that is not that of the documents: Ingresses go before HTTPRoutes, and those before
// bindings of target groups. Canaries count where no other Ingress leads there, and what sends no request whose answer anybody waits for where
// nothing else leads there, not even a load balancer of the Service's own.
func (w *inventory) routesOf(s *subject) []*world.Route {
	out := w.allRoutesOf(s)
	live := slices.DeleteFunc(slices.Clone(out), func(r *world.Route) bool { return r.Parked != "" })
	switch {
	case len(live) > 0 || len(out) == 0:
		return live
	case s.service.Value.Spec.Type == corev1.ServiceTypeLoadBalancer:
		return nil
	default:
		return out[:1]
	}
}

func (w *inventory) allRoutesOf(s *subject) []*world.Route {
	var out []*world.Route
	plain := slices.ContainsFunc(w.ingresses, func(i manifest.Typed[*networkingv1.Ingress]) bool { return leadsTo(i, s) && !isCanary(i.Value) })
	for _, i := range w.ingresses {
		if !leadsTo(i, s) || plain && isCanary(i.Value) {
			continue
		}
		r := newRoute(s, i.Object)
		r.Ingress, r.Backend = i, w.backendConfigOf(s)
		w.ingressClass(r)
		r.Main = w.mainOf(s, i)
		r.Parked = parkedCanary(r)
		out = append(out, r)
	}
	for _, o := range w.routes {
		if refs, mirrors := refsOf(o, s); len(refs)+len(mirrors) > 0 {
			parked := parkedRoute(o, s, refs, mirrors)
			for _, r := range w.gatewayRoutes(s, o) {
				r.Parked = parked
				out = append(out, r)
			}
		}
	}
	if o := w.bindingOf(s); o != nil {
		r := newRoute(s, o)
		r.Backend, r.Said = w.backendConfigOf(s), o.Kind+" "+o.Name
		r.Controller = map[string]string{"eks.amazonaws.com": autoModeALB, "elbv2.k8s.aws": albController}[o.Group()]
		out = append(out, r)
	}
	return out
}

// routeOf is by which of them requests come: the first where nothing says another.
func (w *inventory) routeOf(s *subject) *world.Route {
	if s.through != nil {
		return s.through.route
	}
	if all := w.routesOf(s); len(all) > 0 {
		return all[0]
	}
	return nil
}

func newRoute(s *subject, o *manifest.Object) *world.Route {
	return &world.Route{Service: s.service.Value, NodePort: s.port.NodePort != 0, Object: o}
}

// gatewayRoutes is an HTTPRoute once for each class of the Gateways that it names and the input has, and once where there is none.
func (w *inventory) gatewayRoutes(s *subject, o *manifest.Object) []*world.Route {
	var out []*world.Route
	refs, _ := refsOf(o, s)
	made := func(gateway *manifest.Object) *world.Route {
		r := newRoute(s, o)
		r.Retry, r.SomeRetry = w.retryOf(o, gateway, refs)
		r.Backend, r.Health = policyOf(w.backendPolicies, s), policyOf(w.healthPolicies, s)
		return r
	}
	for _, ref := range rawList(o.Value, "spec", "parentRefs") {
		id := cmp.Or(rawText(ref, "namespace"), o.Namespace) + "/" + rawText(ref, "name")
		i := slices.IndexFunc(w.gateways, func(g *manifest.Object) bool { return g.ID() == id })
		if i < 0 {
			continue
		}
		class := rawText(w.gateways[i].Value, "spec", "gatewayClassName")
		if class == "" || slices.ContainsFunc(out, func(r *world.Route) bool { return r.Class == class }) {
			continue
		}
		r := made(w.gateways[i])
		r.Class, r.Said, r.Gateway = class, "gatewayClassName "+class, w.gateways[i].Name
		for _, c := range w.gatewayClasses {
			if c.Name == class {
				r.Controller = rawText(c.Value, "spec", "controllerName")
			}
		}
		out = append(out, r)
	}
	switch len(out) {
	case 0:
		return append(out, made(nil))
	case 1:
		out[0].Gateway = ""
	}
	return out
}

// entrances are those of a Service port, one of each kind; a single one is the port as it is. more are of the kinds beyond those.
func (b *builder) entrances(s *subject) (kinds []subject, more []*world.Route) {
	own := s.service.Value.Spec.Type == corev1.ServiceTypeLoadBalancer
	routes := b.world.routesOf(s)
	if len(routes) == 0 || len(routes) == 1 && !own || !b.branches(s) {
		return []subject{*s}, nil
	}
	var found []*entrance
	if own {
		found = append(found, &entrance{}) // of the same kind as that of a port to which no route leads
	}
	for _, r := range routes {
		kind := b.kindOfRoute(r)
		switch {
		case slices.ContainsFunc(found, func(n *entrance) bool { return n.kind == kind }):
		case len(found) == mostEntrances:
			more = append(more, r)
		default:
			found = append(found, &entrance{route: r, kind: kind})
		}
	}
	if len(found) == 1 {
		return []subject{*s}, nil
	}
	for _, n := range found {
		each := *s
		each.through = n
		kinds = append(kinds, each)
	}
	return kinds, more
}

// kindOf is that of the entrance to a port: "" where there is none, or where it does not matter.
func (b *builder) kindOf(s *subject) string {
	switch r := b.world.routeOf(s); {
	case s.through != nil:
		return s.through.kind
	case r == nil || !b.branches(s):
		return ""
	default:
		return b.kindOfRoute(r)
	}
}

// branches says that a port's clients are simulated by the way by which they come: not those of connections that last, or that are no users,
// and of nobody where the user leaves load balancers out.
func (b *builder) branches(s *subject) bool {
	class := b.world.classify(s)
	return (class == ClassOutside || class == ClassH2) && b.balancerName() != lbNone
}

// kindOfRoute is a text that is the same for routes through which every request fares the same: two Ingresses of one class, say, of which an
// annotation makes no difference.
func (b *builder) kindOfRoute(r *world.Route) string {
	found := b.routeFound(r)
	stands := foreignProxy{}
	if madeBy(r) == makerOther {
		stands, _ = standsFor(r)
	}
	bypass, _, _ := strings.Cut(found.bypass, " (")
	words := []string{fmt.Sprint(r.Object.Kind == kindGRPCRoute), stands.name, gateLabelFor(r.Service, r), found.name, bypass, r.Main}
	for _, name := range append(slices.Clone(found.families), found.name) {
		p, ok := presetFor(name, cmp.Or(r.Service.Spec.ExternalTrafficPolicy, policyCluster))
		if !ok {
			continue
		}
		lb := p.LoadBalancer
		b.world.setByMap(&lb)
		annotate(&lb, r.Service, r)
		likeItsMaker(&lb, r)
		bypass, _, _ := strings.Cut(nginxBypass(r), " (")
		words = append(words, name, map[bool]string{true: bypass}[name == nginxName])
		for _, f := range balancerFields(&lb) {
			words = append(words, f.say(&lb))
		}
	}
	return strings.Join(words, "\n")
}

// waysLeftOut are the routes to the port of an entry that none of its cases is about, one for each object.
func (b *builder) waysLeftOut(e *entry) []*world.Route {
	all := b.world.routesOf(&e.subject)
	s := e.subject
	s.through = nil
	switch {
	case b.branches(&s):
		_, all = b.entrances(&s)
	case b.balancerName() == lbNone:
		return nil
	case len(all) > 0 && e.service.Value.Spec.Type != corev1.ServiceTypeLoadBalancer:
		all = all[1:]
	}
	return slices.CompactFunc(all, func(x, y *world.Route) bool { return x.Object == y.Object })
}
