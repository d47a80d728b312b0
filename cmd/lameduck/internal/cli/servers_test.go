package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// serversOf reads flags and a configuration.
func serversOf(t *testing.T, config string, args ...string) (string, error) {
	t.Helper()
	var object *manifest.Object
	if config != "" {
		text := "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n" + config + "\n"
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		if len(problems) > 0 {
			t.Fatalf("%s: %v", config, problems)
		}
		object = objects.KubeProxyConfigurations[0]
	}
	c, problems := kubeproxy.Read(object)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", config, problems)
	}
	f := &serverFlags{}
	flags := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	f.register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	o, err := f.options(c)
	text := o.Healthz + " " + o.Metrics
	if o.Profiling {
		text += " profiling"
	}
	return text, err
}

// Reference: Kubernetes 1.36 pkg/proxy/apis/config/v1alpha1/defaults.go;
// docs/model/kube-proxy.md 10.
func TestWhereServersListen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config, args, want string
	}{
		{"by default", "", "", "0.0.0.0:10256 127.0.0.1:10249"},
		{"an IPv6 node", "bindAddress: '::'", "", "[::]:10256 [::1]:10249"},
		{"an IPv4 node", "bindAddress: 192.0.2.1", "", "0.0.0.0:10256 127.0.0.1:10249"},
		{"as the configuration says", "healthzBindAddress: 127.0.0.1:8000\nmetricsBindAddress: 0.0.0.0:9000\nenableProfiling: true", "",
			"127.0.0.1:8000 0.0.0.0:9000 profiling"},
		{"without a port", "healthzBindAddress: 192.0.2.2\nmetricsBindAddress: 192.0.2.1", "", "192.0.2.2:10256 192.0.2.1:10249"},
		{"IPv6 without a port", "metricsBindAddress: 'fd00::1'", "", "0.0.0.0:10256 [fd00::1]:10249"},
		{"flags win", "healthzBindAddress: 127.0.0.1:8000\nmetricsBindAddress: 0.0.0.0:9000\nenableProfiling: true",
			"--healthz-bind-address=127.0.0.1:8001 --metrics-bind-address=[::]:9001 --profiling=false", "127.0.0.1:8001 [::]:9001"},
		{"a flag without a port", "", "--metrics-bind-address=0.0.0.0 --profiling", "0.0.0.0:10256 0.0.0.0:10249 profiling"},
		{"ports, for addresses without one", "", "--metrics-bind-address=0.0.0.0 --metrics-port=1 --healthz-port=2", "0.0.0.0:10256 0.0.0.0:1"},
		{"ports of nowhere", "healthzBindAddress: 127.0.0.1:8000", "--metrics-port=0 --healthz-port=0", " "},
		{"nowhere", "metricsBindAddress: 0.0.0.0:9000", "--metrics-bind-address= --healthz-bind-address=", " "},
	} {
		got, err := serversOf(t, c.config, strings.Fields(c.args)...)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, error %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestAddressesThatNobodyCanListenOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, want string
	}{
		{"--metrics-bind-address=localhost:10249", `--metrics-bind-address "localhost:10249": want an IP address, with or without a port, such as 127.0.0.1:10249`},
		{"--healthz-bind-address=0.0.0.0:99999", `--healthz-bind-address "0.0.0.0:99999": want an IP address, with or without a port, such as 0.0.0.0:10256`},
	} {
		if _, err := serversOf(t, "", strings.Fields(c.args)...); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.args, err, c.want)
		}
	}
}
