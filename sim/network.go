package sim

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// network is what lies between clients and pods: the nodes' rules and the pods' sockets.
type network run

var _ traffic.World = (*network)(nil)

// FirstHop says where a new connection goes first.
func (nw *network) FirstHop(leg traffic.Leg, flow uint64, last int) traffic.Hop {
	if f := nw.forwarder(leg); f != nil {
		return f.pick(flow, last)
	}
	if last >= 0 { // a repeated SYN
		return traffic.Hop{Member: last, Node: last}
	}
	list := nw.direct(leg.Stream)
	return list[engine.Below(flow, len(list))]
}

// forwarder is who sends the connections of a leg on, nil for nobody.
func (nw *network) forwarder(leg traffic.Leg) *forwarder {
	if leg.Proxy != traffic.NoProxy {
		return nw.inside[leg.Stream].in(api.PodID(leg.Proxy))
	}
	return nw.forwarders[leg.Stream]
}

// direct lists the nodes that a stream's new connections go to now, without a load balancer.
func (nw *network) direct(stream int) []traffic.Hop {
	r := &nw.routes[stream]
	if r.hops == nil || r.entry.Changing() && r.asked != nw.cluster.Installs() {
		nodes := nw.cluster.NodesFor(r.entry)
		if r.hops == nil || !slices.EqualFunc(r.hops, nodes, func(f traffic.Hop, n int) bool { return f.Node == n }) {
			r.hops = hopsOf(nodes)
		}
		r.asked = nw.cluster.Installs()
	}
	return r.hops
}

// hopsOf are the hops of nodes.
func hopsOf(nodes []int) []traffic.Hop {
	list := make([]traffic.Hop, len(nodes))
	for i, n := range nodes {
		list[i] = traffic.Hop{Member: n, Node: n}
	}
	return list
}

// FirstHops are nodes, or what a load balancer sends to.
func (nw *network) FirstHops(stream int) []traffic.Hop {
	if f := nw.forwarders[stream]; f != nil {
		return f.firstHops()
	}
	return nw.direct(stream)
}

// Enter asks the rules in force on a node where a stream's new connections go.
func (nw *network) Enter(stream, node int) *traffic.Way {
	r, p := &nw.routes[stream], nw.cluster.Proxies[node]
	if r.ways == nil {
		r.ways = make([]installedWay, len(nw.cluster.Proxies))
	}
	if w := &r.ways[node]; w.view != p.Installed() {
		*w = installedWay{p.Installed(), nw.shared(stream, node, p)}
	}
	return r.ways[node].way
}

// routes is what is remembered of where a stream goes.
type routes struct {
	entry cluster.Entry
	hops  []traffic.Hop  // without a load balancer
	asked uint64         // the world's Installs at that time
	ways  []installedWay // by node
	// byView are the ways of nodes that cannot differ: of one class, with one view installed.
	byView map[wayKey]*traffic.Way
	kept   int               // targets in byView
	before []*traffic.Target // those of the way that was made last
	// led are their addresses, one after the other: the Targets lie all over the memory. The other list is for those of the next way.
	led, other []netip.AddrPort
	targets    []*traffic.Target // by pod
}

type installedWay struct {
	view *nodeproxy.View
	way  *traffic.Way
}

type wayKey struct {
	view  *nodeproxy.View
	class int
}

// keptWays and keptTargets bound routes.byView: nodes are a few views apart, older ones are not met again, and
// each keeps the endpoints of its view in memory.
const (
	keptWays    = 128
	keptTargets = 1 << 19
)

