// Package traffic simulates clients: when they ask, over which connections, what they do when
// a connection is refused, swallowed or cut, and what therefore becomes of each request.
//
// Requests never go through the engine's queue: between two events of the world routing is
// constant, so a request is a few draws and an entry in the ledger, and most are counted (plain.go,
// calm.go). What lies between client and pod is behind the World interface; its implementation
// decides where packets go and whom to blame, and says when that changes.
//
//	arrivals, retries -> attempt -> World.Enter -> accept | refuse | swallow -> ledger
package traffic

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Spec is one stream of requests.
type Spec struct {
	Name     string
	External bool
	// Interval is the mean time between requests over all clients; ignored for a closed loop.
	Interval   engine.Time
	Arrivals   Arrivals
	Clients    int // closed loop: clients; keep-alive: connections of the pool
	KeepAlive  bool
	ClientIdle engine.Time // 0: connections are never closed by the client
	// RepeatReused has clients of a pool ask again over another connection when one that they had
	// used before is closed before any byte of the answer (see repeats).
	RepeatReused bool
	Kind         Kind // over what the requests go
	// WaitForReady has calls of HTTP2 wait for a connection until their timeout, instead of
	// failing while the client waits to try again.
	WaitForReady bool

	// Timeout bounds an attempt as a whole, ConnectTimeout its connection; 0 is no limit of the
	// client's own.
	ConnectTimeout, Timeout engine.Time
	// Retries is how many further attempts follow a failed one, each RetryDelay later.
	Retries    int
	RetryDelay engine.Time
	RTT        engine.Time // of the network between client and server
	// Proxy is the L7 proxy that the requests go through, nil for none.
	Proxy *Proxy
	// IdleLimit is how long a load balancer between client and server keeps a connection that
	// nothing is sent over, 0 for ever. Then it closes it to both sides, or, with IdleForgets,
	// forgets it without a word: the side that writes next is answered with a reset.
	IdleLimit   engine.Time
	IdleForgets bool
	// ICMPFiltered says that a refusal by a node's rules does not get through.
	ICMPFiltered bool
	// Unreachable says that a router answers for an address where nothing is: UnreachableAfter a
	// SYN to it comes ICMP host unreachable. Else there is silence.
	Unreachable      bool
	UnreachableAfter engine.Time
	// LinearSYNs is how many SYNs the client's kernel repeats a second after one another before the
	// pauses double (net.ipv4.tcp_syn_linear_timeouts): 0, or 4 as Linux since 6.5. At most MostLinearSYNs.
	LinearSYNs int
}

// MostLinearSYNs bounds Spec.LinearSYNs.
const MostLinearSYNs = 8

// Arrivals is how requests come.
type Arrivals uint8

// The arrival processes.
const (
	Poisson Arrivals = iota
	Constant
	ClosedLoop
)

// Kind is over what requests go.
type Kind uint8

// The kinds. All but the first have Clients clients.
const (
	PerRequest Kind = iota // a TCP connection each, or one of a pool with KeepAlive
	HTTP2                  // one connection a client, which its calls share
	Session                // one connection a client, which lasts as long as its server
	Datagram               // question and answer over UDP, from a port of its own each
	FixedFlow              // the same from one port a client
	Named                  // a TCP connection each, to an address that the client has from DNS
)

// Way is where the rules of a node send a new connection of a stream.
type Way struct {
	Verdict packet.Verdict
	Targets []*Target // each with the same chance
}

// Target is one endpoint a way may lead to.
type Target struct {
	Addr   netip.AddrPort
	Server Server // nil when nothing ever was at the address

	known known
}

// addr is the target's address, the zero address for none.
func (t *Target) addr() netip.AddrPort {
	if t == nil {
		return netip.AddrPort{}
	}
	return t.Addr
}

// Server is what a connection meets at an address.
type Server interface {
	// Accepts says whether a new connection is accepted now; Answers whether the address at
	// least answers, with a reset, when it is not.
	Accepts() bool
	Answers() bool
	// Serve starts a request now and returns when it will be answered, and how.
	Serve(draw uint64, now engine.Time) (end engine.Time, answer Answer)
	// Plain returns how long the server takes to answer when that is all there is to say: it answers
	// each request, with no error. Else nil. Serve takes as long, by the same draw. It is always the same,
	// until the server Errs.
	Plain() *engine.Dist
	// ClosesAnswered says whether the server closes each connection with the next answer over it: see CloseAnswered.
	ClosesAnswered() bool
	// IdleLimit is how long the server keeps a connection that nothing is asked over, 0 for ever.
	IdleLimit() engine.Time
	Name() string
	// ID is the server's number; servers are numbered from 0.
	ID() uint64
}

