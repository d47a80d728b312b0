package cli

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/proxyflags"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

// kubeProxyFlags are those of kube-proxy's flags (cmd/kube-proxy/app/options.go, 1.36; verified) that lameduck's own do not
// cover: what starts a kube-proxy starts a lameduck.
type kubeProxyFlags struct {
	proxyMode     string
	writeConfigTo string
	initOnly      bool
	verbose       *int
	fields        proxyflags.Flags
	set           func(name string) bool // whether the user gave a flag
}

func (f *kubeProxyFlags) register(flags *pflag.FlagSet, verbose *int) {
	f.verbose, f.set = verbose, flags.Changed
	flags.StringVar(&f.proxyMode, "proxy-mode", "", "the same as --mode")
	flags.StringVar(&f.writeConfigTo, "write-config-to", "", "write the configuration that results, all defaults included, to `FILE`, and end")
	flags.BoolVar(&f.initOnly, "init-only", false, "set the limits of connection tracking, which the proxy itself may then lack the rights for, and end")
	flags.IntVar(verbose, "v", 0, "how much is logged: level `N`, as in Kubernetes' own programs")
	f.fields.Register(flags)
}

// mode is that of --mode and --proxy-mode, which mean the same.
func (f *kubeProxyFlags) mode(mode string) (string, error) {
	if mode != "" && f.proxyMode != "" && mode != f.proxyMode {
		return "", fmt.Errorf("--mode %s and --proxy-mode %s: they mean the same, give one", mode, f.proxyMode)
	}
	if mode == "" {
		mode = f.proxyMode
	}
	return mode, nil
}

// overrides are the fields of a configuration that flags set.
func (f *kubeProxyFlags) overrides() []kubeproxy.Override {
	out := f.fields.Overrides()
	for _, name := range []string{"v", "verbose"} {
		if f.set(name) {
			return append(out, proxyflags.Verbosity("--"+name, *f.verbose))
		}
	}
	return out
}

// noNumber refuses arguments, and says what became of the number in "-v 4".
func noNumber(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cmd.Flags().Changed("verbose") {
		if _, err := strconv.Atoi(args[0]); err == nil {
			return fmt.Errorf("-v %s: write -v=%s or --v %s", args[0], args[0], args[0])
		}
	}
	return noWords(cmd, args)
}

// writeConfig writes the configuration that flags and files make.
func (c *proxyCommand) writeConfig() error {
	config, err := c.configuration()
	if err != nil {
		return err
	}
	servers, err := c.servers.options(config)
	if err != nil {
		return err
	}
	out := config.DeepCopy()
	out.TypeMeta = kubeproxy.TypeMeta()
	out.HealthzBindAddress, out.MetricsBindAddress, out.EnableProfiling = servers.Healthz, servers.Metrics, servers.Profiling
	if c.node.node != "" {
		out.HostnameOverride = c.node.node
	}
	if c.kubeconfig != "" {
		out.ClientConnection.Kubeconfig = c.kubeconfig
	}
	file, err := os.Create(c.kubeProxy.writeConfigTo)
	if err != nil {
		return err
	}
	if err := writeYAML(file, out); err != nil {
		_ = file.Close() // there is an error already
		return err
	}
	return file.Close()
}

// configuration is what flags and --config make, with a word on what has no effect.
func (c *proxyCommand) configuration() (*proxyConfig, error) {
	config, warnings, err := c.node.proxyConfig(&manifest.Objects{}, c.std)
	if err != nil {
		return nil, err
	}
	c.warn(warnings)
	return config, nil
}

// warn prints what has no effect.
func (c *proxyCommand) warn(warnings []manifest.Problem) {
	for _, p := range warnings {
		c.std.say("warning: %v", p)
	}
}

// initialise does what needs more rights than a running proxy has.
func (c *proxyCommand) initialise() error {
	config, err := c.configuration()
	if err != nil {
		return err
	}
	_, err = conntrackLimits(config).Apply()
	return err
}
