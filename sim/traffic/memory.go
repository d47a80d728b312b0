package traffic

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Memory is what the Traffic of one run leaves to that of the next, so that it need not be allocated again: lists
// without anything in them. It belongs to one run at a time; the zero Memory has none.
type Memory struct {
	agenda  agenda
	steps   []*step
	spare   []*attempt
	serving []inFlight
	streams []leftOver
}

// leftOver is that of one stream.
type leftOver struct {
	stream  *stream
	conns   []*conn
	places  places
	waiting []*attempt
	silence []unheard
	silent  []*Target
	sure    []certain
	ways    [2][]*Way // of calm, and of sure
	good    []*Way
}

// New returns the traffic of some streams; arrivals begin at time 0. The Memory is empty then.
func (m *Memory) New(world World, led *ledger.Ledger, eng *engine.Engine, specs []Spec) *Traffic {
	t := &Traffic{
		world: world, led: led, stopped: engine.Never, pending: m.agenda, steps: m.steps, spare: m.spare, serving: m.serving,
		cleanSteps: len(m.steps), cleanSpare: len(m.spare),
	}
	for i, spec := range specs {
		if i == len(m.streams) {
			m.streams = append(m.streams, leftOver{stream: new(stream)})
		}
		left := &m.streams[i]
		newStream(left.stream, i, spec, eng)
		left.to(left.stream)
		t.streams = append(t.streams, left.stream)
	}
	*m = Memory{}
	return t
}

// Leave leaves to a Memory what is not needed any more: the run is over.
func (t *Traffic) Leave(m *Memory) {
	*m = Memory{agenda: t.pending.empty(), steps: t.steps, spare: t.spare, serving: t.serving}
	for i := range m.serving {
		f := &m.serving[i]
		*f = inFlight{list: emptied(f.list), plain: f.plain[:0], targets: emptied(f.targets)}
	}
	for _, s := range t.streams {
		m.streams = append(m.streams, leftOver{
			stream: s, conns: s.pool, waiting: emptied(s.queue), silence: s.silence.list[:0], silent: emptied(s.silence.targets), sure: emptied(s.sure.list),
			places: places{busy: s.places.busy[:0], idle: s.places.idle[:0], empty: s.places.empty[:0]},
			ways:   [2][]*Way{emptied(s.calm.ways), emptied(s.sure.ways)}, good: emptied(s.calm.good),
		})
	}
	for _, s := range t.streams {
		for _, c := range s.pool {
			*c = conn{}
		}
		*s = stream{}
	}
	// What this run has not taken is still empty: one run in a hundred may have used a thousand times as much.
	for _, s := range m.steps[t.cleanSteps:] {
		*s = step{}
	}
	for _, a := range m.spare[t.cleanSpare:] {
		*a = attempt{}
	}
}

// to hands what was left to a new stream.
func (l *leftOver) to(s *stream) {
	s.spare, s.places, s.waiting, s.silence.list, s.silence.targets = l.conns, l.places, l.waiting, l.silence, l.silent
	s.queue = l.waiting
	s.sure.list, s.calm.ways, s.sure.ways, s.calm.good = l.sure, l.ways[0], l.ways[1], l.good
}

// emptied is a list without anything in it, not even where only its memory is seen: what that leads to could not go.
func emptied[T any](list []T) []T {
	clear(list[:cap(list)])
	return list[:0]
}
