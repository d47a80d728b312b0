package nodeproxy

import (
	"net/netip"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Proxy is the service proxy of one node: a watch, the production pacing, and a sync that
// takes a while, at whose end the production Plan of what was known at its beginning is in
// force.
type Proxy struct {
	// Node is the number of its node, Owner what it is to the engine and to the API, Pace when it syncs.
	Node  int
	Owner engine.Owner
	Pace  pace.Policy

	eng   *engine.Engine
	api   *api.Store
	log   Log
	views *Views
	churn *Churn

	name   string // of its watches and its draws
	dead   bool   // its machine is gone
	halted bool   // only its process is: then dead is true, too
	// watch is how long news takes to it, duration how long a sync does.
	watch, duration *engine.Dist
	state           pace.State
	syncs           engine.Stream
	count           uint64

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
	// nodeState is the Node as it was last seen.
	nodeState healthcheck.NodeState

	planNode *plan.Node
	class    int // of nodes with equal Plans

	does proxyEvents
}

// proxyEvents are what the events of a proxy do, made once. Each is told its moment, which is past where
// the proxy was paused.
type proxyEvents struct {
	begin, finish, deliver func(uint64)
	arrived, looked        func()
	hearOthers             func()
}

func (p *Proxy) events() proxyEvents {
	timed := func(do func(engine.Time)) func(uint64) {
		run := func(at uint64) { do(engine.Time(at)) }
		return func(at uint64) { p.api.AwakeWith(p.Owner, run, at) }
	}
	return proxyEvents{
		begin: timed(p.begin), finish: timed(p.finish), deliver: timed(p.deliver),
		arrived: p.arrived, looked: p.looked,
		hearOthers: func() { p.api.Awake(p.Owner, p.hearOthers) },
	}
}

// Log hears what service proxies do. What it does with that changes nothing in the run.
type Log interface {
	// Follows says whether a subscriber follows what a node's proxy hears and waits for, Judged whether a subscriber hears of
	// everything: then each piece of news is told of when it arrives.
	Follows(node int) bool
	Judged() bool
	// Heard says that a proxy's watch has brought a write, Waits that it waits with what it has heard until a moment.
	Heard(watch string, write *SliceWrite)
	Waits(node int, until time.Duration, others bool)
	// SyncBegan and SyncEnded tell of a sync; others says that it is for other Services than the Scenario's alone.
	SyncBegan(p *Proxy, at engine.Time, others bool)
	SyncEnded(p *Proxy, at engine.Time, others bool)
	// NodeSeen says that the proxy has seen that its Node is about to be deleted, or is not any more, and what it says to load
	// balancers now.
	NodeSeen(node int, tainted, eligible bool)
}

// Desk is what all proxies have in common.
type Desk struct {
	Engine *engine.Engine
	API    *api.Store
	Log    Log
	Views  *Views    // what the slices in the API say
	Slices *SliceLog // how that is told
	Churn  *Churn    // changes of other Services
}

// Settings are what one proxy has for itself.
type Settings struct {
	Node        int
	Spec        *world.Node
	Address     netip.Addr
	Pods        netip.Prefix
	Options     endpoints.Options
	Watch, Sync *engine.Dist // of news, and of a sync
}

// New makes the proxy of a node. What it hears of first is for Fill.
func New(d *Desk, s Settings) *Proxy {
	name := "proxy " + s.Spec.Name
	spec := s.Spec.Proxy
	p := &Proxy{
		eng: d.Engine, api: d.API, log: d.Log, views: d.Views, churn: d.Churn, watch: s.Watch, duration: s.Sync,
		Node: s.Node, name: name, filled: true, Owner: d.Engine.Register(name), syncs: d.Engine.Stream(name, "sync"),
		Pace: pace.Policy{
			MinInterval: spec.MinSyncPeriod.Duration(), RetryInterval: spec.SyncPeriod.Duration(),
			Burst: pace.BurstOf(s.Options.HoldAfterSync),
		},
	}
	p.does = p.events()
	p.others = newOthers(d.Engine, name)
	p.planNode = &plan.Node{
		Name: s.Spec.Name, Zone: s.Spec.Zone,
		Addresses: []netip.Addr{s.Address}, Options: s.Options,
		MasqueradeAll: spec.MasqueradeAll,
		Detector:      plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{s.Pods}},
	}
	if spec.Mode == "iptables" {
		p.planNode.Dialect = plan.IPTables
	}
	p.slices = d.Slices.watch(name, p, d.Engine.Component(name), *s.Watch)
	watch := d.API.Subscribe(name+" node", p.Owner, *s.Watch, p.deliverNode, api.KindNode)
	watch.Wants = func(o api.Object) bool {
		n, ok := o.(*api.Node)
		return ok && n.Number == s.Node
	}
	return p
}

// Fill has a proxy that has run for a while know a View, and have its rules in force.
func (p *Proxy) Fill(v *View) {
	p.received, p.installed = v, v
	p.state.End(-(24 * engine.Hour).Duration(), true, false)
	p.health = p.health.Updated(endpoints.IPv4, (-24 * engine.Hour).Clock())
}

// asleep says whether the proxy is paused.
func (p *Proxy) asleep() bool { return p.api.Frozen(p.Owner) }

// changed has the proxy sync for what it has received.
func (p *Proxy) changed() {
	p.pending = true
	p.state.Change(p.eng.Now().Duration())
	p.Attend()
	p.plan(true)
}

