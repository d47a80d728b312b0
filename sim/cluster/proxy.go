package cluster

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// NodeProxy is the service proxy of one node: a watch, the production pacing, and a sync that
// takes a while, at whose end the production Plan of what was known at its beginning is in
// force.
type NodeProxy struct {
	w     *World
	node  int
	owner engine.Owner
	pace  pace.Policy
	state pace.State
	syncs engine.Stream
	count uint64

	pending   bool // news of the Scenario waits for a sync
	alone     bool // the last sync was for other Services alone
	others    others
	received  *View // what its watch has shown; see hear
	syncing   *View // what the sync under way will program, nil when idle
	installed *View // what is in force
	slices    sliceWatch
	timer     engine.Handle
	ends      engine.Handle // of the sync under way
	restarts  uint64
	filled    bool // its caches are: not while it starts again
	health    healthcheck.ProxyState
	// state4health is the Node as it was last seen.
	state4health healthcheck.NodeState

	node4plan *plan.Node
	class     int // of nodes with equal Plans

	does proxyEvents
}

// proxyEvents are what the events of a proxy do, made once. Each is told its moment, which is past where
// the proxy was paused.
type proxyEvents struct {
	begin, finish, deliver func(uint64)
	arrived, looked        func()
	hearOthers             func()
}

func (p *NodeProxy) events() proxyEvents {
	timed := func(do func(engine.Time)) func(uint64) {
		run := func(at uint64) { do(engine.Time(at)) }
		return func(at uint64) { p.w.store.AwakeWith(p.owner, run, at) }
	}
	return proxyEvents{
		begin: timed(p.begin), finish: timed(p.finish), deliver: timed(p.deliver),
		arrived: p.arrived, looked: p.looked,
		hearOthers: func() { p.w.store.Awake(p.owner, p.hearOthers) },
	}
}

func newNodeProxy(w *World, node int) *NodeProxy {
	name := "proxy " + w.sc.Nodes[node].Name
	spec := w.sc.Nodes[node].Proxy
	p := &NodeProxy{
		w: w, node: node, filled: true, owner: w.eng.Register(name), syncs: w.eng.Stream(name, "sync"),
		pace: pace.Policy{
			MinInterval: spec.MinSyncPeriod.Duration(), RetryInterval: spec.SyncPeriod.Duration(),
			Burst: pace.BurstOf(w.sc.Kubernetes.Options.HoldAfterSync),
		},
	}
	p.does = p.events()
	p.others = newOthers(w, name)
	p.node4plan = &plan.Node{
		Name: w.sc.Nodes[node].Name, Zone: w.sc.Nodes[node].Zone,
		Addresses: []netip.Addr{w.NodeIP(node)}, Options: w.sc.Kubernetes.Options,
		MasqueradeAll: spec.MasqueradeAll,
		Detector:      plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{podRange}},
	}
	if spec.Mode == "iptables" {
		p.node4plan.Dialect = plan.IPTables
	}
	p.slices = w.slices.watch(name, p, w.eng.Component(name), *w.watchLatency(node))
	watch := w.store.Subscribe(name+" node", p.owner, *w.watchLatency(node), p.deliverNode, api.KindNode)
	watch.Wants = func(o api.Object) bool {
		n, ok := o.(*api.Node)
		return ok && n.Number == node
	}
	return p
}

// podRange holds all pod addresses, nodeRange all nodes'.
var (
	podRange  = netip.MustParsePrefix("10.128.0.0/9")
	nodeRange = netip.MustParsePrefix("10.0.0.0/10")
)

// NodeIP returns a node's address.
func (w *World) NodeIP(node int) netip.Addr {
	n := uint32(node) + 1
	base := nodeRange.Addr().As4()
	return netip.AddrFrom4([4]byte{base[0], byte(n >> 16), byte(n >> 8), byte(n)})
}

// changed has the proxy sync for what it has received.
func (p *NodeProxy) changed() {
	p.pending = true
	p.state.Change(p.w.eng.Now().Duration())
	p.attend()
	p.plan(true)
}

// plan asks the pacing when to sync next with news of the Scenario, and sets the timer; tell has the
// Journal hear of it.
func (p *NodeProxy) plan(tell bool) {
	if p.syncing != nil || !p.pending {
		return
	}
	at, _, never := p.pace.Next(p.state)
	if never {
		return
	}
	p.w.eng.Cancel(p.timer)
	if engine.FromDuration(at) <= p.w.eng.Now() {
		p.sync() // idle: at once, with what this very piece of news says
		return
	}
	if tell {
		p.w.noteWait(p, at)
	}
	p.timer = p.at(max(p.w.eng.Now(), engine.FromDuration(at)), "sync starts", p.does.begin)
}

