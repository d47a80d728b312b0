package swarm

import (
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// answering is what is known of a question with yes or no as an answer.
type answering uint8

const (
	unknown answering = iota // not told yet
	no
	mixed // one way or the other, as chance has it
	yes
)

// past is how an answer changed, from the beginning of the run on, or from when there was somebody
// to ask.
type past []struct {
	at  engine.Time
	now answering
}

func (p *past) set(at engine.Time, now answering) {
	if n := len(*p); n == 0 || (*p)[n-1].now != now {
		*p = append(*p, struct {
			at  engine.Time
			now answering
		}{at, now})
	}
}

// longest is how long an answer was one of some within a time, with breaks that are shorter than
// one between two probes; ever is false if it never was.
func (p past) longest(from, to, between engine.Time, some ...answering) (most engine.Time, ever bool) {
	since, until := engine.Time(0), engine.Time(0) // of the stretch at hand
	for i := -1; i < len(p); i++ {
		begin, end, now := from, to, unknown // before the first
		if i >= 0 {
			begin, now = max(from, p[i].at), p[i].now
		}
		if i+1 < len(p) {
			end = min(to, p[i+1].at)
		}
		if begin > end || !slices.Contains(some, now) || i < 0 && len(p) > 0 && p[0].at <= from {
			continue
		}
		if !ever || begin > until && begin-until >= between {
			since = begin
		}
		until, ever = end, true
		most = max(most, until-since)
	}
	return most, ever
}

// always says that it was one of some for all of a time that lies within what is known.
func (p past) always(from, to engine.Time, some ...answering) bool {
	most, ever := p.longest(from, to, 0, some...)
	// Of a time before anything was told it is not known, and what changes at its very end may have
	// been seen.
	return from >= 0 && ever && most == to-from && slices.Contains(some, p.at(to))
}

// at is the answer at a moment.
func (p past) at(moment engine.Time) answering {
	now := unknown
	for _, c := range p {
		if c.at <= moment {
			now = c.now
		}
	}
	return now
}

func (p past) ever(from, to engine.Time, some ...answering) bool {
	_, ever := p.longest(from, to, 0, some...)
	return ever
}

// balancers is what is known of the load balancers.
type balancers struct {
	judge   *judge
	list    []*balancer               // by the number of the stream; nil for none
	inside  []*balancer               // ingress controllers, the same way
	asking  map[traffic.Leg]*balancer // their pods
	views   []*nodeproxy.View         // in force, by node
	accepts map[api.PodID]bool
	now     engine.Time // of what was heard last
	begun   bool
}

// balancer is what is known of one.
type balancer struct {
	judge   *judge
	spec    *world.LoadBalancer
	name    string        // "the load balancer", or an ingress controller's pod
	service string        // that it is in front of
	wanted  map[int]*past // by node or pod: whether it is to be a member, by what the slices in the API say
	well    map[int]*past // whether a probe of it would be answered
	sends   []int         // who gets new connections, as it says
	left    map[int]engine.Time
	cut     map[int]engine.Time
}

func newBalancers(j *judge) balancers {
	n := len(j.w.Traffic)
	b := balancers{judge: j, list: make([]*balancer, n), inside: make([]*balancer, n), asking: map[traffic.Leg]*balancer{}, views: make([]*nodeproxy.View, len(j.w.Nodes)), accepts: map[api.PodID]bool{}}
	if j.does("apiserver") || j.does("component") || j.w.goes {
		return b // no news for as long as it is down, or who should hear it is paused
	}
	for i := range j.w.Traffic {
		t := &j.w.Traffic[i]
		if t.LB != nil {
			b.list[i] = newBalancer(j, t.LB, clientSide(t))
		}
		if t.Ingress != nil {
			b.inside[i] = newBalancer(j, t.Ingress.Proxy, t.Service)
		}
	}
	return b
}

func newBalancer(j *judge, spec *world.LoadBalancer, service string) *balancer {
	return &balancer{judge: j, spec: spec, name: "the load balancer", service: service, wanted: map[int]*past{}, well: map[int]*past{}, left: map[int]engine.Time{}, cut: map[int]engine.Time{}}
}

// all are those that are there, and the controllers.
func (b *balancers) all() iter.Seq[*balancer] {
	return func(yield func(*balancer) bool) {
		for _, list := range [][]*balancer{b.list, b.inside} {
			for _, lb := range list {
				if lb != nil && !yield(lb) {
					return
				}
			}
		}
	}
}

// by is the load balancer of a leg, or the controller's pod: all its pods hear of the same.
func (b *balancers) by(leg traffic.Leg) *balancer {
	if leg.Proxy == traffic.NoProxy {
		return b.list[leg.Stream]
	}
	c := b.inside[leg.Stream]
	if c != nil && b.asking[leg] == nil {
		pod := *c
		pod.name, pod.left, pod.cut = fmt.Sprint("ingress pod ", leg.Proxy), map[int]engine.Time{}, map[int]engine.Time{}
		b.asking[leg] = &pod
	}
	return b.asking[leg]
}

// hear follows what load balancers could know.
func (b *balancers) hear(e event.Event) {
	b.now = e.At
	b.begin(e.At)
	switch e.Kind {
	case event.Listening, event.Closed:
		b.accepts[e.Pod] = e.OK
	case event.SyncEnded:
		b.views[e.Node] = e.View
	case event.Wrote:
		if e.View == nil {
			return
		}
		for lb := range b.all() {
			lb.heard(e.At, e.View)
		}
		return
	default:
		return
	}
	for lb := range b.all() {
		if b.begun {
			lb.look(e.At, b)
		}
	}
}

// begin says what the world begins with, when its first event comes.
func (b *balancers) begin(at engine.Time) {
	if at == 0 || b.begun {
		return
	}
	b.begun = true
	for lb := range b.all() {
		lb.heard(0, nil)
		lb.look(0, b)
	}
}

// of1 is what is known of one of them.
func of1(m map[int]*past, id int) *past {
	if m[id] == nil {
		m[id] = &past{}
	}
	return m[id]
}

// endpoint is one of a view, with its pod.
type endpoint struct {
	pod                         api.PodID
	node                        int
	ready, serving, terminating bool
}

// endpoints are those of a Service in a view, nil for the one that the world begins with: its pods
// are ready.
func (j *judge) endpoints(view *nodeproxy.View, service string) []endpoint {
	var out []endpoint
	if view == nil {
		for _, id := range j.order {
			if p := j.pods[id].api; p.Created < 0 && j.home(p) == service {
				out = append(out, endpoint{pod: id, node: p.Node, ready: true, serving: true})
			}
		}
		return out
	}
	for _, port := range portsOf(view, service) {
		for _, e := range port.Endpoints {
			for _, id := range j.order {
				if j.pods[id].api.IP != e.Addr.Addr() {
					continue
				}
				node := slices.IndexFunc(j.w.Nodes, func(n world.Node) bool { return n.Name == e.NodeName })
				out = append(out, endpoint{id, node, e.Conditions.Ready(), e.Conditions.Serving(), e.Conditions.Terminating()})
			}
		}
	}
	return out
}

// heard applies the rules of membership (docs/model/load-balancers.md 2).
func (b *balancer) heard(at engine.Time, view *nodeproxy.View) {
	in, perhaps := map[int]bool{}, map[int]bool{}
	for _, e := range b.judge.endpoints(view, b.service) {
		id := e.node
		if b.spec.Target == world.TargetPods {
			id = int(e.pod)
		}
		switch b.spec.Members {
		case world.MembersLocalNodes, world.MembersLivePods:
			in[id] = in[id] || !e.terminating
		case world.MembersReadyPods:
			in[id] = in[id] || e.ready && !e.terminating
			perhaps[id] = b.spec.ReadinessGate != "" && !e.terminating // one that waits for its gate is a target
		case world.MembersServingPods:
			in[id] = in[id] || e.serving && !e.terminating
		case world.MembersServing:
			in[id] = in[id] || e.ready || e.serving
		default:
		}
	}
	for _, id := range b.candidates() {
		now := no
		switch {
		case in[id] || b.spec.Members == world.MembersAllNodes:
			now = yes
		case perhaps[id]:
			now = mixed
		}
		of1(b.wanted, id).set(at, now)
	}
}

// candidates are all nodes, or all pods there ever were.
func (b *balancer) candidates() []int {
	var out []int
	if b.spec.Target == world.TargetNodes {
		for n := range b.judge.w.Nodes {
			out = append(out, n)
		}
		return out
	}
	for _, id := range b.judge.order {
		if b.judge.home(b.judge.pods[id].api) == b.service {
			out = append(out, int(id))
		}
	}
	return out
}

// look finds out what probes would be answered (docs/model/load-balancers.md 1).
func (b *balancer) look(at engine.Time, all *balancers) {
	for _, id := range b.candidates() {
		now := yes
		switch b.spec.Check.Probe {
		case world.ProbePod:
			if now = no; all.accepts[api.PodID(id)] {
				now = yes
			}
		case world.ProbeHealthPort:
			now = all.healthPort(id, b.service)
		case world.ProbeNodePort:
			now = all.nodePort(id, b.service)
		default: // the service proxy is there, or nobody is asked
		}
		of1(b.well, id).set(at, now)
	}
}

// healthPort counts the ready endpoints of a node (docs/model/kube-proxy.md 5.1).
func (b *balancers) healthPort(node int, service string) answering {
	for _, e := range b.judge.endpoints(b.views[node], service) {
		if e.ready && e.node == node {
			return yes
		}
	}
	return no
}

// nodePort asks whom the rules could choose: surely yes if every ready endpoint accepts, surely no
// if none does of all that there are.
func (b *balancers) nodePort(node int, service string) answering {
	local := b.judge.w.serviceOf(service).Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
	ready, shut, open := 0, 0, 0
	for _, e := range b.judge.endpoints(b.views[node], service) {
		switch accepts := b.accepts[e.pod]; {
		case local && e.node != node:
		case accepts && e.ready:
			ready, open = ready+1, open+1
		case accepts:
			open++
		case e.ready:
			shut++
		}
	}
	switch {
	case open == 0:
		return no
	case ready > 0 && shut == 0:
		return yes
	default:
		return mixed
	}
}

// detection is how long it takes at most to find out, and to have new connections follow. Where
// probes overlap, a timeout that passes after a later answer does not count.
func (b *balancer) detection() (bad, good engine.Time) {
	c, lag := b.spec.Check, b.spec.HealthPropagation.Max()
	bad, good = engine.Time(c.Unhealthy)*c.Interval+c.Timeout+lag, engine.Time(c.Healthy)*c.Interval+c.Timeout+lag
	if c.Timeout > c.Interval {
		bad += engine.Time(c.Unhealthy+1) * c.Interval
	}
	return bad, good
}

// acting is how long its controller takes at most from news to its call.
func (b *balancer) acting() engine.Time { return b.spec.Controller.Max() + b.spec.ControllerHold }

// removal is how long it takes from the slices until a member that is none gets no new connection
// any more (docs/model/load-balancers.md 2 and 4).
func (b *balancer) removal() (least, most engine.Time) {
	watch := b.judge.w.Latency.Watch
	most = b.spec.Propagation.Max()
	if b.spec.Layer7 != nil && b.spec.Layer7.WholeLists { // which has no list in force before the one that it was told earlier
		most = max(most, b.spec.Registration.Max())
	}
	return watch.Min() + b.spec.Propagation.Min(), watch.Max() + b.acting() + most
}

// settled is when what it takes into account began at most to be so, for it to have followed.
func (b *balancer) settled(at engine.Time) engine.Time {
	bad, good := b.detection()
	_, removal := b.removal()
	return at - removal - b.spec.Registration.Max() - bad - good - sec
}

// member says that somebody must have become a member by now, and is one.
func (b *balancer) member(id int, at engine.Time) bool {
	return of1(b.wanted, id).always(b.settled(at), at, yes)
}

// good says that a member must have been found to be one, and well, by now.
func (b *balancer) good(id int, at engine.Time) bool {
	return b.member(id, at) && (b.spec.Check.Probe == world.ProbeNone || of1(b.well, id).always(b.settled(at), at, yes))
}

// anyGood says that somebody is good, besides one.
func (b *balancer) anyGood(but int, at engine.Time) bool {
	return slices.ContainsFunc(b.candidates(), func(id int) bool { return id != but && b.good(id, at) })
}

// did hears what a load balancer does.
func (b *balancers) did(e event.Event) {
	b.judge.asked(e)
	lb := b.by(traffic.Leg{Stream: e.Stream, Proxy: e.Proxy})
	if lb == nil {
		return
	}
	switch e.Kind {
	case event.Sends:
		lb.changed(e)
	case event.Sent:
		lb.sent(e)
	case event.Cut:
		lb.cuts(e)
	default:
	}
}

// New connections go to members, found to be well, and to nobody else.
func (b *balancer) sent(e event.Event) {
	j := b.judge
	if e.Member < 0 {
		for _, id := range b.candidates() {
			if b.good(id, e.At) || b.spec.FailOpen && !b.spec.InitialWaits && b.member(id, e.At) {
				j.fail("target", "%s of stream %d has no target after %s s, and %d has been good for long", b.name, e.Stream, e.At.Seconds(), id)
			}
		}
		return
	}
	if !slices.Contains(b.sends, e.Member) {
		j.fail("target", "%s of stream %d sends a connection to %d after %s s, which is none of %v", b.name, e.Stream, e.Member, e.At.Seconds(), b.sends)
	}
	_, most := b.removal()
	if of1(b.wanted, e.Member).always(e.At-most-ms, e.At, no) {
		j.fail("removal", "%s of stream %d sends a connection to %d after %s s, which has been no member for %s s", b.name, e.Stream, e.Member, e.At.Seconds(), most.Seconds())
	}
	bad, _ := b.detection()
	if b.spec.Check.Probe == world.ProbeNone || b.spec.FailOpen && !b.anyGood(e.Member, e.At) {
		return
	}
	if of1(b.well, e.Member).always(e.At-bad-ms, e.At, no) {
		j.fail("detection", "%s of stream %d sends a connection to %d after %s s, which has not answered for %s s", b.name, e.Stream, e.Member, e.At.Seconds(), bad.Seconds())
	}
}

// Who gets new connections changes when enough probes in a row say so, and not before.
func (b *balancer) changed(e event.Event) {
	before := b.sends
	b.sends = slices.Clone(e.Members)
	for _, id := range e.Members {
		delete(b.left, id)
		if e.At > 0 && !slices.Contains(before, id) {
			b.joined(id, e)
		}
	}
	for _, id := range before {
		if !slices.Contains(e.Members, id) {
			b.left[id] = e.At
			b.leaves(id, e)
		}
	}
}

func (b *balancer) joined(id int, e event.Event) {
	c, lag := b.spec.Check, b.spec.HealthPropagation.Min()
	if c.Probe == world.ProbeNone || b.spec.FailOpen {
		return
	}
	if most, ever := of1(b.well, id).longest(0, e.At-lag, c.Interval, mixed, yes); !ever || most < engine.Time(c.Healthy-1)*c.Interval {
		b.judge.fail("detection", "%s of stream %d sends to %d from %s s on, which has not answered so many probes in a row", b.name, e.Stream, id, e.At.Seconds())
	}
}

func (b *balancer) leaves(id int, e event.Event) {
	if b.spec.FailOpen || b.spec.Announce == world.AnnounceL2 {
		return // others that are better may have come
	}
	c, lag := b.spec.Check, b.spec.HealthPropagation.Min()
	least, most := b.removal()
	if of1(b.wanted, id).ever(max(0, e.At-most), e.At-least, unknown, no, mixed) && b.spec.Members != world.MembersAllNodes {
		return
	}
	if worst, ever := of1(b.well, id).longest(0, e.At-lag, c.Interval, no, mixed); c.Probe == world.ProbeNone || !ever || worst < engine.Time(c.Unhealthy-1)*c.Interval {
		b.judge.fail("detection", "%s of stream %d leaves %d at %s s, which is a member, and well", b.name, e.Stream, id, e.At.Seconds())
	}
}

// A member's connections are cut when it has been left for as long as the drain, or because it is
// found to be unwell where that cuts them.
func (b *balancer) cuts(e event.Event) {
	b.cut[e.Member] = e.At
	c, lag := b.spec.Check, b.spec.HealthPropagation.Min()
	if b.spec.CutUnhealthy && c.Probe != world.ProbeNone {
		if worst, ever := of1(b.well, e.Member).longest(0, e.At-lag, c.Interval, no, mixed); ever && worst >= engine.Time(c.Unhealthy-1)*c.Interval {
			return
		}
	}
	left, ok := b.left[e.Member]
	switch {
	case b.spec.Announce == world.AnnounceL2 || !ok && !slices.Contains(b.sends, e.Member):
		// It never was the one that answers, or never well.
	case !ok || e.At < left+b.spec.Drain:
		b.judge.fail("drain", "%s of stream %d cuts %d at %s s, left at %s s (%v)", b.name, e.Stream, e.Member, e.At.Seconds(), left.Seconds(), ok)
	}
}

// A pod that was removed answers nothing that is asked when draining is over; it may have come back
// by the time a SYN is repeated.
func (b *balancers) succeed(leg traffic.Leg, number, endpoint uint64, arrival engine.Time) {
	lb := b.by(leg)
	if lb == nil || lb.spec.Target != world.TargetPods || lb.spec.Drain == engine.Never {
		return
	}
	_, most := lb.removal()
	if over := most + lb.spec.Drain + longestRTT; of1(lb.wanted, int(endpoint)).always(arrival-over, max(arrival, b.now), no) {
		b.judge.fail("drain", "request %d of stream %d, of %s s, is answered by pod %d, which has been no member for %s s", number, leg.Stream, arrival.Seconds(), endpoint, over.Seconds())
	}
}

// failed hears of a failure: of connections that were cut, and of whose lateness it was.
func (b *balancers) failed(r *ledger.Request) {
	lb := b.list[r.Stream]
	// What is late behind a controller may be so for what it waited for in front of it.
	if r.Ingress != "" && (r.Outcome != ledger.Timeout || r.Blame.Actor == ledger.Ingress) {
		lb = b.by(traffic.Leg{Stream: r.Stream, Proxy: b.judge.podNamed(r.Ingress)})
	}
	if lb == nil {
		return
	}
	member := r.Node
	if lb.spec.Target == world.TargetPods {
		member = b.judge.podNamed(r.Pod)
	}
	if r.Blame.Cause == ledger.DrainCut && lb.spec.Announce == world.AnnounceNone {
		if at, ok := lb.cut[member]; !ok || at < r.Arrival-longestRTT && b.judge.w.Traffic[r.Stream].Connection == world.ConnectionOwn {
			b.judge.fail("drain", "request %d of stream %d, of %s s, was cut with %d, whose connections were cut at %s s (%v)", r.Number, r.Stream, r.Arrival.Seconds(), member, at.Seconds(), ok)
		}
	}
	if r.Blame.Cause == ledger.StaleLB || r.Blame.Cause == ledger.NoHealthyTarget {
		lb.blamed(r, member)
	}
}

// Who is blamed was there to be late, and was.
func (b *balancer) blamed(r *ledger.Request, member int) {
	watch, t := b.judge.w.Latency.Watch, &b.judge.w.Traffic[r.Stream]
	// What waited for a connection may have waited for another member, which was late before.
	own := !t.KeepAlive && t.Connection == world.ConnectionOwn && r.Outcome != ledger.Timeout
	ok := true
	ingress := b.spec.Layer7 != nil && b.spec.Layer7.Ingress
	switch r.Blame.Actor {
	case ledger.Ingress:
		ok = ingress
	case ledger.LBProbe:
		ok = !ingress && b.spec.Check.Probe != world.ProbeNone
	case ledger.LBController:
		ok = !ingress && b.spec.Members != world.MembersAllNodes
		if late := watch.Max() + b.acting() + ms; own && r.Blame.Cause == ledger.StaleLB && of1(b.wanted, member).always(r.Arrival-late, r.Arrival, no) {
			ok = false // the controller has acted
		}
	case ledger.LBPropagation:
		ok = !ingress && b.spec.Registration.Max()+b.spec.Propagation.Max()+b.spec.HealthPropagation.Max() > 0
		if own && !b.spec.FailOpen && r.Blame.Cause == ledger.StaleLB && b.spec.HealthPropagation.Max() == 0 && !of1(b.wanted, member).ever(0, r.End, no, mixed) {
			ok = false // there is no removal to be known of
		}
	default:
	}
	if !ok {
		b.judge.fail("blame", "request %d of stream %d, of %s s: %s of %d is put down to %s", r.Number, r.Stream, r.Arrival.Seconds(), r.Blame.Cause, member, r.Blame.Actor)
	}
}
