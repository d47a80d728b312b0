package iptables

import (
	"strings"
)

// script is the text of one iptables-restore --noflush: blocks of tables, each of which the
// kernel takes as a whole.
type script struct{ strings.Builder }

// block writes a table: chains to make or empty, rules, chains to remove. A chain is removed
// after the rules that led to it were written again. Chains are declared in the order of their
// names: iptables-nft 1.8.9 takes more than twice as long for 10,000 in another one.
func (s *script) block(t table, chains []chain, appended string, gone []string) {
	if len(chains) == 0 && appended == "" && len(gone) == 0 {
		return
	}
	s.WriteString("*" + t.String() + "\n")
	for _, c := range chains {
		s.declare(c.name)
	}
	for _, name := range gone {
		s.declare(name)
	}
	s.WriteString(appended)
	for _, c := range chains {
		s.WriteString(c.text)
	}
	for _, name := range gone {
		s.WriteString("-X " + name + "\n")
	}
	s.WriteString("COMMIT\n")
}

// declare makes a chain, or empties it.
func (s *script) declare(name string) { s.WriteString(":" + name + " - [0:0]\n") }

// text returns what takes the tables from one state to the next. The two tables do not change
// at once, and a flow whose first packet meets no rule for a moment goes where nobody answers
// for good, since the kernel does not translate it later. So what refuses comes before what
// translates goes, and goes after what translates has come: a packet that is translated meets
// no filter rule for the address it was sent to.
func (c *change) text(l layout) string {
	var first, last []chain
	var more string
	for _, in := range inTable(filter) {
		switch s := &c.shared[in]; {
		case s.empty():
		case !s.removed:
			first = append(first, chain{l.sharedName(in), s.text})
		default:
			more += s.added
			last = append(last, chain{l.sharedName(in), s.text})
		}
	}
	var translate []chain
	for _, in := range inTable(nat) {
		if s := &c.shared[in]; !s.empty() {
			translate = append(translate, chain{l.sharedName(in), s.text})
		}
	}
	var s script
	s.block(filter, first, more, nil)
	s.block(nat, append(translate, c.chains...), "", c.gone)
	s.block(filter, last, "", nil)
	return s.String()
}

// groundwork makes the chains there is one of, where they are missing, and leads packets to them
// while they are empty, in one transaction a table. With evict it removes a kube-proxy's canary
// in the same transaction in which ours is made.
func groundwork(l layout, have saved, missing []fixture, evict bool) string {
	var s script
	for _, t := range tables() {
		var chains []chain
		for _, name := range l.base(t) {
			if have[t][name] == nil {
				chains = append(chains, chain{name: name})
			}
		}
		var rules string
		for _, x := range missing {
			if x.table == t {
				rules += x.insertion()
			}
		}
		var gone []string
		if canary := l.chain(proxyCanary); evict && have[t][canary] != nil {
			gone = []string{canary}
		}
		s.block(t, chains, rules, gone)
	}
	return s.String()
}

// whole returns what replaces the contents of all chains, given what there was before: in the
// order that text has, and for the same reason. Chains of service ports that are not in the
// Plan are removed.
func whole(s *state, filters, translations []chain, have saved) string {
	var more string
	for _, c := range filters {
		more += c.text
	}
	wanted := map[string]bool{}
	for _, c := range translations {
		wanted[c.name] = true
	}
	var gone []string
	for _, name := range have.chains(nat) {
		if s.layout.isServicePorts(name) && !wanted[name] {
			gone = append(gone, name)
		}
	}
	var out script
	if have.hasRules(filter, filters) {
		out.block(filter, nil, more, nil)
	} else {
		out.block(filter, filters, "", nil)
		filters = nil
	}
	out.block(nat, translations, "", gone)
	out.block(filter, filters, "", nil)
	return out.String()
}
