package cluster

import (
	"net/netip"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// nodeRange holds all addresses of nodes.
var nodeRange = netip.MustParsePrefix("10.0.0.0/10")

// NodeIP returns a node's address.
func (w *World) NodeIP(node int) netip.Addr {
	n := uint32(node) + 1
	base := nodeRange.Addr().As4()
	return netip.AddrFrom4([4]byte{base[0], byte(n >> 16), byte(n >> 8), byte(n)})
}

// beginProxies starts the service proxy of each node.
func (w *World) beginProxies() {
	desk := &nodeproxy.Desk{Engine: w.eng, API: w.store, Log: proxyLog{w}, Views: &w.views, Slices: &w.slices, Churn: w.churn}
	for n := range w.sc.Nodes {
		w.Proxies = append(w.Proxies, nodeproxy.New(desk, nodeproxy.Settings{
			Node: n, Spec: &w.sc.Nodes[n], Address: w.NodeIP(n), Pods: kubelet.PodRange, Options: w.sc.Kubernetes.Options,
			Watch: w.watchLatency(n), Sync: w.syncLatency(n),
		}))
	}
	w.views.Classes = nodeproxy.Classify(w.Proxies, w.zonesDiffer, w.nodesDiffer)
	w.settledViews.Classes = w.views.Classes
}

// logSlices has the proxies hear of a write of a slice, or of a Service.
func (w *World) logSlices(o api.Object, purpose engine.Purpose, version uint64) {
	write, ok := o.(*nodeproxy.SliceWrite)
	if _, service := o.(*api.Service); service {
		write, w.serviceNews = w.serviceNews, nil
		ok = write != nil
	}
	if ok && write.View != nil {
		w.slices.Add(w.eng.Now(), write, purpose, version)
	}
}

// Rules returns the Plan in force on a node. Nodes that cannot differ share one.
func (w *World) Rules(node int) *plan.Plan { return w.planOf(w.Proxies[node].Installed(), node) }

func (w *World) planOf(v *nodeproxy.View, node int) *plan.Plan {
	return v.Plan(w.Proxies[node].Class())
}

// targetsOf returns where a View's rules on a node send a new connection, in order of addresses. Who is to
// blame for failures asks the same again and again.
func (w *World) targetsOf(v *nodeproxy.View, node int, e Entry) []plan.Target {
	q := nodeproxy.Question{Class: w.Proxies[node].Class(), External: e.External, Service: e.service, Port: e.port, Protocol: e.protocol}
	if targets, ok := v.Answered(q); ok {
		return targets
	}
	targets := decide(w.planOf(v, node), e).Targets
	v.Remember(q, targets)
	return targets
}

// Heard has a node's proxy take up what has arrived by a moment, not later than the next event of the
// world, and returns the number of the View that it knows of then; 0 for no node.
func (w *World) Heard(node int, by engine.Time) uint64 {
	if node < 0 {
		return 0
	}
	p := w.Proxies[node]
	p.Hear(by)
	return p.Received().Number
}

// setDown takes the API server away or brings it back, for other Services, too.
func (w *World) setDown(down bool) {
	w.churn.SetDown(down)
	w.store.SetDown(down)
	for _, p := range w.Proxies {
		p.Attend() // what its watch brings next is another change
	}
}

// Lateness returns the first unfinished stage between the API's pods and a node's rules.
func (w *World) Lateness(node int) nodeproxy.Stage {
	p := w.Proxies[node]
	p.Hear(w.eng.Now())
	switch {
	case w.dead[node]: // nobody waits for it
		return nodeproxy.StageDone
	case !w.slicesSettled():
		return nodeproxy.StageSlices
	default:
		return p.Stage()
	}
}

// proxyLog has the World hear what its proxies do.
type proxyLog struct{ w *World }

// Follows asks whether a subscriber hears of the node's waits.
func (l proxyLog) Follows(node int) bool { return l.w.log.Follows(event.Wait, node) }

// Judged asks whether a subscriber judges the run.
func (l proxyLog) Judged() bool { return l.w.log.Hears(event.SyncBegan) }

// Heard tells who audits.
func (l proxyLog) Heard(watch string, write *nodeproxy.SliceWrite) {
	l.w.tellObject(event.Event{Kind: event.Delivered, Name: watch}, write)
}

// Waits tells of a wait.
func (l proxyLog) Waits(node int, until time.Duration, others bool) {
	l.w.noteWait(node, until, others)
}

// SyncBegan tells who audits.
func (l proxyLog) SyncBegan(p *nodeproxy.Proxy, at engine.Time, others bool) {
	e := event.Event{At: at, Kind: event.SyncBegan, Node: p.Node, Others: others}
	if others {
		e.View = p.Installed()
	}
	l.w.log.TellLate(e)
}

// SyncEnded tells all: the rules in force are others now.
func (l proxyLog) SyncEnded(p *nodeproxy.Proxy, at engine.Time, others bool) {
	if !others {
		l.w.installs++
		l.w.noteRules(p.Node)
		l.w.observer.Synced(p.Node)
	}
	l.w.log.TellLate(event.Event{At: at, Kind: event.SyncEnded, Node: p.Node, View: p.Installed(), Others: others})
}

// NodeSeen tells the log, and the load balancers.
func (l proxyLog) NodeSeen(node int, tainted, eligible bool) {
	kind := event.Untainted
	if tainted {
		kind = event.Tainted
	}
	l.w.log.Tell(event.Event{Kind: kind, Pod: -1, Node: node, Stream: -1, OK: eligible})
	l.w.observer.NodeChanged(node)
}

func (w *World) watchLatency(node int) *engine.Dist {
	if d := w.sc.Nodes[node].Watch; d != nil {
		return d
	}
	return &w.sc.Latency.Watch
}

func (w *World) syncLatency(node int) *engine.Dist {
	if d := w.sc.Nodes[node].ProxySync; d != nil {
		return d
	}
	return &w.sc.Latency.ProxySync
}
