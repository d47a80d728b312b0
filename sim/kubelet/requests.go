package kubelet

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Reply is what becomes of a request that an app has taken in, or not.
type Reply uint8

// The replies.
const (
	Answered   Reply = iota
	Erred            // with an error: as many as the scenario asks for, or all where what is behind it has ended
	TurnedAway       // at once: the app and its queue are full
)

// Serve takes a request in, whose answer is ready at end. draw is the request's own.
func (i *Instance) Serve(draw uint64, now engine.Time) (end engine.Time, how Reply) {
	app := i.App
	end, ok := i.room(app.Serve.Sample(draw), max(now, i.Back))
	switch {
	case !ok:
		return 0, TurnedAway
	case i.Alone, app.Errors > 0 && engine.Below(engine.Another(draw), 1000) < app.Errors:
		return end, Erred
	default:
		return end, Answered
	}
}

// room finds a place for a request. With a concurrency limit it waits for the first free slot,
// if the queue has room.
func (i *Instance) room(took, now engine.Time) (end engine.Time, ok bool) {
	app := i.App
	if app.Concurrency == 0 {
		return now + took, true
	}
	if i.slots == nil {
		i.slots = make([]engine.Time, app.Concurrency+app.Queue)
	}
	slices.Sort(i.slots)
	// The last Concurrency entries are the slots' ends; a request beyond waits for the first
	// of them, and one beyond the queue is turned away.
	busy := len(i.slots)
	for busy > 0 && i.slots[len(i.slots)-busy] <= now {
		busy--
	}
	if busy == len(i.slots) {
		return 0, false
	}
	start := now
	if busy >= app.Concurrency {
		start = i.slots[len(i.slots)-app.Concurrency]
	}
	i.slots[0] = start + took
	return start + took, true
}
