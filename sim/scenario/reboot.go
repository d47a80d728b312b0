package scenario

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How long a machine is away that crashes and starts again (assumed: a machine of a cloud takes a few minutes by its provider's documents, a
// small one half of one, one with much memory of its own that is tested first ten; docs/model/pod-lifecycle.md 6 Reboot).
const (
	rebootTime  = 2 * engine.Minute
	rebootWords = "2m"
	quickReboot = 30 * engine.Second
	slowReboot  = 10 * engine.Minute
)

// reboots says how long the machine of a case is away that crashes and is back later.
func (b *builder) reboots() {
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		if _, crash := a.Operation.(world.CrashNode); crash && a.For > 0 {
			b.assume("reboot", rebootWords)
		}
	}
}

// away has machines that crash be back after another time.
func away(t engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Actions {
			a := &s.Actions[i]
			if _, crash := a.Operation.(world.CrashNode); crash && a.For > 0 {
				a.For, changed = t, true
			}
		}
		return changed
	}
}
