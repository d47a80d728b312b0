package kubeproxy

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// checker collects what kube-proxy 1.36 refuses (pkg/proxy/apis/config/validation; the rules were read there, verified),
// and writes values that can be written in several ways in one.
type checker struct {
	*Config
	problems []manifest.Problem
}

func (c *Config) check() []manifest.Problem {
	k := checker{Config: c}
	k.checkMode()
	k.checkRules()
	k.checkAddresses()
	k.checkDetectLocal()
	k.checkConntrack()
	k.checkLogging()
	k.notNegative("clientConnection.burst", int64(c.ClientConnection.Burst))
	k.within("oomScoreAdj", *c.OOMScoreAdj, -1000, 1000)
	k.positive("configSyncPeriod", c.ConfigSyncPeriod.Duration)
	return k.problems
}

func (k *checker) fail(path, format string, args ...any) {
	k.problems = append(k.problems, k.problem(manifest.Error, path, format, args...))
}

func (k *checker) within(path string, value, low, high int32) {
	if value < low || value > high {
		k.fail(path, "%d is out of range: want %d to %d", value, low, high)
	}
}

func (k *checker) notNegative(path string, value int64) {
	if value < 0 {
		k.fail(path, "%d is negative: want 0 or more", value)
	}
}

func (k *checker) positive(path string, d time.Duration) {
	if d <= 0 {
		k.fail(path, "%s is no period: want one longer than 0", d)
	}
}

func (k *checker) noShorterThanZero(path string, d time.Duration) {
	if d < 0 {
		k.fail(path, "%s is negative: want 0s or more", d)
	}
}

// checkMode: lameduck lacks a mode that kube-proxy has; others it had once, or has elsewhere.
func (k *checker) checkMode() {
	use := "use nftables or iptables"
	switch k.Mode {
	case IPTables, NFTables:
	case "ipvs":
		k.fail("mode", "lameduck has no mode ipvs, which Kubernetes is giving up as well: %s", use)
	case "userspace":
		k.fail("mode", "there is no mode userspace any more, Kubernetes removed it in 1.26: %s", use)
	case "kernelspace":
		k.fail("mode", "kernelspace is the mode of Windows nodes, lameduck runs on Linux: %s", use)
	default:
		k.fail("mode", "unknown mode %q: %s", k.Mode, use)
	}
}

// Rules are what the sections of both modes have.
type Rules struct {
	MasqueradeAll             bool
	MasqueradeBit             int32
	SyncPeriod, MinSyncPeriod time.Duration
}

// Rules returns the section of a mode. Any mode but nftables has that of iptables, as in kube-proxy.
func (c *Config) Rules(mode ProxyMode) Rules {
	if mode == NFTables {
		n := &c.NFTables
		return Rules{n.MasqueradeAll, *n.MasqueradeBit, n.SyncPeriod.Duration, n.MinSyncPeriod.Duration}
	}
	i := &c.IPTables
	return Rules{i.MasqueradeAll, *i.MasqueradeBit, i.SyncPeriod.Duration, i.MinSyncPeriod.Duration}
}

// checkRules looks at the section of the mode, and at iptables.masqueradeBit always, as kube-proxy does.
func (k *checker) checkRules() {
	section := string(k.Mode)
	if k.Mode != NFTables {
		section = string(IPTables)
	}
	rules := k.Rules(k.Mode)
	k.within(section+".masqueradeBit", rules.MasqueradeBit, 0, 31)
	if k.Mode == NFTables {
		k.within("iptables.masqueradeBit", *k.IPTables.MasqueradeBit, 0, 31)
	}
	longest, shortest := section+".syncPeriod", section+".minSyncPeriod"
	k.positive(longest, rules.SyncPeriod)
	k.noShorterThanZero(shortest, rules.MinSyncPeriod)
	if rules.SyncPeriod > 0 && rules.MinSyncPeriod > rules.SyncPeriod {
		at := shortest
		if !k.Given(at) {
			at = longest
		}
		k.fail(at, "minSyncPeriod %s is longer than syncPeriod %s: want it no longer", rules.MinSyncPeriod, rules.SyncPeriod)
	}
}

// checkAddresses looks at the addresses of this machine.
func (k *checker) checkAddresses() {
	if a, ok := parseAddr(k.BindAddress); ok {
		k.BindAddress = a.String()
	} else {
		k.fail("bindAddress", "%q: want an IP address such as 0.0.0.0", k.BindAddress)
	}
	k.checkAddrPort("healthzBindAddress", &k.HealthzBindAddress, "0.0.0.0:10256")
	k.checkAddrPort("metricsBindAddress", &k.MetricsBindAddress, "127.0.0.1:10249")
	for i, s := range k.NodePortAddresses {
		path := fmt.Sprintf("nodePortAddresses[%d]", i)
		if s == Primary {
			if len(k.NodePortAddresses) > 1 {
				k.fail(path, "primary goes with nothing else: want it alone, or CIDRs")
			}
			continue
		}
		p, ok := parseCIDR(s)
		if !ok {
			k.fail(path, "%q: want a CIDR such as 192.168.0.0/24, or primary alone", s)
			continue
		}
		k.NodePortAddresses[i] = p.String()
	}
}

