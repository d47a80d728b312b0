package cluster

import "github.com/lameduck-proxy/lameduck/sim/engine"

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
	r.due = func(key uint64) { w.store.awakeWith(owner, work, key) }
	r.again = func(key uint64) { w.store.awakeWith(owner, retry, key) }
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

// limiter is a client's token bucket. Each controller has one of its own (measured on a real
// control plane: 20 requests a second, a burst of 30).
type limiter struct {
	interval engine.Time // between tokens
	burst    int
	full     engine.Time // when the bucket will be full again
}

// newLimiter is that of a controller that has asked for nothing yet.
func newLimiter() limiter {
	return limiter{interval: engine.Second / controllerQPS, burst: controllerBurst}
}

// take reserves a token and returns when it may be used.
func (l *limiter) take(now engine.Time) engine.Time {
	l.full = max(l.full, now) + l.interval
	return max(now, l.full-engine.Time(l.burst)*l.interval)
}

// spare takes a token if there is one now, and says whether there was.
func (l *limiter) spare(now engine.Time) bool {
	full := max(l.full, now) + l.interval
	if full-engine.Time(l.burst)*l.interval > now {
		return false
	}
	l.full = full
	return true
}
