package nftables

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// A rule is a list of statements that a packet meets one after the other, until one does not
// match. Statements say what they do; text renders them for people and the nft tool, and
// express_linux.go for the kernel.
type rule struct {
	statements []statement
	comment    string
}

func ruleOf(s ...statement) rule { return rule{statements: s} }

// statement is one step of a rule.
type statement interface {
	// text returns the statement in nft's syntax.
	text(v vocabulary) string
}

// vocabulary is what the words of a rule are in a family.
type vocabulary struct {
	family endpoints.IPFamily
	mark   uint32 // the bit that asks for masquerading
}

// ip is the family's word for its own headers.
func (v vocabulary) ip() string {
	if v.family == endpoints.IPv6 {
		return "ip6"
	}
	return "ip"
}

// operandKind is something a packet or the machine has to offer for a key.
type operandKind uint8

const (
	opDaddr    operandKind = iota
	opNoDaddr              // the unspecified address: node ports have no address of their own
	opProto                // transport protocol
	opDport                // destination port
	opSaddr                // source address
	opPriority             // what an earlier statement of the rule put there
	opIdentity             // the affinity identity in a slot that is in the priority
	opRandom               // a number drawn for this packet
)

// operand is one part of a concatenation. A random one is drawn from 0 .. mod-1, plus offset.
type operand struct {
	kind        operandKind
	mod, offset uint32
}

func (o operand) text(v vocabulary) string {
	switch o.kind {
	case opDaddr:
		return v.ip() + " daddr"
	case opNoDaddr:
		return fmt.Sprintf("%s daddr & %s", v.ip(), unspecified(v.family))
	case opProto:
		return "meta l4proto"
	case opDport:
		return "th dport"
	case opSaddr:
		return v.ip() + " saddr"
	case opPriority:
		return "meta priority"
	case opIdentity:
		return fmt.Sprintf("meta priority & %x:0", identityMask>>16)
	default:
		if o.offset > 0 {
			return fmt.Sprintf("numgen random mod %d offset %d", o.mod, o.offset)
		}
		return fmt.Sprintf("numgen random mod %d", o.mod)
	}
}

