package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// CutVia ends connections that were sent to some members of a load balancer: what is under way
// over them fails, idle ones are closed, and so are those that clients share. gone says which.
func (t *Traffic) CutVia(leg Leg, now engine.Time, gone func(flow uint64, member int) bool) {
	t.catchUpAll(now)
	t.streams[leg.Stream].calm.on = false
	for f := range t.allUnderWay(now) {
		kept := f.list[:0]
		var cut []serving
		for _, s := range f.list {
			if s.attempt.leg() == leg && gone(s.attempt.flow, s.attempt.member) {
				cut = append(cut, s)
				continue
			}
			kept = append(kept, s)
		}
		clear(f.list[len(kept):])
		f.list, f.live = kept, len(kept)
		for i := range cut {
			t.lost(&cut[i], now, ledger.FaultDrainCut)
		}
	}
	for c := range t.streams[leg.Stream].conns() {
		if c.leg() == leg && c.connected() && c.closed == engine.Never && gone(c.flow, c.member) {
			c.closed, c.cut = now, true
		}
	}
	if leg.Proxy != NoProxy {
		return
	}
	for _, l := range t.streams[leg.Stream].links {
		if l.state == linkUp && !l.closed && gone(l.dial.flow, l.dial.member) {
			l.cut = true
			t.hangUp(l, now)
		}
	}
}
