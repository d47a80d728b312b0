package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// pending is something a client will do at a moment. Seq is the order of deciding on it.
type pending struct {
	at  engine.Time
	seq uint64
	*step
}

// step is what it will do: send a SYN again, give up, or try again. It is apart from pending so
// that the heap moves little.
type step struct {
	retry   bool // begin the next attempt
	repeat  bool // the same one over another connection
	conn    *conn
	fault   ledger.Fault
	giveUp  bool
	proxied bool  // the proxy tries another target
	cut     *bool // an answer that will be an error: whether it was cut before it came
	attempt attempt
	then    func(at engine.Time) // anything else
}

// Before orders by time, then by the order of waiting.
func (p pending) Before(o pending) bool {
	return p.at < o.at || p.at == o.at && p.seq < o.seq
}

// serving is a request that a server is working on.
type serving struct {
	end     engine.Time
	attempt attempt
	late    bool
	conn    *conn
	cut     *bool // of a request that will be answered with an error; nil: counted as a success
}

// until is when it will be over at the latest.
func (s *serving) until() engine.Time {
	switch {
	case s.void():
		return 0
	case s.end == engine.Never:
		return s.attempt.proxying.limit
	default:
		return s.end
	}
}

// void says whether the request has come to its end in another way meanwhile.
func (s *serving) void() bool { return s.attempt.proxying.left() }

// inFlight is what a server is working on, with entries that are done until they are swept.
type inFlight struct {
	list      []serving
	live      int     // list length after the last sweep
	plain     []plain // the same of plain requests
	livePlain int
	targets   []*Target // that plain requests went to: all of them are the server
}

// sweepAt is how many entries are kept unswept: few, so that what many servers have in flight
// stays in the processor's cache.
const sweepAt = 16

func (f *inFlight) add(s serving, now engine.Time) {
	if len(f.list) >= sweepAt && len(f.list) >= 2*f.live {
		f.sweep(now)
	}
	f.list = append(f.list, s)
}

// sweep drops what has been answered by now.
func (f *inFlight) sweep(now engine.Time) {
	kept := f.list[:0]
	for i := range f.list {
		if f.list[i].end > now && !f.list[i].void() {
			kept = append(kept, f.list[i])
		}
	}
	clear(f.list[len(kept):])
	f.list, f.live = kept, len(kept)
}

// inFlight is what a server is working on.
func (t *Traffic) inFlight(server uint64) *inFlight {
	for server >= uint64(len(t.serving)) {
		t.serving = append(t.serving, inFlight{})
	}
	return &t.serving[server]
}

// Until returns when the last request a server is working on will be answered, now if none is.
func (t *Traffic) Until(server uint64, now engine.Time) engine.Time {
	t.catchUpAll(now)
	t.keepSure(server, now)
	until := now
	f := t.inFlight(server)
	for i := range f.plain {
		until = max(until, f.plain[i].end)
	}
	for c := range t.riding(server, now) {
		until = max(until, c.free)
	}
	for i := range f.list {
		until = max(until, f.list[i].until())
	}
	return until
}

// Cut fails everything a server is working on: its process ended, or dropped it.
func (t *Traffic) Cut(server uint64, now engine.Time, fault ledger.Fault) {
	t.catchUpAll(now)
	f := t.underWay(server, now)
	list := f.list
	f.list, f.live = nil, 0
	for i := range list {
		t.lost(&list[i], now, fault)
	}
	if f = t.inFlight(server); f.list == nil {
		f.list = emptied(list)
	}
}

// lost fails a request that a server is working on: its answer will not come.
func (t *Traffic) lost(s *serving, now engine.Time, fault ledger.Fault) {
	if t.takeBack(s) {
		t.failed(&s.attempt, s.attempt.req.stream.knows(&s.attempt, now), fault, s.conn)
	}
}

// takeBack has a request that a server is working on count as open again, ok false when it has come
// to its end in another way.
func (t *Traffic) takeBack(s *serving) (ok bool) {
	stream := s.attempt.req.stream
	switch {
	case s.void():
		return false
	case s.cut != nil:
		*s.cut = true
	case !s.attempt.proxying.asking():
		t.led.Revoke(stream.index, s.attempt.req.number, s.attempt.req.from(), s.late)
		stream.withdraw(int(s.attempt.req.client)) // its next request was to follow the answer
	}
	t.interrupted(s)
	return true
}
