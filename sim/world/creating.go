package world

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// CreatePod is kubectl create of a bare Pod. Until then there is none.
type CreatePod struct {
	Pod string // "ns/name" of its Workload
}

func (o CreatePod) words() (verb, target, value string) { return "createPod", o.Pod, "" }

// Creates has the Pods that actions create not be there at the beginning.
func (s *Scenario) Creates() {
	for i := range s.Workloads {
		w := &s.Workloads[i]
		w.Created = slices.ContainsFunc(s.Actions, func(a Action) bool {
			o, ok := a.Operation.(CreatePod)
			return ok && o.Pod == w.Name()
		})
		if w.Created {
			w.Placed = nil
		}
	}
}

// Adopts says whether a controller would make a Pod its own that no other has: its selector matches, and a StatefulSet wants the name of
// one of its pods, too. A Deployment's ReplicaSets ask for their hash beside.
func Adopts(r Resource, p *BarePod) bool {
	if SelectorOf(r) == nil || r.GetNamespace() != p.Namespace || !Matches(SelectorOf(r), p.Labels) {
		return false
	}
	switch KindOf(r) {
	case Deployment:
		_, has := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		return has
	case StatefulSet:
		ordinal, named := strings.CutPrefix(p.Name, r.GetName()+"-")
		_, err := strconv.ParseUint(ordinal, 10, 31)
		return named && err == nil
	default:
		return true
	}
}
