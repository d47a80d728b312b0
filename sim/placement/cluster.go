package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Cluster is the nodes, and how many pods of each Kind are on them.
type Cluster struct {
	nodes     []node
	kinds     []*Kind
	known     Namespaces
	resources []corev1.ResourceName // those that any pod asks for
	groups    [][]int               // pods by group and node
	asked     bool                  // a pod asks for CPU or memory
}

// node is one of them.
type node struct {
	world.Node
	taints, soft []corev1.Taint // those that keep pods off it, and those that only count
	cordoned     bool
	lapse        []corev1.Taint // those that it has for not being ready
	marked       bool           // it has a taint by who takes it away, which no pod tolerates
	left         bool
	absent       bool    // it has not joined, or is none that pods of the Scenario go to
	pods, most   int     // most is how many it takes, unlimited for any number
	room, used   []int64 // by resource; unlimited is as much as anybody asks for
	ports        map[world.HostPort]int

	requested, forScores [2]int64 // CPU and memory of its pods: what they ask for, and as scores count it
	has                  [2]int64 // the same of the node, 0 where it does not say
}

const unlimited = -1

// New is a cluster without pods.
func New(nodes []world.Node, known Namespaces) *Cluster {
	c := &Cluster{known: known}
	for i := range nodes {
		c.AddNode(&nodes[i])
	}
	return c
}

// AddNode adds a node, whose number is the next.
func (c *Cluster) AddNode(of *world.Node) {
	n := node{Node: *of, ports: map[world.HostPort]int{}, most: unlimited, absent: of.Joins || of.Apart}
	if o := of.Object; o != nil {
		n.cordoned, n.taints = o.Spec.Unschedulable, world.TaintsOf(o)
		for _, t := range o.Spec.Taints {
			if t.Effect == corev1.TaintEffectPreferNoSchedule {
				n.soft = append(n.soft, t)
			}
		}
	}
	if pods, said := of.Allocatable(corev1.ResourcePods); said {
		n.most = int(pods)
	}
	for i, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, said := of.Allocatable(name); said {
			n.has[i] = amount
		}
	}
	for _, name := range c.resources {
		n.learn(name)
	}
	c.nodes = append(c.nodes, n)
	for g := range c.groups {
		c.groups[g] = append(c.groups[g], 0)
	}
	for _, k := range c.kinds {
		k.on, k.leaving = append(k.on, 0), append(k.leaving, 0)
		k.unlike = append(k.unlike, !world.Admits(k.spec, of.Object))
	}
}

// learn has a node say how much it has of one more resource.
func (n *node) learn(name corev1.ResourceName) {
	amount, said := n.Allocatable(name)
	if !said {
		amount = unlimited
	}
	n.room, n.used = append(n.room, amount), append(n.used, 0)
}

// resource numbers a resource.
func (c *Cluster) resource(name corev1.ResourceName) int {
	if i := slices.Index(c.resources, name); i >= 0 {
		return i
	}
	c.resources = append(c.resources, name)
	for i := range c.nodes {
		c.nodes[i].learn(name)
	}
	return len(c.resources) - 1
}

// Cordon says that a node is cordoned, or no longer.
func (c *Cluster) Cordon(node int, cordoned bool) { c.nodes[node].cordoned = cordoned }

// Mark says that a node has a taint by who takes it away, or no longer.
func (c *Cluster) Mark(node int, marked bool) { c.nodes[node].marked = marked }

// Bar says which taints a node has for not being ready.
func (c *Cluster) Bar(node int, taints []corev1.Taint) { c.nodes[node].lapse = taints }

// Join has a node be part of the cluster that was not.
func (c *Cluster) Join(node int) { c.nodes[node].absent = c.nodes[node].Apart }

// Leave has no further pod come to a node, which is no part of a domain any more.
func (c *Cluster) Leave(node int) { c.nodes[node].left = true }

// unschedulable is the taint of a node that is cordoned, which a pod may tolerate (Kubernetes 1.36
// pkg/scheduler/framework/plugins/nodeunschedulable; verified).
var unschedulable = [1]corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

// gone says that a node is no part of the cluster, or about to be none.
func (n *node) gone() bool { return n.left || n.absent }

// barring are the taints that keep pods off a node, its cordon's among them.
func (n *node) barring() []corev1.Taint {
	if !n.cordoned && len(n.lapse) == 0 {
		return n.taints
	}
	out := slices.Concat(n.taints, n.lapse)
	if n.cordoned {
		out = append(out, unschedulable[0])
	}
	return out
}

// Count has a pod of a Kind be on a node, or with more -1 no longer; leaving says that it terminates.
func (c *Cluster) Count(k *Kind, at int, leaving bool, more int) {
	n := &c.nodes[at]
	k.on[at] += more
	if leaving {
		k.leaving[at] += more
	}
	c.groups[k.Group][at] += more
	n.pods += more
	for _, r := range k.requests {
		n.used[r.resource] += int64(more) * r.Amount
	}
	for i, amount := range [...]int64{k.asks(corev1.ResourceCPU), k.asks(corev1.ResourceMemory)} {
		n.requested[i] += int64(more) * amount
		n.forScores[i] += int64(more) * [...]int64{k.cpu, k.memory}[i]
	}
	for _, port := range k.ports {
		if n.ports[port] += more; n.ports[port] == 0 {
			delete(n.ports, port)
		}
	}
}

// Has says how many pods of a group are on a node, and whether it takes further ones for all that is known of the node itself.
func (c *Cluster) Has(group, node int) (pods int, open bool) {
	if group < len(c.groups) {
		pods = c.groups[group][node]
	}
	n := &c.nodes[node]
	return pods, !n.cordoned && !n.marked && !n.left && !n.absent
}
