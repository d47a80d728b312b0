package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// resolver is what a client keeps of the last answer of DNS.
type resolver struct {
	targets []*Target
	until   engine.Time
}

// startNamed begins an attempt of a client that resolves the Service's name: it keeps the answer
// for its TTL, goes to one of the addresses, and with its next attempt to the next.
func (t *Traffic) startNamed(a *attempt, now engine.Time) {
	s := a.req.stream
	client := int(a.req.number % uint64(len(s.resolvers)))
	const spread = 0x9e3779b97f4a7c15 // of consecutive numbers over all: the golden ratio
	a.flow = uint64(client) * spread
	t.aim(a) // the node that the client is on
	r := &s.resolvers[client]
	if now >= r.until {
		var ttl engine.Time
		r.targets, ttl = t.world.Resolve(s.index)
		r.until = now + ttl
		if len(r.targets) == 0 {
			r.until = now // asked again the next time
		}
	}
	if len(r.targets) == 0 {
		t.failed(a, now+s.spec.RTT, ledger.FaultUnresolved, nil)
		return
	}
	first := engine.Below(a.req.draws.Draw(0), len(r.targets))
	a.target = r.targets[(first+int(a.req.attempts)-1)%len(r.targets)]
	t.connect(a, now, nil)
}
