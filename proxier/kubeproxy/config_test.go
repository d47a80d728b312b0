package kubeproxy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

const header = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"

// object loads a configuration; its first line is line 3.
func object(t testing.TB, text string) *manifest.Object {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(header + text + "\n")}}, manifest.Options{})
	if len(objects.KubeProxyConfigurations) != 1 {
		t.Fatalf("%s: %v", text, problems)
	}
	return objects.KubeProxyConfigurations[0]
}

// said renders problems, warnings marked.
func said(problems []manifest.Problem) []string {
	var out []string
	for _, p := range problems {
		text := strings.TrimPrefix(p.Error(), "in.yaml:")
		if p.Severity == manifest.Warning {
			text = "warning: " + text
		}
		out = append(out, text)
	}
	return out
}

// Each rule of kube-proxy's, and what would be valid. Reference: Kubernetes 1.36 pkg/proxy/apis/config/validation.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	const k = "KubeProxyConfiguration: "
	for _, c := range []struct{ text, want string }{
		{"mode: ipvs", "3:7: " + k + "mode: lameduck has no mode ipvs, which Kubernetes is giving up as well: use nftables or iptables"},
		{"mode: userspace", "3:7: " + k + "mode: there is no mode userspace any more, Kubernetes removed it in 1.26: use nftables or iptables"},
		{"mode: kernelspace", "3:7: " + k + "mode: kernelspace is the mode of Windows nodes, lameduck runs on Linux: use nftables or iptables"},
		{"mode: IPTables", "3:7: " + k + `mode: unknown mode "IPTables": use nftables or iptables`},
		{"clusterCidr: 10.0.0.0/8", "3:1: " + k + "clusterCidr: unknown field; did you mean clusterCIDR?"},
		{"iptables: {masq: true}", "3:12: " + k + "iptables.masq: unknown field; valid here: localhostNodePorts, masqueradeAll, masqueradeBit, minSyncPeriod, syncPeriod"},
		{"somethingElse: 1", "3:1: " + k + "somethingElse: unknown field; kubeproxy.config.k8s.io/v1alpha1 has none of that name here"},
		{"iptables: {masqueradeBit: many}", "3:27: " + k + `iptables.masqueradeBit: expected a whole number, got the string "many"`},
		{"iptables: []", "3:11: " + k + "iptables: expected a mapping, got a list"},
		{"logging: {flushFrequency: [1]}", "3:27: " + k + "logging.flushFrequency: expected a duration such as 5s, or a number of nanoseconds"},
		{"iptables: {masqueradeBit: 32}", "3:27: " + k + "iptables.masqueradeBit: 32 is out of range: want 0 to 31"},
		{"iptables: {masqueradeBit: -1}", "3:27: " + k + "iptables.masqueradeBit: -1 is out of range: want 0 to 31"},
		{"mode: nftables\niptables: {masqueradeBit: 32}", "4:27: " + k + "iptables.masqueradeBit: 32 is out of range: want 0 to 31"},
		{"mode: nftables\nnftables: {masqueradeBit: 32}", "4:27: " + k + "nftables.masqueradeBit: 32 is out of range: want 0 to 31"},
		{"iptables: {syncPeriod: -1s}", "3:24: " + k + "iptables.syncPeriod: -1s is no period: want one longer than 0"},
		{"iptables: {minSyncPeriod: -1s}", "3:27: " + k + "iptables.minSyncPeriod: -1s is negative: want 0s or more"},
		{"iptables: {minSyncPeriod: 1m}", "3:27: " + k + "iptables.minSyncPeriod: minSyncPeriod 1m0s is longer than syncPeriod 30s: want it no longer"},
		{"mode: nftables\nnftables: {syncPeriod: 500ms}", "4:24: " + k + "nftables.syncPeriod: minSyncPeriod 1s is longer than syncPeriod 500ms: want it no longer"},
		{"configSyncPeriod: -1s", "3:19: " + k + "configSyncPeriod: -1s is no period: want one longer than 0"},
		{"bindAddress: node-1", "3:14: " + k + `bindAddress: "node-1": want an IP address such as 0.0.0.0`},
		{"healthzBindAddress: localhost:10256", "3:21: " + k + `healthzBindAddress: "localhost:10256": want an IP address, with or without a port, such as 0.0.0.0:10256`},
		{"healthzBindAddress: 0.0.0.0:65536", "3:21: " + k + `healthzBindAddress: "0.0.0.0:65536": want an IP address, with or without a port, such as 0.0.0.0:10256`},
		{"metricsBindAddress: 0.0.0.0:0", "3:21: " + k + `metricsBindAddress: "0.0.0.0:0": want an IP address, with or without a port, such as 127.0.0.1:10249`},
		{"metricsBindAddress: 0.0.0.0:http", "3:21: " + k + `metricsBindAddress: "0.0.0.0:http": want an IP address, with or without a port, such as 127.0.0.1:10249`},
		{"nodePortAddresses: [10.0.0.0]", "3:21: " + k + `nodePortAddresses[0]: "10.0.0.0": want a CIDR such as 192.168.0.0/24, or primary alone`},
		{"nodePortAddresses: [10.0.0.0/8, primary]", "3:33: " + k + "nodePortAddresses[1]: primary goes with nothing else: want it alone, or CIDRs"},
		{"clusterCIDR: 10.0.0.0/33", "3:14: " + k + `clusterCIDR: "10.0.0.0/33": want a CIDR such as 10.244.0.0/16, or one of each IP family, such as 10.244.0.0/16,fd00:10:244::/56`},
		{"clusterCIDR: 10.0.0.0/8,11.0.0.0/8", "3:14: " + k + `clusterCIDR: "10.0.0.0/8,11.0.0.0/8" has several ranges of an IP family: want one, such as 10.244.0.0/16, or one of each IP family, such as 10.244.0.0/16,fd00:10:244::/56`},
		{"detectLocalMode: Bridge", "3:18: " + k + `detectLocalMode: unknown mode "Bridge": want ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix`},
		{"detectLocalMode: BridgeInterface", "1:1: " + k + "detectLocal.bridgeInterface: detectLocalMode BridgeInterface needs the name of a bridge, such as cni0"},
		{"detectLocalMode: InterfaceNamePrefix\ndetectLocal: {bridgeInterface: cni0}", "4:1: " + k + "detectLocal.interfaceNamePrefix: detectLocalMode InterfaceNamePrefix needs a prefix of names, such as veth"},
		{"oomScoreAdj: -1001", "3:14: " + k + "oomScoreAdj: -1001 is out of range: want -1000 to 1000"},
		{"oomScoreAdj: 1001", "3:14: " + k + "oomScoreAdj: 1001 is out of range: want -1000 to 1000"},
		{"clientConnection: {burst: -1}", "3:27: " + k + "clientConnection.burst: -1 is negative: want 0 or more"},
		{"conntrack: {maxPerCore: -1}", "3:25: " + k + "conntrack.maxPerCore: -1 is negative: want 0 or more"},
		{"conntrack: {min: -1}", "3:18: " + k + "conntrack.min: -1 is negative: want 0 or more"},
		{"conntrack: {tcpEstablishedTimeout: -1s}", "3:36: " + k + "conntrack.tcpEstablishedTimeout: -1s is negative: want 0s or more"},
		{"conntrack: {tcpCloseWaitTimeout: -1s}", "3:34: " + k + "conntrack.tcpCloseWaitTimeout: -1s is negative: want 0s or more"},
		{"conntrack: {udpTimeout: -1s}", "3:25: " + k + "conntrack.udpTimeout: -1s is negative: want 0s or more"},
		{"conntrack: {udpStreamTimeout: -1s}", "3:31: " + k + "conntrack.udpStreamTimeout: -1s is negative: want 0s or more"},
		{"conntrack: {udpTimeout: 30}", "3:25: " + k + "conntrack.udpTimeout: expected a duration such as 30s, 1m30s or 500ms, got the number 30"},
		{"logging: {format: xml}", "3:19: " + k + `logging.format: unknown format "xml": want text or json`},
		{"logging: {verbosity: 4000000000}", "3:22: " + k + "logging.verbosity: 4000000000: want 0 to 2147483647"},
		{"logging: {format: json, vmodule: [{filePattern: owner, verbosity: 9}]}", "3:25: " + k + "logging.vmodule: goes with format text only"},
		{"logging: {vmodule: [{filePattern: 'a,b', verbosity: 4000000000}]}", "3:35: " + k + `logging.vmodule[0].filePattern: "a,b": want the name of a source file without .go, or a pattern of such names, without = and ,` +
			"\n3:53: " + k + "logging.vmodule[0].verbosity: 4000000000: want 0 to 2147483647"},
		{"logging: {flushFrequency: -1s}", "3:27: " + k + "logging.flushFrequency: -1s is no period: want one longer than 0"},
		{"featureGates: {ProxyTerminatingEndpoint: true}", "3:42: " + k + "featureGates.ProxyTerminatingEndpoint: there is no feature gate ProxyTerminatingEndpoint; did you mean ProxyTerminatingEndpoints?"},
		{"featureGates: {ProxyTerminatingEndpoints: 1}", "3:43: " + k + "featureGates.ProxyTerminatingEndpoints: expected true or false, got the number 1"},
		{"mode: ipvs\nbindAddress: here\noomScoreAdj: 5000\nclusterCIDr: 10.0.0.0/8", "3:7: " + k + "mode: lameduck has no mode ipvs, which Kubernetes is giving up as well: use nftables or iptables\n" +
			"4:14: " + k + `bindAddress: "here": want an IP address such as 0.0.0.0` + "\n5:14: " + k + "oomScoreAdj: 5000 is out of range: want -1000 to 1000\n" +
			"6:1: " + k + "clusterCIDr: unknown field; did you mean clusterCIDR?"},
	} {
		_, problems := Read(object(t, c.text))
		if diff := cmp.Diff(strings.Split(c.want, "\n"), said(problems)); diff != "" || !manifest.HasErrors(problems) {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// What kube-proxy takes is taken, and what has no effect named.
func TestWhatIsTaken(t *testing.T) {
	t.Parallel()
	const k = "KubeProxyConfiguration: "
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"detectLocalMode: NodeCIDR\nclusterCIDR: not looked at", ""},
		{"nftables: {masqueradeBit: 40}", "warning: 3:27: " + k + "nftables.masqueradeBit: 40 has no effect: the mode is iptables"},
		{"mode: nftables\niptables: {masqueradeAll: true, minSyncPeriod: 1s}", "warning: 4:27: " + k + "iptables.masqueradeAll: true has no effect: the mode is nftables"},
		{"ipvs: {strictARP: true, syncPeriod: 30s, excludeCIDRs: []}", "warning: 3:19: " + k + "ipvs.strictARP: true has no effect: lameduck has no mode ipvs"},
		{"ipvs: {excludeCIDRs: [10.0.0.0/8]}", "warning: 3:8: " + k + `ipvs.excludeCIDRs: ["10.0.0.0/8"] has no effect: lameduck has no mode ipvs`},
		{"winkernel: {sourceVip: 10.0.0.1}", "warning: 3:24: " + k + `winkernel.sourceVip: "10.0.0.1" has no effect: it is for Windows nodes`},
		{"windowsRunAsService: true", "warning: 3:22: " + k + "windowsRunAsService: true has no effect: it is for Windows nodes"},
		{"portRange: 1000-2000", "warning: 3:12: " + k + `portRange: "1000-2000" has no effect: it was for the mode userspace, which kube-proxy had until 1.25`},
		{"iptables: {minSyncPeriod: 30s, syncPeriod: 30s}", ""}, // no longer is not shorter
		{"mode: nftables\nnftables: {syncPeriod: 1s}", ""},
		{"configSyncPeriod: 15m", ""},
		{"configSyncPeriod: 5m", "warning: 3:19: " + k + `configSyncPeriod: "5m0s" has no effect: lameduck hears of each change of an object and has no use for hearing of all objects again`},
		{"showHiddenMetricsForVersion: '1.35'", "warning: 3:30: " + k + `showHiddenMetricsForVersion: "1.35" has no effect: lameduck hides no metrics`},
		{"logging: {flushFrequency: 5s}", ""},
		{"logging: {flushFrequency: 5000000000}", ""},
		{"logging: {flushFrequency: 1s}", "warning: 3:27: " + k + `logging.flushFrequency: "1s" has no effect: lameduck writes each line of its log at once, to stderr`},
		{"featureGates: {ProxyTerminatingEndpoints: false}", ""},
		{"featureGates: {NFTablesProxyMode: true}", "warning: 3:35: " + k + "featureGates.NFTablesProxyMode: feature gate NFTablesProxyMode=true has no effect: lameduck follows " + strings.Join(followed(), ", ")},
		{"featureGates: {AllAlpha: false}", "warning: 3:26: " + k + "featureGates.AllAlpha: feature gate AllAlpha=false has no effect: lameduck follows " + strings.Join(followed(), ", ")},
		{"bindAddress: 010.0.0.1\nnodePortAddresses: [010.0.0.0/8, 'fd00::1/64']\nclusterCIDR: 10.244.0.0/16, fd00::/56", ""},
	} {
		_, problems := Read(object(t, c.text))
		var want []string
		if c.want != "" {
			want = strings.Split(c.want, "\n")
		}
		if diff := cmp.Diff(want, said(problems)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// What installers write, with all its zeros, means nothing but what it says.
func TestWhatInstallersWrite(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects, problems := manifest.Load([]manifest.File{{Name: name, Data: data}}, manifest.Options{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		c, problems := Read(objects.KubeProxyConfigurations[0])
		if len(problems) > 0 || *c.Conntrack.MaxPerCore != 0 {
			t.Errorf("%s: %v, maxPerCore %d", name, problems, *c.Conntrack.MaxPerCore)
		}
	}
}

// Reference: Kubernetes 1.36 pkg/proxy/apis/config/v1alpha1/defaults.go, cmd/kube-proxy/app/server_linux.go;
// docs/model/kube-proxy.md 10.
func TestDefaults(t *testing.T) {
	t.Parallel()
	c, problems := Read(nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]string{
		"featureGates": "null", "hostnameOverride": `""`, "mode": `"iptables"`, "bindAddress": `"0.0.0.0"`,
		"healthzBindAddress": `"0.0.0.0:10256"`, "metricsBindAddress": `"127.0.0.1:10249"`,
		"bindAddressHardFail": "false", "enableProfiling": "false", "showHiddenMetricsForVersion": `""`,
		"clientConnection.kubeconfig": `""`, "clientConnection.acceptContentTypes": `""`, "clientConnection.contentType": `"application/vnd.kubernetes.protobuf"`,
		"clientConnection.qps": "5", "clientConnection.burst": "10",
		"logging.format": `"text"`, "logging.flushFrequency": `"5s"`, "logging.verbosity": "0", "logging.vmodule": "null",
		"logging.options.text.splitStream": "false", "logging.options.text.infoBufferSize": `"0"`,
		"logging.options.json.splitStream": "false", "logging.options.json.infoBufferSize": `"0"`,
		"iptables.masqueradeBit": "14", "iptables.masqueradeAll": "false", "iptables.localhostNodePorts": "true", "iptables.syncPeriod": `"30s"`, "iptables.minSyncPeriod": `"1s"`,
		"nftables.masqueradeBit": "14", "nftables.masqueradeAll": "false", "nftables.syncPeriod": `"30s"`, "nftables.minSyncPeriod": `"1s"`,
		"ipvs.syncPeriod": `"30s"`, "ipvs.minSyncPeriod": `"0s"`, "ipvs.scheduler": `""`, "ipvs.excludeCIDRs": "null", "ipvs.strictARP": "false",
		"ipvs.tcpTimeout": `"0s"`, "ipvs.tcpFinTimeout": `"0s"`, "ipvs.udpTimeout": `"0s"`,
		"winkernel.networkName": `""`, "winkernel.sourceVip": `""`, "winkernel.enableDSR": "false", "winkernel.rootHnsEndpointName": `""`, "winkernel.forwardHealthCheckVip": "false",
		"detectLocalMode": `"ClusterCIDR"`, "detectLocal.bridgeInterface": `""`, "detectLocal.interfaceNamePrefix": `""`, "clusterCIDR": `""`,
		"nodePortAddresses": "null", "oomScoreAdj": "-999",
		"conntrack.maxPerCore": "32768", "conntrack.min": "131072", "conntrack.tcpEstablishedTimeout": `"24h0m0s"`, "conntrack.tcpCloseWaitTimeout": `"1h0m0s"`,
		"conntrack.tcpBeLiberal": "false", "conntrack.udpTimeout": `"0s"`, "conntrack.udpStreamTimeout": `"0s"`,
		"configSyncPeriod": `"15m0s"`, "portRange": `""`, "windowsRunAsService": "false",
	}
	if diff := cmp.Diff(want, values(&c.KubeProxyConfiguration)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"mode: nftables":    `0.0.0.0:10256 127.0.0.1:10249 ["primary"]`,
		"bindAddress: '::'": "[::]:10256 [::1]:10249 null",
		"bindAddress: fd00::1\nhealthzBindAddress: ::1": "[::1]:10256 [::1]:10249 null",
		"metricsBindAddress: 010.0.0.1:80":              "0.0.0.0:10256 10.0.0.1:80 null",
	} {
		c, problems := Read(object(t, text))
		if got := c.HealthzBindAddress + " " + c.MetricsBindAddress + " " + c.Text("nodePortAddresses"); got != want || len(problems) > 0 {
			t.Errorf("%s: %s %v, want %s", text, got, problems, want)
		}
	}
}

// Flags win, and are named where they are wrong.
func TestFlagsWin(t *testing.T) {
	t.Parallel()
	bit := Override{"--iptables-masquerade-bit", "iptables.masqueradeBit", func(c *KubeProxyConfiguration) { c.IPTables.MasqueradeBit = new(int32(40)) }}
	addresses := Override{"--nodeport-addresses", "nodePortAddresses", func(c *KubeProxyConfiguration) { c.NodePortAddresses = []string{"here"} }}
	atOnce := Override{"--iptables-min-sync-period", "iptables.minSyncPeriod", func(c *KubeProxyConfiguration) { c.IPTables.MinSyncPeriod.Duration = 0 }}
	c, problems := Read(object(t, "iptables: {masqueradeBit: 5, minSyncPeriod: 2s}\nclusterCIDR: 10.0.0.0/8"), bit, addresses, atOnce)
	want := []string{"--iptables-masquerade-bit: 40 is out of range: want 0 to 31", `--nodeport-addresses: "here": want a CIDR such as 192.168.0.0/24, or primary alone`}
	if diff := cmp.Diff(want, said(problems)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Rules(IPTables).MinSyncPeriod != 0 {
		t.Error("no period at all is given by a flag")
	}
	for path, want := range map[string]string{
		"iptables.masqueradeBit": "--iptables-masquerade-bit", "clusterCIDR": "in.yaml:4:14", "mode": "kube-proxy's default",
	} {
		if got := c.From(path); got != want {
			t.Errorf("%s comes from %s, want %s", path, got, want)
		}
	}
	if _, problems := Read(nil, bit); !slices.Equal(said(problems), want[:1]) {
		t.Errorf("without a file: %v", problems)
	}
}

// Every field of the API has a rule, and every rule a field.
func TestEveryFieldHasItsRule(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, path := range Paths() {
		r := ruleOf(rules(), path, IPTables)
		if section, _, _ := strings.Cut(path, "."); section == string(NFTables) {
			r = ruleOf(rules(), path, NFTables)
		}
		if r.path == "" || (r.effect == none) == (r.why == "") {
			t.Errorf("%s: rule %+v", path, r)
		}
		used[r.path] = true
	}
	for _, r := range rules() {
		if !used[r.path] {
			t.Errorf("no field has the rule of %s", r.path)
		}
	}
}

// Whatever the file, there is an answer: a configuration that can be used, or errors.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"mode: nftables\nnodePortAddresses: [primary]", "iptables: {masqueradeBit: null, syncPeriod: 0s}", "logging: {options: {json: {infoBufferSize: 1Ki}}}",
		"featureGates: {AllBeta: true}", "conntrack: {min: null}", "clusterCIDR: 10.0.0.0/8,fd00::/8", "- x", "nodePortAddresses: &a [*a]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(header + text)}}, manifest.Options{})
		for _, o := range objects.KubeProxyConfigurations {
			c, problems := Read(o)
			if manifest.HasErrors(problems) {
				continue
			}
			if bit := c.Rules(c.Mode).MasqueradeBit; bit < 0 || bit > 31 {
				t.Errorf("bit %d was taken", bit)
			}
			if _, change, _ := Reread(c, o); len(change.Now)+len(change.Later) > 0 {
				t.Errorf("differs from itself: %v", change)
			}
			if _, bad := c.ClusterCIDRs(); bad != "" && c.DetectLocalMode == ClusterCIDR {
				t.Errorf("range %q was taken", bad)
			}
		}
	})
}
