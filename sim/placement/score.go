package placement

import (
	"math"
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The scores of nodes that a pod may run on (Kubernetes 1.36 pkg/scheduler/framework/plugins; verified). Each is from 0 to
// mostScore and has a weight. They are computed in whole numbers, also where the scheduler does so in floating point.
const (
	mostScore = 100

	weightOfTaints   = 3
	weightOfNodes    = 2
	weightOfFit      = 1
	weightOfSpread   = 2
	weightOfAffinity = 2
	weightOfBalance  = 1

	// requiredWeight is what required affinity of pods that are there counts for (hardPodAffinityWeight).
	requiredWeight = 1
)

// scored says whether anything of the input tells nodes apart that a pod may run on: preferences, or requests on nodes that say what
// they have.
func (t *Cycle) scored() bool {
	if len(t.k.Spec.TopologySpreadConstraints) > 0 && len(t.k.soft) > 0 || len(t.k.prefer) > 0 || len(t.k.nodes) > 0 {
		return true
	}
	for _, other := range t.c.kinds {
		for i := range other.prefer {
			if other.prefer[i].of(t.k, t.c.known) {
				return true
			}
		}
		for i := range other.near {
			if other != t.k && other.near[i].of(t.k, t.c.known) {
				return true
			}
		}
	}
	for n := range t.c.nodes {
		if len(t.c.nodes[n].soft) > 0 || t.c.asked && t.c.nodes[n].has != [2]int64{} {
			return true
		}
	}
	return false
}

// scores adds up what the plugins make of some nodes.
func (t *Cycle) scores(nodes []int) []int64 {
	out := make([]int64, len(nodes))
	for _, p := range []struct {
		weight int64
		score  func([]int) []int64
	}{
		{weightOfTaints, t.byTaints}, {weightOfNodes, t.byNodeAffinity}, {weightOfFit, t.byFit},
		{weightOfSpread, t.bySpread}, {weightOfAffinity, t.byAffinity}, {weightOfBalance, t.byBalance},
	} {
		for i, s := range p.score(nodes) {
			out[i] += p.weight * s
		}
	}
	return out
}

// each scores nodes one by one.
func (t *Cycle) each(nodes []int, score func(n int) int64) []int64 {
	out := make([]int64, len(nodes))
	for i, n := range nodes {
		out[i] = score(n)
	}
	return out
}

// normal scales scores to 0..mostScore by the highest; reverse has the highest be the worst.
func normal(scores []int64, reverse bool) []int64 {
	most := int64(0)
	for _, s := range scores {
		most = max(most, s)
	}
	for i := range scores {
		if most > 0 {
			scores[i] = mostScore * scores[i] / most
		}
		if reverse {
			scores[i] = mostScore - scores[i]
		}
	}
	return scores
}

// byTaints counts the taints PreferNoSchedule that the pod does not tolerate: fewer are better.
func (t *Cycle) byTaints(nodes []int) []int64 {
	return normal(t.each(nodes, func(n int) int64 {
		count := int64(0)
		for i := range t.c.nodes[n].soft {
			if !world.Tolerates(t.k.spec.Tolerations, t.c.nodes[n].soft[i:i+1]) {
				count++
			}
		}
		return count
	}), true)
}

// byNodeAffinity adds up the weights of the preferred terms of node affinity that a node meets.
func (t *Cycle) byNodeAffinity(nodes []int) []int64 {
	return normal(t.each(nodes, func(n int) int64 {
		sum := int64(0)
		for i := range t.k.nodes {
			if world.Meets(&t.k.nodes[i].Preference, t.c.nodes[n].Object) {
				sum += int64(t.k.nodes[i].Weight)
			}
		}
		return sum
	}), false)
}

// byFit is better the more of CPU and memory is left (LeastAllocated).
func (t *Cycle) byFit(nodes []int) []int64 {
	return t.each(nodes, func(n int) int64 {
		sum, weight := int64(0), int64(0)
		for _, r := range t.c.nodes[n].shares(t.k.cpu, t.k.memory, true) {
			weight++
			if r.used <= r.room {
				sum += (r.room - r.used) * mostScore / r.room
			}
		}
		return sum / max(weight, 1)
	})
}

// share is how much of a resource a node would have used.
type share struct{ used, room int64 }

// shares are those of CPU and memory with more of them used, as far as a node says what it has: by the amounts for scores, or by
// the requests themselves.
func (n *node) shares(cpu, memory int64, forScores bool) []share {
	used := n.requested
	if forScores {
		used = n.forScores
	}
	var out []share
	for i, extra := range [...]int64{cpu, memory} {
		if n.has[i] > 0 {
			out = append(out, share{used[i] + extra, n.has[i]})
		}
	}
	return out
}

// byBalance is better the closer the parts of CPU and memory that are used come to each other by the pod
// (NodeResourcesBalancedAllocation).
func (t *Cycle) byBalance(nodes []int) []int64 {
	cpu, memory := t.k.asks(corev1.ResourceCPU), t.k.asks(corev1.ResourceMemory)
	if cpu+memory == 0 {
		return make([]int64, len(nodes))
	}
	return t.each(nodes, func(n int) int64 {
		at := &t.c.nodes[n]
		return mostScore/2 + (mostScore/2+balance(at.shares(cpu, memory, false))-balance(at.shares(0, 0, false)))/2
	})
}

// balance is mostScore less half the difference of two parts.
func balance(all []share) int64 {
	if len(all) < 2 {
		return mostScore
	}
	var parts [2]int64
	for i, s := range all[:2] {
		parts[i] = part(min(s.used, s.room), s.room)
	}
	apart := max(parts[0]-parts[1], parts[1]-parts[0])
	return (mostScore*million - mostScore/2*apart) / million
}

const million = 1_000_000

// part is how much of a whole something is, in millionths.
func part(some, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(some), million)
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}

