package scenario

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
)

// A namespace with the label has its pods get the gate of their target group; where they have it, or
// targets are nodes, there is nothing to change.
func TestAReadinessGateIsARemedy(t *testing.T) {
	t.Parallel()
	const ip, instance = "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip", "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: instance"
	namespace := func(labels string) string {
		return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {" + labels + "}}\n"
	}
	for name, tt := range map[string]struct { // order: each for itself
		annotation, more string
		opts             Options
		ok               bool
		kind, first      string
		label            string // "" for that of the controller
	}{
		"pods as targets, and no Namespace in the input": {ip, "", Options{}, true, "", "apiVersion: v1", ""},
		"pods as targets, and a Namespace":               {ip, namespace("team: web"), Options{}, true, "Namespace", "metadata:", ""},
		"a Namespace that has the label":                 {ip, namespace(gateLabel + ": enabled"), Options{}, false, "Namespace", "metadata:", ""},
		"nodes as targets":                               {instance, "", Options{}, false, "", "apiVersion: v1", ""},
		"another maker's":                                {"", "", Options{LB: "gke-l4"}, false, "", "apiVersion: v1", ""},
		"an ALB":                                         {"", anIngress(albPrefix+"target-type: ip", "ingressClassName: alb"), Options{}, true, "", "apiVersion: v1", ""},
		"an ALB of EKS Auto Mode": {"", anIngress(albPrefix+"target-type: ip", "ingressClassName: edge") + "---\n{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: edge}, spec: {controller: eks.amazonaws.com/alb}}\n",
			Options{}, true, "", "apiVersion: v1", autoModeGateLabel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := "type: LoadBalancer"
			if strings.Contains(tt.more, "Ingress") {
				spec = ""
			}
			s := inferOne(t, routedWeb(spec, tt.annotation, tt.more), tt.opts).Scenario
			before := Normal(s)
			r, ok := WithReadinessGate(s, "shop/web")
			if ok && r.Title != "readiness gate of "+map[bool]string{true: "the AWS Load Balancer Controller", false: "EKS Auto Mode"}[tt.label == ""]+", by a label of Namespace shop" {
				t.Error(r.Title)
			}
			if paste := r.Edit.YAML(); ok != tt.ok || r.Edit.Kind != tt.kind || paste[0] != tt.first || !strings.HasSuffix(strings.TrimRight(paste[len(paste)-1], "}"), " "+cmp.Or(tt.label, gateLabel)+": enabled") && !strings.HasSuffix(paste[len(paste)-1], "{"+cmp.Or(tt.label, gateLabel)+": enabled}") {
				t.Errorf("%t, %q, %q", ok, r.Edit.Kind, paste)
			}
			for i := range r.Scenario.Traffic {
				if gate := r.Scenario.Traffic[i].LB.InjectedGate(80); ok && !strings.HasPrefix(gate, "target-health.elbv2.k8s.aws/") {
					t.Errorf("the pods' gate is %q", gate)
				}
			}
			if Normal(s) != before || ok != (Normal(r.Scenario) != before) {
				t.Error("the scenario itself was changed, or the other was not")
			}
			if _, other := WithReadinessGate(s, "shop/other"); other {
				t.Error("a workload that is not behind it gets a gate")
			}
		})
	}
}

// Where no gate is known there is none to give.
func TestAReadinessGateThatNobodyKnowsIsNoRemedy(t *testing.T) {
	t.Parallel()
	const ip = "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip"
	s := inferOne(t, routedWeb("type: LoadBalancer", ip, ""), Options{}).Scenario
	if _, ok := WithReadinessGate(s, "shop/web"); !ok {
		t.Error("the gate of the target group is no remedy")
	}
	for i := range s.Traffic {
		lb := *s.Traffic[i].LB
		lb.ReadinessGate = ""
		s.Traffic[i].LB = &lb
	}
	if _, ok := WithReadinessGate(s, "shop/web"); ok {
		t.Error("pods are given a gate without a name")
	}
}

