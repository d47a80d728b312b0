package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// aPolicy is a BackendTrafficPolicy of namespace shop with lines of its spec, and a word for the end of its name.
func aPolicy(name, spec string) string {
	return "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: " + name + ", namespace: shop}\nspec:\n  " + strings.ReplaceAll(spec, "\n", "\n  ") + "\n"
}

// Envoy Gateway asks other pods as its policies and the rules of a route say, and the page says by which of them. Reference:
// docs/model/load-balancers.md 5.2 Retries.
func TestRetriesOfEnvoyGateway(t *testing.T) {
	t.Parallel()
	const (
		ofRoute   = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]\n"
		ofGateway = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]\n"
		five      = "retry: {numRetries: 5, retryOn: {triggers: [reset]}}"
		rule      = "  - backendRefs: [{name: web, port: 80}]\n"
		retried   = "  - retry: {attempts: 3, codes: [503]}\n    backendRefs: [{name: web, port: 80}]\n"
		none      = "0 connect"
		byPolicy  = " by spec.retry of BackendTrafficPolicy shop/p, web.yaml:42"
	)
	on := func(triggers string) string {
		return aPolicy("p", ofRoute+"retry: {numRetries: 3, retryOn: {triggers: ["+triggers+"]}}")
	}
	for name, c := range map[string]struct{ rules, more, want string }{ // order: each for itself
		"no policy":                          {rule, "", none},
		"connections":                        {rule, on("connect-failure"), "3 connect" + byPolicy},
		"... and more":                       {rule, on("retriable-status-codes, connect-failure, cancelled"), "3 connect" + byPolicy},
		"resets":                             {rule, on("reset"), "3 reset" + byPolicy},
		"errors":                             {rule, on("connect-failure, 5xx"), "3 reset" + byPolicy},
		"errors of gateways":                 {rule, on("gateway-error"), "3 reset" + byPolicy},
		"answers alone":                      {rule, on("retriable-status-codes, retriable-4xx"), "0 connect, no retry of a failed connection" + byPolicy},
		"no triggers":                        {rule, aPolicy("p", ofRoute+"retry: {}"), "2 connect" + byPolicy},
		"status codes without triggers":      {rule, aPolicy("p", ofRoute+"retry: {numRetries: 1, retryOn: {httpStatusCodes: [503]}}"), "1 connect" + byPolicy},
		"none":                               {rule, aPolicy("p", ofRoute+"retry: {numRetries: 0}"), "0 connect, no retry of a failed connection" + byPolicy},
		"very many":                          {rule, aPolicy("p", ofRoute+"retry: {numRetries: 1000}"), "100 connect" + byPolicy},
		"a policy without a retry":           {rule, aPolicy("p", ofRoute+"timeout: {http: {requestTimeout: 1s}}"), none},
		"an older reference":                 {rule, aPolicy("p", "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}\n"+five), "5 reset" + byPolicy},
		"of another route":                   {rule, aPolicy("p", strings.Replace(ofRoute, "name: r", "name: x", 1)+five), none},
		"of another kind":                    {rule, aPolicy("p", strings.Replace(ofRoute, "HTTPRoute", "GRPCRoute", 1)+five), none},
		"of another namespace":               {rule, strings.Replace(aPolicy("p", ofRoute+five), "namespace: shop", "namespace: dev", 1), none},
		"of another maker":                   {rule, strings.Replace(aPolicy("p", ofRoute+five), "gateway.envoyproxy.io", "example.com", 1), none},
		"of the Gateway":                     {rule, aPolicy("p", ofGateway+five), "5 reset" + byPolicy},
		"of another Gateway":                 {rule, aPolicy("p", strings.Replace(ofGateway, "gw", "x", 1)+five), none},
		"of a listener":                      {rule, aPolicy("p", strings.Replace(ofGateway, "name: gw", "name: gw, sectionName: http", 1)+five), none},
		"the route's goes before":            {rule, aPolicy("a", ofGateway+five) + strings.Replace(on("reset"), "numRetries: 3", "numRetries: 4", 1), "4 reset by spec.retry of BackendTrafficPolicy shop/p, web.yaml:49"},
		"... also without a retry":           {rule, aPolicy("a", ofGateway+five) + aPolicy("p", ofRoute+"timeout: {}"), none},
		"... unless it is merged":            {rule, aPolicy("p", ofGateway+five) + aPolicy("q", ofRoute+"mergeType: StrategicMerge"), "5 reset" + byPolicy},
		"the rule's goes before":             {"  - name: x\n    backendRefs: [{name: web, port: 80}]\n", aPolicy("a", ofRoute+five) + aPolicy("p", strings.Replace(ofRoute, "name: r", "name: r, sectionName: x", 1)+"retry: {numRetries: 1}"), "1 connect by spec.retry of BackendTrafficPolicy shop/p, web.yaml:50"},
		"of another rule":                    {"  - name: x\n    backendRefs: [{name: web, port: 80}]\n", aPolicy("p", strings.Replace(ofRoute, "name: r", "name: r, sectionName: z", 1)+five), none},
		"by labels":                          {rule, aPolicy("p", "targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: web}}]\n"+five), "5 reset" + byPolicy},
		"by other labels":                    {rule, aPolicy("p", "targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: db}}]\n"+five), none},
		"by labels and what is not read":     {rule, aPolicy("p", "targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: web}, matchExpressions: [{key: a, operator: Exists}]}]\n"+five), none},
		"of the rule itself":                 {retried, "", "3 connect by spec.rules[0].retry of HTTPRoute shop/r, web.yaml:30"},
		"of the rule itself, before all":     {retried, aPolicy("p", ofRoute+five), "3 connect by spec.rules[0].retry of HTTPRoute shop/r, web.yaml:30"},
		"of the rule itself, no number":      {strings.Replace(retried, "attempts: 3, ", "", 1), "", "2 connect by spec.rules[0].retry of HTTPRoute shop/r, web.yaml:30"},
		"of the rule of another Service":     {rule + strings.Replace(retried, "name: web", "name: api", 1), "", none},
		"of two rules the least":             {retried + strings.Replace(retried, "attempts: 3", "attempts: 1", 1), "", "1 connect by spec.rules[1].retry of HTTPRoute shop/r, web.yaml:32"},
		"of one rule of two":                 {rule + retried, "", "0 connect; spec.rules[1].retry of HTTPRoute shop/r, web.yaml:31 is not followed: who heeds it asks another pod when one fails; loadBalancer.retries=3 tries it"},
		"... and the policy for the other":   {rule + retried, aPolicy("p", ofRoute+five), "3 connect by spec.rules[1].retry of HTTPRoute shop/r, web.yaml:31"},
		"a limit of each try":                {rule, aPolicy("p", ofRoute+"retry: {perRetry: {timeout: 1s}}"), "2 connect" + byPolicy + "; perRetry.timeout of spec.retry of BackendTrafficPolicy shop/p, web.yaml:42: each try has as long as the client waits"},
		"what follows at once after a retry": {rule, aPolicy("p", ofRoute+"retry: {perRetry: {backOff: {baseInterval: 1s}}}"), "2 connect" + byPolicy},
	} {
		text := routedWeb("", "", "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop, labels: {tier: web}}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n"+c.rules+aGateway("gw", "eg")+c.more)
		s := inferOne(t, text, Options{}).Scenario
		for i := range s.Traffic {
			l := s.Traffic[i].LB.Layer7
			got := fmt.Sprintf("%d %s", l.Retries, map[world.RetryOn]string{world.RetryConnect: "connect", world.RetryReset: "reset"}[l.RetryOn])
			_, why := assumptionOf(s, "ingress")
			if _, by, said := strings.Cut(strings.TrimSuffix(why, ")"), "; "); said {
				got += strings.TrimPrefix(", "+by, fmt.Sprintf(", %s", plural(l.Retries)))
			}
			for _, n := range s.NotModelled {
				if n.ID == world.Unfollowed || n.ID == "per-retry" {
					got += "; " + n.What
				}
			}
			if got != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
			}
		}
	}
}

