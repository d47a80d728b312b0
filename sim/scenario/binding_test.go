package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// aBinding is a TargetGroupBinding for the web, with labels and the rest of its spec.
func aBinding(labels, spec string) string {
	return "---\napiVersion: elbv2.k8s.aws/v1beta1\nkind: TargetGroupBinding\nmetadata: {name: b, namespace: shop, labels: {" + labels + "}}\n" +
		"spec: {serviceRef: {name: web, port: 80}, targetGroupARN: a" + spec + "}\n"
}

// A Service that is bound to a target group is behind an ALB or an NLB, with the targets that the binding says.
func TestATargetGroupBindingLeadsThroughAnALBOrAnNLB(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct { // order: each for itself
		spec, binding, lb, want string
	}{
		"pods":                           {"", aBinding("", ", targetType: ip"), "", "aws-alb-ip aws-nlb-ip"},
		"nodes":                          {"type: NodePort", aBinding("", ", targetType: instance"), "", "aws-alb-instance aws-nlb-instance-cluster"},
		"nothing said, no node port":     {"", aBinding("", ""), "", "aws-alb-ip aws-nlb-ip"},
		"nothing said, with a node port": {"type: NodePort", aBinding("", ""), "", "aws-alb-ip aws-nlb-ip aws-alb-instance aws-nlb-instance-cluster"},
		"HTTP is an ALB's":               {"", aBinding("", ", targetType: ip, targetGroupProtocolVersion: HTTP2"), "", "aws-alb-ip"},
		"said by --lb: an NLB":           {"", aBinding("", ", targetType: ip"), "aws-nlb-ip", "aws-nlb-ip"},
		"said by --lb: an ALB":           {"", aBinding("", ", targetType: ip"), "aws-alb-ip", "aws-alb-ip"},
		"one that the controller made":   {"", aBinding("ingress.k8s.aws/stack: x", ", targetType: ip"), "", ""},
		"of another Service":             {"", strings.Replace(aBinding("", ""), "name: web", "name: other", 1), "", ""},
		"of another port":                {"", strings.Replace(aBinding("", ""), "port: 80", "port: 81", 1), "", ""},
		"beside it, the Service's own":   {"type: LoadBalancer", aBinding("", ", targetType: ip"), "kind", "kind-cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find := inferOne
			if tt.lb == "kind" {
				find = func(t *testing.T, text string, opts Options) *Case {
					return inferThrough(t, text, "the Service's", opts)
				}
			}
			c := find(t, routedWeb(tt.spec, "", tt.binding), Options{LB: tt.lb})
			var got []string
			for _, f := range c.Families {
				got = append(got, presetOf(t, f.Scenario))
			}
			if got == nil {
				if got = []string{presetOf(t, c.Scenario)}; got[0] == "" {
					got = nil
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q", got)
			}
			if bound := tt.want != "" && tt.lb != "kind"; bound != strings.Contains(c.Traffic, "through a TargetGroupBinding") {
				t.Errorf("clients come %s", c.Traffic)
			}
		})
	}
}

