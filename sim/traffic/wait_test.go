package traffic

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// answers are when requests were answered.
type answers []engine.Time

func (*answers) Begin(int, uint64, engine.Time)                           {}
func (*answers) Counted(int, uint64, uint64)                              {}
func (*answers) AttemptFailed(int)                                        {}
func (*answers) Revoke(int, uint64, bool, bool)                           {}
func (*answers) Fail(*ledger.Request)                                     {}
func (a *answers) Succeed(_ int, _, _ uint64, end engine.Time, _, _ bool) { *a = append(*a, end) }

// One connection, answers of 1 s, 10 requests a second: the n-th request from the first is
// answered at 1.1 s + n, since all others wait for their turn, whoever came first goes first,
// and nobody is forgotten.
func TestWhoWaitsIsServedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = sec
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 10, eng.Hash())
	var ends answers
	led.Listen(&ends)
	tr := newKept(t, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}, led, eng,
		[]Spec{{Interval: 100 * ms, Arrivals: Constant, KeepAlive: true, Clients: 1}})
	tr.DrawAll()
	tr.Stop(10 * sec)
	tr.RunUntil(20 * sec)
	if tr.Idle() {
		t.Error("idle while requests wait for their turn")
	}
	tr.RunUntil(engine.Never)
	if len(ends) != 99 || !tr.Idle() {
		t.Fatalf("%d answered, idle %v", len(ends), tr.Idle())
	}
	for n, end := range ends {
		if want := 1100*ms + engine.Time(n)*sec; end != want {
			t.Fatalf("answer %d at %s s, want %s", n, end.Seconds(), want.Seconds())
		}
	}
}

// Every connection of the pool hangs: a request hangs with it, or waits for one that hangs, and
// gives up at its own timeout, in the order of arrival. Two streams at the same moments do not
// get into each other's way.
func TestWhoWaitsGivesUpAtItsOwnTimeout(t *testing.T) {
	t.Parallel()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(2, 1000, eng.Hash())
	spec := Spec{Interval: 20 * ms, Arrivals: Constant, KeepAlive: true, Clients: 3, Timeout: sec, RTT: ms}
	tr := newKept(t, &fakeWorld{verdict: packet.Drop}, led, eng, []Spec{spec, spec})
	tr.Stop(5 * sec)
	tr.RunUntil(4500 * ms)
	if tr.Idle() {
		t.Error("idle while requests wait")
	}
	tr.RunUntil(engine.Never)
	failures := led.Failures()
	if len(failures) != 2*249 || !tr.Idle() {
		t.Fatalf("%d failed, idle %v", len(failures), tr.Idle())
	}
	var next [2]uint64
	for _, f := range failures {
		if f.End != f.Arrival+sec || f.Number != next[f.Stream] {
			t.Fatalf("stream %d: request %d of %s s failed at %s s, want request %d after 1 s",
				f.Stream, f.Number, f.Arrival.Seconds(), f.End.Seconds(), next[f.Stream])
		}
		next[f.Stream]++
	}
}

// A place that becomes free goes to who has waited longest, not to who comes next: a request that is
// repeated began before those that came meanwhile.
func TestWhoBeganFirstGetsTheNextConnection(t *testing.T) {
	t.Parallel()
	tr := &Traffic{}
	s := &stream{spec: Spec{Timeout: 10 * sec}}
	for i, began := range []engine.Time{1, 2, 3, 2, 0, 4} {
		tr.await(&attempt{began: began * sec, req: request{stream: s, number: uint64(i)}}, nil)
	}
	var got []uint64
	for _, a := range s.waiting {
		got = append(got, a.req.number)
	}
	if want := []uint64{4, 0, 1, 3, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Hundreds wait while all connections hang, one comes and one goes on: that needs no more memory than for those who wait.
func TestThoseWhoHaveGoneOnMakeRoomForThoseWhoWait(t *testing.T) {
	t.Parallel()
	const waiting = 100
	var s stream
	first, next := 0, 0
	for range 50 * waiting {
		s.makeRoomToWait()
		s.waiting = append(s.waiting, &attempt{tries: int32(next)})
		if next++; len(s.waiting) > waiting {
			s.waiting = s.waiting[1:]
			first++
		}
		for i, a := range s.waiting {
			if int(a.tries) != first+i {
				t.Fatalf("request %d is at place %d of those from %d on", a.tries, i, first)
			}
		}
	}
	if cap(s.queue) > 4*waiting {
		t.Errorf("%d places for %d who wait", cap(s.queue), waiting)
	}
}
