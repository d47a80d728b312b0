package control

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Periods of kubelets and of the node lifecycle controller (Kubernetes 1.36 pkg/controller/nodelifecycle and pkg/kubelet; verified).
const (
	renewal      = 10 * engine.Second // a kubelet renews its lease so often
	monitor      = 5 * engine.Second  // the controller looks at all nodes so often
	taintingPass = 100 * engine.Millisecond
)

// How fast nodes of a zone get the taint that drives pods away: one each 10 s; each 100 s where 55 % of a zone with more than 50
// nodes, and three at least, are not ready, and none where the zone is smaller (the same: evictionLimiterQPS,
// secondaryEvictionLimiterQPS, unhealthyZoneThreshold, largeClusterSizeThreshold; verified, the 50 recalled).
const (
	evictionPace        = 10 * engine.Second
	slowPace            = 100 * engine.Second
	unhealthyPerCent    = 55
	fewestUnhealthy     = 3
	largeZone           = 50
	longGraceSinceMinor = 32
)

// MonitorGrace is nodeMonitorGracePeriod: how long a kubelet of Kubernetes 1.minor may be silent (docs/model/pod-lifecycle.md 6).
func MonitorGrace(minor int) engine.Time {
	if minor < longGraceSinceMinor {
		return 40 * engine.Second
	}
	return 50 * engine.Second
}

// NodeLifecycle is the node lifecycle controller: it finds out which kubelets are silent, has the API say that their nodes and
// pods are not ready, and taints nodes. The leases are no objects here: who knows of a kubelet's silence tells it (Silent, Speaks).
//
// A node whose own kubelet says that it is not ready gets its taints, too. Its pods stay as they are: the controller marks pods
// only where it has itself turned Ready to Unknown.
type NodeLifecycle struct {
	d      *Desk
	Owner  engine.Owner
	grace  engine.Time
	loop   engine.Time // phase of its loop over all nodes
	passes engine.Time // and of those over the nodes that are to drive pods away
	limit  api.Limiter
	events recorder
	bar    *Queue // nodes whose NoSchedule taint is to follow their condition

	nodes   []api.Node // as its watch has shown them, but for what it has itself decided since
	beats   []heartbeat
	queue   []int                  // nodes that are to drive pods away, in order
	paces   map[string]engine.Time // by zone: when the next of its nodes may
	looks   bool                   // its loop will find something to do
	passing engine.Time            // when the next pass over the queue is, Never for none
}

// heartbeat is what is known of a kubelet's lease.
type heartbeat struct {
	phase  engine.Time // of the renewals
	spoke  engine.Time // a renewal out of turn: the kubelet is back
	silent int         // counts its silences; odd while it is silent
}

// NewNodeLifecycle starts the controller, of Kubernetes 1.minor.
func NewNodeLifecycle(d *Desk, minor int) *NodeLifecycle {
	const name = "node-lifecycle-controller"
	c := &NodeLifecycle{
		d: d, Owner: d.Engine.Register(name), grace: MonitorGrace(minor), limit: NewClient(), paces: map[string]engine.Time{}, passing: engine.Never,
		loop:   phaseOf(d.Engine.Stream(name, "loop"), monitor),
		passes: phaseOf(d.Engine.Stream(name, "passes"), taintingPass),
	}
	c.events = newRecorder(d, c.Owner, name, &c.limit)
	c.bar = NewQueue(d, c.Owner, name, d.Latencies.Controller, c.barNode)
	for n := range d.Nodes {
		c.nodes = append(c.nodes, api.Node{Number: n, Gone: d.Nodes[n].Joins})
		if d.Nodes[n].Silent() {
			c.nodes[n] = api.Node{Number: n, NotReady: true, Unknown: true, Barred: api.Unreachable, Drives: api.Unreachable}
		}
		c.beats = append(c.beats, heartbeat{phase: phaseOf(d.Engine.Stream("node "+d.Nodes[n].Name, "lease"), renewal), spoke: -engine.Hour})
	}
	d.API.Subscribe(name, c.Owner, d.Latencies.Watch, c.deliver, api.KindNode)
	return c
}

// phaseOf draws when in its period something is done each time.
func phaseOf(s engine.Stream, period engine.Time) engine.Time {
	return engine.Time(engine.Below(s.Draw(0), int(period)))
}