func (k *checker) checkAddrPort(path string, text *string, example string) {
	a, ok := parseAddrPort(*text)
	if !ok {
		k.fail(path, "%q: want an IP address, with or without a port, such as %s", *text, example)
		return
	}
	*text = a.String()
}

// checkDetectLocal wants what the mode needs; a mode without ranges is allowed and detects nothing.
func (k *checker) checkDetectLocal() {
	needs := func(path, value, what string) {
		if value == "" {
			k.fail(path, "detectLocalMode %s needs %s", k.DetectLocalMode, what)
		}
	}
	switch k.DetectLocalMode {
	case ClusterCIDR:
		k.checkClusterCIDR()
	case NodeCIDR:
	case BridgeInterface:
		needs("detectLocal.bridgeInterface", k.DetectLocal.BridgeInterface, "the name of a bridge, such as cni0")
	case InterfaceNamePrefix:
		needs("detectLocal.interfaceNamePrefix", k.DetectLocal.InterfaceNamePrefix, "a prefix of names, such as veth")
	default:
		k.fail("detectLocalMode", "unknown mode %q: want ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix", k.DetectLocalMode)
	}
}

func (k *checker) checkClusterCIDR() {
	const path, example = "clusterCIDR", "such as 10.244.0.0/16, or one of each IP family, such as 10.244.0.0/16,fd00:10:244::/56"
	if k.ClusterCIDR == "" {
		return
	}
	ranges, bad := k.ClusterCIDRs()
	if bad != "" {
		k.fail(path, "%q: want a CIDR %s", bad, example)
		return
	}
	if len(ranges) > 2 || len(ranges) == 2 && ranges[0].Addr().Is4() == ranges[1].Addr().Is4() {
		k.fail(path, "%q has several ranges of an IP family: want one, %s", k.ClusterCIDR, example)
	}
}

// ClusterCIDRs are the ranges in clusterCIDR, up to the first that is none.
func (c *Config) ClusterCIDRs() (ranges []netip.Prefix, bad string) {
	if c.ClusterCIDR == "" {
		return nil, ""
	}
	for s := range strings.SplitSeq(c.ClusterCIDR, ",") {
		p, ok := parseCIDR(strings.TrimSpace(s))
		if !ok {
			return ranges, s
		}
		ranges = append(ranges, p)
	}
	return ranges, ""
}

func (k *checker) checkConntrack() {
	c := &k.Conntrack
	k.notNegative("conntrack.maxPerCore", int64(*c.MaxPerCore))
	k.notNegative("conntrack.min", int64(*c.Min))
	k.noShorterThanZero("conntrack.tcpEstablishedTimeout", c.TCPEstablishedTimeout.Duration)
	k.noShorterThanZero("conntrack.tcpCloseWaitTimeout", c.TCPCloseWaitTimeout.Duration)
	k.noShorterThanZero("conntrack.udpTimeout", c.UDPTimeout.Duration)
	k.noShorterThanZero("conntrack.udpStreamTimeout", c.UDPStreamTimeout.Duration)
}

// checkLogging: component-base/logs/api/v1, Validate (1.36; verified).
func (k *checker) checkLogging() {
	l := &k.Logging
	if l.Format != "text" && l.Format != "json" {
		k.fail("logging.format", "unknown format %q: want text or json", l.Format)
	}
	k.positive("logging.flushFrequency", l.FlushFrequency.Duration.Duration)
	if l.Verbosity > math.MaxInt32 {
		k.fail("logging.verbosity", "%d: want 0 to %d", l.Verbosity, math.MaxInt32)
	}
	if len(l.VModule) > 0 && l.Format != "text" {
		k.fail("logging.vmodule", "goes with format text only")
	}
	for i, item := range l.VModule {
		if item.FilePattern == "" || strings.ContainsAny(item.FilePattern, "=,") {
			k.fail(fmt.Sprintf("logging.vmodule[%d].filePattern", i), "%q: want the name of a source file without .go, or a pattern of such names, without = and ,", item.FilePattern)
		}
		if item.Verbosity > math.MaxInt32 {
			k.fail(fmt.Sprintf("logging.vmodule[%d].verbosity", i), "%d: want 0 to %d", item.Verbosity, math.MaxInt32)
		}
	}
}