// shared returns the way of a node from those of its class. A new one is checked against the slices
// in force: connections of plain requests are not looked at one by one.
func (nw *network) shared(stream, node int, p *nodeproxy.Proxy) *traffic.Way {
	r := &nw.routes[stream]
	k := wayKey{p.Installed(), p.Class()}
	if way := r.byView[k]; way != nil {
		return way
	}
	if r.byView == nil || len(r.byView) >= keptWays || r.kept >= keptTargets {
		r.byView, r.kept = map[wayKey]*traffic.Way{}, 0
	}
	d := nw.cluster.Enter(r.entry, node)
	way := &traffic.Way{Verdict: d.Verdict, Targets: make([]*traffic.Target, len(d.Targets))}
	old, addrs, next := r.led, r.other[:0], 0
	for i := range d.Targets { // in order of addresses, and mostly the same as before
		addr := d.Targets[i].Addr
		addrs = append(addrs, addr)
		for next < len(old) && old[next] != addr && old[next].Compare(addr) < 0 {
			next++
		}
		if next < len(old) && old[next] == addr {
			way.Targets[i] = r.before[next]
			continue
		}
		way.Targets[i] = nw.target(r, addr)
	}
	r.byView[k], r.before, r.led, r.other = way, way.Targets, addrs, old
	r.kept += len(addrs)
	nw.flows.Leads(stream, node, k.view.Number, addrs)
	return way
}

// target returns a stream's target at an address, one for all ways.
func (nw *network) target(r *routes, addr netip.AddrPort) *traffic.Target {
	s := nw.server(addr)
	if !nw.cluster.Listens(s.instance, addr.Port()) {
		return &traffic.Target{Addr: addr, Server: &server{instance: s.instance, run: s.run, shut: true}}
	}
	for s.ID() >= uint64(len(r.targets)) {
		r.targets = append(r.targets, nil)
	}
	t := &r.targets[s.ID()]
	if *t == nil || (*t).Addr != addr { // a stream may reach two ports of a pod
		*t = &traffic.Target{Addr: addr, Server: s}
	}
	return *t
}

// Resolve says what the cluster's DNS answers of a headless Service now.
func (nw *network) Resolve(stream int) (list []*traffic.Target, ttl engine.Time) {
	r := &nw.routes[stream]
	for _, addr := range nw.cluster.Resolve(r.entry) {
		list = append(list, nw.target(r, addr))
	}
	return list, nw.cluster.TTL()
}

// Judge blames a failed attempt. Between two events of the world the answer is the same for all that are alike
// and come through a proxy that knows the same.
func (nw *network) Judge(leg traffic.Leg, member, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	if nw.stepping { // the world is changing right now
		return nw.judge(leg, member, node, target, fault)
	}
	nw.judged.since(nw.eng.Events())
	f := failure{node, member, nw.cluster.Heard(node, nw.traffic.Clock()), leg, fault, target}
	blame, known := nw.judged.of(&f)
	if !known {
		blame = nw.judge(leg, member, node, target, fault)
		nw.judged.add(f, blame)
	}
	return blame
}

func (nw *network) judge(leg traffic.Leg, member, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	entry := nw.routes[leg.Stream].entry
	if f := nw.forwarder(leg); f != nil {
		entry = f.entry
		// A node that drops what it could still serve is told first: until its pod ends nobody need leave it.
		if fault.NewConnection() && (fault != ledger.FaultDropped || !nw.cluster.Withdrawn(entry, node)) { // what chose the member has no say in what becomes of a connection that stands
			if cause, actor, ok := f.b.Judge(member); ok {
				return ledger.Blame{Cause: cause, Actor: actor, Elsewhere: nw.cluster.Elsewhere(entry, target)}
			}
		}
	}
	blame := nw.cluster.Judge(entry, node, target, fault)
	if f := nw.forwarder(leg); f != nil && fault == ledger.FaultDrainCut {
		switch {
		case f.b.CutsUnhealthy(member):
			blame.Actor = ledger.LBProbe // it was not removed: its health checks fail
		case f.spec.Announce != world.AnnounceNone:
			blame.Actor = ledger.Spec // nothing drains where routers send packets by whoever announces the address: that is how it is made
		}
	}
	return blame
}

// server is an Instance as traffic meets it.
type server struct {
	instance *kubelet.Instance
	run      *run
	shut     bool // at a port that the pod does not listen on
}

