package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Requests that find no free connection in their pool wait for one, and the one that has waited longest
// gets the next that becomes free. When all of a pool's connections hang, hundreds wait: what one
// of them costs does not depend on the others.

// await keeps a request until a connection becomes free, or until its timeout. first is the
// connection that will be free first, nil when one is free by now, but not for who comes last.
func (t *Traffic) await(a *attempt, first *conn) {
	a.waitsFor(first)
	s := a.req.stream
	i := len(s.waiting)
	for i > 0 && s.waiting[i-1].began > a.began { // one that is repeated began before others
		i--
	}
	s.makeRoomToWait()
	s.waiting = slices.Insert(s.waiting, i, t.keep(a))
}

// makeRoomToWait has room for one more request that waits: where those that have gone on were, if they were as many
// as still wait.
func (s *stream) makeRoomToWait() {
	n := len(s.waiting)
	switch gone := cap(s.queue) - cap(s.waiting); {
	case n < cap(s.waiting):
	case gone > n:
		s.waiting = s.queue[:copy(s.queue[:n], s.waiting)]
	default:
		s.waiting = slices.Grow(s.waiting, n+1) // so that more have gone on than still wait when it is full again
		s.queue = s.waiting[:0]
	}
}

// keep returns a copy of an attempt that waits.
func (t *Traffic) keep(a *attempt) *attempt {
	if len(t.spare) == 0 {
		t.spare = append(t.spare, new(attempt))
	}
	last := len(t.spare) - 1
	kept := t.spare[last]
	t.spare = t.spare[:last]
	t.cleanSpare = min(t.cleanSpare, last)
	*kept = *a
	return kept
}

// waitsFor keeps what made a request wait in the first place, whatever it waits for in the end.
func (a *attempt) waitsFor(first *conn) {
	if first != nil && !first.connected() && a.blame.Cause == ledger.NoCause {
		a.blame = first.blame
	}
}

// wakes is when the request of a stream that has waited longest goes on: a connection is free, or
// its timeout is over.
func (t *Traffic) wakes(s *stream) engine.Time {
	p, at := &s.places, engine.Never
	next := p.next()
	for ; next != nil && s.stale(next); next = p.next() {
		p.freed++
	}
	switch {
	case len(p.idle) > 0 || len(p.empty) > 0:
		at = t.clock
	case next != nil:
		at = next.at
	}
	if timeout := s.spec.Timeout; timeout > 0 {
		at = min(at, s.waiting[0].began+timeout)
	}
	return max(at, t.clock)
}

// firstWaiting returns the stream with the request that waits and goes on first, and when it does;
// nil when none waits.
func (t *Traffic) firstWaiting() (first *stream, at engine.Time) {
	at = engine.Never
	for _, s := range t.streams {
		if len(s.waiting) == 0 {
			continue
		}
		if w := t.wakes(s); first == nil || w < at {
			first, at = s, w
		}
	}
	return first, at
}

// wake has the request of a stream that waits and goes on first do so, if that is before a moment.
func (t *Traffic) wake(s *stream, now, before engine.Time) (ok bool) {
	if now >= before {
		return false
	}
	t.clock = now
	c, first := t.find(s, now)
	if c == nil && (s.spec.Timeout == 0 || now < s.waiting[0].began+s.spec.Timeout) {
		return true // what looked free was not
	}
	a := s.waiting[0]
	s.waiting = s.waiting[1:]
	if c != nil {
		t.ride(c, a, now)
	} else {
		t.tire(a, first, now)
	}
	t.spare = append(t.spare, a)
	return true
}

// givenUp is the pool over whose connection a request gives up, nil where it does something else.
func (p *pending) givenUp() *stream {
	if !p.giveUp || p.conn == nil || p.conn.proxy != nil {
		return nil
	}
	return p.conn.pool
}

// wakeAtOnce has the next request that waits take the place of a connection that was given up just now, if that is all there is to
// do at this moment. Else RunUntil finds out what is first.
func (t *Traffic) wakeAtOnce(s *stream) {
	now := t.clock
	if len(s.waiting) == 0 || s.spec.Arrivals == ClosedLoop || t.pending.next() <= now || t.nextQuiet().at <= now {
		return
	}
	for _, other := range t.streams {
		if other != s && len(other.waiting) > 0 {
			return
		}
	}
	if t.wakes(s) == now {
		t.wake(s, now, engine.Never)
	}
}

// tire ends the attempt of a client that has waited for a connection until its timeout. To blame is
// what the first connection it waited for was waiting for: an answer to its SYN, or its server.
func (t *Traffic) tire(a *attempt, first *conn, now engine.Time) {
	a.waitsFor(first)
	fault := ledger.FaultDropped
	if a.blame.Cause == ledger.NoCause {
		fault, a.node, a.target = ledger.FaultLate, first.node, first.target
		a.blame = t.judge(a, fault)
	}
	t.finish(a, now, fault, a.blame, nil)
}
