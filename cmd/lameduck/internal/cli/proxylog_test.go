package cli

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/host"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// readConfig is what a proxy is told by a file of these fields.
func readConfig(t *testing.T, fields string) (*proxyConfig, []manifest.Problem) {
	t.Helper()
	object, problems := loadConfig(configured(fields))
	if object == nil {
		t.Fatal(problems)
	}
	config, warnings := kubeproxy.Read(object)
	if manifest.HasErrors(warnings) {
		t.Fatal(warnings)
	}
	return config, warnings
}

// logging.vmodule has single files say more than all others; what it cannot be is named with its place.
func TestFilesThatSayMoreThanOthers(t *testing.T) {
	t.Parallel()
	config, _ := readConfig(t, "logging: {vmodule: [{filePattern: nobody, verbosity: 9}, {filePattern: proxylog_test, verbosity: 3}]}")
	var out bytes.Buffer
	log, err := newProxyLog(config, &out)
	if err != nil {
		t.Fatal(err)
	}
	log.V(3).Info("of this file")
	log.V(4).Info("of nobody")
	if got := out.String(); !strings.Contains(got, "of this file") || strings.Contains(got, "of nobody") {
		t.Errorf("logged %q", got)
	}
	config.Logging.VModule[0].FilePattern = "a=b,c"
	if log, err := newProxyLog(config, &out); log != nil || err == nil || !strings.HasPrefix(err.Error(), "in.yaml:3:") {
		t.Errorf("a pattern that cannot be: %v", err)
	}
}

// A proxy that starts says who it is, what has no effect, and at level 2 where the settings of its mode come from.
func TestAProxyIntroducesItself(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"iptables", "nftables"} {
		config, warnings := readConfig(t, "mode: "+mode+"\nclusterCIDR: 10.0.0.0/8\nportRange: 1-2")
		var out strings.Builder
		log := funcr.New(func(_, args string) { out.WriteString(args + "\n") }, funcr.Options{Verbosity: 2})
		introduce(log, &settings{config: config, warnings: warnings, profile: endpoints.Profile{Version: endpoints.CurrentVersion()}}, "node-1")
		got := regexp.MustCompile(`"(version|revision|goVersion|platform)"="[^"]*" `).ReplaceAllString(out.String(), "")
		masquerade := `"level"=2 "msg"="Setting" "name"="%s.masqueradeAll" "value"="false" "from"="kube-proxy's default"`
		localhost := `"level"=2 "msg"="Setting" "name"="iptables.localhostNodePorts" "value"="true" "from"="kube-proxy's default"`
		for words, want := range map[string]bool{
			`"level"=0 "msg"="Starting" "kubernetesVersion"="` + endpoints.CurrentVersion().String() + `" "node"="node-1" "mode"="` + mode + `" "config"="in.yaml:1:1: KubeProxyConfiguration"`: true,
			`"level"=0 "msg"="Setting has no effect" "setting"="in.yaml:5:12: portRange"`:                                                                                                       true,
			`"level"=2 "msg"="Setting" "name"="mode" "value"="` + mode + `" "from"="in.yaml:3:7"`:                                                                                               true,
			`"level"=2 "msg"="Setting" "name"="clusterCIDR" "value"="10.0.0.0/8" "from"="in.yaml:4:14"`:                                                                                         true,
			fmt.Sprintf(masquerade, "iptables"): mode == "iptables",
			fmt.Sprintf(masquerade, "nftables"): mode == "nftables",
			localhost:                           mode == "iptables",
		} {
			if strings.Contains(got, words) != want {
				t.Errorf("%s: %q is there: %v\n%s", mode, words, !want, got)
			}
		}
	}
}

// The limits of connection tracking are those of the configuration, each where it belongs.
func TestLimitsOfAConfiguration(t *testing.T) {
	t.Parallel()
	config, _ := readConfig(t, "conntrack: {maxPerCore: 1, min: 2, tcpEstablishedTimeout: 3s, tcpCloseWaitTimeout: 4s, udpTimeout: 5s, udpStreamTimeout: 6s, tcpBeLiberal: true}")
	want := host.Limits{MaxPerCore: 1, Min: 2, TCPEstablished: 3 * time.Second, TCPCloseWait: 4 * time.Second, UDP: 5 * time.Second, UDPStream: 6 * time.Second, TCPBeLiberal: true}
	if got := conntrackLimits(config); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	defaults, _ := readConfig(t, "")
	want = host.Limits{MaxPerCore: 32768, Min: 131072, TCPEstablished: 24 * time.Hour, TCPCloseWait: time.Hour}
	if got := conntrackLimits(defaults); got != want {
		t.Errorf("by default %+v, want %+v", got, want)
	}
}

