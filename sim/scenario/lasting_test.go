package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The class of a port by its name, by where it leads and by whom it is published for.
func TestClassesByWhatPortsAreCalled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec, port string
		want       string
	}{
		"requests":                             {"type: LoadBalancer, ", "name: web", ClassOutside},
		"WebSockets":                           {"type: LoadBalancer, ", "name: ws", ClassSession},
		"with TLS":                             {"type: LoadBalancer, ", "name: tcp-wss", ClassSession},
		"by appProtocol":                       {"type: LoadBalancer, ", "name: web, appProtocol: kubernetes.io/ws", ClassSession},
		"streams":                              {"", "name: rtmp", ClassSession},
		"a broker":                             {"", "name: mqtt-tls", ClassSession},
		"a name that only begins so":           {"", "name: wsgi", ClassInside},
		"published before it is ready":         {"publishNotReadyAddresses: true, ", "name: tcp-internal", ClassPeer},
		"... for clients by its name":          {"publishNotReadyAddresses: true, ", "name: http", ClassInside},
		"... for clients from outside":         {"publishNotReadyAddresses: true, type: NodePort, ", "name: internal", ClassOutside},
		"... for peers, whoever else is there": {"publishNotReadyAddresses: true, ", "name: gossip", ClassPeer},
	} {
		cases, problems := inferText(t, altWeb+"---\n{apiVersion: v1, kind: Service, metadata: {name: own, namespace: shop}, spec: {"+tt.spec+"selector: {app: web}, ports: [{"+tt.port+", port: 7777, targetPort: 7777}]}}\n", Options{})
		at := slices.IndexFunc(cases, func(c Case) bool { return strings.Contains(c.ID, "own:7777") && c.Action == ActionRollout })
		if at < 0 {
			t.Errorf("%s: no case, %v", name, problems)
			continue
		}
		if got := cases[at].Class; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// Behind a proxy of HTTP requests connections that last are simulated with requests, and that is said.
func TestLastingConnectionsBehindAnIngressAreNamed(t *testing.T) {
	t.Parallel()
	for port, want := range map[string]bool{"ws": true, "web": false} {
		text := strings.ReplaceAll(routedWeb("", "", anIngress("", "ingressClassName: nginx")), "ports: [{port: 80", "ports: [{name: "+port+", port: 80")
		s := inferOne(t, text, Options{}).Scenario
		if got := slices.ContainsFunc(s.NotModelled, func(n world.NotModelled) bool { return n.ID == world.LongLived && world.Foremost(n.ID) }); got != want || s.Traffic[0].Connection == world.ConnectionSession {
			t.Errorf("%s: %v\n%s", port, s.NotModelled, text)
		}
	}
}

// The readiness gate that a label of a Namespace asks for is named with its line; where the Namespace is not there that is said, and the other is tried.
func TestTheGateOfANamespaceIsNamed(t *testing.T) {
	t.Parallel()
	namespace := func(labels string) string {
		return "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop" + labels + "}}\n"
	}
	const autoMode = "\n  loadBalancerClass: eks.amazonaws.com/nlb"
	for name, tt := range map[string]struct{ class, more, lb, want, tried string }{
		"with the label":                   {"", namespace(", labels: {" + gateLabel + ": enabled}"), "aws-nlb-ip", "inferred injected by label " + gateLabel + " of Namespace shop (", ""},
		"without it":                       {"", namespace(""), "aws-nlb-ip", "inferred none (no label " + gateLabel + " of Namespace shop)", ""},
		"with the one of EKS Auto Mode":    {"", namespace(", labels: {" + autoModeGateLabel + ": enabled}"), "aws-nlb-ip", "inferred none (no label " + gateLabel + " of Namespace shop)", ""},
		"in EKS Auto Mode":                 {autoMode, namespace(", labels: {" + autoModeGateLabel + ": enabled}"), "aws-nlb-ip", "inferred injected by label " + autoModeGateLabel + " of Namespace shop (", ""},
		"in EKS Auto Mode, with the other": {autoMode, namespace(", labels: {" + gateLabel + ": enabled}"), "aws-nlb-ip", "inferred none (no label " + autoModeGateLabel + " of Namespace shop)", ""},
		"not in the input":                 {"", "", "aws-nlb-ip", "assumed none: Namespace shop, whose label asks for it, is not in the input", "injected"},
		"where there are none":             {"", "", "gke-l4", " ", ""},
	} {
		s := inferOne(t, routedWeb("type: LoadBalancer"+tt.class, "", tt.more), Options{LB: tt.lb}).Scenario
		basis, value := assumptionOf(s, "gate")
		if got := basis + " " + value; !strings.HasPrefix(got, tt.want) || tt.want == " " && got != " " {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got, _, _ := strings.Cut(alternativesOf(s, "gate"), ":"); got != tt.tried {
			t.Errorf("%s: tried %q, want %q", name, got, tt.tried)
		}
		if said := slices.ContainsFunc(s.NotModelled, func(n world.NotModelled) bool { return n.ID == "gate" }); said != (tt.tried != "") {
			t.Errorf("%s: %v", name, s.NotModelled)
		}
	}
}

// What is known of a hook stays when what is unknown of it takes longer or shorter, and what the grace period cuts is no other hook for that.
func TestAnUnknownProgramComesOnTopOfASleep(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][2]string{
		"/bin/drain":             {"web: uniform 0s-5s (unknown program /bin/drain)", "0s 30s"},
		"sleep 10 && /bin/drain": {"web: uniform 10s-15s (sleep 10, then unknown program /bin/drain)", "10s 40s"},
		"sleep 28 && /bin/drain": {"web: uniform 28s-33s, cut after 30s by the end of the grace period (sleep 28, then unknown program /bin/drain)", "28s 58s"},
		"sleep 60 && /bin/drain": {"web: cut after 30s by the end of the grace period (sleep 60, then unknown program /bin/drain)", ""},
	} {
		s := firstOf(t, strings.Replace(altWeb, "command: [/bin/drain]", `command: [sh, -c, "`+command+`"]`, 1))
		if got := assumedValue(s, "prestop"); got != want[0] {
			t.Errorf("%s: %q, want %q", command, got, want[0])
		}
		var tried []string
		for _, a := range Alternatives(s) {
			if a.ID == "prestop" {
				tried = append(tried, a.Scenario.Workloads[0].Hooks["web"].Duration.Max().Duration().String())
			}
		}
		if got := strings.Join(tried, " "); got != want[1] {
			t.Errorf("%s: tried %q, want %q", command, got, want[1])
		}
	}
}

// What announces addresses says which of MetalLB's two ways it is, where it is of one kind.
func TestAdvertisementsSayHowMetalLBAnnounces(t *testing.T) {
	t.Parallel()
	advert := func(kind string) string {
		return "---\n{apiVersion: metallb.io/v1beta1, kind: " + kind + ", metadata: {name: a, namespace: metallb-system}}\n"
	}
	const annotated = "metallb.io/address-pool: a"
	for name, tt := range map[string]struct{ spec, annotations, more, want string }{
		"BGP":                      {"", annotated, advert(kindBGPAdvertisement), "metallb-bgp (BGPAdvertisement a) "},
		"layer 2":                  {"", annotated, advert(kindL2Advertisement), "metallb-l2 (L2Advertisement a) "},
		"without an annotation":    {"", "", advert(kindBGPAdvertisement), "metallb-bgp (BGPAdvertisement a) "},
		"both":                     {"", annotated, advert(kindBGPAdvertisement) + advert(kindL2Advertisement), "metallb-l2 (annotation metallb.io/address-pool) metallb-l2 metallb-bgp"},
		"none":                     {"", annotated, "", "metallb-l2 (annotation metallb.io/address-pool) metallb-l2 metallb-bgp"},
		"a class of somebody else": {"\n  loadBalancerClass: networking.gke.io/l4", "", advert(kindBGPAdvertisement), "gke-l4 (loadBalancerClass networking.gke.io/l4) "},
	} {
		s := inferOne(t, routedWeb("type: LoadBalancer"+tt.spec, tt.annotations, tt.more), Options{}).Scenario
		if got := assumedValue(s, "lb") + " " + strings.Join(s.Traffic[0].Families, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// firstOf is the first case's Scenario, whatever is warned of.
func firstOf(t *testing.T, text string) *world.Scenario {
	t.Helper()
	cases, problems := inferText(t, text, Options{})
	if len(cases) == 0 || cases[0].Scenario == nil {
		t.Fatal(problems)
	}
	return cases[0].Scenario
}
