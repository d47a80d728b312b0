package ledger

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func TestLongestOutageIsTheLongestStretchOfConsecutiveFailures(t *testing.T) {
	t.Parallel()
	l := fresh(0)
	fail := func(elsewhere bool, numbers ...uint64) {
		for _, n := range numbers {
			l.Fail(Request{Number: n, Arrival: engine.Time(n) * engine.Second, Outcome: Refused, Blame: Blame{Cause: ListenerClosed, Elsewhere: elsewhere}})
		}
	}
	if got := l.LongestOutage(0); got != 0 {
		t.Errorf("nothing failed: %s s", got.Seconds())
	}
	fail(true, 1, 2, 3, 4, 5)   // could be chance: another pod would have answered
	fail(false, 20, 21, 25, 23) // with a hole at 22 and 24
	fail(false, 24)             // failing out of the order of arrival: 23 to 25
	fail(false, 40, 42, 43)     // 1 s
	if got := l.LongestOutage(0); got != 2*engine.Second {
		t.Errorf("longest outage is %s s, want 2", got.Seconds())
	}
	fail(true, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69)
	if got := l.LongestOutage(0); got != 9*engine.Second {
		t.Errorf("ten in a row are not chance: %s s, want 9", got.Seconds())
	}
	if got := l.LongestOutage(1); got != 0 {
		t.Errorf("the other stream: %s s", got.Seconds())
	}
}
