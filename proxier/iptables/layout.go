package iptables

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// features are what the tools and the kernel of a machine have that not all do.
type features struct {
	// randomFully is masquerading with random ports (iptables 1.6.2).
	randomFully bool
	// hairpin is a match for packets that go to where they come from (xt_bpf). Without it an
	// endpoint needs a chain of its own to tell.
	hairpin bool
	// liberal says that the kernel takes TCP packets outside the window for valid
	// (nf_conntrack_tcp_be_liberal), so that none has to be dropped for that.
	liberal bool
	// nft says that the tool is iptables-nft.
	nft bool
}

// layout says which rules a node's configuration asks for in one family. It is a value.
type layout struct {
	names
	features

	family endpoints.IPFamily
	node   *plan.Node
	mark   uint32
}

// shared is a chain that many Services have rules in.
type shared uint8

const (
	natServices shared = iota
	natNodePorts
	filterServices
	filterExternal
	filterFirewall
	filterNodePorts
	numShared
)

func (s shared) table() table {
	if s <= natNodePorts {
		return nat
	}
	return filter
}

func (l layout) sharedName(s shared) string {
	return l.chain([...]string{services, nodePorts, services, externalServices, proxyFirewall, nodePorts}[s])
}

// inTable lists the shared chains of a table.
func inTable(t table) []shared {
	var out []shared
	for s := range numShared {
		if s.table() == t {
			out = append(out, s)
		}
	}
	return out
}

// chain is a chain with its rules: lines that begin with -A and end with a newline.
type chain struct{ name, text string }

// rule appends a rule to the chain.
func (c *chain) rule(format string, args ...any) {
	c.text += "-A " + c.name + " " + fmt.Sprintf(format, args...) + "\n"
}

// size is the number of rules.
func (c chain) size() int { return strings.Count(c.text, "\n") }

// static are the chains of a table that no Service has rules in.
func (l layout) static(t table) []chain {
	switch t {
	case nat:
		return []chain{l.markMasquerade(), l.postroutingChain()}
	case filter:
		return []chain{l.forwardChain()}
	default:
		return nil
	}
}

func (l layout) markMasquerade() chain {
	c := chain{name: l.chain(markMasq)}
	c.rule("-j MARK --or-mark %#x", l.mark)
	return c
}

// Programs of the classic packet filter that accept a packet whose source is its destination:
// word by word, source into the accumulator, from there into the index register, destination
// into the accumulator, compare. Offsets are those of the IP headers (RFC 791 3.1, RFC 8200 3).
func hairpinProgram(f endpoints.IPFamily) string {
	const (
		loadWord, toIndex, equalIndex, result = 0x20, 0x07, 0x1d, 0x06
		all                                   = 65535
	)
	source, destination, words := 12, 16, 1
	if f == endpoints.IPv6 {
		source, destination, words = 8, 24, 4
	}
	program := make([]string, 0, 4*words+2)
	for i := range words {
		fail := 4*(words-1-i) + 1
		program = append(program,
			fmt.Sprintf("%d 0 0 %d", loadWord, source+4*i), fmt.Sprintf("%d 0 0 0", toIndex),
			fmt.Sprintf("%d 0 0 %d", loadWord, destination+4*i), fmt.Sprintf("%d 0 %d 0", equalIndex, fail))
	}
	program = append(program, fmt.Sprintf("%d 0 0 %d", result, all), fmt.Sprintf("%d 0 0 0", result))
	return fmt.Sprintf("%d,%s", len(program), strings.Join(program, ","))
}

func (l layout) postroutingChain() chain {
	c := chain{name: l.chain(postrouting)}
	if l.hairpin {
		c.rule(`-m conntrack --ctstate DNAT -m bpf --bytecode "%s" -m comment --comment "endpoints that reach themselves" -j %s`,
			hairpinProgram(l.family), l.chain(markMasq))
	}
	c.rule("-m mark ! --mark %#x/%#x -j RETURN", l.mark, l.mark)
	// The mark goes, so that a packet that comes by once more is not masqueraded again.
	c.rule("-j MARK --xor-mark %#x", l.mark)
	random := ""
	if l.randomFully {
		random = " --random-fully"
	}
	c.rule(`-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE%s`, random)
	return c
}

func (l layout) forwardChain() chain {
	c := chain{name: l.chain(forward)}
	if !l.liberal {
		// What connection tracking takes for invalid is not translated back, so that its
		// receiver would answer with a reset (kubernetes issue 74839).
		c.rule("-m conntrack --ctstate INVALID -j DROP")
	}
	c.rule(`-m comment --comment "kubernetes forwarding rules" -m mark --mark %#x/%#x -j ACCEPT`, l.mark, l.mark)
	c.rule(`-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`)
	return c
}

// lastServices are the rules at the end of nat's services: what none of the addresses above
// took may be a node port.
func (l layout) lastServices() string {
	c := chain{name: l.sharedName(natServices)}
	for _, to := range l.nodePortDestinations() {
		c.rule(`-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" %s -j %s`, to, l.sharedName(natNodePorts))
	}
	return c.text
}

// loopback is the family's range of addresses that never leave the machine.
func loopback(f endpoints.IPFamily) netip.Prefix {
	if f == endpoints.IPv6 {
		return netip.MustParsePrefix("::1/128")
	}
	return netip.MustParsePrefix("127.0.0.0/8")
}

