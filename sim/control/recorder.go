package control

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// An object's Events are filtered: 25 at once, and then one each five minutes (client-go
// tools/record/events_cache.go, defaultSpamBurst and defaultSpamQPS; recalled).
const (
	spamBurst    = 25
	spamInterval = 300 * engine.Second
)

// recorder writes a controller's Events, one after the other, past its worker: that does not wait
// for them. Each one takes a token of the controller's own client, so that what the controller has to
// do comes later (seen on a real control plane, 1.36).
type recorder struct {
	d       *Desk
	owner   engine.Owner
	limit   *api.Limiter
	draws   engine.Stream
	count   uint64
	filters map[int]*api.Limiter // by the number of the object
	waiting int                  // Events that are not written yet
}

func newRecorder(d *Desk, owner engine.Owner, component string, limit *api.Limiter) recorder {
	return recorder{d: d, owner: owner, limit: limit, draws: d.Engine.Stream(component, "event"), filters: map[int]*api.Limiter{}}
}

// record has an Event of an object written, unless it had too many.
func (r *recorder) record(object int) {
	f := r.filters[object]
	if f == nil {
		l := api.NewLimiter(spamInterval, spamBurst)
		f = &l
		r.filters[object] = f
	}
	if !f.Spare(r.d.Engine.Now()) {
		return
	}
	if r.waiting++; r.waiting == 1 {
		r.write()
	}
}

// write sends the first Event that waits when there is a token, and then the next.
func (r *recorder) write() {
	now := r.d.Engine.Now()
	delay := r.limit.Take(now) - now + r.d.Latencies.APIWrite.Sample(r.draws.Draw(r.count))
	r.count++
	r.d.API.WriteAfter(delay, r.owner, "record event", api.Key{}, func(api.Object) api.Object { return nil }, func() {
		if r.waiting--; r.waiting > 0 {
			r.write()
		}
	})
}
