package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// accepts has a server that says by its readiness that it stops go on accepting until that is seen: failureThreshold probes take so many
// periods, and its node counts as one with a pod until then. nil where its program has no argument for it.
func (t *target) accepts() *Change {
	if !t.local() || !t.w.App.ClosesUnseen(t.container().ReadinessProbe) {
		return nil
	}
	flag, seconds := t.w.App.AcceptsFlag(), Sleep(world.SeenAfter(t.container().ReadinessProbe))
	out := &Change{
		ID: "accepts", Title: fmt.Sprintf("%s=%d", flag, seconds), Cost: fmt.Sprintf("each pod takes %d s longer to stop", seconds-int64(t.w.App.DrainFor/engine.Second)),
		Around: Around{Accepts: engine.Time(seconds) * engine.Second},
	}
	e, ok := t.argument(flag, fmt.Sprintf("%s=%d", flag, seconds))
	if !ok {
		return nil
	}
	out.Edits = append(out.Edits, e)
	if needed := seconds + int64(max(t.w.App.FinishWithin, spare)/engine.Second); needed > t.graceSeconds() {
		out.Title += ", " + graceWords(needed)
		out.Edits = append(out.Edits, t.edit(gracePath, needed))
	}
	return out
}

// argument has the server's container have an argument in place of the one with a flag, or behind its others; ok is false where that
// cannot be done in one place: it has no arguments, or the flag and its value are two words.
func (t *target) argument(flag, to string) (e edit.Edit, ok bool) {
	args := t.container().Args
	if slices.Contains(args, flag) || len(args) == 0 {
		return e, false
	}
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, flag+"=") }); i >= 0 {
		return t.editOf(t.path(fmt.Sprintf("args[%d]", i)), edit.ValueOf(to, ""), ""), true
	}
	e = t.editOf(t.path("args"), edit.ValueOf(append(slices.Clone(args), to), to+", behind those that are there"), "")
	e.From = edit.Value{} // nothing is taken away
	return e, true
}

// accepting is a Scenario in which a workload's app accepts connections for so long after SIGTERM.
func accepting(s *world.Scenario, workload string, d engine.Time) *world.Scenario {
	out := s.Clone()
	if w := out.Workload(workload); w != nil {
		w.App.Listener, w.App.DrainFor = world.ListenerDrains, d
	}
	return out
}
