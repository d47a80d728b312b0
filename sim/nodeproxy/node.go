package nodeproxy

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// deliverNode brings the proxy news of its own Node.
func (p *Proxy) deliverNode(o api.Object) {
	n, ok := o.(*api.Node)
	if !ok || p.dead {
		return
	}
	before, tainted := p.Eligible(), len(p.nodeState.Taints) > 0
	if p.Sees(n); p.Eligible() == before && tainted == n.Tainted {
		return
	}
	p.log.NodeSeen(p.Node, n.Tainted, p.Eligible())
}

// Sees remembers a version of the proxy's Node. A deleted one stays as it was last seen
// (docs/model/kube-proxy.md 5.2).
func (p *Proxy) Sees(n *api.Node) {
	if n.Gone {
		return
	}
	p.nodeState = healthcheck.NodeState{Known: true}
	if n.Tainted {
		p.nodeState.Taints = []string{healthcheck.ToBeDeletedTaint}
	}
}

// Eligible is what /healthz makes of the Node, from the version on that looks at it (KEP-3836).
func (p *Proxy) Eligible() bool {
	return !p.planNode.Options.NodeEligibility || p.nodeState.Eligible()
}

// stop ends what the proxy is at: with its machine, or its process.
func (p *Proxy) stop() {
	for _, h := range []engine.Handle{p.timer, p.ends, p.others.news, p.slices.event} {
		p.eng.Cancel(h)
	}
	p.slices.due = engine.Never
}

// Join has the proxy begin to work, on a machine that has joined by now: the node is ready when its rules are in force.
func (p *Proxy) Join() {
	p.dead, p.halted = false, false
	p.received, p.installed = p.views.Last, p.views.Last
	p.slices.next, p.slices.drawn = p.slices.log.first+len(p.slices.log.list), false
	p.skip()
	p.state.End(p.eng.Now().Duration(), true, false)
	p.health = p.health.Updated(endpoints.IPv4, p.eng.Now().Clock())
	p.expect()
}

// Die ends the proxy with its machine.
func (p *Proxy) Die() {
	p.dead, p.halted = true, false
	p.stop()
}

// Halt ends the process, and nobody starts it again. Its rules stay in force, and its ports refuse connections.
func (p *Proxy) Halt() {
	p.Die()
	p.halted = true
}

// Halted says that its process is gone, and its machine is not.
func (p *Proxy) Halted() bool { return p.halted }
