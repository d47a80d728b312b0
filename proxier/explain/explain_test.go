package explain

import (
	"bytes"
	"encoding/json"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

const (
	ready    = endpoints.Ready | endpoints.Serving
	draining = endpoints.Serving | endpoints.Terminating
	failing  = endpoints.Terminating
)

func profile(t *testing.T, version string, gates map[string]bool) endpoints.Profile {
	t.Helper()
	v, err := endpoints.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	p, err := endpoints.ProfileFor(v, gates)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Reference: facts of kube-proxy 1.36, section 2, "Truth table for one endpoint".
func TestTruthTableOfOneEndpointIsKubeProxys(t *testing.T) {
	t.Parallel()
	want := map[string][2]bool{ // r/s/t: normal use, fallback use
		"T/T/T": {true, false}, "T/T/F": {true, false}, "T/F/T": {true, false}, "T/F/F": {true, false},
		"F/T/T": {false, true}, "F/T/F": {false, false}, "F/F/T": {false, false}, "F/F/F": {false, false},
	}
	table := BuildTruthTable(profile(t, "1.36", nil))
	if len(table.Endpoint) != len(want) {
		t.Fatalf("%d rows, want %d", len(table.Endpoint), len(want))
	}
	for i, row := range table.Endpoint {
		key := conditionsAt(len(want) - 1 - i).String()
		if c := row.Conditions; c != (Conditions{key[0] == 'T', key[2] == 'T', key[4] == 'T'}) {
			t.Errorf("%s: its row is about %+v", key, c)
		}
		if got := [2]bool{row.Normal, row.Fallback}; got != want[key] {
			t.Errorf("%s: normal, fallback = %v, want %v", key, got, want[key])
		}
	}
}

// Reference: facts of kube-proxy 1.36, section 2, "Case table"; before 1.26 section 11.
func TestScopeTableIsKubeProxys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                   string
		profile                endpoints.Profile
		drainingHere, lastOnes string // what Local does with draining here only; what both do with draining only
	}{
		{"1.36", profile(t, "1.36", nil), "draining", "draining"},
		{"1.25", profile(t, "1.25", nil), "drop", "reject"},
		{"1.36 without the fallback", profile(t, "1.36", map[string]bool{"ProxyTerminatingEndpoints": false}), "drop", "reject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, row := range BuildTruthTable(c.profile).Scope {
				wantCluster, wantLocal := "", ""
				none, remoteOnly := row.Elsewhere == "none", "drop"
				if row.Elsewhere == "draining" && c.lastOnes == "reject" {
					remoteOnly = "reject" // draining endpoints elsewhere count for nothing
				}
				switch {
				case row.ReadyInScope:
					wantCluster, wantLocal = "ready", "ready"
				case row.DrainingInScope && none:
					wantCluster, wantLocal = c.lastOnes, c.lastOnes
				case row.DrainingInScope && row.Elsewhere == "draining":
					wantLocal = c.lastOnes
				case row.DrainingInScope:
					wantLocal = c.drainingHere
				case none:
					wantCluster, wantLocal = "reject", "reject"
				default:
					wantLocal = remoteOnly
				}
				if !none {
					wantCluster = ""
				}
				if row.Cluster != wantCluster || row.Local != wantLocal {
					t.Errorf("%+v: want Cluster %q, Local %q", row, wantCluster, wantLocal)
				}
			}
		})
	}
}

// world is one snapshot with a Service per combination of policies and a mix of endpoints.
func world() *endpoints.Service {
	name := endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: "shop", Name: "web"}, Port: "http"}
	ep := func(last byte, node string, c endpoints.Conditions) endpoints.Endpoint {
		return endpoints.Endpoint{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, last}), 8080), NodeName: node, Conditions: c}
	}
	return endpoints.NewService(name.ServiceName, endpoints.ServicePort{
		Name: name, Type: "LoadBalancer", Port: 80, NodePort: 30080, ClusterIP: netip.MustParseAddr("10.96.0.80"),
		LoadBalancerIPs: []netip.Addr{netip.MustParseAddr("203.0.113.10")}, HealthCheckNodePort: 31234,
		ExternalPolicy: endpoints.PolicyLocal,
		Endpoints: []endpoints.Endpoint{
			ep(7, "node-1", draining), ep(8, "node-1", failing), ep(4, "node-2", ready), ep(9, "node-2", ready),
		},
	})
}

