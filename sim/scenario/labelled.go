package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// assumeLabels says what was taken for granted of nodes that are made up, where a pod does not run on just any node.
func (b *builder) assumeLabels() {
	picky := slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool { return !world.Admits(&w.Template().Spec, &corev1.Node{}) })
	for i := range b.assumed {
		if a := &b.assumed[i]; a.ID == "nodes" && picky {
			a.Value += ", each with the labels that the pods ask for (nodeSelector, node affinity)"
		}
	}
}
