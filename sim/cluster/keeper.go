package cluster

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// keeper is the controller of a kind of workload, as the cluster asks it: of is what a workload's object says at the moment.
type keeper interface {
	// First makes the pods that there are at the beginning. Those without a node get one by the scheduler.
	First(of *api.Workload) []*api.Pod
	// Begin takes over a workload whose pods run, but for those that found no node.
	Begin(of *api.Workload, pods []*api.Pod)
	// Most is how many pods there may be that are not on their way out.
	Most(of *api.Workload) int
	// Outdated says that a pod is to be replaced by one of another revision.
	Outdated(of *api.Workload, p *api.Pod) bool
	// AtRest says whether the controller has nothing to do for the moment but wait, and for how many pods it has seen to.
	AtRest(of *api.Workload) (pods int, ok bool)
	// UnderWay says whether a rollout of the present revision has begun and was not complete yet.
	UnderWay(of *api.Workload) bool
	// Step is how a rolling update goes on.
	Step(of *api.Workload) control.Step
	// Keeps says whether there is a revision to roll back to.
	Keeps(of *api.Workload, revision int) bool
	// Hindrance is why the controller itself will never go on with a rollout, where no new pod is to blame; nil for nothing.
	Hindrance(of *api.Workload) *control.Stuck
}

// kindOf is the kind of the object that keeps a workload's pods.
func (w *World) kindOf(workload int) api.Kind {
	switch w.sc.Workloads[workload].Kind() {
	case world.StatefulSet:
		return api.KindStatefulSet
	case world.DaemonSet:
		return api.KindDaemonSet
	case world.ReplicaSet:
		return api.KindReplicaSet
	case world.Pod:
		return api.KindPod
	default:
		return api.KindDeployment
	}
}

// anyOf says whether there is a workload of a kind.
func (w *World) anyOf(kind string) bool {
	return slices.ContainsFunc(w.sc.Workloads, func(x world.Workload) bool { return x.Kind() == kind })
}

// keyOf finds the object that keeps a workload's pods. A bare Pod is that itself.
func (w *World) keyOf(workload int) api.Key {
	k := api.Key{Kind: w.kindOf(workload), A: workload}
	if k.Kind == api.KindPod {
		id, there := w.bare[workload]
		if !there { // nobody has created it yet
			id = -1
		}
		k.A = int(id)
	}
	return k
}

// asked is what a workload's object says at the moment, ok false where it is gone: a bare ReplicaSet or Pod is put in the words of
// the others. The one revision that such a one has is the first.
func (w *World) asked(workload int) (of *api.Workload, ok bool) {
	switch o := w.store.Get(w.keyOf(workload)).(type) {
	case *api.Workload:
		if o.Kind == api.KindDaemonSet {
			return w.daemons.Sized(o), true
		}
		return o, true
	case *api.ReplicaSet:
		return &api.Workload{Workload: workload, Kind: api.KindReplicaSet, Replicas: o.Replicas, History: []int{0}}, true
	case *api.Pod:
		of := &api.Workload{Workload: workload, Kind: api.KindPod, History: []int{0}}
		if o.Active() { // nobody makes another one
			of.Replicas = 1
		}
		return of, true
	default:
		return nil, false
	}
}

// keeperOf is the controller of a workload.
func (w *World) keeperOf(workload int) keeper {
	switch w.kindOf(workload) {
	case api.KindStatefulSet:
		return w.stateful
	case api.KindReplicaSet:
		return bareSets{sets: w.sets, d: w.control}
	case api.KindPod:
		return barePods{w: w}
	case api.KindDaemonSet:
		return w.daemons
	default:
		return deployments{w.deploy, w.sets, w.control}
	}
}

// longAgo is when the ReplicaSets were made that there are at the beginning.
const longAgo = -30 * 24 * engine.Hour

// deployments keep the pods of a Deployment, with the ReplicaSet controller.
type deployments struct {
	*control.Deployments
	sets *control.ReplicaSets
	d    *control.Desk
}

// First makes as many pods as the Deployment asks for.
func (k deployments) First(of *api.Workload) []*api.Pod { return firstOfSet(k.d, of) }

// firstOfSet makes the pods of a ReplicaSet.
func firstOfSet(d *control.Desk, of *api.Workload) []*api.Pod {
	var pods []*api.Pod
	for range of.Replicas {
		pods = append(pods, d.Specs.NewPod(api.ReplicaSetID{Workload: of.Workload, Revision: of.Revision}))
	}
	return pods
}

