package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// proxyWords writes what annotations can change of a proxy.
func proxyWords(lb *world.LoadBalancer) string {
	on := [...]string{"connect", "reset"}[lb.Layer7.RetryOn]
	return fmt.Sprintf("%s %s %d %d drain %s, %d on %s, %s %s", lb.Check.Interval.Duration(), lb.Check.Timeout.Duration(), lb.Check.Healthy, lb.Check.Unhealthy,
		spanWords(lb.Drain), lb.Layer7.Retries, on, lb.Layer7.ConnectTimeout.Duration(), lb.Layer7.UpstreamIdle.Duration())
}

// What an Ingress asks of its proxy goes before the preset. Reference:
// docs/model/load-balancers.md 1 and 5.
func TestAnnotationsOfAProxy(t *testing.T) {
	t.Parallel()
	const (
		alb, nginx     = albPrefix, nginxPrefix
		plainALB       = "15s 5s 2 2 drain 5m0s, 0 on connect, 10s 1m0s"
		plainNginx     = "0s 0s 0 0 drain never, 2 on reset, 5s 1m0s"
		withoutRetries = "0s 0s 0 0 drain never, 0 on reset, 5s 1m0s"
	)
	for name, tt := range map[string]struct{ preset, ingress, service, want, unread string }{ // order: each for itself
		"an ALB": {"aws-alb-ip", "", "", plainALB, ""},
		"health checks of an ALB": {"aws-alb-ip", alb + "healthcheck-interval-seconds: '7', " + alb + "healthcheck-timeout-seconds: '3', " +
			alb + "healthy-threshold-count: '4', " + alb + "unhealthy-threshold-count: '5'", "", "7s 3s 4 5 drain 5m0s, 0 on connect, 10s 1m0s", ""},
		"those of the Service go before": {"aws-alb-instance", alb + "healthcheck-interval-seconds: '7'", alb + "healthcheck-interval-seconds: '8'",
			"8s 5s 2 2 drain 5m0s, 0 on connect, 10s 1m0s", ""},
		"attributes of an ALB": {"aws-alb-ip", alb + "target-group-attributes: 'stickiness.enabled=false,deregistration_delay.timeout_seconds=30', " +
			alb + "load-balancer-attributes: 'idle_timeout.timeout_seconds=120'", "", "15s 5s 2 2 drain 30s, 0 on connect, 10s 2m0s", ""},
		"an ALB that does not drain": {"aws-alb-ip", alb + "target-group-attributes: deregistration_delay.timeout_seconds=0", "", "15s 5s 2 2 drain 0s, 0 on connect, 10s 1m0s", ""},
		"values that are none": {"aws-alb-ip", alb + "healthcheck-interval-seconds: 7s, " + alb + "healthy-threshold-count: '0', " +
			alb + "load-balancer-attributes: idle_timeout.timeout_seconds=0, " + alb + "target-group-attributes: nonsense", "", plainALB,
			"healthcheck-interval-seconds healthy-threshold-count target-group-attributes load-balancer-attributes"},
		"ingress-nginx":                     {"ingress-nginx", "", "", plainNginx, ""},
		"its timeout":                       {"ingress-nginx", nginx + "proxy-connect-timeout: '9'", "", "0s 0s 0 0 drain never, 2 on reset, 9s 1m0s", ""},
		"the first try counts":              {"ingress-nginx", nginx + "proxy-next-upstream-tries: '2'", "", "0s 0s 0 0 drain never, 1 on reset, 5s 1m0s", ""},
		"one try":                           {"ingress-nginx", nginx + "proxy-next-upstream-tries: '1'", "", withoutRetries, ""},
		"as many tries as there are pods":   {"ingress-nginx", nginx + "proxy-next-upstream-tries: '0'", "", "0s 0s 0 0 drain never, 100 on reset, 5s 1m0s", ""},
		"never the next":                    {"ingress-nginx", nginx + "proxy-next-upstream: 'off', " + nginx + "proxy-next-upstream-tries: '5'", "", withoutRetries, ""},
		"the next for errors of the app":    {"ingress-nginx", nginx + "proxy-next-upstream: http_502 http_503", "", withoutRetries, ""},
		"the next for what it is anyway":    {"ingress-nginx", nginx + "proxy-next-upstream: error timeout http_502", "", plainNginx, ""},
		"the Service's are nothing to it":   {"ingress-nginx", "", nginx + "proxy-connect-timeout: '9'", plainNginx, ""},
		"those of an ALB are nothing to it": {"ingress-nginx", alb + "healthcheck-interval-seconds: '7'", "", plainNginx, ""},
		"values that nginx does not know": {"ingress-nginx", nginx + "proxy-next-upstream: always, " + nginx + "proxy-next-upstream-tries: many, " + nginx + "proxy-connect-timeout: '0'", "",
			plainNginx, "proxy-connect-timeout proxy-next-upstream-tries proxy-next-upstream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lb, r := proxyOf(t, tt.preset, routedWeb("", tt.service, anIngress(tt.ingress, "")))
			list := unreadKeys(annotate(lb, r.Service, r), alb)
			list = strings.ReplaceAll(list, nginx, "")
			if got := proxyWords(lb); got != tt.want || list != tt.unread {
				t.Errorf("got %s, unread %q, want %s, %q", got, list, tt.want, tt.unread)
			}
		})
	}
}

