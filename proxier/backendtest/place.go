package backendtest

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Place is somewhere packets come from or go to: an address in each IP family, and the
// interface of the node by which its packets come in.
type Place uint8

// The places. The node under test is "node-1" in zone "zone-a"; "node-2" is in "zone-b".
const (
	Nowhere       Place = iota
	PodA                // pod on the node
	PodB                // another one
	PodC                // a third one, never an endpoint
	RemoteA             // pod on node-2
	RemoteB             // another one
	NodePrimary         // the node's primary address
	NodeSecond          // its other address
	NodeLoopback        // 127.0.0.1 or ::1
	OtherNode           // node-2's address
	Client              // outside the cluster
	Stranger            // outside too, in another network
	ClusterIPA          // allocated to the Service under test
	ClusterIPB          // allocated to a second Service
	FreeClusterIP       // in the service CIDR, never allocated
	ExternalIP          // for spec.externalIPs
	VIPA                // for status.loadBalancer
	VIPB                // another one
	numPlaces
)

// NodeName is the node under test; RemoteNodeName is where remote pods run.
const (
	NodeName       = "node-1"
	RemoteNodeName = "node-2"
	zone           = "zone-a"
	otherZone      = "zone-b"
)

// The node's interfaces: pods are on a bridge, everything else is beyond an uplink.
const (
	PodInterface = "cbr0"
	Uplink       = "eth0"
)

type site struct {
	name, v4, v6, iface, node string
}

var sites = [numPlaces]site{
	Nowhere:       {"nowhere", "192.0.2.254", "2001:db8:2::fe", Uplink, ""},
	PodA:          {"pod A", "10.244.1.11", "fd00:244:1::11", PodInterface, NodeName},
	PodB:          {"pod B", "10.244.1.12", "fd00:244:1::12", PodInterface, NodeName},
	PodC:          {"pod C", "10.244.1.13", "fd00:244:1::13", PodInterface, NodeName},
	RemoteA:       {"remote pod A", "10.244.2.21", "fd00:244:2::21", Uplink, RemoteNodeName},
	RemoteB:       {"remote pod B", "10.244.2.22", "fd00:244:2::22", Uplink, RemoteNodeName},
	NodePrimary:   {"the node", "192.168.10.1", "fd00:168:10::1", "", NodeName},
	NodeSecond:    {"the node's second address", "192.168.20.1", "fd00:168:20::1", "", NodeName},
	NodeLoopback:  {"localhost", "127.0.0.1", "::1", "", NodeName},
	OtherNode:     {"another node", "192.168.10.2", "fd00:168:10::2", Uplink, RemoteNodeName},
	Client:        {"client", "203.0.113.7", "2001:db8:113::7", Uplink, ""},
	Stranger:      {"stranger", "198.51.100.9", "2001:db8:100::9", Uplink, ""},
	ClusterIPA:    {"ClusterIP A", "10.96.0.10", "fd00:96::10", "", ""},
	ClusterIPB:    {"ClusterIP B", "10.96.0.20", "fd00:96::20", "", ""},
	FreeClusterIP: {"free ClusterIP", "10.96.0.99", "fd00:96::99", "", ""},
	ExternalIP:    {"external IP", "192.0.2.10", "2001:db8:2::10", "", ""},
	VIPA:          {"VIP A", "192.0.2.20", "2001:db8:2::20", "", ""},
	VIPB:          {"VIP B", "192.0.2.21", "2001:db8:2::21", "", ""},
}

// Places lists every place.
func Places() []Place {
	var all []Place
	for p := Nowhere; p < numPlaces; p++ {
		all = append(all, p)
	}
	return all
}

// String returns the place in words.
func (p Place) String() string { return sites[p].name }

// Addr returns the place's address in a family.
func (p Place) Addr(f endpoints.IPFamily) netip.Addr {
	if f == endpoints.IPv6 {
		return netip.MustParseAddr(sites[p].v6)
	}
	return netip.MustParseAddr(sites[p].v4)
}

// Interface returns where packets from the place come in, "" for the node itself.
func (p Place) Interface() string { return sites[p].iface }

// Node returns the name of the node the place is on, "" outside the cluster.
func (p Place) Node() string { return sites[p].node }

// only returns the range that holds the place's address and no other.
func (p Place) only(f endpoints.IPFamily) netip.Prefix {
	a := p.Addr(f)
	return netip.PrefixFrom(a, a.BitLen())
}

func clusterCIDRs() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("fd00:244::/32")}
}

func nodeCIDRs() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("10.244.1.0/24"), netip.MustParsePrefix("fd00:244:1::/48")}
}

func serviceCIDRs() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("10.96.0.0/16"), netip.MustParsePrefix("fd00:96::/64")}
}

// defaultNode is the node that rows start from: it knows pods by the cluster CIDR, and node
// ports answer on all its addresses.
func defaultNode(d plan.Dialect) *plan.Node {
	n := &plan.Node{
		Name: NodeName, Zone: zone, Dialect: d,
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: clusterCIDRs()},
		Options:  endpoints.CurrentOptions(),
	}
	for _, f := range endpoints.Families() {
		n.Addresses = append(n.Addresses, NodePrimary.Addr(f), NodeSecond.Addr(f))
	}
	return n
}
