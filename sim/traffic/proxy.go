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
	server int         // that it is, NoProxy for one that is none
	pool   []*conn     // those that stand
	busy   heap[freed] // when those in use become free
	idle   [][]*conn   // those that were, by member; the one used last is the last
}

// freed is a connection that becomes free at a moment, if nothing changes that meanwhile.
type freed struct {
	at   engine.Time
	seq  uint32
	conn *conn
}

// Before orders by time, then by the order of use.
func (f freed) Before(o freed) bool { return f.at < o.at || f.at == o.at && f.seq < o.seq }

// keeps adds a connection that now stands, or notes when it becomes free.
func (p *proxy) keeps(c *conn) {
	if c.place < 0 {
		c.place = int32(len(p.pool))
		p.pool = append(p.pool, c)
	}
	c.uses++
	p.busy.push(freed{c.free, c.uses, c})
}

// drops forgets a connection.
func (p *proxy) drops(c *conn) {
	if c.place < 0 {
		return
	}
	last := p.pool[len(p.pool)-1]
	p.pool[c.place], last.place = last, c.place
	p.pool[len(p.pool)-1] = nil
	p.pool = p.pool[:len(p.pool)-1]
	c.place = -1
}

// take returns the connection to a member that was used last and is free, nil for none.
func (t *Traffic) take(p *proxy, member int, now engine.Time) *conn {
	for len(p.busy) > 0 && p.busy[0].at <= now {
		f := p.busy.pop()
		if c := f.conn; c.place >= 0 && c.uses == f.seq {
			for c.member >= len(p.idle) {
				p.idle = append(p.idle, nil)
			}
			p.idle[c.member] = append(p.idle[c.member], c)
		}
	}
	if member < 0 || member >= len(p.idle) {
		return nil
	}
	list := p.idle[member]
	for len(list) > 0 {
		c := list[len(list)-1]
		list = list[:len(list)-1]
		p.idle[member] = list
		if t.notice(c, now); c.place >= 0 {
			return c
		}
	}
	return nil
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
				if !yield(p.pool[i]) {
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
	t.connect(a, now, &conn{pool: s, proxy: a.proxy, place: -1, closed: engine.Never})
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