// proxyOf returns a preset, and what leads to the Service of the manifests.
func proxyOf(t *testing.T, preset, text string) (*world.LoadBalancer, *world.Route) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	w := newInventory(objects.All)
	r := w.routeTo(&world.Traffic{Port: 80}, w.services[0].Value)
	p, ok := presetFor(preset, "")
	if !ok || r == nil {
		t.Fatalf("preset %s, route %v", preset, r)
	}
	lb := p.LoadBalancer
	return &lb, r
}

// A HealthCheckPolicy says how often the proxies of Google's Gateways ask the pods of its Service, and those of Ingresses nothing.
func TestHealthCheckPolicy(t *testing.T) {
	t.Parallel()
	const plain = "15s 15s 1 2"
	const route = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\nspec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n"
	const policy = "---\napiVersion: networking.gke.io/v1\nkind: HealthCheckPolicy\nmetadata: {name: p, namespace: shop}\n" +
		"spec: {default: {checkIntervalSec: 5, timeoutSec: 4, healthyThreshold: 3, unhealthyThreshold: 6}, targetRef: {group: '', kind: Service, name: web}}\n"
	for name, tt := range map[string]struct{ more, want, unread string }{ // order: each for itself
		"none":                 {route, plain, ""},
		"of the Service":       {route + policy, "5s 4s 3 6", ""},
		"of another Service":   {route + strings.Replace(policy, "name: web", "name: other", 1), plain, ""},
		"of another namespace": {route + strings.Replace(policy, "namespace: shop", "namespace: other", 1), plain, ""},
		"for an Ingress":       {anIngress("", "") + policy, plain, ""},
		"a value that is none": {route + strings.Replace(policy, "timeoutSec: 4", "timeoutSec: 0", 1), "5s 15s 3 6", "spec.default.timeoutSec"},
	} {
		lb, r := proxyOf(t, "gke-l7-neg", routedWeb("", "", tt.more))
		unread := unreadKeys(annotate(lb, r.Service, r), "")
		c := lb.Check
		if got := fmt.Sprint(c.Interval.Duration(), " ", c.Timeout.Duration(), " ", c.Healthy, " ", c.Unhealthy); got != tt.want || unread != tt.unread {
			t.Errorf("%s: %s, want %s; unread %q", name, got, tt.want, unread)
		}
	}
}

