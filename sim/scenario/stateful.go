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
	b.doc.problems = append(b.doc.problems, w.Object.Problem(manifest.Warning, path,
		"is not heeded, one pod is replaced at a time: feature gate "+world.GateMaxUnavailable+" is off unless it is set"))
}

// picks says whether a Service selects single pods of a StatefulSet, by a label that each pod has a value of its own of.
func (o owner) picks(s manifest.Typed[*corev1.Service]) bool {
	return o.kind == world.StatefulSet && world.Selects(s.Value, withPodName(o.template.Labels, s.Value.Spec.Selector)) && o.namespace == s.Namespace && !world.Selects(s.Value, o.template.Labels)
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