// nextIn is the first moment after now at which something is due that is done each period.
func nextIn(now, phase, period engine.Time) engine.Time {
	at := now - (now-phase)%period
	if at <= now {
		at += period
	}
	return at
}

// Silent says that the kubelet of a node renews its lease no more. The node counts as not ready once the controller's loop has
// seen nothing new for the grace period: it notes the last renewal when it comes by, and so is late by up to a loop.
func (c *NodeLifecycle) Silent(node int) {
	b := &c.beats[node]
	if b.silent%2 == 1 {
		return
	}
	b.silent++
	now, this := c.d.Engine.Now(), b.silent
	last := max(b.spoke, nextIn(now, b.phase, renewal)-renewal)
	noted := nextIn(last, c.loop, monitor)
	c.d.Engine.At(max(now, noted+c.grace), engine.ClassTimer, c.Owner, "node is silent", func() {
		c.d.API.Awake(c.Owner, func() {
			if c.beats[node].silent == this && !c.nodes[node].Gone {
				c.doubt(node)
			}
		})
	})
}

// Speaks says that the kubelet of a node is back.
func (c *NodeLifecycle) Speaks(node int) {
	if b := &c.beats[node]; b.silent%2 == 1 {
		b.silent++
		b.spoke = c.d.Engine.Now()
	}
}

// doubt has the API say that nobody knows of a node, and its pods not ready if they might have been.
func (c *NodeLifecycle) doubt(node int) {
	n := &c.nodes[node]
	was := n.NotReady
	n.NotReady, n.Unknown = true, true
	c.tend(node)
	c.d.API.Limited(&c.limit, c.Owner, "node status unknown", api.NodeKey(node), EditNode(func(n *api.Node) { n.NotReady, n.Unknown = true, true }), func() {
		if !was {
			c.events.record(node)
			c.markPods(c.d.Specs.PodsOn(node))
		}
	})
}

// EditNode is a write that changes a Node, unless it is deleted.
func EditNode(edit func(*api.Node)) func(api.Object) api.Object {
	return func(o api.Object) api.Object {
		n, ok := o.(*api.Node)
		if !ok || n.Gone {
			return nil
		}
		next := *n
		if edit(&next); next == *n {
			return nil
		}
		return &next
	}
}

// markPods has the pods of a node be not ready, one after the other. Of the readiness of their containers it says nothing
// (Kubernetes 1.36 pkg/controller/util/node, MarkPodsNotReady; verified).
func (c *NodeLifecycle) markPods(pods []*api.Pod) {
	i := slices.IndexFunc(pods, func(p *api.Pod) bool { return p.Ready })
	if i < 0 {
		return
	}
	id := pods[i].ID
	c.d.API.Limited(&c.limit, c.Owner, "pod not ready", api.PodKey(id), func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || !p.Ready {
			return nil
		}
		next := *p
		next.Ready = false
		return &next
	}, func() {
		c.events.record(len(c.nodes) + int(id)) // NodeNotReady
		c.markPods(pods[i+1:])
	})
}

// taintOf is one of the controller's taints as objects have it.
func taintOf(t api.NodeTaint, effect corev1.TaintEffect) corev1.Taint {
	key := corev1.TaintNodeNotReady
	if t == api.Unreachable {
		key = corev1.TaintNodeUnreachable
	}
	return corev1.Taint{Key: key, Effect: effect}
}

// deliver brings news of a node.
func (c *NodeLifecycle) deliver(o api.Object) {
	n, ok := o.(*api.Node)
	if !ok {
		return
	}
	silent := c.AllSilent()
	c.nodes[n.Number] = *n
	if silent && !c.AllSilent() { // those that are not ready drive their pods away again
		c.look()
	}
	if n.Gone {
		c.dequeue(n.Number)
		return
	}
	if n.Barred != n.Condition() {
		c.bar.Add(n.Number)
	}
	if n.Drives != n.Condition() {
		c.look()
	}
}

// barNode has the NoSchedule taint of a node follow its condition.
func (c *NodeLifecycle) barNode(node int) {
	want := c.nodes[node].Condition()
	c.d.API.Limited(&c.limit, c.Owner, "taint node", api.NodeKey(node), EditNode(func(n *api.Node) { n.Barred = want }), nil)
}

