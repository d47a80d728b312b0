package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Name returns "namespace/name".
func (w *Workload) Name() string { return w.Deployment.Namespace + "/" + w.Deployment.Name }

// Recreate says that the Deployment stops all old pods before it starts new ones.
func (w *Workload) Recreate() bool {
	return w.Deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// Apart says that required anti-affinity of one workload's pods keeps them off nodes with a pod of
// another workload, or of the same; revision says that it does so among pods of one revision only
// (matchLabelKeys has pod-template-hash). The topology is the node.
func (w *Workload) Apart(other *Workload) (apart, revision bool) {
	a := w.Deployment.Spec.Template.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false, false
	}
	revision = true
	for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
		if t.TopologyKey != corev1.LabelHostname || !Matches(t.LabelSelector, other.Deployment.Spec.Template.Labels) || !w.speaksOf(t, other.Deployment.Namespace) {
			continue
		}
		if !slices.Contains(t.MatchLabelKeys, appsv1.DefaultDeploymentUniqueLabelKey) {
			return true, false
		}
		apart = apart || w.Name() == other.Name() // the hash of another workload is another one
	}
	return apart, revision
}

// speaksOf says whether a term of anti-affinity is about pods of a namespace: the ones it lists, or
// its own. Which namespaces a selector matches is not known: it is taken to match every one.
func (w *Workload) speaksOf(t *corev1.PodAffinityTerm, namespace string) bool {
	if t.NamespaceSelector != nil || slices.Contains(t.Namespaces, namespace) {
		return true
	}
	return len(t.Namespaces) == 0 && w.Deployment.Namespace == namespace
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
			if d := s.Workloads[j].Deployment; d.Namespace == svc.Namespace && Selects(svc, d.Spec.Template.Labels) {
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

// ServiceNamed returns the Service "ns/name", nil when there is none.
func (s *Scenario) ServiceNamed(name string) *corev1.Service {
	for i := range s.Services {
		if svc := s.Services[i].Service; svc.Namespace+"/"+svc.Name == name {
			return svc
		}
	}
	return nil
}

// Container returns the serving container.
func (w *Workload) Container() *corev1.Container {
	containers := w.Deployment.Spec.Template.Spec.Containers
	for i := range containers {
		if containers[i].Name == w.Server {
			return &containers[i]
		}
	}
	return &corev1.Container{}
}

// Serves says whether a Service ("ns/name") selects the pods of a workload ("ns/name").
func (s *Scenario) Serves(service, workload string) bool {
	svc := s.ServiceNamed(service)
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if svc != nil && w.Name() == workload && w.Deployment.Namespace == svc.Namespace && Selects(svc, w.Deployment.Spec.Template.Labels) {
			return true
		}
	}
	return false
}

// ReplicasOf returns the replicas that a Deployment asks for, 1 where it does not say.
func ReplicasOf(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}
