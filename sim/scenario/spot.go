package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What clouds do with spot machines (docs/model/pod-lifecycle.md 5 Spot; recalled).
const (
	spotNoticeTime  = 120 * engine.Second // how long before its machine goes a node hears of it, where nothing is said: AWS's two minutes
	shortSpotNotice = 30 * engine.Second  // of GCP, and at least of Azure
	gkeShutdown     = 30 * engine.Second  // shutdownGracePeriod of GKE's spot machines
)

// endsWithMachine is the kubelet's default, and what it comes to.
const endsWithMachine = "shutdownGracePeriod 0s: pods end with their machine"

// spotNoticed is the notice of a spot machine of whose cloud it is.
func (b *builder) spotNoticed(o *owner) doing {
	notice := world.SpotNotice{Fullest: o.id(), Notice: spotNoticeTime}
	if provider, why := b.poolProvider(nil); why != "" && provider != world.PoolEKS {
		notice.Notice, notice.Sudden = shortSpotNotice, provider == world.PoolGKE
	}
	notice = handledBy(notice, b.spotHandler(o).who)
	return doing{operation: notice}
}

// spotKubelets sets kubelets to what they are set to on spot machines of GKE, where nothing is said of them.
func (b *builder) spotKubelets(o world.Operation) {
	provider, why := b.poolProvider(nil)
	if _, spot := o.(world.SpotNotice); !spot || provider != world.PoolGKE || why == "" || b.doc.shutdownSaid || unknownPriority(b.out) {
		return
	}
	b.out.Shutdown = shutdownWithin(gkeShutdown)
	b.assumeAs("kubelet", "shutdownGracePeriod 30s, half of it for critical pods, as on GKE's spot machines, by "+why, inferred)
}

// shutdownWithin are the groups of a shutdownGracePeriod of which half is for critical pods.
func shutdownWithin(whole engine.Time) []world.ShutdownGroup {
	return []world.ShutdownGroup{{Priority: 0, Grace: whole / 2}, {Priority: world.CriticalPriority, Grace: whole / 2}}
}

// unknownPriority says that some pods' priority is not known: a kubelet that goes by priorities cannot be simulated with them.
func unknownPriority(s *world.Scenario) bool {
	return slices.ContainsFunc(s.Workloads, func(w world.Workload) bool {
		_, known := world.PriorityOf(&w.Template().Spec)
		return !known
	})
}

// shutting has kubelets end their pods before their machine, or not.
func shutting(whole engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		if (whole > 0) == (len(s.Shutdown) > 0) || whole > 0 && unknownPriority(s) {
			return false
		}
		s.Shutdown = nil
		if whole > 0 {
			s.Shutdown = shutdownWithin(whole)
		}
		return true
	}
}
