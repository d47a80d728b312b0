package manifest

import (
	corev1 "k8s.io/api/core/v1"
)

// DefaultPod fills in what the API server would, in place: the pod spec, and
// what it does only for a Pod and not for a template: requests from limits, and
// host ports with hostNetwork.
func DefaultPod(p *corev1.Pod) {
	DefaultPodSpec(&p.Spec)
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			defaultRequests(&c.Resources)
			for j := range c.Ports {
				if p.Spec.HostNetwork {
					setDefault(&c.Ports[j].HostPort, c.Ports[j].ContainerPort)
				}
			}
		}
	}
}

func defaultRequests(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = make(corev1.ResourceList, len(r.Limits))
	}
	// order: each entry goes into a map under its own key.
	for name, limit := range r.Limits {
		if _, have := r.Requests[name]; !have {
			r.Requests[name] = limit.DeepCopy()
		}
	}
}

// DefaultPodSpec fills in what the API server would, in place, as far as it
// decides how a pod starts, answers and stops: restartPolicy,
// terminationGracePeriodSeconds, schedulerName, container ports' protocol,
// probes and hooks. Volumes, image pull policy,
// security context and DNS are left as they are.
//
// Read in kubernetes v1.36.3, pkg/apis/core/v1/defaults.go and
// zz_generated.defaults.go.
func DefaultPodSpec(spec *corev1.PodSpec) {
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setPointer(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			defaultContainerPorts(c.Ports)
			defaultContainer(c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle)
		}
	}
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		defaultContainerPorts(c.Ports)
		defaultContainer(c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle)
	}
}

func defaultContainerPorts(ports []corev1.ContainerPort) {
	for i := range ports {
		setDefault(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

func defaultContainer(liveness, readiness, startup *corev1.Probe, hooks *corev1.Lifecycle) {
	for _, p := range []*corev1.Probe{liveness, readiness, startup} {
		if p != nil {
			defaultProbe(p)
		}
	}
	if hooks == nil {
		return
	}
	for _, h := range []*corev1.LifecycleHandler{hooks.PostStart, hooks.PreStop} {
		if h != nil {
			defaultHTTPGet(h.HTTPGet)
		}
	}
}

func defaultProbe(p *corev1.Probe) {
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil {
		setPointer(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h == nil {
		return
	}
	setDefault(&h.Path, "/")
	setDefault(&h.Scheme, corev1.URISchemeHTTP)
}