// plan asks the pacing when to sync next with news of the Scenario, and sets the timer; tell has the
// log hear of it.
func (p *Proxy) plan(tell bool) {
	if p.syncing != nil || !p.pending {
		return
	}
	at, _, never := p.Pace.Next(p.state)
	if never {
		return
	}
	p.eng.Cancel(p.timer)
	if engine.FromDuration(at) <= p.eng.Now() {
		p.sync() // idle: at once, with what this very piece of news says
		return
	}
	if tell {
		p.log.Waits(p.Node, at, p.alone)
	}
	p.timer = p.at(max(p.eng.Now(), engine.FromDuration(at)), "sync starts", p.does.begin)
}

// at has the proxy do something at a moment, of which it is told.
func (p *Proxy) at(at engine.Time, name string, do func(uint64)) engine.Handle {
	return p.eng.AtWith(at, engine.ClassTimer, p.Owner, name, do, uint64(at))
}

// begin starts the sync that was waited for, unless it has been started since: while the proxy
// was paused.
func (p *Proxy) begin(at engine.Time) {
	if p.syncing == nil && !p.dead {
		p.Hear(at)
		p.sync()
		p.expect()
	}
}

// sync begins a sync: what has been received by now will be in force when it ends.
func (p *Proxy) sync() {
	p.syncing, p.pending, p.alone = p.received, false, false
	p.state.Begin(p.Pace, p.eng.Now().Duration())
	took := p.duration.Sample(p.syncs.Draw(p.count))
	p.count++
	p.log.SyncBegan(p, p.eng.Now(), false)
	p.ends = p.at(p.eng.Now()+took, "sync ends", p.does.finish)
}

// finish ends a sync: what it programs is in force.
func (p *Proxy) finish(at engine.Time) {
	if p.dead {
		return
	}
	p.Hear(at)
	p.installed, p.syncing = p.syncing, nil
	p.state.End(p.eng.Now().Duration(), true, false)
	p.health = p.health.Updated(endpoints.IPv4, p.eng.Now().Clock())
	p.log.SyncEnded(p, p.eng.Now(), p.alone)
	p.plan(true)
	p.Attend()
	p.expect()
}

// Restart is the process ending and coming back. The rules stay in force; a sync under way is
// lost, and its transaction with it. When the caches are filled again, after the delay of one
// watch, everything is synced in full at once, whenever the last sync was (pace.Policy).
func (p *Proxy) Restart() {
	p.stop()
	p.syncing, p.state, p.restarts = nil, pace.State{}, p.restarts+1
	p.pending, p.alone, p.others.syncing = false, false, false
	p.filled, p.health = false, healthcheck.ProxyState{}
	this := p.restarts
	filled := p.watch.Sample(p.eng.Stream(p.name, "restart").Draw(p.restarts))
	p.eng.After(filled, engine.ClassTimer, p.Owner, "caches filled", func() {
		p.api.Awake(p.Owner, func() { p.refill(this) })
	})
}

// Boot is the machine being back, with the proxy and with rules by what the API has by now.
func (p *Proxy) Boot() {
	p.Restart()
	p.restarts++ // nobody has to wait for caches
	p.filled = true
	p.Join()
	p.log.SyncEnded(p, p.eng.Now(), false)
}

// refill shows the proxy all there is, unless it has been restarted once more since.
func (p *Proxy) refill(restart uint64) {
	if restart != p.restarts || p.dead {
		return
	}
	p.received, p.filled = p.views.Last, true
	p.skip()
	p.changed()
	p.expect()
}

// Name is what the proxy is called: its watches, and its draws.
func (p *Proxy) Name() string { return p.name }

// Received is the View that its watch has shown it, as far as it has been asked to Hear.
func (p *Proxy) Received() *View { return p.received }

// Syncing is the View that the sync under way will have in force, nil when there is none.
func (p *Proxy) Syncing() *View { return p.syncing }

// Filled says whether its caches are, which they are not while it starts again.
func (p *Proxy) Filled() bool { return p.filled }

// Syncs counts the syncs that it has begun for the Scenario's Services.
func (p *Proxy) Syncs() uint64 { return p.count }

// PlanNode is the node as Plans are built for it.
func (p *Proxy) PlanNode() *plan.Node { return p.planNode }

// Installed returns the view whose rules are in force on the node.
func (p *Proxy) Installed() *View { return p.installed }

// Class numbers the nodes' classes: nodes of one class have the same rules when they have the
// same view installed.
func (p *Proxy) Class() int { return p.class }

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

// Stage is the first stage on the way from the slices in the API to the node's rules that has not got the newest.
func (p *Proxy) Stage() Stage {
	switch {
	case p.received != p.views.Last:
		return StageWatch
	case p.syncing == nil && p.installed != p.received:
		return StageWait
	case p.installed != p.received:
		return StageSync
	default:
		return StageDone
	}
}

// KeepsUp is what the /healthz of the proxy says of itself, whatever becomes of its Node. late: nobody answers, as the process
// gets no time or the machine is gone. sure: it stays so until the next sync, or action.
func (p *Proxy) KeepsUp() (ok, late, sure bool) {
	switch {
	case p.halted:
		return false, false, true
	case p.dead, p.asleep():
		return false, true, true
	case !p.filled: // it is starting, and nothing listens
		return false, false, true
	}
	p.CatchUp()
	p.Hear(p.eng.Now())
	// Unsure while its patience may come to an end by itself.
	return healthcheck.Healthy(p.health, p.eng.Now().Clock(), 2*p.Pace.RetryInterval), false, !p.busy() && !p.mayHang()
}

// Hold is called before the proxy is paused, or goes on: nothing happens in between, and what comes at this moment comes
// afterwards (engine.ClassAction).
func (p *Proxy) Hold() {
	p.CatchUp()
	p.Hear(p.eng.Now() - 1)
	p.others.clock = p.eng.Now()
}

// GoOn is called after it was paused, goes on or was restarted.
func (p *Proxy) GoOn() {
	p.Hear(p.eng.Now())
	p.expect()
}
