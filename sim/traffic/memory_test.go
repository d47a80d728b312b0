package traffic

import (
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
