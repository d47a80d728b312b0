package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
)

type traceCommand struct {
	input       inputFlags
	node        nodeFlags
	output      format
	from, to    string
	inInterface string
	std         Streams
}

func newTrace(std Streams) *cobra.Command {
	c := &traceCommand{output: formatText, std: std}
	cmd := &cobra.Command{
		Use:   "trace [-f FILE] --from IP --to IP:PORT/PROTOCOL [--node NODE]",
		Short: "One packet's path through a node's service rules: to an endpoint, reject or drop",
		Long: `Trace follows the first packet of a new connection through the service rules that
kube-proxy has on a node, hop by hop, to every endpoint it may reach, or to a reject or
a drop, with the reason. Verdicts: endpoints, reject (the client is refused at once), drop
(the client waits), accept (let in to the node itself), none (no rule meets the packet).

` + clusterHelp + `Services, EndpointSlices, Nodes, ServiceCIDRs and the KubeProxyConfiguration in kube-system;
of all namespaces, whatever -n says, since a packet may meet any Service.`,
		Example: `  lameduck trace --node node-1 --from 192.0.2.7 --to 203.0.113.10:80/tcp
  lameduck trace -f objects.yaml --node node-1 --from 192.0.2.7 --to 203.0.113.10:80/tcp
  lameduck trace -f objects.yaml --node node-1 --cluster-cidr 10.244.0.0/16 \
    --from 10.244.1.5 --to 10.96.0.10:53/udp
  lameduck trace -f objects.yaml --node node-1 --mode iptables -o json \
    --from 192.0.2.7 --to 192.168.0.11:30080`,
		Args: noWords,
		RunE: verb(c.run),
	}
	c.input.register(cmd.Flags())
	c.input.readsCluster(cmd, live.Trace)
	c.node.register(cmd.Flags())
	cmd.Flags().StringVar(&c.from, "from", "", "source `IP` of the packet (required)")
	cmd.Flags().StringVar(&c.to, "to", "", "destination `IP:PORT/PROTOCOL`; protocol tcp (default), udp or sctp (required)")
	cmd.Flags().StringVar(&c.inInterface, "in-interface", "", "interface the packet comes in by; matters to the interface detectLocalModes")
	cmd.Flags().VarP(&c.output, "output", "o", "output format")
	c.input.completes(cmd, "node", allNodeNames)
	return cmd
}

func (c *traceCommand) run() error {
	p, err := c.packet()
	if err != nil {
		return err
	}
	if _, err := c.node.profile(); err != nil {
		return err // wrong flags are said before anything is read
	}
	in, err := c.input.read(c.std)
	if err != nil {
		return err
	}
	profile, err := c.node.profileOf(in, c.std)
	if err != nil {
		return err
	}
	objects, err := c.input.objects(in, c.std)
	if err != nil {
		return err
	}
	node, err := c.node.resolve(objects, profile, c.std)
	if err != nil {
		return err
	}
	snap := snapshot(objects, profile.Options, c.std)
	if c.std.Explained != nil {
		c.std.Explained(explain.Build(snap, node, profile, nil))
	}
	a := explain.BuildTrace(plan.Build(snap, node), p, profile)
	if c.node.mode == "" && c.node.config == "" && len(objects.KubeProxyConfigurations) == 0 {
		c.node.mode = plan.IPTables.String()
		other, err := c.node.resolve(objects, profile, Streams{In: c.std.In, Out: io.Discard, Err: io.Discard})
		if err != nil {
			return err
		}
		a.Compare(explain.BuildTrace(plan.Build(snap, other), p, profile))
	}
	hintLacking(in, objects, c.std)
	return c.output.write(c.std.Out, a, func(w io.Writer) error {
		return a.WriteText(w, explain.TextOptions{Style: colours(w), Width: columns(w)})
	})
}

// packet reads --from and --to.
func (c *traceCommand) packet() (packet.Packet, error) {
	if c.from == "" || c.to == "" {
		return packet.Packet{}, errors.New("trace needs --from IP and --to IP:PORT/PROTOCOL")
	}
	p, err := explain.ParsePacket(c.from, c.to)
	if err != nil {
		return p, fmt.Errorf("--%w", err)
	}
	p.InInterface = c.inInterface
	return p, nil
}
