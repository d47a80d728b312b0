package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// presetOf is the load balancer that all streams of a Scenario go through, "" for none.
func presetOf(t *testing.T, s *world.Scenario) string {
	t.Helper()
	var names []string
	for i := range s.Traffic {
		tr := &s.Traffic[i]
		if tr.LB == nil {
			names = append(names, "")
			continue
		}
		if !tr.External || tr.HealthyNodesOnly || tr.LB.Service != "shop/web" {
			t.Errorf("%s: %+v", tr.LB.Preset, tr)
		}
		names = append(names, tr.LB.Preset)
	}
	if names = distinct(names); len(names) != 1 {
		t.Fatalf("the streams differ: %q", names)
	}
	return names[0]
}

// assumptionOf is one of a Scenario's assumptions: its basis and value.
func assumptionOf(s *world.Scenario, id string) (basis, value string) {
	for _, a := range s.Assumptions {
		if a.ID == id {
			return a.Basis, a.Value
		}
	}
	return "", ""
}

// A load balancer of which nothing is known is each one that it might be, none of them the one
// without any delay; one of which something is known is those that this leaves.
func TestACaseIsMadeForEachLoadBalancerThatItMightBe(t *testing.T) {
	t.Parallel()
	const (
		local, cluster = "type: LoadBalancer\n  externalTrafficPolicy: Local", "type: LoadBalancer"
		noPorts        = "type: LoadBalancer\n  allocateLoadBalancerNodePorts: false"
	)
	node := func(id string) string {
		return "---\napiVersion: v1\nkind: Node\nmetadata: {name: first}\nspec: {providerID: \"" + id + "\"}\n"
	}
	autoNode := node("aws:///eu-west-1a/i-0123") + "---\napiVersion: v1\nkind: Node\nmetadata: {name: second, labels: {eks.amazonaws.com/compute-type: auto}}\n"
	status := func(ingress string) string { return "status: {loadBalancer: {ingress: [" + ingress + "]}}\n" }
	for name, tt := range map[string]struct { // order: each for itself
		spec, annotation, more string
		opts                   Options
		basis, want            string
	}{
		"nothing is known, policy Local": {local, "", "", Options{}, "assumed",
			"gke-l4-local azure-standard-local aws-nlb-ip aws-nlb-instance-local aws-classic-local metallb-l2-local"},
		"nothing is known, policy Cluster": {cluster, "", "", Options{}, "assumed",
			"gke-l4-cluster azure-standard-cluster aws-nlb-ip aws-nlb-instance-cluster aws-classic-cluster metallb-l2-cluster"},
		"one that sends to nodes wants node ports":           {noPorts, "", "", Options{}, "assumed", "aws-nlb-ip"},
		"one annotation leaves one":                          {local, "cloud.google.com/l4-rbs: enabled", "", Options{}, "inferred", "gke-l4-local"},
		"another leaves two":                                 {local, "metallb.io/address-pool: a", "", Options{}, "inferred", "metallb-l2-local metallb-bgp-local"},
		"whoever gives fields knows which one":               {local, "metallb.io/address-pool: a", "", Options{Set: []string{"loadBalancer.drain=1s"}}, "inferred", "metallb-l2-local"},
		"an environment":                                     {local, "", "", Options{Env: "gke"}, "preset", "gke-l4-local gke-legacy-external-local"},
		"nodes of AWS, none of EKS Auto Mode":                {local, "", node("aws:///eu-west-1a/i-0123"), Options{}, "inferred", "aws-classic-local aws-nlb-instance-local"},
		"a Service that asks for pods as targets has them":   {local, "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip", node("aws:///eu-west-1a/i-0123"), Options{}, "inferred", "aws-nlb-ip"},
		"a node of EKS Auto Mode":                            {local, "", autoNode, Options{}, "inferred", "aws-nlb-ip"},
		"some cluster of EKS may be in Auto Mode":            {local, "", "", Options{Env: "eks"}, "preset", "aws-classic-local aws-nlb-instance-local aws-nlb-ip"},
		"a private address is announced by nodes":            {local, "", status("{ip: 10.1.2.3}"), Options{}, "assumed", "metallb-l2-local metallb-bgp-local"},
		"a public address is none of AWS":                    {cluster, "", status("{ip: 203.0.113.9}"), Options{}, "assumed", "gke-l4-cluster azure-standard-cluster metallb-l2-cluster"},
		"a name of somebody else is none of AWS":             {cluster, "", status("{hostname: lb.example.org}"), Options{}, "assumed", "gke-l4-cluster azure-standard-cluster metallb-l2-cluster"},
		"a name of AWS in China":                             {cluster, "", status("{hostname: a-1.elb.cn-north-1.amazonaws.com.cn}"), Options{}, "inferred", "aws-nlb-instance-cluster"},
		"Cilium announces at layer 2":                        {local + "\n  loadBalancerClass: io.cilium/l2-announcer", "", "", Options{}, "assumed", "metallb-l2-local"},
		"Cilium announces over BGP":                          {local + "\n  loadBalancerClass: io.cilium/bgp-control-plane", "", "", Options{}, "assumed", "metallb-bgp-local"},
		"another class of Cilium":                            {local + "\n  loadBalancerClass: io.cilium/node", "", "", Options{}, "assumed", "metallb-l2-local metallb-bgp-local"},
		"said by --lb":                                       {local, "", "", Options{LB: "kind"}, "", "kind-local"},
		"none is only one where somebody says it":            {local, "", "", Options{LB: "none"}, "", ""},
		"an Ingress without a class":                         {"", "", anIngress("", ""), Options{}, "assumed", "ingress-nginx l7-generic aws-alb-ip gke-l7-neg"},
		"an Ingress without a class, at AWS":                 {"", "", anIngress("", ""), Options{Env: "eks"}, "assumed", "ingress-nginx l7-generic aws-alb-ip"},
		"an Ingress without a class, at Google":              {"", "", anIngress("", "") + node("gce://p/z/n"), Options{}, "assumed", "ingress-nginx l7-generic gke-l7-neg"},
		"an Ingress without a class, at Azure":               {"", "", anIngress("", ""), Options{Env: "aks"}, "assumed", "ingress-nginx l7-generic"},
		"an Ingress whose class nobody knows":                {"", "", anIngress("", "ingressClassName: own"), Options{}, "assumed", "l7-generic ingress-nginx"},
		"an Ingress of GKE that may have NEGs":               {"type: NodePort", "", anIngress("", "ingressClassName: gce"), Options{}, "inferred", "gke-l7-neg gke-l7-instance-group"},
		"an Ingress that says its class":                     {"", "", anIngress("", "ingressClassName: nginx"), Options{}, "inferred", "ingress-nginx"},
		"a ClusterIP Service has no load balancer":           {"", "", "", Options{}, "", ""},
		"a class of EKS Auto Mode has pods for targets":      {cluster + "\n  loadBalancerClass: eks.amazonaws.com/nlb", "", "", Options{}, "inferred", "aws-nlb-ip"},
		"unless an annotation says instances":                {cluster + "\n  loadBalancerClass: eks.amazonaws.com/nlb", "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: instance", "", Options{}, "inferred", "aws-nlb-instance-cluster"},
		"the AWS Load Balancer Controller's class has nodes": {cluster + "\n  loadBalancerClass: service.k8s.aws/nlb", "", "", Options{}, "inferred", "aws-nlb-instance-cluster"},
		"an Ingress of a controller that is not simulated":   {"", "", anIngress("", "ingressClassName: kong"), Options{}, "assumed", "l7-generic"},
		"an Ingress of EKS Auto Mode":                        {"type: NodePort", "", anIngress("", "ingressClassName: edge") + "---\n{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: edge}, spec: {controller: eks.amazonaws.com/alb}}\n", Options{}, "inferred", "aws-alb-ip"},
		"an ALB's targets are instances by default":          {"type: NodePort", "", anIngress("", "ingressClassName: alb"), Options{}, "inferred", "aws-alb-instance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inferOne(t, routedWeb(tt.spec, tt.annotation, tt.more), tt.opts)
			basis, _ := assumptionOf(c.Scenario, "lb")
			if strings.Contains(tt.more, "kind: Ingress") {
				basis, _ = assumptionOf(c.Scenario, "ingress")
			}
			var got []string
			for i, f := range c.Families {
				got = append(got, presetOf(t, f.Scenario))
				if f.Scenario.Name != c.ID || f.Name != PresetName(f.Preset) || (f.Scenario == c.Scenario) != (i == 0) {
					t.Errorf("family %s, %s, of %s", f.Preset, f.Name, f.Scenario.Name)
				}
				id := map[bool]string{true: "ingress", false: "lb"}[isProxy(f.Preset)]
				if _, value := assumptionOf(f.Scenario, id); !strings.HasPrefix(value, f.Preset+" (") {
					t.Errorf("%s says it is %s", f.Preset, value)
				}
			}
			if got == nil {
				got = []string{presetOf(t, c.Scenario)}
			}
			if strings.Join(got, " ") != tt.want || basis != tt.basis {
				t.Errorf("basis %q, %q", basis, got)
			}
		})
	}
}

