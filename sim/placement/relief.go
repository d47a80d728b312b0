package placement

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/selection"
)

// Relief is a change that may let a pod find a node.
type Relief uint8

// The changes.
const (
	HonorTaints Relief = iota // nodeTaintsPolicy Honor in each of its topology spread constraints
	ByRevision                // pod-template-hash among the matchLabelKeys of each of them
	Anyway                    // none of them has to be met
	Uncordon                  // no node is cordoned
	OneFewer                  // one of the other pods of the group has gone
)

// Relieves says whether a change lets a pod of a Kind find a node, with nothing else changed.
func (c *Cluster) Relieves(k *Kind, r Relief) bool {
	changed := *k
	changed.hard = slices.Clone(k.hard)
	for i := range changed.hard {
		h := &changed.hard[i]
		switch r {
		case HonorTaints:
			h.tolerated = true
		case ByRevision:
			h.selector = alike(h.selector, []string{appsv1.DefaultDeploymentUniqueLabelKey}, selection.In, k.labels)
		default:
		}
	}
	switch r {
	case Anyway:
		changed.hard = nil
	case OneFewer:
		return c.oneFewer(k)
	case Uncordon:
		return c.uncordoned(k)
	default:
	}
	return c.anyFits(&changed)
}

func (c *Cluster) anyFits(k *Kind) bool {
	t := c.Try(k)
	for n := range c.nodes {
		if t.Fits(n) {
			return true
		}
	}
	return false
}

// oneFewer tries it without each of the pods of the group in turn.
func (c *Cluster) oneFewer(k *Kind) bool {
	for _, other := range c.kinds {
		if other.Group != k.Group {
			continue
		}
		for n := range c.nodes {
			if other.on[n] == 0 {
				continue
			}
			c.Count(other, n, false, -1)
			fits := c.anyFits(k)
			c.Count(other, n, false, 1)
			if fits {
				return true
			}
		}
	}
	return false
}

func (c *Cluster) uncordoned(k *Kind) bool {
	before := slices.Clone(c.nodes)
	for n := range c.nodes {
		c.nodes[n].cordoned = false
	}
	fits := c.anyFits(k)
	c.nodes = before
	return fits
}
