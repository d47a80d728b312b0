package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// powerOffTime is what a machine takes from the end of its kubelet's work until it is off (assumed).
const powerOffTime = engine.Second

// cloudLoop is how often the cloud node lifecycle controller looks at nodes that are not ready: it deletes those whose instance is no more
// (k8s.io/cloud-provider 0.36.3 controllers/nodelifecycle; recalled).
const cloudLoop = 5 * engine.Second

// shutdownNode has a machine shut down, and off. A kubelet that is set to it says that its node is not ready, and ends its pods first; else all that
// runs there ends with the machine. over hears when that is off.
func (w *World) shutdownNode(node int, over func()) {
	if w.dead[node] || w.kubelets[node].Shutting() {
		return
	}
	w.upset(node)
	groups := w.sc.Shutdown
	off := func() {
		w.closing[node] = ""
		w.powerOff(node)
		over()
		if w.boots[node] {
			w.boots[node] = false
			w.bootNode(node)
		}
	}
	if len(groups) == 0 {
		off()
		return
	}
	w.closing[node] = w.sc.Nodes[node].Name + " shuts down"
	w.kubeletWrites(node, "node shuts down", func(n *api.Node) { n.NotReady = true })
	w.kubelets[node].ShutDown(groups, func(group int) {
		if group == len(groups)-1 { // kube-proxy's pod is system-node-critical
			w.Proxies[node].Halt()
			w.installs++ // who asked for healthy nodes asks again
			w.noteRules(node)
			w.observer.NodeChanged(node)
		}
	}, func() {
		w.eng.After(powerOffTime, engine.ClassTimer, w.owner, "machine is off", off)
	})
}

// spotNotice has a machine taken back. Its Node is deleted when that is gone and not ready.
func (w *World) spotNotice(o world.SpotNotice) {
	node := w.numberOf(o.Node)
	w.upset(node)
	w.closing[node] = o.Node + " is about to be taken back"
	if o.Drains {
		w.drain(world.Drain{Nodes: []string{o.Node}, DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}})
	}
	if o.Karpenter {
		w.take(&world.Action{Operation: o})
	}
	gone := func() {
		w.disrupts.takers.Gone(node)
		w.cloudLooks(node)
	}
	if o.Sudden {
		w.shutdownNode(node, gone)
	}
	w.eng.After(o.Notice, engine.ClassTimer, w.owner, "spot notice is over", func() {
		switch {
		case !o.Sudden:
			w.shutdownNode(node, gone)
		case !w.dead[node]:
			w.closing[node] = ""
			w.powerOff(node)
			gone()
		}
	})
}

// cloudLooks has the object of a node go whose instance is no more, when the cloud's controller comes by and finds it not ready.
func (w *World) cloudLooks(node int) {
	phase := engine.Time(engine.Below(w.eng.Stream("cloud-node-lifecycle-controller", "loop").Draw(0), int(cloudLoop)))
	now := w.eng.Now()
	at := now - (now-phase)%cloudLoop
	if at <= now {
		at += cloudLoop
	}
	w.eng.At(at, engine.ClassTimer, w.owner, "cloud looks at nodes", func() {
		switch n := w.NodeInAPI(node); {
		case n.Gone:
		case n.NotReady:
			w.writeNode(node, "delete node", func(n *api.Node) { n.Gone = true })
		default:
			w.cloudLooks(node)
		}
	})
}

// removeNode is kubectl delete node. Its machine goes with it, or stays.
func (w *World) removeNode(o world.DeleteNode) {
	node := w.numberOf(o.Node)
	w.upset(node)
	if o.Machine {
		w.powerOff(node)
	}
	w.writeNode(node, "delete node", func(n *api.Node) { n.Gone = true })
}

// closingNode says what of a node is about to happen, "" for nothing.
func (w *World) closingNode() string {
	for _, words := range w.closing {
		if words != "" {
			return words
		}
	}
	return ""
}
