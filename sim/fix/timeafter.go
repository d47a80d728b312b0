package fix

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// unsaid is a grace period that says nothing of what its app needs: the API server writes it where the author has not.
const unsaid = 30

// timeAfter has the grace period of a workload have room for a longer hook, and for what comes after SIGTERM: what its app is known to need, or
// some seconds, and as much as now where the author has chosen the period: he knows how long his requests take. Of the API server's own 30 s
// nobody has chosen what is left, and the smallest change is the better one; that it leaves less than half is said. have is how many seconds of its hook the
// new one takes the place of, as slept has it.
func (t *target) timeAfter(c *Change, h *hooked, have int64) {
	seconds, grace, added := int64(c.Sleep/engine.Second), t.graceSeconds(), t.addedBy(c, h, have)
	needed := seconds + int64((max(t.w.App.FinishWithin, spare)+h.rest)/engine.Second)
	uses := !t.w.App.IgnoresSIGTERM // else it lasts as long as the period, and nothing is finished in that time
	if uses && grace != unsaid {
		needed = max(needed, grace+added)
	}
	final := max(grace, needed)
	if final > grace {
		c.Title += ", " + graceWords(final)
		c.Edits = append(c.Edits, t.edit(gracePath, final))
	}
	hook := t.w.Hooks[t.container().Name]
	before := grace - int64(min(hook.Duration.Min(), t.w.EffectiveGrace())/engine.Second)
	if after := before + final - grace - added; t.w.App.Graceful() && !hook.Undetermined && 2*after < before {
		c.Cost += fmt.Sprintf("; it then has %d s after SIGTERM, not %d s", after, before)
	}
}

// addedBy is how many seconds more the hook of the server takes with a Change: all of its sleep, but for what it takes the place of.
func (t *target) addedBy(c *Change, h *hooked, have int64) int64 {
	seconds := int64(c.Sleep / engine.Second)
	if h.kept {
		return seconds - have
	}
	hook := t.w.Hooks[t.container().Name]
	return seconds - int64(min(hook.Duration.Min(), t.w.EffectiveGrace())/engine.Second)
}
