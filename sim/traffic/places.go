package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// places are the connections of a stream's pool by what can be done with them. To find one costs
// the same however many there are; what has changed meanwhile is noticed when it is met.
type places struct {
	changes uint64      // of when a connection is free
	busy    heap[freed] // until they are free, first of all the next one
	idle    []freed     // the one used last is the last
	empty   []*conn     // places for connections
}

// busyUntil has nobody else take a connection before a moment.
func (c *conn) busyUntil(at engine.Time) {
	c.free = at
	if c.proxy != nil {
		return
	}
	p := &c.pool.places
	if c.vacant {
		c.vacant = false
		last := len(p.empty) - 1
		for i := last; i >= 0; i-- {
			if p.empty[i] == c {
				p.empty[i] = p.empty[last]
				break
			}
		}
		p.empty = p.empty[:last]
	}
	p.changes++
	c.uses = p.changes
	p.busy.push(freed{at, c.uses, c})
}

// vacate makes the place of a connection free for another.
func (c *conn) vacate() {
	c.uses = 0
	if !c.vacant {
		c.vacant = true
		p := &c.pool.places
		p.empty = append(p.empty, c)
	}
}

// find returns a connection that can be used now, or else the one that will be free first. Of idle
// connections it is the one used last, as in most pools.
func (t *Traffic) find(s *stream, now engine.Time) (c, first *conn) {
	p := &s.places
	for len(p.busy) > 0 && (p.busy[0].at <= now || p.busy[0].stale()) {
		switch f := p.busy.pop(); {
		case f.stale():
		case f.conn.connected():
			p.idle = append(p.idle, f)
		default:
			f.conn.vacate()
		}
	}
	for len(p.idle) > 0 {
		f := p.idle[len(p.idle)-1]
		if !f.stale() {
			t.notice(f.conn, now)
		}
		if !f.stale() {
			return f.conn, nil
		}
		p.idle = p.idle[:len(p.idle)-1]
	}
	switch {
	case len(p.empty) > 0:
		return p.empty[len(p.empty)-1], nil
	case len(p.busy) > 0:
		return nil, p.busy[0].conn
	default:
		return nil, nil
	}
}

// stale says whether something has happened to a connection since it was put down as free.
func (f *freed) stale() bool { return f.conn.uses != f.seq }
