package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Dialect is a kube-proxy mode, where the modes treat packets differently.
type Dialect uint8

// The dialects.
const (
	NFTables Dialect = iota
	IPTables
)

// String returns the mode's name in a KubeProxyConfiguration: "nftables" or "iptables".
func (d Dialect) String() string {
	if d == IPTables {
		return "iptables"
	}
	return "nftables"
}

// DetectLocalMode is how a node tells the traffic of pods: detectLocalMode of a
// KubeProxyConfiguration.
type DetectLocalMode uint8

// The modes. DetectNone is what an unknown or unconfigured mode amounts to.
const (
	DetectNone DetectLocalMode = iota
	DetectClusterCIDR
	DetectNodeCIDR
	DetectBridgeInterface
	DetectInterfaceNamePrefix
)

// String returns the mode's name in a KubeProxyConfiguration, "none" for DetectNone.
func (m DetectLocalMode) String() string {
	return [...]string{"none", "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix"}[m]
}

// LocalDetector tells whether a packet comes from a pod. The CIDR modes look at its source
// address alone, so with ClusterCIDR any pod of the cluster counts; the interface modes look
// at where it came in, so nothing that the node itself sends counts.
type LocalDetector struct {
	Mode DetectLocalMode
	// CIDRs of the CIDR modes; of each family only the first is used, as in kube-proxy.
	CIDRs []netip.Prefix
	// Interface is the bridge's name, or the prefix of interface names.
	Interface string
}

// CIDR returns the range of the CIDR modes in a family; ok is false when there is none.
func (d LocalDetector) CIDR(family endpoints.IPFamily) (p netip.Prefix, ok bool) {
	if d.Mode != DetectClusterCIDR && d.Mode != DetectNodeCIDR {
		return netip.Prefix{}, false
	}
	for _, p := range d.CIDRs {
		if endpoints.FamilyOf(p.Addr()) == family {
			return p, true
		}
	}
	return netip.Prefix{}, false
}

// Implemented says whether the node can tell pod traffic at all in a family. Where it
// cannot, the rules that depend on it are absent.
func (d LocalDetector) Implemented(family endpoints.IPFamily) bool {
	switch d.Mode {
	case DetectBridgeInterface, DetectInterfaceNamePrefix:
		return true
	default:
		_, ok := d.CIDR(family)
		return ok
	}
}

// Detects says whether a packet with this source, come in by this interface ("" when the
// node sends it), counts as a pod's.
func (d LocalDetector) Detects(src netip.Addr, inInterface string) bool {
	switch d.Mode {
	case DetectBridgeInterface:
		return inInterface == d.Interface && inInterface != ""
	case DetectInterfaceNamePrefix:
		return inInterface != "" && strings.HasPrefix(inInterface, d.Interface)
	default:
		p, ok := d.CIDR(endpoints.FamilyOf(src))
		return ok && p.Contains(src)
	}
}

// Source is where traffic comes from, as far as service rules tell.
type Source uint8

// The sources. A packet that the detector takes for a pod's is a pod's, even if its address
// is the node's own: the rules look in this order.
const (
	FromPod Source = iota
	FromNode
	FromOutside
	numSources
)

// String returns "pod", "node" or "outside".
func (s Source) String() string { return [...]string{"pod", "node", "outside"}[s] }

// Node is what is particular to a node. Fill it and leave it alone: Plans refer to it.
type Node struct {
	Name    string
	Zone    string
	Dialect Dialect
	// Addresses holds the node's own addresses, the primary one of each family first.
	// Loopback addresses are local without being listed.
	Addresses []netip.Addr
	Detector  LocalDetector
	// MasqueradeAll rewrites the source of everything sent to a ClusterIP.
	MasqueradeAll bool
	// NodePortAddresses limits node ports to the node's addresses in these ranges. A family
	// without any range has no limit.
	NodePortAddresses []netip.Prefix
	// LocalhostNodePorts lets node ports answer on 127.0.0.0/8; iptables and IPv4 only.
	LocalhostNodePorts bool
	// ServiceCIDRs are the ranges ClusterIPs come from; nftables drops what is sent to
	// unallocated ones.
	ServiceCIDRs []netip.Prefix
	// Options is the behaviour of the Kubernetes version; use that of the Snapshot.
	Options endpoints.Options
}

// PrimaryAddress returns the node's primary address of a family, invalid when it has none.
func (n *Node) PrimaryAddress(family endpoints.IPFamily) netip.Addr {
	for _, a := range n.Addresses {
		if endpoints.FamilyOf(a) == family {
			return a
		}
	}
	return netip.Addr{}
}

// PrimaryNodePortAddresses are the ranges that the setting "primary" stands for, the
// default of nftables mode: the primary address of each family and no other.
func (n *Node) PrimaryNodePortAddresses() []netip.Prefix {
	var out []netip.Prefix
	for _, f := range endpoints.Families() {
		if a := n.PrimaryAddress(f); a.IsValid() && !a.IsLoopback() {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return out
}

// Owns says whether an address is local to the node.
func (n *Node) Owns(a netip.Addr) bool {
	return a.IsLoopback() || slices.Contains(n.Addresses, a)
}

// SourceOf says where a packet with this source, come in by this interface, comes from.
func (n *Node) SourceOf(src netip.Addr, inInterface string) Source {
	switch {
	case n.Detector.Detects(src, inInterface):
		return FromPod
	case n.Owns(src):
		return FromNode
	default:
		return FromOutside
	}
}

// NodePortRanges returns the ranges that limit node ports in a family; nil is no limit,
// either because none is set for the family or because one of them is everything.
func (n *Node) NodePortRanges(family endpoints.IPFamily) []netip.Prefix {
	var ranges []netip.Prefix
	for _, p := range n.NodePortAddresses {
		if endpoints.FamilyOf(p.Addr()) != family {
			continue
		}
		if p.Bits() == 0 {
			return nil
		}
		ranges = append(ranges, p)
	}
	return ranges
}

// AcceptsNodePorts says whether node ports answer on a destination address of this node.
// Node ports on loopback work in iptables mode, for IPv4, when localhostNodePorts is on.
func (n *Node) AcceptsNodePorts(dst netip.Addr) bool {
	if !n.Owns(dst) {
		return false
	}
	if dst.IsLoopback() && !(n.Dialect == IPTables && n.LocalhostNodePorts && dst.Is4()) {
		return false
	}
	ranges := n.NodePortRanges(endpoints.FamilyOf(dst))
	contains := func(p netip.Prefix) bool { return p.Contains(dst) }
	return ranges == nil || slices.ContainsFunc(ranges, contains)
}
