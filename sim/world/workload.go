package world

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Name returns "namespace/name".
func (w *Workload) Name() string { return w.Namespace() + "/" + w.ObjectName() }

// Namespace is where its pods are.
func (w *Workload) Namespace() string { return w.Resource.GetNamespace() }

// Kind is the kind of its object, such as "Deployment".
func (w *Workload) Kind() string { return KindOf(w.Resource) }

// Deployment is its object where that is one, else nil.
func (w *Workload) Deployment() *appsv1.Deployment {
	d, _ := w.Resource.(*appsv1.Deployment)
	return d
}

// StatefulSet is its object where that is one, else nil.
func (w *Workload) StatefulSet() *appsv1.StatefulSet {
	s, _ := w.Resource.(*appsv1.StatefulSet)
	return s
}

// ObjectName is the name of its object, without the namespace.
func (w *Workload) ObjectName() string { return w.Resource.GetName() }

// Template is what its pods are made of.
func (w *Workload) Template() *corev1.PodTemplateSpec { return TemplateOf(w.Resource) }

// Replicas is how many pods it asks for: a DaemonSet one on each of its nodes.
func (w *Workload) Replicas() int {
	if w.Kind() == DaemonSet {
		return w.Nodes
	}
	return int(ReplicasOf(w.Resource))
}

// Grace is its pods' terminationGracePeriodSeconds.
func (w *Workload) Grace() engine.Time { return GraceOf(&w.Template().Spec) }

// EffectiveGrace is how long the kubelet lets a hook run: 1 s at least (docs/model/pod-lifecycle.md 2.1 Effective grace).
func (w *Workload) EffectiveGrace() engine.Time { return max(w.Grace(), engine.Second) }

// GraceOf is a pod's terminationGracePeriodSeconds, 30 s where it does not say (the API server's default).
func GraceOf(pod *corev1.PodSpec) engine.Time {
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		return engine.Time(*g) * engine.Second
	}
	return 30 * engine.Second
}

// MinReadySeconds is how long a pod has to be ready until it counts as available.
func (w *Workload) MinReadySeconds() int32 { return MinReadySecondsOf(w.Resource) }

// Fenceposts is how many pods a roll-out may add and how many it may take away; both are 0 for strategy Recreate.
func (w *Workload) Fenceposts() (surge, unavailable int) {
	return FencepostsOf(w.Resource, w.Replicas())
}

// SelectedBy says whether a Service selects its pods, or any of them by a label of its own.
func (w *Workload) SelectedBy(s *corev1.Service) bool {
	return s.Namespace == w.Namespace() && slices.ContainsFunc(w.LabelSets(), func(have map[string]string) bool { return Selects(s, have) })
}

