package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// link is a connection that all requests of a client share, or the place for one: HTTP/2 and
// gRPC, or a long session. It is dialled apart from the requests, which wait for it meanwhile:
// a connection attempt that hangs outlives the calls that asked for it.
//
//	down -> dialling -> up -> (the server ends, or says that it will) -> dialling -> ...
//	         ^     |
//	         +-----+ back-off
type link struct {
	stream   *stream
	state    linkState
	dial     attempt      // the attempt to connect: where it leads
	blame    ledger.Blame // of what keeps it from being up; of the last such thing
	blamed   hung         // where that was met
	fault    ledger.Fault // of the last dial that failed
	failures int          // dials that failed in a row
	again    engine.Time  // no dial before: back-off
	planned  bool         // a dial at that time is pending
	leaving  bool         // the server has sent GOAWAY; the client knows half a round trip later
	tells    bool         // the server sends GOAWAY with the next call
	closed   bool         // the server is gone, or a load balancer has cut the connection; as above
	cut      bool         // it was a load balancer
	gone     bool         // the node that it leads through is
	dark     engine.Time  // since when the client has no server, Never while it has one
	used     engine.Time  // when something was last asked over it
	to       *Target      // while it is up: where it leads, which stays as it is
	epoch    int          // counts dials: what was meant for an earlier connection is void
	waiting  []*attempt   // for it, in the order in which they began
	tiring   bool         // when the first of them gives up is planned
	tire     func(at engine.Time)
}

type linkState uint8

const (
	linkDown linkState = iota
	linkDialling
	linkUp
)

// How gRPC dials again: after 1 s, and 1.6 times as long after each further failure, give or
// take a fifth, at most 2 minutes, counted from the beginning of the attempt; an attempt is
// given up after 20 s. An attempt that succeeds ends the row. (gRPC's connection back-off
// document; recalled.) Sessions are taken to do the same.
const (
	firstBackoff   = engine.Second
	longestBackoff = 2 * engine.Minute
	dialTimeout    = 20 * engine.Second
)

// backoff is how long after the beginning of the attempt that failed the next may begin, after
// n failures before it.
func backoff(n int, draw uint64) engine.Time {
	if n == 0 {
		return firstBackoff
	}
	d := firstBackoff
	for range n {
		d = min(d*8/5, longestBackoff)
	}
	return d * engine.Time(800+engine.Below(draw, 401)) / 1000
}

func newLinks(s *stream, draws engine.Stream) []*link {
	list := make([]*link, max(1, s.spec.Clients))
	for i := range list {
		list[i] = &link{stream: s, dark: engine.Never, dial: attempt{req: request{stream: s, draws: draws.Sub(uint64(i))}}}
	}
	return list
}

// link is that of the client that asks a request, by its number.
func (s *stream) link(number uint64) *link { return s.links[number%uint64(len(s.links))] }

// startShared sends a request over its client's link. Without one it is dialled, and the
// request waits; while the client waits to dial again, requests fail at once (gRPC's default),
// unless they are to wait for a connection.
func (t *Traffic) startShared(a *attempt, now engine.Time) {
	s := a.req.stream
	l := s.link(a.req.number)
	if l.idled(now) {
		l.state, l.again = linkDown, now
		if s.spec.IdleForgets {
			l.again = now + s.spec.RTT // when the client knows
			t.planDial(l)
			a.member, a.flow, a.node, a.target = l.dial.member, l.dial.flow, l.dial.node, l.dial.target
			t.failed(a, l.again, ledger.FaultForgotten, nil)
			return
		}
	}
	if l.state == linkDown && now >= l.again {
		t.dial(l, now)
	}
	switch {
	case l.state == linkUp:
		t.call(l, a, now)
	case l.state == linkDialling || s.patient():
		t.queueFor(l, a)
		t.planDial(l)
	default:
		t.unavailable(l, a, now)
	}
}

// idled says whether a link has been idle for longer than a load balancer keeps it. One that closes
// such connections has told the client; of one that forgets them the client learns by the reset of
// what it sends then: that is lost.
func (l *link) idled(now engine.Time) bool {
	limit := l.stream.spec.IdleLimit
	return l.state == linkUp && limit > 0 && now-l.used > limit
}

// patient says whether requests wait for a connection that cannot be had at once.
func (s *stream) patient() bool { return s.spec.WaitForReady || s.spec.Kind == Session }

