package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
)

// fallsBack is a port of node-1: from outside its own pod, which is terminating, from the cluster that of another node, and a third one
// that nobody uses.
func fallsBack() *explain.Explanation {
	const own, other, failing = "10.244.1.7:8080", "10.244.2.4:8080", "10.244.2.5:8080"
	fallback, used, not := explain.Reasoned{Used: true, Reason: "terminating-fallback"}, explain.Reasoned{Used: true, Reason: "ready"}, explain.Reasoned{Reason: "remote"}
	return &explain.Explanation{Node: "node-1", KubernetesVersion: "1.36", TerminatingFallback: "on", Services: []explain.Service{{
		Service: "default/web", PortNumber: 80, Protocol: "TCP", IPFamily: "IPv4", ExternalTrafficPolicy: "Local", InternalTrafficPolicy: "Cluster",
		UsesTerminating: explain.UsesTerminating{Local: true}, HealthCheckNodePort: &explain.HealthPort{Port: 31234, Status: 503},
		Traffic: []explain.Traffic{
			{From: "outside", To: "external", Action: "forward", List: "Local", Endpoints: []string{own}},
			{From: "node", To: "clusterIP", Action: "forward", List: "Cluster", Endpoints: []string{other}},
		},
		Decisions: []explain.Decision{
			{Endpoint: other, Node: "node-2", Conditions: explain.Conditions{Ready: true, Serving: true}, Cluster: used, Local: not, Why: "ready; elsewhere"},
			{Endpoint: failing, Node: "node-2", Conditions: explain.Conditions{Terminating: true}, Cluster: not, Local: not, Why: "its probe fails"},
			{Endpoint: own, Node: "node-1", IsLocal: true, Conditions: explain.Conditions{Serving: true, Terminating: true}, Cluster: not, Local: fallback, Why: "nothing ready is here"},
		},
	}}}
}

func nodePage(t *testing.T, x *explain.Explanation) *NodePage {
	t.Helper()
	p, err := PageOfNode(x)
	if err != nil {
		t.Fatal(err)
	}
	fits(t, p.Picture)
	if !strings.Contains(p.Picture, "<style>"+p.Style+"</style>") {
		t.Error("the picture has another style")
	}
	return p
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			t.Errorf("no %q, or not in its order", part)
			continue
		}
		text = rest
	}
}

// Live, fallback and dead ways differ in more than colour, and each endpoint has its state in words.
func TestTheWaysOfANode(t *testing.T) {
	t.Parallel()
	p := nodePage(t, fallsBack())
	inOrder(t, p.Picture, "What node-1 does with new connections to default/web", "from outside", "policy Local", `class="bar fallback"`, "falls back to 1 endpoint",
		"still serves; nothing ready here", "from the cluster", "uses 1 endpoint", "ready, on any node", "asks port 31234", "answers 503: send no more", "0 ready on this node",
		"on node-1, this node", `class="bar leaving"`, "10.244.1.7:8080", "terminating, still serves", `class="way falls"`, "on node-2", `class="bar ready"`, `class="way"`,
		`class="bar closed"`, "terminating, not serving", "not used")
	if n := strings.Count(p.Picture, "not used"); n != 1 {
		t.Errorf("%d endpoints are not used", n)
	}
	if strings.Contains(p.Picture, `class="dead"`) {
		t.Error("a way is dead")
	}
	if !strings.Contains(nodeStyle, ".way.falls { stroke: #9a3d73; stroke-dasharray") || !strings.Contains(nodeStyle, "@media (prefers-color-scheme: dark)") {
		t.Error("the style tells no dashed ways, or knows no dark scheme")
	}
	x := fallsBack()
	s := &x.Services[0]
	s.Traffic[0] = explain.Traffic{From: "outside", To: "external", Action: "drop"}
	s.Traffic[1] = explain.Traffic{From: "node", To: "clusterIP", Action: "reject"}
	s.HealthCheckNodePort.LocalEndpoints, s.HealthCheckNodePort.Status = 1, 200
	dead := nodePage(t, x).Picture
	inOrder(t, dead, `class="dead"`, `class="cross"`, `class="bar cut"`, "DROPS", "the client waits; none usable here", `class="dead"`, "REJECTS", "refused at once; none usable anywhere", `class="bar ready"`, "answers 200: send")
	if n := strings.Count(dead, "not used"); n != 3 {
		t.Errorf("%d endpoints are not used", n)
	}
}

// The tables say what the picture says.
func TestTheTablesOfANode(t *testing.T) {
	t.Parallel()
	p := nodePage(t, fallsBack())
	if p.Whose != "As kube-proxy 1.36 does it on node-1 (zone unknown), terminating fallback on." || len(p.Ports) != 1 || p.Ports[0].Title != "default/web 80/TCP, IPv4" {
		t.Errorf("%s %+v", p.Whose, p.Ports)
	}
	if got, want := fmt.Sprint(p.Ports[0].Ways), "[[from outside policy Local 10.244.1.7:8080 still serving though terminating: no ready endpoint on this node (KEP-1669)]"+
		" [from the cluster policy Cluster 10.244.2.4:8080 ready]"+
		" [health port 31234  answers 503 0 ready endpoints here: load balancers are told to leave while 10.244.1.7:8080 still serves]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []NodeEndpoint{
		{"10.244.2.4:8080", "node-2", "", "yes", "yes", "no", "not used", "used", "ready; elsewhere"},
		{"10.244.2.5:8080", "node-2", "", "no", "no", "yes", "not used", "not used", "its probe fails"},
		{"10.244.1.7:8080", "node-1 (this node)", "", "no", "yes", "yes", "fallback", "not used", "nothing ready is here"},
	}
	if got := p.Ports[0].Endpoints; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	x := fallsBack()
	x.Services[0].ExternalTrafficPolicy, x.Services[0].Traffic = "", x.Services[0].Traffic[1:]
	if inside := nodePage(t, x).Ports[0]; inside.Outside || inside.Endpoints[0].Outside != "" || len(inside.Ways) != 2 {
		t.Errorf("%+v", inside)
	}
}

// A picture stays small, says what it leaves out, and shows first what is used; names are text.
func TestThePictureOfANodeIsBounded(t *testing.T) {
	t.Parallel()
	x := fallsBack()
	s := &x.Services[0]
	s.Traffic[1].Endpoints = nil
	for i := range 40 {
		e := s.Decisions[1]
		e.Endpoint, e.Node = fmt.Sprintf("10.244.3.%d:8080", i), fmt.Sprintf("<b>&node-%02d</b> of a name that is longer than there is room for", i)
		if i >= 35 {
			s.Traffic[1].Endpoints = append(s.Traffic[1].Endpoints, e.Endpoint)
		}
		s.Decisions = append(s.Decisions, e)
	}
	p := nodePage(t, x)
	inOrder(t, p.Picture, "uses 5, each 1 in 5", "10.244.3.39:8080", "and 31 more, in the table")
	if n := strings.Count(p.Picture, `class="way"`); n != 3+5 || strings.Contains(p.Picture, "<b>") || len(p.Ports[0].Endpoints) != 43 {
		t.Errorf("%d ways, %d endpoints in the table", n, len(p.Ports[0].Endpoints))
	}
	for range 5 {
		x.Services = append(x.Services, *s)
	}
	x.Services[0].Decisions = nil
	inOrder(t, nodePage(t, x).Picture, "default/web 80/TCP, IPv4", "no endpoints", "default/web 80/TCP, IPv4", "and 2 more ports, not drawn")
	inOrder(t, nodePage(t, &explain.Explanation{}).Picture, "What a node without a name does", "No Service of the input is proxied.")
}
