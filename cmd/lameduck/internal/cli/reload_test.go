package cli

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/proxyflags"
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
)

// configured returns what a reloader is given of a file.
func configured(text string) manifest.File {
	return manifest.File{Name: "in.yaml", Data: []byte("apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n" + text + "\n")}
}

// reloading is a reloader of a proxy that was started with a file, and what it logs, without times and places.
func reloading(t *testing.T, text string, flags *nodeFlags) (r *reloader, said func() string) {
	t.Helper()
	object, problems := loadConfig(configured(text))
	if object == nil {
		t.Fatal(problems)
	}
	config, problems := kubeproxy.Read(object, flags.overrides(true)...)
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	log, err := newProxyLog(config, &out)
	if err != nil {
		t.Fatal(err)
	}
	s := settings{flags: flags, config: config, warnings: problems, profile: endpoints.Profile{Options: endpoints.CurrentOptions()}}
	r = newReloader("node-1", s, log)
	r.prepare = func(c *proxyConfig, log logr.Logger) { log.Info("Prepared", "min", *c.Conntrack.Min) }
	header := regexp.MustCompile(`(?m)^(.).*?\] `)
	return r, func() string {
		text := header.ReplaceAllString(out.String(), "$1 ")
		out.Reset()
		return text
	}
}

func TestWhatARunningProxyFollows(t *testing.T) {
	t.Parallel()
	r, said := reloading(t, "mode: iptables\nclusterCIDR: 10.0.0.0/8\nportRange: 1-2", &nodeFlags{gates: map[string]string{"ProxyTerminatingEndpoints": "true"}})
	for _, step := range []struct {
		name, text string
		logs       string
		settings   string // "" for as before
	}{
		{"the same", "mode: iptables\nclusterCIDR: 10.0.0.0/8\nportRange: 1-2", "", ""},
		{"what can be followed", "mode: iptables\nclusterCIDR: 11.0.0.0/8\niptables: {masqueradeAll: true, minSyncPeriod: 5s, localhostNodePorts: false}\nnodePortAddresses: [192.0.2.0/24]",
			`I "Setting changed" name="iptables.masqueradeAll" value="true" was="false" from="in.yaml:5:27"
I "Setting changed" name="iptables.localhostNodePorts" value="false" was="true" from="in.yaml:5:72"
I "Setting changed" name="iptables.minSyncPeriod" value="5s" was="1s" from="in.yaml:5:48"
I "Setting changed" name="clusterCIDR" value="11.0.0.0/8" was="10.0.0.0/8" from="in.yaml:4:14"
I "Setting changed" name="nodePortAddresses" value="[\"192.0.2.0/24\"]" was="null" from="in.yaml:6:1"
`, "[11.0.0.0/8] masqueradeAll true localhost false node ports [192.0.2.0/24] every 5s"},
		{"what is wrong", "mode: ipvs\nclusterCIDR: ten", `E "The configuration is wrong" err="in.yaml:3:7: KubeProxyConfiguration: mode: lameduck has no mode ipvs, which Kubernetes is giving up as well: use nftables or iptables"
E "The configuration is wrong" err="in.yaml:4:14: KubeProxyConfiguration: clusterCIDR: \"ten\": want a CIDR such as 10.244.0.0/16, or one of each IP family, such as 10.244.0.0/16,fd00:10:244::/56"
E "The configuration cannot be used, the last one stays in use" file="in.yaml" errors=2
`, ""},
		{"what is half written", "mode: [", `E "The configuration is wrong" err="in.yaml:3:8: malformed YAML: did not find expected node content"
E "The configuration cannot be used, the last one stays in use" file="in.yaml" errors=1
`, ""},
		{"what waits, and goes with what does not", "mode: nftables\nclusterCIDR: 11.0.0.0/8\niptables: {masqueradeBit: 20}\nhostnameOverride: other\nbindAddress: 192.0.2.9",
			`I "Setting waits for the next start" name="hostnameOverride" value="other" is="" from="in.yaml:6:19"
I "Setting waits for the next start" name="bindAddress" value="192.0.2.9" is="0.0.0.0" from="in.yaml:7:14"
I "Setting waits for the next start" name="mode" value="nftables" is="iptables" from="in.yaml:3:7"
I "Setting waits for the next start" name="iptables.masqueradeBit" value="20" is="14" from="in.yaml:5:27"
I "Setting changed" name="iptables.masqueradeAll" value="false" was="true" from="kube-proxy's default"
I "Setting changed" name="iptables.localhostNodePorts" value="true" was="false" from="kube-proxy's default"
I "Setting changed" name="iptables.minSyncPeriod" value="1s" was="5s" from="kube-proxy's default"
I "Setting changed" name="nodePortAddresses" value="null" was="[\"192.0.2.0/24\"]" from="kube-proxy's default"
`, "[11.0.0.0/8] masqueradeAll false localhost true node ports [] every 1s"},
		{"what waits is said once", "mode: nftables\nclusterCIDR: 11.0.0.0/8\nhostnameOverride: another\nbindAddress: 192.0.2.9\nipvs: {strictARP: true}",
			`I "Setting has no effect" setting="in.yaml:7:19: ipvs.strictARP" reason="true has no effect: lameduck has no mode ipvs"
I "Setting waits for the next start" name="hostnameOverride" value="another" is="" from="in.yaml:5:19"
I "Setting is again what it is now" name="iptables.masqueradeBit" value="14"
`, ""},
		{"what the machine has to follow", "mode: iptables\nclusterCIDR: 11.0.0.0/8\nconntrack: {min: 7}\nportRange: 1-2\nipvs: {strictARP: true}",
			`I "Setting is again what it is now" name="hostnameOverride" value=""
I "Setting is again what it is now" name="bindAddress" value="0.0.0.0"
I "Setting is again what it is now" name="mode" value="iptables"
I "Setting changed" name="conntrack.min" value="7" was="131072" from="in.yaml:5:18"
I "Prepared" min=7
`, "[11.0.0.0/8] masqueradeAll false localhost true node ports [] every 1s"},
	} {
		s, ok := r.take(configured(step.text))
		if diff := cmp.Diff(step.logs, said()); diff != "" {
			t.Errorf("%s: logged (-want +got):\n%s", step.name, diff)
		}
		got := ""
		if ok {
			got = rendered(t, s)
		}
		if got != step.settings {
			t.Errorf("%s: %s, want %s", step.name, got, step.settings)
		}
	}
}

