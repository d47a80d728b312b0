package cli

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/host"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

type proxyCommand struct {
	input      inputFlags
	node       nodeFlags
	once       bool
	dryRun     bool
	cleanup    bool
	kubeconfig string
	master     string
	hostname   string
	prefix     string
	variant    string
	takeOver   bool
	servers    serverFlags
	sim        bool // --mode sim
	simAddress string
	kubeProxy  kubeProxyFlags
	repeated   func() []string // words for flags that were given several times
	std        Streams
}

func newProxy(std Streams) *cobra.Command {
	c := &proxyCommand{std: std}
	cmd := &cobra.Command{
		Use:   "proxy [--once | --dry-run] -f FILE|DIR [--node NODE] | --config FILE | --cleanup",
		Short: "Program a node's service rules into the kernel: from files, or as the cluster changes",
		Long: `Proxy does what kube-proxy does on a node: it has the kernel send what is for a Service to
the endpoints that the node uses, in mode nftables or iptables. What it programs is what
explain shows and sim simulates.

With --once it programs the Services and EndpointSlices of files and ends; with --dry-run it
prints the rules, as nft -f or iptables-restore take them, and touches nothing. Otherwise it
watches an API server, or with -f the files, until it is stopped, answers load balancers' health
checks and serves metrics, both at kube-proxy's ports. Files that cannot be read as a whole
change nothing. Rules stay in force when it ends; --cleanup removes those of every mode, and
nothing else.

Only one service proxy should run on a node: end kube-proxy first. Needs root, or of its rights
CAP_NET_ADMIN, and for iptables-legacy CAP_NET_RAW.

With --mode sim it runs beside a kube-proxy, without privileges: it watches the same objects,
logs what it decides and why whenever that changes, answers on one port of its own
(--sim-bind-address), and programs nothing. It decides as the mode of --config, else nftables.`,
		Example: `  lameduck proxy --dry-run -f objects.yaml --node node-1 --mode nftables
  lameduck proxy --once -f objects.yaml --node node-1 --mode iptables
  lameduck proxy --config /var/lib/kube-proxy/config.conf --hostname-override node-1
  lameduck proxy -f /etc/services.d --node node-1 --mode nftables
  lameduck proxy --mode sim --config /var/lib/kube-proxy/config.conf --hostname-override node-1
  lameduck proxy --cleanup`,
		Args: noNumber,
		RunE: verb(c.run),
	}
	cmd.SetUsageFunc(groupedUsage)
	flags := cmd.Flags()
	c.input.register(flags)
	c.node.register(flags)
	flags.Lookup("mode").Usage = "kube-proxy mode: nftables or iptables (default nftables; they differ in some cases); or sim, to decide and program nothing"
	flags.BoolVar(&c.once, "once", false, "program what the files say, once")
	flags.BoolVar(&c.dryRun, "dry-run", false, "print the rules instead of programming them")
	flags.BoolVar(&c.cleanup, "cleanup", false, "remove the rules that lameduck left, and end")
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "`FILE` that names the API server and who asks it (default: of the configuration, else the pod's own)")
	flags.StringVar(&c.master, "master", "", "`URL` of the API server; wins over the kubeconfig")
	flags.StringVar(&c.hostname, "hostname-override", "", "name of this `NODE` (default: the machine's host name); --node means the same")
	flags.StringVar(&c.variant, "iptables-variant", "auto", "in mode iptables, which `VARIANT` to use: nft, legacy, or auto for what the machine calls iptables")
	flags.StringVar(&c.prefix, "iptables-chain-prefix", "KUBE", "in mode iptables, begin the names of chains with `PREFIX`; another than kube-proxy's stands beside kube-proxy")
	flags.BoolVar(&c.takeOver, "take-over", false, "in mode iptables, go on where a kube-proxy seems to be running")
	c.servers.register(flags)
	flags.StringVar(&c.simAddress, "sim-bind-address", "", "with --mode sim, `ADDRESS` and port that answers what the proxy would do (default 127.0.0.1:10270)")
	c.kubeProxy.register(flags, &c.input.verbose)
	c.node.more = c.kubeProxy.overrides
	cmd.MarkFlagsMutuallyExclusive("once", "dry-run", "cleanup")
	cmd.MarkFlagsMutuallyExclusive("node", "hostname-override")
	c.repeated = eachOnceOrLast(cmd)
	return cmd
}

func (c *proxyCommand) run() error {
	for _, words := range c.repeated() {
		c.std.say("warning: %s", words)
	}
	if c.node.node == "" {
		c.node.node = c.hostname
	}
	var err error
	if c.node.mode, err = c.kubeProxy.mode(c.node.mode); err != nil {
		return err
	}
	if err := c.takeSim(); err != nil {
		return err
	}
	switch {
	case c.cleanup:
		return c.cleanUp()
	case c.kubeProxy.writeConfigTo != "":
		return c.writeConfig()
	case c.kubeProxy.initOnly:
		return c.initialise()
	case c.once || c.dryRun:
		return c.fromFiles()
	default:
		return c.watch()
	}
}