// at has the proxy do something at a moment, of which it is told.
func (p *NodeProxy) at(at engine.Time, name string, do func(uint64)) engine.Handle {
	return p.w.eng.AtWith(at, engine.ClassTimer, p.owner, name, do, uint64(at))
}

// begin starts the sync that was waited for, unless it has been started since: while the proxy
// was paused.
func (p *NodeProxy) begin(at engine.Time) {
	if p.syncing == nil && !p.w.dead[p.node] {
		p.hear(at)
		p.sync()
		p.expect()
	}
}

// sync begins a sync: what has been received by now will be in force when it ends.
func (p *NodeProxy) sync() {
	p.syncing, p.pending, p.alone = p.received, false, false
	p.state.Begin(p.pace, p.w.eng.Now().Duration())
	took := p.w.syncLatency(p.node).Sample(p.syncs.Draw(p.count))
	p.count++
	p.w.tell(AuditEvent{Kind: SyncBegan, Node: p.node})
	p.ends = p.at(p.w.eng.Now()+took, "sync ends", p.does.finish)
}

// finish ends a sync: what it programs is in force.
func (p *NodeProxy) finish(at engine.Time) {
	if p.w.dead[p.node] {
		return
	}
	p.hear(at)
	p.installed, p.syncing = p.syncing, nil
	p.state.End(p.w.eng.Now().Duration(), true, false)
	p.health = p.health.Updated(endpoints.IPv4, p.w.eng.Now().Clock())
	if !p.alone {
		p.w.installs++
		p.w.noteRules(p.node)
		p.w.observer.Synced(p.node)
	}
	p.w.tell(AuditEvent{Kind: SyncEnded, Node: p.node, View: p.installed, Others: p.alone})
	p.plan(true)
	p.attend()
	p.expect()
}

// restart is the process ending and coming back. The rules stay in force; a sync under way is
// lost, and its transaction with it. When the caches are filled again, after the delay of one
// watch, everything is synced in full at once, whenever the last sync was (pace.Policy).
func (p *NodeProxy) restart() {
	p.stop()
	p.syncing, p.state, p.restarts = nil, pace.State{}, p.restarts+1
	p.pending, p.alone, p.others.syncing = false, false, false
	p.filled, p.health = false, healthcheck.ProxyState{}
	this := p.restarts
	filled := p.w.watchLatency(p.node).Sample(p.w.eng.Stream("proxy "+p.w.sc.Nodes[p.node].Name, "restart").Draw(p.restarts))
	p.w.eng.After(filled, engine.ClassTimer, p.owner, "caches filled", func() {
		p.w.store.Awake(p.owner, func() { p.refill(this) })
	})
}

// refill shows the proxy all there is, unless it has been restarted once more since.
func (p *NodeProxy) refill(restart uint64) {
	if restart != p.restarts || p.w.dead[p.node] {
		return
	}
	p.received, p.filled = p.w.views.last, true
	p.skip()
	p.changed()
	p.expect()
}

// Installed returns the view whose rules are in force on the node.
func (p *NodeProxy) Installed() *View { return p.installed }

// Class numbers the nodes' classes: nodes of one class have the same rules when they have the
// same view installed.
func (p *NodeProxy) Class() int { return p.class }

// Stage says how far news has come on its way to a node's rules.
type Stage uint8

// The stages, in the order of the way.
const (
	StageDone Stage = iota
	StageSlices
	StageWatch
	StageWait
	StageSync
)

// String names the stage as the actor whose lateness it is.
func (s Stage) String() string {
	return [...]string{"", "slice-controller", "watch", "proxy-wait", "proxy-sync"}[s]
}

// Lateness returns the first unfinished stage between the API's pods and a node's rules.
func (w *World) Lateness(node int) Stage {
	p := w.Proxies[node]
	p.hear(w.eng.Now())
	switch {
	case w.dead[node]: // nobody waits for it
		return StageDone
	case !w.slicesSettled():
		return StageSlices
	case p.received != w.views.last:
		return StageWatch
	case p.syncing == nil && p.installed != p.received:
		return StageWait
	case p.installed != p.received:
		return StageSync
	default:
		return StageDone
	}
}