// What is less likely than what was taken is another value of the assumption, not a family.
func TestALessLikelyLoadBalancerIsAnAlternative(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, id, want string }{ // order: each for itself
		"an NLB that says nothing of its targets": {routedWeb("type: LoadBalancer", "service.beta.kubernetes.io/aws-load-balancer-type: external", ""), "lb", "aws-nlb-ip aws-nlb-ip that leaves a removed target after 300 s"},
		"an ALB that says nothing of its targets": {routedWeb("type: NodePort", "", anIngress("", "ingressClassName: alb")), "ingress", "aws-alb-ip aws-alb-ip that leaves a removed target after 40 s"},
		"nothing is known":                        {routedWeb("type: LoadBalancer", "", ""), "lb", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inferOne(t, tt.text, Options{}).Scenario
			before := Normal(s)
			var got []string
			for _, a := range Alternatives(s) {
				if a.ID != "ingress" && a.ID != "lb" {
					continue
				}
				name, _, _ := strings.Cut(a.Value, " ")
				if preset := presetOf(t, a.Scenario); a.ID != tt.id || preset != name {
					t.Errorf("%s %s is %s", a.ID, a.Value, preset)
				}
				got = append(got, a.Value)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("tried %s, want %s", got, tt.want)
			}
			if Normal(s) != before {
				t.Error("the scenario itself was changed")
			}
		})
	}
}

