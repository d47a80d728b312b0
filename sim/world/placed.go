package world

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Placed is a pod that a workload has at the beginning, as the input shows it.
type Placed struct {
	Node  string // its name; "": the pod is Pending
	Ready bool   // else its readiness fails all the time: nothing says when it would pass
	Cost  int    // its annotation controller.kubernetes.io/pod-deletion-cost: of those that may go, one with less goes first
	// Labels are its own, where a Service or a budget selects by them otherwise than by those of its template; else nil. The pod that
	// replaces it has those of the template.
	Labels map[string]string
}

// LabelSets are the labels that its pods have: those of its template, and those that pods of the input have of their own.
func (w *Workload) LabelSets() []map[string]string {
	out := []map[string]string{w.Template().Labels}
	for i := range w.Placed {
		if own := w.Placed[i].Labels; own != nil {
			out = append(out, own)
		}
	}
	return out
}

// CoveredBy says whether a budget covers any of its pods.
func (w *Workload) CoveredBy(b *Budget) bool {
	return slices.ContainsFunc(w.LabelSets(), func(have map[string]string) bool { return b.Covers(w.Namespace(), have) })
}

// OwnLabels says whether a pod of it has labels of its own by which something selects it.
func (w *Workload) OwnLabels() bool { return len(w.LabelSets()) > 1 }

// Scaler keeps a workload at no fewer pods than a number: a HorizontalPodAutoscaler, or a ScaledObject of KEDA.
type Scaler struct {
	Kind      string // as people say it: "HPA"
	Object    *manifest.Object
	Field     string // of the least number: "spec.minReplicas"
	MostField string // of the greatest
	Most      int    // 0 where it is not said
	ToZero    bool   // it may take the last pod
}

// PlacedAt is the pod of a number, counted from 0. nil: the input does not have it, and the scheduler places it.
func (w *Workload) PlacedAt(n int) *Placed {
	if n < len(w.Placed) {
		return &w.Placed[n]
	}
	return nil
}

// On counts the pods of a workload that the input has on some nodes.
func (w *Workload) On(nodes []string) int {
	n := 0
	for i := range w.Placed {
		for _, name := range nodes {
			if w.Placed[i].Node == name {
				n++
			}
		}
	}
	return n
}

// InclusionSince is the first minor version of Kubernetes 1 whose topology spread constraints say by default which nodes count: before, their
// nodeTaintsPolicy and nodeAffinityPolicy are dropped (docs/model/controllers.md 5 Node inclusion policies).
const InclusionSince = 26
