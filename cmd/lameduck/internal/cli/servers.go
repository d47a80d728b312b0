package cli

import (
	"fmt"
	"net/netip"

	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
)

// serverFlags say on which addresses a proxy is asked about itself.
type serverFlags struct {
	healthz   string
	metrics   string
	profiling bool

	set func(name string) bool // whether the user gave a flag
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.healthz, "healthz-bind-address", "", "`ADDRESS` and port at which /healthz and /livez are served; '' for nowhere (default: of the configuration, else 0.0.0.0:10256)")
	flags.StringVar(&f.metrics, "metrics-bind-address", "", "`ADDRESS` and port at which metrics are served; '' for nowhere (default: of the configuration, else 127.0.0.1:10249)")
	flags.BoolVar(&f.profiling, "profiling", false, "serve profiles of the process, /debug/pprof, beside the metrics")
	f.set = flags.Changed
}

// options are those of the flags, else of the configuration, else kube-proxy's.
func (f *serverFlags) options(c *proxyConfig) (agent.ServerOptions, error) {
	v := currentVersion()
	o := agent.ServerOptions{
		Profiling: f.profiling, Build: map[string]string{"version": v.Version, "revision": v.Revision, "goversion": v.Go, "kube_proxy": v.KubeProxy},
	}
	if !f.set("profiling") {
		o.Profiling = c.EnableProfiling
	}
	var err error
	if o.Healthz, err = f.address("healthz-bind-address", f.healthz, c.HealthzBindAddress); err != nil {
		return o, err
	}
	o.Metrics, err = f.address("metrics-bind-address", f.metrics, c.MetricsBindAddress)
	return o, err
}

// address is that of a flag, else of the configuration, whose port it has if it has none.
func (f *serverFlags) address(flag, given, configured string) (string, error) {
	if !f.set(flag) || given == "" {
		if f.set(flag) {
			configured = ""
		}
		return configured, nil
	}
	otherwise, err := netip.ParseAddrPort(configured)
	if err != nil {
		return "", err
	}
	if a, err := netip.ParseAddr(given); err == nil {
		return netip.AddrPortFrom(a, otherwise.Port()).String(), nil
	}
	a, err := netip.ParseAddrPort(given)
	if err != nil {
		return "", fmt.Errorf("--%s %q: want an IP address, with or without a port, such as %s", flag, given, otherwise)
	}
	return a.String(), nil
}
