package scenario

import "github.com/lameduck-proxy/lameduck/sim/world"

// hintsLeftOut names what of proportional hints is not as in a cluster.
func (b *builder) hintsLeftOut(s *world.Service) {
	if world.HintModeOf(s.Service, b.out.Kubernetes) != world.HintsProportional {
		return
	}
	object := "Service " + s.Service.Namespace + "/" + s.Service.Name
	b.notModelled("hints-ties", "topology-mode Auto: which of zones that lack equally much gets an endpoint is by name, in Kubernetes by chance", object, "unknown")
	for i := range b.out.Nodes {
		if _, said := b.out.Nodes[i].AllocatableCPU(); !said {
			b.notModelled("hints-cpu", "topology-mode Auto: nodes that do not say their allocatable CPU are taken to have equally much", object, "unknown")
			return
		}
	}
}
