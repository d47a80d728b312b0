package balancer

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Node is what a version of a Node says that a load balancer's controller may go by.
type Node struct {
	Gone     bool // its object is deleted
	Tainted  bool // by Cluster Autoscaler, which is about to delete it
	NotReady bool // its condition Ready is not true

	Disrupted bool // by Karpenter's taint
	Excluded  bool // by its label node.kubernetes.io/exclude-from-external-load-balancers
	Joined    bool // it is a new one
}

// LooksAt says whether a version of a Node makes a load balancer's controller look at its targets
// (docs/model/load-balancers.md 2).
func LooksAt(spec *world.LoadBalancer, n Node) bool {
	switch spec.NodesLeave {
	case world.NodesSilent: // it goes by its speakers
		return false
	case world.NodesNotReady:
		return true
	case world.NodesTainted:
		return n.Gone || n.Tainted || n.Excluded || n.Joined
	default:
		return n.Gone || n.Excluded || n.Joined
	}
}

// Leaves says whether a node is no target for a controller that looks at it; settled, whether it would be
// none if the controller had looked. A controller that looks for another reason leaves a tainted node out, too.
func Leaves(spec *world.LoadBalancer, n Node, settled bool) bool {
	return n.Gone || n.Excluded || n.Tainted && (!settled || LooksAt(spec, n)) ||
		(n.NotReady || n.Disrupted) && spec.NodesLeave == world.NodesNotReady
}

// How long routers wait for a BGP speaker that has died without a word: its hold time of 90 s,
// counted from its last message, of which there is one each third of that (MetalLB's default and
// RFC 4271; recalled).
const (
	shortestHold = 60 * engine.Second
	longestHold  = 90 * engine.Second
)

// Silence is how long the other speakers, or the routers, take to find out that the speaker on a node is gone: no time by
// the end of its session, where that is orderly, or where the speakers talk to each other all the time; else
// until it has been silent for too long.
func Silence(spec *world.LoadBalancer, n Node, draws engine.Stream) engine.Time {
	if spec.Announce != world.AnnounceBGP || n.Tainted {
		return 0
	}
	hold, err := engine.Uniform(shortestHold, longestHold)
	if err != nil {
		panic(err) // constants in order
	}
	return hold.Sample(draws.Draw(0))
}
