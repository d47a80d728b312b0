package iptables

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// state is what the tables of one family hold of Services. It turns a change of the Plan into
// a change of chains.
type state struct {
	layout   layout
	services map[endpoints.ServiceName]serviceRules
	rules    counts
}

// newState returns the state of a whole Plan.
func newState(l layout, p *plan.Plan) *state {
	s := &state{layout: l, services: make(map[endpoints.ServiceName]serviceRules, p.Len()), rules: counts{}}
	s.countStatic()
	for svc := range p.Services() {
		r := l.service(p, svc)
		s.services[svc.Name] = r
		s.count(r, 1)
	}
	return s
}

// change is what differs between two states, with the text of what is new.
type change struct {
	chains []chain  // new and different ones of Services, by name
	gone   []string // chains of Services, by name
	shared [numShared]sharedChange
}

// sharedChange is what differs in a shared chain.
type sharedChange struct {
	text    string // the whole chain, where something differs
	added   string // lines that were not there
	removed bool   // some lines are not there any more
}

func (c *sharedChange) empty() bool { return c.added == "" && !c.removed }

func (c *change) empty() bool {
	for i := range c.shared {
		if !c.shared[i].empty() {
			return false
		}
	}
	return len(c.chains) == 0 && len(c.gone) == 0
}

// affected names the Services whose rules a delta may change: those it names, and those that
// lose or inherit an address.
func affected(d *plan.Delta) []endpoints.ServiceName {
	out := slices.Clone(d.Services)
	for i := range d.Frontends {
		for _, f := range []*plan.Frontend{d.Frontends[i].Old, d.Frontends[i].New} {
			if f != nil {
				out = append(out, f.Service.ServiceName)
			}
		}
	}
	slices.SortFunc(out, endpoints.ServiceName.Compare)
	return slices.Compact(out)
}

// update brings the state to a Plan that differs from the last one in the named Services.
func (s *state) update(p *plan.Plan, some []endpoints.ServiceName) *change {
	c := &change{}
	for _, name := range some {
		was, is := s.services[name], s.layout.service(p, p.Service(name))
		if p.Service(name) == nil {
			delete(s.services, name)
		} else {
			s.services[name] = is
		}
		s.count(was, -1)
		s.count(is, 1)
		c.compareChains(was.chains, is.chains)
		for i := range is.lines {
			c.shared[i].compare(was.lines[i], is.lines[i])
		}
	}
	slices.SortFunc(c.chains, func(a, b chain) int { return cmp.Compare(a.name, b.name) })
	slices.Sort(c.gone)
	for i := range numShared {
		if !c.shared[i].empty() {
			c.shared[i].text = s.sharedText(p, i)
		}
	}
	return c
}

// compareChains adds what differs between two lists that are sorted by name.
func (c *change) compareChains(was, is []chain) {
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].name < is[0].name:
			c.gone = append(c.gone, was[0].name)
			was = was[1:]
		case len(was) == 0 || is[0].name < was[0].name:
			c.chains = append(c.chains, is[0])
			is = is[1:]
		default:
			if was[0].text != is[0].text {
				c.chains = append(c.chains, is[0])
			}
			was, is = was[1:], is[1:]
		}
	}
}

func (c *sharedChange) compare(was, is string) {
	if was == is {
		return
	}
	old, next := strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n")
	for _, line := range next {
		if !slices.Contains(old, line) {
			c.added += line
		}
	}
	missing := func(line string) bool { return !slices.Contains(next, line) }
	c.removed = c.removed || slices.ContainsFunc(old, missing)
}

// sharedText is the whole text of a shared chain: the Services' lines in the order of their
// names.
func (s *state) sharedText(p *plan.Plan, in shared) string {
	var b strings.Builder
	for svc := range p.Services() {
		b.WriteString(s.services[svc.Name].lines[in])
	}
	if in == natServices {
		b.WriteString(s.layout.lastServices())
	}
	return b.String()
}

// chains lists all chains of a table that hold rules of ours, by name.
func (s *state) chains(p *plan.Plan, t table) []chain {
	out := s.layout.static(t)
	for _, in := range inTable(t) {
		out = append(out, chain{s.layout.sharedName(in), s.sharedText(p, in)})
	}
	if t == nat {
		for _, r := range s.services { // order: sorted below
			out = append(out, r.chains...)
		}
	}
	slices.SortFunc(out, func(a, b chain) int { return cmp.Compare(a.name, b.name) })
	return out
}

// size is the number of chains in nat, which is what iptables-nft's time grows with.
func (s *state) size() int {
	n := 0
	for _, r := range s.services { // order: a sum does not depend on it
		n += len(r.chains)
	}
	return n
}
