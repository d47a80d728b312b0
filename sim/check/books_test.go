package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

const sec = engine.Second

func TestBooksNotice(t *testing.T) {
	t.Parallel()
	blame := ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait}
	lose := func(l ledger.Listener, number uint64, arrival, end engine.Time, attempts int) {
		l.Fail(&ledger.Request{Number: number, Arrival: arrival, End: end, Outcome: ledger.Refused, Blame: blame, Attempts: attempts})
	}
	for _, c := range []struct {
		name string
		feed func(*Books)
		want string // "" is nothing wrong
	}{
		{"nothing in requests that begin in order and end once", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Begin(0, 1, sec)
			b.Succeed(0, 1, 0, sec, false, false)
			b.AttemptFailed(0)
			lose(b, 0, sec, 2*sec, 1)
		}, ""},
		{"nothing in an answer that is revoked, and comes after all", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Succeed(0, 0, 0, 2*sec, false, false)
			b.Revoke(0, 0, false, false)
			b.AttemptFailed(0)
			b.Succeed(0, 0, 0, 3*sec, true, true)
		}, ""},
		{"a request that begins out of order", func(b *Books) { b.Begin(0, 1, sec) }, "request 1: began after request 0"},
		{"an arrival before the one before", func(b *Books) {
			b.Begin(0, 0, 2*sec)
			b.Begin(0, 1, sec)
		}, "arrived at 1 s, before the one before it"},
		{"an outcome without a beginning", func(b *Books) { b.Succeed(0, 0, 0, sec, false, false) }, "ended and had not begun"},
		{"two answers", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Succeed(0, 0, 0, sec, false, false)
			b.Succeed(0, 0, 0, sec, false, false)
		}, "answered, and it had been answered already"},
		{"a loss after an answer that nobody revoked", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Succeed(0, 0, 0, sec, false, false)
			b.AttemptFailed(0)
			lose(b, 0, sec, sec, 1)
		}, "lost, and it had been answered already"},
		{"two losses, of which the second is not counted", func(b *Books) {
			b.Begin(0, 0, sec)
			b.AttemptFailed(0)
			lose(b, 0, sec, sec, 1)
			lose(b, 0, sec, sec, 1)
			if failed := b.streams[0].sums.Failed; failed != 1 {
				b.wrong(0, 0, "%d losses are counted", failed)
			}
		}, "lost, and it had been lost already"},
		{"a loss that is revoked", func(b *Books) {
			b.Begin(0, 0, sec)
			b.AttemptFailed(0)
			lose(b, 0, sec, sec, 1)
			b.Revoke(0, 0, false, false)
		}, "its answer was revoked, and it had none"},
		{"an answer that is revoked before its request begins", func(b *Books) { b.Revoke(0, 0, false, false) }, "its answer was revoked, and it had none"},
		{"a request that never ends", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Begin(0, 1, sec)
			b.Succeed(0, 1, 0, sec, false, false)
		}, "request 0: never ended"},
		{"nothing in requests that are counted, over several words", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Counted(0, 1, 9)
			b.Counted(0, 10, 0)
			b.Counted(0, 10, 90)
			b.Begin(0, 100, 2*sec)
			b.Succeed(0, 100, 0, 2*sec, false, false)
			b.Succeed(0, 0, 0, 3*sec, false, false)
		}, ""},
		{"requests that are counted out of order", func(b *Books) { b.Counted(0, 1, 3) }, "request 1: was counted after request 0"},
		{"a request that never ends after many that did", func(b *Books) {
			b.Counted(0, 0, 40)
			b.Begin(0, 40, sec)
		}, "request 40: never ended"},
		{"an answer of one that was counted", func(b *Books) {
			b.Counted(0, 0, 40)
			b.Succeed(0, 33, 0, sec, false, false)
		}, "answered, and it had been answered already"},
		{"an answer before its request", func(b *Books) {
			b.Begin(0, 0, 2*sec)
			b.Succeed(0, 0, 0, sec, false, false)
		}, "over at 1 s, before it arrived, at 2 s"},
		{"the same when others have arrived since", func(b *Books) {
			b.Begin(0, 0, 2*sec)
			b.Begin(0, 1, 3*sec)
			b.Succeed(0, 0, 0, sec, false, false)
		}, "request 0: over at 1 s, before it arrived, at 2 s"},
		{"a client that waits longer than its timeouts", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Succeed(0, 0, 0, 12*sec, false, false)
		}, "more than 10 s after it arrived"},
		{"an attempt too many", func(b *Books) {
			b.Begin(0, 0, sec)
			b.AttemptFailed(0)
			lose(b, 0, sec, sec, 3)
		}, "after 3 attempts, 2 are allowed"},
		{"a loss without a cause", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Fail(&ledger.Request{Arrival: sec, End: sec, Outcome: ledger.Reset, Attempts: 1})
		}, "cause"},
		{"more attempts than all requests may make", func(b *Books) {
			b.Begin(0, 0, sec)
			b.AttemptFailed(0)
			b.AttemptFailed(0)
			b.Succeed(0, 0, 0, sec, true, false)
		}, "3 attempts, 2 failed, for 1 requests of at most 2"},
		{"a rescue without a failed attempt", func(b *Books) {
			b.Begin(0, 0, sec)
			b.Succeed(0, 0, 0, sec, true, false)
		}, "1 rescued"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := NewBooks([]Promise{{Name: "web", Attempts: 2, Within: 10 * sec}})
			c.feed(b)
			b.closeStream(0, agreeing(b))
			complain(t, b.Err(), c.want)
		})
	}
}

