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

// Where a part of the requests fails for a minute, long rows of failures are chance; a row that is too long for that, one among few
// other failures, and one that stands alone are not.
func TestARowOfFailuresMayBeChance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others, every uint64 // of so many requests one in every fails besides
		row           uint64
		want          bool
	}{
		"alone":                              {0, 1, 10, true},
		"one in two, a minute long":          {6000, 2, 12, false},
		"one in two, and far too long":       {6000, 2, 40, true},
		"one in three, a minute long":        {6000, 3, 12, false},
		"one in three, a second of it":       {6000, 3, 100, true},
		"few others":                         {60, 6, 10, true},
		"less than ten":                      {0, 1, 9, false},
		"others, long before":                {0, 1, 12, true},
		"nine in ten, where a second is one": {6000, 0, 60, false},
	} {
		l, failed := fresh(0), []Request(nil)
		fail := func(n uint64) {
			r := Request{Number: n, Arrival: engine.Time(n) * engine.Second, Outcome: Timeout, Blame: Blame{Cause: NodeGone, Elsewhere: true}}
			l.Fail(r)
			failed = append(failed, r)
		}
		if name == "others, long before" {
			for n := range uint64(3000) {
				fail(2 * n)
			}
		}
		for n := range c.others {
			if c.every > 0 && n%c.every == 0 || c.every == 0 && n%10 != 0 {
				fail(10_000 + n)
			}
		}
		for n := range c.row {
			fail(10_001 + c.others + n)
		}
		want := engine.Time(0)
		if c.want {
			want = engine.Time(c.row-1) * engine.Second
		}
		got, again := l.LongestOutage(0), LongestOutage(failed, func(*Request) bool { return true })
		if got != want || again != want {
			t.Errorf("%s: %s s and %s s, want %s s", name, got.Seconds(), again.Seconds(), want.Seconds())
		}
	}
}

// Requests that no server took for a second are a wait together with those that failed; they are no outage. One that is taken back and
// fails after all is in the wait once.
func TestAWaitIsLongerThanAnOutage(t *testing.T) {
	t.Parallel()
	l := fresh(0)
	at := func(n uint64) engine.Time { return engine.Time(n) * engine.Second }
	fail := func(n uint64) { l.Fail(Request{Number: n, Arrival: at(n), Outcome: Timeout}) }
	for n := uint64(20); n > 10; n-- { // whoever waits longest is answered last
		l.Waited(0, n, at(n))
	}
	fail(21)
	fail(15) // its answer was taken back
	for n := uint64(22); n < 30; n++ {
		l.Waited(0, n, at(n))
	}
	l.Waited(1, 99, at(99))
	if got, want := l.LongestWait(0), 18*engine.Second; got != want {
		t.Errorf("a wait of %s s, want %s", got.Seconds(), want.Seconds())
	}
	if got := l.LongestOutage(0); got != 0 {
		t.Errorf("an outage of %s s", got.Seconds())
	}
	if got := l.LongestWait(1); got != 0 {
		t.Errorf("one request is a wait of %s s", got.Seconds())
	}
}
