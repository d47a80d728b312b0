package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// ingress-nginx is set by its ConfigMap for all Ingresses, and by an Ingress's annotations for that one. Where a client is kept with a pod, by
// cookie or by hash, no other pod is tried when that one fails, unless it is told to.
func TestSecondTriesOfIngressNginx(t *testing.T) {
	t.Parallel()
	tries := func(name, n string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: ingress-nginx}\ndata: {proxy-next-upstream-tries: '" + n + "'}\n"
	}
	const prefix = "nginx.ingress.kubernetes.io/"
	for name, c := range map[string]struct {
		annotations, more string
		retries           int
		said              string
	}{
		"as it comes":                        {"", "", 2, ""},
		"its ConfigMap":                      {"", tries("ingress-nginx-controller", "1"), 0, ""},
		"another ConfigMap":                  {"", tries("web-controller", "1"), 2, ""},
		"an annotation counts more":          {prefix + "proxy-next-upstream-tries: '5'", tries("rel-ingress-nginx-controller", "1"), 4, ""},
		"cookies":                            {prefix + "affinity: cookie", "", 0, prefix + "affinity (in.yaml:"},
		"cookies that change":                {prefix + "affinity: cookie, " + prefix + "session-cookie-change-on-failure: 'true'", "", 2, ""},
		"a hash":                             {prefix + "upstream-hash-by: $request_uri", "", 0, prefix + "upstream-hash-by (in.yaml:"},
		"a number that is none in ConfigMap": {"", tries("ingress-nginx-controller", "many"), 2, ""},
	} {
		cases, problems := casesIn(t, routedWeb("", "", anIngress(c.annotations, "ingressClassName: nginx")+c.more), Options{Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(name, problems)
		}
		if (len(problems) > 0) != strings.Contains(c.more, "many") {
			t.Errorf("%s: %v", name, problems)
		}
		s, said := cases[0].Scenario, ""
		for _, n := range s.NotModelled {
			if n.ID == "sticky" {
				said = n.What
			}
		}
		if got := s.Traffic[0].LB.Layer7.Retries; got != c.retries || !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%s: %d retries, want %d: %q", name, got, c.retries, said)
		}
	}
}

// A canary of ingress-nginx gets a part of the requests of the Ingress that has its host and path, which is named, and that one's Service
// answers them while the canary has no endpoint. Without such an Ingress, and for a Service that has another way in, there is nothing of that.
func TestCanariesFallBack(t *testing.T) {
	t.Parallel()
	ingress := func(name, annotations, service, host string) string {
		return "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: " + name + ", namespace: shop, annotations: {" + annotations + "}}\nspec:\n" +
			"  ingressClassName: public\n  rules:\n  - host: " + host + "\n    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: " + service + ", port: {number: 80}}}}]}\n"
	}
	const canary = nginxPrefix + "canary: 'true'"
	for name, c := range map[string]struct {
		more     string
		noTarget world.NoTarget
		said     string
	}{
		"a weight": {ingress("canary", canary+", "+nginxPrefix+"canary-weight: '20'", "web", "a.b") + ingress("main", "", "main", "a.b"), world.NoTargetElsewhere,
			"sends 20 % of its requests to Service web: the loss is of those alone. While it has no endpoint, ingress-nginx sends them to Service main"},
		"a weight of 200": {ingress("canary", canary+", "+nginxPrefix+"canary-weight: '20', "+nginxPrefix+"canary-weight-total: '200'", "web", "a.b") + ingress("main", "", "main", "a.b"),
			world.NoTargetElsewhere, "sends 10 % of its requests to"},
		"a header":        {ingress("canary", canary+", "+nginxPrefix+"canary-by-header: x", "web", "a.b") + ingress("main", "", "main", "a.b"), world.NoTargetElsewhere, "that a header or cookie chooses"},
		"another host":    {ingress("canary", canary+", "+nginxPrefix+"canary-weight: '20'", "web", "a.b") + ingress("main", "", "main", "c.d"), world.NoTarget503, ""},
		"another way in":  {ingress("canary", canary, "web", "a.b") + ingress("main", "", "main", "a.b") + ingress("own", "", "web", "c.d"), world.NoTarget503, ""},
		"one that is not": {ingress("canary", nginxPrefix+"canary: 'false'", "web", "a.b") + ingress("main", "", "main", "a.b"), world.NoTarget503, ""},
	} {
		cases, problems := casesIn(t, routedWeb("", "", c.more), Options{Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(name, problems)
		}
		s, said := cases[0].Scenario, ""
		for _, n := range s.NotModelled {
			if n.ID == world.Weight {
				said = n.What
			}
		}
		if got := s.Traffic[0].LB.NoTarget; got != c.noTarget || !strings.Contains(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%s: no target: %d, want %d: %q", name, got, c.noTarget, said)
		}
	}
}
