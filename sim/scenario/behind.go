package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// passesTo finds which containers of a pod a proxy that serves there passes its requests on to: those beside it that serve, and that no
// Service leads to (docs/model/pod-lifecycle.md 2.1 Behind a proxy). A server that is no proxy by its image may need others, too, and nothing says so.
func (b *builder) passesTo(w *world.Workload) {
	w.Behind = nil
	template := w.Template()
	if !servers.PassesOn(w.Container(), &w.App) {
		return
	}
	for i := range template.Spec.Containers {
		c := &template.Spec.Containers[i]
		if c.Name != w.Server && servers.BehindProxy(c, template.Labels) && !b.world.leadTo(w, c) {
			w.Behind = append(w.Behind, c.Name)
		}
	}
}

// leadTo says that a Service leads to a port of a container.
func (w *inventory) leadTo(of *world.Workload, c *corev1.Container) bool {
	for _, s := range w.services {
		if s.Namespace != of.Namespace() || !world.Selects(s.Value, of.Template().Labels) {
			continue
		}
		for i := range s.Value.Spec.Ports {
			p := &s.Value.Spec.Ports[i]
			number, ok := world.TargetPort(p.TargetPort, of.Template())
			if number == 0 {
				number = p.Port
			}
			if ok && slices.ContainsFunc(c.Ports, func(own corev1.ContainerPort) bool { return own.ContainerPort == number }) {
				return true
			}
		}
	}
	return false
}
