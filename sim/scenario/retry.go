package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What objects of the input say of requests that a gateway sends to another pod when one fails: rules[].retry of an HTTPRoute, and Envoy Gateway's
// BackendTrafficPolicies (docs/model/load-balancers.md 5.2 Retries).

const (
	envoyGateway      = "envoy-gateway"
	kindTrafficPolicy = "BackendTrafficPolicy"
)

// retryDefault is how often Envoy Gateway asks again where a retry does not say it.
const retryDefault = 2

// retryOf is the retry of the rules of an HTTPRoute or GRPCRoute that lead to a Service port, through a Gateway of the input or, nil, one that is not
// there: of several rules the one that asks least often counts, and where one has none it is none. any is one of those that are there then.
func (w *inventory) retryOf(o, gateway *manifest.Object, refs []backendRef) (retry, anyOf *world.Retry) {
	every := true
	for i, rule := range rawList(o.Value, "spec", "rules") {
		if !slices.ContainsFunc(refs, func(r backendRef) bool { return r.rule == i }) {
			continue
		}
		own := ruleRetry(o, rule, i)
		if own == nil {
			own = w.policyRetry(o, gateway, rawText(rule, "name"))
		}
		if own == nil {
			every = false
			continue
		}
		if retry == nil || own.Times < retry.Times {
			retry = own
		}
	}
	if !every {
		return nil, retry
	}
	return retry, retry
}

// ruleRetry is that of a rule. Who heeds it asks again also when a connection fails: the Gateway API says that implementations should.
func ruleRetry(o *manifest.Object, rule any, index int) *world.Retry {
	said, ok := rawAt(rule, "retry").(map[string]any)
	if !ok {
		return nil
	}
	return &world.Retry{Object: o, Path: fmt.Sprintf("spec.rules[%d].retry", index), Times: times(said["attempts"]), Connect: true}
}

// times is a number of retries.
func times(v any) int {
	n, ok := v.(int64)
	if !ok {
		return retryDefault
	}
	return int(min(max(n, 0), maxRetries))
}

// policyRetry is that of the BackendTrafficPolicy that counts for a rule of a route: one of the rule goes before one of the route, and that before one
// of the Gateway, which counts where the others are merged into it, or there are none.
func (w *inventory) policyRetry(route, gateway *manifest.Object, rule string) *world.Retry {
	targets := []policyTarget{{route, rule}, {route, ""}}
	if rule == "" {
		targets = targets[1:]
	}
	if gateway != nil {
		targets = append(targets, policyTarget{gateway, ""})
	}
	for _, t := range targets {
		i := slices.IndexFunc(w.trafficPolicies, t.isOf)
		if i < 0 {
			continue
		}
		p := w.trafficPolicies[i]
		if said, ok := rawAt(p.Value, "spec", "retry").(map[string]any); ok {
			connect, reset := retriesOn(rawList(said, "retryOn", "triggers"))
			return &world.Retry{Object: p, Path: "spec.retry", Times: times(said["numRetries"]), Connect: connect, Reset: reset, Limited: rawAt(said, "perRetry", "timeout") != nil}
		}
		if rawText(p.Value, "spec", "mergeType") == "" {
			return nil
		}
	}
	return nil
}

// policyTarget is what a policy may be of: an object, or a section of it.
type policyTarget struct {
	object  *manifest.Object
	section string
}

// isOf says whether a policy names a target: by a reference, of which older ones have but one, or by its labels.
func (t *policyTarget) isOf(p *manifest.Object) bool {
	if p.Namespace != t.object.Namespace {
		return false
	}
	refs := rawList(p.Value, "spec", "targetRefs")
	if one := rawAt(p.Value, "spec", "targetRef"); one != nil {
		refs = append(slices.Clone(refs), one)
	}
	if slices.ContainsFunc(refs, func(ref any) bool {
		return rawText(ref, "kind") == t.object.Kind && rawText(ref, "name") == t.object.Name && rawText(ref, "sectionName") == t.section
	}) {
		return true
	}
	return t.section == "" && slices.ContainsFunc(rawList(p.Value, "spec", "targetSelectors"), func(s any) bool {
		want, ok := rawAt(s, "matchLabels").(map[string]any)
		return ok && rawText(s, "kind") == t.object.Kind && rawAt(s, "matchExpressions") == nil && !slices.ContainsFunc(sortedKeys(want), func(key string) bool {
			return want[key] != rawAt(t.object.Value, "metadata", "labels", key)
		})
	})
}

