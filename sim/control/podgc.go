package control

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Periods of the pod garbage collector (Kubernetes 1.36 pkg/controller/podgc; verified).
const (
	gcPeriod   = 20 * engine.Second
	quarantine = 40 * engine.Second // how long a node may be missing
)

// PodGC is the pod garbage collector, as far as nodes are concerned: the pods of a Node that is deleted become Failed and are deleted
// without grace, when the Node has been missing for the quarantine.
type PodGC struct {
	d     *Desk
	Owner engine.Owner
	loop  engine.Time // its phase
	limit api.Limiter
}

// NewPodGC starts the controller.
func NewPodGC(d *Desk) *PodGC {
	const name = "pod-garbage-collector"
	c := &PodGC{d: d, Owner: d.Engine.Register(name), limit: NewClient(), loop: phaseOf(d.Engine.Stream(name, "loop"), gcPeriod)}
	nodes := d.API.Subscribe(name, c.Owner, d.Latencies.Watch, c.deliver, api.KindNode)
	nodes.Wants = func(o api.Object) bool {
		n, ok := o.(*api.Node)
		return ok && n.Gone
	}
	return c
}

func (c *PodGC) deliver(o api.Object) {
	if n, ok := o.(*api.Node); ok {
		c.each(nextIn(c.d.Engine.Now(), c.loop, gcPeriod), n.Number, engine.Never)
	}
}

// each is the loop coming by at a moment. A node that it finds missing is in quarantine until another, Never before.
func (c *PodGC) each(at engine.Time, node int, until engine.Time) {
	c.d.Engine.At(at, engine.ClassTimer, c.Owner, "collect pods", func() {
		c.d.API.Awake(c.Owner, func() {
			pods := c.d.Specs.PodsOn(node)
			switch {
			case len(pods) == 0:
				return
			case until == engine.Never:
				until = at + quarantine
				if c.misses(node) {
					until++
				}
			case at >= until:
				c.collect(pods)
			}
			c.each(nextIn(c.d.Engine.Now(), c.loop, gcPeriod), node, until)
		})
	})
}

// missedIn is how often the loop finds the quarantine not quite over that is two of its periods long: once in so many times (assumed; a
// recording has 75 s from the deletion).
const missedIn = 3

// misses says whether the loop that comes by when the quarantine of a node ends is a moment too early, and the next one collects: the queue's
// timer and the loop's are due at the same moment (Kubernetes 1.36 pkg/controller/podgc, gcOrphaned, AddAfter; verified).
func (c *PodGC) misses(node int) bool {
	return engine.Below(c.d.Engine.Stream("pod-garbage-collector", "quarantine").Draw(uint64(node)), missedIn) == 0
}

// collect ends pods one after the other: first in their status, which has their controllers replace them, then for good.
func (c *PodGC) collect(pods []*api.Pod) {
	if len(pods) == 0 {
		return
	}
	id := pods[0].ID
	remove := func() {
		c.d.API.Limited(&c.limit, c.Owner, "remove pod", api.PodKey(id), c.d.Specs.Deletion(id, 0), func() { c.collect(pods[1:]) })
	}
	c.d.API.Limited(&c.limit, c.Owner, "pod failed", api.PodKey(id), func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || p.Phase.Terminal() {
			return nil
		}
		next := *p
		next.Phase = api.PhaseFailed
		return &next
	}, remove)
}
