package control

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Queue is a controller's work queue: a key is worked on some time after news about it,
// and news in the meantime does not add to the work.
type Queue struct {
	d          *Desk
	owner      engine.Owner
	name       string // of its events
	late       string // of those for a moment to come
	latency    engine.Dist
	draws      engine.Stream
	count      uint64
	queued     map[int]bool
	run        func(key int)
	due, again func(uint64) // what events do: work on a key, or ask for it again
}

// NewQueue returns the queue of a controller that works on a key by run.
func NewQueue(d *Desk, owner engine.Owner, name string, latency engine.Dist, run func(int)) *Queue {
	r := &Queue{
		d: d, owner: owner, name: "sync " + name, late: "sync " + name + " (timer)", latency: latency,
		draws: d.Engine.Stream(name, "reaction"), queued: map[int]bool{}, run: run,
	}
	work := func(key uint64) {
		r.queued[int(key)] = false
		r.run(int(key))
	}
	retry := func(key uint64) { r.Add(int(key)) }
	r.due = func(key uint64) { d.API.AwakeWith(owner, work, key) }
	r.again = func(key uint64) { d.API.AwakeWith(owner, retry, key) }
	return r
}

// Add asks for work on a key soon.
func (r *Queue) Add(key int) {
	if r.queued[key] {
		return
	}
	delay := r.latency.Sample(r.draws.Draw(r.count))
	r.count++
	r.queued[key] = true
	r.d.Engine.AfterWith(delay, engine.ClassTimer, r.owner, r.name, r.due, uint64(key))
}

// AddAt asks for work on a key at a moment to come.
func (r *Queue) AddAt(at engine.Time, key int) {
	r.d.Engine.AtWith(max(at, r.d.Engine.Now()), engine.ClassTimer, r.owner, r.late, r.again, uint64(key))
}

// NewClient is the limit on requests of a controller that has asked for nothing yet.
func NewClient() api.Limiter {
	return api.NewLimiter(engine.Second/controllerQPS, controllerBurst)
}
