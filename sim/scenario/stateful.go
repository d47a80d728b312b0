package scenario

import (
	"fmt"
	"slices"

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

// volumesLeftOut says that volumes do not move in this world: they are where their pods are.
func (b *builder) volumesLeftOut(w *world.Workload) {
	path := claimed(w)
	if path == "" {
		return
	}
	object := w.Kind() + " " + w.Name()
	if w.Object != nil {
		object += ", " + w.Object.At(path).String()
	}
	words := "detaching and attaching it takes longer, and its zone may leave fewer nodes"
	if slices.ContainsFunc(b.out.Actions, func(a world.Action) bool { return world.Silences(a.Operation) }) {
		words = "one that a single node may have stays attached to a node that is silent until its Node is deleted, or has the taint " + corev1.TaintNodeOutOfService
	}
	b.notModelled("volumes", "a pod that comes back on another node has its volume there at once: "+words, object, "more")
}

// claimed is where a workload asks for volumes that it writes, "" for nowhere.
func claimed(w *world.Workload) string {
	if s := w.StatefulSet(); s != nil && len(s.Spec.VolumeClaimTemplates) > 0 {
		return "spec.volumeClaimTemplates"
	}
	volumes := w.Template().Spec.Volumes
	if slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && !v.PersistentVolumeClaim.ReadOnly || v.Ephemeral != nil
	}) {
		return "spec.template.spec.volumes"
	}
	return ""
}

// picks says whether a Service selects single pods of a StatefulSet, by a label that each pod has a value of its own of.
func (o owner) picks(s manifest.Typed[*corev1.Service]) bool {
	return o.kind == world.StatefulSet && o.behind(s) && !world.Selects(s.Value, o.template.Labels)
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
