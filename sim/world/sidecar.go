package world

import corev1 "k8s.io/api/core/v1"

// Sidecar says whether an init container is one that goes on beside the others.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