// rendered says what settings make of a node.
func rendered(t *testing.T, s agent.Settings) string {
	t.Helper()
	node, err := s.Node(agent.Known{Host: []netip.Addr{netip.MustParseAddr("192.0.2.1")}})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v masqueradeAll %v localhost %v node ports %v every %v", node.Detector.CIDRs, node.MasqueradeAll, node.LocalhostNodePorts, node.NodePortAddresses, s.Pace.MinInterval)
}

// How much is logged follows the file, but for a flag.
func TestVerbosityFollowsTheFile(t *testing.T) {
	t.Parallel()
	r, said := reloading(t, "", &nodeFlags{})
	r.log.V(3).Info("too much")
	r.take(configured("logging: {verbosity: 3}"))
	r.log.V(3).Info("wanted")
	if got := said(); strings.Contains(got, "too much") || !strings.Contains(got, "wanted") {
		t.Error(got)
	}
	flagged := &nodeFlags{more: func() []kubeproxy.Override { return []kubeproxy.Override{proxyflags.Verbosity("--v", 0)} }}
	r, said = reloading(t, "", flagged)
	if _, ok := r.take(configured("logging: {verbosity: 3}")); ok || said() != "" {
		t.Error("the flag does not win")
	}
}

// Settings that were handed out stay as they were: who has them may use them at any time.
func TestSettingsDoNotChangeAfterwards(t *testing.T) {
	t.Parallel()
	r, _ := reloading(t, "", &nodeFlags{})
	first, ok := r.take(configured("clusterCIDR: 10.0.0.0/8"))
	if !ok {
		t.Fatal("nothing changed")
	}
	before := rendered(t, first)
	if _, ok := r.take(configured("clusterCIDR: 11.0.0.0/8\niptables: {masqueradeAll: true}")); !ok {
		t.Fatal("nothing changed")
	}
	if after := rendered(t, first); after != before {
		t.Errorf("%s was %s", after, before)
	}
	if first.Pace.MinInterval != time.Second {
		t.Error(first.Pace)
	}
}

// --kubernetes-version has the proxy sync as that version does, too (docs/model/kube-proxy.md 6).
func TestTheRunnerOfAnOldVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"1.33": pace.EarlierBurst, "1.34": 0, "1.36": 0} { // order: each for itself
		f := nodeFlags{version: version, set: func(string) bool { return false }}
		profile, err := f.profile()
		if err != nil {
			t.Fatal(err)
		}
		config, problems := kubeproxy.Read(nil)
		if manifest.HasErrors(problems) {
			t.Fatal(problems)
		}
		s := settings{flags: &f, config: config, profile: profile}
		if got := s.config.Pace(s.profile.Options); got.Burst != want || got.MinInterval != time.Second {
			t.Errorf("%s: %+v, want a burst of %d", version, got, want)
		}
	}
}

// A proxy follows a file that has its configuration, whatever else is in it, and nothing in which anything is wrong.
func TestFilesThatAreNoConfiguration(t *testing.T) {
	t.Parallel()
	const config = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"
	const none = "error: in.yaml: no KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) in it"
	for text, want := range map[string]string{
		config:                     "",
		service + "---\n" + config: "",
		"":                         none,
		service:                    none,
		config + "---\n" + config:  "error: in.yaml:4:1: KubeProxyConfiguration: defined again, the first is at in.yaml:1:1; want one",
		config + "---\n{kind: B}":  "error: in.yaml:4:1: B: apiVersion: missing",
		config + strings.Replace(service, "spec", "nothing: {}\nspec", 1): "error: in.yaml:7:1: Service default/a: nothing: unknown field; valid here: apiVersion, kind, metadata, spec, status",
	} {
		object, problems := loadConfig(manifest.File{Name: "in.yaml", Data: []byte(text)})
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%v: %v", p.Severity, p))
		}
		if strings.Join(got, "\n") != want || (object != nil) != (want == "") {
			t.Errorf("%q: found %v, %q, want %q", text, object != nil, got, want)
		}
	}
}
