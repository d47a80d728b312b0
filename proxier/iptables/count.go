package iptables

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// counts are numbers of rules by table.
type counts map[table]int

// rulesIn counts the rules that a text for iptables-restore writes.
func rulesIn(text string) counts {
	out, in := counts{}, ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "*"):
			in = strings.TrimSpace(line[1:])
		case strings.HasPrefix(line, "-A "):
			for _, t := range tables() {
				if t.String() == in {
					out[t]++
				}
			}
		}
	}
	return out
}

// count adds the rules of a Service n times: -1 for one that goes.
func (s *state) count(r serviceRules, n int) {
	for _, c := range r.chains {
		s.rules[nat] += n * c.size()
	}
	for in := range numShared {
		s.rules[in.table()] += n * strings.Count(r.lines[in], "\n")
	}
}

// countStatic adds the rules that are there without any Service.
func (s *state) countStatic() {
	for _, t := range tables() {
		for _, c := range s.layout.static(t) {
			s.rules[t] += c.size()
		}
	}
	s.rules[nat] += strings.Count(s.layout.lastServices(), "\n")
}

// write has the kernel change what a text names, and counts it.
func (f *family) write(text string) error {
	f.written = rulesIn(text)
	return f.kernel.restore(text)
}

// Rules returns how many rules the Backend has in a table of a family, "nat" or "filter", and how many of them it wrote in its
// last call. Rules that lead to its chains are not counted, as in kube-proxy.
func (b *Backend) Rules(family endpoints.IPFamily, name string) (total, written int) {
	for _, f := range b.families {
		for _, t := range tables() {
			if f.layout.family == family && t.String() == name && f.state != nil {
				return f.state.rules[t], f.written[t]
			}
		}
	}
	return 0, 0
}

// PartialFailures counts the changes of a family that could not be made, so that all rules were written instead.
func (b *Backend) PartialFailures(family endpoints.IPFamily) int {
	for _, f := range b.families {
		if f.layout.family == family {
			return f.partialFailures
		}
	}
	return 0
}

// familyError is what went wrong with one family.
type familyError struct {
	family endpoints.IPFamily
	err    error
}

func (e *familyError) Error() string { return fmt.Sprintf("iptables: %s: %v", e.family, e.err) }

// Unwrap returns what went wrong.
func (e *familyError) Unwrap() error { return e.err }

// Family returns with which family.
func (e *familyError) Family() endpoints.IPFamily { return e.family }
