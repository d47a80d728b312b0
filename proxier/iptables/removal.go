package iptables

// ours lists the chains of a table that are ours to remove, by name.
func ours(l layout, have saved, t table) []string {
	known := map[string]bool{l.chain(ownCanary): true, l.chain(openedLoopback): t == mangle}
	for s := range numShared {
		if s.table() == t {
			known[l.sharedName(s)] = true
		}
	}
	for _, c := range l.static(t) {
		known[c.name] = true
	}
	if have[mangle][l.chain(kubeletCanary)] == nil {
		known[l.chain(localnet)] = t == filter
	}
	var out []string
	for _, name := range have.chains(t) {
		if known[name] || t == nat && l.isServicePorts(name) {
			out = append(out, name)
		}
	}
	return out
}

// removal returns what takes our chains out, and the rules that lead to them.
func removal(l layout, have saved) string {
	var s script
	for _, t := range tables() {
		chains := ours(l, have, t)
		is := map[string]bool{}
		for _, name := range chains {
			is[name] = true
		}
		var leading string
		for _, rule := range have.leading(t, is) {
			leading += deletion(rule)
		}
		s.block(t, nil, leading, chains)
	}
	return s.String()
}

// withdrawal returns what takes our canary out and leaves everything else.
func withdrawal(l layout, have saved) string {
	var s script
	for _, t := range tables() {
		if name := l.chain(ownCanary); have[t][name] != nil {
			s.block(t, nil, "", []string{name})
		}
	}
	return s.String()
}
