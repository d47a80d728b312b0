package control

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Old ReplicaSets are what a rollback goes to. The Deployment controller keeps revisionHistoryLimit of
// them (docs/model/controllers.md 1 and 2.3; Kubernetes 1.36 pkg/controller/deployment/sync.go,
// cleanupDeployment; recalled). A Scenario begins without any.

// tidy ends the scaling of a sync. One that had nothing to scale deletes the oldest ReplicaSets beyond the
// limit if the rollout is complete; that of a paused Deployment does so in any case.
func (c *Deployments) tidy(d *api.Workload, in rolloutInput) {
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
func (c *Deployments) surplus(d *api.Workload, in rolloutInput) []*api.ReplicaSet {
	limit := c.d.deploymentOf(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}).Spec.RevisionHistoryLimit
	if limit == nil || len(in.oldRSs) <= int(*limit) {
		return nil
	}
	old := slices.Clone(in.oldRSs)
	sorted.ShortStableBy(old, func(a, b *api.ReplicaSet) int {
		return slices.Index(d.History, a.ID.Revision) - slices.Index(d.History, b.ID.Revision)
	})
	old = old[:len(old)-int(*limit)]
	return slices.DeleteFunc(old, func(rs *api.ReplicaSet) bool {
		return rs.Pods != 0 || rs.Replicas != 0 || rs.ObservedReplicas != rs.Replicas
	})
}

// deleteOld deletes ReplicaSets one after the other, each with a request of the controller's client. One
// that is gone already, of which the watch is yet to tell, costs a request, too.
func (c *Deployments) deleteOld(d *api.Workload, in rolloutInput, old []*api.ReplicaSet) {
	if len(old) == 0 {
		c.conclude(d, in)
		return
	}
	c.busy[d.Workload] = true
	id := old[0].ID
	c.d.API.Limited(&c.Client, c.Owner, "delete replicaset", api.ReplicaSetKey(id), func(o api.Object) api.Object {
		rs, ok := o.(*api.ReplicaSet)
		if !ok {
			return nil
		}
		next := *rs
		next.Gone = true
		return &next
	}, func() { c.deleteOld(d, in, old[1:]) })
}
