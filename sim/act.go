package sim

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// act schedules the scenario's actions.
func (r *run) act() {
	owner := r.eng.Register("scenario")
	for _, a := range r.sc.Actions {
		r.eng.At(a.At, engine.ClassAction, owner, "action "+a.Verb(), func() { r.do(a) })
		if a.For > 0 {
			r.eng.At(a.At+a.For, engine.ClassAction, owner, "end of "+a.Verb(), func() { r.undo(a) })
		}
	}
}

// do carries out an action, on the controllers of load balancers, too.
func (r *run) do(a world.Action) {
	r.cluster.Do(a)
	if o, ok := a.Operation.(world.Component); ok && o.Name == world.LBController {
		r.pauseForwarders(o.What == world.ComponentPause)
	}
	r.wakeForwarders() // a proxy that gets no time answers nobody
}

// undo ends an action that lasts.
func (r *run) undo(a world.Action) {
	r.cluster.Undo(a)
	if o, ok := a.Operation.(world.Component); ok && o.Name == world.LBController {
		r.pauseForwarders(false)
	}
	r.wakeForwarders()
}

func (r *run) pauseForwarders(pause bool) {
	for f := range r.allForwarders() {
		if pause {
			f.b.Pause()
		} else {
			f.b.Resume()
		}
	}
}
