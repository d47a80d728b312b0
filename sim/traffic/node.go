package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A node that is gone takes along what it knew of connections. Nothing that is sent through it gets
// an answer, not even a reset: who has asked waits for its timeout, and then takes it that the
// connection is dead.

// NodeGone is a node going with the servers on it, by ID in ascending order: requests under way through it, or to
// them, will not be answered, and neither is what is written over connections that lead there. SYNs vanish from now on.
func (t *Traffic) NodeGone(node int, servers []uint64, now engine.Time) {
	t.Changed(now)
	t.dead = marked(t.dead, node)
	for _, id := range servers {
		t.mute = marked(t.mute, int(id))
	}
	lost := func(via int, to *Target) bool { return via == node || t.muted(to) }
	for _, s := range t.streams {
		for c := range s.conns() {
			c.gone = c.gone || c.connected() && lost(c.node, c.target)
		}
		for _, l := range s.links {
			if l.state == linkUp && lost(l.dial.node, l.to) {
				l.gone = true
				l.darken(now)
			}
		}
	}
	for f := range t.allUnderWay(now) {
		var cut []serving
		f.list = slices.DeleteFunc(f.list, func(s serving) bool {
			through := lost(s.attempt.node, s.attempt.target)
			if through {
				cut = append(cut, s)
			}
			return through
		})
		f.live = len(f.list)
		for i := range cut {
			t.unanswerable(&cut[i], now)
		}
	}
}

// NodeBack is a node that answers again, for the servers on it, too. Nobody there knows of the connections of before: what
// is written over them now is answered with a reset.
func (t *Traffic) NodeBack(node int, servers []uint64, now engine.Time) {
	t.Changed(now)
	if !t.through(node) {
		return // it has never been gone
	}
	back := func(via int, to *Target) bool {
		return via == node || t.muted(to) && slices.Contains(servers, to.Server.ID())
	}
	for _, s := range t.streams {
		for c := range s.conns() {
			if c.gone && c.connected() && back(c.node, c.target) {
				c.gone = false
				t.shut(c, now, true)
			}
		}
		for _, l := range s.links {
			if l.gone && l.state == linkUp && back(l.dial.node, l.to) {
				l.gone = false
				t.hangUp(l, now)
			}
		}
	}
	t.dead[node] = false
	for _, id := range servers {
		t.mute[id] = false
	}
}

// marked sets an entry of a list that is as long as it has to be.
func marked(list []bool, at int) []bool {
	for at >= len(list) {
		list = append(list, false)
	}
	list[at] = true
	return list
}

// muted says whether a target is a server on a node that is gone: not even a router knows that nothing is there.
func (t *Traffic) muted(to *Target) bool {
	if to == nil || to.Server == nil || len(t.mute) == 0 {
		return false
	}
	id := to.Server.ID()
	return id < uint64(len(t.mute)) && t.mute[id]
}

// through says whether a packet would have to go through a node that is gone.
func (t *Traffic) through(node int) bool { return node >= 0 && node < len(t.dead) && t.dead[node] }

// unanswerable takes back the answer of a request that a server is working on: it will not arrive.
func (t *Traffic) unanswerable(s *serving, now engine.Time) {
	if t.takeBack(s) {
		t.hang(&s.attempt, now, s.conn)
	}
}

// hang has a request wait in vain, and the client then give its connection up.
func (t *Traffic) hang(a *attempt, now engine.Time, c *conn) {
	limit := now + a.req.stream.spec.gaveUp() // who has no patience of its own: the kernel, as for a SYN
	if timeout := a.req.stream.spec.Timeout; timeout > 0 {
		limit = a.began + timeout
	}
	if st := a.proxying; st != nil && a.proxy != nil { // the proxy waits, as it does for a server
		st.asks(limit + 1)
	}
	if c != nil {
		c.until(limit + 1) // nobody else takes it before it is dropped
		c.counted = false  // whoever used it last has had an answer
		if c.proxy != nil {
			c.proxy.keeps(c)
		}
	}
	t.later(limit, step{attempt: a.blamed(t.judge(a, ledger.FaultNodeGone)), fault: ledger.FaultNodeGone, conn: c, giveUp: true})
	t.giveUpLink(a, limit)
}

// giveUpLink has a client dial again when a request over the connection that it shares with others
// has timed out.
func (t *Traffic) giveUpLink(a *attempt, at engine.Time) {
	s := a.req.stream
	if len(s.links) == 0 || a.proxy != nil {
		return
	}
	l := s.link(a.req.number)
	epoch := l.epoch
	t.then(at, func(at engine.Time) {
		if l.epoch == epoch && l.state == linkUp && l.gone {
			s.cuts++
			l.state = linkDown
			t.dialAgain(l, at)
		}
	})
}
