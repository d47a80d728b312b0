package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// proxying is a request at a proxy that is a Server: the proxy's process may end, too. It is one of
// the requests that both of them are working on, the proxy and, once it has been found, the server
// behind it: the one that ends first takes it along.
//
//	asking -> answering -> (its answer)
//	   ^          |  the server behind ends: asked of another one
//	   +----------+
//	   -> over: failed, given up, or the proxy has ended
type proxying struct {
	state  proxyingState
	client attempt     // of the client, as it reached the proxy
	conn   *conn       // the client's, nil for one of its own
	limit  engine.Time // asking: when the proxy gives up at the latest
}

type proxyingState uint8

const (
	proxyAsking    proxyingState = iota // the proxy has no answer yet
	proxyAnswering                      // its answer is on the way
	proxyOver
)

// left says whether the request has left the proxy without its answer.
func (st *proxying) left() bool { return st != nil && st.state == proxyOver }

// asking says whether nothing is known of the answer yet.
func (st *proxying) asking() bool { return st != nil && st.state == proxyAsking }

// asks has the proxy look for a server, until a moment at the latest. So long nobody else uses the
// client's connection.
func (st *proxying) asks(limit engine.Time) {
	st.state, st.limit = proxyAsking, limit
	if st.conn != nil {
		st.conn.until(limit)
	}
}

// handOver has the proxy that a request has reached ask a server for it.
func (t *Traffic) handOver(a *attempt, now engine.Time, server Server, c *conn) {
	st := &proxying{client: *a}
	st.client.proxying = st
	a.proxy, a.proxying, a.member, a.sent = a.req.stream.proxyIn(int(server.ID())), st, -1, now
	st.asks(a.connectLimit() + 1) // what ends then is still there then
	t.inFlight(server.ID()).add(serving{end: engine.Never, attempt: st.client, conn: c}, now)
	if c != nil {
		c.use(st.client.target, now, st.limit)
		st.conn = c
	}
	t.startProxied(a, now)
}

// answering notes at the proxy what the server behind it is working on.
func (t *Traffic) answering(st *proxying, work *serving) {
	st.state = proxyAnswering
	if st.conn != nil {
		st.conn.until(work.end)
	}
	list := t.inFlight(st.client.target.Server.ID()).list
	for i := len(list) - 1; i >= 0; i-- {
		if s := &list[i]; s.attempt.proxying == st {
			s.end, s.late, s.cut = work.end, work.late, work.cut
			s.attempt.req = work.attempt.req // with what it has escaped
			return
		}
	}
}

// interrupted notes that the proxy, or the server behind it, has ended with the answer
// outstanding: s is the entry of the one that has. If it was the server, the proxy asks again, or
// answers itself.
func (t *Traffic) interrupted(s *serving) {
	st := s.attempt.proxying
	switch {
	case st == nil:
	case s.attempt.proxy == nil: // the proxy itself
		st.state = proxyOver
	default:
		list := t.inFlight(st.client.target.Server.ID()).list
		for i := range list {
			if list[i].attempt.proxying == st {
				list[i].end, list[i].cut = engine.Never, nil
			}
		}
	}
}

// leave ends a request at a moment without an answer of a server: the client has the proxy's
// instead, over a connection that stays, or has given up and closed it.
func (st *proxying) leave(at engine.Time, gaveUp bool) {
	if st == nil {
		return
	}
	st.state = proxyOver
	switch {
	case st.conn == nil:
	case gaveUp:
		st.conn.drop()
	default:
		st.conn.until(at)
	}
}
