package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// While every way of every node or load balancer's target that a stream's connections may go to leads to
// servers that take them, nothing can go wrong: the stream is calm. Then its requests are not even looked at, until the
// world says that something has changed. What has arrived by then is counted, slot by slot, and
// only what may be in flight is drawn, as it was routed at that time.

// calm is where a stream's connections go while it is.
type calm struct {
	on      bool
	fronts  []Front
	ways    []*Way      // by node; nil for those that are not among fronts
	longest engine.Time // until any request of it is answered
	looked  int         // requests since the last look at all fronts
}

// calmDown finds out whether a stream with a connection for each request is calm. To look at all
// fronts costs as much as some requests, so that it is done after as many.
func (t *Traffic) calmDown(s *stream) {
	c := &s.calm
	if c.looked++; t.drawAll || !s.counts || c.looked <= len(c.fronts) {
		return
	}
	c.looked = 0
	c.fronts = t.world.Fronts(s.index)
	c.longest = 0
	clear(c.ways)
	var good *Way // nodes share their ways
	for i := range c.fronts {
		f := &c.fronts[i]
		if f.Target != nil {
			if !c.answers(&s.spec, f.Target) {
				return
			}
			continue
		}
		way := t.world.Enter(s.index, f.Node)
		if t.through(f.Node) || way != good && !c.allAnswer(&s.spec, way) {
			return
		}
		good = way
		for f.Node >= len(c.ways) {
			c.ways = append(c.ways, nil)
		}
		c.ways[f.Node] = way
	}
	c.on = len(c.fronts) > 0
}

// allAnswer says whether all targets of a way answer each request in time.
func (c *calm) allAnswer(spec *Spec, way *Way) bool {
	if way.Verdict != packet.Endpoints {
		return false
	}
	for _, target := range way.Targets {
		if !c.answers(spec, target) {
			return false
		}
	}
	return true
}

// answers says whether a target answers each request in time.
func (c *calm) answers(spec *Spec, target *Target) bool {
	s := target.Server
	if s == nil || !s.Answers() || !s.Accepts() || s.Plain() == nil {
		return false
	}
	c.longest = max(c.longest, s.Plain().Max()+spec.RTT)
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
		c := &s.calm
		if !c.on {
			continue
		}
		if !same(t.world.Fronts(s.index), c.fronts) {
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
func same(a, b []Front) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// stir ends a stream's calm.
func (t *Traffic) stir(s *stream, now engine.Time) {
	t.catchUp(s, now)
	s.calm.on = false
}

// catchUp counts what has arrived in a calm stream, and draws what may still be in flight.
func (t *Traffic) catchUp(s *stream, now engine.Time) {
	c := &s.calm
	if !c.on {
		return
	}
	now = min(now, t.stopped)
	first := s.count
	s.passUntil(now - c.longest)
	for s.next < now {
		draws := s.requests.Sub(s.count)
		p := plain{flow: draws.Draw(1), drawn: 2}
		f := &c.fronts[engine.Below(p.flow, len(c.fronts))]
		p.member, p.node = int32(f.Member), int32(f.Node)
		target := f.Target
		if target == nil {
			list := c.ways[f.Node].Targets
			target = list[engine.Below(draws.Draw(2), len(list))]
			p.drawn = 3
		}
		t.serve(s, &p, target, draws)
		s.pass()
	}
	if s.count > first {
		t.led.Count(s.index, first, s.count-first)
	}
}

// catchUpAll has servers told of all that arrived before a moment.
func (t *Traffic) catchUpAll(now engine.Time) {
	t.clock = max(t.clock, now)
	for _, s := range t.streams {
		t.catchUp(s, now)
	}
}