// Which fields of Google's resources are read, of each kind. Names as in GKE's reference (recalled).
func TestWhichFieldsOfGooglesResourcesAreRead(t *testing.T) {
	t.Parallel()
	const draining = "connectionDraining.drainingTimeoutSec"
	for kind, want := range map[string]string{ // order: each for itself
		kindBackendPolicy: "spec.default." + draining + "=7",
		kindHealthPolicy:  "spec.default.checkIntervalSec=7 spec.default.timeoutSec=7 spec.default.healthyThreshold=7 spec.default.unhealthyThreshold=7",
		"BackendConfig":   "spec." + draining + "=7 spec.healthCheck.checkIntervalSec=7 spec.healthCheck.timeoutSec=7 spec.healthCheck.healthyThreshold=7 spec.healthCheck.unhealthyThreshold=7",
	} {
		var got []string
		for _, f := range backendFields(kind) {
			var lb world.LoadBalancer
			if !f.read(&lb, "7") || f.read(&lb, "soon") {
				t.Errorf("%s %v: 7 is a value, and soon is none", kind, f.path)
			}
			c := lb.Check
			set := int((lb.Drain+c.Interval+c.Timeout)/engine.Second) + c.Healthy + c.Unhealthy
			got = append(got, fmt.Sprint(strings.Join(f.path, "."), "=", set))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// A BackendConfig changes Google's proxies, and no other. Reference:
// docs/model/load-balancers.md 1.
func TestBackendConfig(t *testing.T) {
	t.Parallel()
	const plain = "15s 15s 1 2 drain 0s, 1 on connect, 5s 10m0s"
	for name, tt := range map[string]struct{ preset, annotation, spec, want, unread string }{ // order: each for itself
		"none": {"gke-l7-neg", "", "", plain, ""},
		"the default": {"gke-l7-neg", `'{"default": "c"}'`, "{connectionDraining: {drainingTimeoutSec: 60}, healthCheck: {checkIntervalSec: 5, timeoutSec: 4, healthyThreshold: 3, unhealthyThreshold: 6}}",
			"5s 4s 3 6 drain 1m0s, 1 on connect, 5s 10m0s", ""},
		"of the port by number":         {"gke-l7-neg", `'{"default": "d", "ports": {"80": "c"}}'`, "{connectionDraining: {drainingTimeoutSec: 60}}", "15s 15s 1 2 drain 1m0s, 1 on connect, 5s 10m0s", ""},
		"of another port":               {"gke-l7-neg", `'{"ports": {"81": "c"}}'`, "{connectionDraining: {drainingTimeoutSec: 60}}", plain, ""},
		"of another name":               {"gke-l7-neg", `'{"default": "d"}'`, "{connectionDraining: {drainingTimeoutSec: 60}}", plain, ""},
		"an annotation that is no JSON": {"gke-l7-neg", "c", "{connectionDraining: {drainingTimeoutSec: 60}}", plain, ""},
		"a value that is none": {"gke-l7-neg", `'{"default": "c"}'`, "{connectionDraining: {drainingTimeoutSec: soon}, healthCheck: {timeoutSec: 0}}", plain,
			"spec.connectionDraining.drainingTimeoutSec spec.healthCheck.timeoutSec"},
		"somebody else's proxy": {"aws-alb-ip", `'{"default": "c"}'`, "{connectionDraining: {drainingTimeoutSec: 60}}", "15s 5s 2 2 drain 5m0s, 0 on connect, 10s 1m0s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotation, more := "", anIngress("", "")
			if tt.annotation != "" {
				annotation = "cloud.google.com/backend-config: " + tt.annotation
				more += "---\napiVersion: cloud.google.com/v1\nkind: BackendConfig\nmetadata: {name: c, namespace: shop}\nspec: " + tt.spec + "\n"
			}
			lb, r := proxyOf(t, tt.preset, routedWeb("", annotation, more))
			unread := unreadKeys(annotate(lb, r.Service, r), "")
			if got := proxyWords(lb); got != tt.want || unread != tt.unread {
				t.Errorf("got %s, unread %q, want %s, %q", got, unread, tt.want, tt.unread)
			}
		})
	}
}

// Values that could not be read are warned of once, where they stand.
func TestAProxysSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	text := routedWeb("", albPrefix+"healthy-threshold-count: two", anIngress(albPrefix+"healthcheck-timeout-seconds: 5s", "ingressClassName: alb"))
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	_, more := inferKept(t, objects, Options{})
	var got []string
	for _, p := range append(problems, more...) {
		got = append(got, p.Error())
	}
	const rest = " is no value that could be read: the load balancer is as without it"
	want := []string{
		`web.yaml:26:107: Ingress shop/i: metadata.annotations["` + albPrefix + `healthcheck-timeout-seconds"]: "5s"` + rest,
		`web.yaml:19:105: Service shop/web: metadata.annotations["` + albPrefix + `healthy-threshold-count"]: "two"` + rest,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What of a proxy's way is not followed is said.
func TestWhatIsLeftOutOfAProxysWay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ ingress, class, id, direction string }{ // order: each for itself
		"another health check":      {albPrefix + "healthcheck-path: /healthz", "ingressClassName: alb", "load-balancer-probe", "unknown"},
		"another port for them":     {albPrefix + "healthcheck-port: '8081'", "ingressClassName: alb", "load-balancer-probe", "unknown"},
		"the usual port for them":   {albPrefix + "healthcheck-port: traffic-port", "ingressClassName: alb", "capacity", "more"},
		"their usual protocol":      {albPrefix + "healthcheck-protocol: HTTP", "ingressClassName: alb", "capacity", "more"},
		"nothing of ingress-nginx":  {nginxPrefix + "proxy-connect-timeout: '9'", "ingressClassName: nginx", "capacity", "more"},
		"nothing of an ALB's usual": {albPrefix + "scheme: internal", "ingressClassName: alb", "capacity", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := inferOne(t, routedWeb("", "", anIngress(tt.ingress, tt.class)+"---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"), Options{}).Scenario.NotModelled[0]
			if left.ID != tt.id || left.Direction != tt.direction {
				t.Errorf("%+v", left)
			}
		})
	}
}
