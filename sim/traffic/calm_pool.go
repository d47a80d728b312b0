package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// A stream over a pool of connections is calm while all of its connections stand, to servers that answer each
// request in time, and a new one would lead to such a server, too: then nothing can go wrong. Which request takes
// which connection is found out when it is asked what a server is working on, or what stands: all requests
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
	c := calm{hops: t.world.FirstHops(s.index)}
	return c.poolUp(s, now) && t.allLead(&c, s) && c.roomy(&s.spec)
}

// widen adds one more place for a connection to a pool.
func (s *stream) widen() *conn {
	var c *conn
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c = new(conn)
	}
	*c = conn{pool: s, place: int32(len(s.pool)), closed: engine.Never}
	c.vacate()
	s.pool = append(s.pool, c)
	return c
}

// walk sends all requests that arrive before a moment over the connections of a calm stream's pool.
func (s *stream) walk(t *Traffic, limit engine.Time) {
	if s.next >= limit {
		return
	}
	s.forgetStale()
	var draws [mostInSlot]uint64
	for s.next < limit {
		times := s.upcoming(limit)
		for i := range times { // apart from what follows: one does not wait for the other
			draws[i] = s.requests.Sub(s.count + uint64(i)).Draw(1)
		}
		for i := 0; i < len(times); i++ {
			if i += s.rideCalm(times[i:], draws[i:], s.count+uint64(i)); i < len(times) {
				s.openCalm(t, rider{times[i], s.count + uint64(i)})
			}
		}
		s.passed(len(times))
	}
}

// rider is a request over a connection of a pool.
type rider struct {
	at     engine.Time
	number uint64
}

// forgetStale drops what is out of date of the connections that are free or will be: nothing of them gets out of date
// while a calm stream is walked.
func (s *stream) forgetStale() {
	p := &s.places
	p.busy, p.freed = s.upToDate(p.busy[:0], p.busy[p.freed:]), 0
	p.idle = s.upToDate(p.idle[:0], p.idle)
}

// upToDate appends those places of a list to another at which nothing has happened since.
func (s *stream) upToDate(to, list []place) []place {
	for i := range list {
		if !s.stale(&list[i]) {
			to = append(to, list[i])
		}
	}
	return to
}

// rideCalm is ridePlain in a calm stream for requests from a number on, by the first draw of each, until a connection has
// to be opened. It returns how many they are.
func (s *stream) rideCalm(times []engine.Time, draws []uint64, number uint64) (n int) {
	p, rtt := &s.places, s.spec.RTT
	p.makeRoom(len(times))
	busy, freed, idle := p.busy, p.freed, p.idle // at hand: what follows is done for nearly every request of a run
	for ; n < len(times); n++ {
		now := times[n]
		for ; freed < len(busy) && busy[freed].at <= now; freed++ {
			idle = append(idle, busy[freed])
		}
		var c *conn
		for last := len(idle) - 1; c == nil && last >= 0; last-- {
			c, idle = s.pool[idle[last].n], idle[:last]
			if !c.asItWas(now) { // its client has closed it, or knows that its server has
				c.drop()
				c = nil
			}
		}
		if c == nil {
			break
		}
		end := now + c.takes.Sample(draws[n]) + rtt
		c.plain(rider{now, number + uint64(n)}, end)
		busy = among(busy, freed, p.change(c, end))
	}
	p.busy, p.freed, p.idle = busy, freed, idle
	return n
}

// plain has a request that is plain under way over the connection until a moment.
func (c *conn) plain(r rider, end engine.Time) {
	c.counted, c.number, c.sent, c.used = true, r.number, r.at, end
}

// openCalm opens a connection for a request of a calm stream: see ride, connect and accepted.
func (s *stream) openCalm(t *Traffic, r rider) {
	draws := s.requests.Sub(r.number)
	to, target := s.calm.choose(draws)
	c := s.vacant()
	c.member, c.flow, c.node = int(to.member), to.flow, int(to.node)
	end := r.at + target.Server.Plain().Sample(draws.Draw(uint64(to.drawn))) + s.spec.RTT
	work := serving{end: end, conn: c, attempt: attempt{
		req:    request{stream: s, number: r.number, arrival: r.at, draws: draws, drawn: uint32(to.drawn), attempts: 1},
		member: c.member, flow: c.flow, node: c.node, began: r.at, sent: r.at, target: target,
	}}
	t.inFlight(target.Server.ID()).add(work, r.at)
	c.carry(target, r.at, end)
}

// vacant is the place for the next connection of a pool that is opened.
func (s *stream) vacant() *conn {
	if n := len(s.places.empty); n > 0 {
		return s.pool[s.places.empty[n-1]]
	}
	return s.widen()
}
