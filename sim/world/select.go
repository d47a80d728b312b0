package world

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Matches says whether a label selector matches; one that cannot be read matches nothing, as
// the API server would have refused it.
func Matches(s *metav1.LabelSelector, have map[string]string) bool {
	if s == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(have))
}

// Selects says whether a Service's selector matches a pod's labels. A Service without one
// selects nothing.
func Selects(s *corev1.Service, labels map[string]string) bool {
	if len(s.Spec.Selector) == 0 {
		return false
	}
	// order: all of them have to match, in whatever order they are looked at
	for k, v := range s.Spec.Selector {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}
