package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// routedWeb is altWeb with a Service of some fields and annotations, and more documents.
func routedWeb(spec, annotations, more string) string {
	text := strings.Replace(altWeb, "metadata: {name: web, namespace: shop}\nspec:\n  selector: {app: web}\n  ports",
		"metadata: {name: web, namespace: shop, annotations: {"+annotations+"}}\nspec:\n  selector: {app: web}\n  ports", 1)
	if spec != "" {
		text += "  " + spec + "\n"
	}
	return text + more
}

// anIngress leads to the web, with lines of its metadata.annotations and its spec.
func anIngress(annotations, spec string) string {
	return "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop, annotations: {" + annotations + "}}\nspec:\n" +
		"  defaultBackend: {service: {name: web, port: {number: 80}}}\n  " + spec + "\n"
}

// inferOne infers the only case of manifests.
func inferOne(t *testing.T, text string, opts Options) *Case {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := inferKept(t, objects, opts)
	if len(problems)+len(more) > 0 || len(cases) != 1 || cases[0].Scenario == nil {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return &cases[0]
}

// inferThrough is inferOne for a Service with two entrances: the case of the one whose words are given.
func inferThrough(t *testing.T, text, words string, opts Options) *Case {
	t.Helper()
	cases, problems := casesIn(t, text, Options{Actions: []string{"rollout"}, LB: opts.LB, Set: opts.Set})
	i := slices.IndexFunc(cases, func(c Case) bool { return strings.Contains(c.Traffic, words) })
	if len(problems) > 0 || len(cases) != 2 || i < 0 || cases[i].Scenario == nil {
		t.Fatalf("%d cases, %v", len(cases), problems)
	}
	return &cases[i]
}

// throughWhat says which proxy the streams of a case go through, on what basis, and what else it
// might be; or why they go to the ClusterIP.
func throughWhat(t *testing.T, s *world.Scenario) string {
	t.Helper()
	var all []string
	for i := range s.Traffic {
		tr := &s.Traffic[i]
		words := tr.Bypass
		if tr.LB != nil {
			words = tr.LB.Preset
		}
		for _, a := range s.Assumptions {
			if a.ID == "ingress" || a.ID == "lb" {
				words += " " + a.Basis
			}
		}
		if tr.External != (tr.LB != nil || tr.Bypass == "") {
			t.Errorf("%s: external %t", words, tr.External)
		}
		name := ""
		if tr.LB != nil {
			p, _ := presetFor(tr.LB.Preset, "")
			name = p.Family
		}
		all = append(all, strings.TrimSpace(strings.Join(append([]string{words}, guesses(name, tr.LBOthers, tr.Families)...), " ")))
	}
	if len(distinct(all)) != 1 {
		t.Errorf("the streams differ: %q", all)
	}
	return all[0]
}

// The class of an Ingress says what stands before a Service. Reference:
// docs/model/simulator.md 5.2.
func TestEvidenceOfAnIngress(t *testing.T) {
	t.Parallel()
	const (
		nodePort = "type: NodePort"
		ip       = albPrefix + "target-type: ip"
		instance = albPrefix + "target-type: instance"
		unknown  = "ingress-nginx assumed ?l7-generic ?aws-alb-ip ?gke-l7-neg"
		other    = "l7-generic assumed"
		passed   = "ingress-nginx passes TLS connections on to the Service (annotation ssl-passthrough, web.yaml:26, with its flag --enable-ssl-passthrough) and repeats nothing, and its own hop is left out"
	)
	class := func(name, controller, annotations string) string {
		return "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\nspec: {controller: " + controller + "}\n"
	}
	const isDefault = "ingressclass.kubernetes.io/is-default-class: 'true'"
	for name, tt := range map[string]struct{ class, ingress, spec, service, more, want string }{ // order: each for itself
		"no class":                                      {"", "", "", "", "", unknown},
		"a class nobody knows":                          {"ingressClassName: own", "", "", "", "", "l7-generic assumed ?ingress-nginx"},
		"ingress-nginx":                                 {"ingressClassName: nginx", "", "", "", "", "ingress-nginx inferred"},
		"the older annotation":                          {"", "kubernetes.io/ingress.class: nginx", "", "", "", "ingress-nginx inferred"},
		"the spec goes before the annotation":           {"ingressClassName: nginx", "kubernetes.io/ingress.class: alb", "", "", "", "ingress-nginx inferred"},
		"a class of any name, and who takes care of it": {"ingressClassName: own", "", "", "", class("own", "k8s.io/ingress-nginx", ""), "ingress-nginx inferred"},
		"somebody else's class of the name nginx":       {"ingressClassName: nginx", "", "", "", class("nginx", "nginx.org/ingress-controller", ""), other},
		"the default class":                             {"", "", "", "", class("own", "ingress.k8s.aws/alb", isDefault), "aws-alb-ip inferred"},
		"a class that is no default":                    {"", "", "", "", class("own", "ingress.k8s.aws/alb", ""), unknown},
		"an ALB, with a node port":                      {"ingressClassName: alb", "", nodePort, "", "", "aws-alb-instance inferred aws-alb-ip"},
		"an ALB, without one":                           {"ingressClassName: alb", "", "", "", "", "aws-alb-ip inferred"},
		"an ALB with ip targets":                        {"ingressClassName: alb", ip, nodePort, "", "", "aws-alb-ip inferred"},
		"an ALB with instance targets":                  {"ingressClassName: alb", instance, nodePort, "", "", "aws-alb-instance inferred"},
		"an ALB, and the Service says which":            {"ingressClassName: alb", instance, nodePort, ip, "", "aws-alb-ip inferred"},
		"an ALB with instance targets that has no node port": {"ingressClassName: alb", instance, "", "", "",
			"the Service has no node port, and load balancer aws-alb-instance sends to nodes inferred"},
		"GKE with NEGs": {"ingressClassName: gce", "", nodePort, "cloud.google.com/neg: '{\"ingress\": true}'", "", "gke-l7-neg inferred"},
		"no class, and an annotation that Google's controller reads": {"", "", "", "cloud.google.com/neg: '{\"ingress\": true}'", "", "gke-l7-neg inferred"},
		"no class, and a BackendConfig":                              {"", "", nodePort, "cloud.google.com/backend-config: '{\"default\": \"c\"}'", "", "gke-l7-neg inferred ?gke-l7-instance-group"},
		"another class beside Google's annotation":                   {"ingressClassName: nginx", "", "", "cloud.google.com/neg: '{\"ingress\": true}'", "", "ingress-nginx inferred"},
		"GKE without NEGs":                                           {"ingressClassName: gce", "", nodePort, "cloud.google.com/neg: '{\"ingress\": false}'", "", "gke-l7-instance-group inferred"},
		"GKE, which does not say":                                    {"ingressClassName: gce-internal", "", nodePort, "", "", "gke-l7-neg inferred ?gke-l7-instance-group"},
		"GKE, without a node port":                                   {"ingressClassName: gce", "", "", "", "", "gke-l7-neg inferred"},
		"nginx sends to the Service": {"ingressClassName: nginx", nginxPrefix + "service-upstream: 'true'", "", "", "",
			"ingress-nginx sends to the Service (annotation service-upstream), and its own connections and retries are left out inferred"},
		"nginx passes TLS on": {"ingressClassName: nginx", nginxPrefix + "ssl-passthrough: 'true'", "", "", "", passed + " inferred"},
		"nginx decrypts it":   {"ingressClassName: nginx", nginxPrefix + "ssl-passthrough: 'false'", "", "", "", "ingress-nginx inferred"},
		"no class, and an annotation of nginx to pass TLS on":     {"", nginxPrefix + "ssl-passthrough: 'true'", "", "", "", passed + " inferred"},
		"no class, and an annotation of nginx":                    {"", nginxPrefix + "ssl-redirect: 'true'", "", "", "", "ingress-nginx inferred"},
		"a class of any name, and an annotation of nginx":         {"ingressClassName: shop-nginx", nginxPrefix + "ssl-redirect: 'true'", "", "", "", "ingress-nginx inferred"},
		"no class, and an annotation of AWS":                      {"", ip, "", "", "", "aws-alb-ip inferred"},
		"no class, and an annotation of Google":                   {"", "networking.gke.io/managed-certificates: c", "", "", "", "gke-l7-neg inferred"},
		"no class, and one of a controller that is not simulated": {"", "traefik.ingress.kubernetes.io/router.tls: 'true'", "", "", "", other},
		"no class, and annotations of two controllers":            {"", ip + ", " + nginxPrefix + "ssl-redirect: 'true'", "", "", "", "aws-alb-ip assumed ?ingress-nginx"},
		"no class, and one that anybody may read":                 {"", "cert-manager.io/cluster-issuer: le", "", "", "", "ingress-nginx assumed ?l7-generic ?aws-alb-ip ?gke-l7-neg"},
		"a class that says more than the annotation":              {"ingressClassName: nginx", ip, "", "", "", "ingress-nginx inferred"},
		"an annotation of nginx, and of GKE at the Service":       {"", nginxPrefix + "ssl-redirect: 'true'", "", "cloud.google.com/neg: '{\"ingress\": true}'", "", "ingress-nginx inferred"},

		"somebody else's class, and an annotation of nginx for it": {"ingressClassName: traefik", nginxPrefix + "ssl-passthrough: 'true'", "", "", "", other},
		"nginx sends to the pods after all":                        {"ingressClassName: nginx", nginxPrefix + "service-upstream: 'false'", "", "", "", "ingress-nginx inferred"},
		"a Service with a load balancer of its own":                {"ingressClassName: nginx", "", "type: LoadBalancer", "metallb.io/address-pool: a", "", "metallb-l2-cluster inferred ?metallb-bgp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, wantTraffic := routedWeb(tt.spec, tt.service, tt.more+anIngress(tt.ingress, tt.class)), "outside, through an Ingress :80"
			find := inferOne
			if strings.Contains(tt.spec, "LoadBalancer") {
				wantTraffic = "outside, through the Service's load balancer :80"
				find = func(t *testing.T, text string, opts Options) *Case {
					return inferThrough(t, text, "the Service's", opts)
				}
			}
			c := find(t, text, Options{})
			if got := throughWhat(t, c.Scenario); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if c.Traffic != wantTraffic || c.Class != ClassOutside {
				t.Errorf("traffic %q of class %s", c.Traffic, c.Class)
			}
			left := c.Scenario.NotModelled[0]
			if bypass := c.Scenario.Traffic[0].Bypass; strings.HasPrefix(bypass, withoutNodePort) {
				if left.ID != world.Refused || !strings.Contains(left.What, "refuses this Service") {
					t.Errorf("it says %+v", left)
				}
			} else if bypass != "" && (left.ID != "ingress" || left.What != bypass+": its requests go to the ClusterIP") {
				t.Errorf("it says %+v", left)
			}
		})
	}
}

