package world

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// HostPort is a port of its node that a pod takes.
type HostPort struct {
	Port     int32
	Protocol corev1.Protocol
	IP       string // "0.0.0.0" for all addresses of the node
}

// everyAddress is the IP of a host port that has none (Kubernetes 1.36
// pkg/scheduler/framework/types.go, DefaultBindAllHostIP; recalled).
const everyAddress = "0.0.0.0"

// HostPorts lists the ports of its node that a pod takes, and the field of its template behind each
// one. With hostNetwork every port is one of the node. Init containers that have ended take none;
// sidecars do (Kubernetes 1.36 pkg/scheduler/util/utils.go, GetHostPorts; recalled).
func HostPorts(pod *corev1.PodSpec) (ports []HostPort, paths []string) {
	add := func(list string, i int, c *corev1.Container) {
		for j, p := range c.Ports {
			number, path := p.HostPort, fmt.Sprintf("spec.template.spec.%s[%d].ports[%d].hostPort", list, i, j)
			if pod.HostNetwork {
				number, path = p.ContainerPort, "spec.template.spec.hostNetwork"
			}
			if number == 0 {
				continue
			}
			port := HostPort{Port: number, Protocol: p.Protocol, IP: p.HostIP}
			if port.Protocol == "" {
				port.Protocol = corev1.ProtocolTCP
			}
			if port.IP == "" {
				port.IP = everyAddress
			}
			ports, paths = append(ports, port), append(paths, path)
		}
	}
	for i := range pod.Containers {
		add("containers", i, &pod.Containers[i])
	}
	for i := range pod.InitContainers {
		if Sidecar(&pod.InitContainers[i]) {
			add("initContainers", i, &pod.InitContainers[i])
		}
	}
	return ports, paths
}

// Clashes says whether two pods with these ports cannot run on one node.
func (p HostPort) Clashes(other HostPort) bool {
	return p.Port == other.Port && p.Protocol == other.Protocol && (p.IP == other.IP || p.IP == everyAddress || other.IP == everyAddress)
}
