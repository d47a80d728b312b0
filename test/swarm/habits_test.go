package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// habits draws what clients do about connections that are closed, and what addresses answer whose pods
// are gone.
func (w *swarmWorld) habits(seed uint64) {
	d := newDraws(seed, "habits")
	for i := range w.Traffic {
		w.Traffic[i].RepeatReused = w.Traffic[i].KeepAlive && d.chance(40)
	}
	if w.Unreachable = d.chance(30); w.Unreachable {
		w.UnreachableAfter = of(d, 0, engine.Time(0), 3*sec)
	}
}