func unspecified(f endpoints.IPFamily) netip.Addr {
	if f == endpoints.IPv6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// concat is a key made of several operands.
type concat []operand

func (c concat) text(v vocabulary) string {
	parts := make([]string, len(c))
	for i, o := range c {
		parts[i] = o.text(v)
	}
	return strings.Join(parts, " . ")
}

// and returns the key with another operand at its end.
func (c concat) and(o operand) concat { return append(c[:len(c):len(c)], o) }

// setPriority looks the key up and keeps the result in the packet's priority: nft 1.0.6
// cannot list a rule that uses one lookup's result in another directly (README.md, hazard 2).
type setPriority struct {
	key concat
	in  string
}

func (s setPriority) text(v vocabulary) string {
	return fmt.Sprintf("meta priority set %s map @%s", s.key.text(v), s.in)
}

// clearPriority gives the packet back without a priority of ours.
type clearPriority struct{}

func (clearPriority) text(vocabulary) string { return "meta priority set 0:0" }

// byPriority goes where a verdict map says that the number in the priority leads.
type byPriority struct{ in string }

func (s byPriority) text(vocabulary) string { return "meta priority vmap @" + s.in }

// inSet matches packets whose key is in a set, or is not.
type inSet struct {
	key concat
	in  string
	not bool
}

func (s inSet) text(v vocabulary) string {
	return s.key.text(v) + unequal(s.not) + " @" + s.in
}

func unequal(not bool) string {
	if not {
		return " !="
	}
	return ""
}

// inPrefix matches packets by source or destination range.
type inPrefix struct {
	source bool
	of     netip.Prefix
	not    bool
}

func (s inPrefix) text(v vocabulary) string {
	return fmt.Sprintf("%s %s%s %s", v.ip(), direction(s.source), unequal(s.not), s.of)
}

func direction(source bool) string {
	if source {
		return "saddr"
	}
	return "daddr"
}

// viaInterface matches packets by the interface they came in, or the start of its name. What
// the node itself sends came in by none.
type viaInterface struct {
	name  string
	start bool
	not   bool
}

func (s viaInterface) text(vocabulary) string {
	name := s.name
	if s.start {
		name += "*"
	}
	return fmt.Sprintf("iifname%s %q", unequal(s.not), name)
}

// isLocal matches packets whose source or destination is an address of this machine.
type isLocal struct {
	source bool
	not    bool
}

func (s isLocal) text(vocabulary) string {
	return fmt.Sprintf("fib %s type%s local", direction(s.source), unequal(s.not))
}

// mark asks for masquerading, isMarked finds what was asked, unmark withdraws the bit.
type (
	mark     struct{}
	isMarked struct{}
	unmark   struct{}
)

func (mark) text(v vocabulary) string     { return fmt.Sprintf("meta mark set meta mark | %#x", v.mark) }
func (isMarked) text(v vocabulary) string { return fmt.Sprintf("meta mark & %#x != 0", v.mark) }
func (unmark) text(v vocabulary) string   { return fmt.Sprintf("meta mark set meta mark ^ %#x", v.mark) }

// masquerade rewrites the source to the node's address.
type masquerade struct{}

func (masquerade) text(vocabulary) string { return "masquerade fully-random" }

// translate sends the flow to the endpoint that a map has under a key.
type translate struct {
	key concat
	in  string
	// clear takes a slot out of the priority after it was looked up. nft has no words for
	// that order, so the text leaves it out.
	clear bool
}

func (s translate) text(v vocabulary) string {
	return fmt.Sprintf("dnat %s addr . port to %s map @%s", v.ip(), s.key.text(v), s.in)
}

// memoryOp is what a packet does to the memory of affinity.
type memoryOp uint8

const (
	remember memoryOp = iota // unless there is an entry
	refresh                  // the entry's age, or remember
	forget
)

func (o memoryOp) String() string { return [...]string{"add", "update", "delete"}[o] }

// memorise keeps the slot in the priority under a key, or forgets what is there.
type memorise struct {
	op      memoryOp
	key     concat
	seconds uint32
}

func (s memorise) text(v vocabulary) string {
	timeout := ""
	if s.op != forget {
		timeout = fmt.Sprintf(" timeout %ds", s.seconds)
	}
	return fmt.Sprintf("%s @sticky { %s%s : meta priority }", s.op, s.key.text(v), timeout)
}

// count counts the packets that come so far, for people to see.
type count struct{}

func (count) text(vocabulary) string { return "counter" }

// verdictKind is how a rule ends or goes on.
type verdictKind uint8

const (
	jump verdictKind = iota
	goTo
	drop
	reject
)

// verdict ends the rule.
type verdict struct {
	kind  verdictKind
	chain string // of jump and goTo
}

func (s verdict) text(vocabulary) string {
	switch s.kind {
	case jump:
		return "jump " + s.chain
	case goTo:
		return "goto " + s.chain
	case drop:
		return "drop"
	default:
		return "reject"
	}
}

// hook is where a chain meets the packets of the machine; no chain but those with a hook is
// entered without a jump.
type hook uint8

const (
	noHook hook = iota
	prerouting
	output
	postrouting
)

// Priorities of the hooks: those that nat has in every tool (netfilter_ipv4.h).
const (
	natDestination = -100
	natSource      = 100
)

func (h hook) priority() int32 {
	if h == postrouting {
		return natSource
	}
	return natDestination
}

func (h hook) String() string {
	return [...]string{"none", "prerouting", "output", "postrouting"}[h]
}

// chain is a list of rules with a name.
type chain struct {
	name  string
	hook  hook
	rules []rule
}