// What a case is not about is said where a reader begins: another service proxy, QUIC, an app behind a web server that ends before it.
func TestWhatIsLeftOutIsSaidFirst(t *testing.T) {
	t.Parallel()
	const (
		beside = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {kube-proxy-replacement: \"true\"}\n"
		config = "---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
		udp    = "type: LoadBalancer\n  loadBalancerClass: io.cilium/l2-announcer"
	)
	with := func(containers string) string {
		text := strings.Replace(altWeb, "image: example.com/web", "image: nginx:1.27", 1)
		text = strings.Replace(text, "{exec: {command: [/bin/drain]}}", "{sleep: {seconds: 7}}", 1)
		return strings.Replace(text, "      - name: web", containers+"      - name: web", 1)
	}
	onWindows := func(spec string) string {
		return strings.Replace(altWeb, "      containers:", "      "+spec+"\n      containers:", 1)
	}
	udpBeside := func(port string) string {
		return strings.Replace(altWeb, "{port: 80, targetPort: 8080}", "{name: http, port: 80, targetPort: 8080}, {protocol: UDP, "+port+"}", 1)
	}
	for name, tt := range map[string]struct { // order: each for itself
		text, id, want, remedy string
	}{
		"Cilium's settings":              {altWeb + beside, world.OtherProxy, "the nodes' proxy is Cilium (kube-proxy-replacement: true, web.yaml:", ""},
		"kube-proxy is not replaced":     {altWeb + strings.Replace(beside, `"true"`, `"false"`, 1), world.OtherProxy, "", ""},
		"somebody configures kube-proxy": {altWeb + beside + config, world.OtherProxy, "", ""},
		"Cilium announces at layer 2":    {routedWeb(udp, "", ""), world.OtherProxy, "the nodes' proxy is Cilium (loadBalancerClass io.cilium/l2-announcer, web.yaml:", ""},
		"Windows, by its os":             {onWindows("os: {name: windows}"), world.OtherProxy, "its pods run on Windows (web.yaml:11): kube-proxy there is winkernel", ""},
		"Windows, by its nodes":          {onWindows("nodeSelector: {kubernetes.io/os: windows}"), world.OtherProxy, "its pods run on Windows (web.yaml:11)", ""},
		"Linux, by its nodes":            {onWindows("nodeSelector: {kubernetes.io/os: linux}"), world.OtherProxy, "", ""},
		"a port of nodes beside a Service": {strings.Replace(routedWeb("type: LoadBalancer", "", ""), "{containerPort: 8080}", "{containerPort: 8080, hostPort: 80}", 1), world.ByNodePort,
			"clients of host port 80 (web.yaml:11), who do not come through the Service", ""},
		"any port of nodes, without a load balancer": {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080, hostPort: 9}", 1), world.ByNodePort,
			"clients of host port 9 (web.yaml:11), who do not come through the Service, are not judged", ""},
		"several ports of nodes": {strings.Replace(routedWeb("type: LoadBalancer", "", ""), "{containerPort: 8080}",
			"{containerPort: 8080, hostPort: 9}, {containerPort: 81, hostPort: 80}, {containerPort: 8125, hostPort: 8125, protocol: UDP}", 1), world.ByNodePort, "clients of host port 80, 9, 8125 (", ""},
		"a port of nodes for metrics":   {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080}, {name: http-metrics, containerPort: 9, hostPort: 9}", 1), world.ByNodePort, "", ""},
		"a port of nodes for operators": {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080}, {name: health, containerPort: 9, hostPort: 9}", 1), world.ByNodePort, "", ""},
		"a port of nodes for peers":     {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080}, {name: gossip, containerPort: 9, hostPort: 9}", 1), world.ByNodePort, "", ""},
		"the number of an exporter":     {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080}, {containerPort: 9100, hostPort: 9100}", 1), world.ByNodePort, "", ""},
		"the network of its node": {strings.Replace(onWindows("hostNetwork: true"), "{containerPort: 8080}", "{containerPort: 8080}, {containerPort: 9, hostPort: 9}", 1), world.ByNodePort,
			"clients of host port 9 (web.yaml:12), who do not come through the Service, are not judged", ""},
		"a port there that says nothing of the node's": {strings.Replace(onWindows("hostNetwork: true"), "{containerPort: 8080}", "{containerPort: 8080}, {containerPort: 53, protocol: UDP}", 1), world.ByNodePort, "clients of host port 53 (web.yaml:12)", ""},
		"one with the number of what the Service leads to": {strings.Replace(strings.Replace(onWindows("hostNetwork: true"), "targetPort: 8080", "targetPort: 53", 1), "{containerPort: 8080}", "{containerPort: 53}, {containerPort: 53, protocol: UDP}", 1),
			world.ByNodePort, "clients of host port 53 (", ""},
		"one that a Service leads to":      {strings.Replace(strings.Replace(onWindows("hostNetwork: true"), "targetPort: 8080", "targetPort: 53", 1), "{containerPort: 8080}", "{containerPort: 53}", 1), world.ByNodePort, "", ""},
		"one for metrics there":            {strings.Replace(onWindows("hostNetwork: true"), "{containerPort: 8080}", "{containerPort: 8080}, {name: metrics, containerPort: 9253}", 1), world.ByNodePort, "", ""},
		"one that the kubelet asks":        {strings.Replace(onWindows("hostNetwork: true"), "{containerPort: 8080}]", "{containerPort: 8080}, {containerPort: 5555}]\n        livenessProbe: {httpGet: {port: 5555}}", 1), world.ByNodePort, "", ""},
		"a port without the node's own":    {strings.Replace(altWeb, "{containerPort: 8080}", "{containerPort: 8080}, {containerPort: 53, protocol: UDP}", 1), world.ByNodePort, "", ""},
		"php-fpm behind nginx":             {with("      - {name: php, image: php:8.3-fpm}\n"), world.Needed, "", ""}, // it is simulated
		"php-fpm with the same delay":      {with("      - {name: php, image: php:8.3-fpm, lifecycle: {preStop: {sleep: {seconds: 7}}}}\n"), world.Needed, "", ""},
		"php-fpm cuts at once":             {strings.Replace(with("      - {name: php, image: acme/php-8.1-fpm}\n"), "{preStop: {sleep: {seconds: 7}}}", "{}", 1), world.Needed, "container php (web.yaml:12) cuts what it is answering", "process_control_timeout = 20"},
		"behind nginx with an app's files": {strings.Replace(with("      - {name: php, image: php:8.3-fpm}\n"), "nginx:1.27", "acme/nginx-drupal", 1), world.Needed, "", ""}, // it is simulated
		"what nginx does not need, as far": {with("      - {name: php, image: example.com/x}\n"), world.Needed, "", ""},
		"a UDP port called quic":           {udpBeside("name: quic, port: 8443, targetPort: 8080"), world.LongUDP, "UDP port quic (web.yaml:22) is by its name", ""},
		"UDP 443":                          {udpBeside("name: other, port: 443, targetPort: 8080"), world.LongUDP, "UDP port other (web.yaml:22) is by its number", ""},
		"another UDP port":                 {udpBeside("name: other, port: 444, targetPort: 8080"), world.LongUDP, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := ""
			objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
			cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
			if len(problems) > 0 || len(cases) == 0 {
				t.Fatalf("%d cases, %v", len(cases), problems)
			}
			first := slices.IndexFunc(cases, func(c Case) bool { return c.Scenario != nil })
			for _, n := range cases[first].Scenario.NotModelled {
				if n.ID == tt.id {
					found += n.What
					if !world.Foremost(n.ID) || !strings.Contains(n.Remedy, tt.remedy) || (n.Remedy == "") != (tt.remedy == "") {
						t.Errorf("%s: %q", n.ID, n.Remedy)
					}
				}
			}
			if !strings.HasPrefix(found, tt.want) || (found == "") != (tt.want == "") {
				t.Errorf("%q", found)
			}
		})
	}
}

