package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hostPorts makes the case of users' traffic that reaches a workload's pods over ports of their
// nodes, not through a Service: an Envoy or nginx of which each node has one. It is not judged, and says so
// before what is behind it.
func (b *builder) hostPorts(index int) []Case {
	o := &b.census.owners[index]
	for _, s := range b.world.services {
		if s.Value.Spec.Type == corev1.ServiceTypeLoadBalancer && o.behind(s) {
			return nil // the users' way
		}
	}
	ports := webPorts(o.template)
	if ports == nil || o.replicas == 0 {
		return nil
	}
	asked := b.actionsOf(o)
	words := " :" + strings.Join(ports, " :")
	return []Case{{
		ID: fmt.Sprintf("%s/%s/host:%s", o.id(), asked[0].word, ports[0]), Action: asked[0].name, Kind: o.kind, Workload: o.id(),
		Traffic: "outside, host ports" + words, Class: ClassOutside, Headline: true, Users: UsersEntry,
		Verdict: NotJudged, Reason: "its pods are reached over ports of their nodes and not through a Service: such traffic is not simulated", Object: o.object,
	}}
}

// hostPortsBeside says that a workload has clients beside those of its Services, which are not judged: the port of a node is dark from the end
// of its pod until the next one listens there, whatever the next one's readiness is. Ports for HTTP are users' entry, of which hostPorts makes
// a case, unless users come through a load balancer.
func (b *builder) hostPortsBeside(w *world.Workload) {
	var ports []string
	if slices.ContainsFunc(b.out.Services, func(s world.Service) bool {
		return s.Service.Spec.Type == corev1.ServiceTypeLoadBalancer && w.SelectedBy(s.Service)
	}) {
		ports = webPorts(w.Template())
	}
	if ports = append(ports, otherPorts(w.Template(), func(p *corev1.ContainerPort) bool { return b.world.leadToPort(w, p) })...); w.Aside || len(ports) == 0 {
		return
	}
	b.notModelled(world.ByNodePort, fmt.Sprintf("clients of host port %s (%s), who do not come through the Service, are not judged: a node has nobody there from the end of its pod until the next one listens",
		strings.Join(ports, ", "), where(w.Object, "spec.template.spec.containers")), w.Kind()+" "+w.Name(), "more")
}

// HostPorts are the ports of a pod's node, which no Service selects, over which clients may reach it: all that it has for HTTP, and others as
// otherPorts has them.
func HostPorts(t *corev1.PodTemplateSpec) []string {
	nobody := func(*corev1.ContainerPort) bool { return false }
	return distinct(append(webPorts(t), otherPorts(t, nobody)...))
}

// isWebPort says that a number is one of HTTP's usual ones.
func isWebPort(port int32) bool { return slices.Contains([]int32{80, 443, 8080, 8443}, port) }

// webPorts are the ports for HTTP that a pod has on its node.
func webPorts(t *corev1.PodTemplateSpec) []string {
	var out []string
	for _, c := range t.Spec.Containers {
		for _, p := range c.Ports {
			port := p.HostPort
			if port == 0 && t.Spec.HostNetwork {
				port = p.ContainerPort
			}
			if isWebPort(port) {
				out = append(out, fmt.Sprint(port))
			}
		}
	}
	return distinct(out)
}

// leadToPort says that a Service leads to a port of a workload's pods.
func (w *inventory) leadToPort(of *world.Workload, port *corev1.ContainerPort) bool {
	return slices.ContainsFunc(w.services, func(s manifest.Typed[*corev1.Service]) bool {
		return s.Namespace == of.Namespace() && world.Selects(s.Value, of.Template().Labels) && slices.ContainsFunc(s.Value.Spec.Ports, func(p corev1.ServicePort) bool {
			number, ok := world.TargetPort(p.TargetPort, of.Template())
			return ok && cmp.Or(number, p.Port) == port.ContainerPort && cmp.Or(p.Protocol, corev1.ProtocolTCP) == cmp.Or(port.Protocol, corev1.ProtocolTCP)
		})
	})
}

// otherPorts are the ports that the containers of a pod have on its node, as agents of a node do for the pods there, without
// those for HTTP and those of which no client's request is lost: for metrics, operators, probes and peers. On its node's network (hostNetwork)
// a port of a container is one of the node; of one that a Service leads to nobody knows whether others ask for it, too.
func otherPorts(t *corev1.PodTemplateSpec, led func(*corev1.ContainerPort) bool) []string {
	var out []string
	for _, c := range world.Serving(&t.Spec) {
		for i := range c.Ports {
			p := c.Ports[i]
			if t.Spec.HostNetwork {
				p.HostPort = p.ContainerPort // as the API server has it
				if led(&p) || len(c.Ports) > 1 && probed(c, &p) {
					continue
				}
			}
			if p.HostPort == 0 || isWebPort(p.HostPort) {
				continue
			}
			s := subject{
				service:  manifest.Typed[*corev1.Service]{Value: &corev1.Service{Spec: corev1.ServiceSpec{Ports: make([]corev1.ServicePort, 2)}}}, // one of several
				port:     &corev1.ServicePort{Name: p.Name, Port: p.HostPort, Protocol: p.Protocol, TargetPort: intstr.FromInt32(p.ContainerPort)},
				template: t,
			}
			if !isScrape(&s) && !isAdmin(&s) && !namesPeer(&s) {
				out = append(out, fmt.Sprint(p.HostPort))
			}
		}
	}
	return distinct(out)
}

// probed says that the kubelet asks a port of a container.
func probed(c *corev1.Container, p *corev1.ContainerPort) bool {
	is := func(x intstr.IntOrString) bool {
		return x.Type == intstr.String && x.StrVal == p.Name || x.Type == intstr.Int && x.IntVal == p.ContainerPort
	}
	return cmp.Or(p.Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP && slices.ContainsFunc([]*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe}, func(x *corev1.Probe) bool {
		switch {
		case x == nil:
			return false
		case x.HTTPGet != nil:
			return is(x.HTTPGet.Port)
		case x.TCPSocket != nil:
			return is(x.TCPSocket.Port)
		default:
			return x.GRPC != nil && x.GRPC.Port == p.ContainerPort
		}
	})
}
