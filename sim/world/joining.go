package world

import (
	"cmp"
	"slices"
	"strings"
)

// CreateNode has a node join that nobody who takes nodes away has asked for: it is ready from then on.
type CreateNode struct {
	Node string // its name
	Like string // the node that it is made like, "" for the first
	Zone string // "" for that of the other
}

func (o CreateNode) words() (verb, target, value string) {
	var parts []string
	if o.Like != "" {
		parts = append(parts, "like="+o.Like)
	}
	if o.Zone != "" {
		parts = append(parts, "zone="+o.Zone)
	}
	return "createNode", o.Node, strings.Join(parts, " ")
}

// joining are the nodes that an action has join, made like those that stand.
func (s *Scenario) joining(a *Action, standing []Node) []Node {
	named := func(name string) Node {
		return standing[max(0, slices.IndexFunc(standing, func(n Node) bool { return n.Name == name }))]
	}
	if o, ok := a.Operation.(CreateNode); ok {
		n := named(o.Like).another(o.Node)
		n.Zone = cmp.Or(o.Zone, n.Zone)
		return []Node{n}
	}
	t, _ := s.TakingOf(a)
	var out []Node
	for k, name := range t.Joins {
		like := ""
		if k < len(t.Nodes) {
			like = t.Nodes[k]
		}
		out = append(out, named(like).another(name))
	}
	return out
}
