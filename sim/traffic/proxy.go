package traffic

import (
	"iter"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Proxy is an L7 proxy between clients and servers. It asks each request of a target that it
// chooses, over a connection that it keeps; the clients' own connections end at it.
type Proxy struct {
	// Served says that the Servers that clients connect to are the proxies, each for itself: an
	// ingress controller's pods. Else it is one that never fails, and whose way from the clients
	// never does: a provider's.
	Served bool
	// RTT is that of the network between the proxy and its targets.
	RTT engine.Time
	// Retries is how many other targets it tries when a connection did not come about, and with
	// RetryReset also when one was reset.
	Retries        int
	RetryReset     bool
	ConnectTimeout engine.Time // 0: as long as the client waits
	Idle           engine.Time // how long it keeps an idle connection, 0 for ever
}

// proxy is one proxy at work for a stream, with the connections it keeps: its pool has no bound.
type proxy struct {
	server int       // that it is, NoProxy for one that is none
	pool   []*conn   // those that stand, by place; nil at the places of others
	places places    // of them, but for the idle ones
	idle   [][]place // by member; the one used last is the last
}

// keeps adds a connection that now stands, or notes when it becomes free.
func (p *proxy) keeps(c *conn) {
	if c.place < 0 {
		p.admit(c)
	}
	p.places.use(c, c.free)
}

// admit finds a place for a connection.
func (p *proxy) admit(c *conn) {
	if last := len(p.places.empty) - 1; last >= 0 {
		c.place, p.places.empty = p.places.empty[last], p.places.empty[:last]
		p.pool[c.place] = c
		return
	}
	c.place = int32(len(p.pool))
	p.pool = append(p.pool, c)
}

// drops forgets a connection.
func (p *proxy) drops(c *conn) {
	if c.place < 0 {
		return
	}
	p.pool[c.place] = nil
	p.places.empty = append(p.places.empty, c.place)
	c.place = -1
}

// stale says whether something has happened to a connection since it was put down as free.
func (p *proxy) stale(f *place) bool {
	c := p.pool[f.n]
	return c == nil || c.uses != f.seq
}

// release puts the connections down as idle that are so by now.
func (p *proxy) release(now engine.Time) {
	q := &p.places
	for ; q.freed < len(q.busy); q.freed++ {
		f := &q.busy[q.freed]
		switch {
		case p.stale(f):
		case f.at > now:
			return
		default:
			p.rests(p.pool[f.n].member, f)
		}
	}
	q.busy, q.freed = q.busy[:0], 0
}

// rests puts a connection to a member down as idle.
func (p *proxy) rests(member int, f *place) {
	for member >= len(p.idle) {
		p.idle = append(p.idle, nil)
	}
	p.idle[member] = append(p.idle[member], *f)
}

// free are the idle connections to a member.
func (p *proxy) free(member int) []place {
	if member < 0 || member >= len(p.idle) {
		return nil
	}
	return p.idle[member]
}

// idleOf returns the connection to a member that was used last and is free, nil for none.
func (t *Traffic) idleOf(p *proxy, member int, now engine.Time) *conn {
	p.release(now)
	for list := p.free(member); len(list) > 0; list = p.idle[member] {
		last := len(list) - 1
		if f := &list[last]; !p.stale(f) {
			c := p.pool[f.n]
			if t.notice(c, now); c.place >= 0 {
				return c
			}
		}
		p.idle[member] = list[:last]
	}
	return nil
}

// take takes it.
func (t *Traffic) take(p *proxy, member int, now engine.Time) *conn {
	c := t.idleOf(p, member, now)
	if c != nil {
		p.idle[member] = p.idle[member][:len(p.idle[member])-1]
	}
	return c
}

// first is the proxy that a stream's requests come to first, nil where they come to none or to a Server.
func (s *stream) first() *proxy {
	if !s.proxied {
		return nil
	}
	return s.proxyIn(NoProxy)
}

// opens returns a connection that does not stand yet, nil where there is no proxy to open it.
func (p *proxy) opens(s *stream) *conn {
	if p == nil {
		return nil
	}
	return &conn{pool: s, proxy: p, place: -1, closed: engine.Never}
}

// proxyIn returns a stream's proxy in a server.
func (s *stream) proxyIn(server int) *proxy {
	for server+1 >= len(s.proxies) {
		s.proxies = append(s.proxies, nil)
	}
	if s.proxies[server+1] == nil {
		s.proxies[server+1] = &proxy{server: server}
	}
	return s.proxies[server+1]
}

// forget drops the proxy in a server that has ended, with its connections.
func (s *stream) forget(server uint64) {
	if at := server + 1; at < uint64(len(s.proxies)) {
		s.proxies[at] = nil
	}
}

// kept is how many places for connections the stream's clients and proxies have.
func (s *stream) kept() int {
	n := len(s.pool)
	for _, p := range s.proxies {
		if p != nil {
			n += len(p.pool)
		}
	}
	return n
}

// conns are all connections that the stream's clients and proxies keep. The one that is yielded may
// be dropped.
func (s *stream) conns() iter.Seq[*conn] {
	return func(yield func(*conn) bool) {
		for _, c := range s.pool {
			if !yield(c) {
				return
			}
		}
		for _, p := range s.proxies {
			if p == nil {
				continue
			}
			for i := len(p.pool) - 1; i >= 0; i-- {
				if c := p.pool[i]; c != nil && !yield(c) {
					return
				}
			}
		}
	}
}

// manyTargets is how often a proxy draws before it takes it that there is no other target.
const manyTargets = 16

// startProxied has the proxy choose a target and ask it, over a connection that it has, or a new
// one: its pool has no bound.
func (t *Traffic) startProxied(a *attempt, now engine.Time) {
	s := a.req.stream
	tried := a.member
	var member int
	for range manyTargets { // another one than the one that was just tried, if there is one
		a.flow = a.req.draw()
		if member = t.world.FirstHop(a.leg(), a.flow, -1).Member; member != tried || member < 0 {
			break
		}
	}
	if c := t.take(a.proxy, member, now); c != nil {
		t.reuse(c, a, now)
		return
	}
	a.sent, a.tries, a.target, a.member = now, 0, nil, -1
	t.connect(a, now, a.proxy.opens(s))
}

// proxyRetries has the proxy try another target, if it does that for such a fault and has the
// time: the client has not given up.
func (t *Traffic) proxyRetries(a *attempt, at engine.Time, fault ledger.Fault) bool {
	s := a.req.stream
	p := s.spec.Proxy
	again := fault.NewConnection() || p.RetryReset && fault.Outcome() == ledger.Reset
	if !again || int(a.req.proxied) >= p.Retries || a.member < 0 || a.gaveUp(at) {
		return false
	}
	a.req.proxied++
	a.req.escape(t.judge(a, fault))
	if a.proxying != nil {
		a.sent = at
		a.proxying.asks(a.connectLimit() + 1)
	}
	t.later(at, step{attempt: *a, proxied: true})
	return true
}

// gaveUp says whether the client's own timeout is over.
func (a *attempt) gaveUp(at engine.Time) bool {
	timeout := a.req.stream.spec.Timeout
	return timeout > 0 && at >= a.began+timeout
}

// patience is the moment at which the client knows of what reaches it then: it waits no longer than
// its own timeout.
func (a *attempt) patience(at engine.Time) engine.Time {
	if a.gaveUp(at) {
		return a.began + a.req.stream.spec.Timeout
	}
	return at
}

// outcome is what the client sees of a fault: behind a proxy an HTTP error (502, 503, 504),
// unless it gave up before.
func (a *attempt) outcome(fault ledger.Fault, at engine.Time) ledger.Outcome {
	switch {
	case a.proxy == nil:
		return a.req.stream.outcome(fault)
	case a.gaveUp(at):
		return ledger.Timeout
	default:
		return ledger.HTTP5xx
	}
}