// A document of kind Scenario that does not say which load balancer it is has families, too.
func TestAScenarioHasFamilies(t *testing.T) {
	t.Parallel()
	document := func(more string) string {
		return routedWeb("type: LoadBalancer", "", "---\napiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"+
			"  traffic: [{from: external, to: shop/web:80}]\n"+more)
	}
	for more, want := range map[string]string{ // order: each for itself
		"": "gke-l4-cluster azure-standard-cluster aws-nlb-ip aws-nlb-instance-cluster aws-classic-cluster metallb-l2-cluster",
		"  loadBalancer: {preset: azure-standard}\n": "",
		"  loadBalancer: {preset: none}\n":           "",
	} {
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(document(more))}}, manifest.Options{})
		scenarios, found := parseKept(t, objects, Options{})
		if len(problems)+len(found) > 0 || len(scenarios) != 1 {
			t.Fatalf("%d scenarios, %v %v", len(scenarios), problems, found)
		}
		var got []string
		for _, f := range scenarios[0].Families {
			got = append(got, presetOf(t, f.Scenario))
			if f.Scenario.Name != "s" || len(f.Scenario.Families) > 0 && f.Scenario != scenarios[0] {
				t.Errorf("family %s: %+v", f.Preset, f.Scenario)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", more, got)
		}
	}
}

func TestEveryPresetHasANameForPeople(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range Presets() {
		name := PresetName(p.ID)
		if name != PresetName(p.Family) || name == p.Family && !slices.Contains([]string{"kind", "ingress-nginx"}, name) {
			t.Errorf("%s is called %q, its family %s %q", p.ID, name, p.Family, PresetName(p.Family))
		}
		names = append(names, name)
	}
	if len(distinct(names)) != len(familyNames()) {
		t.Errorf("%d names for %d families", len(distinct(names)), len(familyNames()))
	}
	if PresetName("f5") != "f5" {
		t.Error("a name that is none is returned as it is")
	}
	for _, name := range slices.Concat(unknownFamilies(), unknownProxies(true, ""), unknownProxies(false, "")) {
		if _, ok := presetFor(name, corev1.ServiceExternalTrafficPolicyLocal); !ok || !slices.Contains(familyNames(), name) {
			t.Errorf("%s is no family", name)
		}
	}
}

