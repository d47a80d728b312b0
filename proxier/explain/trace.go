package explain

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Trace is one packet's path through a node's service rules: the JSON contract of trace.
type Trace struct {
	APIVersion          string   `json:"apiVersion"`
	Kind                string   `json:"kind"` // "Trace"
	Node                string   `json:"node"`
	KubernetesVersion   string   `json:"kubernetesVersion"`
	Mode                string   `json:"mode"`
	TerminatingFallback string   `json:"terminatingFallback"`
	WhatIf              []string `json:"whatIf"` // feature gates that no real cluster of the version can set this way
	Notes               []string `json:"notes"`
	From                string   `json:"from"`
	To                  string   `json:"to"`
	Service             string   `json:"service"` // "ns/name:port", "" when no Service met the packet
	Verdict             string   `json:"verdict"` // of packet.Verdict
	Endpoints           []string `json:"endpoints"`
	Masquerade          bool     `json:"masquerade"` // whichever endpoint it is
	Hairpin             []string `json:"hairpin"`    // endpoints that get the node's address only because they call themselves
	Hops                []Hop    `json:"hops"`
	// OtherMode is what kube-proxy's other mode does, when no mode was asked for and it differs.
	OtherMode *OtherMode `json:"otherMode"`
}

// Hop is a stage of the rules and what happened there.
type Hop struct {
	Stage  string `json:"stage"`
	Detail string `json:"detail"`
}

// OtherMode is where another mode sends the packet.
type OtherMode struct {
	Mode       string   `json:"mode"`
	Verdict    string   `json:"verdict"`
	Endpoints  []string `json:"endpoints"`
	Masquerade bool     `json:"masquerade"`
}

// ParsePacket reads a source address and a destination IP:PORT/PROTOCOL, tcp if there is no protocol. An error begins with
// the name of the argument, from or to, and says what would be valid.
func ParsePacket(from, to string) (packet.Packet, error) {
	if from == "" || to == "" {
		return packet.Packet{}, errors.New("from IP and to IP:PORT/PROTOCOL are needed")
	}
	src, err := netip.ParseAddr(from)
	if err != nil {
		return packet.Packet{}, fmt.Errorf("from %q: want an IP address such as 192.0.2.7", from)
	}
	dst, proto, err := destination(to)
	if err != nil {
		return packet.Packet{}, err
	}
	if endpoints.FamilyOf(src) != endpoints.FamilyOf(dst.Addr()) {
		return packet.Packet{}, fmt.Errorf("from %s to %s: the addresses are of different IP families", src, dst.Addr())
	}
	const anyPort = 40000 // no rule looks at the source port
	return packet.Packet{Src: netip.AddrPortFrom(src, anyPort), Dst: dst, Protocol: proto}, nil
}

func destination(to string) (netip.AddrPort, packet.Protocol, error) {
	address, name, _ := strings.Cut(to, "/")
	proto := packet.TCP
	if name != "" {
		var ok bool
		if proto, ok = packet.ParseProtocol(name); !ok {
			return netip.AddrPort{}, proto, fmt.Errorf("to %q: protocol %q is not tcp, udp or sctp", to, name)
		}
	}
	dst, err := netip.ParseAddrPort(address)
	if err != nil || dst.Port() == 0 {
		return dst, proto, fmt.Errorf("to %q: want an address and port such as 203.0.113.10:80/tcp or [2001:db8::1]:53/udp", to)
	}
	return dst, proto, nil
}

// BuildTrace follows the first packet of a new connection through the rules of a Plan.
func BuildTrace(rules *plan.Plan, p packet.Packet, profile endpoints.Profile) *Trace {
	node, t := rules.Node(), memory.New(rules).Trace(p)
	a := &Trace{
		APIVersion: APIVersion, Kind: "Trace", Node: node.Name,
		KubernetesVersion: profile.Version.String(), Mode: node.Dialect.String(),
		TerminatingFallback: node.Options.TerminatingFallback.String(),
		WhatIf:              append([]string{}, profile.WhatIf...), Notes: append([]string{}, profile.Notes...),
		From: p.Src.Addr().String(), To: fmt.Sprintf("%s/%s", p.Dst, p.Protocol),
		Service: t.Service, Verdict: t.Verdict.String(),
		Endpoints: targets(t), Masquerade: t.Masquerade(), Hairpin: []string{}, Hops: []Hop{},
	}
	for _, target := range t.Targets {
		if target.Masquerade && !a.Masquerade {
			a.Hairpin = append(a.Hairpin, target.Addr.String())
		}
	}
	for _, h := range t.Hops {
		a.Hops = append(a.Hops, Hop(h))
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

// Compare notes what another mode does with the same packet, if that is something else.
func (a *Trace) Compare(other *Trace) {
	if other.Verdict != a.Verdict || other.Masquerade != a.Masquerade || !slices.Equal(other.Endpoints, a.Endpoints) {
		a.OtherMode = &OtherMode{Mode: other.Mode, Verdict: other.Verdict, Endpoints: other.Endpoints, Masquerade: other.Masquerade}
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

// WriteText writes the trace for people: the verdict first, then hop by hop.
func (a *Trace) WriteText(w io.Writer, opts TextOptions) error {
	role := map[string]Role{"endpoints": Good, "reject": Bad, "drop": Bad}[a.Verdict]
	word := strings.ToUpper(a.Verdict)
	if opts.Style != nil {
		word = opts.Style(role, word)
	}
	p := opts.page()
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
		p.Text("", strings.TrimSpace(fmt.Sprintf("%s mode differs: %s %s", o.Mode, o.Verdict, strings.Join(o.Endpoints, " | "))))
	}
	_, err := io.WriteString(w, p.String())
	return err
}
