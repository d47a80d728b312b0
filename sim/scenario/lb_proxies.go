package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// proxyAnnotations are those of a proxy's Ingress: names as in aws-load-balancer-controller
// pkg/annotations and ingress-nginx internal/ingress/annotations (recalled). Those of an ALB may
// stand at the Service, too. What is read later goes before.
func proxyAnnotations(lb *world.LoadBalancer) []lbAnnotation {
	switch {
	case strings.HasPrefix(lb.Preset, "aws-alb-"):
		return []lbAnnotation{
			{albPrefix + "healthcheck-interval-seconds", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Interval, v) }},
			{albPrefix + "healthcheck-timeout-seconds", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Timeout, v) }},
			{albPrefix + "healthy-threshold-count", func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Healthy, v) }},
			{albPrefix + "unhealthy-threshold-count", func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Unhealthy, v) }},
			{albPrefix + "target-group-attributes", attribute(delayAttribute, func(l *world.LoadBalancer, v string) bool { return fromZero(&l.Drain, v) })},
			{albPrefix + "load-balancer-attributes", attribute("idle_timeout.timeout_seconds", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Layer7.UpstreamIdle, v) })},
		}
	case lb.Preset == nginxName:
		return []lbAnnotation{
			{nginxPrefix + "proxy-connect-timeout", func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Layer7.ConnectTimeout, v) }},
			{nginxPrefix + "proxy-next-upstream-tries", readTries},
			{nginxPrefix + "proxy-next-upstream", readNextUpstream},
		}
	default:
		return nil
	}
}

// attribute reads one of a list KEY=VALUE with commas.
func attribute(key string, read func(*world.LoadBalancer, string) bool) func(*world.LoadBalancer, string) bool {
	return func(l *world.LoadBalancer, value string) bool {
		for _, pair := range strings.Split(value, ",") {
			k, v, ok := strings.Cut(strings.TrimSpace(pair), "=")
			if !ok || k == key && !read(l, v) {
				return false
			}
		}
		return true
	}
}

// readTries: the first try counts, and 0 is no limit.
func readTries(l *world.LoadBalancer, value string) bool {
	n, ok := units.Decimal(value, 0)
	if !ok || n > maxRetries {
		return false
	}
	l.Layer7.Retries = int(n) - 1 // bounded above
	if n == 0 {
		l.Layer7.Retries = maxRetries
	}
	return true
}

// nextUpstream lists what nginx tries the next server for (its documentation of
// proxy_next_upstream).
func nextUpstream() []string {
	return []string{
		"error", "timeout", "invalid_header", "http_500", "http_502", "http_503", "http_504", "http_403", "http_404", "http_429",
		"non_idempotent", "off",
	}
}

// readNextUpstream: without "error" a connection that is refused or reset is not tried elsewhere.
// That "timeout" alone covers those that nobody answers is left out, and so are answers with an
// error of the app's own.
func readNextUpstream(l *world.LoadBalancer, value string) bool {
	words := strings.Fields(value)
	for _, w := range words {
		if !slices.Contains(nextUpstream(), w) {
			return false
		}
	}
	if !slices.Contains(words, "error") || slices.Contains(words, "off") {
		l.Layer7.Retries = 0
	}
	l.Layer7.RetriesSaid = slices.Contains(words, "non_idempotent")
	return len(words) > 0
}

// nginxName is what ingress-nginx is called in labels and names.
const nginxName = "ingress-nginx"

// isNginxMap says whether a ConfigMap is the one that ingress-nginx is set by: its chart's and its manifests' names for it
// (https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/; recalled).
func isNginxMap(o *manifest.Object) bool {
	return o.Name == "nginx-configuration" || strings.HasSuffix(o.Name, nginxName+"-controller") ||
		rawText(o.Value, "metadata", "labels", "app.kubernetes.io/name") == nginxName && strings.HasSuffix(o.Name, "controller")
}

// setByMap changes ingress-nginx by its ConfigMap, whose keys are the annotations' without their prefix; those of an Ingress count more.
func (w *inventory) setByMap(lb *world.LoadBalancer) (out []unread) {
	if lb.Preset != nginxName {
		return nil
	}
	for _, o := range w.nginxMaps {
		for _, a := range proxyAnnotations(lb) {
			key := strings.TrimPrefix(a.key, nginxPrefix)
			if value := rawText(o.Value, "data", key); value != "" && !a.read(lb, strings.TrimSpace(value)) {
				out = append(out, unread{object: o, path: "data." + key, value: value})
			}
		}
	}
	return out
}

