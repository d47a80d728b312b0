package placement

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// constraint is one of a pod's topologySpreadConstraints (Kubernetes 1.36
// pkg/scheduler/framework/plugins/podtopologyspread; verified).
type constraint struct {
	key        string
	index      int // in the pod's list
	maxSkew    int
	minDomains int
	selector   labels.Selector
	alike      bool // nodes that the pod's node affinity does not admit are no domains (nodeAffinityPolicy Honor, the default)
	tolerated  bool // nor are nodes with a taint that it does not tolerate (nodeTaintsPolicy Honor)
}

// constraintsOf reads the constraints that a pod's node has to meet, or those that only count.
func constraintsOf(pod *corev1.PodSpec, when corev1.UnsatisfiableConstraintAction, own labels.Set) []constraint {
	var out []constraint
	for i := range pod.TopologySpreadConstraints {
		if t := &pod.TopologySpreadConstraints[i]; t.WhenUnsatisfiable == when {
			out = append(out, newConstraint(t, i, own))
		}
	}
	return out
}

func newConstraint(t *corev1.TopologySpreadConstraint, index int, own labels.Set) constraint {
	c := constraint{
		key: t.TopologyKey, index: index, maxSkew: int(t.MaxSkew), minDomains: 1, alike: true,
		selector: alike(selectorOf(t.LabelSelector), t.MatchLabelKeys, selection.In, own),
	}
	if t.MinDomains != nil {
		c.minDomains = int(*t.MinDomains)
	}
	if p := t.NodeAffinityPolicy; p != nil {
		c.alike = *p == corev1.NodeInclusionPolicyHonor
	}
	if p := t.NodeTaintsPolicy; p != nil {
		c.tolerated = *p == corev1.NodeInclusionPolicyHonor
	}
	return c
}

// defaultConstraints are what counts for pods without any (the scheduler's systemDefaultConstraints); they count the pods that
// a selector matches.
func defaultConstraints(selector labels.Selector) []constraint {
	if selector == nil || selector.Empty() {
		return nil
	}
	return []constraint{
		{key: corev1.LabelHostname, index: -1, maxSkew: 3, selector: selector, alike: true},
		{key: corev1.LabelTopologyZone, index: -1, maxSkew: 5, selector: selector, alike: true},
	}
}

// counts says whether pods of another Kind count for a constraint. An empty selector matches every pod, and counts none.
func (c *constraint) counts(namespace string, other *Kind) bool {
	return other.Namespace == namespace && !c.selector.Empty() && c.selector.Matches(other.labels)
}

// domains are the values of a constraint's topologyKey, with the pods that count in each.
type domains struct {
	pods  map[string]int
	least int // pods in the domain with the fewest
}

// domainsOf counts the pods of each domain: over all nodes that have the keys of all constraints, and that the constraint's
// policies let count. Pods that terminate do not count.
func (c *Cluster) domainsOf(k *Kind, all []constraint) []domains {
	out := make([]domains, len(all))
	counting := make([][]*Kind, len(all))
	for i := range all {
		out[i].pods = map[string]int{}
		for _, other := range c.kinds {
			if all[i].counts(k.Namespace, other) {
				counting[i] = append(counting[i], other)
			}
		}
	}
	for n := range c.nodes {
		if c.nodes[n].gone() || !c.hasKeys(n, all) {
			continue
		}
		for i := range all {
			if !c.eligible(k, n, &all[i]) {
				continue
			}
			value, _ := c.nodes[n].Label(all[i].key)
			pods := out[i].pods[value]
			for _, other := range counting[i] {
				pods += other.on[n] - other.leaving[n]
			}
			out[i].pods[value] = pods
		}
	}
	for i := range out {
		out[i].least = least(out[i].pods, all[i].minDomains)
	}
	return out
}

// least is the number of pods in the domain with the fewest: none where there are fewer domains than there have to be.
func least(pods map[string]int, minDomains int) int {
	if len(pods) < minDomains {
		return 0
	}
	first, fewest := true, 0
	for _, n := range pods { // order: the least of all
		if first || n < fewest {
			first, fewest = false, n
		}
	}
	return fewest
}

func (c *Cluster) hasKeys(n int, all []constraint) bool {
	for i := range all {
		if _, ok := c.nodes[n].Label(all[i].key); !ok {
			return false
		}
	}
	return true
}

// eligible says whether a constraint's policies let a node be part of a domain.
func (c *Cluster) eligible(k *Kind, n int, t *constraint) bool {
	at := &c.nodes[n]
	return !(t.alike && k.unlike[n]) && (!t.tolerated || !at.marked && world.Tolerates(k.spec.Tolerations, at.barring()))
}

// skewed is the first constraint that a node does not meet for a pod, -1 for none; labelled is false where it has no such label.
func (t *Cycle) skewed(n int) (broken int, labelled bool) {
	for i := range t.k.hard {
		h := &t.k.hard[i]
		value, ok := t.c.nodes[n].Label(h.key)
		if !ok {
			return i, false
		}
		own := 0
		if h.selector.Matches(t.k.labels) {
			own = 1
		}
		if t.spread[i].pods[value]+own-t.spread[i].least > h.maxSkew {
			return i, true
		}
	}
	return -1, true
}
