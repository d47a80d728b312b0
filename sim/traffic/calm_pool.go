package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// A stream over a pool of connections is calm while all of its connections stand, to servers that answer each
// request in time, and a new one would lead to such a server, too: then nothing can go wrong. Which request takes
// which connection is found out when somebody asks what a server is working on, or what stands: all requests
// until then in one go, and none where nobody ever asks, as after the last change of a run.

// poolUp says whether nothing can go wrong over the connections of a stream's pool from now on. One that is being
// opened is followed on its own; room is how many others there are, or may be.
func (c *calm) poolUp(s *stream, now engine.Time) bool {
	if len(s.pool) == 0 || len(s.waiting) > 0 {
		return false
	}
	c.room = 0
	for _, conn := range s.pool {
		switch {
		case conn.vacant || conn.over(now) || c.lasts(conn):
			c.room++
		case conn.connected():
			return false
		}
	}
	return true
}

// over says whether the client of an idle connection knows that its other end has closed it: see notice.
func (c *conn) over(now engine.Time) bool {
	return c.connected() && c.free <= now && c.closed != engine.Never && now >= c.closed+c.rtt()/2
}

// lasts says whether a connection leads to a server that answers each request in time, and whether nobody but the
// client closes it for being idle.
func (c *calm) lasts(conn *conn) bool {
	if !conn.connected() || conn.closed != engine.Never || conn.gone || !conn.clientCloses() {
		return false
	}
	return c.serves(&conn.pool.spec, conn.target.Server)
}

// clientCloses says whether nothing comes of a connection's being idle before its client closes it.
func (c *conn) clientCloses() bool {
	idle := c.idle()
	return c.slack == engine.Never || idle > 0 && c.slack == idle
}

// roomy says whether a pool has so much room that as good as never all of its connections are in use: two more than
// the mean of what is under way and four times its square root, which is the standard deviation. In sixteenths.
func (c *calm) roomy(spec *Spec) bool {
	busy := int(16 * c.mean / max(spec.Interval, 1))
	over := 16*(c.room-2) - busy
	return over > 0 && over*over >= 16*16*busy
}

// elastic says whether a request for which no connection of a pool is free gets one more: where all answer, and the
// pool has so much room that this as good as never happens. So no request ever waits in a stream that is calm.
func (t *Traffic) elastic(s *stream, now engine.Time) bool {
	if !s.calms || len(s.waiting) > 0 {
		return false
	}
	c := calm{fronts: t.world.Fronts(s.index)}
	return c.poolUp(s, now) && t.allLead(&c, s) && c.roomy(&s.spec)
}

// widen adds one more place for a connection to a pool.
func (s *stream) widen() *conn {
	c := &conn{pool: s, place: int32(len(s.pool)), closed: engine.Never}
	c.vacate()
	s.pool = append(s.pool, c)
	return c
}

// walk sends all requests that arrive before a moment over the connections of a calm stream's pool.
func (s *stream) walk(t *Traffic, limit engine.Time) {
	for s.next < limit {
		if !plainlyPooled(t, s) {
			s.openCalm(t)
		}
		s.pass()
	}
}

// plain has the next request of the stream, which is plain, under way over the connection until a moment.
func (c *conn) plain(now, end engine.Time) {
	s := c.pool
	c.counted, c.number, c.sent, c.used = true, s.count, now, end
	s.places.use(c, end)
}

// openCalm opens a connection for the next request of a calm stream: see ride, connect and accepted.
func (s *stream) openCalm(t *Traffic) {
	draws, now := s.requests.Sub(s.count), s.next
	to, target := s.calm.choose(draws)
	c := s.vacant()
	c.member, c.flow, c.node = int(to.member), to.flow, int(to.node)
	end := now + target.Server.Plain().Sample(draws.Draw(uint64(to.drawn))) + s.spec.RTT
	work := serving{end: end, conn: c, attempt: attempt{
		req:    request{stream: s, number: s.count, arrival: now, draws: draws, drawn: uint32(to.drawn), attempts: 1},
		member: c.member, flow: c.flow, node: c.node, began: now, sent: now, target: target,
	}}
	t.inFlight(target.Server.ID()).add(work, now)
	c.use(target, now, end)
}

// vacant is the place for the next connection of a pool that is opened.
func (s *stream) vacant() *conn {
	if n := len(s.places.empty); n > 0 {
		return s.pool[s.places.empty[n-1]]
	}
	return s.widen()
}