// Recreate says that the Deployment stops all old pods before it starts new ones.
func (w *Workload) Recreate() bool {
	d := w.Deployment()
	return d != nil && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// Apart says that required anti-affinity of one workload's pods keeps them off nodes with a pod of
// another workload, or of the same; revision says that it does so among pods of one revision only
// (matchLabelKeys has pod-template-hash). The topology is the node.
func (w *Workload) Apart(other *Workload) (apart, revision bool) {
	a := w.Template().Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return false, false
	}
	revision = true
	for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
		if t.TopologyKey != corev1.LabelHostname || !Matches(t.LabelSelector, other.Template().Labels) || !w.speaksOf(t, other.Namespace()) {
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
	return len(t.Namespaces) == 0 && w.Namespace() == namespace
}

// Met returns the workload that a request of a stream met, the first of several; nil when its
// Service selects none. With an ingress controller on the way that is the controller, unless the
// request had passed it.
func (s *Scenario) Met(stream int, passed bool) *Workload {
	svc := s.ServiceNamed(s.asked(stream, passed))
	if svc == nil {
		return nil
	}
	first := slices.IndexFunc(s.Workloads, func(w Workload) bool { return s.Endpoints(svc, &w) })
	if first < 0 {
		return nil
	}
	return &s.Workloads[first]
}

// Meets says whether a request of a stream may meet pods of a workload: its Service selects them at some time. With an ingress
// controller on the way that is the controller's Service, unless the request had passed it.
func (s *Scenario) Meets(stream int, passed bool, w *Workload) bool {
	svc := s.ServiceNamed(s.asked(stream, passed))
	return svc != nil && s.MaySelect(svc, w)
}

// asked is the Service that a request of a stream asks.
func (s *Scenario) asked(stream int, passed bool) string {
	if passed {
		return s.Traffic[stream].Service
	}
	return s.Traffic[stream].ClientSide().Service
}

// At is where a field of its object stands, or its nearest ancestor; the zero Position where nothing does. A field of its pods' template is
// one of the object itself where that is a Pod.
func (w *Workload) At(path string) manifest.Position {
	if w.Object == nil {
		return manifest.Position{}
	}
	if w.Kind() == Pod {
		path = strings.TrimPrefix(path, "spec.template.")
	}
	return w.Object.At(path)
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

// ServerIndex is to which of the containers that Serving lists traffic goes: the first one where nobody knows, -1 where pods have none.
func (w *Workload) ServerIndex() int {
	containers := Serving(&w.Template().Spec)
	if i := slices.IndexFunc(containers, func(c *corev1.Container) bool { return w.serves(*c) }); i >= 0 {
		return i
	}
	return min(0, len(containers)-1)
}

// Container is the container that traffic goes to, a sidecar among the init containers, too; an empty one where pods have none.
func (w *Workload) Container() *corev1.Container {
	pod := &w.Template().Spec
	for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		if i := slices.IndexFunc(containers, w.serves); i >= 0 {
			return &containers[i]
		}
	}
	return &corev1.Container{}
}

// serves says whether traffic goes to a container: any would do where the Server has no name.
func (w *Workload) serves(c corev1.Container) bool { return w.Server == "" || w.Server == c.Name }

// Serves says whether the pods of a workload ("ns/name") are endpoints of a Service ("ns/name").
func (s *Scenario) Serves(service, workload string) bool {
	svc := s.ServiceNamed(service)
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if svc != nil && w.Name() == workload && s.Endpoints(svc, w) {
			return true
		}
	}
	return false
}

// Endpoints says whether pods of a workload are endpoints of a Service: it selects them, and they have the port that clients ask for.
func (s *Scenario) Endpoints(svc *corev1.Service, w *Workload) bool {
	return w.SelectedBy(svc) && s.ported(svc, w)
}

// ported says that the pods of a workload have one of the ports that clients ask a Service for, or one at all where nobody asks it: each pod is
// looked at for a port of a name, and one without it is no endpoint (docs/model/controllers.md 9.3 Named ports).
func (s *Scenario) ported(svc *corev1.Service, w *Workload) bool {
	if s.Repoints() {
		return true // it may have another one later
	}
	asked := s.askedPorts(svc)
	without := false
	for _, p := range svc.Spec.Ports {
		if asked != nil && !slices.Contains(asked, int(p.Port)) {
			continue
		}
		if _, ok := TargetPort(p.TargetPort, w.Template()); ok {
			return true
		}
		without = true
	}
	return !without
}

// askedPorts are the ports that clients ask a Service for.
func (s *Scenario) askedPorts(svc *corev1.Service) []int {
	name := svc.Namespace + "/" + svc.Name
	var out []int
	for i := range s.Traffic {
		t := &s.Traffic[i]
		if side := t.ClientSide(); side.Service == name {
			out = append(out, side.Port)
		}
		if t.Service == name {
			out = append(out, t.Port)
		}
	}
	return out
}

// TargetPort is the port that a Service's target port is in pods of a template: the number itself, or the first container port
// of that name, of a sidecar, too; ok is false where none has it.
func TargetPort(target intstr.IntOrString, spec *corev1.PodTemplateSpec) (number int32, ok bool) {
	if target.Type == intstr.Int {
		return target.IntVal, true
	}
	for _, c := range Serving(&spec.Spec) {
		for _, p := range c.Ports {
			if p.Name == target.StrVal {
				return p.ContainerPort, true
			}
		}
	}
	return 0, false
}
