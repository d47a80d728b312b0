package iptables

import (
	"bufio"
	"fmt"
	"io"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Dump writes the rules of a Plan as iptables-restore and ip6tables-restore take them: what
// Apply would load on a machine that has all that rules may use, without one. Each family is
// announced by a comment. The same Plan gives the same text.
func Dump(w io.Writer, p *plan.Plan, opts Options) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	if err := checkNode(p.Node()); err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	out := bufio.NewWriter(w)
	for _, f := range opts.Families {
		l := opts.layout(p.Node(), f, features{randomFully: true, hairpin: true})
		fmt.Fprintf(out, "# %s: %s\n", f, restoreTool(f))
		newState(l, p).dump(out, p)
	}
	return out.Flush()
}

// dump writes all tables, each as one transaction, with the rules that lead to our chains in
// the order in which packets meet them.
func (s *state) dump(w io.Writer, p *plan.Plan) {
	fixtures := s.layout.fixtures()
	for _, t := range tables() {
		fmt.Fprintf(w, "*%s\n", t)
		have := map[string]bool{}
		chains := s.chains(p, t)
		for _, c := range chains {
			have[c.name] = true
			fmt.Fprintf(w, ":%s - [0:0]\n", c.name)
		}
		for _, name := range s.layout.base(t) {
			if !have[name] {
				fmt.Fprintf(w, ":%s - [0:0]\n", name)
			}
		}
		for i := range fixtures {
			if x := fixtures[len(fixtures)-1-i]; x.table == t {
				fmt.Fprintln(w, x.line())
			}
		}
		for _, c := range chains {
			fmt.Fprintf(w, "%s", c.text)
		}
		fmt.Fprintln(w, "COMMIT")
	}
}
