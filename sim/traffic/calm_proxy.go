package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// A provider's proxy keeps as many connections as it needs, so that no request waits for one. A stream through it is calm
// while all of them stand, to servers that answer each request in time, and a new one would lead to such a server,
// wherever the proxy sends it: as a stream over a pool. See calm_pool.go.

// roundTrips is what the networks between a client and a server add to the time of an answer.
func (s *Spec) roundTrips() engine.Time {
	if s.Proxy == nil {
		return s.RTT
	}
	return s.RTT + s.Proxy.RTT
}

// proxyUp says whether nothing can go wrong over the connections that a stream's proxy keeps from now on.
func (c *calm) proxyUp(s *stream, now engine.Time) bool {
	for conn := range s.conns() {
		if !conn.over(now) && !c.lasts(conn) {
			return false
		}
	}
	return true
}

// settleProxied has all requests of a stream through proxies sent that come before something that may open a connection to a
// server which does not answer in time, and ends its calm.
func (t *Traffic) settleProxied(s *stream, at engine.Time) {
	if s.spec.Proxy != nil {
		t.catchUp(s, at+1)
		s.calm.on = false
	}
}

// plainlyProxied is for a request over a connection of the proxy that stands: see startProxied and reuse.
func plainlyProxied(t *Traffic, s *stream) bool {
	q := &s.sure
	if q.hops == nil && s.tells {
		q.hops = t.world.FirstHops(s.index)
	}
	if len(q.hops) == 0 {
		return false
	}
	now, draws, p := s.next, s.requests.Sub(s.count), s.proxyIn(NoProxy)
	member := q.hops[engine.Below(draws.Draw(1), len(q.hops))].Member
	c := t.idleOf(p, member, now)
	if c == nil || !c.asItWas(now) || c.takes == nil {
		return false
	}
	end := now + c.takes.Sample(draws.Draw(2)) + s.spec.roundTrips()
	if s.spec.Timeout > 0 && end > now+s.spec.Timeout {
		return false
	}
	p.idle[member] = p.idle[member][:len(p.idle[member])-1]
	c.plain(rider{now, s.count}, end)
	p.places.use(c, end)
	return true
}

// walkProxied sends all requests that arrive before a moment over the connections of a calm stream's proxy.
func (s *stream) walkProxied(t *Traffic, limit engine.Time) {
	p, hops, trips := s.proxyIn(NoProxy), s.calm.hops, s.spec.roundTrips()
	for s.next < limit {
		times := s.upcoming(limit)
		for i, now := range times {
			number := s.count + uint64(i)
			draws := s.requests.Sub(number)
			f := &hops[engine.Below(draws.Draw(1), len(hops))]
			c := t.take(p, f.Member, now)
			if c == nil {
				s.openProxied(t, p, rider{now, number})
				continue
			}
			end := now + c.takes.Sample(draws.Draw(2)) + trips
			c.plain(rider{now, number}, end)
			p.places.use(c, end)
		}
		s.passed(len(times))
	}
}

// openProxied has the proxy of a calm stream open a connection for a request: see startProxied, connect and accepted.
func (s *stream) openProxied(t *Traffic, p *proxy, r rider) {
	draws := s.requests.Sub(r.number)
	to, target := s.calm.choose(draws)
	c := p.opens(s)
	c.member, c.flow, c.node = int(to.member), to.flow, int(to.node)
	end := r.at + target.Server.Plain().Sample(draws.Draw(uint64(to.drawn))) + s.spec.roundTrips()
	t.inFlight(target.Server.ID()).add(serving{end: end, conn: c, attempt: attempt{
		req:    request{stream: s, number: r.number, arrival: r.at, draws: draws, drawn: uint32(to.drawn), attempts: 1},
		member: c.member, flow: c.flow, node: c.node, began: r.at, sent: r.at, target: target, proxy: p,
	}}, r.at)
	c.carry(target, r.at, end)
}
