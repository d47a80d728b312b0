package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// beginNodes fills in the Node objects.
func (w *World) beginNodes() {
	for n := range w.sc.Nodes {
		o := w.sc.Nodes[n].Object
		tainted := o != nil && (o.DeletionTimestamp != nil ||
			slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == healthcheck.ToBeDeletedTaint }))
		w.store.Put(api.NodeKey(n), &api.Node{Number: n, Tainted: tainted, Excluded: w.excluded(n)})
		w.Proxies[n].Sees(&api.Node{Tainted: tainted})
		if w.sc.Nodes[n].Silent() {
			w.beginMute(n, tainted)
		}
		if w.sc.Nodes[n].Joins {
			w.store.Put(api.NodeKey(n), &api.Node{Number: n, Gone: true})
			w.dead[n] = true
			w.Proxies[n].Die()
		}
	}
}

// beginMute fills in a Node whose kubelet is silent: the control plane has noticed, and put its taints on it. Whether its machine runs
// nobody can say: its service proxy is taken to.
func (w *World) beginMute(node int, tainted bool) {
	o := &api.Node{
		Number: node, Tainted: tainted, Excluded: w.excluded(node), NotReady: true, Unknown: true, Barred: api.Unreachable, Drives: api.Unreachable,
	}
	w.mute[node], w.conditions[node] = true, o.Condition()
	w.store.Put(api.NodeKey(node), o)
	w.sched.KnowNode(o)
	w.kubelets[node].Mute()
}

// excluded says whether load balancers leave a node out from the beginning: by its label, or since it is of another pool.
func (w *World) excluded(node int) bool {
	n := &w.sc.Nodes[node]
	if n.Object == nil {
		return n.Apart
	}
	_, labelled := n.Object.Labels[corev1.LabelNodeExcludeBalancers]
	return labelled || n.Apart
}

// NodeInAPI is the present version of a Node object.
func (w *World) NodeInAPI(node int) api.Node {
	n, _ := w.store.Get(api.NodeKey(node)).(*api.Node)
	return *n
}

// Dead says whether a node's machine is gone: nothing there answers, and what is sent through it
// is lost.
func (w *World) Dead(node int) bool { return w.dead[node] }

// numberOf finds a node by name; the scenario was validated.
func (w *World) numberOf(name string) int {
	return slices.IndexFunc(w.sc.Nodes, func(n world.Node) bool { return n.Name == name })
}

// vacant says whether no pod is on a node, or on its way there.
func (w *World) vacant(node int) bool {
	return !slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		on, assumed := w.sched.Assumed(id)
		return ok && !p.Phase.Terminal() && (p.Node == node || assumed && on == node)
	})
}

// scaleDown is what Cluster Autoscaler does to a node (docs/model/controllers.md 8): one without pods is tainted, and its machine goes
// when the action ends.
func (w *World) scaleDown(node int, a *world.Action) {
	if w.dead[node] || w.emptied[node] {
		return
	}
	if !w.vacant(node) {
		w.emptied[node] = true
		w.take(a)
		return
	}
	w.sched.Leaves(node) // the autoscaler cordons it, too
	w.writeNode(node, "taint node", func(n *api.Node) { n.Tainted = true })
}

// deleteNode has the cloud end a machine that was tainted, and its object go with it (docs/model/controllers.md 8 Then; recalled). One that
// had pods goes when these have gone.
func (w *World) deleteNode(node int) {
	if w.dead[node] || w.emptied[node] {
		return
	}
	if w.sc.MachineStop == 0 {
		w.endMachine(node)
		return
	}
	w.closing[node] = w.sc.Nodes[node].Name + " is stopping"
	w.eng.After(w.sc.MachineStop, engine.ClassTimer, w.owner, "end machine", func() {
		w.closing[node] = ""
		w.endMachine(node)
	})
}

// endMachine has a machine be off, and its object go.
func (w *World) endMachine(node int) {
	if w.dead[node] {
		return
	}
	w.die(node)
	w.writeNode(node, "delete node", func(n *api.Node) { n.Gone = true })
}

func (w *World) writeNode(node int, name string, edit func(*api.Node)) {
	w.store.Write(w.owner, name, api.NodeKey(node), func(o api.Object) api.Object {
		n, ok := o.(*api.Node)
		if !ok || n.Gone {
			return nil
		}
		next := *n
		edit(&next)
		return &next
	}, nil)
}

// join has a node join: it is ready, and its service proxy has its rules in force. joined is called when the API server has it.
func (w *World) join(node int, joined func()) {
	w.dead[node] = false
	w.Proxies[node].Join()
	w.store.Write(w.owner, "node joins", api.NodeKey(node), func(api.Object) api.Object { return &api.Node{Number: node, Joined: true} }, func() {
		w.log.Tell(event.Event{Kind: event.Joined, Pod: -1, Node: node, Stream: -1})
		w.observer.NodeChanged(node)
		joined()
	})
}

// die ends what runs on a node: pods, too, without a word.
func (w *World) die(node int) {
	w.dead[node] = true
	w.log.Tell(event.Event{Kind: event.NodeGone, Pod: -1, Node: node, Stream: -1})
	w.kubelets[node].Die()
	w.Proxies[node].Die()
	w.installs++ // who asked for healthy nodes asks again
	w.observer.NodeChanged(node)
}

// InstancesOn lists what runs, or ran, on a node.
func (w *World) InstancesOn(node int) []*kubelet.Instance { return w.instances.On(node) }

// EligibleSettled is what the /healthz of a node's service proxy would make of the Node if every
// delay were zero.
func (w *World) EligibleSettled(node int) bool {
	return !w.sc.Kubernetes.Options.NodeEligibility || !w.NodeInAPI(node).Tainted
}

// NodeWatch is what a controller outside has heard of the nodes.
type NodeWatch struct{ nodes []api.Node }

// WatchNodes starts a watch for a controller outside. hear is told of each version that has arrived.
func (w *World) WatchNodes(name string, owner engine.Owner, hear func(api.Node)) *NodeWatch {
	out := &NodeWatch{}
	for n := range w.sc.Nodes {
		out.nodes = append(out.nodes, w.NodeInAPI(n))
	}
	w.store.Subscribe(name, owner, w.sc.Latency.Watch, func(o api.Object) {
		if n, ok := o.(*api.Node); ok {
			out.nodes[n.Number] = *n
			hear(*n)
		}
	}, api.KindNode)
	return out
}

// Node is a node as it was last heard of.
func (x *NodeWatch) Node(n int) api.Node { return x.nodes[n] }

// unnoticedNode names a node that is gone, and that the API does not know of, "" for none.
func (w *World) unnoticedNode() string {
	for n, dead := range w.dead {
		if o := w.NodeInAPI(n); dead && !o.Gone && !o.NotReady {
			return w.sc.Nodes[n].Name + " is gone and counts as ready"
		}
	}
	return ""
}