func explainOne(svc *endpoints.Service, node *plan.Node) Service {
	b := newBuilder(svc, node)
	var scratch []endpoints.Decision
	return b.port(0, &scratch)
}

func TestUsedDecisionsAreTheLists(t *testing.T) {
	t.Parallel()
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		s := explainOne(world(), &plan.Node{Name: node, Options: endpoints.CurrentOptions()})
		var cluster, local []string
		for _, d := range s.Decisions {
			if d.Cluster.Used {
				cluster = append(cluster, d.Endpoint)
			}
			if d.Local.Used {
				local = append(local, d.Endpoint)
			}
			if d.Why == "" || d.Cluster.Sentence == "" || d.Local.Sentence == "" {
				t.Errorf("%s: %s has no sentence", node, d.Endpoint)
			}
		}
		if !slices.Equal(cluster, s.Cluster) || !slices.Equal(local, s.Local) {
			t.Errorf("%s: decisions use %v and %v, the lists are %v and %v", node, cluster, local, s.Cluster, s.Local)
		}
	}
}

func TestUnusedListIsNullAndEmptyListIsNot(t *testing.T) {
	t.Parallel()
	svc := world()
	onlyCluster := svc.Ports[0]
	onlyCluster.ExternalPolicy = endpoints.PolicyCluster
	for _, c := range []struct {
		name string
		svc  *endpoints.Service
		want string
	}{
		{"used and empty", svc, `"local":[]`},
		{"not used", endpoints.NewService(svc.Name, onlyCluster), `"local":null`},
	} {
		data, err := json.Marshal(explainOne(c.svc, &plan.Node{Name: "node-3", Options: endpoints.CurrentOptions()}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), c.want) {
			t.Errorf("%s: want %s in %s", c.name, c.want, data)
		}
	}
}

// Reference: KEP-1669: the health check fails at once while the rules still serve.
func TestHealthPortFailsWhileTheLastEndpointServes(t *testing.T) {
	t.Parallel()
	s := explainOne(world(), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()})
	if want := (HealthPort{Port: 31234, LocalEndpoints: 0, Status: 503}); *s.HealthCheckNodePort != want {
		t.Errorf("health port %+v, want %+v", *s.HealthCheckNodePort, want)
	}
	if outside := s.find("outside", "external"); outside.Action != "forward" || !slices.Equal(outside.Endpoints, []string{"10.0.1.7:8080"}) {
		t.Errorf("outside %+v", *outside)
	}
	if !s.UsesTerminating.Local || s.UsesTerminating.Cluster {
		t.Errorf("usesTerminating %+v", s.UsesTerminating)
	}
}

func TestRemarksAreWhatThePlanSays(t *testing.T) {
	t.Parallel()
	off := endpoints.CurrentOptions()
	off.TerminatingFallback = endpoints.FallbackNone
	for _, c := range []struct {
		node string
		o    endpoints.Options
		want []string
		not  string
	}{
		{"node-1", endpoints.CurrentOptions(), []string{
			"Without KEP-1669 (before 1.26): from outside this node DROPS",
			"If 10.0.1.7:8080 stops serving: from outside this node DROPS, and the client waits, since usable endpoints exist elsewhere",
			"kubectl get endpoints web shows 10.0.1.4, 10.0.1.9",
		}, ""},
		{"node-2", endpoints.CurrentOptions(), nil, "KEP-1669"},
		{"node-1", off, []string{"With KEP-1669 (1.26 and later): from outside this node uses 10.0.1.7:8080"}, "Without KEP-1669"},
	} {
		remarks := strings.Join(explainOne(world(), &plan.Node{Name: c.node, Options: c.o}).Remarks, "\n")
		for _, want := range c.want {
			if !strings.Contains(remarks, want) {
				t.Errorf("%s: want %q in\n%s", c.node, want, remarks)
			}
		}
		if c.not != "" && strings.Contains(remarks, c.not) {
			t.Errorf("%s: do not want %q in\n%s", c.node, c.not, remarks)
		}
	}
}