// Answer is what a server makes of a request that it has accepted.
type Answer uint8

// The answers.
const (
	Answered   Answer = iota
	Erred             // answered with an error, in its time
	TurnedAway        // there is no room for it: answered at once, with an error
)

// Hop is where a new connection goes first.
type Hop struct {
	// Member is the node, or what a load balancer calls its target; -1 when it has none, and
	// Fault is what the client sees of that.
	Member int
	Fault  ledger.Fault
	// Node is the node whose rules it meets, -1 when it is sent to a Target past them.
	Node   int
	Target *Target
}

// Leg is whose connections are meant: those of a stream's clients, or of a proxy that asks for
// them.
type Leg struct {
	Stream int
	// Proxy is the number of the Server that is the proxy, NoProxy for the clients and for a
	// proxy that is no Server.
	Proxy int
}

// NoProxy is the Proxy of a Leg that no Server is the proxy of.
const NoProxy = -1

// World is what lies between clients and pods. It is asked for each new connection: what it
// answers with has to be remembered by the implementation.
type World interface {
	// FirstHop says where a new connection goes first: to a node, or through a load balancer. flow
	// stands for its 5-tuple; last is the member that it was sent to before, -1 for none.
	FirstHop(leg Leg, flow uint64, last int) Hop
	// FirstHops are where new connections of a stream's clients go first now, each as likely, which FirstHop
	// chooses from by Below; nil where something else decides. The list stays as it is.
	FirstHops(stream int) []Hop
	// Enter says where the rules of a node send a new connection of a stream now. The Way stays as
	// it is.
	Enter(stream, node int) *Way
	// Began hears of new connections at the moment the SYN meets the rules of a node, and
	// where it goes: the i-th target of the Way, nil for nowhere. The Target stays as it is. Of
	// plain requests it does not hear.
	Began(stream, node, i int, target *Target)
	// Resolve says what DNS answers now to the clients of a stream of the kind Named, and how long
	// they keep it.
	Resolve(stream int) (list []*Target, ttl engine.Time)
	// Judge blames a failed attempt. member and node are those of its Hop, target is the zero
	// address when the rules chose none.
	Judge(leg Leg, member, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame
}

// Traffic runs all streams of a scenario. It has one owner.
type Traffic struct {
	world   World
	led     *ledger.Ledger
	streams []*stream
	pending agenda
	steps   []*step // to be used again
	seq     uint64
	spare   []*attempt // to be used again by requests that wait
	// cleanSteps and cleanSpare are how many of these, from the first on, have not been used in this run.
	cleanSteps, cleanSpare int

	scratch attempt     // of the request that has just arrived: most are done with it at once
	serving []inFlight  // by Server.ID
	dead    []bool      // nodes that are gone; those beyond its end are not
	mute    []bool      // by Server.ID: servers on them
	stopped engine.Time // no arrivals from here on
	clock   engine.Time // of what clients do now, or did last
	drawAll bool
	age     uint64 // counts the times at which servers may have begun to answer otherwise

	quietNext quiet // see nextQuiet
}

// New returns the traffic of some streams; arrivals begin at time 0.
func New(world World, led *ledger.Ledger, eng *engine.Engine, specs []Spec) *Traffic {
	return new(Memory).New(world, led, eng, specs)
}

// Stop ends the arrivals at a moment; attempts under way go on.
func (t *Traffic) Stop(at engine.Time) { t.stopped = at }

// Idle says whether no request is under way that could still fail.
func (t *Traffic) Idle() bool {
	return t.pending.count == 0 && !slices.ContainsFunc(t.streams, func(s *stream) bool { return len(s.waiting) > 0 || s.silence.under() > 0 })
}

// Clock is the moment of what clients do now, between two events of the world, or of the last of it. What
// they do after the end of the arrivals meets the world of that moment.
func (t *Traffic) Clock() engine.Time { return min(t.clock, t.stopped) }

// RunUntil handles everything that clients do before a moment.
func (t *Traffic) RunUntil(limit engine.Time) {
	t.nobodyTells()
	if t.nothingBefore(limit) { // events of the world come in bursts
		return
	}
	for {
		s := t.countPlain(limit)
		arrival := engine.Never
		if s != nil && s.next < t.stopped {
			arrival = s.next
		}
		due := t.pending.next()
		waiting, wakes := t.firstWaiting()
		again, step := t.stayQuiet(min(arrival, limit), wakes)
		if again || waiting != nil && t.wake(waiting, wakes, min(arrival, limit, due, step)) {
			continue
		}
		if due < min(arrival, limit) {
			p := t.pending.pop()
			t.clock = p.at
			gone := p.givenUp()
			t.resume(p)
			t.steps = append(t.steps, p.step)
			if gone != nil {
				t.wakeAtOnce(gone)
			}
			continue
		}
		if arrival >= limit {
			t.close(limit)
			return
		}
		t.scratch = attempt{}
		s.arrive(&t.scratch.req)
		t.clock = arrival
		t.led.Begin(s.index, t.scratch.req.number, t.scratch.req.arrival)
		t.start(&t.scratch, t.scratch.req.arrival)
		t.calmDown(s)
	}
}

// nothingBefore says whether clients do nothing before a moment that is looked at.
func (t *Traffic) nothingBefore(limit engine.Time) bool {
	if limit >= t.stopped || t.pending.next() < limit || t.nextQuiet().at < limit {
		return false
	}
	for _, s := range t.streams {
		if len(s.waiting) > 0 || s.next < limit && !s.calm.on {
			return false
		}
	}
	return true
}

// close counts what is left of calm streams when there are no more arrivals before a moment. Before the end of time
// it may still be asked what is in flight.
func (t *Traffic) close(limit engine.Time) {
	switch {
	case limit == engine.Never:
		t.closeCalm()
	case limit >= t.stopped:
		t.catchUpAll(t.stopped)
	}
}

// request is one request under way.
type request struct {
	stream   *stream
	number   uint64
	arrival  engine.Time
	draws    engine.Stream
	drawn    uint32
	attempts int32
	repeats  int32 // of all attempts: see Spec.RepeatReused
	proxied  int32 // tries of the proxy, of the attempt under way
	client   int32
	escapes  bool         // it succeeds after a failed attempt, if it does
	escaped  ledger.Blame // of the last of them
}

// escape notes a failed attempt that the request may outlive.
func (r *request) escape(from ledger.Blame) { r.escapes, r.escaped = true, from }

// from is what it has escaped, nil for nothing.
func (r *request) from() *ledger.Blame {
	if !r.escapes {
		return nil
	}
	return &r.escaped
}

func (r *request) draw() uint64 {
	r.drawn++
	return r.draws.Draw(uint64(r.drawn))
}

// attempt is one try: a new connection, with its retransmissions.
type attempt struct {
	req    request
	member int    // of the Hop; -1 for none
	flow   uint64 // stands for the 5-tuple
	node   int
	began  engine.Time // of the attempt: the timeout counts from here
	sent   engine.Time // of the first SYN: retransmissions and the connect timeout count from here
	target *Target     // pinned by the node's connection table once chosen, nil before
	silent engine.Time // when a SYN first came to where nothing is, 0 for never
	tries  int32
	reused bool         // over a connection that had been used before
	blame  ledger.Blame // of the last judgement

	proxy    *proxy    // that asks for the client, nil while the client itself connects
	proxying *proxying // at a proxy that is a Server, nil for none
}

// leg is whose connection the attempt is about.
func (a *attempt) leg() Leg {
	if a.proxy == nil {
		return Leg{a.req.stream.index, NoProxy}
	}
	return Leg{a.req.stream.index, a.proxy.server}
}

// rtt is that of the network which the attempt is under way in.
func (a *attempt) rtt() engine.Time {
	if a.proxy == nil {
		return a.req.stream.spec.RTT
	}
	return a.req.stream.spec.Proxy.RTT
}

// retransmission is when the kernel sends a SYN for the nth time again, from the first one: after 1, 2,
// 4 ... seconds, which is 1, 3, 7, 15 after the first, and since Linux 6.5 the first ones a second after one
// another: 1, 2, 3, 4, 5, 7, 11 (Linux, Documentation/networking/ip-sysctl.rst, tcp_syn_linear_timeouts).
func (s *Spec) retransmission(n int) engine.Time {
	if n <= s.LinearSYNs {
		return engine.Time(n) * engine.Second
	}
	return engine.Time(s.LinearSYNs+1<<(n-s.LinearSYNs)-1) * engine.Second
}

// gaveUp is when the kernel gives up a connection that nobody answers, from the first SYN: tcp_syn_retries
// is 6, and does not count those that are sent each second.
func (s *Spec) gaveUp() engine.Time { return s.retransmission(s.LinearSYNs + 7) }

// start begins a request, or its next attempt.
func (t *Traffic) start(a *attempt, now engine.Time) {
	s := a.req.stream
	a.req.attempts++
	a.began = now
	a.fresh()
	if s.proxied {
		a.proxy = s.first()
		t.startProxied(a, now)
		return
	}
	if s.spec.KeepAlive {
		t.startPooled(a, now)
		return
	}
	switch s.spec.Kind {
	case HTTP2, Session:
		t.startShared(a, now)
		return
	case Datagram, FixedFlow:
		t.ask(a, now)
		return
	case Named:
		t.startNamed(a, now)
		return
	default:
	}
	a.flow = a.req.draw()
	t.connect(a, now, nil)
}

// fresh forgets where the attempt before led.
func (a *attempt) fresh() {
	a.req.proxied = 0
	a.tries, a.target, a.silent, a.blame, a.member = 0, nil, 0, ledger.Blame{}, -1
	a.proxy, a.proxying, a.reused = nil, nil, false
}

// firstHop finds where a SYN goes first, ok false when it goes nowhere.
func (t *Traffic) firstHop(a *attempt, now engine.Time, c *conn) (ok bool) {
	fault, ok := t.aim(a)
	if c != nil {
		c.member, c.flow, c.node = a.member, a.flow, a.node
	}
	switch {
	case ok:
	case fault == ledger.FaultElsewhere:
		t.elsewhere(a, now, c)
	case fault.Outcome() == ledger.Timeout:
		t.repeat(a, now, fault, c)
	default:
		t.failed(a, now+a.rtt(), fault, c)
	}
	return ok
}

// elsewhere has another Service answer at once what a proxy has no target for: one that is not simulated.
func (t *Traffic) elsewhere(a *attempt, now engine.Time, c *conn) {
	r, s := &a.req, a.req.stream
	end, late := now+a.rtt()+s.spec.RTT, now-r.arrival >= engine.Second
	a.proxying.leave(end, false)
	if c != nil {
		c.drop()
	}
	t.led.Attempt(s.index, false)
	t.led.Succeed(s.index, r.number, -1, 0, end, r.from(), late)
	if late {
		t.led.Waited(s.index, r.number, r.arrival)
	}
	if s.spec.Arrivals == ClosedLoop {
		s.again(int(r.client), end)
	}
}

// aim finds where a packet goes first, ok false and what the client sees of it when that is
// nowhere. A repeated SYN stays where it was sent, unless a load balancer sends it elsewhere by
// now: there nobody knows of it.
func (t *Traffic) aim(a *attempt) (fault ledger.Fault, ok bool) {
	f := t.world.FirstHop(a.leg(), a.flow, a.member)
	if f.Member != a.member {
		a.target, a.silent = nil, 0
	}
	a.member, a.node = f.Member, f.Node
	if f.Target != nil {
		a.target = f.Target
	}
	return f.Fault, f.Member >= 0
}

// connect sends a SYN, for the first time or again. c is the pool's connection it is for, nil
// for a connection of its own.
func (t *Traffic) connect(a *attempt, now engine.Time, c *conn) {
	if a.tries == 0 {
		a.sent = now
	}
	if !t.firstHop(a, now, c) {
		return
	}
	switch fault, ok := t.reach(a); {
	case ok:
		t.accepted(a, now, a.target.Server, c)
	case fault.Outcome() == ledger.Timeout:
		t.repeat(a, now, fault, c)
	default:
		t.failed(a, now+a.rtt(), fault, c)
	}
}

// reach has a packet meet the rules, unless where it goes was chosen before, and what is there.
func (t *Traffic) reach(a *attempt) (fault ledger.Fault, ok bool) {
	if t.through(a.node) {
		return ledger.FaultNodeDead, false
	}
	if a.target == nil {
		s := a.req.stream
		way := t.world.Enter(s.index, a.node)
		if way.Verdict != packet.Endpoints {
			t.world.Began(s.index, a.node, 0, nil)
			return s.noWay(way), false
		}
		i := engine.Below(a.req.draw(), len(way.Targets))
		t.world.Began(s.index, a.node, i, way.Targets[i])
		a.target = way.Targets[i]
	}
	switch server := a.target.Server; {
	case server == nil || !server.Answers():
		return ledger.FaultNoAnswer, false
	case !server.Accepts():
		return ledger.FaultNoListener, false
	default:
		return 0, true
	}
}

// noWay is what becomes of a SYN where the rules lead to no endpoint.
func (s *stream) noWay(way *Way) ledger.Fault {
	switch {
	case way.Verdict != packet.Reject:
		return ledger.FaultDropped
	case s.spec.ICMPFiltered:
		return ledger.FaultFiltered
	default:
		return ledger.FaultRejected
	}
}

// repeat waits for the next retransmission, unless the client gives up before.
func (t *Traffic) repeat(a *attempt, now engine.Time, fault ledger.Fault, c *conn) {
	// A connection that was sent to an endpoint stays with it: what chose it is to blame, at
	// the moment of choosing. One that was swallowed is judged afresh each time.
	if a.tries == 0 || fault != ledger.FaultNoAnswer {
		a.blame = t.judge(a, fault)
		if c != nil {
			c.blame = a.blame // requests that wait for this connection wait for the same reason
		}
	}
	a.tries++
	next, limit := a.sent+a.req.stream.spec.retransmission(int(a.tries)), a.connectLimit()
	switch at := t.unreachable(a, now, fault); {
	case at < limit:
		limit, fault = at, ledger.FaultUnreachable
	case at == engine.Never && t.keepsQuiet(a, fault):
		return
	}
	if c != nil {
		c.busyUntil(min(next, limit) + 1) // what waits for it looks again when it is decided
	}
	if next >= limit {
		t.later(limit, step{attempt: *a, fault: fault, conn: c, giveUp: true})
		return
	}
	t.later(next, step{attempt: *a, fault: fault, conn: c})
}

// unreachable is when the client hears that there is nothing where its SYNs go, Never when it does
// not. A node that finds no neighbour at the address, or has no route there, answers with ICMP host
// unreachable, at once or when the third question by ARP, one a second, has had no answer; Linux
// then ends a connection attempt with EHOSTUNREACH, and takes no notice of it for one that stands or
// for an unconnected socket of UDP. (Linux arp_error_report, tcp_v4_err, icmp_err_convert; recalled.
// docs/model/kube-proxy.md 7 New SYN.)
func (t *Traffic) unreachable(a *attempt, now engine.Time, fault ledger.Fault) engine.Time {
	s := &a.req.stream.spec
	if fault != ledger.FaultNoAnswer || !s.Unreachable || s.ICMPFiltered && a.proxy == nil || t.muted(a.target) {
		return engine.Never
	}
	if a.silent == 0 {
		a.silent = now
	}
	return a.silent + s.UnreachableAfter + a.rtt()
}

// connectLimit returns when the client, or its kernel, gives a connection up.
func (a *attempt) connectLimit() engine.Time {
	s := &a.req.stream.spec
	limit, timeout := engine.Never, s.ConnectTimeout
	if a.proxy != nil {
		timeout = s.Proxy.ConnectTimeout // the client is connected
	}
	if timeout > 0 {
		limit = a.sent + timeout
	}
	if s.Timeout > 0 {
		limit = min(limit, a.began+s.Timeout)
	}
	if limit == engine.Never {
		limit = a.sent + s.gaveUp()
	}
	return limit
}

// accepted serves a request on a connection that stands.
func (t *Traffic) accepted(a *attempt, now engine.Time, server Server, c *conn) {
	r, s := &a.req, a.req.stream
	if s.spec.Proxy != nil && a.proxy == nil {
		t.handOver(a, now, server, c)
		return
	}
	end, answer := server.Serve(r.draw(), now)
	if answer == TurnedAway {
		t.failed(a, now+a.rtt(), ledger.FaultTurnedAway, c)
		return
	}
	end += s.spec.RTT
	if a.proxy != nil {
		end += s.spec.Proxy.RTT
	}
	if s.spec.Timeout > 0 && end > a.began+s.spec.Timeout {
		blame := a.blame // of what it waited for, if it would have been in time without that
		if blame.Cause == ledger.NoCause || end-now > s.spec.Timeout {
			blame = t.judge(a, ledger.FaultLate)
		} else if len(s.links) > 0 && a.blame == s.link(r.number).blame { // not what a proxy waited for
			a.waited(s.link(r.number))
		}
		t.finish(a, a.began+s.spec.Timeout, ledger.FaultLate, blame, c)
		return
	}
	work := serving{end: end, attempt: *a, conn: c}
	if answer == Erred {
		work.cut = new(bool)
		t.later(end, step{attempt: *a, fault: ledger.FaultErred, cut: work.cut})
	} else {
		work.late = now-r.arrival >= engine.Second // it would have been accepted when it arrived
		t.led.Attempt(s.index, false)
		t.led.Succeed(s.index, r.number, a.node, server.ID(), end, r.from(), work.late)
		if work.late {
			t.led.Waited(s.index, r.number, r.arrival)
		}
	}
	t.inFlight(server.ID()).add(work, now)
	if c != nil {
		c.use(a.target, now, end)
	}
	if a.proxying != nil {
		t.answering(a.proxying, &work)
	}
	if s.spec.Arrivals == ClosedLoop && answer == Answered {
		s.again(int(r.client), end)
	}
}

func (t *Traffic) judge(a *attempt, fault ledger.Fault) ledger.Blame {
	return t.world.Judge(a.leg(), a.member, a.node, a.target.addr(), fault)
}

// failed ends an attempt that failed, known to the client at a moment.
func (t *Traffic) failed(a *attempt, at engine.Time, fault ledger.Fault, c *conn) {
	t.finish(a, at, fault, t.judge(a, fault), c)
}

// finish retries or gives the request up.
func (t *Traffic) finish(a *attempt, at engine.Time, fault ledger.Fault, blame ledger.Blame, c *conn) {
	r, s := &a.req, a.req.stream
	t.led.Attempt(s.index, true)
	if c != nil {
		c.drop()
	}
	if a.proxy != nil {
		if t.proxyRetries(a, at, fault) {
			return
		}
		if !a.gaveUp(at) {
			at = a.patience(at + s.spec.RTT) // the proxy's answer
		}
		a.proxying.leave(at, a.gaveUp(at))
	}
	if t.repeats(a, at, fault, blame) {
		return
	}
	if int(r.attempts) <= s.spec.Retries {
		r.escape(blame)
		t.later(at+s.spec.RetryDelay, step{attempt: *a, retry: true})
		return
	}
	pod, ingress := "", ""
	if a.target != nil && a.target.Server != nil {
		pod = a.target.Server.Name()
	}
	if a.proxy != nil && a.proxying != nil {
		ingress = a.proxying.client.target.Server.Name()
	}
	t.led.Fail(ledger.Request{
		Number: r.number, Stream: s.index, Arrival: r.arrival, End: at, Outcome: a.outcome(fault, at),
		Blame: blame, Node: a.node, Pod: pod, Ingress: ingress, Attempts: int(r.attempts + r.repeats),
	})
	if s.spec.Arrivals == ClosedLoop {
		s.again(int(r.client), at)
	}
}

func (t *Traffic) later(at engine.Time, s step) {
	var keep *step
	if n := len(t.steps); n > 0 {
		keep, t.steps = t.steps[n-1], t.steps[:n-1]
		t.cleanSteps = min(t.cleanSteps, n-1)
	} else {
		keep = new(step)
	}
	*keep = s
	t.pending.push(pending{at, t.nextSeq(), keep})
}

// seqBits leave room for as many steps at each moment of three days.
const seqBits = 16

// nextSeq is the seq of a step that is put down now. It tells the moment, for what might have been put down then: see
// silence.
func (t *Traffic) nextSeq() uint64 {
	t.seq = max(t.seq+1, uint64(t.clock)<<seqBits)
	return t.seq
}

// resume goes on with what waited.
func (t *Traffic) resume(p pending) {
	switch s := p.attempt.req.stream; {
	case s == nil:
	case s.spec.Proxy != nil:
		t.settleProxied(s, p.at)
	case s.spec.KeepAlive:
		t.catchUp(s, p.at+1) // what arrived before took connections
	}
	switch {
	case p.repeat:
		p.attempt.fresh()
		t.startPooled(&p.attempt, p.at)
	case p.retry: // by the client, whatever became of its attempt before
		t.start(&p.attempt, p.at)
	case p.attempt.proxy != nil && p.attempt.proxying.left(): // nobody waits for it any more
	case p.proxied:
		t.startProxied(&p.attempt, p.at)
	case p.then != nil:
		p.then(p.at)
	case p.cut != nil:
		if !*p.cut { // the connection stays: the app has answered
			t.failed(&p.attempt, p.at, p.fault, nil)
		}
	case p.giveUp:
		t.finish(&p.attempt, p.at, p.fault, p.attempt.blame, p.conn)
	default:
		t.connect(&p.attempt, p.at, p.conn)
	}
}
