package sim

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/balancer"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// forwarder is a load balancer, or an ingress controller's pod, with what goes through it.
type forwarder struct {
	run     *run
	spec    *world.LoadBalancer
	entry   cluster.Entry
	watch   *cluster.EndpointWatch
	nodes   *cluster.NodeWatch
	silent  []bool // nodes whose speakers are not heard of any more
	b       *balancer.Balancer
	legs    []traffic.Leg     // that go through it
	targets []*traffic.Target // by pod, of those that it sends to past the nodes
	sends   []int             // the members that got new connections when subscribers were last told
	open    []traffic.Hop     // those that get them now, nil when that is to be found out
	owner   engine.Owner
	gated   bool               // its controller looks at pods, for readiness gates that it sets
	opened  map[api.PodID]bool // pods that its controller has found healthy
}

var (
	_ balancer.Cluster  = (*forwarder)(nil)
	_ balancer.Observer = (*forwarder)(nil)
)

// tell tells of what a load balancer does.
func (f *forwarder) tell(e event.Event) {
	if log := f.run.opts.Events; log.Hears(e.Kind) {
		e.Stream, e.Proxy = f.legs[0].Stream, f.legs[0].Proxy
		log.Tell(e)
	}
}

// openForwarders makes the load balancers of a scenario: streams through one share it.
func (r *run) openForwarders() {
	r.forwarders = make([]*forwarder, len(r.sc.Traffic))
	for i := range r.sc.Traffic {
		spec := r.sc.Traffic[i].LB
		if spec == nil {
			continue
		}
		for k := range i {
			if f := r.forwarders[k]; f != nil && f.spec == spec && f.entry.SamePort(r.routes[i].entry) {
				r.forwarders[i] = f
			}
		}
		if r.forwarders[i] == nil {
			name := "load balancer " + spec.Service
			if i > 0 {
				name += fmt.Sprint(" of stream ", i) // whatever the load balancers of streams before it are called
			}
			r.forwarders[i] = r.newForwarder(name, spec, r.routes[i].entry)
			r.cluster.EnrollBalancer(r.forwarders[i].owner)
		}
		r.forwarders[i].legs = append(r.forwarders[i].legs, traffic.Leg{Stream: i, Proxy: traffic.NoProxy})
	}
	for f := range r.allForwarders() {
		f.Sends(f.b.Active())
		f.b.Introduce()
	}
}

// newForwarder makes one at rest.
func (r *run) newForwarder(name string, spec *world.LoadBalancer, entry cluster.Entry) *forwarder {
	f := &forwarder{run: r, spec: spec, entry: entry}
	f.owner = r.eng.Register(name)
	f.watch = r.cluster.WatchEndpoints(name, f.owner, entry, func() { f.b.Hear() })
	f.watchNodes(name)
	f.watchGates(name)
	f.b = balancer.New(name, spec, r.eng, f.owner, f, f)
	return f
}

// allForwarders are the load balancers, each once.
func (r *run) allForwarders() iter.Seq[*forwarder] {
	return func(yield func(*forwarder) bool) {
		for i, f := range r.forwarders {
			if f != nil && f.legs[0].Stream == i && !yield(f) {
				return
			}
		}
	}
}

// Nodes is how many there are.
func (f *forwarder) Nodes() int { return len(f.run.sc.Nodes) }

// Heard are the endpoints as its controller's watch has brought them.
func (f *forwarder) Heard() []balancer.Endpoint { return f.endpointsOf(f.watch.Endpoints()) }

// Settled are those that the pods in the API amount to.
func (f *forwarder) Settled() []balancer.Endpoint {
	return f.endpointsOf(f.run.cluster.SettledEndpoints(f.entry))
}

func (f *forwarder) endpointsOf(list []cluster.Endpoint) []balancer.Endpoint {
	out := make([]balancer.Endpoint, len(list))
	for i, e := range list {
		c := e.Conditions
		out[i] = balancer.Endpoint{Pod: int(e.Pod), Node: e.Node, Ready: c.Ready(), Serving: c.Serving(), Terminating: c.Terminating()}
		f.addGates(&out[i], e.Object)
	}
	return out
}

