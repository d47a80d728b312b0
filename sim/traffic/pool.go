package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// conn is one connection of a keep-alive pool, or the place for one. What is asked and noted for each request stands
// together at its beginning.
type conn struct {
	free, used engine.Time
	// slack is how long after its last answer nothing has come of its idleness yet, while nobody closes
	// it: a request that comes within that time finds it as it was.
	slack engine.Time
	// closed is when the server closed the connection, Never while it has not; the client
	// knows half a round trip later.
	closed engine.Time
	takes  *engine.Dist // what Plain says of its Server
	sent   engine.Time  // when the request under way was written, if it reuses the connection
	number uint64       // of the request under way, while it is counted
	uses   uint32       // changes of when it is free
	place  int32        // in its pool; in a proxy's -1 while it does not stand
	// counted says that the request under way is plain, and kept nowhere else.
	counted bool
	vacant  bool    // in a stream's pool: there is none, and nobody opens it
	cut     bool    // it was a load balancer that closed it
	gone    bool    // the node that it leads through is
	target  *Target // nil while not connected
	pool    *stream
	proxy   *proxy // whose it is, nil for the clients'
	member  int    // of the Hop, with the flow it was opened with
	flow    uint64
	node    int
	blame   ledger.Blame // of the attempt to connect it, while that hangs
}

// use has a request under way over the connection, from now until its answer comes.
func (c *conn) use(target *Target, now, end engine.Time) {
	c.carry(target, now, end)
	if target.Server.ClosesAnswered() {
		c.closed = end - c.rtt()/2
	}
}

// carry is use at a moment that may be over: the server answered as it did then, and may have been told to end since.
func (c *conn) carry(target *Target, now, end engine.Time) {
	c.sent, c.counted = now, false
	if !c.connected() {
		c.target, c.closed, c.cut, c.gone, c.sent = target, engine.Never, false, false, notReused
		c.takes, c.slack = target.Server.Plain(), c.patience()
	}
	c.used = end
	c.busyUntil(end)
	if c.proxy != nil {
		c.proxy.keeps(c)
	}
}

// until has it busy until a moment. A server that closes it with its answer does so then.
func (c *conn) until(at engine.Time) {
	if half := c.rtt() / 2; c.closed == c.free-half {
		c.closed = at - half
	}
	c.used = at
	c.busyUntil(at)
}

// notReused is long before any request.
const notReused = -engine.Never

// expires is when the client knows that the server, or a load balancer, has closed the connection
// for idleness, Never when they do not. The server counts from its answer: half a round trip
// earlier.
func (c *conn) expires() engine.Time {
	if limit := c.idleLimit(); limit != engine.Never {
		return c.used + limit
	}
	return engine.Never
}

// idleLimit is how long others than its own end keep the connection while it is idle, and then tell
// the client, Never for always.
func (c *conn) idleLimit() engine.Time {
	limit := c.target.Server.IdleLimit()
	if c.gone {
		limit = 0 // it does not get through
	}
	if s := &c.pool.spec; c.proxy == nil && s.IdleLimit > 0 && !s.IdleForgets && (limit == 0 || s.IdleLimit < limit) {
		limit = s.IdleLimit
	}
	if limit == 0 {
		return engine.Never
	}
	return limit
}

// patience is the slack of a connection: see notice, racing and forgotten.
func (c *conn) patience() engine.Time {
	slack := c.idleLimit()
	if slack != engine.Never {
		slack -= c.rtt() - 1
	}
	if idle := c.idle(); idle > 0 {
		slack = min(slack, idle)
	}
	if s := &c.pool.spec; c.proxy == nil && s.IdleForgets && s.IdleLimit > 0 {
		slack = min(slack, s.IdleLimit+1)
	}
	return slack
}

// forgotten says whether a load balancer does not know the connection any more.
func (s *Spec) forgotten(idle engine.Time) bool {
	return s.IdleForgets && s.IdleLimit > 0 && idle > s.IdleLimit
}

// racing says whether a request written now meets a server that closes, or has closed, the
// connection: what is written less than half a round trip before the closing comes too late,
// and what is written less than half a round trip after it does not know yet.
func (c *conn) racing(now engine.Time) bool {
	return c.closed != engine.Never || now > c.expires()-c.rtt()
}

// drop forgets the connection: the next use opens a new one.
func (c *conn) drop() {
	c.target, c.free, c.counted = nil, 0, false
	if c.proxy != nil {
		c.proxy.drops(c)
		return
	}
	c.vacate()
}

func (c *conn) connected() bool { return c.target != nil }

// leg is whose connection it is.
func (c *conn) leg() Leg {
	if c.proxy != nil {
		return Leg{c.pool.index, c.proxy.server}
	}
	return Leg{c.pool.index, NoProxy}
}

// rtt is that of the network it goes through.
func (c *conn) rtt() engine.Time {
	if c.proxy != nil {
		return c.pool.spec.Proxy.RTT
	}
	return c.pool.spec.RTT
}

// idle is how long its own end keeps it while nothing is asked, 0 for ever.
func (c *conn) idle() engine.Time {
	if c.proxy != nil {
		return c.pool.spec.Proxy.Idle
	}
	return c.pool.spec.ClientIdle
}

// startPooled sends a request over an idle connection of the pool: the one used last, as pools
// do. Without an idle one a new connection is opened while there is room, and otherwise the
// request waits for one that becomes free.
func (t *Traffic) startPooled(a *attempt, now engine.Time) {
	s := a.req.stream
	if s.pool == nil {
		for range s.spec.Clients {
			s.widen()
		}
	}
	c, first := t.find(s, now)
	if c == nil && t.elastic(s, now) {
		c = s.widen()
	}
	if c == nil || len(s.waiting) > 0 {
		t.await(a, first)
		return
	}
	t.ride(c, a, now)
}

