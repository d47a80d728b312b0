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

// A case is about one way to its Service. What else leads there is named in the first lines of the report.
func TestOtherWaysToAServiceAreNamed(t *testing.T) {
	t.Parallel()
	second := strings.Replace(anIngress("", "ingressClassName: alb"), "name: i,", "name: public,", 1)
	for spec, want := range map[string][]string{"": {"Ingress public"}, "type: LoadBalancer": {"Ingress i", "Ingress public"}} {
		cases, problems := casesIn(t, routedWeb(spec, "", anIngress("", "ingressClassName: nginx")+second), Options{Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(problems)
		}
		var got []string
		for _, n := range cases[0].Scenario.NotModelled {
			if n.ID == world.UnreadRoute {
				name, _, _ := strings.Cut(n.What, " (")
				got = append(got, name)
			}
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%q: %q, want %q", spec, got, want)
		}
	}
}
