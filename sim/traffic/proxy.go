package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Proxy is an L7 proxy between clients and servers. It asks each request of a target that it
// chooses, over a connection that it keeps; the clients' own connections end at it.
type Proxy struct {
	// Retries is how many other targets it tries when a connection did not come about, and with
	// RetryReset also when one was reset.
	Retries        int
	RetryReset     bool
	ConnectTimeout engine.Time // 0: as long as the client waits
	Idle           engine.Time // how long it keeps an idle connection, 0 for ever
}

// manyTargets is how often a proxy draws before it takes it that there is no other target.
const manyTargets = 16

// startProxied has the proxy choose a target and ask it, over a connection that it has, or a new
// one: its pool has no bound.
func (t *Traffic) startProxied(a *attempt, now engine.Time) {
	s := a.req.stream
	tried := a.member
	var member int
	for range manyTargets { // another one than the one that was just tried, if there is one
		a.flow = a.req.draw()
		if member = t.world.Front(s.index, a.flow, -1).Member; member != tried || member < 0 {
			break
		}
	}
	var idle, empty *conn
	for _, c := range s.pool {
		t.notice(c, now)
		switch {
		case c.free > now:
		case !c.connected():
			empty = c
		case c.member == member && (idle == nil || c.used > idle.used):
			idle = c
		}
	}
	if idle != nil {
		t.reuse(idle, a, now)
		return
	}
	if empty == nil {
		empty = &conn{pool: s, closed: engine.Never}
		s.pool = append(s.pool, empty)
	}
	a.sent, a.tries, a.target, a.member = now, 0, Target{}, -1
	empty.free = a.connectLimit()
	t.connect(a, now, empty)
}

// proxyRetries has the proxy try another target, if it does that for such a fault and has the
// time: the client has not given up.
func (t *Traffic) proxyRetries(a *attempt, at engine.Time, fault ledger.Fault) bool {
	s := a.req.stream
	p := s.spec.Proxy
	again := fault.NewConnection() || p.RetryReset && fault.Outcome() == ledger.Reset
	if !again || a.req.proxied >= p.Retries || a.member < 0 || a.gaveUp(at) {
		return false
	}
	a.req.proxied++
	escaped := t.judge(a, fault)
	a.req.escaped = &escaped
	t.later(at, step{attempt: *a, proxied: true})
	return true
}

// gaveUp says whether the client's own timeout is over.
func (a *attempt) gaveUp(at engine.Time) bool {
	timeout := a.req.stream.spec.Timeout
	return timeout > 0 && at >= a.began+timeout
}

// outcome is what the client sees of a fault: behind a proxy an HTTP error (502, 503, 504),
// unless it gave up before.
func (a *attempt) outcome(fault ledger.Fault, at engine.Time) ledger.Outcome {
	switch {
	case a.req.stream.spec.Proxy == nil:
		return a.req.stream.outcome(fault)
	case a.gaveUp(at):
		return ledger.Timeout
	default:
		return ledger.HTTP5xx
	}
}
