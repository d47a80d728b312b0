package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// places are the connections of a stream's pool by what can be done with them. To find one costs
// the same however many there are; what has changed meanwhile is noticed when it is met.
type places struct {
	changes uint32  // of when a connection is free
	busy    []place // until they are free: in that order, from freed on
	freed   int
	idle    []place // the one used last is the last
	empty   []int32 // places for connections
}

// place is one connection of a pool as it was put down as free: by its number, since there are as many
// of these as requests, and the garbage collector need not look at them.
type place struct {
	at  engine.Time
	seq uint32 // of the change by which it was put down
	n   int32
}

// next is the connection that becomes free first, nil when none is in use.
func (p *places) next() *place {
	if p.freed == len(p.busy) {
		return nil
	}
	return &p.busy[p.freed]
}

// use puts a connection down as busy until a moment.
func (p *places) use(c *conn, at engine.Time) {
	p.makeRoom(1)
	p.busy = among(p.busy, p.freed, p.change(c, at))
}

// change has a connection free at a moment, and returns what is put down of that.
func (p *places) change(c *conn, at engine.Time) place {
	p.changes++
	c.free, c.uses = at, p.changes
	return place{at, c.uses, c.place}
}

// makeRoom has room for some more that are busy: those that were freed make it, if they are many.
func (p *places) makeRoom(more int) {
	n := len(p.busy)
	if cap(p.busy)-n >= more {
		return
	}
	if p.freed > n/2 {
		p.busy, p.freed = p.busy[:copy(p.busy, p.busy[p.freed:])], 0
	}
	p.busy = slices.Grow(p.busy, more)
}

// among puts one more among those that are busy, for which there is room; of those that become free at one moment the one
// put down first is the first. Most answers come in the order of their requests, so that its place is near the end.
func among(busy []place, freed int, one place) []place {
	i := len(busy)
	busy = busy[:i+1]
	for ; i > freed && busy[i-1].at > one.at; i-- {
		busy[i] = busy[i-1]
	}
	busy[i] = one
	return busy
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
			if p.empty[i] == c.place {
				p.empty[i] = p.empty[last]
				break
			}
		}
		p.empty = p.empty[:last]
	}
	p.use(c, at)
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
	s.release(now)
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
	if len(p.empty) > 0 {
		return s.pool[p.empty[len(p.empty)-1]], nil
	}
	if next := p.next(); next != nil {
		return nil, s.pool[next.n]
	}
	return nil, nil
}

// release puts the connections down as idle that are so by now.
func (s *stream) release(now engine.Time) {
	p := &s.places
	for ; p.freed < len(p.busy); p.freed++ {
		f := &p.busy[p.freed]
		stale := s.stale(f)
		switch {
		case !stale && f.at > now:
			return
		case stale:
		case s.pool[f.n].connected():
			p.idle = append(p.idle, *f)
		default:
			s.pool[f.n].vacate()
		}
	}
	p.busy, p.freed = p.busy[:0], 0
}

// stale says whether something has happened to a connection since it was put down as free.
func (s *stream) stale(p *place) bool { return s.pool[p.n].uses != p.seq }
