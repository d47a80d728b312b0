package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// unserved makes the cases of a workload of which nothing that clients notice is judged, and whose pods a disruption budget keeps where they
// are, for actions that ask for evictions: the drain of their node does not come to its end.
func (b *builder) unserved(base *world.Scenario, index int) []Case {
	o := &b.census.owners[index]
	if o.kind == kindKnative || o.kind == kindRollout {
		return b.untold(o)
	}
	if !o.simulated() || o.kind == world.DaemonSet || o.replicas == 0 || !b.kept(o) {
		return nil
	}
	traffic, reason := "no Service", "no Service of the input leads to its pods"
	if slices.ContainsFunc(b.world.services, func(s manifest.Typed[*corev1.Service]) bool { return o.behind(s) }) {
		traffic, reason = "nobody", "nothing that clients of its Services notice is judged"
	}
	var out []Case
	for _, a := range b.actionsOf(o) {
		does := a.doing(b, o)
		if does.why != "" || !evicts(does.operation) {
			continue
		}
		c := Case{
			ID: o.id() + "/" + a.word, Action: a.name, Kind: o.kind, Workload: o.id(), Traffic: traffic, Object: o.object,
			Verdict: NotJudged, Reason: reason,
		}
		c.Scenario = b.deriveDrain(base, []int{index}, does.operation)
		c.Scenario.Name = c.ID
		for i := range c.Scenario.Workloads {
			if w := &c.Scenario.Workloads[i]; w.Name() == o.id() && w.Kind() == o.kind {
				w.Aside, w.Bystander = false, false
			}
		}
		out = append(out, c)
	}
	return out
}

// untold names an app of a kind that is not simulated, which no Service of the input selects: Knative makes Services itself. Without that
// its input would have nothing to judge.
func (b *builder) untold(o *owner) []Case {
	if rawAt(o.object.Value, "spec", "workloadRef") != nil || // the pods are those of a Deployment
		slices.ContainsFunc(b.world.services, func(s manifest.Typed[*corev1.Service]) bool { return o.behind(s) }) {
		return nil
	}
	actions := b.actionsOf(o)
	if len(actions) == 0 { // a node of the input is drained
		return nil
	}
	a := actions[0] // one is enough to name it
	return []Case{{
		ID: o.id() + "/" + a.word, Action: a.name, Kind: o.kind, Workload: o.id(), Traffic: "no Service", Object: o.object,
		Verdict: NotJudged, Reason: "a " + o.kind + " is a kind that is not simulated, and no Service of the input leads to its pods",
	}}
}

// kept says whether a budget lets no pod of a workload go when all that it counts are ready, or two cover them, which the eviction API
// refuses.
func (b *builder) kept(o *owner) bool {
	over := slices.DeleteFunc(slices.Clone(b.world.budgets), func(x world.Budget) bool { return !x.Covers(o.namespace, o.template.Labels) })
	if len(over) != 1 {
		return len(over) > 1
	}
	pods := 0
	for i := range b.census.owners {
		if x := &b.census.owners[i]; x.simulated() && over[0].Covers(x.namespace, x.template.Labels) {
			pods += int(x.replicas)
		}
	}
	_, desired := over[0].Desired(pods, pods)
	return desired >= pods
}
