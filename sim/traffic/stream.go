package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// stream is one Spec at work.
type stream struct {
	arrivals
	index     int
	spec      Spec
	requests  engine.Stream
	plainly   func(*Traffic, *stream) bool // counts the next request if it is plain; nil: none is
	odd       bool                         // the next request is not plain
	alone     bool                         // each request has a connection of its own
	proxied   bool                         // a provider's proxy asks for its clients
	calms     bool                         // it can be calm
	calm      calm
	loop      heap[clientAt] // closed loop: when each client asks again
	pool      []*conn
	spare     []*conn // of a run before, for the pool
	places    places
	proxies   []*proxy   // by Server, the one that is none first; nil for those without a request
	links     []*link    // of the kinds that share connections, by client
	flows     []flow     // FixedFlow: by client
	resolvers []resolver // Named: by client
	cuts      uint64     // sessions that ended with their server
	dark      darkness   // of the links
	waiting   []*attempt // for a connection of the pool, in the order in which they began
	queue     []*attempt // all the memory of waiting
	silence   silence
	sure      sure
	news      uint64 // counts the times at which connections may have begun to go elsewhere
	tells     bool   // the World says so
}

// newStream makes a stream of a Spec, in the memory of s.
func newStream(s *stream, index int, spec Spec, eng *engine.Engine) {
	*s = stream{
		index: index, spec: spec, requests: eng.Stream("traffic "+spec.Name, "requests"), plainly: plainlyOf(&spec),
		arrivals: arrivals{process: spec.Arrivals, interval: spec.Interval, draws: eng.Stream("traffic "+spec.Name, "arrivals")},
	}
	s.proxied = spec.Proxy != nil && !spec.Proxy.Served
	s.silence = newSilence(s)
	if spec.Kind == HTTP2 || spec.Kind == Session {
		s.links = newLinks(s, eng.Stream("traffic "+spec.Name, "dials"))
	}
	s.alone = !spec.KeepAlive && spec.Proxy == nil && (spec.Kind == PerRequest || spec.Kind == Datagram)
	s.calms = s.plainly != nil && (s.alone || spec.KeepAlive || spec.Proxy != nil || len(s.links) > 0 && spec.IdleLimit == 0)
	if spec.Kind == Named {
		s.resolvers = make([]resolver, max(1, spec.Clients))
	}
	if spec.Kind == FixedFlow {
		s.flows = make([]flow, max(1, spec.Clients))
	}
	s.begin()
	if spec.Arrivals == ClosedLoop {
		for c := range spec.Clients {
			s.again(c, engine.Time(c)*engine.Millisecond)
		}
	}
}

// arrive takes the next request and sets the time of the one after.
func (s *stream) arrive(r *request) {
	r.stream, r.number, r.arrival, r.draws = s, s.count, s.next, s.requests.Sub(s.count)
	s.odd = false
	if s.spec.Arrivals != ClosedLoop {
		s.pass()
		return
	}
	s.count++
	r.client = int32(s.loop.pop().client)
	s.next = engine.Never
	if len(s.loop) > 0 {
		s.next = s.loop[0].at
	}
}

// again has a closed-loop client ask again.
func (s *stream) again(client int, at engine.Time) {
	s.loop.push(clientAt{at, client})
	s.next = s.loop[0].at
}

// withdraw takes back when a closed-loop client asks again.
func (s *stream) withdraw(client int) {
	if s.spec.Arrivals != ClosedLoop {
		return
	}
	list := s.loop
	s.loop, s.next = nil, engine.Never
	for _, c := range list {
		if c.client != client {
			s.again(c.client, c.at)
		}
	}
}

// clientAt is a closed-loop client and when it asks next.
type clientAt struct {
	at     engine.Time
	client int
}

// Before orders by time, then by client.
func (c clientAt) Before(o clientAt) bool {
	return c.at < o.at || c.at == o.at && c.client < o.client
}