// Answer asks what a probe asks.
func (f *forwarder) Answer(p world.Probe, member int, draw uint64) balancer.Answer {
	w := f.run.cluster
	switch p {
	case world.ProbeHealthPort:
		return balancer.Answer(w.ProbeHealthPort(f.entry, member))
	case world.ProbeNodePort:
		if w.Dead(member) {
			return balancer.Answer{Late: true, Sure: true}
		}
		return f.throughNode(member, draw)
	case world.ProbePod:
		i := w.PodInstance(api.PodID(member))
		return balancer.Answer{OK: i != nil && i.Accepts(), Late: i == nil || !i.Answers(), Sure: true}
	default:
		return balancer.Answer(w.ProbeProxy(member))
	}
}

// throughNode connects to the node port: whom the rules choose answers.
func (f *forwarder) throughNode(node int, draw uint64) balancer.Answer {
	w := f.run.cluster
	d := w.Enter(f.entry, node)
	if len(d.Targets) == 0 {
		return balancer.Answer{Late: d.Verdict == packet.Drop, Sure: true}
	}
	accepting := 0
	for _, t := range d.Targets {
		if i := w.Instance(t.Addr.Addr()); i.Accepts() && w.Listens(i, t.Addr.Port()) {
			accepting++
		}
	}
	to := d.Targets[engine.Below(draw, len(d.Targets))].Addr
	i := w.Instance(to.Addr())
	return balancer.Answer{OK: i.Accepts() && w.Listens(i, to.Port()), Late: !i.Answers(), Sure: accepting == 0 || accepting == len(d.Targets)}
}

// WouldAnswer is what settled rules answer.
func (f *forwarder) WouldAnswer(p world.Probe, member int) bool {
	w := f.run.cluster
	switch p {
	case world.ProbeHealthPort:
		return w.NodeHealthySettled(f.entry, member)
	case world.ProbeNodePort:
		return w.ReachesSettled(f.entry, member)
	case world.ProbePod:
		return f.Answer(p, member, 0).OK
	case world.ProbeProxyHealth:
		return !w.Dead(member) && w.EligibleSettled(member)
	default:
		return true
	}
}

// Reaches says whether a connection to a member reaches a pod that accepts.
func (f *forwarder) Reaches(member int) bool {
	if f.spec.Target == world.TargetPods {
		return f.Answer(world.ProbePod, member, 0).OK
	}
	return f.run.cluster.Reaches(f.entry, member)
}

// Missing is what keeps pods from being there.
func (f *forwarder) Missing() ledger.Actor { return f.run.cluster.Missing(f.entry) }

// Address is a node's.
func (f *forwarder) Address(node int) string { return f.run.cluster.NodeIP(node).String() }

// Sends tells which members get new connections, and which do not any more.
func (f *forwarder) Sends(members []int) {
	opens := f.b.FailsOpen()
	f.tell(event.Event{Kind: event.Sends, Member: -1, Members: members, Fallback: opens})
	f.redirect()
	if pod := f.legs[0].Proxy; pod != traffic.NoProxy {
		f.tellIngress(api.PodID(pod), members)
		return
	}
	if !f.run.opts.Events.Hears(event.Balancer) {
		return
	}
	for _, leg := range f.legs {
		for _, m := range members {
			if !slices.Contains(f.sends, m) {
				f.tellMember(leg.Stream, m, true, opens)
			}
		}
		for _, m := range f.sends {
			if !slices.Contains(members, m) {
				f.tellMember(leg.Stream, m, false, false)
			}
		}
	}
	f.sends = slices.Clone(members)
}

// tellIngress tells where a pod of an ingress controller sends requests.
func (f *forwarder) tellIngress(pod api.PodID, members []int) {
	if log := f.run.opts.Events; log.Hears(event.Ingress) {
		e := event.Event{Kind: event.Ingress, Stream: f.legs[0].Stream, Pod: pod, Node: -1}
		for _, m := range members {
			e.Targets = append(e.Targets, api.PodID(m))
		}
		log.Tell(e)
	}
}

