package nftables

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// layout says what chains a node's configuration asks for in one family. It is a value: two
// layouts of the same node are the same.
type layout struct {
	family endpoints.IPFamily
	node   *plan.Node
}

// base returns the chains that every packet of a new flow may meet, and those that all classes
// share. Only a flow's first packet meets chains of type nat, so established flows pay nothing
// and are touched by no rule here.
func (l layout) base() []chain {
	return []chain{
		{name: "services", rules: []rule{
			ruleOf(setPriority{vipKey(false), "firewalled"}, byPriority{"firewalls"}),
			ruleOf(setPriority{vipKey(false), "frontends"}, byPriority{"classes"}),
			ruleOf(verdict{jump, "node-ports"}),
		}},
		{name: "node-ports", rules: []rule{
			{statements: append(l.nodePortAddress(),
				setPriority{concat{{kind: opProto}, {kind: opDport}}, "node-ports"}, byPriority{"node-port-classes"})},
		}},
		{name: "prerouting", hook: prerouting, rules: append([]rule{ruleOf(verdict{jump, "services"})}, l.guard(false)...)},
		{name: "output", hook: output, rules: append([]rule{ruleOf(verdict{jump, "services"})}, l.guard(true)...)},
		{name: "postrouting", hook: postrouting, rules: []rule{
			ruleOf(isMarked{}, unmark{}, masquerade{}),
			ruleOf(inSet{key: concat{{kind: opSaddr}, {kind: opDaddr}}, in: "hairpin"}, masquerade{}),
		}},
	}
}

// guard holds the rules that belong to no frontend: a ClusterIP's undefined ports, and
// addresses that no Service has. A packet that comes in for an address of this machine is not
// theirs: a node-local DNS cache binds ClusterIPs.
func (l layout) guard(sent bool) []rule {
	var through []statement
	if !sent {
		through = []statement{isLocal{not: true}}
	}
	guardRule := func(match statement, end verdictKind) rule {
		return rule{statements: append(append([]statement{match}, through...), verdict{kind: end})}
	}
	out := []rule{guardRule(inSet{key: concat{{kind: opDaddr}}, in: "cluster-ips"}, reject)}
	for _, cidr := range l.node.ServiceCIDRs {
		if endpoints.FamilyOf(cidr.Addr()) == l.family {
			out = append(out, guardRule(inPrefix{of: cidr.Masked()}, drop))
		}
	}
	return out
}

// nodePortAddress matches the addresses on which node ports answer: those of node-ips, or, where
// nothing limits them, all of the machine but loopback.
func (l layout) nodePortAddress() []statement {
	if l.node.NodePortRanges(l.family) != nil {
		return []statement{inSet{key: concat{{kind: opDaddr}}, in: "node-ips"}}
	}
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	if l.family == endpoints.IPv6 {
		loopback = netip.MustParsePrefix("::1/128")
	}
	return []statement{inPrefix{of: loopback, not: true}, isLocal{}}
}

// nodeIPs are the elements of node-ips.
func (l layout) nodeIPs() []netip.Addr {
	var out []netip.Addr
	if l.node.NodePortRanges(l.family) == nil {
		return nil
	}
	for _, a := range l.node.Addresses {
		if endpoints.FamilyOf(a) == l.family && l.node.AcceptsNodePorts(a) {
			out = append(out, a)
		}
	}
	return out
}

// vipKey is the key of a frontend. Node ports have none but the unspecified address, so that
// one list serves all addresses of the node.
func vipKey(nodePort bool) concat {
	first := operand{kind: opDaddr}
	if nodePort {
		first.kind = opNoDaddr
	}
	return concat{first, {kind: opProto}, {kind: opDport}}
}

// fromPod matches packets of pods as the node tells them, or all others; ok is false if it
// cannot tell.
func (l layout) fromPod(not bool) (s statement, ok bool) {
	d := l.node.Detector
	switch d.Mode {
	case plan.DetectBridgeInterface:
		return viaInterface{name: d.Interface, not: not}, true
	case plan.DetectInterfaceNamePrefix:
		return viaInterface{name: d.Interface, start: true, not: not}, true
	default:
		cidr, ok := d.CIDR(l.family)
		if !ok {
			return nil, false
		}
		return inPrefix{source: true, of: cidr.Masked(), not: not}, true
	}
}