// server returns what runs, or ran, at a pod address: a pod gets into the rules after its
// address was given to it, and nobody else ever has it.
func (nw *network) server(addr netip.AddrPort) *server {
	i := nw.cluster.Instance(addr.Addr())
	if i == nil {
		panic(fmt.Sprintf("sim: rules lead to %s, where nothing ever was", addr))
	}
	for int(i.Pod) >= len(nw.servers) {
		nw.servers = append(nw.servers, nil)
	}
	if nw.servers[i.Pod] == nil {
		nw.servers[i.Pod] = &server{instance: i, run: (*run)(nw)}
	}
	return nw.servers[i.Pod]
}

// Accepts says whether the pod takes new connections.
func (s *server) Accepts() bool { return !s.shut && s.instance.Accepts() }

// Answers says whether the pod's kernel is there to refuse them at least.
func (s *server) Answers() bool { return s.instance.Answers() }

// Name is the pod's name.
func (s *server) Name() string { return s.run.cluster.PodName(s.instance.Pod) }

// ID is the pod's number.
func (s *server) ID() uint64 { return uint64(s.instance.Pod) }

// IdleLimit is the app's own.
func (s *server) IdleLimit() engine.Time { return s.instance.App.ServerIdle }

// ClosesAnswered says whether the app has been told to end, and closes each connection with its next answer.
func (s *server) ClosesAnswered() bool {
	i := s.instance
	return i.Term >= 0 && i.Running && i.App.Leaves()
}

// Plain is how long the app takes, where it has room for every request, answers none with an
// error, and does not reload.
func (s *server) Plain() *engine.Dist {
	app := s.instance.App
	if app.Concurrency > 0 || app.Errors > 0 || s.instance.Alone || s.instance.Back > 0 {
		return nil
	}
	return &app.Serve
}

// Serve has the app take a request in.
func (s *server) Serve(draw uint64, now engine.Time) (engine.Time, traffic.Answer) {
	if !s.instance.Running && s.run.broken == nil {
		s.run.broken = fmt.Errorf("%s serves a request at %s s, and its process does not run", s.Name(), now.Seconds())
	}
	end, how := s.instance.Serve(draw, now)
	return end, answers[how]
}

// answers are an app's replies as clients see them.
var answers = [...]traffic.Answer{kubelet.Answered: traffic.Answered, kubelet.Erred: traffic.Erred, kubelet.TurnedAway: traffic.TurnedAway}

// observer carries what happens to pods to the connections they have.
type observer run

var _ cluster.Observer = (*observer)(nil)

// ListenerChanged has a server that shuts down say so, and wakes load balancers: new connections
// ask for themselves.
func (o *observer) ListenerChanged(i *kubelet.Instance) {
	if o.traffic != nil && !i.Accepts() {
		o.traffic.Changed(o.eng.Now())
	}
	if i.Running && !i.Listening {
		o.goAway(i)
	}
	if i.Running && !i.Listening && i.Term >= 0 {
		o.closeConnections(i) // at the end of its draining
	}
	(*run)(o).wakeForwarders()
}

// goAway has HTTP/2 clients of a server that shuts down gracefully go elsewhere.
func (o *observer) goAway(i *kubelet.Instance) {
	if o.traffic != nil && i.App.GoAway && !i.App.IgnoresSIGTERM {
		o.traffic.GoAway(uint64(i.Pod), o.eng.Now())
	}
}

// Terminated has a server that shuts down gracefully close its connections, unless it drains first.
func (o *observer) Terminated(i *kubelet.Instance) {
	o.goAway(i)
	if o.traffic != nil && i.App.Leaves() {
		o.traffic.CloseAnswered(uint64(i.Pod), o.eng.Now())
	}
	if !i.Listening || i.App.Listener == world.ListenerStays {
		o.closeConnections(i)
	}
}

