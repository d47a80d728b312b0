package scenario

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Where nothing says which load balancer it is, none is better founded than another: the same
// manifest is a few seconds of blindness behind one and minutes behind the other. So the case is
// made once for each family that it might be (docs/model/simulator.md 9).

// unknownFamilies are those of a Service of type LoadBalancer of which nothing is known. AWS has
// three: a cluster without the AWS Load Balancer Controller makes a classic load balancer of it,
// one with it an NLB whose targets are instances, and EKS Auto Mode one whose targets are pods
// (docs/model/load-balancers.md 2 What AWS makes of a Service that asks for nothing). Nodes say which they can be: see findProvider.
func unknownFamilies() []string {
	return []string{"gke-l4", "azure-standard", "aws-nlb-ip", "aws-nlb-instance", "aws-classic", "metallb-l2"}
}

// unknownBalancer is what a Service of type LoadBalancer may be behind of which nothing is known but, at most, the address in its status.
// Those of AWS have a name and no address (docs/model/kube-proxy.md 4), and the others are never known by a name. A private address is
// one that nodes announce: Google and Azure give them where an annotation asks for it (recalled).
func unknownBalancer(svc *corev1.Service) balancerFound {
	f := balancerFound{families: unknownFamilies(), why: "nothing says which one it is", basis: "assumed"}
	addressed := func(name string) bool { return !strings.HasPrefix(name, "aws-") }
	for _, i := range svc.Status.LoadBalancer.Ingress {
		switch addr, err := netip.ParseAddr(i.IP); {
		case err == nil && (addr.IsPrivate() || addr.IsLinkLocalUnicast()):
			f.families, f.why = announcedFamilies(), "status address "+i.IP+" is private"
			return f
		case err == nil:
			f.families, f.why = slices.DeleteFunc(f.families, func(name string) bool { return !addressed(name) }), "status address "+i.IP+", and AWS gives names"
			return f
		case i.Hostname != "":
			f.families, f.why = slices.DeleteFunc(nodeFamilies(), func(name string) bool { return !addressed(name) }), "status hostname "+i.Hostname+" is none of AWS"
			return f
		}
	}
	return f
}

// unknownProxies are those of an Ingress without a class, or, with gateway, of an HTTPRoute whose
// Gateway is not in the input, in a provider's cluster; "" is any. What a provider does not make is
// not among them.
func unknownProxies(gateway bool, provider string) []string {
	inside := []string{"ingress-nginx", anyProxy} // Envoy Gateway serves no Ingress
	if gateway {
		inside = []string{"envoy-gateway", anyProxy}
	}
	switch provider {
	case "aws":
		return append(inside, "aws-alb-ip")
	case "gce":
		return append(inside, "gke-l7-neg")
	case "azure", "kind":
		return inside
	default:
		return append(inside, "aws-alb-ip", "gke-l7-neg")
	}
}

// PresetName is what people call a load balancer: of a preset or a family of presets, with or
// without its traffic policy. A name that is none is returned as it is.
func PresetName(id string) string {
	for _, p := range presetTable() {
		if p.ID == id || p.Family == id {
			return p.Short
		}
	}
	return id
}

// allTCP says that all ports of a Service are TCP.
func allTCP(svc *corev1.Service) bool {
	return !slices.ContainsFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return cmp.Or(p.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP })
}

// fitting leaves, of families, those that could be before a stream's Service: what sends to nodes
// needs a node port, and a classic load balancer of AWS takes TCP alone. With none left all are, and what is wrong is said of the first.
func fitting(families []string, t *world.Traffic, svc *corev1.Service) []string {
	var out []string
	for _, name := range families {
		p, _ := presetFor(name, cmp.Or(svc.Spec.ExternalTrafficPolicy, policyCluster))
		if name == "aws-classic" && !allTCP(svc) {
			continue // its controller refuses the Service: "Only TCP LoadBalancer is supported for AWS ELB"
		}
		if p.LoadBalancer.Target == world.TargetPods || hasNodePort(svc, t.Port, t.Protocol) {
			out = append(out, name)
		}
	}
	if out == nil {
		return families
	}
	return out
}

// pickFamily takes, of what a stream's load balancer might be, the one that this Scenario is made
// for: the first unless the builder says another.
func (b *builder) pickFamily(found balancerFound, t *world.Traffic, svc *corev1.Service) balancerFound {
	if len(found.families) == 0 {
		return found
	}
	found.families = fitting(found.families, t, svc)
	found.name = found.families[0]
	if slices.Contains(found.families, b.family) {
		found.name = b.family
	}
	return found
}

// families makes the case once for each load balancer that its streams might go through, nil where
// it is known which one that is. first is that of the first; again makes it for b.family.
func (b *builder) families(first *world.Scenario, again func() *world.Scenario) []world.Family {
	var names []string
	for i := range first.Traffic {
		names = append(names, first.Traffic[i].Families...)
	}
	if names = distinct(names); len(names) < 2 {
		return nil
	}
	problems := b.doc.problems
	out := []world.Family{{Preset: names[0], Name: PresetName(names[0]), Scenario: first}}
	for _, name := range names[1:] {
		b.family = name
		s := again()
		s.Name = first.Name
		out = append(out, world.Family{Preset: name, Name: PresetName(name), Scenario: s})
	}
	b.family, b.doc.problems = "", problems // they are those of the first, once more
	return out
}

// provider is whose cluster it is, by its Nodes, else by --env: "aws", "gce", "azure", "kind"; ""
// when nothing says it.
func (b *builder) provider() string {
	if provider, _, _ := providerOf(b.world.nodes); provider != "" {
		return provider
	}
	env, _ := environmentNamed(b.opts.Env)
	return env.Provider
}
