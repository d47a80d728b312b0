package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// reaction is a controller's work queue: a key is worked on some time after news about it,
// and news in the meantime does not add to the work.
type reaction struct {
	w     *World
	owner engine.Owner
	name  string // of its events
	late  string // of those for a moment to come
	// component is the controller's own name.
	component  string
	latency    engine.Dist
	draws      engine.Stream
	count      uint64
	queued     map[int]bool
	run        func(key int)
	due, again func(uint64) // what events do: work on a key, or ask for it anew
}

func newReaction(w *World, owner engine.Owner, name string, latency engine.Dist, run func(int)) *reaction {
	r := &reaction{
		w: w, owner: owner, name: "sync " + name, late: "sync " + name + " (timer)", component: name, latency: latency,
		draws: w.eng.Stream(name, "reaction"), queued: map[int]bool{}, run: run,
	}
	work := func(key uint64) {
		r.queued[int(key)] = false
		r.run(int(key))
	}
	retry := func(key uint64) { r.enqueue(int(key)) }
	r.due = func(key uint64) { w.store.AwakeWith(owner, work, key) }
	r.again = func(key uint64) { w.store.AwakeWith(owner, retry, key) }
	return r
}

// enqueue asks for work on a key soon.
func (r *reaction) enqueue(key int) {
	if r.queued[key] {
		return
	}
	delay := r.latency.Sample(r.draws.Draw(r.count))
	r.count++
	r.queued[key] = true
	r.w.eng.AfterWith(delay, engine.ClassTimer, r.owner, r.name, r.due, uint64(key))
}

// enqueueAt asks for work on a key at a moment to come.
func (r *reaction) enqueueAt(at engine.Time, key int) {
	r.w.eng.AtWith(max(at, r.w.eng.Now()), engine.ClassTimer, r.owner, r.late, r.again, uint64(key))
}

// controllerLimiter is that of a controller that has asked for nothing yet.
func controllerLimiter() api.Limiter {
	return api.NewLimiter(engine.Second/controllerQPS, controllerBurst)
}
