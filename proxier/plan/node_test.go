package plan_test

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// kube-proxy 1.36 util/localdetector.go.
func TestDetector(t *testing.T) {
	t.Parallel()
	both := prefixes("10.244.0.0/16", "10.245.0.0/16", "fd00:1::/32")
	for name, c := range map[string]struct {
		detector    plan.LocalDetector
		implemented [2]bool // by family
		src, iface  string
		want        bool
	}{
		"none detects nothing":                             {plan.LocalDetector{}, [2]bool{}, "10.244.0.1", "cbr0", false},
		"a CIDR looks at the address":                      {plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: both}, [2]bool{true, true}, "10.244.0.1", "", true},
		"a CIDR does not look at the interface":            {plan.LocalDetector{Mode: plan.DetectNodeCIDR, CIDRs: both, Interface: "cbr0"}, [2]bool{true, true}, "10.1.0.1", "cbr0", false},
		"only the first CIDR of a family counts":           {plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: both}, [2]bool{true, true}, "10.245.0.1", "", false},
		"the other family has its own first one":           {plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: both}, [2]bool{true, true}, "fd00:1::1", "", true},
		"without a CIDR of the family it is as none":       {plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: both[2:]}, [2]bool{false, true}, "10.244.0.1", "", false},
		"a bridge looks at the interface":                  {plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: "cbr0"}, [2]bool{true, true}, "10.1.0.1", "cbr0", true},
		"a bridge wants its very name":                     {plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: "cbr"}, [2]bool{true, true}, "10.1.0.1", "cbr0", false},
		"what the node sends came in nowhere":              {plan.LocalDetector{Mode: plan.DetectBridgeInterface}, [2]bool{true, true}, "10.1.0.1", "", false},
		"a prefix takes every interface that starts so":    {plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: "veth"}, [2]bool{true, true}, "10.1.0.1", "veth1", true},
		"a prefix does not take what the node sends":       {plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix}, [2]bool{true, true}, "10.1.0.1", "", false},
		"interface modes do not look at the cluster CIDRs": {plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: "veth", CIDRs: both}, [2]bool{true, true}, "10.244.0.1", "eth0", false},
	} {
		if got := c.detector.Detects(netip.MustParseAddr(c.src), c.iface); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
		for _, f := range endpoints.Families() {
			if got := c.detector.Implemented(f); got != c.implemented[f] {
				t.Errorf("%s: implemented for %s: %v", name, f, got)
			}
		}
	}
}

func testNode() *plan.Node {
	return &plan.Node{
		Addresses: []netip.Addr{netip.MustParseAddr("192.168.0.1"), netip.MustParseAddr("192.168.1.1"), netip.MustParseAddr("fd00:9::1")},
		Detector:  plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: prefixes("10.0.0.0/8", "192.168.1.0/24")},
	}
}

func TestSourcesAreToldInOrder(t *testing.T) {
	t.Parallel()
	n := testNode()
	n.Detector.CIDRs = prefixes("192.168.1.0/24")
	for src, want := range map[string]plan.Source{
		"192.168.1.9": plan.FromPod, "192.168.1.1": plan.FromPod, // the node's own address, but the detector is asked first
		"192.168.0.1": plan.FromNode, "127.0.0.1": plan.FromNode, "127.1.2.3": plan.FromNode, "::1": plan.FromNode, "fd00:9::1": plan.FromNode,
		"192.168.0.2": plan.FromOutside, "2001:db8::1": plan.FromOutside,
	} {
		if got := n.SourceOf(netip.MustParseAddr(src), ""); got != want {
			t.Errorf("%s is taken for %s, want %s", src, got, want)
		}
	}
}

// kube-proxy 1.36 util/nodeport_addresses.go; nftables/proxier.go, noLocalhost;
// iptables/proxier.go, localhostNodePorts.
func TestWhereNodePortsAnswer(t *testing.T) {
	t.Parallel()
	all := []string{"192.168.0.1", "192.168.1.1", "fd00:9::1", "127.0.0.1", "127.0.0.9", "::1"}
	for name, c := range map[string]struct {
		change func(*plan.Node)
		want   []string
	}{
		"everywhere but localhost":                       {func(*plan.Node) {}, all[:3]},
		"primary is the first address of each family":    {func(n *plan.Node) { n.NodePortAddresses = n.PrimaryNodePortAddresses() }, []string{"192.168.0.1", "fd00:9::1"}},
		"a range limits its own family":                  {func(n *plan.Node) { n.NodePortAddresses = prefixes("192.168.1.0/24", "10.0.0.0/8") }, []string{"192.168.1.1", "fd00:9::1"}},
		"a range without an address of the node is none": {func(n *plan.Node) { n.NodePortAddresses = prefixes("10.0.0.0/8", "fd00:8::/32") }, nil},
		"a range of everything is no limit":              {func(n *plan.Node) { n.NodePortAddresses = prefixes("192.168.1.0/24", "0.0.0.0/0") }, all[:3]},
		"localhost in iptables mode, IPv4 only":          {func(n *plan.Node) { n.Dialect, n.LocalhostNodePorts = plan.IPTables, true }, all[:5]},
		"localhost never in nftables mode":               {func(n *plan.Node) { n.LocalhostNodePorts = true }, all[:3]},
		"localhost only in the ranges": {func(n *plan.Node) {
			n.Dialect, n.LocalhostNodePorts, n.NodePortAddresses = plan.IPTables, true, prefixes("192.168.0.0/24")
		}, []string{"192.168.0.1", "fd00:9::1"}},
		"localhost in the ranges, off": {func(n *plan.Node) {
			n.Dialect, n.NodePortAddresses = plan.IPTables, prefixes("127.0.0.0/8")
		}, []string{"fd00:9::1"}},
	} {
		n := testNode()
		c.change(n)
		for _, a := range append([]string{"192.168.0.2", "8.8.8.8"}, all...) {
			want := false
			for _, w := range c.want {
				want = want || w == a
			}
			if got := n.AcceptsNodePorts(netip.MustParseAddr(a)); got != want {
				t.Errorf("%s: %s answers %v, want %v", name, a, got, want)
			}
		}
	}
}

func TestWordsArePrinted(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		plan.NFTables.String(): "nftables", plan.IPTables.String(): "iptables",
		plan.ClusterIP.String(): "ClusterIP", plan.LoadBalancerIP.String(): "LoadBalancer IP", plan.ExternalIP.String(): "external IP", plan.NodePort.String(): "node port",
		plan.FromPod.String(): "pod", plan.FromNode.String(): "node", plan.FromOutside.String(): "outside",
		plan.DetectNone.String(): "none", plan.DetectClusterCIDR.String(): "ClusterCIDR", plan.DetectNodeCIDR.String(): "NodeCIDR",
		plan.DetectBridgeInterface.String(): "BridgeInterface", plan.DetectInterfaceNamePrefix.String(): "InterfaceNamePrefix",
		plan.NodePortKey(endpoints.IPv6, endpoints.UDP, 30053).String(): "[::]:30053/UDP",
		plan.NodePortKey(endpoints.IPv4, endpoints.TCP, 30053).String(): "0.0.0.0:30053/TCP",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&plan.Node{}).PrimaryAddress(endpoints.IPv4); got.IsValid() {
		t.Errorf("a node without addresses has the primary address %s", got)
	}
}