// asks is how much the pods ask for of a resource.
func (k *Kind) asks(name corev1.ResourceName) int64 {
	for i := range k.requests {
		if k.requests[i].Name == name {
			return k.requests[i].Amount
		}
	}
	return 0
}

// bySpread is better the fewer pods the constraints that only count find near a node; with the pod's own constraints a node has to
// have all their labels.
func (t *Cycle) bySpread(nodes []int) []int64 {
	soft := t.k.soft
	if len(soft) == 0 {
		return make([]int64, len(nodes))
	}
	counted := func(n int) bool { return len(t.k.Spec.TopologySpreadConstraints) == 0 || t.c.hasKeys(n, soft) }
	weights := t.weights(nodes, counted)
	pods := t.c.spreadOf(t.k, soft, counted)
	scores := t.each(nodes, func(n int) int64 {
		if !counted(n) {
			return -1
		}
		sum := int64(0)
		for i := range soft {
			if value, ok := t.c.nodes[n].Label(soft[i].key); ok {
				sum += int64(pods[i](n, value))*weights[i] + int64(soft[i].maxSkew-1)<<32
			}
		}
		return (sum + 1<<31) >> 32
	})
	return spreadScores(scores)
}

// spreadScores scales numbers of pods, less than 0 for nodes that do not count, to scores.
func spreadScores(scores []int64) []int64 {
	least, most := int64(math.MaxInt64), int64(0)
	for _, s := range scores {
		if s >= 0 {
			least, most = min(least, s), max(most, s)
		}
	}
	for i, s := range scores {
		switch {
		case s < 0:
			scores[i] = 0
		case most == 0:
			scores[i] = mostScore
		default:
			scores[i] = mostScore * (most + least - s) / most
		}
	}
	return scores
}

// weights are what a pod counts in a domain of each constraint, in Q32: more where there are more domains among some nodes.
func (t *Cycle) weights(nodes []int, counted func(int) bool) []int64 {
	var out []int64
	for i := range t.k.soft {
		values, hosts := map[string]bool{}, 0
		for _, n := range nodes {
			if counted(n) {
				value, _ := t.c.nodes[n].Label(t.k.soft[i].key)
				values[value] = true
				hosts++
			}
		}
		size := len(values)
		if t.k.soft[i].key == corev1.LabelHostname {
			size = hosts
		}
		out = append(out, engine.Ln(uint64(size+2)))
	}
	return out
}

// spreadOf counts the pods of each constraint's domains; those of a node's own are counted whatever the policies say.
func (c *Cluster) spreadOf(k *Kind, all []constraint, counted func(int) bool) []func(n int, value string) int {
	var out []func(int, string) int
	for i := range all {
		one := &all[i]
		on := func(n int) int {
			pods := 0
			for _, other := range c.kinds {
				if one.counts(k.Namespace, other) {
					pods += other.on[n] - other.leaving[n]
				}
			}
			return pods
		}
		if one.key == corev1.LabelHostname {
			out = append(out, func(n int, _ string) int { return on(n) })
			continue
		}
		pods := map[string]int{}
		for n := range c.nodes {
			if value, ok := c.nodes[n].Label(one.key); ok && !c.nodes[n].gone() && counted(n) && c.eligible(k, n, one) {
				pods[value] += on(n)
			}
		}
		out = append(out, func(_ int, value string) int { return pods[value] })
	}
	return out
}

// byAffinity adds up the weights of preferred terms, of the pod about those that are there and of those about the pod.
func (t *Cycle) byAffinity(nodes []int) []int64 {
	sums := map[string]map[string]int64{} // by topologyKey and domain
	for _, other := range t.c.kinds {
		for i := range t.k.prefer {
			if own := &t.k.prefer[i]; own.of(other, t.c.known) {
				t.c.weigh(sums, own.key, other, own.weight)
			}
		}
		for i := range other.prefer {
			if its := &other.prefer[i]; its.of(t.k, t.c.known) {
				t.c.weigh(sums, its.key, other, its.weight)
			}
		}
		for i := range other.near {
			if its := &other.near[i]; its.of(t.k, t.c.known) {
				t.c.weigh(sums, its.key, other, requiredWeight)
			}
		}
	}
	scores := t.each(nodes, func(n int) int64 {
		sum := int64(0)
		for key, values := range sums { // order: a sum
			if value, ok := t.c.nodes[n].Label(key); ok {
				sum += values[value]
			}
		}
		return sum
	})
	least, most := scores[0], scores[0]
	for _, s := range scores {
		least, most = min(least, s), max(most, s)
	}
	for i := range scores {
		scores[i] = mostScore * (scores[i] - least) / max(most-least, 1)
	}
	return scores
}

// weigh has each pod of a Kind count with a weight in its domain.
func (c *Cluster) weigh(sums map[string]map[string]int64, key string, k *Kind, weight int64) {
	for n, pods := range k.on {
		if pods == 0 {
			continue
		}
		if value, ok := c.nodes[n].Label(key); ok {
			if sums[key] == nil {
				sums[key] = map[string]int64{}
			}
			sums[key][value] += int64(pods) * weight
		}
	}
}