// closeConnections has a server that shuts down gracefully close its idle connections, and each other
// one with its answer (Go's net/http Shutdown, nginx at SIGQUIT; docs/model/propagation.md 5). One
// that goes on serving them would not end before SIGKILL.
func (o *observer) closeConnections(i *kubelet.Instance) {
	if o.traffic != nil && !i.App.IgnoresSIGTERM {
		o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), false)
	}
}

// LeftAlone has what comes from now on be answered with errors.
func (o *observer) LeftAlone(i *kubelet.Instance) {
	if o.traffic != nil {
		o.traffic.Errs(uint64(i.Pod), o.eng.Now())
	}
}

// Reloading cuts what was in flight and every connection, and has what comes from now on wait.
func (o *observer) Reloading(i *kubelet.Instance) {
	if o.traffic != nil {
		o.traffic.Errs(uint64(i.Pod), o.eng.Now())
		o.traffic.Cut(uint64(i.Pod), o.eng.Now(), ledger.FaultExited)
		o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), true)
	}
}

// Ended cuts what was in flight and every connection.
func (o *observer) Ended(i *kubelet.Instance, how event.Ending) {
	if o.traffic == nil {
		return
	}
	fault := map[event.Ending]ledger.Fault{
		event.ByItself: ledger.FaultExited, event.Killed: ledger.FaultKilled,
		event.Liveness: ledger.FaultLiveness, event.Crashed: ledger.FaultCrashed,
	}[how]
	o.traffic.Changed(o.eng.Now())
	o.traffic.Cut(uint64(i.Pod), o.eng.Now(), fault)
	o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), true)
}

// Synced wakes load balancers, and has the node's proxy clean its connection tracking.
func (o *observer) Synced(node int) {
	(*run)(o).forgetWays(node)
	(*run)(o).wakeForwarders()
	if o.traffic == nil {
		return
	}
	o.traffic.Resynced(node, o.eng.Now())
	for i := range o.routes {
		if o.sc.Traffic[i].FixedPorts {
			o.traffic.Clean(i, node, o.routes[i].entry.Tracked(o.cluster.Proxies[node].Installed()))
		}
	}
}

// forgetWays drops what is remembered of a node's rules, which are others now: it would keep a View in memory
// until a connection comes to the node again.
func (r *run) forgetWays(node int) {
	for i := range r.routes {
		if ways := r.routes[i].ways; ways != nil {
			ways[node] = installedWay{}
		}
		r.found[i*len(r.sc.Nodes)+node] = found{}
	}
	r.flows.Forget(node)
}

// NodeChanged wakes load balancers, and has what went through a node that is gone come to nothing.
func (o *observer) NodeChanged(node int) {
	r := (*run)(o)
	if !o.cluster.Dead(node) {
		for f := range r.allForwarders() {
			f.nodeCame(node)
		}
		r.wakeForwarders()
		if o.traffic != nil {
			o.traffic.NodeBack(node, o.serversOn(node), o.eng.Now())
		}
		return
	}
	for f := range r.allForwarders() {
		f.nodeDied(node)
	}
	r.wakeForwarders()
	if o.traffic != nil {
		o.traffic.NodeGone(node, o.serversOn(node), o.eng.Now())
	}
}

// serversOn lists the servers that are, or were, on a node.
func (o *observer) serversOn(node int) []uint64 {
	var out []uint64
	for _, i := range o.cluster.InstancesOn(node) {
		out = append(out, uint64(i.Pod))
	}
	return out
}

// SandboxGone wakes load balancers; new connections ask for themselves.
func (o *observer) SandboxGone(*kubelet.Instance) { (*run)(o).wakeForwarders() }

// SandboxBack tells of an address that answers again: a SYN that is repeated is refused now.
func (o *observer) SandboxBack(*kubelet.Instance) {
	if o.traffic != nil {
		o.traffic.Changed(o.eng.Now())
	}
}

// InFlightUntil asks the traffic how long the instance has work.
func (o *observer) InFlightUntil(i *kubelet.Instance) engine.Time {
	if o.traffic == nil {
		return o.eng.Now()
	}
	return o.traffic.Until(uint64(i.Pod), o.eng.Now())
}
