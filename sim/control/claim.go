package control

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A ReplicaSet, a StatefulSet or a DaemonSet has the pods whose controller it is and that its selector matches. One whose labels match no longer is released,
// one without a controller whose labels match is adopted (Kubernetes 1.36 pkg/controller/controller_ref_manager.go, ClaimPods; verified).

// claims says whether the selector of a ReplicaSet matches a pod that it has made.
func (d *Desk) claims(p *api.Pod) bool {
	return p.Labels == nil || world.Claims(d.Specs.ResourceOf(setOf(p)), p.Labels)
}

// deliverStray hears of a pod that no ReplicaSet has: of interest is one that was released.
func (c *ReplicaSets) deliverStray(p *api.Pod) {
	if p.Labels == nil {
		return
	}
	s := c.workOn(setOf(p))
	s.pods = slices.DeleteFunc(s.pods, func(own *api.Pod) bool { return own.ID == p.ID })
	s.strays.Set(p)
	if c.d.claims(p) {
		c.react.Add(packSet(setOf(p)))
	}
}

// toClaim lists the pods of a ReplicaSet to release, and those to adopt.
func (c *ReplicaSets) toClaim(s *setWork) (release, adopt []*api.Pod) {
	for _, p := range s.pods {
		if !c.d.claims(p) {
			release = append(release, p)
		}
	}
	for _, p := range s.strays {
		if p.Active() && c.d.claims(p) {
			adopt = append(adopt, p)
		}
	}
	return release, adopt
}

// claim releases and adopts pods, one at least, and goes on when that is answered.
func (c *ReplicaSets) claim(id api.ReplicaSetID, s *setWork, release, adopt []*api.Pod, then func()) {
	left := len(release) + len(adopt)
	answered := func() {
		if left--; left == 0 {
			then()
		}
	}
	for _, p := range release {
		s.pods = slices.DeleteFunc(s.pods, func(own *api.Pod) bool { return own.ID == p.ID })
		c.own(p, nil, answered)
	}
	for _, p := range adopt {
		s.strays = slices.DeleteFunc(s.strays, func(stray *api.Pod) bool { return stray.ID == p.ID })
		s.pods.Set(p)
		c.own(p, &id, answered)
	}
}

// Unmanaged says that no controller keeps a pod: it has none, or the one that has made it has released it.
func (d *Desk) Unmanaged(p *api.Pod) bool {
	switch d.Workloads[p.Workload].Kind() {
	case world.Pod:
		return true
	case world.Deployment, world.ReplicaSet:
		return p.ReplicaSet == nil
	default:
		return p.Released
	}
}

// calledInFull is a pod without a controller as people call it: a Pod of a manifest by its own name.
func (d *Desk) calledInFull(p *api.Pod) string {
	if w := d.Workloads[p.Workload]; w.Kind() == world.Pod {
		return w.Name()
	}
	return p.Called()
}

// counts says whether a controller that has no ReplicaSets counts a pod among its own: it has made it, its selector matches, and it has not
// released it, or adopts it again.
func (d *Desk) counts(p *api.Pod) bool { return d.claims(p) && (!p.Released || p.Active()) }

// toClaim lists the pods of such a controller that it has to release or to adopt.
func (d *Desk) toClaim(pods []*api.Pod) []*api.Pod {
	var out []*api.Pod
	for _, p := range pods {
		if p.Released == d.counts(p) {
			out = append(out, p)
		}
	}
	return out
}

// claim releases and adopts pods, and goes on when that is answered.
func (d *Desk) claim(client *api.Limiter, owner engine.Owner, pods []*api.Pod, then func()) {
	left := len(pods)
	if left == 0 {
		then()
		return
	}
	for _, p := range pods {
		d.API.Limited(client, owner, "claim pod", api.PodKey(p.ID), func(o api.Object) api.Object {
			cur, ok := o.(*api.Pod)
			if !ok || cur.Gone || cur.Released != p.Released {
				return nil
			}
			next := *cur
			next.Released = !p.Released
			return &next
		}, func() {
			if left--; left == 0 {
				then()
			}
		})
	}
}

// own has a pod be a ReplicaSet's, or nobody's.
func (c *ReplicaSets) own(p *api.Pod, of *api.ReplicaSetID, done func()) {
	c.d.API.Limited(&c.limit, c.Owner, "claim pod", api.PodKey(p.ID), func(o api.Object) api.Object {
		cur, ok := o.(*api.Pod)
		if !ok || cur.Gone || (cur.ReplicaSet == nil) == (of == nil) {
			return nil
		}
		next := *cur
		next.ReplicaSet = of
		return &next
	}, done)
}
