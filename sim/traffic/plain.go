package traffic

import (
	"cmp"
	"iter"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Nearly every request is answered at its first attempt. Such a request is plain: its draws say
// where it goes and when it is answered, it is counted, and what is kept of it until its answer is
// one entry at its server. Whatever is not plain (no endpoint, a port that is closed, a connection
// to be opened, an answer that is late) is left to start, which draws the same again. When a
// server ends with plain requests in flight, those become whole again. So a run with DrawAll,
// which knows no plain requests, comes to the same result, byte by byte.

// plain is all that is kept of a plain request until its answer. It holds no pointers: there are
// many of them, and the garbage collector need not look at them.
type plain struct {
	end, arrival engine.Time
	number, flow uint64
	stream       int32
	member, node int32
	target       int32 // in inFlight.targets
	drawn        int32 // draws that it has taken
}

// DrawAll has every request followed on its own from now on, for tests: the result is the same.
func (t *Traffic) DrawAll() { t.drawAll = true }

// countPlain counts the plain requests that arrive before a moment, and before anything else that
// clients do where connections outlast a request, stream by stream: what is plain has no influence on
// other requests. It returns the stream with the next arrival that is looked at, the first of equals; nil for none.
func (t *Traffic) countPlain(limit engine.Time) (earliest *stream) {
	limit = min(limit, t.stopped)
	done := limit // until when nothing else happens to connections
	if due := t.pending.next(); due < limit {
		done = due + 1
	}
	followed := min(done, t.nextQuiet().at.Add(1)) // or those whose SYNs had no answer so far
	next := engine.Never
	for _, s := range t.streams {
		if s.calm.on {
			continue
		}
		if s.plainly != nil && !s.odd && len(s.waiting) == 0 && !t.drawAll {
			limit := limit
			switch {
			case s.proxied:
				limit = followed
			case !s.alone:
				limit = done
			}
			if s.next < limit {
				t.countStream(s, limit)
			}
		}
		if s.next < next && !s.calm.on {
			earliest, next = s, s.next
		}
	}
	return earliest
}

// countStream counts the requests of a stream that arrive before a moment, until one of them is odd.
func (t *Traffic) countStream(s *stream, limit engine.Time) {
	first := s.count
	for s.next < limit && !s.calm.on {
		if !s.plainly(t, s) {
			t.countFrom(s, first)
			first = s.count
			if s.odd = !t.countSilent(s); s.odd {
				return
			}
			first++
		}
		s.pass()
		t.calmDown(s)
	}
	t.countFrom(s, first)
}

// plainlyOf returns what counts the next request of a stream if it is plain, nil where requests
// always need more than that.
func plainlyOf(spec *Spec) func(*Traffic, *stream) bool {
	switch {
	case spec.Arrivals == ClosedLoop:
		return nil
	case spec.Proxy != nil:
		if spec.Proxy.Served {
			return nil
		}
		return plainlyProxied
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
	if t.countSure(s) {
		return true
	}
	if f, _ := s.nowhere(); f != nil { // mostly, while something fails: see countSilent
		return false
	}
	draws := s.requests.Sub(s.count)
	p := plain{flow: draws.Draw(1), drawn: 2}
	f := t.world.FirstHop(Leg{s.index, NoProxy}, p.flow, -1)
	if f.Member < 0 || t.through(f.Node) {
		return false
	}
	p.member, p.node = int32(f.Member), int32(f.Node)
	target := f.Target
	if target == nil {
		way := t.world.Enter(s.index, f.Node)
		if way.Verdict != packet.Endpoints {
			return false
		}
		target = way.Targets[engine.Below(draws.Draw(2), len(way.Targets))]
		p.drawn = 3
	}
	server := target.Server
	return server != nil && server.Answers() && server.Accepts() && t.serve(s, &p, target, draws)
}

// plainlyPooled is for a request over a connection of a pool that stands: see startPooled and
// reuse.
func plainlyPooled(t *Traffic, s *stream) bool {
	if s.ridePlain() {
		return true
	}
	t.find(s, s.next) // drops what is closed
	return s.ridePlain()
}

// ridePlain sends the next request over the connection of the pool that was used last, ok false if that
// is not all there is to say. What is kept of the request is at the connection: see counted.
func (s *stream) ridePlain() (ok bool) {
	now, p := s.next, &s.places
	s.release(now)
	last := len(p.idle) - 1
	if last < 0 || s.stale(&p.idle[last]) {
		return false
	}
	c := s.pool[p.idle[last].n]
	if !c.asItWas(now) || c.takes == nil {
		return false
	}
	end := now + c.takes.Sample(s.requests.Sub(s.count).Draw(1)) + s.spec.RTT
	if s.spec.Timeout > 0 && end > now+s.spec.Timeout {
		return false
	}
	p.idle = p.idle[:last]
	c.plain(rider{now, s.count}, end)
	p.use(c, end)
	return true
}

// plainlyShared is for a request over its client's link, which is up: see startShared and call.
func plainlyShared(t *Traffic, s *stream) bool {
	l := s.link(s.count)
	if l.state != linkUp || l.gone || l.closed || l.tells || l.idled(s.next) {
		return false
	}
	p := plain{flow: l.dial.flow, member: int32(l.dial.member), node: int32(l.dial.node), drawn: 1}
	if !t.serve(s, &p, l.to, s.requests.Sub(s.count)) {
		return false
	}
	l.used = s.next
	return true
}

// serve has a server answer a request, ok false if more is to be said of the answer than when it
// comes: see accepted.
func (t *Traffic) serve(s *stream, p *plain, target *Target, draws engine.Stream) (ok bool) {
	p.arrival, p.number = s.next, s.count
	return t.serveAt(s, p, target, draws)
}

// serveAt is serve for a request of before.
func (t *Traffic) serveAt(s *stream, p *plain, target *Target, draws engine.Stream) (ok bool) {
	if !p.answered(s, target, draws) {
		return false
	}
	t.inFlight(target.Server.ID()).addPlain(p, target)
	return true
}

// answered finds out when a request is answered, ok false if more is to be said of the answer.
func (p *plain) answered(s *stream, target *Target, draws engine.Stream) (ok bool) {
	takes := target.Server.Plain()
	if takes == nil {
		return false
	}
	p.stream = int32(s.index)
	p.end = p.arrival + takes.Sample(draws.Draw(uint64(p.drawn))) + s.spec.RTT
	return s.spec.Timeout == 0 || p.end <= p.arrival+s.spec.Timeout
}

// known returns the number of a target of the server: one for each way to name it, which are few.
func (f *inFlight) known(target *Target) int32 {
	for i, t := range f.targets {
		if t == target {
			return int32(i)
		}
	}
	for i, t := range f.targets {
		if t.Addr == target.Addr && t.Server == target.Server {
			return int32(i)
		}
	}
	f.targets = append(f.targets, target)
	return int32(len(f.targets) - 1)
}

// addPlain keeps a plain request to a target until its answer.
func (f *inFlight) addPlain(p *plain, target *Target) {
	p.target = f.known(target)
	if len(f.plain) >= sweepAt && len(f.plain) >= 2*f.livePlain {
		f.plain = slices.DeleteFunc(f.plain, func(old plain) bool { return old.end <= p.arrival })
		f.livePlain = len(f.plain)
	}
	f.plain = append(f.plain, *p)
}

// whole makes of a plain request what start would have made of it.
func (t *Traffic) whole(f *inFlight, p *plain) serving {
	s := t.streams[p.stream]
	return serving{end: p.end, attempt: attempt{
		req:    request{stream: s, number: p.number, arrival: p.arrival, draws: s.requests.Sub(p.number), drawn: uint32(p.drawn), attempts: 1},
		member: int(p.member), flow: p.flow, node: int(p.node), began: p.arrival, sent: p.arrival, target: f.targets[p.target],
	}}
}

// whole is the same for the plain request over a connection of a pool, which counts no longer as plain. A proxy has drawn
// its member first.
func (c *conn) whole() serving {
	c.counted = false
	drawn := uint32(1)
	if c.proxy != nil {
		drawn = 2
	}
	return serving{end: c.free, conn: c, attempt: attempt{
		reused: true, proxy: c.proxy,
		req:    request{stream: c.pool, number: c.number, arrival: c.sent, draws: c.pool.requests.Sub(c.number), drawn: drawn, attempts: 1},
		member: c.member, flow: c.flow, node: c.node, began: c.sent, sent: c.sent, target: c.target,
	}}
}

// riding are the connections of pools with a plain request under way to a server.
func (t *Traffic) riding(server uint64, now engine.Time) iter.Seq[*conn] {
	return func(yield func(*conn) bool) {
		for _, s := range t.streams {
			for c := range s.conns() {
				if c.counted && c.free > now && c.target.Server.ID() == server && !yield(c) {
					return
				}
			}
		}
	}
}

// underWay returns all that a server is working on at a moment, each request on its own, in order of
// arrival. It has been told of all that arrived before.
func (t *Traffic) underWay(server uint64, now engine.Time) *inFlight {
	t.keepSure(server, now)
	for c := range t.riding(server, now) {
		f := t.inFlight(server)
		f.list = append(f.list, c.whole())
	}
	return t.gather(server, now)
}

// allUnderWay yields every server with all that it is working on.
func (t *Traffic) allUnderWay(now engine.Time) iter.Seq[*inFlight] {
	return func(yield func(*inFlight) bool) {
		t.keepSure(everyServer, now)
		for _, s := range t.streams { // once, and not for each server: there may be thousands
			for c := range s.conns() {
				if c.counted && c.free > now {
					f := t.inFlight(c.target.Server.ID())
					f.list = append(f.list, c.whole())
				}
			}
		}
		for server := range t.serving {
			if !yield(t.gather(uint64(server), now)) {
				return
			}
		}
	}
}

// gather makes one list of all that a server is working on, but for what is kept at connections.
func (t *Traffic) gather(server uint64, now engine.Time) *inFlight {
	f := t.inFlight(server)
	f.sweep(now)
	for i := range f.plain {
		if f.plain[i].end > now {
			f.list = append(f.list, t.whole(f, &f.plain[i]))
		}
	}
	f.plain, f.livePlain = f.plain[:0], 0
	f.live = len(f.list)
	sorted.ShortBy(f.list, func(a, b serving) int {
		x, y := &a.attempt.req, &b.attempt.req
		return cmp.Or(cmp.Compare(x.arrival, y.arrival), cmp.Compare(x.stream.index, y.stream.index), cmp.Compare(x.number, y.number))
	})
	return f
}
