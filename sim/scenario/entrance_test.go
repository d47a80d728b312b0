package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// namedIngress is anIngress with a name.
func namedIngress(name, annotations, spec string) string {
	return strings.Replace(anIngress(annotations, spec), "name: i,", "name: "+name+",", 1)
}

// aRoute is an HTTPRoute of some Gateways to the web, and aGateway one of a class.
func aRoute(kind, name string, gateways ...string) string {
	return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop}\nspec:\n" +
		"  parentRefs: [{name: " + strings.Join(gateways, "}, {name: ") + "}]\n  rules: [{backendRefs: [{name: web, port: 80}]}]\n"
}

func aGateway(name, class string) string {
	return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: " + name + ", namespace: shop}\nspec: {gatewayClassName: " + class + "}\n"
}

// entrancesIn are the cases of the web, a line each: the end of the ID, the words, and what requests go through.
func entrancesIn(t *testing.T, text string, opts Options) []string {
	t.Helper()
	opts.Actions = []string{"rollout"}
	cases, problems := casesIn(t, text, opts)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out []string
	for i := range cases {
		c := &cases[i]
		if c.Scenario == nil {
			t.Fatal(c.Reason)
		}
		line := strings.TrimPrefix(c.ID, "shop/web/rollout/") + "; " + c.Traffic + "; " + throughWhat(t, c.Scenario)
		for _, n := range c.Scenario.NotModelled {
			if n.ID == world.UnreadRoute {
				line += "; without " + n.Object
			}
		}
		out = append(out, line)
	}
	return out
}

