package kubelet

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
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
