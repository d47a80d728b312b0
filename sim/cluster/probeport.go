package cluster

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// MissingPort is the name by which a probe asks for a port that its container does not have, "" for
// none, and the field that has it. A number that stands as a text is one. The kubelet then asks nobody
// and throws the result away, so a readiness probe never succeeds, and no probe ever fails (Kubernetes
// 1.36 pkg/kubelet/prober/prober.go and worker.go, doProbe; pkg/probe/util.go, ResolveContainerPort;
// recalled).
func MissingPort(c *corev1.Container, p *corev1.Probe) (name, field string) {
	var port intstr.IntOrString
	switch {
	case p == nil:
	case p.HTTPGet != nil:
		port, field = p.HTTPGet.Port, "httpGet.port"
	case p.TCPSocket != nil:
		port, field = p.TCPSocket.Port, "tcpSocket.port"
	}
	if port.Type != intstr.String {
		return "", ""
	}
	if _, err := strconv.Atoi(port.StrVal); err == nil {
		return "", ""
	}
	for i := range c.Ports {
		if c.Ports[i].Name == port.StrVal {
			return "", ""
		}
	}
	return port.StrVal, field
}

// neverAsked says why a pod whose readiness or startup probe asks for a port that its container does not
// have will never be ready, nil when there is no such probe.
func neverAsked(spec *corev1.PodSpec) *Stuck {
	for i := range spec.Containers {
		if s := unanswerable(&spec.Containers[i], fmt.Sprintf("spec.template.spec.containers[%d]", i)); s != nil {
			return s
		}
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; scenario.Sidecar(c) {
			if s := unanswerable(c, fmt.Sprintf("spec.template.spec.initContainers[%d]", i)); s != nil {
				return s
			}
		}
	}
	return nil
}

func unanswerable(c *corev1.Container, path string) *Stuck {
	for _, p := range []struct {
		kind string
		spec *corev1.Probe
	}{{"startup", c.StartupProbe}, {"readiness", c.ReadinessProbe}} {
		if name, field := MissingPort(c, p.spec); name != "" {
			return &Stuck{
				Why:  fmt.Sprintf("the new pod is never ready: the %s probe of its container %s asks for a port named %s, and the container has none of that name", p.kind, c.Name, name),
				What: "a port of that name in the container, or the port's number in the probe",
				Path: fmt.Sprintf("%s.%sProbe.%s", path, p.kind, field),
			}
		}
	}
	return nil
}
