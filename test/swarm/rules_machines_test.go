package swarm

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The node lifecycle controller's constants and PodGC's (docs/model/pod-lifecycle.md 6).
const (
	leaseRenewal = 10 * sec
	gracePeriod  = 50 * sec // from 1.32 on
	earlierGrace = 40 * sec
	gcQuarantine = 40 * sec
)

// machine is what is known of a node and what runs under it.
type machine struct {
	node  *api.Node   // its last version
	dead  bool        // its machine is off
	ended engine.Time // when it last was, Never for never
	back  engine.Time // when it last booted
	gone  engine.Time // when its object went, Never for not
	barred,
	taken engine.Time // since when it is to take no pods: for its condition; for who takes it away
}

func newMachines(w *swarmWorld) []machine {
	list := make([]machine, len(w.Nodes))
	for n := range list {
		list[n] = machine{node: &api.Node{Number: n, Gone: w.Nodes[n].Joins}, ended: engine.Never, gone: engine.Never, barred: engine.Never, taken: engine.Never, dead: w.Nodes[n].Joins}
	}
	return list
}

// only says that nothing is done in this world but what has one of some verbs.
func (j *judge) only(verbs ...string) bool {
	return !slices.ContainsFunc(j.w.Actions, func(a world.Action) bool { return !slices.Contains(verbs, a.Verb()) })
}

// unsteady says that the node of a pod is one that ends, or whose kubelet begins anew: rules about its containers are about others.
func (j *judge) unsteady(p *api.Pod) bool {
	if !j.w.goes || p.Node < 0 {
		return false
	}
	name := j.w.Nodes[p.Node].Name
	return j.touched(world.KubeletOf+name) || slices.ContainsFunc(j.w.Actions, func(a world.Action) bool {
		return slices.Contains(world.LeavingNodes(a.Operation), name) || a.Operation == world.DeleteNode{Node: name} || a.Verb() == "upgradePool"
	})
}

// hearMachine follows what becomes of machines and of their Node objects.
func (j *judge) hearMachine(e event.Event) {
	switch e.Kind {
	case event.NodeGone:
		m := &j.machines[e.Node]
		m.dead, m.ended = true, e.At
		j.emptied(e)
	case event.NodeBack, event.Joined:
		j.machines[e.Node].dead, j.machines[e.Node].back = false, e.At
	case event.Started, event.Signalled, event.Stopping, event.Probed, event.Decided:
		if p := j.pods[e.Pod].api; p.Node >= 0 && j.machines[p.Node].dead {
			j.requests.later(e.At+1, func(engine.Time) {
				if j.machines[p.Node].back != e.At { // it boots at this moment
					j.fail("machine", "the kubelet of node %d works for %s at %s s, and its machine is off", p.Node, p.Name, e.At.Seconds())
				}
			})
		}
	case event.Wrote:
		if n, ok := e.Object.(*api.Node); ok {
			j.wroteNode(e.At, n)
		}
	default:
	}
}

func (j *judge) wroteNode(at engine.Time, n *api.Node) {
	m := &j.machines[n.Number]
	if n.Gone && !m.node.Gone {
		m.gone = at
	}
	if !n.Gone && m.gone == engine.Never && n.Joined {
		j.freed[n.Number] = at
	}
	m.node = n
	since(&m.barred, n.Barred != api.NoTaint, at)
	since(&m.taken, n.Tainted || n.Disrupted || n.Cordoned, at)
	if at > 0 {
		j.atATime(at)
	}
}

// since keeps when something began to be so.
func since(t *engine.Time, so bool, at engine.Time) {
	switch {
	case !so:
		*t = engine.Never
	case *t == engine.Never:
		*t = at
	}
}

