// Package proxyflags has kube-proxy's flags that stand for fields of its configuration. It reads no configuration and
// checks nothing: package kubeproxy does that for flags and files alike.
package proxyflags

import (
	"reflect"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// Flags are kube-proxy's flags that stand for fields, by name and meaning (cmd/kube-proxy/app/options.go, 1.36; verified).
// kube-proxy ignores most of them beside --config; here they win, as flags do everywhere in lameduck.
type Flags struct {
	set    *pflag.FlagSet
	values kubeproxy.KubeProxyConfiguration // what they were given
}

// flag is one of them.
type flag struct {
	name, usage string
	// paths are the fields that it sets, fields returns pointers to them. The first is what the flag is bound to.
	paths  []string
	fields func(c *kubeproxy.KubeProxyConfiguration) []any
}

// one is a flag that sets one field.
func one(name, path, usage string, field func(c *kubeproxy.KubeProxyConfiguration) any) flag {
	return flag{name, usage, []string{path}, func(c *kubeproxy.KubeProxyConfiguration) []any { return []any{field(c)} }}
}

// config keeps the table below readable.
type config = kubeproxy.KubeProxyConfiguration

func clientFlags() []flag {
	return []flag{
		one("kube-api-content-type", "clientConnection.contentType", "ask the API server for this `TYPE`", func(c *config) any { return &c.ClientConnection.ContentType }),
		one("kube-api-qps", "clientConnection.qps", "requests a second to the API server", func(c *config) any { return &c.ClientConnection.QPS }),
		one("kube-api-burst", "clientConnection.burst", "requests at once to the API server", func(c *config) any { return &c.ClientConnection.Burst }),
	}
}

func nodeFlags() []flag {
	return []flag{
		one("bind-address", "bindAddress", "primary `ADDRESS` of the node; an IPv6 one has servers listen on IPv6 by default", func(c *config) any { return &c.BindAddress }),
		one("bind-address-hard-fail", "bindAddressHardFail", "end when a port of --healthz-bind-address or --metrics-bind-address is taken", func(c *config) any { return &c.BindAddressHardFail }),
		one("detect-local-mode", "detectLocalMode", "how pods' packets are told from others: `MODE` ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix", func(c *config) any { return &c.DetectLocalMode }),
		one("pod-bridge-interface", "detectLocal.bridgeInterface", "`NAME` of the bridge that pods' packets come from, in detect-local mode BridgeInterface", func(c *config) any { return &c.DetectLocal.BridgeInterface }),
		one("pod-interface-name-prefix", "detectLocal.interfaceNamePrefix", "how the names of the interfaces begin that pods' packets come from, in detect-local mode InterfaceNamePrefix", func(c *config) any { return &c.DetectLocal.InterfaceNamePrefix }),
		one("nodeport-addresses", "nodePortAddresses", "`CIDRS` of the node's addresses at which node ports answer, or primary for its primary ones (default: all in mode iptables, primary in mode nftables)", func(c *config) any { return &c.NodePortAddresses }),
	}
}

func ruleFlags() []flag {
	both := func(name, field, usage string, fields func(c *config) []any) flag {
		return flag{name, usage, []string{"iptables." + field, "nftables." + field}, fields}
	}
	return []flag{
		both("masquerade-all", "masqueradeAll", "masquerade all traffic to ClusterIPs", func(c *config) []any {
			return []any{&c.IPTables.MasqueradeAll, &c.NFTables.MasqueradeAll}
		}),
		one("iptables-masquerade-bit", "iptables.masqueradeBit", "in mode iptables, the `BIT` of a packet's mark that asks for masquerading", func(c *config) any { return &c.IPTables.MasqueradeBit }),
		one("iptables-localhost-nodeports", "iptables.localhostNodePorts", "in mode iptables, node ports answer on 127.0.0.1", func(c *config) any { return &c.IPTables.LocalhostNodePorts }),
		// Of nftables, too: "if mode != ipvs" in processV1Alpha1Flags.
		both("iptables-sync-period", "syncPeriod", "in either mode, how often the rules are looked at, and the longest wait after a failure", func(c *config) []any {
			return []any{&c.IPTables.SyncPeriod, &c.NFTables.SyncPeriod}
		}),
		both("iptables-min-sync-period", "minSyncPeriod", "in either mode, the shortest time between two changes of the rules", func(c *config) []any {
			return []any{&c.IPTables.MinSyncPeriod, &c.NFTables.MinSyncPeriod}
		}),
	}
}

func kernelFlags() []flag {
	return []flag{
		one("conntrack-max-per-core", "conntrack.maxPerCore", "connections to track, per processor; 0 leaves the limit alone", func(c *config) any { return &c.Conntrack.MaxPerCore }),
		one("conntrack-min", "conntrack.min", "connections to track at least, however few processors there are", func(c *config) any { return &c.Conntrack.Min }),
		one("conntrack-tcp-timeout-established", "conntrack.tcpEstablishedTimeout", "how long an idle TCP connection is tracked; 0 leaves that alone", func(c *config) any { return &c.Conntrack.TCPEstablishedTimeout }),
		one("conntrack-tcp-timeout-close-wait", "conntrack.tcpCloseWaitTimeout", "how long a TCP connection in CLOSE_WAIT is tracked; 0 leaves that alone", func(c *config) any { return &c.Conntrack.TCPCloseWaitTimeout }),
		one("conntrack-tcp-be-liberal", "conntrack.tcpBeLiberal", "have packets outside of a TCP connection's window not count as invalid", func(c *config) any { return &c.Conntrack.TCPBeLiberal }),
		one("conntrack-udp-timeout", "conntrack.udpTimeout", "how long a UDP flow without answer is tracked; 0 leaves that alone", func(c *config) any { return &c.Conntrack.UDPTimeout }),
		one("conntrack-udp-timeout-stream", "conntrack.udpStreamTimeout", "how long an idle UDP flow is tracked; 0 leaves that alone", func(c *config) any { return &c.Conntrack.UDPStreamTimeout }),
		one("oom-score-adj", "oomScoreAdj", "how much rather than others this process is ended when memory runs out: -1000 to 1000", func(c *config) any { return &c.OOMScoreAdj }),
	}
}

func logFlags() []flag {
	return []flag{
		one("logging-format", "logging.format", "`FORMAT` of the log: text or json", func(c *config) any { return &c.Logging.Format }),
		one("vmodule", "logging.vmodule", "`PATTERN=N,...`: the verbosity for some source files, in format text", func(c *config) any { return (*vmodule)(&c.Logging.VModule) }),
		one("log-flush-frequency", "logging.flushFrequency", "the log is not kept back", func(c *config) any { return &c.Logging.FlushFrequency.Duration }),
		one("log-text-split-stream", "logging.options.text.splitStream", "the log goes to stderr", func(c *config) any { return &c.Logging.Options.Text.SplitStream }),
		one("log-json-split-stream", "logging.options.json.splitStream", "the log goes to stderr", func(c *config) any { return &c.Logging.Options.JSON.SplitStream }),
	}
}

// idleFlags are there so that a command line of kube-proxy's starts; Read says why they have no effect.
func idleFlags() []flag {
	return []flag{
		one("config-sync-period", "configSyncPeriod", "objects are not listed again without a reason", func(c *config) any { return &c.ConfigSyncPeriod }),
		one("show-hidden-metrics-for-version", "showHiddenMetricsForVersion", "no metrics are hidden", func(c *config) any { return &c.ShowHiddenMetricsForVersion }),
		one("ipvs-scheduler", "ipvs.scheduler", "there is no mode ipvs", func(c *config) any { return &c.IPVS.Scheduler }),
		one("ipvs-exclude-cidrs", "ipvs.excludeCIDRs", "there is no mode ipvs", func(c *config) any { return &c.IPVS.ExcludeCIDRs }),
		one("ipvs-strict-arp", "ipvs.strictARP", "there is no mode ipvs", func(c *config) any { return &c.IPVS.StrictARP }),
		one("ipvs-sync-period", "ipvs.syncPeriod", "there is no mode ipvs", func(c *config) any { return &c.IPVS.SyncPeriod }),
		one("ipvs-min-sync-period", "ipvs.minSyncPeriod", "there is no mode ipvs", func(c *config) any { return &c.IPVS.MinSyncPeriod }),
		one("ipvs-tcp-timeout", "ipvs.tcpTimeout", "there is no mode ipvs", func(c *config) any { return &c.IPVS.TCPTimeout }),
		one("ipvs-tcpfin-timeout", "ipvs.tcpFinTimeout", "there is no mode ipvs", func(c *config) any { return &c.IPVS.TCPFinTimeout }),
		one("ipvs-udp-timeout", "ipvs.udpTimeout", "there is no mode ipvs", func(c *config) any { return &c.IPVS.UDPTimeout }),
	}
}

func allFlags() []flag {
	var all []flag
	for _, group := range [][]flag{clientFlags(), nodeFlags(), ruleFlags(), kernelFlags(), logFlags(), idleFlags()} {
		all = append(all, group...)
	}
	return all
}

// Register adds the flags to a command's, with kube-proxy's defaults to be shown.
func (f *Flags) Register(set *pflag.FlagSet) {
	f.set = set
	f.values = *kubeproxy.Defaults()
	f.values.DetectLocalMode, f.values.NodePortAddresses = "", nil // it depends
	for _, row := range allFlags() {
		register(set, row.name, row.usage, row.fields(&f.values)[0])
	}
}

// register binds a flag to a field of any type that a configuration has.
func register(set *pflag.FlagSet, name, usage string, field any) {
	switch p := field.(type) {
	case *bool:
		set.BoolVar(p, name, *p, usage)
	case **bool:
		set.BoolVar(*p, name, **p, usage)
	case *int32:
		set.Int32Var(p, name, *p, usage)
	case **int32:
		set.Int32Var(*p, name, **p, usage)
	case *float32:
		set.Float32Var(p, name, *p, usage)
	case *string:
		set.StringVar(p, name, *p, usage)
	case *kubeproxy.LocalMode:
		set.StringVar((*string)(p), name, string(*p), usage)
	case *[]string:
		set.StringSliceVar(p, name, *p, usage)
	case *metav1.Duration:
		set.DurationVar(&p.Duration, name, p.Duration, usage)
	case **metav1.Duration:
		set.DurationVar(&(*p).Duration, name, (*p).Duration, usage)
	case pflag.Value:
		set.Var(p, name, usage)
	}
}

// Overrides are the fields that the user set by flags.
func (f *Flags) Overrides() []kubeproxy.Override {
	var out []kubeproxy.Override
	for _, row := range allFlags() {
		if !f.set.Changed(row.name) {
			continue
		}
		for i, path := range row.paths {
			out = append(out, kubeproxy.Override{Flag: "--" + row.name, Path: path, Set: func(c *config) { f.copy(row, c, i) }})
		}
	}
	return out
}

// Verbosity is the override of a flag for how much is logged.
func Verbosity(flag string, level int) kubeproxy.Override {
	return kubeproxy.Override{Flag: flag, Path: "logging.verbosity", Set: func(c *config) { c.Logging.Verbosity = uint32(max(level, 0)) }}
}

// copy sets the field of a configuration that a flag stands for.
func (f *Flags) copy(row flag, c *config, i int) {
	if row.name == "vmodule" { // bound to a value of its own
		c.Logging.VModule = f.values.Logging.VModule
		return
	}
	from, to := reflect.ValueOf(row.fields(&f.values)[0]).Elem(), reflect.ValueOf(row.fields(c)[i]).Elem()
	if from.Kind() == reflect.Pointer { // not to be shared
		fresh := reflect.New(from.Type().Elem())
		fresh.Elem().Set(from.Elem())
		from = fresh
	}
	if list, ok := from.Interface().([]string); ok {
		from = reflect.ValueOf(trimmed(list))
	}
	to.Set(from)
}

// trimmed copies a list, without spaces around its items.
func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}
