package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
)

// Everything this program knows about the two command lines is in this file.

// proxy is a program under test.
type proxy struct {
	name  string
	modes []string
	// argv is its command line.
	argv func(c *cell) []string
	// firstSync returns how long its first sync took, once it knows.
	firstSync func(c *cell) (seconds float64, ok bool, err error)
}

func (p *proxy) knows(mode string) bool { return slices.Contains(p.modes, mode) }

// The modes: a dataplane, and for iptables which of its two programs is called so.
const (
	modeNFTables       = "nftables"
	modeIPTablesNFT    = "iptables-nft"
	modeIPTablesLegacy = "iptables-legacy"
)

func modes() []string { return []string{modeNFTables, modeIPTablesNFT, modeIPTablesLegacy} }

func proxies() []*proxy {
	return []*proxy{
		{name: "kube-proxy", modes: modes(), argv: kubeProxy, firstSync: firstSyncInMetrics},
		{name: "lameduck", modes: modes(), argv: lameduck, firstSync: firstSyncInLog},
	}
}

// dialect is the mode as both proxies know it.
func (c *cell) dialect() string {
	dialect, _, _ := strings.Cut(c.mode, "-")
	return dialect
}

// kubeProxy leaves the limits of connection tracking alone, which are the machine's, not the
// namespace's.
func kubeProxy(c *cell) []string {
	return []string{
		c.program("kube-proxy"), "--proxy-mode=" + c.dialect(), "--master=" + c.master,
		"--hostname-override=" + objects.NodeName, "--cluster-cidr=" + objects.PodCIDR, "--iptables-min-sync-period=1ms",
		"--metrics-bind-address=" + metricsAddress,
		"--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s", "--oom-score-adj=0",
	}
}

func lameduck(c *cell) []string {
	return []string{
		c.program("lameduck"), "proxy", "--mode=" + c.dialect(), "--master=" + c.master,
		"--hostname-override=" + objects.NodeName, "--cluster-cidr=" + objects.PodCIDR, "--config=" + filepath.Join(c.dir, configName),
	}
}

// configName is a file with what lameduck has no flags for.
const (
	configName = "config.yaml"
	config     = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
nftables: {minSyncPeriod: 1ms}
iptables: {minSyncPeriod: 1ms}
`
)

// metricsAddress is that of the node's namespace.
const metricsAddress = "127.0.0.1:10249"

// firstSyncMetric is a histogram with one entry after the first sync (kubernetes 1.36
// pkg/proxy/metrics/metrics.go).
const firstSyncMetric = "kubeproxy_sync_full_proxy_rules_duration_seconds"

// variant returns which programs a mode has in the place of iptables.
func variant(mode string) string {
	if mode == modeIPTablesLegacy {
		return "xtables-legacy-multi"
	}
	return "xtables-nft-multi"
}

// environment is the harness's own, with iptables being what the mode says, and a lock of its
// own for that: namespaces share /run/xtables.lock, and others of this machine may hold it.
func environment(mode, dir string) ([]string, error) {
	multi, err := exec.LookPath(variant(mode))
	if err != nil && mode != modeNFTables {
		return nil, fmt.Errorf("mode %s: %w", mode, err)
	}
	env := os.Environ()
	if err != nil {
		return env, nil // nft is all it takes
	}
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, suffix := range []string{"", "-save", "-restore"} {
			err := os.Symlink(multi, filepath.Join(dir, family+suffix))
			if err != nil && !errors.Is(err, os.ErrExist) {
				return nil, err
			}
		}
	}
	return append(env, "PATH="+dir+":"+os.Getenv("PATH"), "XTABLES_LOCKFILE="+filepath.Join(dir, "xtables.lock")), nil
}
