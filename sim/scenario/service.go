package scenario

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// setPort reads kubectl patch service of one port.
func (b *builder) setPort(v cursor, namespace string) (world.Operation, bool) {
	s, ok := b.serviceOf(v.get("of"), namespace)
	if !ok || !b.plain(v.get("of"), s, "setPort") {
		return nil, false
	}
	o := world.SetPort{Service: s.Namespace + "/" + s.Name, To: v.get("to").whole(0), Target: v.get("targetPort").whole(0), TargetName: v.get("targetPort").text("")}
	if o.To == 0 && o.Target == 0 && o.TargetName == "" {
		v.fail("say what it becomes: setPort: {of: service/NAME, to: 8080}, or targetPort: 8080")
		return nil, false
	}
	p := b.portOf(v, s)
	if p == nil || !b.isPort(v.get("to"), o.To) || o.TargetName == "" && !b.isPort(v.get("targetPort"), o.Target) || o.TargetName != "" && !b.namesPort(v.get("targetPort"), s, o.TargetName) {
		return nil, false
	}
	o.Port, o.Protocol = int(p.Port), p.Protocol
	if slices.ContainsFunc(s.Spec.Ports, func(q corev1.ServicePort) bool { return int(q.Port) == o.To && q.Protocol == o.Protocol }) {
		v.get("to").fail("Service %s has a port %d already", s.Name, o.To)
		return nil, false
	}
	return o, true
}

// portOf is the port that is meant, nil for none.
func (b *builder) portOf(v cursor, s *corev1.Service) *corev1.ServicePort {
	c, numbers := v.get("port"), []string{}
	var found *corev1.ServicePort
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		numbers = append(numbers, strconv.Itoa(int(p.Port)))
		if int(p.Port) == c.whole(0) || !c.present() && len(s.Spec.Ports) == 1 {
			found = p
		}
	}
	switch {
	case found != nil:
	case c.present():
		c.fail("Service %s has no port %d: it has %s", s.Name, c.whole(0), orList(numbers))
	default:
		v.fail("say which port: %s", orList(numbers))
	}
	return found
}

// isPort minds numbers that no port has.
func (b *builder) isPort(c cursor, n int) bool {
	const most = 65535
	if c.present() && (n < 1 || n > most) {
		c.fail("expected a port from 1 to %d", most)
		return false
	}
	return true
}

// namesPort minds a name that no container behind a Service has for a port.
func (b *builder) namesPort(c cursor, s *corev1.Service, name string) bool {
	var names []string
	for i := range b.out.Workloads {
		if w := &b.out.Workloads[i]; w.SelectedBy(s) {
			for _, container := range w.Template().Spec.Containers {
				for _, p := range container.Ports {
					if p.Name != "" && !slices.Contains(names, p.Name) {
						names = append(names, p.Name)
					}
				}
			}
		}
	}
	switch {
	case slices.Contains(names, name):
		return true
	case names == nil:
		c.fail("no container behind Service %s has a name for a port", s.Name)
	default:
		c.fail("no container behind Service %s has a port %s; %s", s.Name, name, didYouMean(name, names))
	}
	return false
}

// deleteService reads kubectl delete service.
func (b *builder) deleteService(v cursor, namespace string) (world.Operation, bool) {
	s, ok := b.serviceOf(v, namespace)
	if !ok || !b.plain(v, s, "deleteService") {
		return nil, false
	}
	return world.DeleteService{Service: s.Namespace + "/" + s.Name}, true
}

// plain says whether a Service is one whose clients go to its addresses: what load balancers, proxies and DNS make of one that changes is
// not simulated.
func (b *builder) plain(c cursor, s *corev1.Service, verb string) bool {
	id := s.Namespace + "/" + s.Name
	for i := range b.out.Traffic {
		switch t := &b.out.Traffic[i]; {
		case t.Ingress != nil && (t.Service == id || t.Ingress.Service == id):
			c.fail("not yet simulated: %s of a Service behind an ingress controller (traffic %s)", verb, t.Name)
			return false
		case t.Service == id && t.LB != nil && (verb == "deleteService" || t.LB.Target == world.TargetPods):
			c.fail("not yet simulated: %s of a Service behind a load balancer (traffic %s)", verb, t.Name)
			return false
		}
	}
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		c.fail("not yet simulated: %s of a headless Service", verb)
		return false
	}
	return true
}
