package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// checkStateful warns of what a StatefulSet says and nothing heeds.
func (b *builder) checkStateful(w *world.Workload) {
	const path = "spec.updateStrategy.rollingUpdate.maxUnavailable"
	s := w.StatefulSet()
	if s == nil || b.out.Several || s.Spec.UpdateStrategy.RollingUpdate == nil || s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable == nil {
		return
	}
	replicas := 1
	if s.Spec.Replicas != nil {
		replicas = int(*s.Spec.Replicas)
	}
	if world.StatefulUnavailable(s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, replicas) == 1 {
		return // it says what is done without it
	}
	b.doc.problems = append(b.doc.problems, w.Object.Problem(manifest.Warning, path, fmt.Sprintf(
		"is not heeded, one pod is replaced at a time: feature gate %s is off unless it is set (%s)",
		world.GateMaxUnavailable, b.opts.Wording.Option("feature-gates", world.GateMaxUnavailable+"=true"))))
}

// picks says whether a Service selects single pods of a StatefulSet, by a label that each pod has a value of its own of.
func (o owner) picks(s manifest.Typed[*corev1.Service]) bool {
	return o.kind == world.StatefulSet && world.Selects(s.Value, o.withPodName(s.Value.Spec.Selector)) && o.namespace == s.Namespace && !world.Selects(s.Value, o.template.Labels)
}

// picked says that a Service selects single pods of a StatefulSet, "" where it does not.
func (c *census) picked(s manifest.Typed[*corev1.Service]) string {
	for _, i := range c.behind[s.ID()] {
		if o := &c.owners[i]; o.picks(s) {
			return fmt.Sprintf("Service %s selects single pods of the StatefulSet %s, by a label of each pod's own: not simulated", s.Name, o.name)
		}
	}
	return ""
}

// selecting says whether a Service selects pods of a workload that the world has.
func (o owner) selecting(s manifest.Typed[*corev1.Service]) bool { return o.behind(s) && !o.picks(s) }
