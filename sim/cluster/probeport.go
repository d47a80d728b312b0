package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// neverAsked says why a pod whose readiness or startup probe asks for a port that its container does not
// have will never be ready, nil when there is no such probe.
func neverAsked(spec *corev1.PodSpec) *control.Stuck {
	for i := range spec.Containers {
		if s := unanswerable(&spec.Containers[i], fmt.Sprintf("spec.template.spec.containers[%d]", i)); s != nil {
			return s
		}
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; world.Sidecar(c) {
			if s := unanswerable(c, fmt.Sprintf("spec.template.spec.initContainers[%d]", i)); s != nil {
				return s
			}
		}
	}
	return nil
}

func unanswerable(c *corev1.Container, path string) *control.Stuck {
	for _, p := range []struct {
		kind string
		spec *corev1.Probe
	}{{"startup", c.StartupProbe}, {"readiness", c.ReadinessProbe}} {
		if name, field := kubelet.MissingPort(c, p.spec); name != "" {
			return &control.Stuck{
				Why:  fmt.Sprintf("the new pod is never ready: the %s probe of its container %s asks for a port named %s, and the container has none of that name", p.kind, c.Name, name),
				What: "a port of that name in the container, or the port's number in the probe",
				Path: fmt.Sprintf("%s.%sProbe.%s", path, p.kind, field),
			}
		}
	}
	return nil
}
