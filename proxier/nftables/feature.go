package nftables

import "github.com/lameduck-proxy/lameduck/endpoints"

// feature is something the rules ask of a kernel, so that a refusal can be put into words.
// Which version has what is recalled; kube-proxy's own floor, 5.13, has all.
type feature struct {
	what, needs string
	rule        rule
	bare        bool // tables and sets alone
}

func features() []feature {
	random := vipKey(false).and(operand{kind: opRandom, mod: 2})
	client := concat{{kind: opPriority}, {kind: opSaddr}}
	return []feature{
		{what: "nftables with maps of concatenated keys", needs: "nf_tables, Linux 4.10", bare: true},
		{what: "rewriting addresses", needs: "nft_chain_nat, nft_nat, Linux 4.18", rule: ruleOf(
			translate{key: random, in: "endpoints"})},
		{what: "random numbers", needs: "nft_numgen, Linux 4.10", rule: ruleOf(setPriority{random, "sticky-slots"})},
		{what: "masquerading", needs: "nft_masq", rule: ruleOf(masquerade{})},
		{what: "counting packets", needs: "nf_tables, Linux 4.10", rule: ruleOf(count{})},
		{what: "refusing packets before routing", needs: "nft_reject, Linux 5.9", rule: ruleOf(verdict{kind: reject})},
		{what: "asking the routing table whether an address is local", needs: "nft_fib, Linux 4.10", rule: ruleOf(isLocal{})},
		{what: "maps that packets write", needs: "nft_dynset, Linux 4.10", rule: ruleOf(memorise{refresh, client, 1})},
		{what: "maps that packets delete from", needs: "nft_dynset, Linux 5.4", rule: ruleOf(memorise{op: forget, key: client})},
	}
}

// change is a table with nothing but the feature.
func (f feature) change(family endpoints.IPFamily) *tableChange {
	c := &tableChange{family: family, replace: true, remove: true, rows: newChanges(family)}
	for _, s := range setTable {
		c.sets = append(c.sets, s)
	}
	if f.bare {
		return c
	}
	hooked := chain{name: "feature", hook: prerouting, rules: []rule{f.rule}}
	if _, ok := f.rule.statements[0].(masquerade); ok {
		hooked.hook = postrouting
	}
	c.chains = []chain{hooked}
	return c
}
