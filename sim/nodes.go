package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/balancer"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// watchNodes has the controller of a load balancer hear of nodes, as far as it looks at them.
func (f *forwarder) watchNodes(name string) {
	f.silent = make([]bool, len(f.run.sc.Nodes))
	for n := range f.silent {
		f.silent[n] = f.run.cluster.Dead(n)
	}
	f.nodes = f.run.cluster.WatchNodes(name+" nodes", f.owner, func(n api.Node) {
		if f.spec.Target == world.TargetNodes && balancer.LooksAt(f.spec, seenNode(n)) {
			f.b.HearNode()
		}
	})
}

func seenNode(n api.Node) balancer.Node {
	return balancer.Node{
		Gone: n.Gone, Tainted: n.Tainted, NotReady: n.NotReady, Disrupted: n.Disrupted, Excluded: n.Excluded, Joined: n.Joined,
	}
}

// Left says whether a node is no target any more.
func (f *forwarder) Left(node int, settled bool) bool {
	if f.spec.NodesLeave == world.NodesSilent {
		return f.silent[node] || settled && f.run.cluster.Dead(node)
	}
	n := f.nodes.Node(node)
	if settled {
		n = f.run.cluster.NodeInAPI(node)
	}
	return balancer.Leaves(f.spec, seenNode(n), settled)
}

// nodeDied has the other speakers, or the routers, find out that a speaker is gone.
func (f *forwarder) nodeDied(node int) {
	if f.spec.NodesLeave != world.NodesSilent {
		return
	}
	draws := f.run.eng.Stream("session of "+f.run.sc.Nodes[node].Name, "hold")
	delay := balancer.Silence(f.spec, seenNode(f.run.cluster.NodeInAPI(node)), draws)
	f.run.eng.After(delay, engine.ClassTimer, f.owner, "speaker is silent", func() {
		if !f.run.cluster.Dead(node) {
			return // it has come back
		}
		f.silent[node] = true
		f.b.HearNode()
	})
}

// nodeCame has the other speakers, or the routers, hear at once of one that is new, or back: it opens its session itself.
func (f *forwarder) nodeCame(node int) {
	if f.silent[node] {
		f.silent[node] = false
		f.b.HearNode()
	}
}

// unheardOf names a speaker that is gone while its routers wait for it, "" for none.
func (f *forwarder) unheardOf() string {
	for n, silent := range f.silent {
		if f.spec.NodesLeave == world.NodesSilent && f.run.cluster.Dead(n) && !silent {
			return "routers have not noticed that the speaker on " + f.run.sc.Nodes[n].Name + " is gone"
		}
	}
	return ""
}
