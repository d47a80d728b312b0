package engine

import "fmt"

// Class orders the events of one moment.
//
// IMPORTANT: the order is part of every trace. Faults come first, so that what happens at the
// moment of an outage meets the outage; then what arrives, so that a timer that fires at the
// same moment acts on the news; then timers; then what only looks.
type Class uint8

// The classes, first to last.
const (
	ClassAction   Class = iota // what the scenario does
	ClassDelivery              // news that arrives: watch events, responses
	ClassTimer                 // what was scheduled for this moment
	ClassObserve               // measurements and checks, which change nothing
)

// Owner identifies who an event belongs to. Owners are numbered in the order of Register, so
// equal worlds number them equally.
type Owner uint32

// event is one entry of the queue.
type event struct {
	at    Time
	order uint64 // at that moment: see orderOf
	slot  uint32 // in Engine.slots
}

// An order has a class in its first 2 bits, then an owner, then the number of the scheduling.
const (
	ownerBits = 22
	seqBits   = 62 - ownerBits
)

// orderOf returns the place of an event among those of one moment.
func orderOf(class Class, owner Owner, seq uint64) uint64 {
	return uint64(class)<<62 | uint64(owner)<<seqBits | seq
}

func (e *event) class() Class { return Class(e.order >> 62) }
func (e *event) owner() Owner { return Owner(e.order << 2 >> (2 + seqBits)) }

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

// Handle names a scheduled event, to cancel it. The zero Handle names none.
type Handle struct {
	slot uint32 // index + 1
	gen  uint32
}

// slot holds what an event does; slots are reused, gen tells the uses apart.
type slot struct {
	run     func()
	do      func(uint64) // with what is in with, where there is no run
	with    uint64
	name    string
	gen     uint32
	look    bool // no event of the run: see Look
	pending bool // still to come, and not cancelled
}

// Limits bound a run. Reaching one is an error with a name, never a hang.
type Limits struct {
	Events uint64 // events executed
	Time   Time   // virtual time; later events are not executed
}

// Engine executes events in total order: time, class, owner, then the order of scheduling. It
// has one owner and no locks.
type Engine struct {
	now    Time
	seq    uint64
	queue  []event // a binary heap
	slots  []slot
	free   []uint32
	owners []string
	limits Limits
	done   uint64
	hash   TraceHash
	seed   uint64
}

// soonUsed is how many events are waiting at a time in a small world.
const soonUsed = 64

// New returns an engine at time 0 for one seed.
func New(seed uint64, limits Limits) *Engine {
	return &Engine{
		seed: seed, limits: limits, hash: newTraceHash(seed),
		queue: make([]event, 0, soonUsed), slots: make([]slot, 0, soonUsed), free: make([]uint32, 0, soonUsed),
	}
}

// Now returns the virtual time.
func (e *Engine) Now() Time { return e.now }

// Seed returns the run's seed.
func (e *Engine) Seed() uint64 { return e.seed }

// Events returns how many events were executed.
func (e *Engine) Events() uint64 { return e.done }

// Hash returns the hash over all that happened so far.
func (e *Engine) Hash() *TraceHash { return &e.hash }

// Register gives a component its place in the order of events. Components register when the
// world is built, in an order that does not depend on chance.
func (e *Engine) Register(name string) Owner {
	if len(e.owners) == 1<<ownerBits {
		panic("engine: too many owners")
	}
	e.owners = append(e.owners, name)
	return Owner(len(e.owners) - 1)
}

// OwnerName returns the name an owner registered with.
func (e *Engine) OwnerName(o Owner) string { return e.owners[o] }

// At schedules run for a moment, not earlier than now: that is a fault of the caller and
// panics, since an event in the past would never be in order. The name goes into the trace.
func (e *Engine) At(at Time, class Class, owner Owner, name string, run func()) Handle {
	return e.schedule(at, class, owner, slot{run: run, name: name})
}

// AtWith is At for what many events do, each with another number: no function is made for each of them.
func (e *Engine) AtWith(at Time, class Class, owner Owner, name string, do func(uint64), with uint64) Handle {
	return e.schedule(at, class, owner, slot{do: do, with: with, name: name})
}

// Look schedules what only looks: a subscriber that is told of everything as it happens, where the world
// itself finds out later. It is in order with the events, and none of the run: it is not counted, and not
// in the trace. run must not change what becomes of the world.
func (e *Engine) Look(at Time, class Class, owner Owner, run func()) Handle {
	return e.schedule(at, class, owner, slot{run: run, name: "look", look: true})
}

