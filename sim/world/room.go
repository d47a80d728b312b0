package world

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// NodeNames lists the nodes' names.
func NodeNames(nodes []Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

// Pods counts the pods of all workloads.
func (s *Scenario) Pods() int {
	n := 0
	for i := range s.Workloads {
		n += s.Workloads[i].Replicas()
	}
	return n
}

// Resize has a Scenario have another number of made-up nodes, and says whether it can: not where
// one that would go is named.
func (s *Scenario) Resize(count int) bool {
	standing := s.Standing()
	before := len(standing)
	if s.Spare == nil || count < before && s.named(standing[count:], count) {
		return false
	}
	nodes := slices.Clone(standing[:min(count, before)])
	for i := before; i < count; i++ {
		nodes = append(nodes, s.Spare.Node(i))
	}
	s.Nodes = nodes
	s.CountDaemons()
	for i := range s.Traffic {
		if t := &s.Traffic[i]; t.Everywhere {
			t.Nodes = slices.Concat(t.Nodes, NodeNames(nodes[min(before, count):]))
		}
	}
	s.Muster()
	return true
}

// WithNodes returns the Scenario with another number of nodes; ok is false where they are those of the input, or one that would go
// is named.
func (s *Scenario) WithNodes(count int) (out *Scenario, ok bool) {
	out = s.Clone()
	return out, out.Resize(count)
}

// Muster gives the Scenario the nodes that its actions have join, and, where a whole pool is replaced, nodes of another pool for its
// clients. What there was of them before is made anew.
func (s *Scenario) Muster() {
	standing := s.Standing()
	s.Nodes = standing
	for i := range s.Actions {
		s.Nodes = append(slices.Clone(s.Nodes), s.joining(&s.Actions[i], standing)...)
		if s.allGo(s.Actions[i].Operation, standing) {
			s.Nodes = append(s.Nodes, s.apart(standing)...)
		}
	}
}

// allGo says whether an operation replaces each node that stands.
func (s *Scenario) allGo(o Operation, standing []Node) bool {
	switch o := o.(type) {
	case UpgradePool:
		return len(s.among(o.Nodes)) >= len(standing)
	case Consolidate: // one where it is that with most pods
		return o.Replacements > 0 && len(standing) <= max(1, len(o.Nodes))
	case SpotNotice:
		return o.Karpenter && len(standing) == 1
	default:
		return false
	}
}

// another is a node like this one, which joins during the run.
func (n Node) another(name string) Node {
	n.Name, n.Joins = name, true
	if n.Object != nil {
		n.Object = n.Object.DeepCopy()
		n.Object.Name, n.Object.Spec.Unschedulable = name, false
		if n.Object.Labels != nil {
			n.Object.Labels[corev1.LabelHostname] = name
		}
	}
	return n
}

// mostApart is how many nodes clients have for themselves, at most.
const mostApart = 3

// apart are the nodes of another pool, and puts the clients there that are pods and run anywhere: each of their own would go.
func (s *Scenario) apart(standing []Node) []Node {
	var out []Node
	for i := range min(mostApart, len(standing)) {
		n := standing[i]
		n.Name, n.Apart, n.Object = "clients-"+strconv.Itoa(i+1), true, nil
		out = append(out, n)
	}
	for i := range s.Traffic {
		if t := &s.Traffic[i]; !t.External && (t.Nodes == nil || t.Everywhere) {
			t.Nodes, t.Everywhere = NodeNames(out), false
		}
	}
	return out
}

// named says whether the Scenario says something of one of its last nodes, from the first of them on.
func (s *Scenario) named(last []Node, first int) bool {
	for i := range last {
		n := &last[i]
		if n.Watch != nil || n.ProxySync != nil || n.Proxy != s.Spare.Proxy || n.Zone != s.Spare.Node(first+i).Zone {
			return true
		}
		if slices.ContainsFunc(s.Traffic, func(t Traffic) bool { return slices.Contains(t.Nodes, n.Name) }) {
			return true
		}
		about := []string{n.Name, KubeProxyOf + n.Name, KubeletOf + n.Name}
		if slices.ContainsFunc(s.Actions, func(a Action) bool {
			return slices.Contains(about, a.Target()) || slices.Contains(LeavingNodes(a.Operation), n.Name)
		}) {
			return true
		}
	}
	return false
}

// MadeUp is what nodes are made of that the input does not have.
type MadeUp struct {
	Zones []string
	Proxy Proxy
	Has   map[corev1.ResourceName]int64 // Node.Has
}

// Node is the node of a number, counted from 0.
func (m *MadeUp) Node(i int) Node {
	n := Node{Name: "node-" + strconv.Itoa(i+1), Proxy: m.Proxy, Has: m.Has}
	if len(m.Zones) > 0 {
		n.Zone = m.Zones[i%len(m.Zones)]
	}
	return n
}

// TakeOff takes the clients of a stream inside of the cluster off nodes that are drained: they are pods, too. Where a Scenario says
// on which nodes they run they stay, as pods of a DaemonSet do; and where there is no other node.
func TakeOff(t *Traffic, nodes []Node, drained []string) {
	if t.External || t.Nodes != nil && !t.Everywhere {
		return
	}
	var others []string
	for _, n := range nodes {
		if !n.Joins && !slices.Contains(drained, n.Name) && (t.Nodes == nil || slices.Contains(t.Nodes, n.Name)) {
			others = append(others, n.Name)
		}
	}
	if len(others) > 0 {
		t.Nodes, t.Everywhere = others, true
	}
}
