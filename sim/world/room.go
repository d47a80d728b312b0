package world

import (
	"slices"
	"strconv"
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
	if s.Spare == nil || count < len(s.Nodes) && s.named(s.Nodes[count:]) {
		return false
	}
	before := len(s.Nodes)
	nodes := slices.Clone(s.Nodes[:min(count, before)])
	for i := before; i < count; i++ {
		nodes = append(nodes, s.Spare.Node(i))
	}
	s.Nodes = nodes
	for i := range s.Traffic {
		if t := &s.Traffic[i]; t.Everywhere {
			t.Nodes = slices.Concat(t.Nodes, NodeNames(nodes[min(before, count):]))
		}
	}
	return true
}

// WithNodes returns the Scenario with another number of nodes; ok is false where they are those of the input, or one that would go
// is named.
func (s *Scenario) WithNodes(count int) (out *Scenario, ok bool) {
	out = s.Clone()
	return out, out.Resize(count)
}

// named says whether the Scenario says something of one of its last nodes.
func (s *Scenario) named(last []Node) bool {
	first := len(s.Nodes) - len(last)
	for i := range last {
		n := &last[i]
		if n.Watch != nil || n.ProxySync != nil || n.Proxy != s.Spare.Proxy || n.Zone != s.Spare.Node(first+i).Zone {
			return true
		}
		if slices.ContainsFunc(s.Traffic, func(t Traffic) bool { return slices.Contains(t.Nodes, n.Name) }) {
			return true
		}
		about := []string{n.Name, KubeProxyOf + n.Name, KubeletOf + n.Name}
		if slices.ContainsFunc(s.Actions, func(a Action) bool { return slices.Contains(about, a.Target()) }) {
			return true
		}
	}
	return false
}

// MadeUp is what nodes are made of that the input does not have.
type MadeUp struct {
	Zones []string
	Proxy Proxy
}

// Node is the node of a number, counted from 0.
func (m *MadeUp) Node(i int) Node {
	n := Node{Name: "node-" + strconv.Itoa(i+1), Proxy: m.Proxy}
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
	others := slices.DeleteFunc(NodeNames(nodes), func(name string) bool {
		return slices.Contains(drained, name) || t.Nodes != nil && !slices.Contains(t.Nodes, name)
	})
	if len(others) > 0 {
		t.Nodes, t.Everywhere = others, true
	}
}
