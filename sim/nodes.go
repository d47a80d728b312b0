package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How long routers wait for a BGP speaker that has died without a word: its hold time of 90 s,
// counted from its last message, of which there is one each third of that (MetalLB's default and
// RFC 4271; recalled).
const (
	shortestHold = 60 * engine.Second
	longestHold  = 90 * engine.Second
)

// watchNodes has the controller of a load balancer hear of nodes, as far as it looks at them
// (docs/model/load-balancers.md 2).
func (f *front) watchNodes(name string) {
	f.silent = make([]bool, len(f.run.sc.Nodes))
	f.nodes = f.run.cluster.WatchNodes(name+" nodes", f.owner, func(n api.Node) {
		if f.spec.Target == world.TargetNodes && f.looksAt(n) {
			f.b.HearNode()
		}
	})
}

// looksAt says whether a version of a Node makes the controller look at its targets.
func (f *front) looksAt(n api.Node) bool {
	switch f.spec.NodesLeave {
	case world.NodesSilent: // it goes by its speakers
		return false
	case world.NodesNotReady:
		return true
	case world.NodesTainted:
		return n.Gone || n.Tainted
	default:
		return n.Gone
	}
}

// Left says whether a node is no target any more. Whoever looks leaves a tainted node out, for
// whatever reason it looks.
func (f *front) Left(node int, settled bool) bool {
	if f.spec.NodesLeave == world.NodesSilent {
		return f.silent[node] || settled && f.run.cluster.Dead(node)
	}
	n := f.nodes.Node(node)
	if settled {
		n = f.run.cluster.NodeInAPI(node)
	}
	return n.Gone || n.Tainted && (!settled || f.looksAt(n)) || n.NotReady && f.spec.NodesLeave == world.NodesNotReady
}

// nodeDied has the other speakers, or the routers, find out that a speaker is gone: at once by the
// end of its session where that is orderly or the others talk to each other all the time, else
// when it has been silent for too long.
func (f *front) nodeDied(node int) {
	if f.spec.NodesLeave != world.NodesSilent {
		return
	}
	delay := engine.Time(0)
	if f.spec.Announce == world.AnnounceBGP && !f.run.cluster.NodeInAPI(node).Tainted {
		hold, err := engine.Uniform(shortestHold, longestHold)
		if err != nil {
			panic(err) // constants in order
		}
		delay = hold.Sample(f.run.eng.Stream("session of "+f.run.sc.Nodes[node].Name, "hold").Draw(0))
	}
	f.run.eng.After(delay, engine.ClassTimer, f.owner, "speaker is silent", func() {
		f.silent[node] = true
		f.b.HearNode()
	})
}

// unheardOf names a speaker that is gone while its routers wait for it, "" for none.
func (f *front) unheardOf() string {
	for n, silent := range f.silent {
		if f.spec.NodesLeave == world.NodesSilent && f.run.cluster.Dead(n) && !silent {
			return "routers have not noticed that the speaker on " + f.run.sc.Nodes[n].Name + " is gone"
		}
	}
	return ""
}
