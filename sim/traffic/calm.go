package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// While every way of every node or load balancer's target that a stream's connections may go to leads to
// servers that take them, nothing can go wrong; nor can it while the connections that all of a stream's
// requests share stand, and nobody closes them for being idle: the stream is calm. Then its requests are not even looked at, until the
// world says that something has changed. What has arrived by then is counted, slot by slot, and
// only what may be in flight is drawn, as it was routed at that time.

// calm is where a stream's connections go while it is.
type calm struct {
	on      bool
	room    int // the places of its pool, but for those where a connection is being opened
	hops    []Hop
	ways    []*Way      // by node; nil for those that are not among hops
	longest engine.Time // until any request of it is answered
	mean    engine.Time // the largest of the servers' mean times to answer
	looked  int         // requests since the last look at all hops
	least   int         // before the next one
	cost    int         // of the last one, in targets
	good    []*Way      // that lead to servers that answer, of those met last in a look
}

// A look at a target costs an eighth of a request, and each look some requests besides. Most nodes share a few ways,
// but for some policies each has its own: so many are remembered.
const (
	targetsPerRequest = 8
	requestsPerLook   = 16
	fewWays           = 8
)

// calmDown finds out whether a stream is calm. To look at all of its hops, or links, costs as much as
// some requests, so that it is done after as many.
func (t *Traffic) calmDown(s *stream) {
	c := &s.calm
	if c.looked++; t.drawAll || !s.calms || c.looked <= c.least {
		return
	}
	t.look(s)
	c.looked, c.least = 0, max(requestsPerLook, len(c.hops), len(s.links), (c.cost+s.kept())/targetsPerRequest)
}

// look is calmDown when it is time for it.
func (t *Traffic) look(s *stream) {
	c := &s.calm
	c.longest, c.mean, c.cost, c.good = 0, 0, 0, c.good[:0]
	if len(s.links) > 0 {
		c.on = c.allUp(s)
		return
	}
	c.hops = t.world.FirstHops(s.index)
	s.tells = s.tells || len(c.hops) > 0
	switch {
	case s.alone:
		c.on = t.allLead(c, s)
	case s.spec.Proxy != nil:
		c.on = c.proxyUp(s, t.clock) && t.allLead(c, s)
	default:
		c.on = c.poolUp(s, t.clock) && t.allLead(c, s) && c.roomy(&s.spec)
	}
}

// allUp says whether the links of all clients stand, to servers that answer each request in time.
func (c *calm) allUp(s *stream) bool {
	for _, l := range s.links {
		if l.state != linkUp || l.leaving || l.closed || l.gone || !c.serves(&s.spec, l.to.Server) {
			return false
		}
	}
	return true
}

// allLead says whether a stream's connections go somewhere, and everywhere to servers that answer each request in
// time.
func (t *Traffic) allLead(c *calm, s *stream) bool {
	clear(c.ways)
	for i := range c.hops {
		f := &c.hops[i]
		if f.Target != nil {
			if !c.answers(&s.spec, f.Target) {
				return false
			}
			continue
		}
		way := t.world.Enter(s.index, f.Node)
		if t.through(f.Node) || !c.isGood(&s.spec, way) {
			return false
		}
		for f.Node >= len(c.ways) {
			c.ways = append(c.ways, nil)
		}
		c.ways[f.Node] = way
	}
	return len(c.hops) > 0
}

// isGood says whether all targets of a way answer each request in time; nodes share their ways.
func (c *calm) isGood(spec *Spec, way *Way) bool {
	if slices.Contains(c.good, way) {
		return true
	}
	if !c.allAnswer(spec, way) {
		return false
	}
	if len(c.good) == fewWays {
		c.good = slices.Delete(c.good, 0, 1)
	}
	c.good = append(c.good, way)
	return true
}

// allAnswer says whether all targets of a way answer each request in time.
func (c *calm) allAnswer(spec *Spec, way *Way) bool {
	if way.Verdict != packet.Endpoints {
		return false
	}
	for _, target := range way.Targets {
		if c.cost++; !c.answers(spec, target) {
			return false
		}
	}
	return true
}

// answers says whether a target takes a new connection, and answers each request in time.
func (c *calm) answers(spec *Spec, target *Target) bool {
	s := target.Server
	return s != nil && s.Accepts() && c.serves(spec, s)
}

