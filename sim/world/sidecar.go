package world

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Sidecar says whether an init container is one that goes on beside the others.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Serving lists the containers of a pod that run side by side, any of which may serve: its containers, then the sidecars among its
// init containers, in the order in which a name of a port is looked for (k8s.io/endpointslice 0.36.3 utils.go, FindPort; verified).
func Serving(pod *corev1.PodSpec) []*corev1.Container {
	out := make([]*corev1.Container, 0, len(pod.Containers))
	for i := range pod.Containers {
		out = append(out, &pod.Containers[i])
	}
	for i := range pod.InitContainers {
		if c := &pod.InitContainers[i]; Sidecar(c) {
			out = append(out, c)
		}
	}
	return out
}

// ServingPath is the field of a workload in which the container of that name is that Serving lists, that of its pods' spec for none.
func ServingPath(pod *corev1.PodSpec, name string) string {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return fmt.Sprintf("spec.template.spec.containers[%d]", i)
		}
	}
	for i := range pod.InitContainers {
		if pod.InitContainers[i].Name == name {
			return fmt.Sprintf("spec.template.spec.initContainers[%d]", i)
		}
	}
	return "spec.template.spec"
}