// list is one of the lists that a frontend's chains pick from: where its entries are, and what
// its chains are called.
type list struct {
	nodePort bool
	local    bool // beside the main list
	sticky   uint32
}

func (l list) offset() uint32 {
	if l.local {
		return localBase
	}
	return 0
}

// name names one of the list's chains, such as node-port-try-local-8.
func (l list) name(verb, size string) string {
	name := prefix(l.nodePort) + verb
	if l.local {
		name += "-local"
	}
	return name + "-" + size
}

func (l list) pick(p power) string { return l.name("pick", p.String()) }
func (l list) try(p power) string  { return l.name("try", p.String()) }

func (l list) timeout() string { return class{sticky: l.sticky}.timeout() }

func (l list) stick(p power) string  { return l.name("stick", p.String()) + "-" + l.timeout() }
func (l list) choose(p power) string { return l.name("choose", p.String()) + "-" + l.timeout() }
func (l list) recall() string        { return l.name("recall", l.timeout()) }

// enter is the chain that picks from the list.
func (l list) enter(p power) string {
	if l.sticky > 0 {
		return l.stick(p)
	}
	return l.pick(p)
}

func (l list) endpoints() string {
	if l.local {
		return "sticky-local-endpoints"
	}
	return "sticky-endpoints"
}

// retries is how often an index is drawn again that hits no endpoint. At most half of the
// indices of a class miss, so all of them do once in 2^8 flows at worst; then half the range
// is drawn from, which cannot miss.
const retries = 8

// attempts are the chains that a pick goes through, in order. The last one draws from a single
// index: it is there for a packet that looked its class up before a commit that made the list
// much shorter, and its index after it. A list that is not empty has an index 0.
func attempts(p power, name func(power) string) []rule {
	var out []rule
	again := func(p power, times int) {
		for range times {
			out = append(out, ruleOf(verdict{jump, name(p)}))
		}
	}
	if p > 2 {
		again(p, retries)
		again(p-1, 1)
	} else {
		again(p, 1)
	}
	if p > 1 {
		again(1, 1)
	}
	return out
}

// pickChains returns the chains that pick from a list of a class.
func (l list) pickChains(p power) []chain {
	random := operand{kind: opRandom, mod: p.draws(), offset: l.offset()}
	out := []chain{{name: l.try(p), rules: []rule{ruleOf(translate{key: vipKey(l.nodePort).and(random), in: "endpoints"})}}}
	rules := append([]rule{ruleOf(clearPriority{})}, attempts(p, l.try)...)
	// Who comes so far lost the endpoint in this instant, and nothing else is there: refused, not let
	// on to an address that nobody has.
	out = append(out, chain{name: l.pick(p), rules: append(rules, ruleOf(count{}, verdict{kind: reject}))})
	return out
}

// stickyChains returns the chains that pick from a list with affinity. What is remembered, for
// a client and the identity of a service port, is a slot: a number that stands for one endpoint
// of the service port, at every address that leads to it, and for no other one after it left.
func (l list) stickyChains(p power) []chain {
	vip, client := vipKey(l.nodePort), operand{kind: opSaddr}
	known := concat{{kind: opPriority}, client}
	inSlot := concat{{kind: opIdentity}, client}
	recall := chain{name: l.recall(), rules: []rule{{
		statements: []statement{
			setPriority{vip, "sticky-ids"},
			setPriority{known, "sticky"},
			memorise{refresh, inSlot, l.sticky},
			translate{key: vip.and(operand{kind: opPriority}), in: l.endpoints(), clear: true},
		},
		comment: "the priority is cleared after the last lookup",
	}}}
	random := operand{kind: opRandom, mod: p.draws(), offset: l.offset()}
	choose := chain{name: l.choose(p), rules: []rule{
		ruleOf(setPriority{vip.and(random), "sticky-slots"}, memorise{remember, inSlot, l.sticky}),
		// Read back what won, so that a client's first connections agree if they come together.
		ruleOf(verdict{jump, l.recall()}),
	}}
	stick := chain{name: l.stick(p), rules: []rule{
		ruleOf(verdict{jump, l.recall()}),
		// The remembered endpoint has gone, or is not in this list.
		ruleOf(setPriority{vip, "sticky-ids"}, memorise{op: forget, key: known}),
	}}
	stick.rules = append(stick.rules, attempts(p, l.choose)...)
	// The memory is full: a plain choice.
	stick.rules = append(stick.rules, ruleOf(verdict{goTo, l.pick(p)}))
	return []chain{recall, choose, stick}
}

