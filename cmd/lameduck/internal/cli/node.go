package cli

import (
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// nodeFlags say whose eyes to look through: which node, with which kube-proxy.
type nodeFlags struct {
	node        string
	ips         []string
	labels      []string
	clusterCIDR string
	mode        string
	config      string

	version  string
	fallback bool
	gates    map[string]string

	set  func(name string) bool      // whether the user gave a flag
	more func() []kubeproxy.Override // of flags that only a proxy has; nil for none
}

func (f *nodeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.node, "node", "", "name of the `NODE` to look from (default: the only Node of the input)")
	flags.StringArrayVar(&f.ips, "node-ip", nil, "address of the node; repeatable (default: the Node's InternalIPs)")
	flags.StringArrayVar(&f.labels, "node-label", nil, "`KEY=VALUE` label of the node, such as topology.kubernetes.io/zone=a; repeatable, wins over the Node's own")
	flags.StringVar(&f.clusterCIDR, "cluster-cidr", "", "pod address range, by which pods are told from others; one per IP family, comma-separated")
	flags.StringVar(&f.mode, "mode", "", "kube-proxy mode: nftables or iptables (default nftables; they differ in some cases)")
	flags.StringVar(&f.config, "config", "", "`FILE` with a KubeProxyConfiguration; flags win over it")
	flags.StringVar(&f.version, "kubernetes-version", endpoints.CurrentVersion().String(), "behave like kube-proxy of this `VERSION`")
	flags.BoolVar(&f.fallback, "terminating-fallback", true, "fall back to serving terminating endpoints, KEP-1669 (default: as the version does)")
	flags.StringToStringVar(&f.gates, "feature-gates", nil, "feature gates of kube-proxy, such as ProxyTerminatingEndpoints=false")
	f.set = flags.Changed
}

// terminatingGate is the feature gate of KEP-1669.
const terminatingGate = "ProxyTerminatingEndpoints"

// profile turns version and gates into behaviour: the gates of flags, which win, and of --config.
func (f *nodeFlags) profile() (endpoints.Profile, error) {
	v, err := endpoints.ParseVersion(f.version)
	if err != nil {
		return endpoints.Profile{}, err
	}
	for name, value := range f.gates {
		if value != "true" && value != "false" {
			return endpoints.Profile{}, fmt.Errorf("--feature-gates %s=%s: want true or false", name, value)
		}
	}
	config, problems := kubeproxy.Read(nil, f.gateOverrides()...)
	if i := slices.IndexFunc(problems, func(p manifest.Problem) bool { return p.Severity == manifest.Error }); i >= 0 {
		return endpoints.Profile{}, problems[i]
	}
	gates := map[string]bool{}
	if object, err := f.readConfig(Streams{Err: io.Discard}); err == nil && f.config != "" { // settings tells of errors
		file, _ := kubeproxy.Read(object)
		gates = file.Gates()
	}
	maps.Copy(gates, config.Gates())
	if f.set("terminating-fallback") {
		gates[terminatingGate] = f.fallback
	}
	return endpoints.ProfileFor(v, gates)
}

// resolve puts the node together: flags win over a KubeProxyConfiguration, that over the
// Node object, that over kube-proxy's defaults.
func (f *nodeFlags) resolve(objects *manifest.Objects, profile endpoints.Profile, std Streams) (*plan.Node, error) {
	s, err := f.settings(objects, profile, std)
	if err != nil {
		return nil, err
	}
	name, err := f.name(objects, s.config, std)
	if err != nil {
		return nil, err
	}
	return s.node(name, findNode(objects, name), serviceCIDRs(objects), nil)
}

// settings are what flags and a KubeProxyConfiguration say, whatever the node is.
type settings struct {
	flags    *nodeFlags
	config   *proxyConfig
	warnings []manifest.Problem // what has no effect
	profile  endpoints.Profile
}

