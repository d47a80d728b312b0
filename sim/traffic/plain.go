package traffic

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Nearly every request is answered at its first attempt. Such a request is plain: its draws say
// where it goes and when it is answered, it is counted, and what is kept of it until its answer is
// one entry at its server. Whatever is not plain (no endpoint, a port that is closed, a connection
// to be opened, an answer that is late) is left to start, which draws the same again. When a
// server ends with plain requests in flight, those become whole again. So a run with DrawAll,
// which knows no plain requests, comes to the same result, byte by byte.

// plain is all that is kept of a plain request until its answer.
type plain struct {
	end, arrival engine.Time
	number, flow uint64
	target       *Target
	conn         *conn // of a pool, nil for none
	stream       int32
	member, node int32
	drawn        uint64 // draws that it has taken
}

// DrawAll has every request followed on its own from now on, for tests: the result is the same.
func (t *Traffic) DrawAll() { t.drawAll = true }

// countPlain counts the plain requests that arrive before a moment and before anything else that
// clients do, stream by stream: what is plain has no influence on other requests.
func (t *Traffic) countPlain(limit engine.Time) {
	if t.drawAll {
		return
	}
	limit = min(limit, t.stopped)
	if len(t.pending) > 0 {
		limit = min(limit, t.pending[0].at+1)
	}
	if s, _ := t.firstWaiting(); s != nil {
		limit = min(limit, s.waits[0].at+1)
	}
	for _, s := range t.streams {
		if s.plainly == nil || s.odd {
			continue
		}
		first := s.count
		for s.next < limit && !s.calm.on {
			if s.odd = !s.plainly(t, s); s.odd {
				break
			}
			s.pass()
			t.calmDown(s)
		}
		if s.count > first {
			t.led.Count(s.index, first, s.count-first)
		}
	}
}

// plainlyOf returns what counts the next request of a stream if it is plain, nil where requests
// always need more than that.
func plainlyOf(spec *Spec) func(*Traffic, *stream) bool {
	switch {
	case spec.Arrivals == ClosedLoop || spec.Proxy != nil:
		return nil
	case spec.KeepAlive:
		return plainlyPooled
	case spec.Kind == HTTP2 || spec.Kind == Session:
		return plainlyShared
	case spec.Kind == PerRequest || spec.Kind == Datagram:
		return plainlyNew
	default:
		return nil
	}
}

// plainlyNew is for a request with a connection of its own: see start, connect and reach.
func plainlyNew(t *Traffic, s *stream) bool {
	draws := s.requests.Sub(s.count)
	p := plain{flow: draws.Draw(1), drawn: 2}
	f := t.world.Front(Leg{s.index, NoProxy}, p.flow, -1)
	if f.Member < 0 || t.through(f.Node) {
		return false
	}
	p.member, p.node, p.target = int32(f.Member), int32(f.Node), f.Target
	if p.target == nil {
		way := t.world.Enter(s.index, f.Node)
		if way.Verdict != packet.Endpoints {
			return false
		}
		p.target = way.Targets[engine.Below(draws.Draw(2), len(way.Targets))]
		p.drawn = 3
	}
	server := p.target.Server
	return server != nil && server.Answers() && server.Accepts() && t.serve(s, &p, draws)
}

// plainlyPooled is for a request over a connection of a pool that stands: see startPooled and
// reuse.
func plainlyPooled(t *Traffic, s *stream) bool {
	now := s.next
	c, _ := t.find(s, now)
	if c == nil || !c.connected() || c.gone || s.spec.forgotten(now-c.used) || c.racing(now) {
		return false
	}
	p := plain{flow: c.flow, target: &c.target, conn: c, member: int32(c.member), node: int32(c.node), drawn: 1}
	if !t.serve(s, &p, s.requests.Sub(s.count)) {
		return false
	}
	c.sent, c.used = now, p.end
	c.busyUntil(p.end)
	return true
}

// plainlyShared is for a request over its client's link, which is up: see startShared and call.
func plainlyShared(t *Traffic, s *stream) bool {
	l := s.links[s.count%uint64(len(s.links))]
	if l.state != linkUp || l.gone || l.closed || l.idled(s.next) {
		return false
	}
	p := plain{flow: l.dial.flow, target: l.to, member: int32(l.dial.member), node: int32(l.dial.node), drawn: 1}
	if !t.serve(s, &p, s.requests.Sub(s.count)) {
		return false
	}
	l.used = s.next
	return true
}

// serve has a server answer a request, ok false if more is to be said of the answer than when it
// comes: see accepted.
func (t *Traffic) serve(s *stream, p *plain, draws engine.Stream) (ok bool) {
	server := p.target.Server
	takes := server.Plain()
	if takes == nil {
		return false
	}
	p.arrival, p.number, p.stream = s.next, s.count, int32(s.index)
	p.end = p.arrival + takes.Sample(draws.Draw(p.drawn)) + s.spec.RTT
	if s.spec.Timeout > 0 && p.end > p.arrival+s.spec.Timeout {
		return false
	}
	t.inFlight(server.ID()).addPlain(p)
	return true
}

// addPlain keeps a plain request until its answer.
func (f *inFlight) addPlain(p *plain) {
	if len(f.plain) >= sweepAt && len(f.plain) >= 2*f.livePlain {
		f.plain = slices.DeleteFunc(f.plain, func(old plain) bool { return old.end <= p.arrival })
		f.livePlain = len(f.plain)
	}
	f.plain = append(f.plain, *p)
}

// whole makes of a plain request what start would have made of it.
func (t *Traffic) whole(p *plain) serving {
	s := t.streams[p.stream]
	return serving{end: p.end, conn: p.conn, attempt: attempt{
		reused: p.conn != nil,
		req:    request{stream: s, number: p.number, arrival: p.arrival, draws: s.requests.Sub(p.number), drawn: p.drawn, attempts: 1},
		member: int(p.member), flow: p.flow, node: int(p.node), began: p.arrival, sent: p.arrival, target: *p.target,
	}}
}

// underWay returns all that a server is working on at a moment, each request on its own, in order of
// arrival. It has been told of all that arrived before.
func (t *Traffic) underWay(server uint64, now engine.Time) *inFlight {
	f := t.inFlight(server)
	f.sweep(now)
	for i := range f.plain {
		if f.plain[i].end > now {
			f.list = append(f.list, t.whole(&f.plain[i]))
		}
	}
	f.plain, f.livePlain = f.plain[:0], 0
	f.live = len(f.list)
	slices.SortFunc(f.list, func(a, b serving) int {
		x, y := &a.attempt.req, &b.attempt.req
		return cmp.Or(cmp.Compare(x.arrival, y.arrival), cmp.Compare(x.stream.index, y.stream.index), cmp.Compare(x.number, y.number))
	})
	return f
}