// call sends a request over a link that is up. What is written when its other end is gone, and
// the client does not know yet, is answered with a reset.
func (t *Traffic) call(l *link, a *attempt, now engine.Time) {
	a.member, a.flow, a.node, a.target = l.dial.member, l.dial.flow, l.dial.node, l.dial.target
	if l.gone {
		t.hang(a, now, nil)
		return
	}
	if l.closed {
		t.failed(a, now+l.stream.spec.RTT, racing(l.cut), nil)
		return
	}
	l.used = now
	t.accepted(a, now, a.target.Server, nil)
	if l.tells {
		l.tells, l.leaving = false, true
		t.hears(l, now)
	}
}

// queueFor has a request wait for a link, until its timeout at most.
func (t *Traffic) queueFor(l *link, a *attempt) {
	l.waiting = append(l.waiting, t.keep(a))
	t.planTiring(l)
}

// planTiring has the request that has waited longest for a link give up at its timeout.
func (t *Traffic) planTiring(l *link) {
	timeout := l.stream.spec.Timeout
	if timeout == 0 || l.tiring || len(l.waiting) == 0 {
		return
	}
	if l.tire == nil {
		l.tire = func(at engine.Time) {
			l.tiring = false
			for len(l.waiting) > 0 && l.waiting[0].began+timeout <= at {
				a := l.waiting[0]
				l.waiting = l.waiting[1:]
				t.gaveUp(l, a, at, ledger.FaultDropped)
				t.spare = append(t.spare, a)
			}
			t.planTiring(l)
		}
	}
	l.tiring = true
	t.then(l.waiting[0].began+timeout, l.tire)
}

// unavailable fails a request for which there is no connection: with what became of the last
// attempt to have one, which is what gRPC's status UNAVAILABLE tells.
func (t *Traffic) unavailable(l *link, a *attempt, now engine.Time) { t.gaveUp(l, a, now, l.fault) }

// gaveUp fails a request that got no connection. The dial is to blame; whether another pod could
// have answered is asked at the request's own end.
func (t *Traffic) gaveUp(l *link, a *attempt, at engine.Time, fault ledger.Fault) {
	a.member, a.flow, a.node, a.target = l.dial.member, l.dial.flow, l.dial.node, l.dial.target
	a.waited(l)
	blame := l.blame
	blame.Elsewhere = t.judge(a, fault).Elsewhere
	t.finish(a, at, fault, blame, nil)
}

// hung is where a dial came to nothing.
type hung struct {
	member, node int
	target       *Target
}

// waited has a request that came too late for its link tell of where the dial came to nothing that it waited for, and not of where a
// later one leads, nor of what a proxy behind that asks for it.
func (a *attempt) waited(l *link) {
	if l.blamed == (hung{}) {
		return
	}
	a.member, a.node, a.target = l.blamed.member, l.blamed.node, l.blamed.target
	a.proxying.leave(a.began+l.stream.spec.Timeout, true)
	a.proxy, a.proxying = nil, nil
}

// release hands the requests that wait for a link on.
func (t *Traffic) release(l *link, to func(*attempt)) {
	list := l.waiting
	l.waiting = nil
	for _, a := range list {
		to(a)
		t.spare = append(t.spare, a)
	}
}

// dial begins an attempt to connect a link.
func (t *Traffic) dial(l *link, now engine.Time) {
	req := l.dial.req
	flow := req.draw()
	l.dial = attempt{req: req, flow: flow, member: -1, began: now, sent: now}
	l.state, l.leaving, l.tells, l.closed, l.cut, l.gone = linkDialling, false, false, false, false, false
	l.darken(now)
	l.epoch++
	t.syn(l, now)
}

// syn sends a link's SYN, for the first time or again.
func (t *Traffic) syn(l *link, now engine.Time) {
	a := &l.dial
	fault, ok := t.aim(a)
	if ok {
		fault, ok = t.reach(a)
	}
	if ok {
		l.state, l.failures, l.again, l.used = linkUp, 0, now, now
		l.to = a.target
		l.tells = l.stream.spec.Kind == HTTP2 && l.to.Server.ClosesAnswered()
		l.lighten(now)
		t.release(l, func(a *attempt) {
			a.blame = l.blame // what it waited for, if it did
			t.call(l, a, now)
		})
		l.blame, l.blamed = ledger.Blame{}, hung{}
		return
	}
	if fault.Outcome() != ledger.Timeout {
		l.blame, l.blamed = t.judge(a, fault), hung{a.member, a.node, a.target}
		t.then(now+l.stream.spec.RTT, func(at engine.Time) { t.dialFailed(l, at, fault) })
		return
	}
	if a.tries == 0 || fault != ledger.FaultNoAnswer {
		l.blame, l.blamed = t.judge(a, fault), hung{a.member, a.node, a.target}
	}
	a.tries++
	limit := a.sent + dialTimeout
	if timeout := l.stream.spec.ConnectTimeout; timeout > 0 {
		limit = a.sent + timeout
	}
	if at := t.unreachable(a, now, fault); at < limit {
		limit, fault = at, ledger.FaultUnreachable
	}
	if next := a.sent + l.stream.spec.retransmission(int(a.tries)); next < limit {
		t.then(next, func(at engine.Time) { t.syn(l, at) })
		return
	}
	t.then(limit, func(at engine.Time) { t.dialFailed(l, at, fault) })
}

