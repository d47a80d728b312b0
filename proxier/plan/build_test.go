package plan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// routeText says a route in a few words: "Local masquerade", "drop (no local endpoints)
// input forward".
func routeText(r plan.Route) string {
	var words []string
	switch r.Action {
	case plan.Forward:
		words = append(words, r.List.String())
		if r.Masquerade {
			words = append(words, "masquerade")
		}
	case plan.Reject:
		words = append(words, "reject")
	case plan.Drop:
		words = append(words, "drop")
	}
	words = append(words, map[plan.Why]string{
		plan.ShortCircuit: "(short-circuit)", plan.NoLocalEndpoints: "(no local)", plan.NoClusterEndpoints: "(no cluster)",
	}[r.Why])
	for hook, name := range map[plan.Hooks]string{plan.Input: "input", plan.Forwarding: "forward", plan.Output: "output"} {
		if r.Hooks&hook != 0 {
			words = append(words, name)
		}
	}
	slices.Sort(words[1:])
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// routes returns the routes of a kind from pod, node and outside.
func routes(s *plan.Service, kind plan.Kind) [3]string {
	for i := range s.Frontends {
		if f := &s.Frontends[i]; f.Kind == kind {
			return [3]string{routeText(f.Routes[plan.FromPod]), routeText(f.Routes[plan.FromNode]), routeText(f.Routes[plan.FromOutside])}
		}
	}
	return [3]string{"no frontend", "no frontend", "no frontend"}
}

func planned(t *testing.T, node *plan.Node, w worldService, list ...worldEndpoint) *plan.Service {
	t.Helper()
	c := endpoints.NewCache(node.Options)
	problems := append(c.SetService(w.object()), c.SetSlice(sliceObject(w.namespace, w.name, list))...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return plan.Build(c.Snapshot(), node).Service(endpoints.ServiceName{Namespace: w.namespace, Name: w.name})
}

type routeCase struct {
	name           string
	internalLocal  bool
	externalLocal  bool
	endpoints      []worldEndpoint
	node           func(*plan.Node)
	clusterIP      [3]string // from pod, node and outside
	external       [3]string
	iptables       [3]string // of the ClusterIP, where iptables mode attaches rules elsewhere
	iptablesOthers [3]string
}

func routeCases() []routeCase {
	local, remote := at("10.0.0.1", "n0"), at("10.0.0.2", "n1")
	draining := worldEndpoint{addr: netip.MustParseAddr("10.0.0.1"), node: "n0", serving: true}
	three := func(s string) [3]string { return [3]string{s, s, s} }
	return []routeCase{
		{
			name: "policy Cluster: ClusterIPs masquerade what is no pod's, external addresses everything", endpoints: []worldEndpoint{local, remote},
			clusterIP: [3]string{"Cluster", "Cluster masquerade", "Cluster masquerade"}, external: three("Cluster masquerade"),
		},
		{
			name: "internal Local binds everybody", internalLocal: true, endpoints: []worldEndpoint{local, remote},
			clusterIP: [3]string{"Local", "Local masquerade", "Local masquerade"}, external: three("Cluster masquerade"),
		},
		{
			name: "external Local binds the outside only", externalLocal: true, endpoints: []worldEndpoint{local, remote},
			clusterIP: [3]string{"Cluster", "Cluster masquerade", "Cluster masquerade"},
			external:  [3]string{"Cluster (short-circuit)", "Cluster (short-circuit) masquerade", "Local"},
		},
		{
			name: "nothing anywhere rejects everybody", internalLocal: true, externalLocal: true,
			clusterIP: three("reject forward input output"), external: three("reject forward input output"),
			iptables: three("reject forward output"), iptablesOthers: three("reject forward input"),
		},
		{
			name: "nothing here drops whom Local binds", internalLocal: true, externalLocal: true, endpoints: []worldEndpoint{remote},
			clusterIP:      three("drop (no local) forward input output"),
			external:       [3]string{"Cluster (short-circuit)", "Cluster (short-circuit) masquerade", "drop (no local) forward input output"},
			iptables:       three("drop (no local) forward output"),
			iptablesOthers: [3]string{"Cluster (short-circuit)", "Cluster (short-circuit) masquerade", "drop (no local) forward input"},
		},
		{
			name: "masqueradeAll is about ClusterIPs", externalLocal: true, endpoints: []worldEndpoint{local, remote},
			node:      func(n *plan.Node) { n.MasqueradeAll = true },
			clusterIP: three("Cluster masquerade"),
			external:  [3]string{"Cluster (short-circuit)", "Cluster (short-circuit) masquerade", "Local"},
		},
		{
			name: "without a detector ClusterIPs masquerade nobody", endpoints: []worldEndpoint{local, remote},
			node:      func(n *plan.Node) { n.Detector = plan.LocalDetector{} },
			clusterIP: three("Cluster"), external: three("Cluster masquerade"),
		},
		{
			name: "KEP-1669's alpha knows no fallback of the Cluster list", externalLocal: true, endpoints: []worldEndpoint{draining},
			node:           func(n *plan.Node) { n.Options.TerminatingFallback = endpoints.FallbackExternalLocal },
			clusterIP:      three("drop (no cluster) forward input output"),
			external:       [3]string{"drop (no cluster) forward input output", "drop (no cluster) forward input output", "Local"},
			iptables:       three("drop (no cluster) forward output"),
			iptablesOthers: [3]string{"drop (no cluster) forward input", "drop (no cluster) forward input", "Local"},
		},
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, c := range routeCases() {
		for _, dialect := range []plan.Dialect{plan.NFTables, plan.IPTables} {
			t.Run(c.name+"/"+dialect.String(), func(t *testing.T) {
				t.Parallel()
				node := benchNode(dialect)
				if c.node != nil {
					c.node(node)
				}
				w := exposedService("web", 1)
				w.internalLocal, w.externalLocal = c.internalLocal, c.externalLocal
				s := planned(t, node, w, c.endpoints...)
				want := map[plan.Kind][3]string{plan.ClusterIP: c.clusterIP, plan.LoadBalancerIP: c.external, plan.ExternalIP: c.external, plan.NodePort: c.external}
				if dialect == plan.IPTables && c.iptables != [3]string{} {
					want = map[plan.Kind][3]string{plan.ClusterIP: c.iptables, plan.LoadBalancerIP: c.iptablesOthers, plan.ExternalIP: c.iptablesOthers, plan.NodePort: c.iptablesOthers}
				}
				if dialect == plan.NFTables { // node ports are only looked at on the way in
					w := want[plan.NodePort]
					for i := range w {
						w[i] = strings.ReplaceAll(w[i], " forward input output", " input")
					}
					want[plan.NodePort] = w
				}
				for kind, want := range want {
					if got := routes(s, kind); got != want {
						t.Errorf("%s: from pod, node, outside\n got %q\nwant %q", kind, got, want)
					}
				}
			})
		}
	}
}

func TestPortsCountWhatLocalPoliciesDrop(t *testing.T) {
	t.Parallel()
	w := exposedService("web", 1)
	w.internalLocal, w.externalLocal = true, true
	node := benchNode(plan.NFTables)
	for name, c := range map[string]struct {
		list           []worldEndpoint
		hasAny, counts bool
	}{
		"nothing anywhere is no want of a local endpoint": {nil, false, false},
		"endpoints elsewhere only":                        {[]worldEndpoint{at("10.0.0.2", "n1")}, true, true},
		"an endpoint here":                                {[]worldEndpoint{at("10.0.0.1", "n0")}, true, false},
	} {
		p := planned(t, node, w, c.list...).Ports[0]
		if p.HasAny != c.hasAny || p.NoLocalInternal != c.counts || p.NoLocalExternal != c.counts {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := planned(t, node, exposedService("web", 1), at("10.0.0.2", "n1")).Ports[0]; p.NoLocalInternal || p.NoLocalExternal {
		t.Errorf("policy Cluster: %+v", p)
	}
}

func TestFrontendsSayWhatRulesNeed(t *testing.T) {
	t.Parallel()
	w := exposedService("web", 1)
	w.externalLocal, w.affinity = true, true
	s := planned(t, benchNode(plan.NFTables), w, at("10.0.0.2", "n1"), at("10.0.0.1", "n0"))
	if s.HealthCheckNodePorts != [2]uint16{31000, 0} {
		t.Errorf("health-check node ports are %v", s.HealthCheckNodePorts)
	}
	want := &plan.Lists{
		Cluster: []plan.Target{{Addr: netip.MustParseAddrPort("10.0.0.1:8080"), Local: true}, {Addr: netip.MustParseAddrPort("10.0.0.2:8080")}},
		Local:   []plan.Target{{Addr: netip.MustParseAddrPort("10.0.0.1:8080"), Local: true}},
	}
	for i := range s.Frontends {
		f := &s.Frontends[i]
		if f.Affinity != 3*time.Hour || f.Lists != s.Ports[0].Lists || f.Family() != endpoints.IPv4 {
			t.Errorf("%s: affinity %s, lists %v, %s", f.Key, f.Affinity, f.Lists, f.Family())
		}
		if !slices.Equal(f.Lists.Of(endpoints.ClusterList), want.Cluster) || !slices.Equal(f.Lists.Of(endpoints.LocalList), want.Local) {
			t.Errorf("%s: lists %v, want %v", f.Key, f.Lists, want)
		}
	}
}

// kube-proxy 1.36 nftables/proxier.go and iptables/proxier.go, allowFromNode and usesFWChain.
func TestAllowedSources(t *testing.T) {
	t.Parallel()
	ranges, vip := "203.0.113.0/24", "198.18.0.2/32"
	some := []worldEndpoint{at("10.0.0.1", "n0")}
	for name, c := range map[string]struct {
		dialect   plan.Dialect
		ranges    []string
		endpoints []worldEndpoint
		want      []string
	}{
		"without ranges everyone is admitted":               {plan.NFTables, nil, some, nil},
		"ranges are taken as they are":                      {plan.NFTables, []string{ranges}, some, []string{ranges}},
		"where the node may, its load-balancer IPs may too": {plan.NFTables, []string{ranges, "192.168.0.0/24"}, some, []string{ranges, "192.168.0.0/24", vip}},
		"and in iptables mode":                              {plan.IPTables, []string{ranges, "192.168.0.0/24"}, some, []string{ranges, "192.168.0.0/24", vip}},
		"nftables mode guards Services without endpoints":   {plan.NFTables, []string{ranges}, nil, []string{ranges}},
		"iptables mode does not":                            {plan.IPTables, []string{ranges}, nil, nil},
		"a range of everything is none":                     {plan.NFTables, []string{ranges, "0.0.0.0/0"}, some, nil},
		"ranges of the other family only are none":          {plan.NFTables, []string{"2001:db8::/32"}, some, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := exposedService("web", 1)
			w.ranges = c.ranges
			s := planned(t, benchNode(c.dialect), w, c.endpoints...)
			for i := range s.Frontends {
				f := &s.Frontends[i]
				var got []string
				for _, p := range f.Allowed {
					got = append(got, p.String())
				}
				want := c.want
				if f.Kind != plan.LoadBalancerIP {
					want = nil
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s %s admits %q, want %q", f.Kind, f.Key, got, want)
				}
				if admits := f.Admits(netip.MustParseAddr("203.0.113.7")); !admits {
					t.Errorf("%s does not admit a client in range", f.Key)
				}
				if admits := f.Admits(netip.MustParseAddr("198.51.100.9")); admits != (want == nil) {
					t.Errorf("%s admits a client out of range: %v", f.Key, admits)
				}
			}
		})
	}
}

func TestHairpinDependsOnTheDialect(t *testing.T) {
	t.Parallel()
	self := plan.Target{Addr: netip.MustParseAddrPort("10.0.0.1:80")}
	for dialect, remote := range map[plan.Dialect]bool{plan.NFTables: false, plan.IPTables: true} {
		p := plan.Empty(benchNode(dialect))
		if got := p.Hairpin(self.Addr.Addr(), self); got != remote {
			t.Errorf("%s: a remote endpoint's hairpin is %v, want %v", dialect, got, remote)
		}
		local := plan.Target{Addr: self.Addr, Local: true}
		if !p.Hairpin(self.Addr.Addr(), local) || p.Hairpin(netip.MustParseAddr("10.0.0.2"), local) {
			t.Errorf("%s: a local endpoint's hairpin is told wrong", dialect)
		}
	}
}

func TestHealthCheckNodePortIsFoundByFamily(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.IPTables)
	w := exposedService("web", 1)
	w.externalLocal = true
	f.set(w)
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	if name, ok := f.plan.HealthCheckNodePort(endpoints.IPv4, 31000); !ok || name.Name != "web" {
		t.Errorf("port 31000 is %s's, %v", name, ok)
	}
	for _, c := range []struct {
		family endpoints.IPFamily
		port   uint16
	}{{endpoints.IPv4, 0}, {endpoints.IPv4, 31001}, {endpoints.IPv6, 31000}} {
		if name, ok := f.plan.HealthCheckNodePort(c.family, c.port); ok {
			t.Errorf("%s port %d is %s's", c.family, c.port, name)
		}
	}
}

func TestAPlanWalksInOrder(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	for i, name := range []string{"s10", "s2", "s1"} {
		f.set(clusterService(name, byte(10-i)))
	}
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for s := range f.plan.Services() {
		names = append(names, s.Name.Name)
		if len(names) == 2 {
			break // walking may stop early
		}
	}
	if want := []string{"s1", "s10"}; !slices.Equal(names, want) {
		t.Errorf("Services walk as %q, want %q", names, want)
	}
	var keys []string
	for fr := range f.plan.Frontends() {
		keys = append(keys, fr.Key.String())
	}
	if want := []string{"172.16.0.8:80/TCP", "172.16.0.9:80/TCP", "172.16.0.10:80/TCP"}; !slices.Equal(keys, want) {
		t.Errorf("frontends walk as %q, want %q", keys, want)
	}
	if f.plan.Len() != 3 || f.plan.Node() != f.node || f.plan.Frontend(plan.Key{}) != nil || f.plan.Service(endpoints.ServiceName{}) != nil {
		t.Error("lookups are wrong")
	}
}