// tellMember tells of a member, a node or a pod, that gets new connections of a stream from now on, or not any more; opens says that it does
// because none is healthy.
func (f *forwarder) tellMember(stream, member int, ok, opens bool) {
	e := event.Event{Kind: event.Balancer, Stream: stream, Pod: -1, Node: member, OK: ok, Fallback: opens}
	if f.spec.Target == world.TargetPods {
		e.Pod, e.Node = api.PodID(member), -1
	}
	f.run.opts.Events.Tell(e)
}

// Target tells what is made of a member.
func (f *forwarder) Target(member int, state balancer.State) {
	f.tell(event.Event{Kind: event.Target, Member: member, State: string(state)})
}

// Cut ends the connections to a member.
func (f *forwarder) Cut(member int) {
	f.tell(event.Event{Kind: event.Cut, Member: member})
	f.cut(func(_ uint64, m int) bool { return m == member })
}

// Moved ends the connections that lead elsewhere now.
func (f *forwarder) Moved(gone func(flow uint64, member int) bool) {
	f.tell(event.Event{Kind: event.Moved, Member: -1})
	f.cut(gone)
}

func (f *forwarder) cut(gone func(flow uint64, member int) bool) {
	if f.run.traffic == nil {
		return
	}
	for _, leg := range f.legs {
		f.run.traffic.CutVia(leg, f.run.eng.Now(), gone)
	}
}

// pick sends a new connection to a member, or a repeated SYN, which went to last before.
func (f *forwarder) pick(flow uint64, last int) traffic.Hop {
	member, ok := f.b.Pick(flow, last)
	// A repeated SYN that stays is not sent anew: its member may be one that gets no new connection any more.
	if (last < 0 || member != last) && f.run.opts.Events.Hears(event.Sent) {
		f.tell(event.Event{Kind: event.Sent, Member: member})
	}
	if !ok {
		return traffic.Hop{Member: -1, Node: -1, Fault: noTarget(f.spec.NoTarget)}
	}
	return f.firstHop(member)
}

// firstHop is where a connection to a member goes first.
func (f *forwarder) firstHop(member int) traffic.Hop {
	if f.spec.Target == world.TargetPods {
		return traffic.Hop{Member: member, Node: -1, Target: f.target(member)}
	}
	return traffic.Hop{Member: member, Node: member}
}

// firstHops are those of all members that get new connections. Without a connection of before, Pick
// chooses from them by Below.
func (f *forwarder) firstHops() []traffic.Hop {
	if f.open == nil {
		for _, m := range f.b.Active() {
			f.open = append(f.open, f.firstHop(m))
		}
	}
	return f.open
}

// redirect has the traffic know that new connections go elsewhere from now on.
func (f *forwarder) redirect() {
	f.open = nil
	if f.run.traffic == nil {
		return
	}
	for _, leg := range f.legs {
		if leg.Proxy == traffic.NoProxy {
			f.run.traffic.Redirected(leg.Stream, f.run.eng.Now())
		}
	}
}

func noTarget(n world.NoTarget) ledger.Fault {
	switch n {
	case world.NoTargetRefused:
		return ledger.FaultNoTargetRefused
	case world.NoTarget503:
		return ledger.FaultNoTarget503
	case world.NoTargetElsewhere:
		return ledger.FaultElsewhere
	default:
		return ledger.FaultNoTarget
	}
}

// target is a pod's address and port.
func (f *forwarder) target(pod int) *traffic.Target {
	for pod >= len(f.targets) {
		f.targets = append(f.targets, nil)
	}
	if f.targets[pod] == nil {
		i := f.run.cluster.PodInstance(api.PodID(pod))
		addr := netip.AddrPortFrom(i.IP, f.entry.TargetPort())
		f.targets[pod] = &traffic.Target{Addr: addr, Server: (*network)(f.run).server(addr)}
	}
	return f.targets[pod]
}

// wakeForwarders has load balancers look again at their next probes.
func (r *run) wakeForwarders() {
	for f := range r.allForwarders() {
		f.b.Wake()
	}
}