func TestTextAlignsStyledWords(t *testing.T) {
	t.Parallel()
	x := &Explanation{Node: "node-1", KubernetesVersion: "1.36", Services: []Service{
		explainOne(world(), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()}),
	}}
	var plain, styled bytes.Buffer
	if err := x.WriteText(&plain, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := x.WriteText(&styled, TextOptions{Style: func(_ Role, w string) string { return page.Painted("1", w) }}); err != nil {
		t.Fatal(err)
	}
	without := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(styled.String())
	if without != plain.String() {
		t.Errorf("a style changes more than colours:\n%s\n%s", plain.String(), without)
	}
}

// ports is a Service with many ports, each with the endpoints of world.
func ports(n int) *endpoints.Service {
	svc := world()
	var all []endpoints.ServicePort
	for i := range n {
		p := svc.Ports[0]
		p.Name.Port, p.Port, p.NodePort = "p"+strconv.Itoa(i), uint16(i+1), uint16(30000+i)
		all = append(all, p)
	}
	return endpoints.NewService(svc.Name, all...)
}

// Each port is explained by itself: what a port among others gets is what it would get alone.
func TestAPortIsExplainedAsIfItWereAlone(t *testing.T) {
	t.Parallel()
	const n = 5
	svc, node := ports(n), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()}
	together := BuildServices(slices.Values([]*endpoints.Service{svc}), node, profile(t, "1.36", nil), nil, func() bool { return false })
	for i := range n {
		alone := explainOne(endpoints.NewService(svc.Name, svc.Ports[i]), node)
		if diff := cmp.Diff(alone, together.Services[i]); diff != "" {
			t.Errorf("port %d (-alone +among others):\n%s", i, diff)
		}
	}
}

func TestAnExplanationThatNobodyWaitsForEnds(t *testing.T) {
	t.Parallel()
	asked := 0
	x := BuildServices(slices.Values([]*endpoints.Service{ports(5)}), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()},
		profile(t, "1.36", nil), nil, func() bool { asked++; return asked > 2 })
	if x != nil || asked != 3 {
		t.Errorf("asked %d times, want 3; explained %v", asked, x)
	}
}