// look has the loop find something to do when it next comes by.
func (c *NodeLifecycle) look() {
	if c.looks {
		return
	}
	c.looks = true
	c.d.Engine.At(nextIn(c.d.Engine.Now(), c.loop, monitor), engine.ClassTimer, c.Owner, "monitor nodes", func() {
		c.d.API.Awake(c.Owner, func() {
			c.looks = false
			for n := range c.nodes {
				c.tend(n)
			}
		})
	})
}

// tend is what the loop does about the NoExecute taint of a node. One that it has for another reason is swapped at once, one that it
// need not have any more goes; a node without one waits for its turn.
func (c *NodeLifecycle) tend(node int) {
	n := &c.nodes[node]
	want := n.Condition()
	switch {
	case n.Gone || n.Drives == want:
	case c.AllSilent():
		c.excuseAll()
	case want == api.NoTaint:
		c.dequeue(node)
		c.drive(node, api.NoTaint)
	case n.Drives != api.NoTaint:
		c.drive(node, want)
	case !slices.Contains(c.queue, node):
		c.queue = append(c.queue, node)
		c.planPass(c.d.Engine.Now())
	}
}

// drive gives a node a NoExecute taint, or takes it off.
func (c *NodeLifecycle) drive(node int, taint api.NodeTaint) {
	c.nodes[node].Drives = taint
	c.d.API.Limited(&c.limit, c.Owner, "taint node NoExecute", api.NodeKey(node), EditNode(func(n *api.Node) { n.Drives = taint }), nil)
}

func (c *NodeLifecycle) dequeue(node int) {
	c.queue = slices.DeleteFunc(c.queue, func(n int) bool { return n == node })
}

// AllSilent says that no node is ready: then it is the control plane that is cut off, and no pod is driven away.
func (c *NodeLifecycle) AllSilent() bool {
	return !slices.ContainsFunc(c.nodes, func(n api.Node) bool { return !n.Gone && !n.NotReady })
}

// excuseAll takes the NoExecute taints off all nodes.
func (c *NodeLifecycle) excuseAll() {
	c.queue = nil
	for n := range c.nodes {
		if !c.nodes[n].Gone && c.nodes[n].Drives != api.NoTaint {
			c.drive(n, api.NoTaint)
		}
	}
}

// planPass has the nodes looked at that wait for their turn, at the first pass after a moment.
func (c *NodeLifecycle) planPass(after engine.Time) {
	at := nextIn(after, c.passes, taintingPass)
	if c.passing != engine.Never && c.passing <= at {
		return
	}
	c.passing = at
	c.d.Engine.At(at, engine.ClassTimer, c.Owner, "taint nodes", func() {
		c.d.API.Awake(c.Owner, func() {
			if c.passing == at {
				c.pass()
			}
		})
	})
}

// pass taints the nodes whose turn it is, of each zone by its own pace.
func (c *NodeLifecycle) pass() {
	now := c.d.Engine.Now()
	c.passing = engine.Never
	for _, node := range slices.Clone(c.queue) {
		zone := c.d.Nodes[node].Zone
		pace := c.pace(zone)
		if pace == engine.Never {
			continue
		}
		if due := c.paces[zone]; due > now {
			c.planPass(due - 1)
			continue
		}
		c.paces[zone] = now + pace
		c.dequeue(node)
		if want := c.nodes[node].Condition(); want != api.NoTaint {
			c.drive(node, want)
		}
	}
}

// pace is how long after one node of a zone the next is tainted, Never while none is.
func (c *NodeLifecycle) pace(zone string) engine.Time {
	all, bad := 0, 0
	for n := range c.nodes {
		if c.d.Nodes[n].Zone != zone || c.nodes[n].Gone {
			continue
		}
		if all++; c.nodes[n].NotReady {
			bad++
		}
	}
	switch {
	case c.AllSilent():
		return engine.Never
	case bad == all || bad < fewestUnhealthy || 100*bad < unhealthyPerCent*all:
		return evictionPace
	case all > largeZone:
		return slowPace
	default:
		return engine.Never
	}
}
