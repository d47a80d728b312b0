package traffic

import (
	"math/bits"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// stream is one Spec at work.
type stream struct {
	index     int
	spec      Spec
	arrivals  engine.Stream
	requests  engine.Stream
	count     uint64
	next      engine.Time
	loop      heap[clientAt] // closed loop: when each client asks again
	pool      []*conn
	proxies   []*proxy   // by Server, the one that is none first; nil for those without a request
	links     []*link    // of the kinds that share connections, by client
	flows     []flow     // FixedFlow: by client
	resolvers []resolver // Named: by client
	cuts      uint64     // sessions that ended with their server
	dark      darkness   // of the links
	waits     []queue    // by moment
}

func newStream(index int, spec Spec, eng *engine.Engine) *stream {
	s := &stream{
		index: index, spec: spec,
		arrivals: eng.Stream("traffic "+spec.Name, "arrivals"), requests: eng.Stream("traffic "+spec.Name, "requests"),
	}
	if spec.Kind == HTTP2 || spec.Kind == Session {
		s.links = newLinks(s, eng.Stream("traffic "+spec.Name, "dials"))
	}
	if spec.Kind == Named {
		s.resolvers = make([]resolver, max(1, spec.Clients))
	}
	if spec.Kind == FixedFlow {
		s.flows = make([]flow, max(1, spec.Clients))
	}
	switch {
	case spec.Arrivals == ClosedLoop:
		for c := range spec.Clients {
			s.loop.push(clientAt{engine.Time(c) * engine.Millisecond, c})
		}
		s.next = engine.Never
		if len(s.loop) > 0 {
			s.next = s.loop[0].at
		}
	case spec.Interval > 0:
		s.next = s.gap()
	default:
		s.next = engine.Never
	}
	return s
}

// gap returns the time to the next arrival.
func (s *stream) gap() engine.Time {
	if s.spec.Arrivals == Constant {
		return s.spec.Interval
	}
	return exponential(s.spec.Interval, s.arrivals.Draw(s.count))
}

// arrive takes the next request and sets the time of the one after.
func (s *stream) arrive(r *request) {
	r.stream, r.number, r.arrival, r.draws = s, s.count, s.next, s.requests.Sub(s.count)
	s.count++
	if s.spec.Arrivals == ClosedLoop {
		r.client = s.loop.pop().client
		s.next = engine.Never
		if len(s.loop) > 0 {
			s.next = s.loop[0].at
		}
		return
	}
	s.next = s.next.Add(s.gap())
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

// exponential draws from the exponential distribution exactly enough for counting: the number
// of leading zeros of a draw is the whole part of -log2(u), the following bits give its
// fraction by a table of 256 chords.
func exponential(mean engine.Time, draw uint64) engine.Time {
	zeros := bits.LeadingZeros64(draw | 1)
	rest := draw << (zeros + 1) // uniform: the bits after the first one
	i := rest >> 56
	low, high := log2Table[i], log2Table[i+1]
	part, _ := bits.Mul64(uint64(high-low), rest<<8)
	fraction := uint64(low) + part // log2(1+x) in Q32
	log := uint64(zeros+1)<<32 - fraction
	// mean * ln 2 * log, in Q32.
	hi, lo := bits.Mul64(uint64(mean), ln2)
	scaled := hi<<32 | lo>>32
	hi, lo = bits.Mul64(scaled, log)
	return engine.Time(hi<<32 | lo>>32)
}

// ln2 is the natural logarithm of 2 in Q32.
const ln2 = 2977044472

// clientAt is a closed-loop client and when it asks next.
type clientAt struct {
	at     engine.Time
	client int
}

// Before orders by time, then by client.
func (c clientAt) Before(o clientAt) bool {
	return c.at < o.at || c.at == o.at && c.client < o.client
}