// retriesOn says which failures the triggers of Envoy Gateway are about: connections that do not come about, and such that are reset. Without any they
// are connect-failure and others that are about answers alone.
func retriesOn(triggers []any) (connect, reset bool) {
	if len(triggers) == 0 {
		return true, false
	}
	for _, t := range triggers {
		switch t {
		case "5xx", "gateway-error", "reset":
			connect, reset = true, true
		case "connect-failure":
			connect = true
		}
	}
	return connect, reset
}

// retryAs has Envoy Gateway's proxy ask again as a retry says.
func retryAs(lb *world.LoadBalancer, r *world.Retry) {
	if lb.Preset != envoyGateway || r == nil {
		return
	}
	l := lb.Layer7
	l.Retries, l.RetryOn, l.RetriesSaid = r.Times, world.RetryConnect, true
	if r.Reset {
		l.RetryOn = world.RetryReset
	}
	if !r.Connect {
		l.Retries = 0
	}
}

// hasTrafficPolicy says that a BackendTrafficPolicy of Envoy Gateway has a route's requests asked again, where its class is not known to be another one's.
func hasTrafficPolicy(r *world.Route) bool {
	_, foreign := foreignClass(r.Class)
	return r.SomeRetry != nil && r.SomeRetry.Object.Kind == kindTrafficPolicy && !foreign
}

// retryWords say of a retry whose it is: "spec.retry of BackendTrafficPolicy shop/web, web.yaml:3".
func retryWords(r *world.Retry) string {
	return fmt.Sprintf("%s of %s, %s", r.Path, r.Object, where(r.Object, r.Path))
}

// retriesBy says how often Envoy Gateway asks again, and by what: "; 3 retries by ...", and nothing where nothing says it.
func retriesBy(r *world.Retry) string {
	switch {
	case r == nil:
		return ""
	case r.Times == 0 || !r.Connect:
		return "; no retry of a failed connection by " + retryWords(r)
	case r.Times == 1:
		return "; 1 retry by " + retryWords(r)
	default:
		return fmt.Sprintf("; %d retries by %s", r.Times, retryWords(r))
	}
}

// retriesLeftOut names a retry of the input that a stream's proxy is not simulated with.
func (b *builder) retriesLeftOut(t *world.Traffic) {
	if t.Route == nil || t.Bypass != "" {
		return
	}
	r, p := cmp.Or(t.Route.Retry, t.Route.SomeRetry), t.ProxyAfter()
	switch {
	case r == nil || p == nil:
	case t.Route.Retry != nil && t.LB != nil && t.LB.Preset == envoyGateway:
		if r.Limited {
			b.once("per-retry", "perRetry.timeout of "+retryWords(r)+": each try has as long as the client waits", r.Object.String(), "unknown")
		}
	case !p.RetriesSaid && r.Times > 0 && r.Connect:
		b.once(world.Unfollowed, fmt.Sprintf("%s is not followed: who heeds it asks another pod when one fails; %s tries it",
			retryWords(r), b.opts.Wording.Field("loadBalancer.retries", fmt.Sprint(r.Times))), r.Object.String(), "fewer")
	}
}

// once is notModelled of what is said once for all streams.
func (b *builder) once(id, what, object, direction string) {
	n := world.NotModelled{ID: id, What: what, Object: object, Direction: direction}
	if !slices.Contains(b.out.NotModelled, n) {
		b.out.NotModelled = append(b.out.NotModelled, n)
	}
}
