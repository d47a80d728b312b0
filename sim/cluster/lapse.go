package cluster

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// lapses is who deals with nodes that are silent, not ready or missing; nil where none ever is.
type lapses struct {
	lifecycle *control.NodeLifecycle
	evictor   *control.TaintEviction
	gc        *control.PodGC
}

// keepsStatusSince is the first minor version of Kubernetes 1 whose kubelets take over readiness when they are started again.
const keepsStatusSince = 35

// openLapses starts the controllers that nodes need which do not stay as they are.
func (w *World) openLapses() {
	minor := w.sc.Kubernetes.Version.Minor
	w.desk.KeepsStatus = minor >= keepsStatusSince
	lapse := func(a world.Action) bool { return world.Lapses(&a, control.MonitorGrace(minor)) }
	if !slices.ContainsFunc(w.sc.Actions, lapse) {
		return
	}
	w.lapses = lapses{control.NewNodeLifecycle(w.control, minor), control.NewTaintEviction(w.control), control.NewPodGC(w.control)}
	w.enroll("node-lifecycle-controller", w.lapses.lifecycle.Owner)
	for n, k := range w.kubelets {
		k.Reconcile(w.sc.Nodes[n].Name)
	}
}

// crashNode ends a machine. Its object stays: nobody knows.
func (w *World) crashNode(node int) {
	if w.dead[node] {
		return
	}
	w.upset(node)
	w.powerOff(node)
}

// powerOff ends a machine, of whose object nobody says anything.
func (w *World) powerOff(node int) {
	if w.dead[node] {
		return
	}
	w.die(node)
	w.store.Thaw(w.kubelets[node].Owner)
	w.lapses.lifecycle.Silent(node)
}

// upset notes that pods of a node are to find another.
func (w *World) upset(node int) {
	for _, p := range w.PodsOn(node) {
		w.begun[p.Workload] = true
	}
}

// bootNode has a machine that was gone be back, with its kubelet and its service proxy.
func (w *World) bootNode(node int) {
	if !w.dead[node] {
		w.boots[node] = w.closing[node] != "" // when it is off
		return
	}
	w.dead[node], w.mute[node] = false, false
	w.Proxies[node].Boot() // which ends a sync: who asked for healthy nodes asks again
	w.kubelets[node].Boot(w.PodsOn(node))
	w.heard(node)
	w.log.Tell(event.Event{Kind: event.NodeBack, Pod: -1, Node: node, Stream: -1})
	w.observer.NodeChanged(node)
}

// heard has the kubelet of a node say that it is there and ready.
func (w *World) heard(node int) {
	if w.lapses.lifecycle == nil {
		return
	}
	w.lapses.lifecycle.Speaks(node)
	w.kubeletWrites(node, "node ready", func(n *api.Node) { n.NotReady, n.Unknown = false, false })
}

// kubeletWrites has the kubelet of a node write its Node.
func (w *World) kubeletWrites(node int, name string, edit func(*api.Node)) {
	w.store.Write(w.kubelets[node].Owner, name, api.NodeKey(node), control.EditNode(edit), nil)
}

// kubeletPaused hears that a kubelet is paused, or goes on.
func (w *World) kubeletPaused(node int, paused bool) {
	switch {
	case w.lapses.lifecycle == nil || w.dead[node]:
	case paused:
		w.upset(node)
		w.lapses.lifecycle.Silent(node)
	default:
		w.heard(node)
	}
}

// restartKubelet ends a kubelet, which starts again. Its machine, and what runs there, stays.
func (w *World) restartKubelet(node int) {
	if !w.dead[node] && !w.mute[node] {
		w.kubelets[node].Restart(func() []*api.Pod { return w.PodsOn(node) })
	}
}

// stranded says that nobody is there to stop a pod that is being deleted: its machine is gone, or its kubelet is silent from the beginning.
// It stays until that is back, or its Node is deleted, too.
func (w *World) stranded(p *api.Pod) bool {
	return p.Deleting() && p.Node >= 0 && (w.dead[p.Node] || w.mute[p.Node]) && !w.NodeInAPI(p.Node).Gone
}

// noteNode follows versions of Nodes. Pods of one that is deleted are in no slice that is written from now on.
func (w *World) noteNode(n *api.Node) {
	if was := w.conditions[n.Number]; was != n.Condition() && !n.Gone {
		w.conditions[n.Number] = n.Condition()
		e := event.Event{Kind: event.NodeReady, Pod: -1, Node: n.Number, Stream: -1, OK: !n.NotReady}
		if n.Unknown {
			e.Refusal = "its kubelet is silent"
		}
		w.log.Tell(e)
	}
	if !n.Gone || w.missing[n.Number] {
		return
	}
	w.missing[n.Number] = true
	w.missed++
	for _, p := range w.PodsOn(n.Number) {
		for _, s := range w.ServicesOf(p.Workload) {
			w.settled = nil
			w.settledOf[s].outdate()
			w.uncheck(s)
		}
	}
}
