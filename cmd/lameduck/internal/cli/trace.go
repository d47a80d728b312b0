package cli

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/page"
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
  lameduck trace -f objects.yaml --node node-1 --cluster-cidr 10.244.0.0/16 --from 10.244.1.5 --to 10.96.0.10:53/udp
  lameduck trace -f objects.yaml --node node-1 --from 192.0.2.7 --to 192.168.0.11:30080 --mode iptables -o json`,
		Args: cobra.NoArgs,
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

// traceAnswer is the JSON contract of trace.
type traceAnswer struct {
	APIVersion          string     `json:"apiVersion"`
	Kind                string     `json:"kind"` // "Trace"
	Node                string     `json:"node"`
	KubernetesVersion   string     `json:"kubernetesVersion"`
	Mode                string     `json:"mode"`
	TerminatingFallback string     `json:"terminatingFallback"`
	WhatIf              []string   `json:"whatIf"`
	Notes               []string   `json:"notes"`
	From                string     `json:"from"`
	To                  string     `json:"to"`
	Service             string     `json:"service"` // "ns/name:port", "" when no Service met the packet
	Verdict             string     `json:"verdict"`
	Endpoints           []string   `json:"endpoints"`
	Masquerade          bool       `json:"masquerade"` // whichever endpoint it is
	Hairpin             []string   `json:"hairpin"`    // endpoints that get the node's address only because they call themselves
	Hops                []traceHop `json:"hops"`
	// OtherMode is what kube-proxy's other mode does, when no mode was asked for and it differs.
	OtherMode *otherMode `json:"otherMode"`
}

type traceHop struct {
	Stage  string `json:"stage"`
	Detail string `json:"detail"`
}

type otherMode struct {
	Mode       string   `json:"mode"`
	Verdict    string   `json:"verdict"`
	Endpoints  []string `json:"endpoints"`
	Masquerade bool     `json:"masquerade"`
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
	a := c.answer(p, node, profile, memory.New(plan.Build(snap, node)).Trace(p))
	if c.node.mode == "" && c.node.config == "" && len(objects.KubeProxyConfigurations) == 0 {
		c.node.mode = plan.IPTables.String()
		other, err := c.node.resolve(objects, profile, Streams{In: c.std.In, Out: io.Discard, Err: io.Discard})
		if err != nil {
			return err
		}
		a.compare(other, memory.New(plan.Build(snap, other)).Trace(p))
	}
	return c.output.write(c.std.Out, a, func(w io.Writer) error {
		return a.writeText(w, explain.TextOptions{Style: colours(w), Width: columns(w)})
	})
}

// packet reads --from and --to.
func (c *traceCommand) packet() (packet.Packet, error) {
	if c.from == "" || c.to == "" {
		return packet.Packet{}, fmt.Errorf("trace needs --from IP and --to IP:PORT/PROTOCOL")
	}
	src, err := netip.ParseAddr(c.from)
	if err != nil {
		return packet.Packet{}, fmt.Errorf("--from %q: want an IP address such as 192.0.2.7", c.from)
	}
	to, name, _ := strings.Cut(c.to, "/")
	proto := packet.TCP
	if name != "" {
		var ok bool
		if proto, ok = packet.ParseProtocol(name); !ok {
			return packet.Packet{}, fmt.Errorf("--to %q: protocol %q is not tcp, udp or sctp", c.to, name)
		}
	}
	dst, err := netip.ParseAddrPort(to)
	if err != nil || dst.Port() == 0 {
		return packet.Packet{}, fmt.Errorf("--to %q: want an address and port such as 203.0.113.10:80/tcp or [2001:db8::1]:53/udp", c.to)
	}
	if endpoints.FamilyOf(src) != endpoints.FamilyOf(dst.Addr()) {
		return packet.Packet{}, fmt.Errorf("--from %s and --to %s are of different IP families", src, dst.Addr())
	}
	const anyPort = 40000 // no rule looks at the source port
	return packet.Packet{Src: netip.AddrPortFrom(src, anyPort), Dst: dst, Protocol: proto, InInterface: c.inInterface}, nil
}

func (c *traceCommand) answer(p packet.Packet, node *plan.Node, profile endpoints.Profile, t packet.Trace) *traceAnswer {
	a := &traceAnswer{
		APIVersion: explain.APIVersion, Kind: "Trace", Node: node.Name,
		KubernetesVersion: profile.Version.String(), Mode: node.Dialect.String(),
		TerminatingFallback: node.Options.TerminatingFallback.String(),
		WhatIf:              append([]string{}, profile.WhatIf...), Notes: append([]string{}, profile.Notes...),
		From: p.Src.Addr().String(), To: fmt.Sprintf("%s/%s", p.Dst, p.Protocol),
		Service: t.Service, Verdict: t.Verdict.String(),
		Endpoints: targets(t), Masquerade: t.Masquerade(), Hairpin: []string{}, Hops: []traceHop{},
	}
	for _, target := range t.Targets {
		if target.Masquerade && !a.Masquerade {
			a.Hairpin = append(a.Hairpin, target.Addr.String())
		}
	}
	for _, h := range t.Hops {
		a.Hops = append(a.Hops, traceHop(h))
	}
	return a
}

func targets(t packet.Trace) []string {
	out := make([]string, len(t.Targets))
	for i, target := range t.Targets {
		out[i] = target.Addr.String()
	}
	return out
}

// compare notes what the other mode does, if that is something else.
func (a *traceAnswer) compare(other *plan.Node, t packet.Trace) {
	o := &otherMode{Mode: other.Dialect.String(), Verdict: t.Verdict.String(), Endpoints: targets(t), Masquerade: t.Masquerade()}
	if o.Verdict != a.Verdict || o.Masquerade != a.Masquerade || !slices.Equal(o.Endpoints, a.Endpoints) {
		a.OtherMode = o
	}
}

// verdictText says what the client notices.
func verdictText(verdict string) string {
	switch verdict {
	case "endpoints":
		return "sent on to an endpoint"
	case "reject":
		return "refused at once: the client sees connection refused (ICMP port unreachable)"
	case "drop":
		return "swallowed: the client waits and repeats, until its connect timeout"
	case "accept":
		return "let in to the node itself"
	default:
		return "no service rule meets it"
	}
}

func (a *traceAnswer) writeText(w io.Writer, opts explain.TextOptions) error {
	role := map[string]explain.Role{"endpoints": explain.Good, "reject": explain.Bad, "drop": explain.Bad}[a.Verdict]
	word := strings.ToUpper(a.Verdict)
	if opts.Style != nil {
		word = opts.Style(role, word)
	}
	p := page.New(page.Columns(opts.Width))
	way := fmt.Sprintf("%s -> %s", a.From, a.To)
	if len(a.Endpoints) > 0 {
		way += " -> " + strings.Join(a.Endpoints, " | ")
	}
	p.Text(word+"  ", way)
	p.Text("", verdictText(a.Verdict))
	node := a.Node
	if node == "" {
		node = "a node without a name"
	}
	p.Text("", fmt.Sprintf("as kube-proxy %s in %s mode does it on %s, terminating fallback %s", a.KubernetesVersion, a.Mode, node, a.TerminatingFallback))
	for _, gate := range a.WhatIf {
		p.Text("", fmt.Sprintf("WHAT IF: no real cluster of version %s can set %s this way", a.KubernetesVersion, gate))
	}
	for _, n := range a.Notes {
		p.Text("note: ", n)
	}
	p.Blank()
	var hops [][]string
	for _, h := range a.Hops {
		hops = append(hops, []string{h.Stage, h.Detail})
	}
	p.Table(2, hops)
	if o := a.OtherMode; o != nil {
		p.Blank()
		p.Text("", strings.TrimSpace(fmt.Sprintf("%s mode differs: %s %s", o.Mode, o.Verdict, strings.Join(o.Endpoints, " | ")))+" (--mode "+o.Mode+")")
	}
	_, err := io.WriteString(w, p.String())
	return err
}
