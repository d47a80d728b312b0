package scenario

import (
	"cmp"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// scaler keeps a workload at no fewer replicas than a number: a HorizontalPodAutoscaler, or a
// ScaledObject of KEDA.
type scaler struct {
	object *manifest.Object
	kind   string // as people say it: "HPA"
	field  string // of the least number
	least  int32
	most   int32 // 0 where it is not said
	// toZero says by which value it may take the last pod, zeroField in which field that is; "" where it never does.
	toZero, zeroField string
	// raises says that it takes a workload away from 0 replicas, too.
	raises bool
}

// scalersOf lists what scales a workload. An HPA without minReplicas keeps one replica; KEDA keeps
// none (https://keda.sh/docs/latest/reference/scaledobject-spec/: minReplicaCount 0 by default, idleReplicaCount below it while nothing
// triggers; verified), and wakes a workload up that has none.
func (w *inventory) scalersOf(r world.Resource) []scaler {
	var out []scaler
	for _, h := range w.autoscalers {
		ref := h.Value.Spec.ScaleTargetRef
		if h.Namespace != r.GetNamespace() || ref.Kind != world.KindOf(r) || ref.Name != r.GetName() {
			continue
		}
		s := scaler{object: h.Object, kind: "HPA", field: "minReplicas", least: 1, most: h.Value.Spec.MaxReplicas}
		if h.Value.Spec.MinReplicas != nil {
			s.least = *h.Value.Spec.MinReplicas
		}
		if s.least == 0 {
			s.toZero, s.zeroField = "minReplicas 0", s.field
		}
		out = append(out, s)
	}
	for _, o := range w.scaledObjects {
		if ref := rawAt(o.Value, "spec", "scaleTargetRef"); o.Namespace == r.GetNamespace() && rawText(ref, "name") == r.GetName() &&
			cmp.Or(rawText(ref, "kind"), "Deployment") == world.KindOf(r) {
			out = append(out, scaledObject(o))
		}
	}
	return out
}

// scaledObject is what KEDA scales by.
func scaledObject(o *manifest.Object) scaler {
	s := scaler{object: o, kind: "ScaledObject", field: "minReplicaCount", raises: true}
	if n, ok := rawAt(o.Value, "spec", s.field).(int64); ok && n >= 0 && n <= maxWhole {
		s.least = int32(n)
	}
	if n, ok := rawAt(o.Value, "spec", "maxReplicaCount").(int64); ok && n > 0 && n <= maxWhole {
		s.most = int32(n)
	}
	switch idle, ok := rawAt(o.Value, "spec", "idleReplicaCount").(int64); {
	case ok && idle == 0:
		s.toZero, s.zeroField = "idleReplicaCount 0", "idleReplicaCount"
	case s.least == 0 && rawAt(o.Value, "spec", s.field) != nil:
		s.toZero, s.zeroField = "minReplicaCount 0", s.field
	case s.least == 0:
		s.toZero, s.zeroField = "without minReplicaCount, which is 0 then", s.field
	}
	return s
}

// scale gives each workload the replicas it really has: the most of spec.replicas and what keeps
// it from having fewer. One that was set to 0 stays there as far as an HPA goes: it leaves it alone
// unless its own minReplicas is 0 (kubernetes v1.36.3, pkg/controller/podautoscaler/horizontal.go,
// ScalingDisabled).
func (w *inventory) scale() {
	for _, x := range w.workloads {
		have := world.ReplicasOf(x.Value)
		for _, s := range w.scalersOf(x.Value) {
			if s.least > world.ReplicasOf(x.Value) && (have > 0 || s.raises) {
				world.SetReplicas(x.Value, s.least)
			}
		}
	}
}

// assumeReplicas says where the number of replicas comes from, where something scales the workload.
func (b *builder) assumeReplicas(w *world.Workload) {
	file := ""
	if w.Object != nil {
		file = w.Object.File
	}
	for _, s := range b.world.scalersOf(w.Resource) {
		words, basis := fmt.Sprintf("%s: %d, by %s %s, %s %d", w.ObjectName(), w.Replicas(), s.kind, s.object.Name, s.field, s.least), inferred
		if int(s.least) != w.Replicas() {
			words, basis = fmt.Sprintf("%s: %d, by spec.replicas; %s %s keeps %d at least", w.ObjectName(), w.Replicas(), s.kind, s.object.Name, s.least), "manifest"
		}
		if b.grown > 0 && !w.Aside {
			words, basis = fmt.Sprintf("%s: %d, one more than otherwise, which %s %s takes away", w.ObjectName(), w.Replicas(), s.kind, s.object.Name), "assumed"
		}
		b.assumeAs("replicas", words+place(s.object, "spec."+s.field, file), basis)
	}
}