func (f *nodeFlags) settings(objects *manifest.Objects, profile endpoints.Profile, std Streams) (*settings, error) {
	config, warnings, err := f.proxyConfig(objects, std)
	if err != nil {
		return nil, err
	}
	if f.config == "" {
		f.gatesInInput(config, std)
	}
	return &settings{flags: f, config: config, warnings: warnings, profile: profile}, nil
}

// gatesInInput warns of gates that come too late: objects were read by then, for which they matter.
func (f *nodeFlags) gatesInInput(config *proxyConfig, std Streams) {
	for _, name := range slices.Sorted(maps.Keys(config.Gates())) {
		if _, given := f.gates[name]; !given {
			std.say("warning: %s: is not followed in the input; give the file as --config, or --feature-gates %s=%t",
				config.Where("featureGates."+name), name, config.FeatureGates[name])
		}
	}
}

// node is the node that an object, which may be nil, and the machine's own addresses describe.
func (s *settings) node(name string, object *corev1.Node, cidrs []netip.Prefix, host []netip.Addr) (*plan.Node, error) {
	f := s.flags
	addresses, err := f.addresses(object)
	if err != nil {
		return nil, err
	}
	for _, a := range host {
		if !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
		}
	}
	zone, err := f.zone(object)
	if err != nil {
		return nil, err
	}
	return s.config.Node(kubeproxy.Machine{
		Name: name, Zone: zone, Object: object, Addresses: addresses, ServiceCIDRs: cidrs, Options: s.profile.Options,
	})
}

// name finds the node to look from. One that the input does not mention is allowed, since
// any node of the cluster may be asked about, but it may be a slip of the pen.
func (f *nodeFlags) name(objects *manifest.Objects, config *proxyConfig, std Streams) (string, error) {
	nodes, mentioned := nodeNames(objects)
	name := f.node
	if name == "" {
		name = config.HostnameOverride
	}
	if name != "" {
		if !slices.Contains(nodes, name) && !slices.Contains(mentioned, name) && len(nodes)+len(mentioned) > 0 {
			std.say("warning: no Node and no endpoint of the input is named %q; it knows %s", name, strings.Join(few(slices.Concat(nodes, mentioned)), ", "))
		}
		return name, nil
	}
	known := nodes
	if len(known) == 0 {
		known = mentioned
	}
	switch len(known) {
	case 0:
		return "", nil
	case 1:
		return known[0], nil
	default:
		return "", fmt.Errorf("which node? give --node %s", oneOf(few(known)))
	}
}

func findNode(objects *manifest.Objects, name string) *corev1.Node {
	for _, n := range objects.Nodes {
		if n.Name == name {
			return n.Value
		}
	}
	return nil
}

// addresses are those of --node-ip, else the object's.
func (f *nodeFlags) addresses(object *corev1.Node) ([]netip.Addr, error) {
	if len(f.ips) == 0 {
		return kubeproxy.InternalIPs(object), nil
	}
	var out []netip.Addr
	for _, s := range f.ips {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("--node-ip %q: want an IP address such as 192.168.0.11", s)
		}
		out = append(out, a.Unmap())
	}
	return out, nil
}

func (f *nodeFlags) zone(object *corev1.Node) (string, error) {
	zone := ""
	if object != nil {
		zone = object.Labels[corev1.LabelTopologyZone]
	}
	for _, label := range f.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok || key == "" {
			return "", fmt.Errorf("--node-label %q: want KEY=VALUE", label)
		}
		if key == corev1.LabelTopologyZone {
			zone = value
		}
	}
	return zone, nil
}

// serviceCIDRs collects the ranges of the ServiceCIDR objects; manifest.Load has checked them.
func serviceCIDRs(objects *manifest.Objects) []netip.Prefix {
	var out []netip.Prefix
	for _, c := range objects.ServiceCIDRs {
		for _, s := range c.Value.Spec.CIDRs {
			if p, err := netip.ParsePrefix(s); err == nil {
				out = append(out, p.Masked())
			}
		}
	}
	return out
}