// Karpenter takes no more nodes away at a time than its budget says. A pool is upgraded with as many nodes more as its surge, and
// as many less as may be unavailable (docs/model/controllers.md 8).
func (j *judge) atATime(at engine.Time) {
	disrupted, there := 0, 0
	for n := range j.machines {
		if o := j.machines[n].node; !o.Gone && !j.w.Nodes[n].Apart {
			there++
			if o.Disrupted && !j.machines[n].dead {
				disrupted++
			}
		}
	}
	standing := len(j.w.Standing())
	for _, a := range j.w.Actions {
		switch o := a.Operation.(type) {
		case world.Consolidate:
			if disrupted > o.Budget.Number {
				j.fail("taking", "Karpenter takes %d nodes away at a time, of %d", disrupted, o.Budget.Number)
			}
		case world.UpgradePool:
			if o.Provider == world.PoolEKS || len(j.w.Actions) != 1 || there <= standing+o.Surge && there >= standing-o.Unavailable {
				j.unlike = false
				continue
			}
			j.unlike = true // what has joined may not be in the API yet
			j.requests.later(at+j.w.Latency.APIWrite.Max()+ms, func(engine.Time) {
				if j.unlike {
					j.fail("taking", "the pool has %d nodes since %s s, of %d, with surge %d and unavailable %d", there, at.Seconds(), standing, o.Surge, o.Unavailable)
				}
			})
		}
	}
}

// Who takes a node away and never does so against a budget's will, or a pod's, ends a machine when its pods have gone that were there
// before it took none any more (docs/model/controllers.md 8).
func (j *judge) emptied(e event.Event) {
	if len(j.w.Actions) != 1 || !j.gentle(j.w.Actions[0].Operation) {
		return
	}
	for _, id := range j.order {
		p := j.pods[id]
		if o := p.api; o.Node == e.Node && !o.Gone && o.Phase != api.PhaseFailed && o.Phase != api.PhaseSucceeded && j.workload(o).Kind() != world.DaemonSet && p.bound < j.machines[e.Node].taken {
			j.fail("taking", "the machine of node %d ends at %s s, and %s is there", e.Node, e.At.Seconds(), o.Name)
		}
	}
}

// gentle says that an operation takes nodes away and leaves those as they are whose pods do not go by eviction.
func (j *judge) gentle(o world.Operation) bool {
	switch o := o.(type) {
	case world.ScaleDownNode:
		return true
	case world.Consolidate:
		return o.Grace == 0
	case world.UpgradePool:
		return o.Provider != world.PoolGKE && !o.Force
	default:
		return false
	}
}

// No pod is bound to a node that has been gone, tainted or marked for longer than the scheduler is late. Of its taints a DaemonSet's
// pods tolerate the cordon and those of its condition.
func (j *judge) boundToLost(at engine.Time, before, now *api.Pod) {
	if before == nil || before.Node >= 0 || now.Node < 0 || j.does("apiserver") || j.touched("scheduler") {
		return
	}
	m, l := &j.machines[now.Node], &j.w.Latency
	late := l.Watch.Max() + l.Schedule.Max() + l.APIWrite.Max() + 100*ms
	daemon := j.workload(now).Kind() == world.DaemonSet
	for _, since := range []struct {
		what string
		at   engine.Time
		may  bool
	}{{"gone", m.gone, false}, {"tainted for its condition", m.barred, daemon}, {"to be taken away", m.taken, daemon}} {
		if !since.may && since.at != engine.Never && since.at+late < at {
			j.fail("bound", "%s is bound to node %d at %s s, which is %s since %s s", now.Name, now.Node, at.Seconds(), since.what, since.at.Seconds())
		}
	}
}

// grace is how long a kubelet may be silent.
func (j *judge) grace() engine.Time {
	if j.w.Kubernetes.Version.Before(endpoints.Version{Major: 1, Minor: 32}) {
		return earlierGrace
	}
	return gracePeriod
}

// Where nothing happens but that machines end, pods are deleted on those alone: when the lease has not been renewed for the grace
// period, and the pod has tolerated that for as long as it says (docs/model/pod-lifecycle.md 6); of a Node that is deleted after the
// quarantine. A DaemonSet's pods stay on a node that is silent.
func (j *judge) drivenAway(at engine.Time, before, now *api.Pod) {
	if before == nil || before.Deleting() || !now.Deleting() || now.Node < 0 || !j.w.goes {
		return
	}
	m, least := &j.machines[now.Node], engine.Never
	switch {
	case j.only("crashNode"):
		if m.ended != engine.Never && j.workload(now).Kind() != world.DaemonSet {
			least = m.ended - leaseRenewal + j.grace() + j.w.patience
		}
	case j.only("deleteNode"):
		if m.gone != engine.Never {
			least = m.gone + gcQuarantine
		}
	default:
		return
	}
	if least == engine.Never || at < least {
		j.fail("driven away", "%s of node %d is deleted at %s s; it ended at %s s, its object went at %s s", now.Name, now.Node, at.Seconds(), m.ended.Seconds(), m.gone.Seconds())
	}
}

