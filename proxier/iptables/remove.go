package iptables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// nobodys is a node that nothing is particular to: which chains there are does not depend on it.
func nobodys() *plan.Node {
	return &plan.Node{Dialect: plan.IPTables, Options: endpoints.CurrentOptions()}
}

// removeAll removes what there is of one family with tools that work, and looks whether it is gone.
func removeAll(k kernel, opts *Options, l layout) (found bool, err error) {
	have, err := readAll(k)
	if err != nil {
		return false, err
	}
	for _, prefix := range prefixes(opts, have) {
		l.names = names{prefix}
		if !anyOurs(l, have) {
			continue
		}
		found = true
		f := &family{kernel: k, opts: opts, layout: l}
		if err := f.cleanup(); err != nil {
			return true, err
		}
	}
	if !found {
		return false, nil
	}
	if have, err = readAll(k); err != nil {
		return true, err
	}
	for _, prefix := range prefixes(opts, have) {
		if l.names = (names{prefix}); anyOurs(l, have) {
			return true, fmt.Errorf("chains %s-* were removed, and another program made them again: end the proxy that runs", prefix)
		}
	}
	return true, nil
}

func readAll(k kernel) (saved, error) {
	text, err := k.save()
	return parseSaved(text), err
}

// anyOurs says whether there is any chain that is ours to remove.
func anyOurs(l layout, have saved) bool {
	return slices.ContainsFunc(tables(), func(t table) bool { return len(ours(l, have, t)) > 0 })
}

// removable lists those of the kernel's chains that Remove would remove, up to a few.
func removable(opts *Options, l layout, shown []string) []string {
	var have saved
	for _, t := range tables() {
		have[t] = map[string]*savedChain{}
		for _, one := range shown {
			if name, ok := strings.CutPrefix(one, t.String()+" "); ok {
				have[t][name] = &savedChain{}
			}
		}
	}
	const few = 3
	var out []string
	for _, prefix := range prefixes(opts, have) {
		l.names = names{prefix}
		for _, t := range tables() {
			for _, name := range ours(l, have, t) {
				out = append(out, "chain "+name+" of table "+t.String())
			}
		}
	}
	return out[:min(few, len(out))]
}

// prefixes lists those of chains that Remove is to remove.
func prefixes(opts *Options, have saved) []string {
	var out []string
	for name := range have[mangle] { // order: sorted below
		prefix, ok := strings.CutSuffix(name, "-"+ownCanary)
		if ok && (opts.TakeOver || prefix == opts.ChainPrefix) {
			out = append(out, prefix)
		}
	}
	if opts.TakeOver {
		out = append(out, opts.ChainPrefix)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