// agreeing is a ledger that says what the books say, for faults that are not in the ledger.
func agreeing(b *Books) *ledger.Ledger {
	led := ledger.New(1, 10, engine.New(1, engine.Limits{}).Hash())
	a := &b.streams[0]
	var blame *ledger.Blame
	if a.sums.Rescued > 0 {
		blame = &ledger.Blame{Cause: ledger.StaleRules}
	}
	for range a.begun {
		led.Begin(0, 0, 0)
	}
	for range a.sums.OK {
		led.Attempt(0, false)
		led.Succeed(0, 0, 0, 0, 0, blame, a.sums.Slow > 0)
	}
	for range a.sums.FailedAttempts {
		led.Attempt(0, true)
	}
	for range a.sums.Failed {
		led.Fail(ledger.Request{Outcome: ledger.Refused})
	}
	return led
}

func complain(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("complains: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	}
}

// The ledger's figures are compared with the books' at the end.
func TestBooksCompareWithTheLedger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		twist func(*ledger.Ledger) // what the ledger is told behind the books' back
		want  string
	}{
		{"equal", func(*ledger.Ledger) {}, ""},
		{"one request more", func(l *ledger.Ledger) { l.Begin(0, 2, sec) }, "the ledger says"},
		{"one attempt more", func(l *ledger.Ledger) { l.Attempt(0, false) }, "the ledger says"},
		{"one answer less", func(l *ledger.Ledger) { l.Revoke(0, 0, nil, false) }, "the ledger says"},
		{"another outcome", func(l *ledger.Ledger) {
			l.Revoke(0, 0, nil, false)
			l.Attempt(0, true)
			l.Fail(ledger.Request{Outcome: ledger.Reset})
		}, "the ledger says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := NewBooks([]Promise{{Name: "web", Attempts: 1}})
			led := ledger.New(1, 10, engine.New(1, engine.Limits{}).Hash())
			led.Listen(b)
			led.Begin(0, 0, sec)
			led.Attempt(0, false)
			led.Succeed(0, 0, 0, 1, sec, nil, false)
			led.Begin(0, 1, sec)
			led.Attempt(0, true)
			led.Fail(ledger.Request{Number: 1, Arrival: sec, End: sec, Outcome: ledger.Refused, Blame: ledger.Blame{Cause: ledger.NoEndpoint}, Attempts: 1})
			led.Listen(nil)
			c.twist(led)
			complain(t, b.Close(led), c.want)
		})
	}
}

// Who was rescued is told by what they escaped, and all of these together are the rescued ones.
func TestBooksCompareRescues(t *testing.T) {
	t.Parallel()
	b := NewBooks([]Promise{{Name: "web", Attempts: 2}})
	led := ledger.New(1, 10, engine.New(1, engine.Limits{}).Hash())
	led.Listen(b)
	for n, blame := range []ledger.Blame{{Cause: ledger.StaleRules, Actor: ledger.ProxyWait}, {Cause: ledger.NoEndpoint}} {
		led.Begin(0, uint64(n), sec)
		led.Attempt(0, true)
		led.Attempt(0, false)
		led.Succeed(0, uint64(n), 0, 1, sec, &blame, false)
	}
	complain(t, b.Close(led), "")
}

