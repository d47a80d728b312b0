package scenario

import (
	"strings"
	"testing"
)

// ruledRoute is an HTTPRoute or GRPCRoute r of namespace shop with a line of its rules.
func ruledRoute(kind, rules string) string {
	return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: r, namespace: shop}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n" + rules
}

// A Service whose routes send no request that anybody waits for is not judged from outside, and is no user's; with any other way in it is.
// Reference: docs/model/load-balancers.md 5.1 Canary of weight 0, 5.2 Weight 0, 5.2 Mirrors.
func TestNobodyWaitsForAnswers(t *testing.T) {
	t.Parallel()
	const (
		canary = nginxPrefix + "canary: 'true'"
		other  = "    - {name: other, port: 80}\n"
		zero   = "    - {name: web, port: 80, weight: 0}\n"
		copies = "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: web, port: 80}}}]"
	)
	ingress := func(annotations, class string) string {
		return anIngress(annotations, "ingressClassName: "+class)
	}
	const weight0 = ": its weight in HTTPRoute shop/r (in.yaml:32) is 0, so that no request comes that way now; with more than 0 it is judged"
	for name, c := range map[string]struct{ spec, more, traffic, reason string }{ // order: each for itself
		"weight 0":                      {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+other+zero), "outside, through an HTTPRoute :80", weight0},
		"weight 0, of a GRPCRoute":      {"", ruledRoute("GRPCRoute", "  - backendRefs:\n"+other+zero), "gRPC, through a GRPCRoute :80", strings.Replace(weight0, "HTTP", "GRPC", 1)},
		"weight 0, of one rule of two":  {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+zero+"  - backendRefs:\n    - {name: web, port: 80}\n"), "outside, through an HTTPRoute :80", ""},
		"weight 0, twice":               {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+other+zero+"  - backendRefs:\n"+zero), "outside, through an HTTPRoute :80", weight0},
		"weight 0, and an Ingress":      {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+zero) + ingress("", "nginx"), "outside, through an Ingress :80", ""},
		"weight 0, and a load balancer": {"type: LoadBalancer", ruledRoute("HTTPRoute", "  - backendRefs:\n"+zero), "outside :80", ""},
		"weight 0 of another port":      {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+strings.Replace(zero, "80", "81", 1)), "inside :80", ""},
		"weight 0 in another namespace": {"", ruledRoute("HTTPRoute", "  - backendRefs:\n    - {name: web, namespace: dev, port: 80, weight: 0}\n"), "inside :80", ""},
		"weight 1":                      {"", ruledRoute("HTTPRoute", "  - backendRefs:\n"+strings.Replace(zero, "weight: 0", "weight: 1", 1)), "outside, through an HTTPRoute :80", ""},
		"copies": {"", ruledRoute("HTTPRoute", "  - "+copies+"\n    backendRefs:\n"+other), "outside, through an HTTPRoute :80",
			": HTTPRoute shop/r (in.yaml:30) sends it copies of requests (RequestMirror), and what is lost of those no client notices"},
		"copies for one backend": {"", ruledRoute("HTTPRoute", "  - backendRefs:\n    - name: other\n      port: 80\n      "+copies+"\n"), "outside, through an HTTPRoute :80",
			": HTTPRoute shop/r (in.yaml:33) sends it copies of requests (RequestMirror), and what is lost of those no client notices"},
		"copies, and requests of another rule": {"", ruledRoute("HTTPRoute", "  - "+copies+"\n    backendRefs:\n"+other+"  - backendRefs:\n    - {name: web, port: 80}\n"), "outside, through an HTTPRoute :80", ""},
		"copies, and a load balancer":          {"type: LoadBalancer", ruledRoute("HTTPRoute", "  - "+copies+"\n"), "outside :80", ""},
		"copies for another port":              {"", ruledRoute("HTTPRoute", "  - "+strings.Replace(copies, "80", "81", 1)+"\n"), "inside :80", ""},
		"a canary of weight 0": {"", ingress(canary+", "+nginxPrefix+"canary-weight: '0'", "nginx"), "outside, through an Ingress :80",
			": canary-weight of Ingress shop/i (in.yaml:26) is 0, so that no request comes that way now; with more than 0 it is judged"},
		"a canary of which nobody says a weight": {"", ingress(canary, "nginx"), "outside, through an Ingress :80",
			": canary-weight of Ingress shop/i (in.yaml:26) is 0, so that no request comes that way now; with more than 0 it is judged"},
		"a canary that a header chooses":   {"", ingress(canary+", "+nginxPrefix+"canary-by-header: x", "nginx"), "outside, through an Ingress :80", ""},
		"a canary of a part":               {"", ingress(canary+", "+nginxPrefix+"canary-weight: '1'", "nginx"), "outside, through an Ingress :80", ""},
		"what only ingress-nginx would be": {"", ingress(canary, "traefik"), "outside, through an Ingress :80", ""},
	} {
		cases, problems := casesIn(t, routedWeb(c.spec, "", c.more), Options{Actions: []string{"rollout"}})
		if len(cases) != 1 {
			t.Fatalf("%s: %d cases, %v", name, len(cases), problems)
		}
		reason := c.reason
		if reason != "" {
			reason = Parked + "web" + reason
		}
		got := &cases[0]
		if got.Reason != reason || got.Traffic != c.traffic {
			t.Errorf("%s: %q: %q, want %q: %q", name, got.Traffic, got.Reason, c.traffic, reason)
		}
		if parked := reason != ""; parked != (got.Scenario == nil) || parked != (got.Verdict == NotJudged) || parked == got.Headline || parked != (got.Users == UsersNone) {
			t.Errorf("%s: scenario %t, verdict %q, headline %t, users %d", name, got.Scenario != nil, got.Verdict, got.Headline, got.Users)
		}
	}
}
