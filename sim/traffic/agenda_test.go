package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Whatever is put down, and whenever, what is next comes first: by time, then in the order of putting
// down. Half of it is due a fixed span later, as most of what clients do, and the rest at random.
func TestAnAgendaIsInOrder(t *testing.T) {
	t.Parallel()
	s := engine.NewStream(1, "test", "agenda")
	var a agenda
	var want []pending
	now, seq := engine.Time(0), uint64(0)
	add := func(at engine.Time) {
		p := pending{at: at, seq: seq}
		seq++
		a.push(p)
		i := len(want)
		for i > 0 && p.Before(want[i-1]) {
			i--
		}
		want = append(want, pending{})
		copy(want[i+1:], want[i:])
		want[i] = p
	}
	for i := range uint64(20_000) {
		switch draw := s.Draw(i); {
		case draw%8 < 3:
			add(now + [...]engine.Time{1000, 3000, 4000}[draw>>8%3])
		case draw%8 < 4:
			add(now + engine.Time(draw>>8%5000))
		case len(want) > 0:
			if a.next() != want[0].at {
				t.Fatalf("step %d: next at %d, want %d", i, a.next(), want[0].at)
			}
			got := a.pop()
			if got != want[0] {
				t.Fatalf("step %d: %v, want %v", i, got, want[0])
			}
			now, want = got.at, want[1:]
		default:
			if a.next() != engine.Never {
				t.Fatalf("step %d: next at %d, and nothing is pending", i, a.next())
			}
		}
		now += engine.Time(i % 3)
		if len(want) > 0 {
			now = min(now, want[0].at)
		}
	}
	if a.count != len(want) {
		t.Errorf("%d are pending, want %d", a.count, len(want))
	}
}