// What the machines' provider is decides what the load balancer can be: k3s has none but its nodes' own ports, and one that is not
// simulated is none of AWS's load balancers to pods.
func TestAnotherProvidersLoadBalancer(t *testing.T) {
	t.Parallel()
	for provider, c := range map[string]struct {
		families int
		direct   bool
		said     string
	}{
		"k3s://n1":               {0, true, "k3s's ServiceLB forwards ports of the nodes, by providerID k3s of Node n1: clients go to the nodes themselves"},
		"hcloud://4711":          {5, false, "the load balancer of provider hcloud (providerID of Node n1) is not simulated: others that send to nodes stand in for it"},
		"azure:///subscriptions": {0, false, ""},
		"":                       {6, false, ""},
	} {
		text := routedWeb("type: LoadBalancer", "", "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {providerID: '"+provider+"'}}\n")
		cases, problems := casesIn(t, text, Options{Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(provider, problems)
		}
		s, said := cases[0].Scenario, ""
		for _, n := range s.NotModelled {
			if strings.Contains(n.What, "Node n1") {
				said += n.What
			}
		}
		if len(cases[0].Families) != c.families || (s.Traffic[0].LB == nil) != c.direct || !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%q: %d families, load balancer %v, %q", provider, len(cases[0].Families), s.Traffic[0].LB != nil, said)
		}
		for _, f := range cases[0].Families {
			if provider != "" && f.Preset == "aws-nlb-ip" {
				t.Errorf("%q: an NLB with pods as targets", provider)
			}
		}
	}
}

// What the Service says of another maker's load balancer counts before the machines' provider.
func TestAnotherMakersLoadBalancer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, annotations, node, said string
		families                      string
	}{
		{"", "load-balancer.hetzner.cloud/location: fsn1", "", "Hetzner Cloud's load balancer (annotation load-balancer.hetzner.cloud/location) is not simulated", "gke-l4 azure-standard aws-nlb-instance aws-classic metallb-l2"},
		{"loadBalancerClass: io.cilium/l2-announcer", "", "k3s://n1", "the load balancer of loadBalancerClass io.cilium/l2-announcer is not simulated: MetalLB, layer 2 stands in", ""},
		{"loadBalancerClass: purelb.io/purelb", "", "", "the load balancer of loadBalancerClass purelb.io/purelb is not simulated: others", "metallb-l2 metallb-bgp"},
		{"loadBalancerClass: example.com/lb", "", "", "the load balancer of loadBalancerClass example.com/lb is not simulated", "gke-l4 azure-standard aws-nlb-instance aws-classic metallb-l2"},
		{"loadBalancerClass: service.k8s.aws/nlb", "", "", "", ""},
		{"", "kube-vip.io/loadbalancerIPs: 10.0.0.9", "", "kube-vip's load balancer", "metallb-l2 metallb-bgp"},
	} {
		text := strings.TrimSuffix(routedWeb("type: LoadBalancer", c.annotations, ""), "\n") + "\n  " + c.spec + "\n"
		if c.node != "" {
			text += "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {providerID: '" + c.node + "'}}\n"
		}
		cases, problems := casesIn(t, text, Options{Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(c.spec, c.annotations, problems)
		}
		var families []string
		for _, f := range cases[0].Families {
			families = append(families, f.Preset)
		}
		said := ""
		for _, n := range cases[0].Scenario.NotModelled {
			if n.ID == world.StandIn {
				said = n.What
			}
		}
		if strings.Join(families, " ") != c.families || !strings.HasPrefix(said, c.said) || (said == "") != (c.said == "") {
			t.Errorf("%s %s: %v, %q", c.spec, c.annotations, families, said)
		}
	}
}

