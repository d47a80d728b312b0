package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// CutVia ends connections of a stream that were sent to some members of its load balancer: what
// is under way over them fails, idle ones are closed. gone says which.
func (t *Traffic) CutVia(stream int, now engine.Time, gone func(flow uint64, member int) bool) {
	for server := range t.serving {
		f := &t.serving[server]
		f.sweep(now)
		kept := f.list[:0]
		var cut []serving
		for _, s := range f.list {
			if s.attempt.req.stream.index == stream && gone(s.attempt.flow, s.attempt.member) {
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
	for _, c := range t.streams[stream].pool {
		if c.connected() && c.closed == engine.Never && gone(c.flow, c.member) {
			c.closed = now
		}
	}
}
