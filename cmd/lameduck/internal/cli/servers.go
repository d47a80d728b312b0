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

	healthzPort, metricsPort uint16 // deprecated

	set func(name string) bool // whether the user gave a flag
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.healthz, "healthz-bind-address", "", "`ADDRESS` and port at which /healthz and /livez are served; '' for nowhere (default: of the configuration, else 0.0.0.0:10256)")
	flags.StringVar(&f.metrics, "metrics-bind-address", "", "`ADDRESS` and port at which metrics are served; '' for nowhere (default: of the configuration, else 127.0.0.1:10249)")
	flags.BoolVar(&f.profiling, "profiling", false, "serve profiles of the process, /debug/pprof, beside the metrics")
	flags.Uint16Var(&f.healthzPort, "healthz-port", 10256, "deprecated: `PORT` of a --healthz-bind-address without one; 0 for nowhere")
	flags.Uint16Var(&f.metricsPort, "metrics-port", 10249, "deprecated: `PORT` of a --metrics-bind-address without one; 0 for nowhere")
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
	healthz, metrics, err := f.defaults(c)
	if err != nil {
		return o, err
	}
	if o.Healthz, err = f.address("healthz-bind-address", f.healthz, c, "healthzBindAddress", c.HealthzBindAddress, healthz); err != nil {
		return o, err
	}
	o.Metrics, err = f.address("metrics-bind-address", f.metrics, c, "metricsBindAddress", c.MetricsBindAddress, metrics)
	// The deprecated flags, of which only the 0 does anything to an address with a port (addressFromDeprecatedFlags in
	// cmd/kube-proxy/app/options.go, 1.36; verified).
	if f.set("healthz-port") && f.healthzPort == 0 {
		o.Healthz = ""
	}
	if f.set("metrics-port") && f.metricsPort == 0 {
		o.Metrics = ""
	}
	return o, err
}

// defaults are the addresses of the configuration, at the ports of the deprecated flags: for flags without a port.
func (f *serverFlags) defaults(c *proxyConfig) (healthz, metrics netip.AddrPort, err error) {
	if healthz, err = netip.ParseAddrPort(c.HealthzBindAddress); err != nil {
		return healthz, metrics, err
	}
	if metrics, err = netip.ParseAddrPort(c.MetricsBindAddress); err != nil {
		return healthz, metrics, err
	}
	if f.set("healthz-port") {
		healthz = netip.AddrPortFrom(healthz.Addr(), f.healthzPort)
	}
	if f.set("metrics-port") {
		metrics = netip.AddrPortFrom(metrics.Addr(), f.metricsPort)
	}
	return healthz, metrics, nil
}

// address is that of a flag, else of a field of the configuration, else the default, whose port it has if it has none.
func (f *serverFlags) address(flag, given string, c *proxyConfig, field, configured string, otherwise netip.AddrPort) (string, error) {
	text, from := configured, c.Where(field)+":"
	if f.set(flag) {
		if given == "" {
			return "", nil
		}
		text, from = given, "--"+flag
	}
	if text == "" {
		return otherwise.String(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(a, otherwise.Port()).String(), nil
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return "", fmt.Errorf("%s %q: want an IP address, with or without a port, such as %s", from, text, otherwise)
	}
	return a.String(), nil
}
