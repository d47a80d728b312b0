package traffic

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// During a rollout there is nearly always one of a thousand pods that is gone while some nodes' rules still lead to
// it, so that a stream is not calm. Of a request that goes to another pod there is as little to say: it is
// answered in time. Until the world says that something has changed, its first draws are enough to count it: they
// name the node and the pod. It is kept in one list for all pods, and only when it is asked what a
// pod is working on its answer is drawn.

// sure are the requests of a stream that were counted because their server was known to answer in time.
type sure struct {
	hops    []Hop  // as the World has them; nil when they are to be asked for
	ways    []*Way // by node; nil when it is to be asked for
	list    []certain
	longest engine.Time // until any of them is answered
}

// certain is one of them, in order of arrival. Those that are answered by now stay for a while.
type certain struct {
	arrival      engine.Time
	number, flow uint64
	target       *Target // nil once its server keeps it
	server       uint64
	member, node int32
}

// known is what is known of a target.
type known struct {
	of     *stream
	age    uint64 // Traffic.age at that time
	server uint64
	sure   bool // it answers each request in time
}

// wayOf returns where a node's rules lead.
func (t *Traffic) wayOf(s *stream, node int) *Way {
	q := &s.sure
	for node >= len(q.ways) {
		q.ways = append(q.ways, nil)
	}
	if q.ways[node] == nil {
		q.ways[node] = t.world.Enter(s.index, node)
	}
	return q.ways[node]
}

// resynced forgets where the rules of a node lead.
func (q *sure) resynced(node int) {
	q.hops = nil
	if node < len(q.ways) {
		q.ways[node] = nil
	}
}

// isSure says whether a target takes a new connection and answers each request in time.
func (t *Traffic) isSure(s *stream, target *Target) bool {
	k := &target.known
	if k.of == s && k.age == t.age {
		return k.sure
	}
	*k = known{of: s, age: t.age}
	if c := (calm{}); c.answers(&s.spec, target) {
		k.sure, k.server = true, target.Server.ID()
		s.sure.longest = max(s.sure.longest, c.longest)
	}
	return k.sure
}

// countSure counts the next request of a stream if its server is known to answer it in time: see plainlyNew.
func (t *Traffic) countSure(s *stream) (ok bool) {
	q := &s.sure
	if q.hops == nil && s.tells {
		q.hops = t.world.FirstHops(s.index)
	}
	if len(q.hops) == 0 {
		return false
	}
	draws := s.requests.Sub(s.count)
	flow := draws.Draw(1)
	f := &q.hops[engine.Below(flow, len(q.hops))]
	if t.through(f.Node) {
		return false
	}
	target := f.Target
	if target == nil {
		way := t.wayOf(s, f.Node)
		if way.Verdict != packet.Endpoints {
			return false
		}
		target = way.Targets[engine.Below(draws.Draw(2), len(way.Targets))]
	}
	if !t.isSure(s, target) {
		return false
	}
	if len(q.list) == cap(q.list) {
		q.forget(s.next)
	}
	q.list = append(q.list, certain{s.next, s.count, flow, target, target.known.server, int32(f.Member), int32(f.Node)})
	return true
}

// forget drops what is answered by a moment, if that is worth it.
func (q *sure) forget(now engine.Time) {
	done, _ := slices.BinarySearchFunc(q.list, now-q.longest, func(r certain, at engine.Time) int {
		if r.arrival < at {
			return -1
		}
		return 1
	})
	if done > len(q.list)/4 {
		q.list = q.list[:copy(q.list, q.list[done:])]
	}
}

// everyServer stands for all of them.
const everyServer = ^uint64(0)

// keepSure has a server keep what it is working on of the requests that were counted like that.
func (t *Traffic) keepSure(server uint64, now engine.Time) {
	for _, s := range t.streams {
		list := s.sure.list
		for i := len(list) - 1; i >= 0 && list[i].arrival > now-s.sure.longest; i-- {
			r := &list[i]
			if server != everyServer && r.server != server || r.target == nil {
				continue
			}
			p := plain{arrival: r.arrival, number: r.number, flow: r.flow, member: r.member, node: r.node, drawn: 3}
			if r.node < 0 { // past the nodes nothing is drawn of a way
				p.drawn = 2
			}
			t.serveAt(s, &p, r.target, s.requests.Sub(r.number))
			r.target = nil
		}
	}
}
