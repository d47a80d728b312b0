package world

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Operations on labels, and on what selects by them.
type (
	// Relabel is kubectl label pod: labels that are set, and those that are taken off.
	Relabel struct {
		Pods
		Set    map[string]string
		Remove []string
	}
	// SetSelector is kubectl set selector service.
	SetSelector struct {
		Service  string // "ns/name"
		Selector map[string]string
	}
)

func (o Relabel) words() (verb, target, value string) {
	value = labels.Set(o.Set).String()
	for _, key := range o.Remove {
		if value != "" {
			value += ","
		}
		value += key + "-"
	}
	return "relabelPod", o.String(), value
}

func (o SetSelector) words() (verb, target, value string) {
	return "setSelector", o.Service, labels.Set(o.Selector).String()
}

// On are labels as the operation leaves them.
func (o *Relabel) On(have map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, o.Set)
	for _, key := range o.Remove {
		delete(out, key)
	}
	return out
}

// SelectorOf is the label selector by which a Resource claims pods, nil for a bare Pod.
func SelectorOf(r Resource) *metav1.LabelSelector {
	switch r := r.(type) {
	case *appsv1.Deployment:
		return r.Spec.Selector
	case *appsv1.ReplicaSet:
		return r.Spec.Selector
	case *appsv1.StatefulSet:
		return r.Spec.Selector
	case *appsv1.DaemonSet:
		return r.Spec.Selector
	default:
		return nil
	}
}

// Claims says whether the controller of a Resource counts a pod with these labels, which one of its ReplicaSets has made: its
// selector matches, and nobody has changed the hash that tells the ReplicaSets apart.
func Claims(r Resource, have map[string]string) bool {
	if SelectorOf(r) == nil { // nobody keeps a bare Pod
		return true
	}
	_, changed := have[appsv1.DefaultDeploymentUniqueLabelKey]
	return !changed && Matches(SelectorOf(r), have)
}

// Relabels says whether pods of a workload differ in what selects them: by labels of their own, or once an action has changed labels or a
// selector.
func (s *Scenario) Relabels() bool {
	return slices.ContainsFunc(s.Workloads, func(w Workload) bool { return w.OwnLabels() }) || slices.ContainsFunc(s.Actions, func(a Action) bool {
		switch a.Operation.(type) {
		case Relabel, SetSelector:
			return true
		default:
			return false
		}
	})
}

// MaySelect says whether a Service selects pods of a workload at any time: those of its template, or as an action labels them, by its
// own selector or one that an action gives it.
func (s *Scenario) MaySelect(svc *corev1.Service, w *Workload) bool {
	if !s.ported(svc, w) {
		return false
	}
	if w.SelectedBy(svc) {
		return true
	}
	if svc.Namespace != w.Namespace() {
		return false
	}
	selectors, sets := []map[string]string{svc.Spec.Selector}, w.LabelSets()
	for i := range s.Actions {
		switch o := s.Actions[i].Operation.(type) {
		case SetSelector:
			if o.Service == svc.Namespace+"/"+svc.Name {
				selectors = append(selectors, o.Selector)
			}
		case Relabel:
			for _, have := range slices.Clone(sets) {
				if o.Workload == w.Name() {
					sets = append(sets, o.On(have))
				}
			}
		}
	}
	for _, selector := range selectors {
		if slices.ContainsFunc(sets, func(have map[string]string) bool { return SelectedWith(selector, have) }) {
			return true
		}
	}
	return false
}

// SelectedWith says whether a Service with this selector selects pods with these labels; without one it selects none.
func SelectedWith(selector, have map[string]string) bool {
	return len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(have))
}
