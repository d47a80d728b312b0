package scenario

import (
	"cmp"

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

// specReboot is how long machines are away that reboot in the cases of manifests. It is not printed: what is done says it.
func specReboot() fieldOf[making] {
	return fieldOf[making]{
		field: field{"reboot", of(duration).doc(rebootWords, "how long a machine is away that reboots, where that is the action for manifests; a Scenario says it with for beside crashNode")},
		read: func(c cursor, s *making) {
			switch s.Reboot = c.span(0); {
			case !c.present():
			case s.b.doc.object != nil:
				c.fail("a Scenario has no reboot: say for beside crashNode")
			case s.Reboot == 0:
				c.fail("a machine that reboots is away for some time: want more than 0s")
			}
		},
	}
}

// rebootLasts is how long the machine of a case is away that reboots.
func (b *builder) rebootLasts() engine.Time { return cmp.Or(b.out.Reboot, rebootTime) }

// reboots says how long the machine of a case is away that crashes and is back later, where nobody has said so.
func (b *builder) reboots() {
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		if _, crash := a.Operation.(world.CrashNode); crash && a.For > 0 && b.out.Reboot == 0 {
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
