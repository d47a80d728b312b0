package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

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

// hostPortsBeside says that a workload whose clients come through a load balancer has others, which are not judged: the port of a node is dark
// from the end of its pod until the next one listens there, whatever the next one's readiness is.
func (b *builder) hostPortsBeside(w *world.Workload) {
	ports := webPorts(w.Template())
	through := slices.ContainsFunc(b.out.Services, func(s world.Service) bool {
		return s.Service.Spec.Type == corev1.ServiceTypeLoadBalancer && w.SelectedBy(s.Service)
	})
	if w.Aside || ports == nil || !through {
		return
	}
	b.notModelled(world.ByNodePort, fmt.Sprintf("clients of host port %s (%s), who do not come through the Service, are not judged: a node has nobody there from the end of its pod until the next one listens",
		strings.Join(ports, ", "), where(w.Object, "spec.template.spec.containers")), w.Kind()+" "+w.Name(), "more")
}

// webPorts are the ports for HTTP that a pod has on its node.
func webPorts(t *corev1.PodTemplateSpec) []string {
	var out []string
	for _, c := range t.Spec.Containers {
		for _, p := range c.Ports {
			port := p.HostPort
			if port == 0 && t.Spec.HostNetwork {
				port = p.ContainerPort
			}
			switch port {
			case 80, 443, 8080, 8443:
				out = append(out, fmt.Sprint(port))
			}
		}
	}
	return distinct(out)
}