// A proxy follows the file that it was given, not its standard input, and what flags decide waits for nothing.
func TestWhichFileAProxyFollows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config string
		flags  []string
		waits  string
	}{
		{"", nil, ""}, {"-", nil, ""},
		{"dir/../in.yaml", nil, "hostnameOverride clientConnection.kubeconfig enableProfiling healthzBindAddress metricsBindAddress"},
		{"dir/../in.yaml", []string{"node"}, "clientConnection.kubeconfig enableProfiling healthzBindAddress metricsBindAddress"},
		{"dir/../in.yaml", []string{"kubeconfig"}, "hostnameOverride enableProfiling healthzBindAddress metricsBindAddress"},
		{"dir/../in.yaml", []string{"profiling", "healthz-bind-address"}, "hostnameOverride clientConnection.kubeconfig metricsBindAddress"},
		{"dir/../in.yaml", []string{"metrics-bind-address"}, "hostnameOverride clientConnection.kubeconfig enableProfiling healthzBindAddress"},
	} {
		given := func(name string) bool { return strings.Contains(" "+strings.Join(c.flags, " ")+" ", " "+name+" ") }
		cmd := &proxyCommand{sim: true}
		cmd.node.config, cmd.servers.set = c.config, given
		if given("node") {
			cmd.node.node = "node-1"
		}
		if given("kubeconfig") {
			cmd.kubeconfig = "file"
		}
		config, _ := readConfig(t, "")
		var out bytes.Buffer
		log, err := newProxyLog(config, &out)
		if err != nil {
			t.Fatal(err)
		}
		r := cmd.reload(&settings{flags: &nodeFlags{}, config: config}, "node-1", log)
		if (r != nil) != (c.waits != "") {
			t.Errorf("--config %q: followed %v", c.config, r != nil)
		}
		if r == nil {
			continue
		}
		if r.Path != "in.yaml" {
			t.Errorf("it follows %s", r.Path)
		}
		text := configured("hostnameOverride: other\nclientConnection: {kubeconfig: other}\nenableProfiling: true\nhealthzBindAddress: 192.0.2.9:1\nmetricsBindAddress: 192.0.2.9:2\nconntrack: {min: 7}")
		if _, ok := r.Take(text.Data); !ok {
			t.Errorf("flags %v: nothing was followed\n%s", c.flags, out.String())
		}
		var waits []string
		for _, name := range strings.Fields("hostnameOverride clientConnection.kubeconfig enableProfiling healthzBindAddress metricsBindAddress") {
			if strings.Contains(out.String(), `waits for the next start" name="`+name+`"`) {
				waits = append(waits, name)
			}
		}
		if diff := cmp.Diff(c.waits, strings.Join(waits, " ")); diff != "" || strings.Contains(out.String(), "connection tracking") {
			t.Errorf("flags %v: what waits (-want +got):\n%s\n%s", c.flags, diff, out.String())
		}
	}
}

// The name of the node is the flag's, else the configuration's, else the machine's, as kube-proxy has it.
func TestTheNameOfTheNodeThatThisMachineIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, file, want, err string }{
		{"Node-1 ", "node-2", "node-1", ""}, {"", " NODE-2", "node-2", ""}, {"  ", "node-2", "", `--hostname-override "  ": want the name of a Node`},
		{"", "\t", "", `--hostname-override "\t": want the name of a Node`},
	} {
		cmd, config := &proxyCommand{}, &proxyConfig{}
		cmd.node.node, config.HostnameOverride = c.flag, c.file
		got, err := cmd.nodeName(config)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q, %q: %q, %v", c.flag, c.file, got, err)
		}
	}
	if name, err := (&proxyCommand{}).nodeName(&proxyConfig{}); name == "" || err != nil || name != strings.ToLower(name) {
		t.Errorf("the machine's: %q, %v", name, err)
	}
}

// Addresses to listen on that cannot be are errors, whichever it is.
func TestAddressesOfServersThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ healthz, metrics string }{{"nowhere", "127.0.0.1:2"}, {"127.0.0.1:1", "nowhere"}} {
		config := &proxyConfig{}
		config.HealthzBindAddress, config.MetricsBindAddress = c.healthz, c.metrics
		f := &serverFlags{set: func(string) bool { return false }}
		if o, err := f.options(config); err == nil || o.Healthz+o.Metrics != "" {
			t.Errorf("%+v: %+v, %v", c, o, err)
		}
	}
}

// Errors are the same behind what a log shows of them, and a line is named for who wrote it.
func TestALogKeepsErrorsAndPlaces(t *testing.T) {
	t.Parallel()
	hostile := errors.New("a\x1b[2Jb")
	if shown := (shownError{hostile}); !errors.Is(shown, hostile) || strings.Contains(shown.Error(), "\x1b") {
		t.Errorf("%v", shown)
	}
	var out strings.Builder
	log := shownLog(funcr.New(func(_, args string) { out.WriteString(args + "\n") }, funcr.Options{LogCaller: funcr.All}))
	indirect := func() { log.WithCallDepth(1).Info("indirect") }
	log.Info("direct")
	indirect()
	log.WithName("a\x1b[2Jb").Info("named")
	if got := out.String(); strings.Count(got, `"file"="proxylog_test.go"`) != 3 || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}
