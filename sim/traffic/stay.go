package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// stay is a request at a proxy that is a Server: the proxy's process may end, too. It is one of
// the requests that both of them are working on, the proxy and, once it has been found, the server
// behind it: whoever ends first takes it along.
//
//	asking -> answering -> (its answer)
//	   ^          |  the server behind ends: asked of another one
//	   +----------+
//	   -> over: failed, given up, or the proxy has ended
type stay struct {
	state stayState
	front attempt     // of the client, as it reached the proxy
	conn  *conn       // the client's, nil for one of its own
	limit engine.Time // asking: when the proxy gives up at the latest
}

type stayState uint8

const (
	stayAsking    stayState = iota // the proxy has no answer yet
	stayAnswering                  // its answer is on the way
	stayOver
)

// left says whether the request has left the proxy without its answer.
func (st *stay) left() bool { return st != nil && st.state == stayOver }

// asking says whether nothing is known of the answer yet.
func (st *stay) asking() bool { return st != nil && st.state == stayAsking }

// asks has the proxy look for a server, until a moment at the latest. So long nobody else uses the
// client's connection.
func (st *stay) asks(limit engine.Time) {
	st.state, st.limit = stayAsking, limit
	if st.conn != nil {
		st.conn.until(limit)
	}
}

// handOver has the proxy that a request has reached ask a server for it.
func (t *Traffic) handOver(a *attempt, now engine.Time, server Server, c *conn) {
	st := &stay{front: *a}
	st.front.stay = st
	a.proxy, a.stay, a.member, a.sent = a.req.stream.proxyIn(int(server.ID())), st, -1, now
	st.asks(a.connectLimit() + 1) // what ends then is still there then
	t.inFlight(server.ID()).add(serving{end: engine.Never, attempt: st.front, conn: c}, now)
	if c != nil {
		c.use(st.front.target, now, st.limit)
		st.conn = c
	}
	t.startProxied(a, now)
}

// answering notes at the proxy what the server behind it is working on.
func (t *Traffic) answering(st *stay, work *serving) {
	st.state = stayAnswering
	if st.conn != nil {
		st.conn.until(work.end)
	}
	list := t.inFlight(st.front.target.Server.ID()).list
	for i := len(list) - 1; i >= 0; i-- {
		if s := &list[i]; s.attempt.stay == st {
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
	st := s.attempt.stay
	switch {
	case st == nil:
	case s.attempt.proxy == nil: // the proxy itself
		st.state = stayOver
	default:
		list := t.inFlight(st.front.target.Server.ID()).list
		for i := range list {
			if list[i].attempt.stay == st {
				list[i].end, list[i].cut = engine.Never, nil
			}
		}
	}
}

// leave ends a request at a moment without an answer of a server: the client has the proxy's
// instead, over a connection that stays, or has given up and closed it.
func (st *stay) leave(at engine.Time, gaveUp bool) {
	if st == nil {
		return
	}
	st.state = stayOver
	switch {
	case st.conn == nil:
	case gaveUp:
		st.conn.drop()
	default:
		st.conn.until(at)
	}
}
