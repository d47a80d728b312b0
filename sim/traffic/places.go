package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// places are the connections of a stream's pool by what can be done with them. To find one costs
// the same however many there are; what has changed meanwhile is noticed when it is met.
type places struct {
	changes uint64      // of when a connection is free
	busy    heap[place] // until they are free, first of all the next one
	idle    []place     // the one used last is the last
	empty   []int       // places for connections
}

// place is one connection of a pool as it was put down as free: by its number, since there are as many
// of these as requests, and the garbage collector need not look at them.
type place struct {
	at  engine.Time
	seq uint64
	n   int
}

// Before orders by time, then by the order of use.
func (p place) Before(o place) bool { return p.at < o.at || p.at == o.at && p.seq < o.seq }

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
			if p.empty[i] == c.place {
				p.empty[i] = p.empty[last]
				break
			}
		}
		p.empty = p.empty[:last]
	}
	p.changes++
	c.uses = p.changes
	p.busy.push(place{at, c.uses, c.place})
}

// vacate makes the place of a connection free for another.
func (c *conn) vacate() {
	c.uses = 0
	if !c.vacant {
		c.vacant = true
		p := &c.pool.places
		p.empty = append(p.empty, c.place)
	}
}

// find returns a connection that can be used now, or else the one that will be free first. Of idle
// connections it is the one used last, as in most pools.
func (t *Traffic) find(s *stream, now engine.Time) (c, first *conn) {
	p := &s.places
	for len(p.busy) > 0 && (p.busy[0].at <= now || s.stale(&p.busy[0])) {
		switch f := p.busy.pop(); {
		case s.stale(&f):
		case s.pool[f.n].connected():
			p.idle = append(p.idle, f)
		default:
			s.pool[f.n].vacate()
		}
	}
	for len(p.idle) > 0 {
		f := &p.idle[len(p.idle)-1]
		if !s.stale(f) {
			t.notice(s.pool[f.n], now)
		}
		if !s.stale(f) {
			return s.pool[f.n], nil
		}
		p.idle = p.idle[:len(p.idle)-1]
	}
	switch {
	case len(p.empty) > 0:
		return s.pool[p.empty[len(p.empty)-1]], nil
	case len(p.busy) > 0:
		return nil, s.pool[p.busy[0].n]
	default:
		return nil, nil
	}
}

// stale says whether something has happened to a connection since it was put down as free.
func (s *stream) stale(p *place) bool { return s.pool[p.n].uses != p.seq }
