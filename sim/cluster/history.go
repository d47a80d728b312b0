package cluster

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Old ReplicaSets are what a rollback goes to. The Deployment controller keeps revisionHistoryLimit of
// them (docs/model/controllers.md 1 and 2.3; Kubernetes 1.36 pkg/controller/deployment/sync.go,
// cleanupDeployment; recalled). A Scenario begins without any.

// tidy ends the scaling of a sync. One that had nothing to scale deletes the oldest ReplicaSets beyond the
// limit if the rollout is complete; that of a paused Deployment does so in any case.
func (c *deploymentController) tidy(d *api.Deployment, in rolloutInput) {
	s := c.wrote[d.Workload]
	complete := !c.busy[d.Workload] && !scaling(in) && s.of == d && s.complete(d.Replicas)
	if !complete && !d.Paused {
		c.conclude(d, in)
		return
	}
	c.deleteOld(d, in, c.surplus(d, in))
}

// surplus lists the ReplicaSets to delete: the oldest of those beyond the limit, by when each was last the
// present one, except that one with pods, or whose status is behind, stays until later.
func (c *deploymentController) surplus(d *api.Deployment, in rolloutInput) []*api.ReplicaSet {
	limit := c.w.deployment(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}).Spec.RevisionHistoryLimit
	if limit == nil || len(in.oldRSs) <= int(*limit) {
		return nil
	}
	old := slices.Clone(in.oldRSs)
	slices.SortStableFunc(old, func(a, b *api.ReplicaSet) int {
		return slices.Index(d.History, a.ID.Revision) - slices.Index(d.History, b.ID.Revision)
	})
	old = old[:len(old)-int(*limit)]
	return slices.DeleteFunc(old, func(rs *api.ReplicaSet) bool {
		return rs.Pods != 0 || rs.Replicas != 0 || rs.ObservedReplicas != rs.Replicas
	})
}

// deleteOld deletes ReplicaSets one after the other, each with a request of the controller's client. One
// that is gone already, of which the watch is yet to tell, costs a request, too.
func (c *deploymentController) deleteOld(d *api.Deployment, in rolloutInput, old []*api.ReplicaSet) {
	if len(old) == 0 {
		c.conclude(d, in)
		return
	}
	c.busy[d.Workload] = true
	id := old[0].ID
	c.w.store.Limited(&c.limit, c.owner, "delete replicaset", api.ReplicaSetKey(id), func(o api.Object) api.Object {
		rs, ok := o.(*api.ReplicaSet)
		if !ok {
			return nil
		}
		next := *rs
		next.Gone = true
		return &next
	}, func() { c.deleteOld(d, in, old[1:]) })
}

// undo makes the revision before the present one the present one, of those whose ReplicaSet is there. With
// none there is nothing to go back to, as kubectl rollout undo says (k8s.io/kubectl
// pkg/polymorphichelpers/rollback.go; recalled).
func (w *World) undo(d *api.Deployment, a *world.Action) {
	for _, revision := range slices.Backward(d.History[:len(d.History)-1]) {
		if _, there := w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: d.Workload, Revision: revision})).(*api.ReplicaSet); there {
			d.Become(revision)
			return
		}
	}
	w.log.Tell(event.Event{Kind: event.NoHistory, Pod: -1, Node: -1, Stream: -1, Workload: d.Workload, Action: a})
}

// NoHistoryWords says that a rollback has nothing to go back to.
func NoHistoryWords(name string) string {
	return fmt.Sprintf("no rollout history found for deployment %q: no ReplicaSet of an earlier revision is left, and nothing is rolled back", name)
}