// What stands in for a controller that is not simulated does what is known of it: a provider's gateway is slow, and some proxies try
// another pod.
func TestStandInsAreLikeWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	for class, c := range map[string]struct {
		preset  string
		retries int
		says    string
	}{
		"azure-application-gateway": {"l7-cloud", 0, "Azure Application Gateway (ingressClassName azure-application-gateway, in.yaml:"},
		"istio":                     {"l7-generic", 2, "tries 2 pods more when a connection comes to nothing"},
		"kong":                      {"l7-generic", 5, "tries 5 pods more"},
		"traefik":                   {"l7-generic", 0, "follows EndpointSlices stands in for it"},
	} {
		for _, said := range []bool{false, true} {
			opts, want := Options{Actions: []string{"rollout"}}, c.retries
			if said {
				opts.Set, want = []string{"loadBalancer.retries=1"}, 1
			}
			cases, problems := casesIn(t, routedWeb("", "", anIngress("", "ingressClassName: "+class)), opts)
			if len(cases) != 1 || cases[0].Scenario == nil {
				t.Fatal(problems)
			}
			s, words := cases[0].Scenario, ""
			for _, n := range s.NotModelled {
				if n.ID == world.StandIn {
					words = n.What
				}
			}
			lb := s.Traffic[0].LB
			if !said && (lb.Preset != c.preset || !strings.Contains(words, c.says)) || lb.Layer7.Retries != want {
				t.Errorf("%s, said %v: %s with %d retries: %q", class, said, lb.Preset, lb.Layer7.Retries, words)
			}
		}
	}
	const appgw = "appgw.ingress.kubernetes.io/"
	for annotations, want := range map[string]string{ // order: each for itself
		"konghq.com/retries: '2', konghq.com/strip-path: 'true'":                  "2: is not simulated: any proxy in the cluster that follows EndpointSlices, and tries 2 pods more",
		"konghq.com/retries: '0'":                                                 "0: is not simulated: any proxy in the cluster that follows EndpointSlices stands in",
		"konghq.com/retries: many, konghq.com/read-timeout: '1'":                  "5: is not simulated, nor what konghq.com/read-timeout asks for: any proxy in the cluster that follows EndpointSlices, and tries 5",
		appgw + "connection-draining: 'true', " + appgw + "health-probe-path: /x": "0: is not simulated, nor what " + appgw + "connection-draining and " + appgw + "health-probe-path ask for: any gateway",
		appgw + "connection-draining: 'true', " + appgw + "request-timeout: '1', " + appgw + "health-probe-path: /x, " + appgw + "ssl-redirect: 'true', " + appgw + "connection-draining-timeout: '3'": "0: is not simulated, nor what " + appgw + "connection-draining, " + appgw + "connection-draining-timeout and 2 more ask for: any gateway",
	} {
		s := inferOne(t, routedWeb("", "", anIngress(annotations, "")), Options{}).Scenario
		got := fmt.Sprintf("%d: ", s.Traffic[0].LB.Layer7.Retries)
		for _, n := range s.NotModelled {
			if _, words, ok := strings.Cut(n.What, ") "); ok && n.ID == world.StandIn {
				got += words
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", annotations, got)
		}
	}
	cloud, _ := presetFor("l7-cloud", "")
	generic, _ := presetFor("l7-generic", "")
	alb, _ := presetFor("aws-alb-ip", "")
	if !cloud.LoadBalancer.Layer7.WholeLists || !generic.LoadBalancer.Layer7.WholeLists || alb.LoadBalancer.Layer7.WholeLists {
		t.Error("an ALB is told of each target, the others of all")
	}
}

// A classic load balancer of AWS takes TCP alone: its controller refuses a Service with any other port.
func TestAClassicLoadBalancerTakesTCPAlone(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[corev1.Protocol]bool{"": true, corev1.ProtocolTCP: true, corev1.ProtocolUDP: false} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}, {Port: 3478, Protocol: protocol, NodePort: 30478}}}}
		got := fitting(unknownFamilies(), &world.Traffic{Port: 80, Protocol: endpoints.TCP}, svc)
		if slices.Contains(got, "aws-classic") != want || !slices.Contains(got, "aws-nlb-ip") {
			t.Errorf("beside a port of %q: %v", protocol, got)
		}
	}
}