// sticky is the annotation by which ingress-nginx keeps each client, or each key, with one pod, "" for none. It tries no other pod then when
// that one fails: with a cookie only where it is told to (rootfs/etc/nginx/lua/balancer/sticky.lua and chash.lua; recalled).
func sticky(r *world.Route) string {
	hash, _ := routeAnnotation(r, nginxPrefix+"upstream-hash-by")
	affinity, _ := routeAnnotation(r, nginxPrefix+"affinity")
	change, _ := routeAnnotation(r, nginxPrefix+"session-cookie-change-on-failure")
	switch {
	case strings.TrimSpace(affinity) == "cookie" && strings.TrimSpace(change) != "true":
		return "affinity"
	case strings.TrimSpace(hash) != "" && affinity == "":
		return "upstream-hash-by"
	default:
		return ""
	}
}

// stuckTo is sticky for a stream through ingress-nginx.
func stuckTo(t *world.Traffic) string {
	if !throughNginx(t) || t.Route == nil {
		return ""
	}
	return sticky(t.Route)
}

func throughNginx(t *world.Traffic) bool {
	return t.LB != nil && t.LB.Preset == nginxName || t.Ingress != nil && t.Ingress.Proxy != nil && t.Ingress.Proxy.Preset == nginxName
}

// annotateProxy changes a preset's proxy by what leads to it, and returns what could not be read.
func annotateProxy(lb *world.LoadBalancer, r *world.Route) []unread {
	var out []unread
	for _, a := range proxyAnnotations(lb) {
		if value, at := routeAnnotation(r, a.key); value != "" && !a.read(lb, strings.TrimSpace(value)) {
			out = append(out, unread{object: at, path: annotationPath(a.key), value: value})
		}
	}
	if lb.Preset == nginxName && r.Main != "" {
		lb.NoTarget = world.NoTargetElsewhere
	}
	retryAs(lb, r.Retry)
	if lb.Preset == nginxName && sticky(r) != "" {
		lb.Layer7.Retries = 0
	}
	if !strings.HasPrefix(lb.Preset, "gke-l7-") {
		return out
	}
	for _, o := range []*manifest.Object{r.Backend, r.Health} {
		if o == nil {
			continue
		}
		for _, f := range backendFields(o.Kind) {
			if value := rawAt(o.Value, f.path...); value != nil && !f.read(lb, fmt.Sprint(value)) {
				out = append(out, unread{object: o, path: strings.Join(f.path, "."), value: fmt.Sprint(value)})
			}
		}
	}
	return out
}

// backendField is a field of a BackendConfig, a GCPBackendPolicy or a HealthCheckPolicy that changes one of a load balancer.
type backendField struct {
	path []string
	read func(*world.LoadBalancer, string) bool
}

// backendFields: names as in ingress-gce pkg/apis/backendconfig/v1, and as in GKE's reference of its Gateway resources (recalled).
func backendFields(kind string) []backendField {
	draining := func(above ...string) backendField {
		return backendField{append(above, "connectionDraining", "drainingTimeoutSec"), func(l *world.LoadBalancer, v string) bool { return fromZero(&l.Drain, v) }}
	}
	switch kind {
	case kindBackendPolicy:
		return []backendField{draining("spec", "default")}
	case kindHealthPolicy:
		return checkFields("spec", "default")
	default:
		return append([]backendField{draining("spec")}, checkFields("spec", "healthCheck")...)
	}
}

// checkFields are those of health checks, below the fields above them.
func checkFields(above ...string) []backendField {
	at := func(name string) []string { return append(slices.Clone(above), name) }
	return []backendField{
		{at("checkIntervalSec"), func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Interval, v) }},
		{at("timeoutSec"), func(l *world.LoadBalancer, v string) bool { return inSeconds(&l.Check.Timeout, v) }},
		{at("healthyThreshold"), func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Healthy, v) }},
		{at("unhealthyThreshold"), func(l *world.LoadBalancer, v string) bool { return inAnswers(&l.Check.Unhealthy, v) }},
	}
}

// otherProxyProbe returns what makes a stream's proxy ask something else, "" when nothing does.
func otherProxyProbe(t *world.Traffic) string {
	if t.Route == nil || !strings.HasPrefix(t.LB.Preset, "aws-alb-") {
		return ""
	}
	for _, x := range [][2]string{{"healthcheck-port", "traffic-port"}, {"healthcheck-protocol", "HTTP"}, {"healthcheck-path", ""}} { // with what is asked without them
		if v, _ := routeAnnotation(t.Route, albPrefix+x[0]); v != "" && v != x[1] {
			return albPrefix + x[0]
		}
	}
	return ""
}