// serves says whether a server answers each request in time.
func (c *calm) serves(spec *Spec, server Server) bool {
	takes := server.Plain()
	if takes == nil || server.ClosesAnswered() {
		return false
	}
	trips := spec.roundTrips()
	c.longest, c.mean = max(c.longest, takes.Max()+trips), max(c.mean, takes.Mean()+trips)
	return spec.Timeout == 0 || c.longest <= spec.Timeout
}

// Changed says that servers, nodes or rules are not as they were until now.
func (t *Traffic) Changed(now engine.Time) {
	t.clock = max(t.clock, now)
	for _, s := range t.streams {
		t.stir(s, now)
	}
}

// Redirected says that the connections of a stream's clients do not go first where they did until now.
func (t *Traffic) Redirected(stream int, now engine.Time) { t.stir(t.streams[stream], now) }

// Resynced says that the rules of a node, and which nodes connections go to, may not be as they
// were until now.
func (t *Traffic) Resynced(node int, now engine.Time) {
	for _, s := range t.streams {
		t.news(s, now)
		s.sure.resynced(node)
		c := &s.calm
		if !c.on || len(s.links) > 0 { // a connection stays where it leads
			continue
		}
		if !same(t.world.FirstHops(s.index), c.hops) {
			t.stir(s, now)
			continue
		}
		if node >= len(c.ways) || c.ways[node] == nil {
			continue
		}
		way, was := t.world.Enter(s.index, node), c.ways[node]
		if way != was && (way.Verdict != was.Verdict || !slices.Equal(way.Targets, was.Targets)) {
			t.stir(s, now)
			continue
		}
		c.ways[node] = way
	}
}

// same says whether two lists are equal; mostly they are one.
func same(a, b []Hop) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// stir ends a stream's calm.
func (t *Traffic) stir(s *stream, now engine.Time) {
	t.catchUp(s, now)
	s.calm.on = false
	t.news(s, now)
	s.sure.hops = nil
	t.age++
}

// catchUp counts what has arrived in a calm stream, and draws what may still be in flight.
func (t *Traffic) catchUp(s *stream, now engine.Time) {
	c := &s.calm
	if !c.on {
		return
	}
	now = min(now, t.stopped)
	first := s.count
	switch {
	case s.spec.Proxy != nil:
		s.walkProxied(t, now)
	case s.spec.KeepAlive:
		s.walk(t, now)
	default:
		s.passUntil(now - c.longest)
		for s.next < now {
			t.drawCalm(s, now)
			s.pass()
		}
	}
	t.countFrom(s, first)
}

// countFrom counts the requests of a stream from one on.
func (t *Traffic) countFrom(s *stream, first uint64) {
	if s.count > first {
		t.led.Count(s.index, first, s.count-first)
	}
}

// closeCalm counts all that is left of calm streams: there are no more arrivals, and nobody asks any more what is in
// flight.
func (t *Traffic) closeCalm() {
	t.clock = max(t.clock, t.stopped)
	for _, s := range t.streams {
		if first := s.count; s.calm.on {
			s.passUntil(t.stopped)
			t.countFrom(s, first)
		}
	}
}

// drawCalm draws the next request of a calm stream, and keeps it if it is not answered by a moment.
func (t *Traffic) drawCalm(s *stream, now engine.Time) {
	draws := s.requests.Sub(s.count)
	var p plain
	var target *Target
	if len(s.links) > 0 {
		l := s.link(s.count)
		p, target = plain{flow: l.dial.flow, member: int32(l.dial.member), node: int32(l.dial.node), drawn: 1}, l.to
	} else {
		p, target = s.calm.choose(draws)
	}
	p.arrival, p.number = s.next, s.count
	if p.answered(s, target, draws) && p.end > now {
		t.inFlight(target.Server.ID()).addPlain(&p, target)
	}
}

// choose draws where a connection goes that a request of a calm stream opens.
func (c *calm) choose(draws engine.Stream) (p plain, target *Target) {
	p = plain{flow: draws.Draw(1), drawn: 2}
	f := &c.hops[engine.Below(p.flow, len(c.hops))]
	p.member, p.node = int32(f.Member), int32(f.Node)
	if f.Target != nil {
		return p, f.Target
	}
	list := c.ways[f.Node].Targets
	p.drawn = 3
	return p, list[engine.Below(draws.Draw(2), len(list))]
}

// catchUpAll has servers told of all that arrived before a moment.
func (t *Traffic) catchUpAll(now engine.Time) {
	t.clock = max(t.clock, now)
	for _, s := range t.streams {
		t.catchUp(s, now)
	}
}
