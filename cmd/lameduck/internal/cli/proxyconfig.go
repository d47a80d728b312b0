package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

// proxyConfig is the part of a KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1)
// that decides what becomes of packets. The zero value is no configuration.
type proxyConfig struct {
	Mode              string   `json:"mode"`
	HostnameOverride  string   `json:"hostnameOverride"`
	ClusterCIDR       string   `json:"clusterCIDR"`
	DetectLocalMode   string   `json:"detectLocalMode"`
	NodePortAddresses []string `json:"nodePortAddresses"`
	DetectLocal       struct {
		BridgeInterface     string `json:"bridgeInterface"`
		InterfaceNamePrefix string `json:"interfaceNamePrefix"`
	} `json:"detectLocal"`
	IPTables struct {
		rulesConfig
		LocalhostNodePorts *bool `json:"localhostNodePorts"`
	} `json:"iptables"`
	NFTables struct {
		rulesConfig
	} `json:"nftables"`
	ClientConnection struct {
		Kubeconfig string `json:"kubeconfig"`
	} `json:"clientConnection"`
	BindAddress        string `json:"bindAddress"`
	HealthzBindAddress string `json:"healthzBindAddress"`
	MetricsBindAddress string `json:"metricsBindAddress"`
	EnableProfiling    bool   `json:"enableProfiling"`

	present bool
	name    string // for messages: position and kind
}

// rulesConfig is what the sections of both modes have.
type rulesConfig struct {
	MasqueradeAll bool            `json:"masqueradeAll"`
	MasqueradeBit *int32          `json:"masqueradeBit"`
	SyncPeriod    metav1.Duration `json:"syncPeriod"`
	MinSyncPeriod metav1.Duration `json:"minSyncPeriod"`
}

// rules returns the section of a mode.
func (c *proxyConfig) rules(d plan.Dialect) rulesConfig {
	if d == plan.IPTables {
		return c.IPTables.rulesConfig
	}
	return c.NFTables.rulesConfig
}

// proxyConfig returns the configuration of --config, else one that stands in the input.
func (f *nodeFlags) proxyConfig(objects *manifest.Objects, std Streams) (*proxyConfig, error) {
	found := objects.KubeProxyConfigurations
	if f.config != "" {
		files, err := source.Read([]string{f.config}, std.In)
		if err != nil {
			return nil, err
		}
		own, problems := manifest.Load(files, manifest.Options{})
		for _, p := range problems {
			if p.Severity == manifest.Error {
				return nil, p
			}
		}
		if found = own.KubeProxyConfigurations; len(found) == 0 {
			return nil, fmt.Errorf("--config %s: no KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) in it", f.config)
		}
	}
	if len(found) == 0 {
		return &proxyConfig{}, nil
	}
	return decodeProxyConfig(found[len(found)-1])
}

func decodeProxyConfig(o *manifest.Object) (*proxyConfig, error) {
	data, err := json.Marshal(o.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: KubeProxyConfiguration: %w", o.Position, err)
	}
	c := &proxyConfig{present: true, name: o.Position.String() + ": KubeProxyConfiguration"}
	if err := json.Unmarshal(data, c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, o.Problem(manifest.Error, wrong.Field, fmt.Sprintf("is a %s, want a %s", wrong.Value, wrong.Type))
		}
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return c, nil
}

// detector follows kube-proxy: the mode defaults to ClusterCIDR, and a mode without what it
// needs detects nothing.
func (c *proxyConfig) detector(object *corev1.Node) (plan.LocalDetector, error) {
	d := plan.LocalDetector{}
	var err error
	switch c.DetectLocalMode {
	case "", "ClusterCIDR":
		d.Mode = plan.DetectClusterCIDR
		if c.ClusterCIDR != "" {
			d.CIDRs, err = parseCIDRs(c.name+": clusterCIDR", strings.Split(c.ClusterCIDR, ","))
		}
	case "NodeCIDR":
		d.Mode = plan.DetectNodeCIDR
		if object != nil {
			cidrs := object.Spec.PodCIDRs
			if len(cidrs) == 0 && object.Spec.PodCIDR != "" {
				cidrs = []string{object.Spec.PodCIDR}
			}
			d.CIDRs, err = parseCIDRs("Node "+object.Name+": spec.podCIDRs", cidrs)
		}
	case "BridgeInterface":
		d = plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: c.DetectLocal.BridgeInterface}
	case "InterfaceNamePrefix":
		d = plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: c.DetectLocal.InterfaceNamePrefix}
	default:
		return d, fmt.Errorf("%s: detectLocalMode %q: want ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix", c.name, c.DetectLocalMode)
	}
	return d, err
}

// localhostNodePorts defaults to true (kube-proxy v1alpha1 defaults; verified).
func (c *proxyConfig) localhostNodePorts() bool {
	return c.IPTables.LocalhostNodePorts == nil || *c.IPTables.LocalhostNodePorts
}

// nodePortAddresses: unset is the node's primary addresses in nftables mode and all of its
// addresses in iptables mode.
func (c *proxyConfig) nodePortAddresses(node *plan.Node) ([]netip.Prefix, error) {
	switch {
	case len(c.NodePortAddresses) == 1 && c.NodePortAddresses[0] == "primary",
		len(c.NodePortAddresses) == 0 && node.Dialect == plan.NFTables:
		return node.PrimaryNodePortAddresses(), nil
	case len(c.NodePortAddresses) == 0:
		return nil, nil
	default:
		return parseCIDRs(c.name+": nodePortAddresses", c.NodePortAddresses)
	}
}

// bindDefaults are the addresses that servers listen on by default, those for everybody and those for the node itself:
// of IPv6 if bindAddress is (kube-proxy v1alpha1 defaults; verified).
func (c *proxyConfig) bindDefaults() (all, local netip.Addr, err error) {
	all, local = netip.IPv4Unspecified(), netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if c.BindAddress == "" {
		return all, local, nil
	}
	a, err := netip.ParseAddr(c.BindAddress)
	if err != nil {
		return all, local, fmt.Errorf("%s: bindAddress %q: want an IP address such as 0.0.0.0", c.name, c.BindAddress)
	}
	if a.Is6() && !a.Is4In6() {
		all, local = netip.IPv6Unspecified(), netip.IPv6Loopback()
	}
	return all, local, nil
}
