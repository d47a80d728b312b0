package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// neverAsked says why a pod whose readiness or startup probe asks for a port, or runs a program, that its container does not have will never
// be ready, or one whose postStart hook cannot be run; nil when there is no such probe or hook.
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
		if p.spec == nil {
			continue
		}
		if why := servers.Lacks(c, p.spec.Exec); why != "" {
			return &control.Stuck{
				Why:  fmt.Sprintf("the new pod is never ready: the kubelet cannot run the %s probe of its container %s: %s", p.kind, c.Name, why),
				What: "a probe that needs no program (httpGet, tcpSocket, grpc), or a program that is in the image",
				Path: fmt.Sprintf("%s.%sProbe.exec", path, p.kind),
			}
		}
	}
	if h := servers.HookOf(c, world.Overrides{}).After; h.Fails {
		why := servers.Lacks(c, c.Lifecycle.PostStart.Exec)
		if why == "" {
			why = h.Why
		}
		return &control.Stuck{
			Why:  fmt.Sprintf("the new pod never gets ready: its container %s is killed each time it starts, for its postStart hook fails: %s", c.Name, why),
			What: "no such postStart hook, or a program that is in the image",
			Path: path + ".lifecycle.postStart",
		}
	}
	return nil
}
