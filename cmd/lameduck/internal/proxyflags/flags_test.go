package proxyflags

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

func parse(t *testing.T, args ...string) []kubeproxy.Override {
	t.Helper()
	f, set := &Flags{}, pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	f.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.Overrides()
}

// Each flag sets the field that it does in kube-proxy, and says where a wrong value came from. Reference: Kubernetes 1.36
// cmd/kube-proxy/app/options.go.
func TestWhatFlagsSet(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, c := range []struct{ arg, want string }{
		{"--kube-api-content-type=application/json", `clientConnection.contentType="application/json"`},
		{"--kube-api-qps=50", "clientConnection.qps=50"},
		{"--kube-api-burst=100", "clientConnection.burst=100"},
		{"--bind-address=192.0.2.1", `bindAddress="192.0.2.1"`},
		{"--bind-address-hard-fail", "bindAddressHardFail=true"},
		{"--detect-local-mode=NodeCIDR", `detectLocalMode="NodeCIDR"`},
		{"--pod-bridge-interface=cni0", `detectLocal.bridgeInterface="cni0"`},
		{"--pod-interface-name-prefix=veth", `detectLocal.interfaceNamePrefix="veth"`},
		{"--nodeport-addresses=10.0.0.0/8, fd00::/8", `nodePortAddresses=["10.0.0.0/8","fd00::/8"]`},
		{"--masquerade-all", "iptables.masqueradeAll=true nftables.masqueradeAll=true"},
		{"--iptables-masquerade-bit=15", "iptables.masqueradeBit=15"},
		{"--iptables-localhost-nodeports=false", "iptables.localhostNodePorts=false"},
		{"--iptables-sync-period=1m", `iptables.syncPeriod="1m0s" nftables.syncPeriod="1m0s"`},
		{"--iptables-min-sync-period=0", `iptables.minSyncPeriod="0s" nftables.minSyncPeriod="0s"`},
		{"--conntrack-max-per-core=0", "conntrack.maxPerCore=0"},
		{"--conntrack-min=1", "conntrack.min=1"},
		{"--conntrack-tcp-timeout-established=0", `conntrack.tcpEstablishedTimeout="0s"`},
		{"--conntrack-tcp-timeout-close-wait=1m", `conntrack.tcpCloseWaitTimeout="1m0s"`},
		{"--conntrack-tcp-be-liberal", "conntrack.tcpBeLiberal=true"},
		{"--conntrack-udp-timeout=30s", `conntrack.udpTimeout="30s"`},
		{"--conntrack-udp-timeout-stream=3m", `conntrack.udpStreamTimeout="3m0s"`},
		{"--oom-score-adj=0", "oomScoreAdj=0"},
		{"--logging-format=json", `logging.format="json"`},
		{"--vmodule=owner=4,run*=5", `logging.vmodule=[{"filePattern":"owner","verbosity":4},{"filePattern":"run*","verbosity":5}]`},
		{"--log-flush-frequency=1s", `logging.flushFrequency="1s"`},
		{"--log-text-split-stream", "logging.options.text.splitStream=true"},
		{"--log-json-split-stream", "logging.options.json.splitStream=true"},
		{"--config-sync-period=1m", `configSyncPeriod="1m0s"`},
		{"--show-hidden-metrics-for-version=1.35", `showHiddenMetricsForVersion="1.35"`},
		{"--ipvs-scheduler=rr", `ipvs.scheduler="rr"`},
		{"--ipvs-exclude-cidrs=10.0.0.0/8", `ipvs.excludeCIDRs=["10.0.0.0/8"]`},
		{"--ipvs-strict-arp", "ipvs.strictARP=true"},
		{"--ipvs-sync-period=1m", `ipvs.syncPeriod="1m0s"`},
		{"--ipvs-min-sync-period=1s", `ipvs.minSyncPeriod="1s"`},
		{"--ipvs-tcp-timeout=1s", `ipvs.tcpTimeout="1s"`},
		{"--ipvs-tcpfin-timeout=1s", `ipvs.tcpFinTimeout="1s"`},
		{"--ipvs-udp-timeout=1s", `ipvs.udpTimeout="1s"`},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.arg, "--"), "=")
		tested[name] = true
		plain, _ := kubeproxy.Read(nil)
		overrides := parse(t, c.arg)
		got, problems := kubeproxy.Read(nil, overrides...)
		if manifest.HasErrors(problems) {
			t.Errorf("%s: %v", c.arg, problems)
		}
		var changed []string
		for _, path := range kubeproxy.Paths() {
			if got.Text(path) != plain.Text(path) {
				changed = append(changed, path+"="+got.Text(path))
			}
		}
		if strings.Join(changed, " ") != c.want {
			t.Errorf("%s sets %v, want %s", c.arg, changed, c.want)
		}
		for _, v := range overrides {
			if got.From(v.Path) != "--"+name {
				t.Errorf("%s: %s comes from %s", c.arg, v.Path, got.From(v.Path))
			}
		}
		// Whoever says it in a file hears the same.
		idle := strings.HasPrefix(name, "log-") || slices.ContainsFunc(idleFlags(), func(f flag) bool { return f.name == name })
		if idle != (len(problems) > 0) {
			t.Errorf("%s: %v", c.arg, problems)
		}
	}
	for _, row := range allFlags() {
		if !tested[row.name] {
			t.Errorf("--%s is not tested", row.name)
		}
	}
}

func TestFlagsThatHaveNoEffectAreNamed(t *testing.T) {
	t.Parallel()
	const file = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\nnftables: {masqueradeBit: 5}\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(file)}}, manifest.Options{})
	_, problems := kubeproxy.Read(objects.KubeProxyConfigurations[0],
		parse(t, "--iptables-masquerade-bit=15", "--ipvs-strict-arp", "--masquerade-all", "--iptables-sync-period=1m", "--config-sync-period=15m")...)
	want := []string{
		"--iptables-masquerade-bit: 15 has no effect: the mode is nftables",
		"--ipvs-strict-arp: true has no effect: lameduck has no mode ipvs",
	}
	var got []string
	for _, p := range problems {
		if p.Severity == manifest.Warning {
			got = append(got, p.Error())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(problems) {
		t.Errorf("%d problems, warnings (-want +got):\n%s", len(problems), diff)
	}
}

// A level fits into an int32, as klog's. Reference: component-base/logs/api/v1, VModuleConfigurationPflag.
func TestVModuleIsAListOfPatternsWithLevels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"owner=4,run*=5,": "owner=4,run*=5",
		"":                "",
		"owner":           `"owner": want PATTERN=N, such as owner=4`,
		"=4":              `"=4": want PATTERN=N, such as owner=4`,
		"a=1=2":           `"a=1=2": want PATTERN=N, such as owner=4`,
		"a=2147483647":    "a=2147483647",
		"a=2147483648":    `"a=2147483648": want a level of 0 to 2147483647 after the equals sign`,
		"a=-1":            `"a=-1": want a level of 0 to 2147483647 after the equals sign`,
	} {
		var v vmodule
		got := ""
		if err := v.Set(text); err != nil {
			got = err.Error()
		} else {
			got = v.String()
		}
		if got != want {
			t.Errorf("--vmodule=%s: %s, want %s", text, got, want)
		}
	}
}
