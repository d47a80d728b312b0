package kubeproxy

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What a running proxy makes of another file: what it follows, and what waits.
func TestReread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, now, later string }{
		{"", "", "", ""},
		{"", "iptables: {syncPeriod: 30s}", "", ""},
		{"clusterCIDR: 10.0.0.0/8", "clusterCIDR: 11.0.0.0/8", "clusterCIDR", ""},
		{"clusterCIDR: 10.0.0.0/8", "", "clusterCIDR", ""},
		{"", "detectLocalMode: BridgeInterface\ndetectLocal: {bridgeInterface: cni0}", "detectLocalMode detectLocal.bridgeInterface", ""},
		{"", "nodePortAddresses: [primary]\niptables: {masqueradeAll: true, localhostNodePorts: false, syncPeriod: 1m, minSyncPeriod: 2s}",
			"iptables.masqueradeAll iptables.localhostNodePorts iptables.syncPeriod iptables.minSyncPeriod nodePortAddresses", ""},
		{"", "logging: {verbosity: 4}\noomScoreAdj: 0\nconntrack: {tcpBeLiberal: true}", "logging.verbosity oomScoreAdj conntrack.tcpBeLiberal", ""},
		{"mode: nftables", "mode: nftables\niptables: {masqueradeAll: true}", "", ""},
		{"mode: nftables", "mode: nftables\nnftables: {masqueradeAll: true, masqueradeBit: 5}", "nftables.masqueradeAll", "nftables.masqueradeBit"},
		{"", "bindAddress: '::'", "", "bindAddress healthzBindAddress metricsBindAddress"},
		{"", "hostnameOverride: a\nbindAddressHardFail: true\nenableProfiling: true\nfeatureGates: {ProxyTerminatingEndpoints: false}\nclientConnection: {kubeconfig: a, qps: 10}\nlogging: {format: json}",
			"", "featureGates clientConnection.kubeconfig clientConnection.qps logging.format hostnameOverride bindAddressHardFail enableProfiling"},
		{"", "iptables: {masqueradeBit: 15}", "", "iptables.masqueradeBit"},
		{"", "ipvs: {strictARP: true}\nportRange: 1-2\nconfigSyncPeriod: 1m", "", ""},
		// The mode waits, and so do its section and its default for nodePortAddresses. The section of the mode that goes on counts.
		{"", "mode: nftables\nnftables: {masqueradeAll: true}\niptables: {minSyncPeriod: 2s}", "iptables.minSyncPeriod", "mode"},
		{"mode: nftables", "clusterCIDR: 10.0.0.0/8", "clusterCIDR", "mode"},
		{"mode: nftables", "nodePortAddresses: [10.0.0.0/8]", "nodePortAddresses", "mode"},
	} {
		running, _ := Read(object(t, c.before))
		next, change, problems := Reread(running, object(t, c.after))
		if manifest.HasErrors(problems) {
			t.Fatal(problems)
		}
		if strings.Join(change.Now, " ") != c.now || strings.Join(change.Later, " ") != c.later {
			t.Errorf("%q -> %q: now %v, later %v; want %s, %s", c.before, c.after, change.Now, change.Later, c.now, c.later)
		}
		// It goes on with what it can follow, and with nothing else.
		wanted, _ := Read(object(t, c.after))
		for _, path := range Paths() {
			followed := strings.Contains(" "+c.now+" ", " "+path+" ")
			if followed && next.Text(path) != wanted.Text(path) || !followed && next.Text(path) != running.Text(path) && ruleOf(rules(), path, running.Mode).effect != none {
				t.Errorf("%q -> %q: goes on with %s %s", c.before, c.after, path, next.Text(path))
			}
		}
	}
}

func TestAWrongFileChangesNothing(t *testing.T) {
	t.Parallel()
	running, _ := Read(nil, Override{"lameduck's default", "mode", func(c *KubeProxyConfiguration) { c.Mode = NFTables }})
	for text, want := range map[string]string{
		"mode: ipvs\nclusterCIDR: ten": `3:7: KubeProxyConfiguration: mode: lameduck has no mode ipvs, which Kubernetes is giving up as well: use nftables or iptables
4:14: KubeProxyConfiguration: clusterCIDR: "ten": want a CIDR such as 10.244.0.0/16, or one of each IP family, such as 10.244.0.0/16,fd00:10:244::/56`,
		// Right by itself, but not for the mode that goes on.
		"mode: iptables\nnftables: {syncPeriod: -1s}": "4:24: KubeProxyConfiguration: nftables.syncPeriod: -1s is no period: want one longer than 0",
	} {
		next, change, problems := Reread(running, object(t, text))
		if got := strings.Join(said(problems), "\n"); next != nil || len(change.Now)+len(change.Later) > 0 || got != want {
			t.Errorf("%s: %v, %s, want %s", text, change, got, want)
		}
	}
}
