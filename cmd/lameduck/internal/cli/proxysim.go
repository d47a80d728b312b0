package cli

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
)

// simPort is where a proxy that programs nothing is asked: no port of Kubernetes' own programs (pkg/cluster/ports and
// cmd of 1.36 have 10248 to 10250 and 10255 to 10260; verified), nor in the range of node ports.
const simPort = 10270

// takeSim reads --mode sim, which is a mode of lameduck and none that a KubeProxyConfiguration could have: what is decided
// follows the mode of the configuration, else nftables.
func (c *proxyCommand) takeSim() error {
	if c.node.mode != agent.SimMode {
		if c.node.set("sim-bind-address") {
			return errors.New("--sim-bind-address goes with --mode sim")
		}
		return nil
	}
	if c.once || c.dryRun || c.cleanup {
		return errors.New("--mode sim watches and programs nothing: it goes without --once, --dry-run and --cleanup")
	}
	c.node.mode, c.sim = "", true
	return nil
}

// simOptions are those of --mode sim, nil without it.
func (c *proxyCommand) simOptions(s *settings) (*agent.SimOptions, error) {
	if !c.sim {
		return nil, nil
	}
	at, err := c.servers.address("sim-bind-address", c.simAddress, s.config, "", "", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), simPort))
	if err != nil {
		return nil, err
	}
	if at == "" {
		return nil, fmt.Errorf("--sim-bind-address %q: want an IP address and port such as 127.0.0.1:%d", c.simAddress, simPort)
	}
	return &agent.SimOptions{Address: at}, nil
}

// simServers leaves kube-proxy's ports to kube-proxy: a proxy that programs nothing opens them only where a flag says so.
func (c *proxyCommand) simServers(o agent.ServerOptions) agent.ServerOptions {
	if !c.sim {
		return o
	}
	if !c.servers.set("healthz-bind-address") {
		o.Healthz = ""
	}
	if !c.servers.set("metrics-bind-address") {
		o.Metrics = ""
	}
	return o
}