// An answer for one Service, however many ports it has, has to be there within a second.
func BenchmarkExplainService8000Ports(b *testing.B) {
	svc, node := ports(8000), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()}
	p, err := endpoints.ProfileFor(endpoints.CurrentVersion(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		x := BuildServices(slices.Values([]*endpoints.Service{svc}), node, p, nil, func() bool { return false })
		if err := x.WriteText(io.Discard, TextOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Reference: kube-proxy short-circuits what the cluster sends to an external address (pkg/proxy/iptables/proxier.go, "external traffic policy
// Local": pods, where it can tell them, and the node itself go to the Cluster list; 1.36).
func TestShortCircuitsAreRemarkedWhereLocalDoesNotBindTheCluster(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr
	pods := plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16")}}
	for _, c := range []struct {
		name   string
		change func(*endpoints.ServicePort)
		pods   plan.LocalDetector
		want   string
	}{
		{"a load balancer's address", func(*endpoints.ServicePort) {}, pods, "A pod on this node calling 203.0.113.10 is short-circuited to the Cluster list, not to Local's."},
		{"an external address", func(sp *endpoints.ServicePort) {
			sp.LoadBalancerIPs, sp.ExternalIPs = nil, []netip.Addr{ip("192.0.2.1"), ip("192.0.2.2")}
		}, pods,
			"A pod on this node calling 192.0.2.1 is short-circuited to the Cluster list, not to Local's."},
		{"a node port", func(sp *endpoints.ServicePort) { sp.LoadBalancerIPs = nil }, pods, "A pod on this node calling node port 30080 is short-circuited to the Cluster list, not to Local's."},
		{"pods that cannot be told", func(*endpoints.ServicePort) {}, plan.LocalDetector{},
			"A process on this node calling 203.0.113.10 is short-circuited to the Cluster list; a pod too, if kube-proxy can tell it is one (clusterCIDR)."},
		{"policy Cluster", func(sp *endpoints.ServicePort) { sp.ExternalPolicy = endpoints.PolicyCluster }, pods, ""},
		{"nothing external", func(sp *endpoints.ServicePort) { sp.LoadBalancerIPs, sp.NodePort = nil, 0 }, pods, ""},
	} {
		sp := world().Ports[0]
		c.change(&sp)
		b := newBuilder(endpoints.NewService(world().Name, sp), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions(), Detector: c.pods})
		if got := b.shortCircuit(0); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Reference: the Endpoints API lists terminating pods with publishNotReadyAddresses only (pkg/controller/endpoint, ShouldPodBeInEndpoints; 1.36).
func TestWhatKubectlShowsOfEndpointsIsRemarkedWhereAPodTerminates(t *testing.T) {
	t.Parallel()
	ep := func(last byte, port uint16, c endpoints.Conditions) endpoints.Endpoint {
		return endpoints.Endpoint{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, last}), port), Conditions: c}
	}
	for want, list := range map[string][]endpoints.Endpoint{
		"": {ep(1, 80, ready), ep(2, 80, endpoints.Serving)},
		"kubectl get endpoints web shows 10.0.1.1: terminating pods are not in it.":           {ep(1, 80, ready), ep(1, 81, ready), ep(2, 80, draining)},
		"kubectl get endpoints web shows 10.0.1.1, 10.0.1.3: terminating pods are not in it.": {ep(1, 80, ready), ep(2, 80, draining), ep(3, 80, ready)},
		"kubectl get endpoints web shows <none>: terminating pods are not in it.":             {ep(2, 80, draining)},
	} {
		sp := world().Ports[0]
		sp.Endpoints = list
		b := newBuilder(endpoints.NewService(world().Name, sp), &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()})
		if got := b.kubectl(0); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// The head of an explanation says for which node it is, and how that decides.
func TestTheHeadOfAnExplanation(t *testing.T) {
	t.Parallel()
	keep := func(name endpoints.ServiceName) bool { return name.Name == "web" }
	other := ports(1)
	other.Name.Name = "other"
	x := BuildServices(slices.Values([]*endpoints.Service{world(), other}), &plan.Node{Name: "node-1", Zone: "a", Dialect: plan.IPTables, Options: endpoints.CurrentOptions()},
		profile(t, "1.30", map[string]bool{"ProxyTerminatingEndpoints": true}), keep, func() bool { return false })
	if x.APIVersion != APIVersion || x.Kind != "Explanation" || x.Node != "node-1" || x.Zone != "a" || x.KubernetesVersion != "1.30" || x.Mode != "iptables" ||
		x.TerminatingFallback != "on" || x.WhatIf == nil || x.Notes == nil || x.NotProxied == nil {
		t.Errorf("%+v", x)
	}
	if len(x.Services) != 1 || x.Services[0].Service != "shop/web" {
		t.Errorf("explained: %+v", x.Services)
	}
}

// Why a flow goes where it does depends on its list, on whether that fell back, and on how many share it.
func TestWhyAFlowGoesWhereItDoes(t *testing.T) {
	t.Parallel()
	cluster, local := endpoints.ClusterList.String(), endpoints.LocalList.String()
	for want, c := range map[string]struct {
		service Service
		list    string
		n       int
	}{
		"ready":                             {Service{}, cluster, 1},
		"ready, each 1 in 3":                {Service{}, cluster, 3},
		"ready on this node":                {Service{}, local, 1},
		"ready on this node, each 1 in 2":   {Service{TopologyMode: "Auto"}, local, 2},
		"ready, by topology hints (Auto)":   {Service{TopologyMode: "Auto"}, cluster, 1},
		"ready on this node, each 1 in 100": {Service{UsesTerminating: UsesTerminating{Cluster: true}}, local, 100},
		"still serving though terminating: no ready endpoint on this node (KEP-1669)":          {Service{UsesTerminating: UsesTerminating{Local: true}}, local, 1},
		"still serving though terminating: no ready endpoint anywhere (KEP-1669), each 1 in 2": {Service{UsesTerminating: UsesTerminating{Cluster: true}}, cluster, 2},
	} {
		if got := c.service.flowWhy(&Traffic{List: c.list, Endpoints: make([]string, c.n)}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The ranges of a load balancer's address are asked before any policy, of pods, too: they are named where the node drops others.
func TestSourceRangesAreNamedWhereTheNodeEnforcesThem(t *testing.T) {
	t.Parallel()
	const (
		only  = "Only callers in 198.51.100.0/24 reach 203.0.113.10 (loadBalancerSourceRanges): all others, pods and nodes too, are dropped before anything else is looked at. "
		short = "A pod on this node calling 203.0.113.10, if loadBalancerSourceRanges admit it, is short-circuited to the Cluster list, not to Local's."
		flow  = "; at 203.0.113.10 only for callers in its source ranges"
	)
	pods := plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16")}}
	for _, c := range []struct {
		name    string
		change  func(*endpoints.ServicePort)
		dialect plan.Dialect
		remark  string // "" where the node lets everybody in
	}{
		{"nftables", func(*endpoints.ServicePort) {}, plan.NFTables, only + "They do not bind the ClusterIP and node port 30080."},
		{"iptables", func(*endpoints.ServicePort) {}, plan.IPTables, only + "They do not bind the ClusterIP and node port 30080."},
		{"no node port", func(sp *endpoints.ServicePort) { sp.NodePort = 0 }, plan.NFTables, only + "They do not bind the ClusterIP."},
		{"no endpoint, nftables", func(sp *endpoints.ServicePort) { sp.Endpoints = nil }, plan.NFTables, only + "They do not bind the ClusterIP and node port 30080."},
		{"no endpoint, iptables", func(sp *endpoints.ServicePort) { sp.Endpoints = nil }, plan.IPTables, ""},
		{"no address yet", func(sp *endpoints.ServicePort) { sp.LoadBalancerIPs = nil }, plan.NFTables, ""},
		{"no ranges", func(sp *endpoints.ServicePort) { sp.SourceRanges = nil }, plan.NFTables, ""},
	} {
		sp := world().Ports[0]
		sp.SourceRanges = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		c.change(&sp)
		svc := endpoints.NewService(world().Name, sp)
		node := &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions(), Detector: pods, Dialect: c.dialect}
		x := explainOne(svc, node)
		remarks := strings.Join(x.Remarks, "\n")
		if bound := c.remark != ""; !strings.Contains(remarks, c.remark) || strings.Contains(remarks, "loadBalancerSourceRanges") != bound || strings.Contains(remarks, short) != bound ||
			strings.HasSuffix(x.Flows()[0].Why, flow) != bound || (len(x.LoadBalancerSourceRanges) == 1) != bound {
			t.Errorf("%s: %q, %q, %q", c.name, remarks, x.Flows()[0].Why, x.LoadBalancerSourceRanges)
		}
		if strings.Contains(x.Flows()[1].Why, "ranges") {
			t.Errorf("%s: the ClusterIP: %q", c.name, x.Flows()[1].Why)
		}
		for _, from := range []string{"198.51.100.7", "192.0.2.7", "10.0.1.4"} {
			dropped := slices.ContainsFunc(plan.ForPort(&svc.Ports[0], node), func(f plan.Frontend) bool { return !f.Admits(netip.MustParseAddr(from)) })
			if want := c.remark != "" && from != "198.51.100.7"; dropped != want {
				t.Errorf("%s: %s is dropped: %t", c.name, from, dropped)
			}
		}
	}
}