// At rest no pod is left where none can be: none of a Node that is deleted; none that somebody would replace on a machine that is off, unless
// it tolerates that; none that is Ready there.
func (j *judge) closeMachines(res *sim.Result) {
	if !res.Settled || res.Unrest != "" { // nothing more happens, and a gate, say, stays closed
		return
	}
	for _, id := range j.order {
		p := j.pods[id].api
		if p.Gone || p.Node < 0 {
			continue
		}
		m := &j.machines[p.Node]
		switch {
		case m.gone != engine.Never:
			j.fail("left", "%s is on node %d at the end, whose object went at %s s", p.Name, p.Node, m.gone.Seconds())
		case m.dead && p.Ready && len(j.w.Shutdown) == 0: // a kubelet that said itself that its node is not ready may leave it so
			j.fail("left", "%s is Ready at the end, on node %d, which is off since %s s", p.Name, p.Node, m.ended.Seconds())
		case m.dead && p.Active() && j.workload(p).Kind() != world.DaemonSet && !j.allDead():
			j.fail("left", "%s stays on node %d to the end, which is off since %s s", p.Name, p.Node, m.ended.Seconds())
		}
	}
	j.closeDaemons()
}

// allDead says that no node is there that could speak: then the control plane drives no pod away.
func (j *judge) allDead() bool {
	return !slices.ContainsFunc(j.machines, func(m machine) bool { return !m.dead && !m.node.Gone })
}

// In the end a DaemonSet has one pod on each node that is there, cordoned or not, and whose taints it tolerates.
func (j *judge) closeDaemons() {
	for i := range j.w.Workloads {
		if j.w.Workloads[i].Kind() != world.DaemonSet {
			continue
		}
		for n := range j.machines {
			m := &j.machines[n]
			if m.dead || m.node.Gone || m.node.Tainted || m.node.Disrupted || j.w.Nodes[n].Apart {
				continue
			}
			pods := 0
			for _, id := range j.order {
				if p := j.pods[id].api; p.Workload == i && p.Place() == n && !p.Gone {
					pods++
				}
			}
			if pods != 1 {
				j.fail("daemons", "node %d has %d pods of %s at the end", n, pods, j.w.Workloads[i].Name())
			}
		}
	}
}

// A failure is put down to a machine, or to how late that was noticed, only if one was off, or a kubelet silent, before.
func (j *judge) blamedMachine(r *ledger.Request) {
	if r.Blame.Cause != ledger.NodeGone && r.Blame.Actor != ledger.NodeLifecycle {
		return
	}
	// Of one that timed out an earlier SYN may be to blame, which went elsewhere; and others waited for a connection.
	t := &j.w.Traffic[r.Stream]
	wherever := r.Blame.Actor == ledger.NodeLifecycle || r.Node < 0 || r.Outcome == ledger.Timeout || t.KeepAlive || t.Connection != world.ConnectionOwn || t.Ingress != nil
	for n := range j.machines {
		if m := &j.machines[n]; m.ended != engine.Never && m.ended <= r.End && (wherever || r.Node == n || j.on(r.Pod, n)) {
			return
		}
	}
	j.fail("blame", "request %d of stream %d, from %s s to %s s, is put down to a machine that was off (%s, %s): node %d, pod %s", r.Number, r.Stream, r.Arrival.Seconds(), r.End.Seconds(), r.Blame.Cause, r.Blame.Actor, r.Node, r.Pod)
}

// on says whether a pod of some name is on a node.
func (j *judge) on(name string, node int) bool {
	return slices.ContainsFunc(j.order, func(id api.PodID) bool { return j.pods[id].api.Name == name && j.pods[id].api.Node == node })
}