// Of a proxy of which nobody knows here whether it heeds a retry the page says that it is not followed, what that does and how to try it: once, and not
// where the user says how often the proxy asks again. Reference: docs/model/load-balancers.md 5.2 Retries.
func TestRetriesThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	const (
		retried = "  - retry: {attempts: 3, codes: [503]}\n    backendRefs: [{name: web, port: 80}]\n"
		rule    = "  - backendRefs: [{name: web, port: 80}]\n"
		said    = ", web.yaml:30 is not followed: who heeds it asks another pod when one fails; loadBalancer.retries="
		own     = "spec.rules[0].retry of HTTPRoute shop/r" + said + "3 tries it"
	)
	policy := aPolicy("p", "targetRefs: [{kind: HTTPRoute, name: r}]\nretry: {numRetries: 4}")
	for name, c := range map[string]struct {
		rules, class, more string
		opts               Options
		preset, want       string
		retries            int
	}{ // order: each for itself
		"a class nobody knows":        {retried, "cilium", "", Options{}, anyProxy, own, 0},
		"a policy of another maker's": {rule, "cilium", policy, Options{}, anyProxy, "spec.retry of BackendTrafficPolicy shop/p" + strings.Replace(said, ":30", ":42", 1) + "4 tries it", 0},
		"a proxy that is said":        {retried, "eg", "", Options{LB: anyProxy}, anyProxy, own, 0},
		"Google's":                    {retried, "gke-l7-global-external-managed", "", Options{}, "gke-l7-neg", own, 0},
		"a number that is said":       {retried, "cilium", "", Options{LB: anyProxy, Set: []string{"loadBalancer.retries=1"}}, anyProxy, "", 1},
		"no retry of the rule":        {strings.Replace(retried, "attempts: 3", "attempts: 0", 1), "cilium", "", Options{}, anyProxy, "", 0},
		"of answers alone":            {rule, "cilium", strings.Replace(policy, "numRetries: 4", "retryOn: {triggers: [retriable-4xx]}", 1), Options{}, anyProxy, "", 0},
		"none":                        {rule, "cilium", "", Options{}, anyProxy, "", 0},
		"Envoy Gateway, by its name":  {retried, "cilium", "", Options{LB: "envoy-gateway"}, "envoy-gateway", "", 3},
		"what the user says counts":   {retried, "eg", "", Options{LB: "envoy-gateway", Set: []string{"loadBalancer.retries=1"}}, "envoy-gateway", "", 1},
	} {
		text := routedWeb("", "", "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop, labels: {tier: web}}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n"+c.rules+aGateway("gw", c.class)+c.more)
		s := inferOne(t, text, c.opts).Scenario
		var got []string
		for _, n := range s.NotModelled {
			if n.ID == world.Unfollowed {
				got = append(got, n.What)
				if n.Direction != "fewer" {
					t.Errorf("%s: %s", name, n.Direction)
				}
			}
		}
		lb := s.Traffic[0].LB
		if strings.Join(got, "|") != c.want || lb.Preset != c.preset || lb.Layer7.Retries+lb.Layer7.GETs != c.retries && lb.Preset != "gke-l7-neg" {
			t.Errorf("%s: %s, %d retries: %q, want %q", name, lb.Preset, lb.Layer7.Retries, got, c.want)
		}
	}
}

