package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Whether anybody listens where a Service leads to: a port need not be declared, so that one that is not may be right, and may be a slip.

// undeclared says that the target port is a number that no container of the pods declares, where they declare others.
func (s *subject) undeclared() bool {
	declares := func(c *corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == s.port.TargetPort.IntVal })
	}
	containers := world.Serving(&s.template.Spec)
	return s.port.TargetPort.StrVal == "" && s.container != nil && !slices.ContainsFunc(containers, declares) &&
		slices.ContainsFunc(containers, func(c *corev1.Container) bool { return len(c.Ports) > 0 })
}

// field is where the Service names the target port.
func (s *subject) field() string {
	for i := range s.service.Value.Spec.Ports {
		if &s.service.Value.Spec.Ports[i] == s.port {
			if field := fmt.Sprintf("spec.ports[%d].targetPort", i); s.service.Has(field) {
				return field
			}
			return fmt.Sprintf("spec.ports[%d].port", i)
		}
	}
	return "spec.ports"
}

// unheard says why nobody may listen on the target port of an entry: the container is known to listen on another one. "" where nothing speaks
// against it.
func (e *entry) unheard() string {
	if e.class == ClassDNS || !e.undeclared() || e.probed(e.port.TargetPort.IntVal) {
		return ""
	}
	why := ""
	for _, p := range e.container.Ports {
		switch {
		case e.probed(p.ContainerPort) && !says(baseName(p.Name), "admin", "management", "mgmt", "metrics", "health", "healthz", "healthcheck", "probe", "probes", "status", "monitoring"):
			why = fmt.Sprintf("container %s declares port %d, which its probe asks", e.container.Name, p.ContainerPort)
		case why == "" && servers.DefaultPort(e.container) == p.ContainerPort:
			why = fmt.Sprintf("container %s declares port %d, where image %s listens if nobody says another", e.container.Name, p.ContainerPort, e.container.Image)
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("Service %s leads to port %d (%s), which no container declares, and %s: whether anybody listens on %d is not known, and if nobody does every request fails",
		e.service.Name, e.port.TargetPort.IntVal, where(e.service.Object, e.field()), why, e.port.TargetPort.IntVal)
}

// probed says that a probe of the container asks one of its ports: it listens there, or no pod is ever ready.
func (s *subject) probed(port int32) bool {
	is := func(number int32, name string) bool {
		return number == port || name != "" && slices.ContainsFunc(s.container.Ports, func(p corev1.ContainerPort) bool { return p.Name == name && p.ContainerPort == port })
	}
	return slices.ContainsFunc([]*corev1.Probe{s.container.ReadinessProbe, s.container.LivenessProbe, s.container.StartupProbe}, func(p *corev1.Probe) bool {
		switch {
		case p == nil:
			return false
		case p.HTTPGet != nil:
			return is(p.HTTPGet.Port.IntVal, p.HTTPGet.Port.StrVal)
		case p.TCPSocket != nil:
			return is(p.TCPSocket.Port.IntVal, p.TCPSocket.Port.StrVal)
		default:
			return p.GRPC != nil && is(p.GRPC.Port, "")
		}
	})
}

// takenToListen says of an entry that nobody declares its target port, so that one container is taken to listen there.
func (b *builder) takenToListen(e *entry) {
	if e.class == ClassDNS || !e.undeclared() || e.probed(e.port.TargetPort.IntVal) {
		return
	}
	b.notModelled(world.Undeclared, fmt.Sprintf("whether anybody listens on port %d, to which Service %s leads (%s) and which no container declares: container %s is taken to, and if it does not every request fails",
		e.port.TargetPort.IntVal, e.service.Name, where(e.service.Object, e.field()), e.container.Name), "Service "+e.service.ID(), "more")
}
