package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// creations has Pods that actions create not be there before, and refuses those of which something else would become.
func (b *builder) creations() {
	b.out.Creates()
	seen := map[string]bool{}
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		o, ok := a.Operation.(world.CreatePod)
		if !ok {
			continue
		}
		if seen[o.Pod] {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "Pod %s is created by another action, too: give one of them another name", o.Pod)
		}
		seen[o.Pod] = true
		b.checkCreated(a, b.out.Workload(o.Pod))
	}
}

// checkCreated refuses a Pod for a node that is not there, and one that a controller would adopt.
func (b *builder) checkCreated(a *world.Action, w *world.Workload) {
	p, ok := w.Resource.(*world.BarePod)
	if !ok {
		return
	}
	if name := p.Spec.NodeName; name != "" && !slices.Contains(world.NodeNames(b.out.Nodes), name) {
		b.doc.report(manifest.Error, a.Pos, "spec.actions", "Pod %s is to be on node %s, and there is none; %s", w.Name(), name, didYouMean(name, world.NodeNames(b.out.Nodes)))
	}
	for i := range b.out.Workloads {
		of := &b.out.Workloads[i]
		if !world.Adopts(of.Resource, p) {
			continue
		}
		who := of.Kind() + " " + of.Name()
		if of.Kind() == world.Deployment {
			who = "a ReplicaSet of " + who
		}
		b.doc.report(manifest.Error, a.Pos, "spec.actions",
			"not yet simulated: %s would adopt Pod %s, which its selector matches, and delete one pod where it then has too many; give the Pod other labels",
			who, w.Name())
	}
}