// A BackendConfig has Google's HTTP load balancer drain: the one that the Service names, or a new one.
func TestConnectionDrainingIsARemedy(t *testing.T) {
	t.Parallel()
	ingress := anIngress("", "ingressClassName: gce")
	config := func(spec string) string {
		return ingress + "---\napiVersion: cloud.google.com/v1\nkind: BackendConfig\nmetadata: {name: c, namespace: shop}\nspec: {" + spec + "}\n"
	}
	const aRoute = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\nspec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n"
	const policy = "---\napiVersion: networking.gke.io/v1\nkind: GCPBackendPolicy\nmetadata: {name: p, namespace: shop}\nspec: {default: {connectionDraining: {drainingTimeoutSec: 5}}, targetRef: {group: '', kind: Service, name: web}}\n"
	const named = `cloud.google.com/backend-config: '{"default": "c"}'`
	for name, tt := range map[string]struct { // order: each for itself
		annotation, more string
		lb               string
		ok               bool
		kind, from, to   string
		yaml             string
	}{
		"no BackendConfig": {"", ingress, "", true, "Service", "", `{"default": "web"}`,
			"metadata:|  annotations:|    cloud.google.com/backend-config: '{\"default\": \"web\"}'|---|apiVersion: cloud.google.com/v1|kind: BackendConfig|" +
				"metadata: {name: web, namespace: shop}|spec:|  connectionDraining: {drainingTimeoutSec: 30}"},
		"one that does not drain":    {named, config("timeoutSec: 40"), "", true, "BackendConfig", "", "30", "spec:|  connectionDraining:|    drainingTimeoutSec: 30"},
		"one that drains less":       {named, config("connectionDraining: {drainingTimeoutSec: 5}"), "", true, "BackendConfig", "5", "30", "spec:|  connectionDraining:|    drainingTimeoutSec: 30"},
		"one that drains for longer": {named, config("connectionDraining: {drainingTimeoutSec: 60}"), "", false, "Service", `{"default": "c"}`, `{"default": "web"}`, ""},
		"another maker's":            {"", anIngress("", "ingressClassName: nginx"), "", false, "Service", "", `{"default": "web"}`, ""},
		"a Gateway, which reads no BackendConfig": {"", aRoute, "gke-l7-neg", true, "", "", "30",
			"apiVersion: networking.gke.io/v1|kind: GCPBackendPolicy|metadata: {name: web, namespace: shop}|spec:|" +
				"  default:|    connectionDraining: {drainingTimeoutSec: 30}|  targetRef: {group: '', kind: Service, name: web}"},
		"a Gateway with a policy": {"", aRoute + policy, "gke-l7-neg", true, "GCPBackendPolicy", "5", "30",
			"spec:|  default:|    connectionDraining:|      drainingTimeoutSec: 30"},
		"a Gateway beside the policy of another Service": {"", aRoute + strings.Replace(policy, "name: web", "name: other", 1), "gke-l7-neg", true, "", "", "30",
			"apiVersion: networking.gke.io/v1|kind: GCPBackendPolicy|metadata: {name: web, namespace: shop}|spec:|" +
				"  default:|    connectionDraining: {drainingTimeoutSec: 30}|  targetRef: {group: '', kind: Service, name: web}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inferOne(t, routedWeb("", tt.annotation, tt.more), Options{LB: tt.lb}).Scenario
			before := Normal(s)
			r, ok := WithConnectionDraining(s, "shop/web", 29500*engine.Millisecond)
			e := &r.Edit
			if paste := strings.Join(e.YAML(), "|"); ok != tt.ok || e.Kind != tt.kind || e.From.String() != tt.from || e.To.String() != tt.to || ok && paste != tt.yaml {
				t.Errorf("%t, %s, from %q to %q, %s", ok, e.Kind, e.From, e.To, paste)
			}
			for i := range r.Scenario.Traffic {
				if d := r.Scenario.Traffic[i].LB.Drain; ok && d != 30*engine.Second {
					t.Errorf("it drains for %s", d.Duration())
				}
			}
			if Normal(s) != before || ok != (Normal(r.Scenario) != before) {
				t.Error("the scenario itself was changed, or the other was not")
			}
		})
	}
}

// An app that ignores SIGTERM is never told to take longer for it; one that ends at once is told to finish what runs first.
func TestWhatHelpsAnAppThatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	for _, p := range servers.Profiles() {
		app := servers.AppFor(&servers.Evidence{}, p.ID)
		remedies := TerminationRemedies(&app)
		atOnce := slices.Contains([]string{"nginx-sigterm", "npm-start", "yarn-start", "behind-init", "exits-at-once", "go-default", "spring-old", "php-fpm", "istio-proxy"}, p.ID)
		if (len(remedies) > 0) != (app.IgnoresSIGTERM || atOnce) {
			t.Errorf("%s: %q", p.ID, remedies)
		}
		for _, r := range remedies {
			if strings.Contains(r, "race period") {
				t.Errorf("%s: %s", p.ID, r)
			}
		}
		if atOnce && !strings.Contains(remedies[0], "finishes what runs") {
			t.Errorf("%s: %s", p.ID, remedies[0])
		}
		if p.ID == "shell-pid1" && !strings.Contains(remedies[0], "exec ./server") || p.ID == "node-default" && !strings.Contains(remedies[0], "server.close()") {
			t.Errorf("%s: first of all %s", p.ID, remedies[0])
		}
	}
}
