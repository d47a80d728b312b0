package traffic

import (
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A Memory holds nothing of the runs before, whether the last one used much of it, little or nothing.
func TestAMemoryLeadsToNothing(t *testing.T) {
	t.Parallel()
	var m Memory
	for run, uses := range []int{0, 40, 3, 0, 7, 80, 1} {
		eng := engine.New(1, engine.Limits{})
		tr := m.New(&fakeWorld{}, ledger.New(1, 10, eng.Hash()), eng, []Spec{{Interval: ms}})
		s := tr.streams[0]
		for at := range uses {
			tr.later(engine.Time(at), step{attempt: attempt{req: request{stream: s}}})
			s.makeRoomToWait()
			s.waiting = append(s.waiting, tr.keep(&attempt{req: request{stream: s}}))
		}
		for range uses {
			tr.steps = append(tr.steps, tr.pending.pop().step)
			tr.spare, s.waiting = append(tr.spare, s.waiting[0]), s.waiting[1:]
		}
		tr.Leave(&m)
		if len(m.steps) < uses || len(m.spare) < uses {
			t.Errorf("run %d: %d steps and %d attempts are left of %d", run, len(m.steps), len(m.spare), uses)
		}
		for i, a := range m.streams[0].waiting[:cap(m.streams[0].waiting)] {
			if a != nil {
				t.Errorf("run %d: place %d of those who wait leads to an attempt", run, i)
			}
		}
		for i, s := range m.steps {
			if s.attempt.req.stream != nil {
				t.Errorf("run %d: step %d leads to a stream", run, i)
			}
		}
		for i, a := range m.spare {
			if a.req.stream != nil {
				t.Errorf("run %d: attempt %d leads to a stream", run, i)
			}
		}
	}
}

// kept holds a list to be the memory of another one, with nothing in it.
func kept[T comparable](t *testing.T, what string, before, after []T) {
	t.Helper()
	var none T
	if len(before) == 0 {
		t.Fatalf("%s: nothing was used", what)
	}
	if len(after) != 0 || cap(after) < len(before) || &before[0] != &after[:1][0] {
		t.Errorf("%s: %d of %d, want the memory of %d, without any", what, len(after), cap(after), len(before))
		return
	}
	for i, x := range after[:len(before)] {
		if x != none {
			t.Errorf("%s: place %d leads to %v", what, i, x)
		}
	}
}

// Each list of a run is memory of the next, in which it is empty.
func TestAMemoryKeepsEachList(t *testing.T) {
	t.Parallel()
	var m Memory
	eng := engine.New(1, engine.Limits{})
	specs := []Spec{{Interval: ms}, {Interval: ms}}
	tr := m.New(&fakeWorld{}, ledger.New(1, 10, eng.Hash()), eng, specs)
	target, way := &Target{}, &Way{}
	for at := range 40 {
		tr.pending.push(pending{at: engine.Time(40 - at), seq: uint64(at), step: &step{}})
	}
	tr.serving = []inFlight{{}, {
		list: []serving{{late: true}}, live: 1, plain: []plain{{}}, livePlain: 1, targets: []*Target{target},
	}}
	for _, s := range tr.streams {
		s.pool, s.queue, s.waiting = []*conn{{}, {}}, []*attempt{{}, {}}, nil
		s.silence.list, s.silence.targets = []unheard{{}}, []*Target{target}
		s.sure.list, s.sure.ways, s.calm.ways, s.calm.good = []certain{{target: target}}, []*Way{way}, []*Way{nil, way}, []*Way{way}
		s.places = places{changes: 3, busy: []place{{}}, freed: 1, idle: []place{{}, {}}, empty: []int32{0}}
	}
	before, served := *tr, tr.serving[1]
	var streams []stream
	for _, s := range tr.streams {
		streams = append(streams, *s)
	}
	tr.Leave(&m)
	for i, left := range m.streams {
		if !reflect.ValueOf(*left.stream).IsZero() {
			t.Errorf("stream %d leads somewhere, and perhaps nobody takes it: %+v", i, left.stream)
		}
	}
	next := m.New(&fakeWorld{}, ledger.New(1, 10, eng.Hash()), eng, specs)
	if len(m.streams)+len(m.steps)+len(m.spare)+len(m.serving) > 0 {
		t.Error("the memory is taken, and still there")
	}
	kept(t, "what no lane takes", before.pending.rest, next.pending.rest)
	for i := range before.pending.lanes {
		kept(t, "a lane", before.pending.lanes[i].list, next.pending.lanes[i].list)
	}
	if at := next.pending.next(); at != engine.Never || len(next.serving) != 2 {
		t.Fatalf("something is pending at %d, or %d servers are there", at, len(next.serving))
	}
	f := &next.serving[1]
	if f.live+f.livePlain != 0 {
		t.Errorf("what servers had in flight: %+v", f)
	}
	kept(t, "followed requests in flight", served.list, f.list)
	kept(t, "plain requests in flight", served.plain, f.plain)
	kept(t, "where those went", served.targets, f.targets)
	for i, s := range next.streams {
		was := &streams[i]
		if s != before.streams[i] || len(s.pool) > 0 || s.index != i || s.places.changes != 0 || s.places.freed != 0 {
			t.Errorf("stream %d: %+v", i, s)
		}
		if len(s.spare) != 2 || s.spare[0] != was.pool[0] || *s.spare[1] != (conn{}) {
			t.Errorf("connections of stream %d: %v", i, s.spare)
		}
		kept(t, "those who wait", was.queue, s.waiting)
		kept(t, "all who waited", was.queue, s.queue)
		kept(t, "silent targets", was.silence.targets, s.silence.targets)
		kept(t, "sure requests", was.sure.list, s.sure.list)
		kept(t, "sure ways", was.sure.ways, s.sure.ways)
		kept(t, "calm ways", was.calm.ways, s.calm.ways)
		kept(t, "good ways", was.calm.good, s.calm.good)
		kept(t, "silent requests", was.silence.list, s.silence.list)
		kept(t, "busy places", was.places.busy, s.places.busy)
		kept(t, "idle places", was.places.idle, s.places.idle)
		kept(t, "empty places", was.places.empty, s.places.empty)
	}
}