// What was concluded from an annotation is said with its line; of annotations of several controllers all are named.
func TestAnAnnotationOfAnIngressIsNamed(t *testing.T) {
	t.Parallel()
	const tls, scheme = nginxPrefix + "ssl-redirect", albPrefix + "scheme"
	for annotations, want := range map[string]string{ // order: each for itself
		tls + ": 'true'":                           "ingress inferred ingress-nginx (annotation " + tls + ", web.yaml:26)",
		scheme + ": internal":                      "ingress inferred aws-alb-ip (annotation " + scheme + ", web.yaml:26, without a node port for instances)",
		"konghq.com/strip-path: 'true'":            "ingress assumed l7-generic (annotation konghq.com/strip-path, web.yaml:26)",
		tls + ": 'true', " + scheme + ": internal": "ingress assumed aws-alb-ip (annotations of several controllers: " + scheme + ", web.yaml:26; " + tls + ", web.yaml:26)",
	} {
		c, got := inferOne(t, routedWeb("", "", anIngress(annotations, "")), Options{}), ""
		for _, a := range c.Scenario.Assumptions {
			if a.ID == "ingress" {
				got = a.ID + " " + a.Basis + " " + a.Value
			}
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for _, n := range c.Scenario.NotModelled {
			if n.ID == world.StandIn && !strings.HasPrefix(n.What, "Kong (annotation konghq.com/strip-path, web.yaml:26) is not simulated: ") {
				t.Error(n.What)
			}
		}
	}
}

// An annotation by which ingress-nginx sends to the Service counts wherever ingress-nginx is simulated: said by the user, or one of several.
func TestServiceUpstreamCountsWhereverNginxIsSimulated(t *testing.T) {
	t.Parallel()
	const bypass = "ingress-nginx sends to the Service (annotation service-upstream), and its own connections and retries are left out"
	upstream := nginxPrefix + "service-upstream: 'true'"
	if c := inferOne(t, routedWeb("", "", anIngress(upstream, "ingressClassName: any")), Options{LB: "ingress-nginx"}); c.Scenario.Traffic[0].Bypass != bypass {
		t.Errorf("said by the user: %q", c.Scenario.Traffic[0].Bypass)
	}
	if c := inferOne(t, routedWeb("", "", anIngress(upstream, "ingressClassName: any")), Options{LB: "envoy-gateway"}); c.Scenario.Traffic[0].Bypass != "" {
		t.Errorf("another one: %q", c.Scenario.Traffic[0].Bypass)
	}
	c := inferOne(t, routedWeb("", "", anIngress(upstream+", "+albPrefix+"scheme: internal", "")), Options{})
	for i := range c.Families {
		f := &c.Families[i]
		if got := f.Scenario.Traffic[0].Bypass; (got == bypass) != (f.Preset == nginxName) || got != "" && got != bypass {
			t.Errorf("%s: %q", f.Preset, got)
		}
	}
	if len(c.Families) != 2 {
		t.Errorf("%d families", len(c.Families))
	}
}

// An HTTPRoute says its Gateway, and that its class. Reference: docs/model/simulator.md 5.2.
func TestEvidenceOfAnHTTPRoute(t *testing.T) {
	t.Parallel()
	const (
		unknown = "envoy-gateway assumed ?l7-generic ?aws-alb-ip ?gke-l7-neg"
		other   = "l7-generic assumed"
	)
	for name, tt := range map[string]struct{ ref, gateway, class, want string }{ // order: each for itself
		"the Gateway is not in the input":            {"name: g", "", "", unknown},
		"a Gateway of another namespace":             {"name: g", "{name: g, namespace: infra}|eg", "", unknown},
		"which the route names":                      {"name: g, namespace: infra", "{name: g, namespace: infra}|eg", "", "envoy-gateway inferred"},
		"Envoy Gateway by another name":              {"name: g", "{name: g, namespace: shop}|envoy-internal", "", "envoy-gateway inferred"},
		"Envoy Gateway by its controller":            {"name: g", "{name: g, namespace: shop}|own", "gateway.envoyproxy.io/gatewayclass-controller", "envoy-gateway inferred"},
		"GKE":                                        {"name: g", "{name: g, namespace: shop}|gke-l7-regional-external-managed", "", "gke-l7-neg inferred"},
		"an ALB":                                     {"name: g", "{name: g, namespace: shop}|aws-alb", "", "aws-alb-ip inferred"},
		"Istio":                                      {"name: g", "{name: g, namespace: shop}|istio", "istio.io/gateway-controller", other},
		"nginx, which is not ingress-nginx":          {"name: g", "{name: g, namespace: shop}|nginx", "", "l7-generic assumed ?envoy-gateway"},
		"somebody else's class of the name of GKE's": {"name: g", "{name: g, namespace: shop}|gke-l7-own", "example.com/controller", other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\nspec:\n" +
				"  parentRefs: [{" + tt.ref + "}]\n  rules: [{backendRefs: [{name: web, port: 80}]}]\n"
			if meta, class, ok := strings.Cut(tt.gateway, "|"); ok {
				more += "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: " + meta + "\nspec: {gatewayClassName: " + class + "}\n"
				if tt.class != "" {
					more += "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: " + class + "}\nspec: {controllerName: " + tt.class + "}\n"
				}
			}
			c := inferOne(t, routedWeb("", "", more), Options{})
			if got := throughWhat(t, c.Scenario); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What --lb says goes for what it can be: a proxy for what an Ingress names, a load balancer for
// Services that have one.
func TestWhatALoadBalancerIsFor(t *testing.T) {
	t.Parallel()
	const typed, ingress = "type: LoadBalancer", "ingress"
	for name, tt := range map[string]struct {
		spec, more string
		opts       Options
		want       string
	}{ // order: each for itself
		"a proxy, for an Ingress":                           {"", ingress, Options{LB: "envoy-gateway"}, "envoy-gateway"},
		"a proxy, for an Ingress to a Service with its own": {typed, ingress, Options{LB: "envoy-gateway"}, "envoy-gateway"},
		"a load balancer, for a Service with its own":       {typed, ingress, Options{LB: "azure-standard"}, "azure-standard-cluster"},
		"none, for an Ingress":                              {"", ingress, Options{LB: "none"}, "the ingress or gateway is left out (load balancer none)"},
		"its fields":                                        {"", ingress, Options{LB: "ingress-nginx", Set: []string{"loadBalancer.retries=0"}}, "ingress-nginx"},
		"fields alone settle which one it is":               {"", ingress, Options{Set: []string{"loadBalancer.retries=1"}}, "l7-generic assumed"},
		"pods need no node port":                            {"type: LoadBalancer\n  allocateLoadBalancerNodePorts: false", "", Options{LB: "aws-nlb-ip"}, "aws-nlb-ip"},
		"nodes need one": {"type: LoadBalancer\n  allocateLoadBalancerNodePorts: false", "", Options{LB: "azure-standard"},
			"the Service has no node port, and load balancer azure-standard-cluster sends to nodes"},
		"where there is none it is one that sends to pods": {"type: LoadBalancer\n  allocateLoadBalancerNodePorts: false", "", Options{}, "aws-nlb-ip assumed"},
		"one without any delay needs one, too":             {"type: LoadBalancer\n  allocateLoadBalancerNodePorts: false", "", Options{LB: "none"}, "the Service has no node port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := ""
			if tt.more == ingress {
				more = anIngress("", "")
			}
			find := inferOne
			if through := map[string]string{"a load balancer, for a Service with its own": "the Service's", "a proxy, for an Ingress to a Service with its own": "Ingress i"}[name]; through != "" {
				find = func(t *testing.T, text string, opts Options) *Case { return inferThrough(t, text, through, opts) }
			}
			c := find(t, routedWeb(tt.spec, "", more), tt.opts)
			if got := throughWhat(t, c.Scenario); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// gRPC that an Ingress names goes through its proxy, too.
func TestCallsThroughAnIngress(t *testing.T) {
	t.Parallel()
	text := strings.Replace(routedWeb("", "", anIngress("", "ingressClassName: nginx")), "targetPort: 8080", "targetPort: 8080, name: grpc", 1)
	text = strings.Replace(text, "port: {number: 80}", "port: {name: grpc}", 1)
	c := inferOne(t, text, Options{})
	if got := throughWhat(t, c.Scenario); got != "ingress-nginx inferred" || c.Traffic != "gRPC, through an Ingress :80" {
		t.Errorf("%s: %s", c.Traffic, got)
	}
}

// What is asked from outside is judged on its way there: that clients inside the cluster, who ask the Service, are not, is said once for all
// streams, with what they do not ask; of a Service that nothing leads to there is nothing to say.
func TestClientsInsideAreSaidNotToBeJudged(t *testing.T) {
	t.Parallel()
	ingress := anIngress("", "ingressClassName: nginx")
	grpc := func(text string) string {
		return strings.Replace(text, "targetPort: 8080", "targetPort: 8080, name: grpc", 1)
	}
	for name, tt := range map[string]struct { // order: each for itself
		text, lb, want string
	}{
		"an Ingress":                      {routedWeb("", "", ingress), "", "its Ingress"},
		"nothing":                         {altWeb, "", ""},
		"gRPC, nothing":                   {grpc(altWeb), "", ""},
		"ports of nodes":                  {routedWeb("type: NodePort", "", ""), "", "a port of the nodes"},
		"gRPC, ports of nodes":            {grpc(routedWeb("type: NodePort", "", "")), "", "a port of the nodes"},
		"a load balancer":                 {routedWeb("type: LoadBalancer", "", ""), "gke-l4", "its load balancer"},
		"gRPC, a load balancer":           {grpc(routedWeb("type: LoadBalancer", "", "")), "gke-l4", "its load balancer"},
		"a load balancer, and an Ingress": {routedWeb("type: LoadBalancer", "", ingress), "gke-l4", "its load balancer"},
	} {
		var said []string
		var c *Case
		if strings.HasSuffix(name, "and an Ingress") {
			c = inferThrough(t, tt.text, "the Service's", Options{LB: tt.lb})
		} else {
			c = inferOne(t, tt.text, Options{LB: tt.lb})
		}
		for _, left := range c.Scenario.NotModelled {
			if left.ID == world.InsideClients {
				said = append(said, strings.TrimPrefix(left.What, "clients inside the cluster, who ask the Service and not "))
			}
		}
		if got := strings.Join(said, ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Nodes that are made up have the labels that a pod asks for, and that is an assumption.
func TestMadeUpNodesHaveTheLabelsThatPodsAskFor(t *testing.T) {
	t.Parallel()
	const selected = "spec:\n      nodeSelector: {disktype: ssd}\n      containers:"
	for _, tt := range []struct{ text, want string }{
		{altWeb, "3"}, {strings.Replace(altWeb, "spec:\n      containers:", selected, 1), "3, each with the labels that the pods ask for (nodeSelector, node affinity)"},
	} {
		if got := assumedValue(inferOne(t, tt.text, Options{}).Scenario, "nodes"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// What follows an Ingress finds the pods of a headless Service as of any other: its requests are judged. Who asks for the name is not, and
// is said to be left out; nor are ports that no route leads to.
func TestAnIngressInFrontOfAHeadlessService(t *testing.T) {
	t.Parallel()
	headless := strings.Replace(routedWeb("clusterIP: None", "", anIngress("", "ingressClassName: nginx")), "ports: [{port: 80", "ports: [{name: gossip, port: 7946}, {name: http, port: 80", 1)
	cases, problems := casesIn(t, headless, Options{Actions: []string{"rollout"}})
	if len(cases) != 1 || cases[0].Class != ClassOutside || cases[0].Scenario == nil || cases[0].Verdict == NotJudged {
		t.Fatalf("%d cases, %v: %+v", len(cases), problems, cases)
	}
	said := ""
	for _, l := range cases[0].Scenario.NotModelled {
		said += l.What + "\n"
	}
	if !strings.Contains(said, "headless Service web (in.yaml:") || !strings.Contains(said, "its clients inside the cluster choose the pod, and are not judged") {
		t.Errorf("%s", said)
	}
	plain, _ := casesIn(t, routedWeb("", "", anIngress("", "ingressClassName: nginx")), Options{Actions: []string{"rollout"}})
	if cases[0].Traffic != plain[0].Traffic || cases[0].ID != plain[0].ID {
		t.Errorf("%s %s, with an address %s %s", cases[0].ID, cases[0].Traffic, plain[0].ID, plain[0].Traffic)
	}
}