// chains returns the chains of a list, with those that they jump to.
func (l list) chains(p power) []chain {
	var out []chain
	for q := power(1); q <= p; q++ {
		out = append(out, list{nodePort: l.nodePort, local: l.local}.pickChains(q)...)
		if l.sticky > 0 {
			out = append(out, l.stickyChains(q)...)
		}
	}
	return out
}

// classChains returns a class's chain, last, and those that it jumps to.
func (l layout) classChains(c class, nodePort bool) []chain {
	main := list{nodePort: nodePort, sticky: c.sticky}
	var out []chain
	if c.main > 0 {
		out = main.chains(c.main)
	}
	own := chain{name: c.name(nodePort)}
	switch c.treatment {
	case refused:
		own.rules = l.unavailable(nodePort, reject)
	case clusterIP:
		own.rules = l.clusterIP(main, c.main)
	case external:
		own.rules = []rule{ruleOf(verdict{kind: drop})}
		if c.main > 0 {
			own.rules = []rule{ruleOf(mark{}), ruleOf(verdict{goTo, main.enter(c.main)})}
		}
	default:
		local := list{nodePort: nodePort, local: true, sticky: c.sticky}
		if c.local > 0 {
			out = append(out, local.chains(c.local)...)
		}
		own.rules = l.externalLocal(c, main, local)
	}
	return append(out, own)
}

// unavailable is for a Service address with nothing to go to. kube-proxy refuses in its filter
// chains, after a node port of the same number had its chance.
func (l layout) unavailable(nodePort bool, end verdictKind) []rule {
	var out []rule
	if !nodePort {
		out = append(out, ruleOf(verdict{jump, "node-ports"}))
	}
	return append(out, ruleOf(verdict{kind: end}))
}

func (l layout) clusterIP(main list, p power) []rule {
	if p == 0 {
		return l.unavailable(false, drop)
	}
	var out []rule
	if others, ok := l.fromPod(true); l.node.MasqueradeAll {
		out = append(out, ruleOf(mark{}))
	} else if ok {
		out = append(out, ruleOf(others, mark{}))
	}
	return append(out, ruleOf(verdict{goTo, main.enter(p)}))
}

// externalLocal sends the outside to this node's endpoints. Pods and the node itself go round
// the policy.
func (l layout) externalLocal(c class, main, local list) []rule {
	end := verdict{kind: drop}
	if c.main > 0 {
		end = verdict{goTo, main.enter(c.main)}
	}
	var out []rule
	if pods, ok := l.fromPod(false); ok {
		out = append(out, ruleOf(pods, end))
	}
	out = append(out, ruleOf(isLocal{source: true}, mark{}), ruleOf(isLocal{source: true}, end))
	last := verdict{kind: drop}
	if c.local > 0 {
		last = verdict{goTo, local.enter(c.local)}
	}
	return append(out, ruleOf(last))
}

// firewall is the chain that drops what a list of source ranges does not admit.
func firewall(name, ranges string) chain {
	return chain{name: name, rules: []rule{
		ruleOf(inSet{key: concat{{kind: opSaddr}}, in: ranges, not: true}, verdict{kind: drop}),
	}}
}
