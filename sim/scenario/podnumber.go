package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// numbered refuses actions on a pod of a number that its workload never has: nothing would happen.
func (b *builder) numbered() {
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		pods, ok := world.PodsOf(a.Operation)
		if !ok || pods.Number == world.AllPods {
			continue
		}
		if most := b.mostPods(pods.Workload); pods.Number >= most {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "%s of pod %d: %s has %d pods at most, from 0 on", a.Verb(), pods.Number, pods.Workload, most)
		}
	}
}

// mostPods is how many pods a workload has at most, by the actions. While a Deployment is rolled out there may be old and new ones.
func (b *builder) mostPods(id string) int {
	at := slices.IndexFunc(b.out.Workloads, func(w world.Workload) bool { return w.Name() == id })
	if at < 0 {
		return 1 << 30 // said elsewhere
	}
	w := &b.out.Workloads[at]
	if w.Kind() == world.DaemonSet {
		return len(b.out.Nodes)
	}
	most := w.Replicas()
	for i := range b.out.Actions {
		switch o := b.out.Actions[i].Operation.(type) {
		case world.Scale:
			if o.Workload == id {
				most = max(most, o.Replicas)
			}
		case world.Apply:
			if o.Workload == id {
				most = max(most, int(world.ReplicasOf(o.Resource)))
			}
		}
	}
	if w.Kind() == world.Deployment && len(b.out.Actions) > 1 { // pods that terminate may count, too
		return 2 * max(most, 1)
	}
	return firstOrdinal(w.Resource) + most
}
