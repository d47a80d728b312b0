package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// While every way of every node that a stream's connections may go to leads to servers that take
// them, nothing can go wrong: the stream is calm. Then its requests are not even looked at, until the
// world says that something has changed. What has arrived by then is counted, slot by slot, and
// only what may be in flight is drawn, as it was routed at that time.

// calm is where a stream's connections go while it is.
type calm struct {
	on      bool
	nodes   []int
	ways    []*Way      // by node; nil for those that are not among nodes
	longest engine.Time // until any request of it is answered
	looked  int         // requests since the last look at all nodes
}

// calmDown finds out whether a stream with a connection for each request is calm. To look at all
// nodes costs as much as some requests, so that it is done after as many.
func (t *Traffic) calmDown(s *stream) {
	c := &s.calm
	if c.looked++; t.drawAll || !s.counts || c.looked <= len(c.nodes) {
		return
	}
	c.looked = 0
	c.nodes = t.world.Nodes(s.index)
	c.longest = 0
	clear(c.ways)
	var good *Way // nodes share their ways
	for _, n := range c.nodes {
		way := t.world.Enter(s.index, n)
		if t.through(n) || way != good && !c.answers(&s.spec, way) {
			return
		}
		good = way
		for n >= len(c.ways) {
			c.ways = append(c.ways, nil)
		}
		c.ways[n] = way
	}
	c.on = len(c.nodes) > 0
}

// answers says whether all targets of a way answer each request in time.
func (c *calm) answers(spec *Spec, way *Way) bool {
	if way.Verdict != packet.Endpoints {
		return false
	}
	for _, target := range way.Targets {
		s := target.Server
		if s == nil || !s.Answers() || !s.Accepts() || s.Plain() == nil {
			return false
		}
		c.longest = max(c.longest, s.Plain().Max()+spec.RTT)
	}
	return spec.Timeout == 0 || c.longest <= spec.Timeout
}

// Changed says that servers, nodes or rules are not as they were until now.
func (t *Traffic) Changed(now engine.Time) {
	t.clock = max(t.clock, now)
	for _, s := range t.streams {
		t.stir(s, now)
	}
}

// Resynced says that the rules of a node, and which nodes connections go to, may not be as they
// were until now.
func (t *Traffic) Resynced(node int, now engine.Time) {
	for _, s := range t.streams {
		c := &s.calm
		if !c.on {
			continue
		}
		if !slices.Equal(t.world.Nodes(s.index), c.nodes) {
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
		p := plain{flow: draws.Draw(1), drawn: 3}
		node := c.nodes[engine.Below(p.flow, len(c.nodes))]
		p.member, p.node = int32(node), int32(node)
		list := c.ways[node].Targets
		t.serve(s, &p, list[engine.Below(draws.Draw(2), len(list))], draws)
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