// Begin has the controllers of Deployments and ReplicaSets take over.
func (k deployments) Begin(of *api.Workload, pods []*api.Pod) {
	rs := putSet(k.d, of, pods)
	surge, _ := k.d.Fenceposts(of)
	rs.MaxReplicas = of.Replicas + surge
	k.sets.Begin(rs, pods)
	k.Deployments.Begin(of, rs, pods)
}

// putSet makes the ReplicaSet of pods that run.
func putSet(d *control.Desk, of *api.Workload, pods []*api.Pod) *api.ReplicaSet {
	rs := &api.ReplicaSet{
		ID: api.ReplicaSetID{Workload: of.Workload, Revision: of.Revision}, Created: longAgo, Replicas: of.Replicas, Desired: of.Replicas, MaxReplicas: of.Replicas,
		Pods: of.Replicas, ObservedReplicas: of.Replicas,
	}
	for _, p := range pods {
		if p.Ready {
			rs.ReadyPods++
			rs.Available++
		}
	}
	d.API.Put(api.ReplicaSetKey(rs.ID), rs)
	return rs
}

// Most is what the surge lets there be.
func (k deployments) Most(of *api.Workload) int {
	surge, _ := k.d.Fenceposts(of)
	return of.Replicas + surge
}

// Outdated is a pod of another revision.
func (k deployments) Outdated(of *api.Workload, p *api.Pod) bool { return p.Revision != of.Revision }

// Step is how a rolling update goes on.
func (k deployments) Step(of *api.Workload) control.Step {
	surge, unavailable := k.d.Fenceposts(of)
	rolling := of.Revision > 0 && !k.d.Workloads[of.Workload].Recreate() && k.UnderWay(of)
	return control.Step{Rolling: rolling, Surge: surge, Unavailable: unavailable}
}

// Keeps says whether the ReplicaSet of a revision is there.
func (k deployments) Keeps(of *api.Workload, revision int) bool {
	_, there := k.d.API.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: of.Workload, Revision: revision})).(*api.ReplicaSet)
	return there
}

// Hindrance is that the controller takes the size to have changed for ever.
func (k deployments) Hindrance(of *api.Workload) *control.Stuck {
	if !k.ScalesForEver(of) {
		return nil
	}
	return &control.Stuck{
		Why:  "the Deployment controller takes its size to have changed each time it looks, and never comes to the rollout (kubernetes#138036)",
		What: "another size and back: kubectl scale", Path: "spec.replicas",
	}
}

// unrolled is a workload whose template nothing rolls out.
type unrolled struct{}

// Most is as many as are asked for.
func (unrolled) Most(of *api.Workload) int { return of.Replicas }

// Outdated is no pod.
func (unrolled) Outdated(*api.Workload, *api.Pod) bool { return false }

// AtRest is always so, but for pods that are missing or too many.
func (unrolled) AtRest(of *api.Workload) (pods int, ok bool) { return of.Replicas, true }

// UnderWay is no rollout.
func (unrolled) UnderWay(*api.Workload) bool { return false }

// Step is none.
func (unrolled) Step(*api.Workload) control.Step { return control.Step{} }

// Keeps no revision but the one that there is.
func (unrolled) Keeps(*api.Workload, int) bool { return false }

// Hindrance is none.
func (unrolled) Hindrance(*api.Workload) *control.Stuck { return nil }

// bareSets keep the pods of a ReplicaSet that no Deployment made.
type bareSets struct {
	unrolled
	sets *control.ReplicaSets
	d    *control.Desk
}

// First makes as many pods as the ReplicaSet asks for.
func (k bareSets) First(of *api.Workload) []*api.Pod { return firstOfSet(k.d, of) }

// Begin has the ReplicaSet controller take over.
func (k bareSets) Begin(of *api.Workload, pods []*api.Pod) { k.sets.Begin(putSet(k.d, of, pods), pods) }

// barePods are Pods that nobody keeps: one that is deleted is not replaced.
type barePods struct {
	unrolled
	w *World
}

// First makes the one Pod.
func (k barePods) First(of *api.Workload) []*api.Pod {
	p := k.w.newBare(of.Workload)
	k.w.bare[of.Workload] = p.ID
	return []*api.Pod{p}
}

// Begin has nobody take over.
func (k barePods) Begin(*api.Workload, []*api.Pod) {}
