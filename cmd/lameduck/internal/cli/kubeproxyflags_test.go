package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/proxyflags"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// verbosityOf parses a command line of proxy and returns how much is logged.
func verbosityOf(t *testing.T, args ...string) (uint32, error) {
	t.Helper()
	c := &proxyCommand{}
	flags := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	c.input.register(flags)
	c.kubeProxy.register(flags, &c.input.verbose)
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	config, problems := kubeproxy.Read(nil, c.kubeProxy.overrides()...)
	if len(problems) > 0 || len(flags.Args()) > 0 {
		t.Fatal(problems, flags.Args())
	}
	return config.Logging.Verbosity, nil
}

func TestHowMuchIsLogged(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]uint32{
		"": 0, "-v": 1, "-vv": 2, "-v=4": 4, "--v=4": 4, "--v 4": 4, "--verbose": 1, "--verbose=3": 3,
	} {
		if got, err := verbosityOf(t, strings.Fields(args)...); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", args, got, err, want)
		}
	}
}

func TestModesThatMeanTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, proxyMode, want, err string }{
		{"", "", "", ""}, {"nftables", "", "nftables", ""}, {"", "iptables", "iptables", ""}, {"iptables", "iptables", "iptables", ""},
		{"iptables", "nftables", "", "--mode iptables and --proxy-mode nftables: they mean the same, give one"},
	} {
		f := kubeProxyFlags{proxyMode: c.proxyMode}
		got, err := f.mode(c.mode)
		if got != c.want || (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Whoever asks for help finds each flag where it belongs.
func TestEachFlagIsInOneGroup(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	newProxy(Streams{}).Flags().VisitAll(func(f *pflag.Flag) {
		in := 0
		for _, g := range proxyGroups() {
			for _, name := range g.names {
				prefix, many := strings.CutSuffix(name, "*")
				if name == f.Name || many && strings.HasPrefix(f.Name, prefix) {
					used[name] = true
				}
				if name == f.Name {
					in++
				}
			}
		}
		if in > 1 {
			t.Errorf("--%s is in %d groups", f.Name, in)
		}
		if groupOf(proxyGroups(), f.Name) == len(proxyGroups())-1 && !proxyGroups()[len(proxyGroups())-1].has(f.Name) {
			t.Errorf("--%s is in no group", f.Name)
		}
	})
	for _, g := range proxyGroups() {
		for _, name := range g.names {
			if !used[name] && name != "sim-*" { // of a mode that may not be built in
				t.Errorf("no flag is %s", name)
			}
		}
	}
}

func TestJSONLogsAreWrittenAsKubernetesWritesThem(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := jsonLog(1, &out)
	log.Info("Started", "node", "node-1", "tries", 2)
	log.V(1).Info("More")
	log.V(2).Info("Too much")
	log.Error(errors.New("no way"), "Failed", "at", "once")
	log.setVerbosity(2)
	log.V(2).Info("No longer too much")
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if ts, ok := l["ts"].(float64); !ok || ts < 1.7e12 {
			t.Errorf("%s: no time in ms", line)
		}
		if caller, ok := l["caller"].(string); !ok || !strings.HasPrefix(caller, "cli/kubeproxyflags_test.go:") {
			t.Errorf("%s: caller %q", line, caller)
		}
		delete(l, "ts")
		delete(l, "caller")
		lines = append(lines, l)
	}
	got, err := json.Marshal(lines)
	want := `[{"msg":"Started","node":"node-1","tries":2,"v":0},{"msg":"More","v":1},{"at":"once","err":"no way","msg":"Failed"},{"msg":"No longer too much","v":2}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

func TestTextLogsFollowTheirVerbosity(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	config, _ := kubeproxy.Read(nil, proxyflags.Verbosity("--v", 1))
	log, err := newProxyLog(config, &out)
	if err != nil {
		t.Fatal(err)
	}
	log.V(1).Info("first")
	log.V(2).Info("second")
	log.setVerbosity(2)
	log.V(2).Info("third")
	log.setVerbosity(0)
	log.V(1).Info("fourth")
	if text := out.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, `"first"`) || !strings.Contains(text, `"third"`) {
		t.Error(text)
	}
}