// nodePortDestinations match the addresses on which node ports answer.
func (l layout) nodePortDestinations() []string {
	ranges := l.node.NodePortRanges(l.family)
	if ranges == nil {
		if l.takesLoopback() {
			return []string{"-m addrtype --dst-type LOCAL"}
		}
		return []string{fmt.Sprintf("-m addrtype --dst-type LOCAL ! -d %s", loopback(l.family))}
	}
	var out []string
	for _, a := range l.node.Addresses {
		if endpoints.FamilyOf(a) == l.family && !a.IsLoopback() && l.node.AcceptsNodePorts(a) {
			out = append(out, "-d "+single(a))
		}
	}
	if l.node.LocalhostNodePorts && l.family == endpoints.IPv4 {
		for _, r := range ranges {
			if lo := loopback(l.family); r.Overlaps(lo) {
				out = append(out, "-d "+narrower(r, lo).String())
			}
		}
	}
	return out
}

// narrower is the smaller of two ranges of which one contains the other.
func narrower(a, b netip.Prefix) netip.Prefix {
	if a.Bits() < b.Bits() {
		return b.Masked()
	}
	return a.Masked()
}

// single is the range that holds one address.
func single(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }

// takesLoopback says whether node ports answer on localhost, which opens 127.0.0.0/8 to the
// network unless it is closed again.
func (l layout) takesLoopback() bool {
	return l.family == endpoints.IPv4 && l.node.AcceptsNodePorts(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
}

// fromPod matches packets of pods as the node tells them, or all others; ok is false if it
// cannot tell.
func (l layout) fromPod(not bool) (match string, ok bool) {
	mark := ""
	if not {
		mark = "! "
	}
	d := l.node.Detector
	switch d.Mode {
	case plan.DetectBridgeInterface:
		return mark + "-i " + d.Interface, true
	case plan.DetectInterfaceNamePrefix:
		return mark + "-i " + d.Interface + "+", true
	default:
		cidr, ok := d.CIDR(l.family)
		if !ok {
			return "", false
		}
		return mark + "-s " + cidr.Masked().String(), true
	}
}

// fixture is a rule in a chain of others, that leads packets to ours or guards what ours open.
type fixture struct {
	table table
	chain string
	spec  []string
	last  bool // at the end of the chain, not the beginning
}

// line is the rule as iptables-save prints it.
func (f fixture) line() string {
	words := make([]string, len(f.spec))
	for i, w := range f.spec {
		words[i] = w
		if strings.Contains(w, " ") {
			words[i] = `"` + w + `"`
		}
	}
	return "-A " + f.chain + " " + strings.Join(words, " ")
}

// insertion is what puts the rule in.
func (f fixture) insertion() string {
	line := f.line()
	if !f.last {
		line = "-I" + strings.TrimPrefix(line, "-A")
	}
	return line + "\n"
}

// fixtures lists the rules outside our chains in the order in which they are put in. Each goes
// before what is in its chain already, so the last of a chain is the first that a packet
// meets.
func (l layout) fixtures() []fixture {
	jump := func(t table, from, to, comment string, onlyNew bool) fixture {
		var spec []string
		if onlyNew {
			spec = append(spec, "-m", "conntrack", "--ctstate", "NEW")
		}
		if comment != "" {
			spec = append(spec, "-m", "comment", "--comment", comment)
		}
		return fixture{table: t, chain: from, spec: append(spec, "-j", l.chain(to))}
	}
	const portals, external, balancer = "kubernetes service portals", "kubernetes externally-visible service portals", "kubernetes load balancer firewall"
	out := []fixture{
		jump(filter, "INPUT", externalServices, external, true),
		jump(filter, "FORWARD", externalServices, external, true),
		jump(filter, "INPUT", nodePorts, "kubernetes health check service ports", false),
		jump(filter, "FORWARD", services, portals, true),
		jump(filter, "OUTPUT", services, portals, true),
		jump(filter, "FORWARD", forward, "kubernetes forwarding rules", false),
		jump(filter, "INPUT", proxyFirewall, balancer, true),
		jump(filter, "OUTPUT", proxyFirewall, balancer, true),
		jump(filter, "FORWARD", proxyFirewall, balancer, true),
		jump(nat, "POSTROUTING", postrouting, "kubernetes postrouting rules", false),
		jump(nat, "OUTPUT", services, portals, false),
		jump(nat, "PREROUTING", services, portals, false),
	}
	if l.takesLoopback() {
		// As kubelet has it, word for word, so that the two share the rule (kubernetes issue 90259).
		closed := strings.Fields("-d 127.0.0.0/8 -m comment --comment X -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP")
		closed[5] = "block incoming localnet connections"
		closed = append([]string{"!", "-s", "127.0.0.0/8"}, closed...)
		out = append(out, fixture{table: filter, chain: l.chain(localnet), spec: closed, last: true},
			jump(filter, "INPUT", localnet, "", false), jump(filter, "OUTPUT", localnet, "", false))
	}
	return out
}

// base lists the chains there is one of in a table, those that are not kubelet's first.
func (l layout) base(t table) []string {
	out := []string{l.chain(ownCanary)}
	for _, s := range inTable(t) {
		out = append(out, l.sharedName(s))
	}
	for _, c := range l.static(t) {
		out = append(out, c.name)
	}
	if t == filter && l.takesLoopback() {
		out = append(out, l.chain(localnet))
	}
	return out
}