// A policy that only Envoy Gateway reads says that a Gateway is its, where its class says no other one's.
func TestAPolicyOfEnvoyGatewaySaysWhoseItIs(t *testing.T) {
	t.Parallel()
	policy := aPolicy("p", "targetRefs: [{kind: HTTPRoute, name: r}]\nretry: {}")
	const by = "; 2 retries by spec.retry of BackendTrafficPolicy shop/p, web.yaml:"
	for name, c := range map[string]struct{ more, preset, why string }{ // order: each for itself
		"a class of any name": {aGateway("gw", "public") + policy, envoyGateway, "envoy-gateway (gatewayClassName public" + by + "41)"},
		"no Gateway":          {policy, envoyGateway, "envoy-gateway (a BackendTrafficPolicy is its own" + by + "36)"},
		"another's class":     {aGateway("gw", "istio") + policy, anyProxy, "l7-generic (gatewayClassName istio)"},
		"a retry of the rule": {aGateway("gw", "public"), anyProxy, "l7-generic (gatewayClassName public)"},
	} {
		route := aRoute("HTTPRoute", "r", "gw")
		if strings.HasPrefix(name, "a retry") {
			route = strings.Replace(route, "[{backendRefs", "[{retry: {}, backendRefs", 1)
		}
		s := inferOne(t, routedWeb("", "", route+c.more), Options{}).Scenario
		_, why := assumptionOf(s, "ingress")
		if got := s.Traffic[0].LB.Preset; got != c.preset || why != c.why {
			t.Errorf("%s: %s, %s; want %s, %s", name, got, why, c.preset, c.why)
		}
	}
}

// Of one route through two Gateways, of which a policy is of one, each is a case of its own.
func TestARetryOfOneGatewayOfTwo(t *testing.T) {
	t.Parallel()
	policy := aPolicy("p", "targetRefs: [{kind: Gateway, name: b}]\nretry: {numRetries: 4}")
	class := func(name string) string {
		return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: " + name + "}\nspec: {controllerName: gateway.envoyproxy.io/" + name + "}\n"
	}
	cases, problems := casesIn(t, routedWeb("", "", aRoute("HTTPRoute", "r", "a", "b")+aGateway("a", "one")+aGateway("b", "two")+class("one")+class("two")+policy), Options{Actions: []string{"rollout"}})
	if len(problems) > 0 || len(cases) != 2 {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	for i, want := range []int{0, 4} {
		if got := cases[i].Scenario.Traffic[0].LB.Layer7.Retries; got != want {
			t.Errorf("%s: %d retries, want %d", cases[i].Traffic, got, want)
		}
	}
}

func plural(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}