// The states of many requests keep apart, at the borders of words, too.
func TestBooksCountStates(t *testing.T) {
	t.Parallel()
	b := NewBooks([]Promise{{Name: "web", Attempts: 1}})
	want := [2]uint64{}
	for n := range uint64(1000) {
		b.Begin(0, n, sec)
		if n%7 == 0 || n%32 == 31 {
			b.AttemptFailed(0)
			b.Fail(&ledger.Request{Number: n, Arrival: sec, End: sec, Outcome: ledger.Reset, Blame: ledger.Blame{Cause: ledger.Crashed}, Attempts: 1})
			want[1]++
			continue
		}
		b.Succeed(0, n, 0, sec, false, false)
		want[0]++
	}
	a := &b.streams[0]
	if a.count(answered) != want[0] || a.count(lost) != want[1] || b.Err() != nil {
		t.Errorf("%d answered, %d lost, want %v; %v", a.count(answered), a.count(lost), want, b.Err())
	}
}

func TestFlows(t *testing.T) {
	t.Parallel()
	at := func(n byte) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 128, 0, n}), 80) }
	ready := Endpoint{Addr: at(1), Ready: true, Serving: true}
	far := Endpoint{Addr: at(2), Ready: true, Serving: true}
	draining := Endpoint{Addr: at(3), Local: true, Serving: true, Terminating: true}
	failing := Endpoint{Addr: at(4), Local: true, Terminating: true}
	unready := Endpoint{Addr: at(5), Local: true}
	ready.Local = true
	all := []Endpoint{ready, far, draining, failing, unready}
	for _, c := range []struct {
		name            string
		list            []Endpoint
		local, fallback bool
		target          netip.AddrPort
		wrong           bool
	}{
		{"to a ready endpoint", all, false, true, at(1), false},
		{"to a ready endpoint of another node", all, false, true, at(2), false},
		{"policy Local: to another node", all, true, true, at(2), true},
		{"to one that terminates although others are ready", all, false, true, at(3), true},
		{"to one that terminates, the last that serves", []Endpoint{draining, failing, unready}, false, true, at(3), false},
		{"the same without KEP-1669", []Endpoint{draining, failing, unready}, false, false, at(3), true},
		{"the same, policy Local and ready ones elsewhere", []Endpoint{draining, far}, true, true, at(3), false},
		{"to one that terminates and fails its readiness", []Endpoint{draining, failing}, false, true, at(4), true},
		{"to one that is not ready", []Endpoint{unready}, false, true, at(5), true},
		{"to one that no slice names", all, false, true, at(9), true},
		{"nowhere, and nothing is allowed", []Endpoint{failing, unready}, false, true, netip.AddrPort{}, false},
		{"nowhere, and one is allowed", all, false, true, netip.AddrPort{}, true},
		{"nowhere, policy Local, and one is allowed elsewhere", []Endpoint{far}, true, true, netip.AddrPort{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := NewFlows([]bool{false}, 1, func(int, int) ([]Endpoint, bool, bool) { return c.list, c.local, c.fallback })
			f.Began(0, 0, 1, c.target)
			if got := f.Err() != nil; got != c.wrong {
				t.Errorf("complains: %v", f.Err())
			}
		})
	}
}

// What was allowed is forgotten when other slices are in force.
func TestFlowsFollowTheRules(t *testing.T) {
	t.Parallel()
	old := netip.MustParseAddrPort("10.128.0.1:80")
	list := []Endpoint{{Addr: old, Ready: true}}
	f := NewFlows([]bool{true}, 2, func(_, node int) ([]Endpoint, bool, bool) {
		if node == 1 {
			return list, false, true
		}
		return list[:1], false, true
	})
	f.Began(0, 0, 1, old)
	f.Began(0, 1, 1, old)
	list = []Endpoint{{Addr: netip.MustParseAddrPort("10.128.0.2:80"), Ready: true}}
	f.Began(0, 1, 1, old) // not in force there yet
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	f.Began(0, 0, 2, old)
	complain(t, f.Err(), "a new connection went to 10.128.0.1:80")
}

// Requests that wait are found by their number, also where others between them were over at once and when they end in any order.
func TestARequestThatWaitedIsFoundByItsNumber(t *testing.T) {
	t.Parallel()
	numbers := []uint64{3, 4, 9, 10, 30}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}} {
		a := &account{}
		for _, n := range numbers {
			a.begun, a.last = n+1, engine.Time(n)*engine.Second
			a.waits()
		}
		for _, i := range order {
			if at, known := a.ends(numbers[i]); !known || at != engine.Time(numbers[i])*engine.Second {
				t.Errorf("order %v: request %d arrived at %s, known %v", order, numbers[i], at.Seconds(), known)
			}
			if _, known := a.ends(numbers[i]); known {
				t.Errorf("order %v: request %d is over twice", order, numbers[i])
			}
		}
		if _, known := a.ends(5); known {
			t.Error("request 5 has not waited")
		}
	}
}
