package timeline

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// All failed requests are marked up to a thousand, and of more a thousand of them, from the first to the last and nearly evenly, with one of
// each client and cause.
func TestHowManyFailuresAreMarked(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]int{0: 0, 1: 1, 999: 999, 1000: 1000, 1001: 1000, 1030: 1000, 1999: 1000, 2000: 1000, 2001: 1000, 8038: 1000, 100_000: 1000} {
		r := newRequests(&world.Scenario{Traffic: make([]world.Traffic, 1)})
		for i := range failed {
			q := ledger.Request{Number: uint64(i)}
			if i == 777 {
				q.Blame.Cause = ledger.Crashed
			}
			r.Fail(&q)
		}
		list := r.marked()
		rare, seen, widest := 0, map[uint64]bool{}, uint64(0)
		for i, q := range list {
			seen[q.Number] = true
			if q.Blame.Cause == ledger.Crashed {
				rare++
			} else if i > 0 {
				widest = max(widest, q.Number-list[i-1].Number)
			}
		}
		if n := len(list); n != want && n != want+1 || len(seen) != n {
			t.Errorf("of %d %d are marked, %d of them different; want %d", failed, n, len(seen), want)
		}
		if failed > 777 && rare != 1 {
			t.Errorf("of %d the only one of its cause is marked %d times", failed, rare)
		}
		if failed > 0 && (list[0].Number != 0 || widest > 2*uint64(failed/1000+1)) {
			t.Errorf("of %d the first is %d, and the widest gap %d", failed, list[0].Number, widest)
		}
	}
}