// ride sends a request over a connection that find has found, which is opened first if need be.
func (t *Traffic) ride(c *conn, a *attempt, now engine.Time) {
	if c.connected() {
		t.reuse(c, a, now)
		return
	}
	a.sent = now
	c.busyUntil(a.connectLimit()) // nobody else takes it meanwhile
	a.flow = a.req.draw()
	t.connect(a, now, c)
}

// notice drops connections that the client knows to be closed, or closes itself for idleness.
func (t *Traffic) notice(c *conn, now engine.Time) {
	if !c.connected() || c.free > now || c.asItWas(now) {
		return
	}
	idle := c.idle()
	if c.closed != engine.Never && now >= c.closed+c.rtt()/2 || idle > 0 && now-c.used >= idle || now >= c.expires() {
		c.drop()
	}
}

// asItWas says whether nothing has happened to an idle connection since its last answer.
func (c *conn) asItWas(now engine.Time) bool {
	return now-c.used < c.slack && c.closed == engine.Never && !c.gone
}

// reuse sends a request over a connection that stands.
func (t *Traffic) reuse(c *conn, a *attempt, now engine.Time) {
	a.member, a.flow, a.node, a.target, a.reused = c.member, c.flow, c.node, c.target, true
	if c.gone {
		t.hang(a, now, c)
		return
	}
	if c.proxy == nil && c.pool.spec.forgotten(now-c.used) {
		t.failed(a, now+c.rtt(), ledger.FaultForgotten, c)
		return
	}
	if c.racing(now) {
		t.failed(a, now+c.rtt(), racing(c.cut), c)
		return
	}
	t.accepted(a, now, c.target.Server, c)
}

// repeats has a client ask again over another connection, at once, when the one that it had used
// before was closed or reset before any byte of the answer: for all it knows the server had closed
// it for idleness. It does so within the same timeout, for one connection after the other, and
// never when the connection was new. A request that a server was working on when it ended is
// repeated, too: the client cannot tell it from one that never arrived.
//
// Go does that for requests that are idempotent or say so (net/http/transport.go, shouldRetryRequest:
// isReused, then nothingWrittenError, transportReadFromServerError or errServerClosedIdle; read in
// 1.26.8), and so do Java's clients, browsers and curl (recalled).
func (t *Traffic) repeats(a *attempt, at engine.Time, fault ledger.Fault, escaped ledger.Blame) bool {
	r, s := &a.req, a.req.stream
	if !s.spec.RepeatReused || !a.reused || a.proxy != nil || a.outcome(fault, at) != ledger.Reset || a.gaveUp(at) {
		return false
	}
	if int(r.repeats) >= s.spec.Clients { // there are no more that it could have used before
		return false
	}
	r.repeats++
	r.escape(escaped)
	t.later(at, step{attempt: *a, repeat: true})
	return true
}

// racing is what becomes of a request that is written over a connection which is being closed: by
// its server, or by a load balancer that cuts it (docs/model/simulator.md 2: rule 3 comes before
// rule 5).
func racing(cut bool) ledger.Fault {
	if cut {
		return ledger.FaultDrainCut
	}
	return ledger.FaultIdleRace
}

// CloseIdle is a server closing the idle connections it has, as at a graceful shutdown, or all
// of them, as at its end.
func (t *Traffic) CloseIdle(server uint64, now engine.Time, all bool) {
	t.catchUpAll(now)
	for _, s := range t.streams {
		if all {
			t.serverGone(s, server, now)
			s.forget(server)
		}
		for c := range s.conns() {
			if c.connected() && c.target.Server.ID() == server && c.closed == engine.Never {
				t.shut(c, now, all)
				s.calm.on = false
			}
		}
	}
}

// CloseAnswered is a server that from now on closes each connection with the next answer over it, also those that are opened then: an Envoy
// that drains. Who asks nothing keeps his. HTTP/2 connections that stand hear of it by GoAway.
func (t *Traffic) CloseAnswered(server uint64, now engine.Time) {
	t.catchUpAll(now)
	for _, s := range t.streams {
		t.stir(s, now)
		for c := range s.conns() {
			switch {
			case !c.connected() || c.target.Server.ID() != server || c.closed != engine.Never || c.gone:
			case c.free > now:
				half := c.rtt() / 2
				c.closed = c.free - half
			default:
				c.slack = -1 // the next request over it is followed
			}
		}
	}
}

// Errs is a server of which more is to be said from now on than when it answers: it answers with errors, or starts anew. What it has begun it answers.
func (t *Traffic) Errs(server uint64, now engine.Time) {
	t.catchUpAll(now)
	for _, s := range t.streams {
		t.stir(s, now)
		for c := range s.conns() {
			if c.connected() && c.target.Server.ID() == server {
				c.takes = nil
			}
		}
	}
}

// shut closes one connection at the server's end.
func (t *Traffic) shut(c *conn, now engine.Time, all bool) {
	switch {
	case c.gone: // nothing of it gets through
	case c.free <= now || all:
		c.closed = now
	case c.sent+c.rtt()/2 > now:
		t.race(c, now) // its request has not arrived: the server sees it idle
	default:
		c.closed = c.free - c.rtt()/2 // with its answer
	}
}

// race fails the request that is on its way over a connection which the server closes: the
// server sees an idle connection, and does not wait for what it does not know of.
func (t *Traffic) race(c *conn, now engine.Time) {
	f := t.underWay(c.target.Server.ID(), now)
	for i := range f.list {
		if s := f.list[i]; s.conn == c && s.end > now {
			f.list = slices.Delete(f.list, i, i+1)
			t.lost(&s, now, ledger.FaultIdleRace)
			return
		}
	}
}
