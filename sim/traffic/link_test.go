package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// calls is one client that calls each 100 ms, from 0.1 s on, over a connection of its own.
func calls(t *testing.T, spec Spec, w World) (*Traffic, *ledger.Ledger) {
	t.Helper()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 1000, eng.Hash())
	spec.Interval, spec.Arrivals = 100*ms, Constant
	if spec.Kind == PerRequest {
		spec.Kind = HTTP2
	}
	return newKept(t, w, led, eng, []Spec{spec}), led
}

// two is a world with a server that goes and one that stays; the rules lead to the first.
func two() (w *fakeWorld, old, next *fakeServer) {
	old, next = up(), up()
	next.id = 2
	old.takes = 50 * ms
	return &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{old}}, old, next
}

// A call is written at 1 s and would be answered at 1.05 s; the server shuts down at 1.02 s.
func TestGoAwayAgainstAnEndWithoutIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		goAway bool
		failed uint64
	}{
		{"GOAWAY: what is in flight is answered, the next call goes to the other server", true, 0},
		{"the process just ends: the call in flight is reset, the next goes to the other server", false, 1},
	} {
		w, old, next := two()
		tr, led := calls(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
		at := 1020 * ms
		tr.RunUntil(at)
		w.servers, old.accepts = []*fakeServer{next}, false
		if c.goAway {
			tr.GoAway(1, at)
			at = 1090 * ms // what was in flight is done
			tr.RunUntil(at)
		}
		tr.Cut(1, at, ledger.FaultExited)
		tr.CloseIdle(1, at, true)
		tr.Stop(2050 * ms)
		tr.RunUntil(2050 * ms)
		if all := led.All(); all.Total != 20 || all.Failed != c.failed || all.OK != 20-c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
		if c.failed == 1 && (last(t, led).Outcome != ledger.Reset || last(t, led).Arrival != sec) {
			t.Errorf("%s: %+v", c.name, last(t, led))
		}
		if want := 1 - btoi(c.goAway); tr.Cuts(0) != uint64(want) {
			t.Errorf("%s: %d connections cut, want %d", c.name, tr.Cuts(0), want)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A round trip of 10 ms. The client hears of the end 5 ms after it: what it writes before comes
// to nothing, what it writes before a GOAWAY arrives is answered.
func TestCallsWrittenBeforeTheClientKnows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		goAway bool
		at     engine.Time // the call is written at 1 s
		fault  ledger.Fault
		failed uint64
	}{
		{"ended 4 ms before", false, sec - 4*ms, ledger.FaultIdleRace, 1},
		{"ended 6 ms before: a new connection", false, sec - 6*ms, 0, 0},
		{"GOAWAY 4 ms before: it is answered", true, sec - 4*ms, 0, 0},
	} {
		w, old, next := two()
		tr, led := calls(t, Spec{Clients: 1, Timeout: sec, RTT: 10 * ms}, w)
		tr.RunUntil(c.at)
		w.servers = []*fakeServer{next}
		if c.goAway {
			tr.GoAway(1, c.at)
		} else {
			old.accepts = false
			tr.Cut(1, c.at, ledger.FaultKilled)
			tr.CloseIdle(1, c.at, true)
		}
		tr.RunUntil(1550 * ms)
		if all := led.All(); all.Failed != c.failed || c.failed > 0 && w.judged[0] != c.fault {
			t.Errorf("%s: %+v, %v", c.name, all, w.judged)
		}
	}
}

// The rules reject from the beginning. The first dial, at 0.1 s, fails after a round trip of
// 1 ms; the next ones follow 1 s after its beginning, then 1.6 s, 2.56 s, 4.096 s later, each but
// the first give or take a fifth. The rules recover at 5.3 s, which the 4th dial, after
// 5.26 s give or take 0.83 s, or else the 5th finds out.
func TestBackOffGrows(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Reject, servers: []*fakeServer{up()}}
	tr, led := calls(t, Spec{Clients: 1, Timeout: 30 * sec, RTT: ms}, w)
	var dials []engine.Time
	failures := 0
	for at := engine.Time(0); at < 13*sec; at += ms {
		tr.RunUntil(at)
		if l := tr.streams[0].links[0]; l.failures != failures {
			failures = l.failures
			dials = append(dials, l.dial.began)
		}
	}
	if len(dials) != 5 || dials[0] != 100*ms || dials[1] != 1100*ms {
		t.Fatalf("dials at %v", dials)
	}
	mean := 1600 * ms
	for i := 2; i < len(dials); i++ {
		if gap := dials[i] - dials[i-1]; gap < mean*8/10 || gap > mean*12/10 {
			t.Errorf("dial %d comes %s s after the one before, want %s give or take a fifth", i+1, gap.Seconds(), mean.Seconds())
		}
		mean = mean * 16 / 10
	}
	// All calls fail at once, as refused: none waits for its 30 s.
	for _, f := range led.Failures() {
		if f.Outcome != ledger.Refused || f.End > f.Arrival+ms {
			t.Fatalf("%+v", f)
		}
	}
	w.verdict = packet.Endpoints
	tr.RunUntil(30 * sec)
	l := tr.streams[0].links[0]
	if l.state != linkUp || l.failures != 0 {
		t.Errorf("not connected, %d failures", l.failures)
	}
}

