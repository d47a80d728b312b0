package iptables

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// fakeKernel is the tables of a family in memory: it takes what iptables-restore takes, table by
// table as a whole, refuses what that refuses, and is told what else goes wrong.
type fakeKernel struct {
	tables   [numTables]map[string][]string // rules by chain
	errs     []error                        // of the next restores; nil is none
	texts    []string                       // of all restores that worked
	onCommit func()                         // after each table
	opened   bool
}

func newFakeKernel() *fakeKernel {
	k := &fakeKernel{}
	for t, builtin := range [numTables][]string{
		{"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"}, {"PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"}, {"INPUT", "FORWARD", "OUTPUT"},
	} {
		k.tables[t] = map[string][]string{}
		for _, c := range builtin {
			k.tables[t][c] = nil
		}
	}
	return k
}

func (k *fakeKernel) save(some ...table) (string, error) {
	if len(some) == 0 {
		some = tables()
	}
	var b strings.Builder
	for _, t := range some {
		fmt.Fprintf(&b, "# Generated\n*%s\n", t)
		names := slices.Sorted(maps.Keys(k.tables[t]))
		for _, c := range names {
			fmt.Fprintf(&b, ":%s - [0:0]\n", c)
		}
		for _, c := range names {
			for _, rule := range k.tables[t][c] {
				fmt.Fprintln(&b, rule)
			}
		}
		fmt.Fprintf(&b, "COMMIT\n")
	}
	return b.String(), nil
}

func (k *fakeKernel) restore(text string) error {
	if len(k.errs) > 0 {
		err := k.errs[0]
		k.errs = k.errs[1:]
		if err != nil {
			return err
		}
	}
	var t table
	var next map[string][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "*"); ok {
			t = table(slices.IndexFunc(tables(), func(t table) bool { return t.String() == name })) // an index
			next = maps.Clone(k.tables[t])
			continue
		}
		if line == "COMMIT" {
			if err := complete(next); err != nil {
				return fmt.Errorf("table %s: %w", t, err)
			}
			k.tables[t] = next
			if k.onCommit != nil {
				k.onCommit()
			}
			continue
		}
		if err := edit(next, line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	k.texts = append(k.texts, text)
	return nil
}

// edit does what one line of a restore says to a table.
func edit(in map[string][]string, line string) error {
	op, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(op, ":") {
		if len(op) > 29 {
			return errors.New("chain name too long")
		}
		in[op[1:]] = nil
		return nil
	}
	name, _, _ := strings.Cut(rest, " ")
	rules, ok := in[name]
	if !ok {
		return errors.New("no such chain")
	}
	switch op {
	case "-A":
		in[name] = append(rules[:len(rules):len(rules)], line)
	case "-I":
		in[name] = append([]string{"-A " + rest}, rules...)
	case "-D":
		i := slices.Index(rules, "-A "+rest)
		if i < 0 {
			return errors.New("no such rule")
		}
		in[name] = slices.Delete(slices.Clone(rules), i, i+1)
	case "-X":
		if len(rules) > 0 {
			return errors.New("chain is not empty")
		}
		delete(in, name)
	default:
		return errors.New("unknown command")
	}
	return nil
}

// complete says whether all chains that rules lead to are there.
func complete(in map[string][]string) error {
	builtin := strings.Fields("RETURN ACCEPT DROP REJECT MARK DNAT MASQUERADE")
	for name, rules := range in {
		for _, rule := range rules {
			if to := target(rule); in[to] == nil && !slices.Contains(builtin, to) {
				if _, ok := in[to]; !ok {
					return fmt.Errorf("%s leads to %q, which is not there: %s", name, to, rule)
				}
			}
		}
	}
	return nil
}

func (k *fakeKernel) exists(f fixture) (bool, error) {
	return slices.Contains(k.tables[f.table][f.chain], f.line()), nil
}

func (k *fakeKernel) openLocalhost(note func() error) error {
	if k.opened {
		return nil
	}
	err := note()
	k.opened = err == nil
	return err
}

func (k *fakeKernel) closeLocalhost() error { k.opened = false; return nil }

// text is what the tables hold, all but the chains that others made.
func (k *fakeKernel) text() string {
	out, _ := k.save()
	return out
}

// onFakes returns a Backend whose families have fakes for kernels.
func onFakes(node *plan.Node, opts Options) (*Backend, []*fakeKernel) {
	opts, err := opts.withDefaults()
	if err != nil {
		panic(err)
	}
	b := &Backend{opts: opts, node: node}
	var kernels []*fakeKernel
	for _, f := range opts.Families {
		k := newFakeKernel()
		have := features{randomFully: true, hairpin: true}
		kernels = append(kernels, k)
		b.families = append(b.families, &family{kernel: k, features: have, opts: &b.opts, layout: opts.layout(node, f, have)})
	}
	return b, kernels
}
