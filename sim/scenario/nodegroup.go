package scenario

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Which nodes of the input are managed together: only one pool is upgraded, or disrupted by its budget, at a time.

// nodePoolLabel is how Karpenter names the NodePool of a node (https://karpenter.sh/docs/concepts/nodepools/).
const nodePoolLabel = "karpenter.sh/nodepool"

// managedPools are the labels by which providers name the managed pool of a node.
var managedPools = []struct{ label, provider string }{
	{"cloud.google.com/gke-nodepool", world.PoolGKE},
	{"eks.amazonaws.com/nodegroup", world.PoolEKS},
	{"kubernetes.azure.com/agentpool", world.PoolAKS},
	{"agentpool", world.PoolAKS}, // older clusters
}

// managedPool is the pool that a node says it is of, and whose that is: name is "" where it says none.
func managedPool(n *corev1.Node) (name, label, provider string) {
	for _, p := range managedPools {
		if name := n.Labels[p.label]; name != "" {
			return name, p.label, p.provider
		}
	}
	return "", "", ""
}

// providerOf is whose cluster some nodes are of, "aws", "gce", "azure" or another that a providerID begins with, by which Node, and what of it
// says so: the first that has a providerID, else the first that is labelled as of a managed pool. All are "" where none says it.
func providerOf(nodes []manifest.Typed[*corev1.Node]) (provider, node, why string) {
	for _, n := range nodes {
		if name, _, ok := strings.Cut(n.Value.Spec.ProviderID, "://"); ok {
			return name, n.Name, "providerID " + name + " of Node " + n.Name
		}
	}
	clouds := map[string]string{world.PoolGKE: "gce", world.PoolEKS: "aws", world.PoolAKS: "azure"}
	for _, n := range nodes {
		if _, label, pool := managedPool(n.Value); label != "" {
			return clouds[pool], n.Name, "label " + label + " of Node " + n.Name
		}
	}
	return "", "", ""
}

// karpenterPool is the NodePool that a node says it is of, "" for none.
func karpenterPool(n *corev1.Node) string { return n.Labels[nodePoolLabel] }

// nodeGroup is a pool: its name and its nodes. The zero nodeGroup is that of nodes of which nothing says one.
type nodeGroup struct {
	name       string
	nodes      []string
	pods, open int  // of a workload: so many are there, and on so many nodes they may run
	known      bool // the input says where its pods are
}

// foreign says that it is the pool of others: no pod of the workload is there, or may be where the input does not say where they are.
func (g *nodeGroup) foreign() bool { return g.name != "" && g.pods == 0 && (g.known || g.open == 0) }

// groupFor is the pool with most pods of a workload; where the input does not say where they are that with most nodes on which they may run. Of
// several it is the first.
func (b *builder) groupFor(o *owner, poolOf func(*corev1.Node) string) nodeGroup {
	var groups []nodeGroup
	known := false
	for _, n := range b.world.nodes {
		pods := b.world.podsOn(o, n.Name)
		known = known || pods > 0
		name := poolOf(n.Value)
		if name == "" {
			continue
		}
		at := slices.IndexFunc(groups, func(g nodeGroup) bool { return g.name == name })
		if at < 0 {
			at, groups = len(groups), append(groups, nodeGroup{name: name})
		}
		g := &groups[at]
		g.nodes = append(g.nodes, n.Name)
		g.pods += pods
		if mayRunOn(&o.template.Spec, n.Value) {
			g.open++
		}
	}
	if len(groups) == 0 {
		return nodeGroup{}
	}
	g := slices.MaxFunc(groups, func(x, y nodeGroup) int { return cmp.Or(cmp.Compare(x.pods, y.pods), cmp.Compare(x.open, y.open)) })
	g.known = known
	return g
}

// podsOn counts the pods of a workload that the input has on a node.
func (w *inventory) podsOn(o *owner, node string) int {
	count := 0
	for i := range w.pods {
		if p := &w.pods[i]; p.owned(o.kind, o.namespace, o.name) && !p.over() && p.node() == node {
			count++
		}
	}
	return count
}

func mayRunOn(pod *corev1.PodSpec, n *corev1.Node) bool {
	return world.Admits(pod, n) && world.Tolerates(pod.Tolerations, world.TaintsOf(n))
}

// nodePool is the NodePool by which Karpenter disrupts the nodes of a workload, nil where the input does not have it: that which the nodes are
// labelled with, else the first whose nodes would take its pods.
func (b *builder) nodePool(o *owner) (*manifest.Object, nodeGroup) {
	pools, g := b.world.nodePools, b.groupFor(o, karpenterPool)
	is := func(p *manifest.Object) bool { return p.Name == g.name }
	if g.name == "" {
		is = func(p *manifest.Object) bool { return mayRunOn(&o.template.Spec, nodeOf(p)) }
	}
	if i := slices.IndexFunc(pools, is); i >= 0 {
		return pools[i], g
	}
	if g.name == "" && len(pools) > 0 {
		return pools[0], g
	}
	return nil, g
}

// nodeOf is a node as a NodePool has them made, as far as its template says: a requirement with one value is a label.
func nodeOf(p *manifest.Object) *corev1.Node {
	n := &corev1.Node{}
	n.Labels = map[string]string{nodePoolLabel: p.Name}
	if labels, ok := rawAt(p.Value, "spec", "template", "metadata", "labels").(map[string]any); ok {
		for key := range labels { // order: each once
			n.Labels[key] = rawText(labels, key)
		}
	}
	for _, r := range rawList(p.Value, "spec", "template", "spec", "requirements") {
		if values, ok := rawAt(r, "values").([]any); ok && len(values) == 1 && rawText(r, "operator") == string(corev1.NodeSelectorOpIn) {
			if value, ok := values[0].(string); ok {
				n.Labels[rawText(r, "key")] = value
			}
		}
	}
	for _, t := range rawList(p.Value, "spec", "template", "spec", "taints") {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: rawText(t, "key"), Value: rawText(t, "value"), Effect: corev1.TaintEffect(rawText(t, "effect")),
		})
	}
	return n
}
