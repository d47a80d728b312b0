package control

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// TaintEviction is the controller that deletes the pods of nodes which have a NoExecute taint, each when it has tolerated that for as
// long as it does: 300 s unless its manifest says otherwise. It deletes them as anybody does, and asks no disruption budget
// (Kubernetes 1.36 pkg/controller/tainteviction; verified).
type TaintEviction struct {
	d      *Desk
	Owner  engine.Owner
	limit  api.Limiter
	react  *Queue // nodes whose taints have changed
	taints []api.NodeTaint
	due    map[api.PodID]*dueEviction
}

// dueEviction is a pod that is to be deleted.
type dueEviction struct{ timer engine.Handle }

// NewTaintEviction starts the controller.
func NewTaintEviction(d *Desk) *TaintEviction {
	const name = "taint-eviction-controller"
	c := &TaintEviction{d: d, Owner: d.Engine.Register(name), limit: NewClient(), taints: make([]api.NodeTaint, len(d.Nodes)), due: map[api.PodID]*dueEviction{}}
	c.react = NewQueue(d, c.Owner, name, d.Latencies.Controller, c.sync)
	d.API.Subscribe(name+" nodes", c.Owner, d.Latencies.Watch, c.deliverNode, api.KindNode)
	pods := d.API.Subscribe(name+" pods", c.Owner, d.Latencies.Watch, c.deliverPod, api.KindPod)
	pods.Wants = func(o api.Object) bool { // of most pods there is nothing to do
		p, ok := o.(*api.Pod)
		return ok && p.Node >= 0 && (c.due[p.ID] != nil || c.taints[p.Node] != api.NoTaint)
	}
	return c
}

func (c *TaintEviction) deliverNode(o api.Object) {
	n, ok := o.(*api.Node)
	if !ok || c.taints[n.Number] == n.Drives && !n.Gone {
		return
	}
	if c.taints[n.Number] = n.Drives; n.Gone {
		c.taints[n.Number] = api.NoTaint // what is planned stays planned
		return
	}
	c.react.Add(n.Number)
}

func (c *TaintEviction) deliverPod(o api.Object) {
	p, ok := o.(*api.Pod)
	switch {
	case !ok:
	case p.Gone:
		c.cancel(p.ID)
	case c.due[p.ID] == nil && !p.Deleting():
		c.plan(p)
	}
}

// sync plans the evictions from a node anew.
func (c *TaintEviction) sync(node int) {
	for _, p := range c.d.Specs.PodsOn(node) {
		c.plan(p)
	}
}

// plan has a pod deleted when it tolerates its node's taint no longer. What is planned stays so where another taint takes the place of the
// first, unless the pod does not tolerate that one at all, or for always.
func (c *TaintEviction) plan(p *api.Pod) {
	taint := c.taints[p.Node]
	if taint == api.NoTaint {
		c.cancel(p.ID)
		return
	}
	tolerations := world.TolerationsOf(c.d.Specs.ResourceOf(setOf(p)))
	patience, ever := world.Endures(tolerations, taintOf(taint, corev1.TaintEffectNoExecute))
	if ever {
		c.cancel(p.ID)
		return
	}
	if patience >= 0 && c.due[p.ID] != nil {
		return
	}
	c.cancel(p.ID)
	e := &dueEviction{}
	c.due[p.ID] = e
	e.timer = c.d.Engine.After(max(0, patience), engine.ClassTimer, c.Owner, "taint eviction", func() {
		c.d.API.Awake(c.Owner, func() { c.evict(p.ID, e) })
	})
}

// Clings says that nobody drives a pod away from its node, though that is not ready: it tolerates the node's taint for ever.
func (d *Desk) Clings(p *api.Pod) bool {
	n, ok := d.API.Get(api.NodeKey(p.Node)).(*api.Node)
	if !ok || n.Gone || n.Drives == api.NoTaint {
		return false
	}
	_, ever := world.Endures(world.TolerationsOf(d.Specs.ResourceOf(setOf(p))), taintOf(n.Drives, corev1.TaintEffectNoExecute))
	return ever
}

// Plans says whether a pod is to be deleted when it has tolerated its node's taint for long enough.
func (c *TaintEviction) Plans(id api.PodID) bool { return c != nil && c.due[id] != nil }

func (c *TaintEviction) cancel(id api.PodID) {
	if e := c.due[id]; e != nil {
		c.d.Engine.Cancel(e.timer)
		delete(c.due, id)
	}
}

// evict notes in a pod's status why it goes (DisruptionTarget), and deletes it.
func (c *TaintEviction) evict(id api.PodID, e *dueEviction) {
	if c.due[id] != e {
		return
	}
	delete(c.due, id)
	c.d.API.Limited(&c.limit, c.Owner, "pod condition", api.PodKey(id), func(api.Object) api.Object { return nil }, func() {
		c.d.API.Limited(&c.limit, c.Owner, "delete pod", api.PodKey(id), c.d.Specs.Deletion(id, world.OwnGrace), nil)
	})
}
