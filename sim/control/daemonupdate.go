package control

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// The arithmetic of a DaemonSet, as functions of values (Kubernetes 1.36 pkg/controller/daemon:
// daemon_controller.go, podsShouldBeOnNode; update.go, rollingUpdate; verified).

// daemonNode is what one sync sees of a node.
type daemonNode struct {
	number int
	gone   bool // there is no Node object
	runs   bool // the DaemonSet is to have a pod on it
	stays  bool // a pod that is there may stay: only taints of effect NoExecute and another selection drive it away
	waits  bool // pods that have failed on it are left alone for a while

	pods []*api.Pod // that are for it, in order of ID; without those that are being deleted and done
}

// daemonInput is what one sync of the DaemonSet controller sees.
type daemonInput struct {
	revision           int  // of the template
	surge, unavailable int  // maxSurge and maxUnavailable, as counts of nodes
	surges             bool // a node may have two pods, whatever the count is at the moment
	desired            int  // nodes that are to have a pod
	nodes              []daemonNode
	now, minReady      engine.Time
}

// daemonStep is what a sync is to do: the nodes that need a pod, and the pods that are to go.
type daemonStep struct {
	create []int
	remove []*api.Pod

	failed, waiting []int // nodes from which a failed pod goes, and on which one is left alone
}

func (s *daemonStep) nothing() bool { return len(s.create) == 0 && len(s.remove) == 0 }

// available says whether a pod counts as available, a terminating one that is still Ready included.
func (in *daemonInput) available(p *api.Pod) bool {
	return p.Ready && availableAt(p.ReadySince, in.minReady) <= in.now
}

// manage has a pod on each node that is to have one, and none on the others. It knows nothing of an update but that a node
// may have an old pod and a new one where there is a surge.
func manage(in *daemonInput) daemonStep {
	var out daemonStep
	for i := range in.nodes {
		n := &in.nodes[i]
		switch {
		case n.gone:
			out.remove = append(out.remove, unbound(n.pods)...) // PodGC does not know where they were to run
		case n.runs && len(n.pods) == 0:
			out.create = append(out.create, n.number)
		case n.stays:
			in.tidy(n, &out)
		default:
			out.remove = append(out.remove, staying(n.pods)...)
		}
	}
	return out
}

// tidy looks after a node whose pods may stay: those that are done go, and those that are too many.
func (in *daemonInput) tidy(n *daemonNode, out *daemonStep) {
	var running []*api.Pod
	for _, p := range staying(n.pods) {
		switch {
		case p.Phase == api.PhaseFailed && n.waits:
			out.waiting = append(out.waiting, n.number)
		case p.Phase == api.PhaseFailed:
			out.remove, out.failed = append(out.remove, p), append(out.failed, n.number)
		case p.Phase == api.PhaseSucceeded:
			out.remove = append(out.remove, p)
		default:
			running = append(running, p)
		}
	}
	sorted.ShortStableBy(running, oldestFirst)
	switch {
	case !in.surges && len(running) > 1:
		out.remove = append(out.remove, running[1:]...)
	case in.surges && len(running) == 0 && n.runs:
		out.create = append(out.create, n.number) // beside those that are on their way out
	case in.surges && len(running) > 1:
		out.remove = append(out.remove, in.tooMany(running)...)
	}
}

// tooMany lists the pods that go of several on one node, oldest first, where there is a surge: all but the oldest of the
// template and the oldest of another one; and the latter, too, once it is not ready or the former is available.
func (in *daemonInput) tooMany(running []*api.Pod) []*api.Pod {
	var fresh, old *api.Pod
	var out []*api.Pod
	for _, p := range running {
		switch {
		case p.Revision == in.revision && fresh == nil:
			fresh = p
		case p.Revision != in.revision && old == nil:
			old = p
		default:
			out = append(out, p)
		}
	}
	if fresh != nil && old != nil && (!old.Ready || in.available(fresh)) {
		out = append(out, old)
	}
	return out
}

// rollDaemons replaces pods of another template than the present one, as far as maxUnavailable or maxSurge allows it. Among
// nodes that would do as well it takes the first of the input.
func rollDaemons(in *daemonInput) daemonStep {
	if in.surge > 0 {
		return in.rollBySurge()
	}
	return in.rollInPlace()
}

