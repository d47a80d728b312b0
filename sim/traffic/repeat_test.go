package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A request each 100 ms over one connection; the round trip takes 10 ms, an answer 40 ms. The server
// closes what it has at a moment, or ends. One client repeats, one does not.
func TestAClientRepeatsWhatAReusedConnectionLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   engine.Time
		end  bool // the process ends, else it closes idle connections
		lost uint64
	}{
		{"written while the server closes the idle connection", sec - 4*ms, false, 1},
		{"under way over a reused connection when the process ends", sec + 20*ms, true, 1},
		{"nothing was under way", sec + 70*ms, true, 0},
	} {
		for _, repeats := range []bool{true, false} {
			s := up()
			s.takes = 40 * ms
			w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
			tr, led := pool(t, Spec{Clients: 1, Timeout: 5 * sec, RTT: 10 * ms, RepeatReused: repeats}, w)
			tr.RunUntil(c.at)
			if c.end {
				tr.Cut(1, c.at, ledger.FaultKilled)
			}
			tr.CloseIdle(1, c.at, c.end)
			tr.RunUntil(1950 * ms)
			want := ledger.Totals{Total: 19, OK: 19 - c.lost, Failed: c.lost, Attempts: 19, FailedAttempts: c.lost}
			if repeats {
				want = ledger.Totals{Total: 19, OK: 19, Rescued: c.lost, Attempts: 19 + c.lost, FailedAttempts: c.lost}
			}
			if led.All() != want {
				t.Errorf("%s, repeats %v: %+v, want %+v", c.name, repeats, led.All(), want)
			}
		}
	}
}

// The first request of a connection is not repeated: nothing but an idle connection is closed without
// a reason that concerns the request. A retry of the client's own is another matter.
func TestWhatANewConnectionLostIsNotRepeated(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]ledger.Totals{ // order: each for itself
		0: {Total: 1, Failed: 1, Attempts: 1, FailedAttempts: 1},
		1: {Total: 1, OK: 1, Rescued: 1, Attempts: 2, FailedAttempts: 1},
	} {
		s := up()
		s.takes = 40 * ms
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: 5 * sec, RTT: 10 * ms, RepeatReused: true, Retries: retries}, w)
		tr.RunUntil(120 * ms)
		tr.Cut(1, 120*ms, ledger.FaultKilled)
		tr.CloseIdle(1, 120*ms, true)
		tr.RunUntil(190 * ms)
		if led.All() != want {
			t.Errorf("%d retries: %+v, want %+v", retries, led.All(), want)
		}
	}
}

// A repeated request goes over the next connection of the pool that the client believes in, and over
// a new one in the end: three are closed, each just before it is written over it. None of that costs
// it its one retry.
func TestARequestIsRepeatedUntilAConnectionIsNew(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 250 * ms
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := pool(t, Spec{Clients: 3, Timeout: 5 * sec, RTT: 40 * ms, RepeatReused: true, Retries: 1}, w)
	tr.RunUntil(350 * ms) // three connections have been opened
	s.takesNow(ms)
	// The request of 0.7 s fails at 0.74, 0.78 and 0.82 s.
	for _, at := range []engine.Time{690 * ms, 735 * ms, 775 * ms} {
		tr.RunUntil(at)
		var idle *conn
		for _, c := range tr.streams[0].pool {
			if c.connected() && c.closed == engine.Never && (idle == nil || c.used > idle.used) {
				idle = c
			}
		}
		tr.shut(idle, at, false)
	}
	tr.RunUntil(830 * ms)
	if all := led.All(); all.Failed != 0 || all.Rescued != 1 || all.FailedAttempts != 3 || all.Attempts != all.Total+3 {
		t.Errorf("%+v", all)
	}
}

// Repeating never outlasts the request's own timeout: the answer to a request would have come at
// 1.94 s, the process ends at 1.9 s, and 0.92 s of its second are over when the client knows.
func TestARepetitionHasWhatIsLeftOfTheTimeout(t *testing.T) {
	t.Parallel()
	s := up()
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: 10 * ms, RepeatReused: true}, w)
	tr.RunUntil(950 * ms)
	s.takesNow(900 * ms)
	tr.Stop(1050 * ms)
	tr.RunUntil(1800 * ms)
	tr.Cut(1, 1800*ms, ledger.FaultKilled)
	tr.CloseIdle(1, 1800*ms, true)
	tr.RunUntil(engine.Never)
	if r := last(t, led); r.Outcome != ledger.Timeout || r.End != 2*sec || r.Attempts != 2 || led.All().Failed != 1 {
		t.Errorf("%+v %+v", r, led.All())
	}
}

// A load balancer that cuts a reused connection, or has forgotten it, is not told from a server.
func TestACutByALoadBalancerIsRepeated(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{ // order: each for itself
		"cut":       {},
		"forgotten": {IdleLimit: 50 * ms, IdleForgets: true},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
		spec.Clients, spec.Timeout, spec.RTT, spec.RepeatReused = 1, 5*sec, 10*ms, true
		tr, led := pool(t, spec, w)
		tr.RunUntil(sec - 4*ms)
		if spec.IdleLimit == 0 {
			tr.CutVia(Leg{0, NoProxy}, sec-4*ms, func(uint64, int) bool { return true })
		}
		tr.RunUntil(1050 * ms)
		if all := led.All(); all.Failed != 0 || all.OK != 10 || all.Rescued == 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// Slow is what is answered a second later than it would have been, however long an answer takes.
func TestSlowIsLaterThanItWouldHaveBeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		takes engine.Time
		cut   engine.Time // the request is written at 1 s
		slow  uint64
	}{
		{"an answer that takes 3 s is not slow", 3 * sec, 0, 0},
		{"cut after 0.9 s and asked again: it comes 0.9 s later", 3 * sec, 1900 * ms, 0},
		{"cut after 1.1 s and asked again: it comes 1.1 s later", 3 * sec, 2100 * ms, 1},
	} {
		s := up()
		s.takes = c.takes
		tr, led := one(t, Spec{Timeout: 9 * sec, RTT: ms, Retries: 1}, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}})
		if c.cut > 0 {
			tr.RunUntil(c.cut)
			tr.Cut(1, c.cut, ledger.FaultKilled)
		}
		tr.RunUntil(engine.Never)
		if all := led.All(); all.OK != 1 || all.Slow != c.slow {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// A pool of one, whose connection hangs: the SYN of 0.1 s is lost, the one of 1.1 s gets through, and
// what waits for the connection follows at once, not when the client would have given it up.
func TestWhoWaitsForAConnectionThatHangsFollowsWhenItStands(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{up()}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: 10 * sec, RTT: ms}, w)
	tr.Stop(550 * ms)
	tr.RunUntil(sec)
	w.verdict = packet.Endpoints
	tr.RunUntil(1120 * ms)
	if all := led.All(); all.Total != 5 || all.OK != 5 || !tr.Idle() {
		t.Errorf("%+v, idle %v", all, tr.Idle())
	}
}
