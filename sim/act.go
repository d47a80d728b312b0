package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// act schedules the scenario's actions.
func (r *run) act() {
	owner := r.eng.Register("scenario")
	for _, a := range r.sc.Actions {
		r.eng.At(a.At, engine.ClassAction, owner, "action "+a.Verb, func() { r.cluster.Do(a) })
		if a.For > 0 {
			r.eng.At(a.At+a.For, engine.ClassAction, owner, "end of "+a.Verb, func() { r.cluster.Undo(a) })
		}
	}
}