// fromFiles programs or prints what files say.
func (c *proxyCommand) fromFiles() error {
	profile, err := c.node.profile()
	if err != nil {
		return err
	}
	c.std.ahead(profile.Version)
	objects, err := c.input.load(c.std)
	if err != nil {
		return err
	}
	s, err := c.node.settings(objects, profile, c.std)
	if err != nil {
		return err
	}
	c.warn(s.warnings)
	name, err := c.node.name(objects, s.config, c.std)
	if err != nil {
		return err
	}
	var addrs []netip.Addr
	if c.once {
		if addrs, err = host.Addresses(); err != nil {
			return err
		}
	}
	node, err := s.node(name, findNode(objects, name), serviceCIDRs(objects), addrs)
	if err != nil {
		return err
	}
	kernel, err := c.kernel(s)
	if err != nil {
		return err
	}
	p := plan.Build(snapshot(objects, profile.Options, c.std), node)
	if c.dryRun {
		return agent.Dump(c.std.Out, p, kernel)
	}
	return c.program(p, kernel)
}

// program puts a Plan in force.
func (c *proxyCommand) program(p *plan.Plan, o agent.KernelOptions) error {
	if err := agent.Program(p, o); err != nil {
		return err
	}
	fmt.Fprintln(c.std.Out, inForce(p))
	return nil
}

// inForce says how much a node's rules are about.
func inForce(p *plan.Plan) string {
	frontends := 0
	for range p.Frontends() {
		frontends++
	}
	return fmt.Sprintf("%s: the rules of node %s are in force: Services: %d, addresses and ports that lead to them: %d", p.Node().Dialect, p.Node().Name, p.Len(), frontends)
}

// watch is a proxy that follows an API server, or files, until it is told to end.
func (c *proxyCommand) watch() error {
	profile, err := c.node.profile()
	if err != nil {
		return err
	}
	c.std.ahead(profile.Version)
	s, err := c.node.settings(&manifest.Objects{}, profile, c.std)
	if err != nil {
		return err
	}
	name, err := c.nodeName(s.config)
	if err != nil {
		return err
	}
	log, err := newProxyLog(s.config, c.std.Err)
	if err != nil {
		return err
	}
	client, watched, err := c.objects(s, name, log.Logger)
	if err != nil {
		return err
	}
	kernel, err := c.kernel(s)
	if err != nil {
		return err
	}
	servers, err := c.servers.options(s.config)
	if err != nil {
		return err
	}
	sim, err := c.simOptions(s)
	if err != nil {
		return err
	}
	introduce(log.Logger, s, name)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	servers.FailHard = s.config.BindAddressHardFail
	return agent.Run(ctx, agent.Options{
		Node:    s.builder(name),
		Profile: profile, Kernel: kernel, Pace: s.config.Pace(s.profile.Options), Servers: c.simServers(servers), Client: client, Files: watched, Sim: sim, Log: log.Logger,
		Reload: c.reload(s, name, log), Prepare: func() { prepare(s.config, log.Logger) },
	})
}

// nodeName is the name of the node this machine is: kube-proxy's rules (cmd/kube-proxy, 1.36).
func (c *proxyCommand) nodeName(config *proxyConfig) (string, error) {
	for _, name := range []string{c.node.node, config.HostnameOverride} {
		if trimmed := strings.ToLower(strings.TrimSpace(name)); trimmed != "" {
			return trimmed, nil
		} else if name != "" {
			return "", fmt.Errorf("--hostname-override %q: want the name of a Node", name)
		}
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("which node? give --hostname-override (%w)", err)
	}
	return strings.ToLower(strings.TrimSpace(name)), nil
}

// cleanUp removes the rules of all modes.
func (c *proxyCommand) cleanUp() error {
	removed, err := agent.Cleanup(agent.KernelOptions{ChainPrefix: c.prefix})
	for _, r := range removed {
		fmt.Fprintln(c.std.Out, r)
	}
	return err
}

// kernel is how rules are written.
func (c *proxyCommand) kernel(s *settings) (agent.KernelOptions, error) {
	o := agent.KernelOptions{ChainPrefix: c.prefix, TakeOver: c.takeOver}
	variants := []iptables.Variant{iptables.Auto, iptables.NFT, iptables.Legacy}
	i := slices.IndexFunc(variants, func(v iptables.Variant) bool { return v.String() == c.variant })
	if i < 0 {
		return o, fmt.Errorf("--iptables-variant %q: want auto, nft or legacy", c.variant)
	}
	o.Variant = variants[i]
	o.MasqueradeMark = 1 << s.config.Rules(s.config.Mode).MasqueradeBit
	return o, nil
}