// A target port that stands in no container, beside some that do, is warned of, with the container that is taken for its server.
func TestATargetPortThatNoContainerDeclares(t *testing.T) {
	t.Parallel()
	for ports, want := range map[string]string{ // order: each for itself
		"{port: 80, targetPort: 8080}": "",
		"{port: 80, targetPort: 9}":    "web.yaml:22:34: Service shop/web: spec.ports[0].targetPort: no container of the pods it selects declares port 9: container web is taken to listen there",
		"{port: 443}":                  "web.yaml:22:18: Service shop/web: spec.ports[0].port: no container of the pods it selects declares port 443, which is the port's own, for it has no targetPort: container web is taken to listen there",
		"{name: metrics, port: 9090}":  "",
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(altWeb, "{port: 80, targetPort: 8080}", ports, 1))}}, manifest.Options{})
		_, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
		got := ""
		for _, p := range problems {
			got += p.String()
		}
		if got != want {
			t.Errorf("%s: %s", ports, got)
		}
	}
	if _, problems := inferKept(t, bare(t), Options{Actions: []string{"rollout"}}); len(problems) > 0 {
		t.Errorf("without any port: %v", problems)
	}
}

// bare is the web without declared ports.
func bare(t *testing.T) *manifest.Objects {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(altWeb, "        ports: [{containerPort: 8080}]\n", "", 1))}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return objects
}

// An app behind a web server that is told to stop together with it is named, too: what the web server is still finishing may fail.
func TestWhatEndsTogetherWithItsWebServerIsNamed(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "image: example.com/web", "image: nginx:1.27", 1)
	text = strings.Replace(text, "{exec: {command: [/bin/drain]}}", "{sleep: {seconds: 7}}", 1)
	const want = "container php is told to stop together with web, which passes its requests on to it: what web is still finishing then may fail (502)"
	for php, named := range map[string]bool{
		"image: php:8.3-fpm, lifecycle: {preStop: {sleep: {seconds: 7}}}":  true,
		"image: php:8.3-fpm, lifecycle: {preStop: {sleep: {seconds: 20}}}": false,
		"image: php:8.3-fpm": false, // before it, which is said in other words
		"image: example.com/x, lifecycle: {preStop: {sleep: {seconds: 7}}}": false,
	} {
		pod := strings.Replace(text, "      - name: web", "      - {name: php, "+php+"}\n      - name: web", 1)
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(pod)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
		if len(problems) > 0 || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", php, len(cases), problems)
		}
		got := slices.ContainsFunc(cases[0].Scenario.NotModelled, func(n world.NotModelled) bool { return n.What == want })
		if got != named {
			t.Errorf("%s: named %v: %v", php, got, cases[0].Scenario.NotModelled)
		}
	}
}
