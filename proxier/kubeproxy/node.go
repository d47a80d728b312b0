package kubeproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Machine is the node that a configuration is for.
type Machine struct {
	Name, Zone string
	// Object is the API's Node, nil for none.
	Object *corev1.Node
	// Addresses are the node's, primary ones first.
	Addresses    []netip.Addr
	ServiceCIDRs []netip.Prefix
	// Options are the behaviour of a Kubernetes version.
	Options endpoints.Options
}

// Node is a machine as a service proxy with this configuration sees it. An error names the field whose value cannot be
// used on it.
func (c *Config) Node(m Machine) (*plan.Node, error) {
	node := &plan.Node{
		Name: m.Name, Zone: m.Zone, Dialect: c.Dialect(), Options: m.Options, ServiceCIDRs: m.ServiceCIDRs,
		Addresses: c.preferBindAddress(m.Addresses), MasqueradeAll: c.Rules(c.Mode).MasqueradeAll,
	}
	node.LocalhostNodePorts = node.Dialect == plan.IPTables && *c.IPTables.LocalhostNodePorts
	var err error
	if node.Detector, err = c.detector(m.Object); err != nil {
		return nil, err
	}
	if node.NodePortAddresses, err = c.nodePortAddresses(node); err != nil {
		return nil, err
	}
	return node, nil
}

// Dialect is the mode's. Read has checked the mode.
func (c *Config) Dialect() plan.Dialect {
	if c.Mode == IPTables {
		return plan.IPTables
	}
	return plan.NFTables
}

// Pace is lameduck's own policy at the configuration's periods, with the token bucket of a version that has it.
func (c *Config) Pace(o endpoints.Options) pace.Policy {
	p, rules := pace.Lameduck(), c.Rules(c.Mode)
	p.RetryInterval, p.CheckInterval, p.MinInterval = rules.SyncPeriod, rules.SyncPeriod, rules.MinSyncPeriod
	p.Burst = pace.BurstOf(o.HoldAfterSync)
	return p
}

// InternalIPs are the addresses that a Node gives itself, in its order; none for no Node.
func InternalIPs(object *corev1.Node) []netip.Addr {
	var out []netip.Addr
	if object == nil {
		return nil
	}
	for _, a := range object.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); a.Type == corev1.NodeInternalIP && err == nil {
			out = append(out, ip.Unmap())
		}
	}
	return out
}

// preferBindAddress has bindAddress be the node's primary address of its family, all that its name is left of (detectNodeIPs
// in cmd/kube-proxy/app/server.go, 1.36; verified).
func (c *Config) preferBindAddress(addresses []netip.Addr) []netip.Addr {
	a, err := netip.ParseAddr(c.BindAddress) // Read has checked it
	if err != nil || a.IsUnspecified() {
		return addresses
	}
	others := slices.DeleteFunc(slices.Clone(addresses), func(o netip.Addr) bool { return o == a })
	return append([]netip.Addr{a}, others...)
}

// detector follows kube-proxy: a mode without what it needs detects nothing.
func (c *Config) detector(object *corev1.Node) (plan.LocalDetector, error) {
	switch c.DetectLocalMode {
	case NodeCIDR:
		d := plan.LocalDetector{Mode: plan.DetectNodeCIDR}
		if object == nil {
			return d, nil
		}
		cidrs := object.Spec.PodCIDRs
		if len(cidrs) == 0 && object.Spec.PodCIDR != "" {
			cidrs = []string{object.Spec.PodCIDR}
		}
		var err error
		d.CIDRs, err = parseCIDRs("Node "+object.Name+": spec.podCIDRs", cidrs)
		return d, err
	case BridgeInterface:
		return plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: c.DetectLocal.BridgeInterface}, nil
	case InterfaceNamePrefix:
		return plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: c.DetectLocal.InterfaceNamePrefix}, nil
	default:
		ranges, _ := c.ClusterCIDRs() // Read has checked them
		return plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: ranges}, nil
	}
}

// nodePortAddresses are the ranges of node addresses that node ports answer on; none is all.
func (c *Config) nodePortAddresses(node *plan.Node) ([]netip.Prefix, error) {
	if slices.Equal(c.NodePortAddresses, []string{Primary}) {
		return node.PrimaryNodePortAddresses(), nil
	}
	return parseCIDRs(c.Where("nodePortAddresses"), c.NodePortAddresses)
}

func parseCIDRs(what string, list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("%s %q: want a CIDR such as 10.244.0.0/16", what, s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