func TestBackOffIsBounded(t *testing.T) {
	t.Parallel()
	for _, draw := range []uint64{0, 1 << 63, ^uint64(0)} {
		if got := backoff(0, draw); got != sec {
			t.Errorf("the first is %s s", got.Seconds())
		}
		if got := backoff(30, draw); got < 96*sec || got > 144*sec {
			t.Errorf("the 31st is %s s, want 120 give or take a fifth", got.Seconds())
		}
	}
}

// Calls come at 0.1, 0.2, ... s; the rules reject until 0.5 s. Whoever waits for a connection gets
// it with the dial at 1.1 s.
func TestWhoWaitsForAConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		spec Spec
		// of the 10 calls from 0.1 to 1.0 s
		failed uint64
		end    engine.Time // of the last failure
	}{
		{"gRPC's default: who finds no connection fails at once", Spec{Timeout: 2 * sec}, 10, sec},
		{"wait for ready, long enough", Spec{Timeout: 2 * sec, WaitForReady: true}, 0, 0},
		{"wait for ready, for 0.55 s: calls until 0.5 s are too early", Spec{Timeout: 550 * ms, WaitForReady: true}, 5, 1050 * ms},
		{"operations of a session wait", Spec{Timeout: 2 * sec, Kind: Session}, 0, 0},
	} {
		w := &fakeWorld{verdict: packet.Reject, servers: []*fakeServer{up()}}
		c.spec.Clients, c.spec.RTT = 1, ms
		tr, led := calls(t, c.spec, w)
		tr.RunUntil(500 * ms)
		w.verdict = packet.Endpoints
		tr.RunUntil(1050*ms + 1)
		tr.Stop(2050 * ms)
		tr.RunUntil(2050 * ms)
		if all := led.All(); all.Total != 20 || all.Failed != c.failed || all.OK != 20-c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
		if c.failed > 0 && last(t, led).End != c.end {
			t.Errorf("%s: the last fails at %s s", c.name, last(t, led).End.Seconds())
		}
	}
}

// A dial that hangs outlives the calls that wait for it: each gives up after its own second,
// and the SYN is repeated at 1.1, 3.1 s; the one of 3.1 s connects.
func TestADialThatHangsOutlivesItsCalls(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{up()}}
	tr, led := calls(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
	tr.RunUntil(2 * sec)
	w.verdict = packet.Endpoints
	tr.RunUntil(5 * sec)
	// Calls from 0.1 s to 2.0 s have given up by 3.0 s; the answer to that of 2.1 s comes too late.
	if all := led.All(); all.Failed != 21 {
		t.Errorf("%+v", all)
	}
	for _, f := range led.Failures() {
		if f.Outcome != ledger.Timeout || f.End != f.Arrival+sec {
			t.Errorf("%+v", f)
		}
	}
}

// The dial of 0.1 s goes to a pod that is gone and hangs for 10 s; the one after it gets through. The request of 0.1 s has given up by
// then, those of 0.2 and 0.3 s are served too late: they tell of the pod that did not answer.
func TestARequestTellsOfTheDialThatItWaitedFor(t *testing.T) {
	t.Parallel()
	w, old, next := two()
	old.accepts, old.answers, next.takes = false, false, 200*ms
	tr, led := calls(t, Spec{Kind: Session, Clients: 1, Timeout: 10 * sec, ConnectTimeout: 10 * sec, RTT: ms}, w)
	tr.RunUntil(5 * sec)
	w.servers = []*fakeServer{next}
	tr.Stop(15 * sec)
	tr.RunUntil(engine.Never)
	list := led.Failures()
	if len(list) != 3 {
		t.Errorf("%+v", list)
	}
	for _, f := range list {
		if f.Pod != "pod" || f.Outcome != ledger.Timeout || f.End != f.Arrival+10*sec {
			t.Errorf("%+v", f)
		}
	}
}

// Clients that nobody can serve come to an end when the arrivals do.
func TestDialsEndWithTheArrivals(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{{Timeout: sec}, {Kind: Session, Timeout: sec}, {Kind: Session}, {WaitForReady: true, Retries: 2}} {
		for _, verdict := range []packet.Verdict{packet.Reject, packet.Drop} {
			spec.RTT = ms
			tr, led := calls(t, spec, &fakeWorld{verdict: verdict})
			tr.Stop(5 * sec)
			tr.RunUntil(engine.Never)
			if all := led.All(); all.Failed != all.Total || all.Total != 49 || !tr.Idle() {
				t.Errorf("%+v, idle %v", all, tr.Idle())
			}
		}
	}
}

func TestASessionStaysUntilItsServerEnds(t *testing.T) {
	t.Parallel()
	w, old, next := two()
	tr, led := calls(t, Spec{Kind: Session, Clients: 2, Timeout: sec, RTT: ms}, w)
	tr.RunUntil(sec)
	w.servers, old.accepts = []*fakeServer{next}, false
	tr.GoAway(1, sec) // says nothing to it
	tr.CloseIdle(1, sec, false)
	tr.RunUntil(2020 * ms) // the operation of 2 s is under way
	tr.Cut(1, 2020*ms, ledger.FaultKilled)
	tr.CloseIdle(1, 2020*ms, true)
	tr.Stop(3050 * ms)
	tr.RunUntil(3050 * ms)
	if all := led.All(); all.Total != 30 || all.Failed != 1 || tr.Cuts(0) != 2 {
		t.Errorf("%+v, %d sessions cut", all, tr.Cuts(0))
	}
}