// rollInPlace deletes old pods: all that are not available, and of the others as many as may be unavailable at once, what is
// unavailable for whatever reason included. The next syncs put new ones in their place.
func (in *daemonInput) rollInPlace() daemonStep {
	var unavailable int
	var out daemonStep
	var candidates []*api.Pod
	for i := range in.nodes {
		n := &in.nodes[i]
		if !n.counts() {
			continue
		}
		fresh, old, ok := in.versions(n)
		switch {
		case !ok, (fresh == nil) == (old == nil):
			unavailable++
		case fresh != nil && !in.available(fresh):
			unavailable++
		case fresh != nil:
		case !in.available(old):
			out.remove = append(out.remove, old)
			unavailable++
		default:
			candidates = append(candidates, old)
		}
	}
	spare := max(0, in.unavailable-unavailable)
	out.remove = append(out.remove, candidates[:min(spare, len(candidates))]...)
	return out
}

// counts says whether an update looks at a node: one that is to have a pod, or has one.
func (n *daemonNode) counts() bool { return !n.gone && n.runs || len(n.pods) > 0 }

// rollBySurge creates new pods beside old ones: beside all that are not available, and beside as many others as maxSurge
// says. An old pod goes when the new one on its node is available; on a node that is to have none any more it goes when
// enough others are available.
//
// An old pod on a node whose object is gone has the controller give up, each time, until PodGC has taken the pod away.
func (in *daemonInput) rollBySurge() daemonStep {
	var out daemonStep
	var surge, available int
	var candidates []int
	var sunset []*api.Pod // available, on nodes that are to have none
	for i := range in.nodes {
		n := &in.nodes[i]
		if !n.counts() {
			continue
		}
		fresh, old, ok := in.versions(n)
		if !ok {
			surge++
			continue
		}
		if one := cmp.Or(old, fresh); one != nil && in.available(one) {
			available++
		}
		switch {
		case old == nil:
		case fresh == nil && n.gone:
			return daemonStep{}
		case fresh != nil && in.available(fresh), fresh == nil && !n.runs && !in.available(old):
			out.remove = append(out.remove, old)
		case fresh != nil:
			surge++
		case !n.runs:
			sunset = append(sunset, old)
		case !in.available(old):
			out.create = append(out.create, n.number)
		default:
			candidates = append(candidates, n.number)
		}
	}
	out.remove = append(out.remove, sunset[:min(len(sunset), max(0, available-in.desired))]...)
	out.create = append(out.create, candidates[:min(len(candidates), max(0, in.surge-surge))]...)
	return out
}

// versions finds the pod of the template and the pod of another one that a node has, nil for none; ok is false where there
// are two of either. Pods on their way out are none.
func (in *daemonInput) versions(n *daemonNode) (fresh, old *api.Pod, ok bool) {
	for _, p := range staying(n.pods) {
		of := &old
		if p.Revision == in.revision {
			of = &fresh
		}
		if *of != nil {
			return nil, nil, false
		}
		*of = p
	}
	return fresh, old, true
}

// staying lists the pods that are not on their way out.
func staying(pods []*api.Pod) []*api.Pod {
	var out []*api.Pod
	for _, p := range pods {
		if !p.Deleting() {
			out = append(out, p)
		}
	}
	return out
}

// unbound lists the pods that no node has yet, those on their way out included: deleting one twice is not found.
func unbound(pods []*api.Pod) []*api.Pod {
	var out []*api.Pod
	for _, p := range pods {
		if p.Node < 0 {
			out = append(out, p)
		}
	}
	return out
}

// oldestFirst orders pods of one node: those that are bound first, then by creation, of which the API keeps whole seconds. Then the
// names decide, which are chance; here the number of the pod stands for it.
func oldestFirst(a, b *api.Pod) int {
	switch {
	case (a.Node >= 0) != (b.Node >= 0):
		return cmp.Compare(b.Node, a.Node)
	default:
		return cmp.Or(cmp.Compare(a.Created.TruncateToSecond(), b.Created.TruncateToSecond()), cmp.Compare(a.ID, b.ID))
	}
}

// status is what the controller writes of a DaemonSet (Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go,
// updateDaemonSetStatus; verified). Of several pods on a node the oldest counts.
func (in *daemonInput) status() api.DaemonStatus {
	var out api.DaemonStatus
	for i := range in.nodes {
		n := &in.nodes[i]
		switch {
		case n.gone:
		case !n.runs && len(n.pods) > 0:
			out.Misscheduled++
		case n.runs:
			out.Desired++
			if len(n.pods) > 0 {
				in.count(slices.MinFunc(n.pods, oldestFirst), &out)
			}
		}
	}
	return out
}

// count adds the pod that stands for its node.
func (in *daemonInput) count(p *api.Pod, out *api.DaemonStatus) {
	out.Current++
	if p.Ready {
		out.Ready++
	}
	if in.available(p) {
		out.Available++
	}
	if p.Revision == in.revision {
		out.Updated++
	}
}
