package swarm

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hearKind looks at pods of workloads that are no Deployments.
func (j *judge) hearKind(at engine.Time, before, now *api.Pod) {
	if j.does("apiserver") || j.does("component") {
		return
	}
	created := before == nil
	deleted := before != nil && !before.Deleting() && now.Deleting()
	switch s := j.workload(now).Resource.(type) {
	case *appsv1.StatefulSet:
		if created {
			j.madeInOrder(at, now, s)
		}
		if deleted && j.only("rolloutRestart", "scale", "cordon") {
			j.replacedInOrder(at, now, s)
		}
	case *appsv1.DaemonSet:
		if created {
			j.madeOnce(at, now, s)
		}
		if deleted && j.only("rolloutRestart", "cordon") {
			j.replacedDaemon(at, now, s)
		}
	case *world.BarePod:
		if created {
			j.fail("bare", "%s is made at %s s, and nobody makes a Pod again", now.Name, at.Seconds())
		}
	}
}

// late is by how much a controller may know less than the API says.
func (j *judge) late() engine.Time {
	l := &j.w.Latency
	return l.Watch.Max() + l.Controller.Max() + 3*l.APIWrite.Max() + 2*sec
}

// mayBeThere says that a controller may take a pod to be there, Ready, and not on its way out: it is, or it was not long ago, or will soon be.
func (j *judge) mayBeThere(p *pod, at engine.Time) bool {
	return p.api.Ready && p.api.Active() || p.changed+j.late() >= at
}

// A StatefulSet makes a pod when the one of that name is gone; with OrderedReady when all before it are there and Ready
// (docs/model/controllers.md 4).
func (j *judge) madeInOrder(at engine.Time, now *api.Pod, s *appsv1.StatefulSet) {
	before := map[int]bool{}
	for _, id := range j.order {
		p := j.pods[id]
		if p.api.Workload != now.Workload || id == now.ID {
			continue
		}
		if p.api.Ordinal == now.Ordinal && !p.api.Gone {
			j.fail("ordinals", "%s is made at %s s, and %s is there", now.Name, at.Seconds(), p.api.Name)
		}
		before[p.api.Ordinal] = before[p.api.Ordinal] || j.mayBeThere(p, at)
	}
	for i := range now.Ordinal {
		if s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement && !before[i] {
			j.fail("ordinals", "%s is made at %s s, and that of ordinal %d is not Ready", now.Name, at.Seconds(), i)
		}
	}
}

// A StatefulSet deletes the pod with the highest ordinal that is to go, when all above it have been replaced and are Ready, none below
// its partition, and none at all for another template with OnDelete. With OrderedReady all others are Ready (docs/model/controllers.md 4).
func (j *judge) replacedInOrder(at engine.Time, now *api.Pod, s *appsv1.StatefulSet) {
	ordered := s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	if !ordered && j.does("scale") {
		return // those that are too many go all at once
	}
	if !j.does("scale") {
		u := s.Spec.UpdateStrategy.RollingUpdate
		if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || u != nil && u.Partition != nil && now.Ordinal < int(*u.Partition) {
			j.fail("ordinals", "%s is deleted at %s s, against the update strategy", now.Name, at.Seconds())
		}
	}
	for _, id := range j.order {
		p := j.pods[id]
		o := p.api
		if o.Workload != now.Workload || id == now.ID || o.Gone || p.changed+j.late() >= at {
			continue
		}
		above := o.Ordinal > now.Ordinal
		switch {
		case above && o.Revision <= now.Revision:
			j.fail("ordinals", "%s is deleted at %s s, before %s", now.Name, at.Seconds(), o.Name)
		case (above || ordered && now.Ready) && !j.mayBeThere(p, at):
			j.fail("ordinals", "%s is deleted at %s s, and %s is not Ready", now.Name, at.Seconds(), o.Name)
		}
	}
}

// A DaemonSet makes a pod on a node that has none, or, with maxSurge, one of another template (docs/model/controllers.md 5).
func (j *judge) madeOnce(at engine.Time, now *api.Pod, s *appsv1.DaemonSet) {
	surges := j.daemonFence(s.Spec.UpdateStrategy.RollingUpdate, true) > 0
	for _, id := range j.order {
		o := j.pods[id].api
		if o.Workload != now.Workload || id == now.ID || o.Place() != now.Place() || o.Gone || o.Phase == api.PhaseFailed || o.Phase == api.PhaseSucceeded {
			continue
		}
		if !surges || o.Active() && o.Revision == now.Revision {
			j.fail("daemons", "%s is made at %s s on node %d, where %s is", now.Name, at.Seconds(), now.Place(), o.Name)
		}
	}
}

// daemonFence is maxSurge or maxUnavailable as a number of nodes.
func (j *judge) daemonFence(u *appsv1.RollingUpdateDaemonSet, surge bool) int {
	switch {
	case u == nil:
		return 0
	case surge:
		return part(*u.MaxSurge, len(j.w.Standing()), true)
	default:
		return part(*u.MaxUnavailable, len(j.w.Standing()), true)
	}
}

// An update deletes a pod that is Ready only while fewer nodes than maxUnavailable are without one, with maxSurge only when its successor
// is, and none with OnDelete (docs/model/controllers.md 5).
func (j *judge) replacedDaemon(at engine.Time, now *api.Pod, s *appsv1.DaemonSet) {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		j.fail("daemons", "%s is deleted at %s s, against the update strategy", now.Name, at.Seconds())
	}
	if !now.Ready || j.closes() || j.w.faults.crash {
		return
	}
	without, successor := 0, false
	for n := range j.w.Nodes {
		served := false
		for _, id := range j.order {
			p := j.pods[id]
			if p.api.Workload == now.Workload && p.api.Place() == n {
				served = served || p.api.Ready && !p.api.Gone || p.changed+j.late() >= at
				successor = successor || n == now.Node && id != now.ID && j.mayBeThere(p, at)
			}
		}
		if !served {
			without++
		}
	}
	surge, most := j.daemonFence(s.Spec.UpdateStrategy.RollingUpdate, true), j.daemonFence(s.Spec.UpdateStrategy.RollingUpdate, false)
	switch {
	case surge > 0 && !successor:
		j.fail("daemons", "%s is deleted at %s s, and no other pod is Ready on node %d", now.Name, at.Seconds(), now.Node)
	case surge == 0 && without >= most:
		j.fail("daemons", "%s is deleted at %s s, with %d nodes without a pod, of at most %d", now.Name, at.Seconds(), without, most)
	}
}