// Each kind of entrance to a Service port is a case of its own: what is lost behind one says nothing of another. Several of a kind are one case.
func TestEachKindOfEntranceIsACase(t *testing.T) {
	t.Parallel()
	alb := func(name string) string {
		return namedIngress(name, albPrefix+"target-type: ip", "ingressClassName: alb")
	}
	nginx := func(name string) string { return namedIngress(name, "", "ingressClassName: nginx") }
	const behindNginx, behindALB = "; ingress-nginx inferred", "; aws-alb-ip inferred"
	for name, tt := range map[string]struct { // order: each for itself
		spec, more string
		opts       Options
		want       []string
	}{
		"one Ingress":    {"", nginx("a"), Options{}, []string{"web:80; outside, through an Ingress :80" + behindNginx}},
		"two of a class": {"", nginx("b") + nginx("a"), Options{}, []string{"web:80; outside, through an Ingress :80" + behindNginx}},
		"two of a class, with annotations that make no difference": {"", nginx("b") + namedIngress("a", nginxPrefix+"rewrite-target: /", "ingressClassName: nginx"), Options{},
			[]string{"web:80; outside, through an Ingress :80" + behindNginx}},
		"two of a class, of which one repeats nothing": {"", nginx("b") + namedIngress("a", nginxPrefix+"proxy-next-upstream: 'off'", "ingressClassName: nginx"), Options{},
			[]string{"web:80-ingress-a; outside, through Ingress a :80" + behindNginx, "web:80-ingress-b; outside, through Ingress b :80" + behindNginx}},
		"two classes of one controller": {"", nginx("a") + namedIngress("b", "", "ingressClassName: inner") +
			"---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: inner}\nspec: {controller: k8s.io/ingress-nginx}\n", Options{},
			[]string{"web:80; outside, through an Ingress :80" + behindNginx}},
		"one inside, one for the rest of the world": {"", nginx("int") + alb("ext"), Options{},
			[]string{"web:80-ingress-ext; outside, through Ingress ext :80" + behindALB, "web:80-ingress-int; outside, through Ingress int :80" + behindNginx}},
		"the user says which one it is": {"", nginx("int") + alb("ext"), Options{LB: "ingress-nginx"}, []string{"web:80; outside, through an Ingress :80; ingress-nginx"}},
		"the user leaves it out": {"", nginx("int") + alb("ext"), Options{LB: lbNone},
			[]string{"web:80; outside, through an Ingress :80; the ingress or gateway is left out (load balancer none)"}},
		"an HTTPRoute beside an Ingress": {"", aRoute("HTTPRoute", "r", "g") + aGateway("g", "gke-l7-gxlb") + nginx("i"), Options{},
			[]string{"web:80-ingress-i; outside, through Ingress i :80" + behindNginx, "web:80-httproute-r; outside, through HTTPRoute r :80; gke-l7-neg inferred"}},
		"one HTTPRoute with two Gateways": {"", aRoute("HTTPRoute", "r", "inner", "outer") + aGateway("outer", "gke-l7-gxlb") + aGateway("inner", "eg"), Options{}, []string{
			"web:80-httproute-r-inner; outside, through HTTPRoute r of Gateway inner :80; envoy-gateway inferred",
			"web:80-httproute-r-outer; outside, through HTTPRoute r of Gateway outer :80; gke-l7-neg inferred"}},
		"one HTTPRoute with two Gateways of a class": {"", aRoute("HTTPRoute", "r", "inner", "outer") + aGateway("outer", "eg") + aGateway("inner", "eg"), Options{},
			[]string{"web:80; outside, through an HTTPRoute :80; envoy-gateway inferred"}},
		"an HTTPRoute and a GRPCRoute": {"", aRoute("GRPCRoute", "calls", "g") + aRoute("HTTPRoute", "pages", "g") + aGateway("g", "eg"), Options{}, []string{
			"web:80-httproute-pages; outside, through HTTPRoute pages :80; envoy-gateway inferred", "web:80-grpcroute-calls; gRPC, through GRPCRoute calls :80; envoy-gateway inferred"}},
		"the Service's own load balancer beside an Ingress": {"type: LoadBalancer", nginx("i"), Options{Env: "aks"},
			[]string{"web:80-lb; outside, through the Service's load balancer :80; azure-standard-cluster preset", "web:80-ingress-i; outside, through Ingress i :80" + behindNginx}},
		"a target group beside an Ingress": {"", aBinding("", ", targetType: ip, targetGroupProtocolVersion: HTTP2") + nginx("i"), Options{}, []string{
			"web:80-ingress-i; outside, through Ingress i :80" + behindNginx, "web:80-targetgroupbinding-b; outside, through TargetGroupBinding b :80" + behindALB}},
		"more than are simulated": {"", nginx("a") + namedIngress("b", "", "ingressClassName: kong") + namedIngress("c", "", "ingressClassName: traefik") + alb("d") +
			namedIngress("e", "", "ingressClassName: haproxy") + namedIngress("f", "", "ingressClassName: haproxy") + alb("g"), Options{}, []string{
			"web:80-ingress-a; outside, through Ingress a :80" + behindNginx + "; without Ingress shop/e, Ingress shop/f",
			"web:80-ingress-b; outside, through Ingress b :80; l7-generic assumed; without Ingress shop/e, Ingress shop/f",
			"web:80-ingress-c; outside, through Ingress c :80; l7-generic assumed; without Ingress shop/e, Ingress shop/f",
			"web:80-ingress-d; outside, through Ingress d :80" + behindALB + "; without Ingress shop/e, Ingress shop/f"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := routedWeb(tt.spec, "", tt.more)
			got := entrancesIn(t, text, tt.opts)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			documents := strings.Split(text, "---\n")
			slices.Reverse(documents)
			if again := entrancesIn(t, strings.Join(documents, "\n---\n"), tt.opts); !slices.Equal(again, got) {
				t.Errorf("with the documents the other way round\n%s\nbefore\n%s", strings.Join(again, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

// Ports of one container are one entry where the same kind of entrance leads to them, and not where another one does.
func TestPortsOfOneEntranceAreOneEntry(t *testing.T) {
	t.Parallel()
	second := func(class string) string {
		return strings.Replace(namedIngress("j", "", "ingressClassName: "+class), "number: 80", "number: 81", 1)
	}
	for class, want := range map[string]string{"nginx": "outside, through an Ingress :81 :80", "alb": "outside, through an Ingress :80|outside, through an Ingress :81"} { // order: each for itself
		text := strings.Replace(routedWeb("", "", anIngress("", "ingressClassName: nginx")+second(class)), "ports: [{port: 80", "ports: [{name: more, port: 81, targetPort: 8080}, {name: first, port: 80", 1)
		if !strings.Contains(text, "name: more") {
			t.Fatal(text)
		}
		cases, problems := casesIn(t, text, Options{Actions: []string{"rollout"}})
		var got []string
		for i := range cases {
			got = append(got, cases[i].Traffic)
		}
		slices.Sort(got)
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q %v", class, got, problems)
		}
	}
}