// dialFailed begins the back-off. Who cannot wait, or would wait for a world that has ended,
// fails.
func (t *Traffic) dialFailed(l *link, now engine.Time, fault ledger.Fault) {
	l.state, l.fault = linkDown, fault
	l.again = max(now, l.dial.began+backoff(l.failures, l.dial.req.draw()))
	l.failures++
	if !l.stream.patient() || now >= t.stopped {
		t.release(l, func(a *attempt) { t.unavailable(l, a, now) })
	}
	t.planDial(l)
}

// planDial has a link dialled as soon as its back-off is over.
func (t *Traffic) planDial(l *link) {
	if l.state != linkDown || l.planned {
		return
	}
	l.planned = true
	t.then(l.again, func(at engine.Time) {
		l.planned = false
		t.dialAgain(l, at)
	})
}

// dialAgain dials a link that is down: by itself as long as there are clients, and then only for
// who waits.
func (t *Traffic) dialAgain(l *link, now engine.Time) {
	if l.state == linkDown && (now < t.stopped || len(l.waiting) > 0) {
		t.dial(l, now)
	}
}

// Redial is until when some client waits to connect again, or tries to, 0 where none does.
func (t *Traffic) Redial() engine.Time {
	var last engine.Time
	for _, s := range t.streams {
		for _, l := range s.links {
			switch {
			case l.state == linkDialling:
				last = max(last, l.dial.began+dialTimeout)
			case l.state == linkDown && l.planned:
				last = max(last, l.again)
			}
		}
	}
	return last
}

// GoAway is a server that ends gracefully telling its HTTP/2 clients so: what it has got, and
// gets until they know, it answers; then they go elsewhere, at once. (The first of the two
// GOAWAY frames of Go's and gRPC's servers admits all streams; recalled.)
func (t *Traffic) GoAway(server uint64, now engine.Time) {
	for _, s := range t.streams {
		for _, l := range s.links {
			if s.spec.Kind == HTTP2 && l.leads(server) && !l.leaving && !l.closed {
				l.leaving = true
				t.leave(l, now)
			}
		}
	}
}

// serverGone is a server ending: its connections are reset. What it was working on is cut apart
// from that.
func (t *Traffic) serverGone(s *stream, server uint64, now engine.Time) {
	for _, l := range s.links {
		if l.leads(server) && !l.closed {
			t.hangUp(l, now)
		}
	}
}

// hangUp ends a link from its other end.
func (t *Traffic) hangUp(l *link, now engine.Time) {
	l.closed = true
	l.stream.cuts++
	t.leave(l, now)
}

// leads says whether a link is connected to a server, and something of it gets through.
func (l *link) leads(server uint64) bool {
	return l.state == linkUp && !l.gone && l.dial.target.Server.ID() == server
}

// leave has the client dial again when it hears that the connection is over.
func (t *Traffic) leave(l *link, now engine.Time) {
	t.stir(l.stream, now)
	t.hears(l, now)
}

// hears is leave in the middle of a call.
func (t *Traffic) hears(l *link, now engine.Time) {
	epoch := l.epoch
	t.then(now+l.stream.spec.RTT/2, func(at engine.Time) {
		if l.epoch == epoch && l.state == linkUp {
			l.state = linkDown
			t.dialAgain(l, at)
		}
	})
}

// Cuts returns how many connections of a stream's clients ended with their server, or were cut by
// a load balancer: sessions, and HTTP/2 connections of which no GOAWAY had announced it.
func (t *Traffic) Cuts(stream int) uint64 { return t.streams[stream].cuts }

// then has something done at a moment.
func (t *Traffic) then(at engine.Time, do func(at engine.Time)) { t.later(at, step{then: do}) }