func (e *Engine) schedule(at Time, class Class, owner Owner, what slot) Handle {
	if at < e.now {
		panic(fmt.Sprintf("engine: %s of %s scheduled for %s s, but it is %s s", what.name, e.owners[owner], at.Seconds(), e.now.Seconds()))
	}
	var i uint32
	if n := len(e.free); n > 0 {
		i, e.free = e.free[n-1], e.free[:n-1]
	} else {
		e.slots = append(e.slots, slot{})
		i = uint32(len(e.slots) - 1)
	}
	s := &e.slots[i]
	what.gen, what.pending = s.gen+1, true
	*s = what
	e.push(event{at: at, order: orderOf(class, owner, e.seq), slot: i})
	e.seq++
	return Handle{slot: i + 1, gen: s.gen}
}

// AfterWith is AtWith for d from now; a negative d counts as 0.
func (e *Engine) AfterWith(d Time, class Class, owner Owner, name string, do func(uint64), with uint64) Handle {
	return e.AtWith(e.now.Add(max(d, 0)), class, owner, name, do, with)
}

// After schedules run for d from now; a negative d counts as 0.
func (e *Engine) After(d Time, class Class, owner Owner, name string, run func()) Handle {
	return e.At(e.now.Add(max(d, 0)), class, owner, name, run)
}

// Cancel takes an event back and says whether it was still to come.
func (e *Engine) Cancel(h Handle) bool {
	if h.slot == 0 {
		return false
	}
	s := &e.slots[h.slot-1]
	if s.gen != h.gen || !s.pending {
		return false
	}
	s.pending = false // its entry stays in the queue until its time comes
	return true
}

// Next returns the time of the next event, Never when there is none.
func (e *Engine) Next() Time {
	e.dropCancelled()
	if len(e.queue) == 0 {
		return Never
	}
	return e.queue[0].at
}

// LimitError says which bound a run reached.
type LimitError struct {
	Limit string // "events" or "time"
	At    Time
	Last  string // the event that would have come next
}

// Error names the limit, the moment and what would have come next.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the simulation reached its limit of %s at %s s, before %s", e.Limit, e.At.Seconds(), e.Last)
}

// Step executes the next event. It returns false when there is none, and an error when a
// limit keeps it from being executed.
func (e *Engine) Step() (bool, error) {
	e.dropCancelled()
	if len(e.queue) == 0 {
		return false, nil
	}
	next := e.queue[0]
	s := &e.slots[next.slot]
	switch {
	case e.limits.Time > 0 && next.at > e.limits.Time:
		return false, &LimitError{"time", e.limits.Time, s.name}
	case e.limits.Events > 0 && e.done >= e.limits.Events && !s.look:
		return false, &LimitError{"events", e.now, s.name}
	}
	e.pop()
	what := *s
	s.pending = false
	e.free = append(e.free, next.slot)
	e.now = next.at
	if !what.look {
		e.done++
		e.hash.Event(next.at, next.class(), next.owner(), what.name)
	}
	if what.run != nil {
		what.run()
	} else {
		what.do(what.with)
	}
	return true, nil
}

// RunUntil executes all events up to and including a moment, and leaves the clock there.
func (e *Engine) RunUntil(t Time) error {
	for next := e.Next(); next != Never && next <= t; next = e.Next() {
		if _, err := e.Step(); err != nil {
			return err
		}
	}
	if t != Never && t > e.now {
		e.now = t
	}
	return nil
}

func (e *Engine) dropCancelled() {
	for len(e.queue) > 0 && !e.slots[e.queue[0].slot].pending {
		e.free = append(e.free, e.queue[0].slot)
		e.pop()
	}
}

// push and pop move the entries on the way one place each, and put the one in question down where it belongs.
func (e *Engine) push(ev event) {
	e.queue = append(e.queue, ev)
	i := len(e.queue) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !ev.before(&e.queue[parent]) {
			break
		}
		e.queue[i] = e.queue[parent]
		i = parent
	}
	e.queue[i] = ev
}

func (e *Engine) pop() {
	n := len(e.queue) - 1
	last := e.queue[n]
	e.queue = e.queue[:n]
	if n == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && e.queue[child+1].before(&e.queue[child]) {
			child++
		}
		if !e.queue[child].before(&last) {
			break
		}
		e.queue[i] = e.queue[child]
		i = child
	}
	e.queue[i] = last
}
