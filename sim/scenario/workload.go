package scenario

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Name returns "namespace/name".
func (w *Workload) Name() string { return w.Deployment.Namespace + "/" + w.Deployment.Name }

// Recreate says that the Deployment stops all old pods before it starts new ones.
func (w *Workload) Recreate() bool {
	return w.Deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// OnePerNode says that required anti-affinity keeps two pods of the workload off one node.
func (w *Workload) OnePerNode() bool {
	template := &w.Deployment.Spec.Template
	a := template.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false
	}
	for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname || term.LabelSelector == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err == nil && selector.Matches(labels.Set(template.Labels)) {
			return true
		}
	}
	return false
}

// Met returns the workload that a request of a stream met, the first of several; nil when its
// Service selects none. With an ingress controller on the way that is the controller, unless the
// request had passed it.
func (s *Scenario) Met(stream int, passed bool) *Workload {
	service := s.Traffic[stream].Service
	if !passed {
		service = s.Traffic[stream].Door().Service
	}
	for i := range s.Services {
		svc := s.Services[i].Service
		if svc.Namespace+"/"+svc.Name != service {
			continue
		}
		for j := range s.Workloads {
			if d := s.Workloads[j].Deployment; d.Namespace == svc.Namespace && selects(svc, d.Spec.Template.Labels) {
				return &s.Workloads[j]
			}
		}
	}
	return nil
}

// Workload returns the one called "ns/name", nil when there is none.
func (s *Scenario) Workload(name string) *Workload {
	for i := range s.Workloads {
		if s.Workloads[i].Name() == name {
			return &s.Workloads[i]
		}
	}
	return nil
}
