package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Requests that find no free connection in their pool wait for the one that becomes free first.
// When all of a pool's connections hang, hundreds wait; when one becomes free, the first takes
// it and all others go on waiting for the next. They do so together, as one party, whose cost
// does not depend on its size.

// party is requests that wait together: the i-th has seq+i as its place in the order of all
// that is pending.
type party struct {
	seq   uint64
	list  []*attempt
	began engine.Time // the earliest of theirs
}

func (p *party) end() uint64 { return p.seq + uint64(len(p.list)) }

// queue is what waits for one moment, in order of seq.
type queue struct {
	at      engine.Time
	parties []party
}

// await keeps a request until a connection becomes free, or until its timeout, which is then
// blamed on what the first connection it waited for was waiting for: an answer to its SYN, or
// its server.
func (t *Traffic) await(a *attempt, first *conn) {
	s := a.req.stream
	a.waitsFor(first)
	if limit := a.began + s.spec.Timeout; s.spec.Timeout > 0 && first.free >= limit {
		fault := ledger.FaultDropped
		if a.blame.Cause == ledger.NoCause {
			fault, a.node, a.target = ledger.FaultLate, first.node, first.target
			a.blame = t.judge(a, fault)
		}
		t.later(limit, step{attempt: *a, fault: fault, giveUp: true})
		return
	}
	s.queueAt(first.free).join(party{t.seq, []*attempt{a}, a.began})
	t.seq++
}

// awaitAll is await for a party, one after the other.
func (t *Traffic) awaitAll(p party, first *conn) {
	s := first.pool
	if limit := p.began + s.spec.Timeout; s.spec.Timeout > 0 && first.free >= limit {
		t.awaitSome(p.list, first)
		return
	}
	p.seq = t.seq
	t.seq = p.end()
	q := s.queueAt(first.free)
	if n := len(q.parties); n > 0 && q.parties[n-1].end() == p.seq && len(q.parties[n-1].list) >= len(p.list) {
		last := &q.parties[n-1] // from now on one party
		last.list, last.began = append(last.list, p.list...), min(last.began, p.began)
		return
	}
	q.parties = append(q.parties, p)
}

// awaitSome is await for a list of which some give up before a connection becomes free. Those between two that do go on
// waiting together, in the same memory: there may be thousands.
func (t *Traffic) awaitSome(list []*attempt, first *conn) {
	timeout := first.pool.spec.Timeout
	for len(list) > 0 {
		n, began := 0, engine.Never
		for ; n < len(list) && first.free < list[n].began+timeout; n++ {
			list[n].waitsFor(first)
			began = min(began, list[n].began)
		}
		if n > 0 {
			first.pool.queueAt(first.free).join(party{t.seq, list[:n:n], began})
			t.seq += uint64(n)
		}
		if list = list[n:]; len(list) > 0 {
			t.await(list[0], first)
			list = list[1:]
		}
	}
}

// join adds a party to a queue, to the last one there if it comes right after that.
func (q *queue) join(p party) {
	if n := len(q.parties); n > 0 && q.parties[n-1].end() == p.seq {
		last := &q.parties[n-1]
		last.list, last.began = append(last.list, p.list...), min(last.began, p.began)
		return
	}
	q.parties = append(q.parties, p)
}

// waitsFor keeps what made a request wait in the first place, whatever it waits for in the end.
func (a *attempt) waitsFor(first *conn) {
	if !first.connected() && a.blame.Cause == ledger.NoCause {
		a.blame = first.blame
	}
}

// queueAt returns the queue of a moment.
func (s *stream) queueAt(at engine.Time) *queue {
	i := len(s.waits)
	for i > 0 && s.waits[i-1].at >= at {
		i--
	}
	if i == len(s.waits) || s.waits[i].at != at {
		s.waits = slices.Insert(s.waits, i, queue{at: at})
	}
	return &s.waits[i]
}

// firstWaiting returns the stream whose queue comes first, nil when nothing waits, and the seq
// of what comes next among those of the same moment.
func (t *Traffic) firstWaiting() (s *stream, limit uint64) {
	limit = ^uint64(0)
	for _, o := range t.streams {
		switch {
		case len(o.waits) == 0:
		case s == nil || o.waits[0].at < s.waits[0].at:
			s, limit = o, ^uint64(0)
		case o.waits[0].at > s.waits[0].at:
		case o.head() < s.head():
			s, limit = o, s.head()
		default:
			limit = min(limit, o.head())
		}
	}
	return s, limit
}

// head is the seq of what waits first.
func (s *stream) head() uint64 { return s.waits[0].parties[0].seq }

// wake lets what waits first look for a connection, if it comes before a moment and before
// everything else that is pending. ok is false when there is no such thing.
func (t *Traffic) wake(before engine.Time) (ok bool) {
	s, limit := t.firstWaiting()
	if s == nil || s.waits[0].at >= before {
		return false
	}
	now := s.waits[0].at
	if len(t.pending) > 0 {
		switch top := &t.pending[0]; {
		case top.at < now || top.at == now && top.seq < s.head():
			return false
		case top.at == now:
			limit = min(limit, top.seq)
		}
	}
	t.clock = now
	c, first := t.find(s, now)
	if first == nil {
		t.ride(c, s.leave(1).list[0], now)
		return true
	}
	// Nothing changes before limit: whoever is before it finds the same.
	for len(s.waits) > 0 && s.waits[0].at == now && s.head() < limit {
		t.awaitAll(s.leave(limit-s.head()), first)
	}
	return true
}

// leave takes at most n of the first party out of the first queue.
func (s *stream) leave(n uint64) party {
	q := &s.waits[0]
	p := q.parties[0]
	if n < uint64(len(p.list)) {
		q.parties[0].seq += n
		q.parties[0].list = p.list[n:]
		p.list = p.list[:n:n]
		return p
	}
	if q.parties = q.parties[1:]; len(q.parties) == 0 {
		s.waits = slices.Delete(s.waits, 0, 1)
	}
	return p
}
