package traffic

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

const (
	ms  = engine.Millisecond
	sec = engine.Second
)

// fakeServer accepts and answers as it is told.
type fakeServer struct {
	id               uint64
	accepts, answers bool
	takes            engine.Time
	plain            engine.Dist // what Plain returned
	full, errs       bool
	idle             engine.Time
	closes           bool
}

func (s *fakeServer) Accepts() bool          { return s.accepts }
func (s *fakeServer) Answers() bool          { return s.answers }
func (s *fakeServer) Name() string           { return map[bool]string{true: "next", false: "pod"}[s.id > 1] }
func (s *fakeServer) ID() uint64             { return s.id }
func (s *fakeServer) ClosesAnswered() bool   { return s.closes }
func (s *fakeServer) IdleLimit() engine.Time { return s.idle }
func (s *fakeServer) Plain() *engine.Dist {
	if s.full || s.errs {
		return nil
	}
	s.plain = engine.Constant(s.takes)
	return &s.plain
}

// takesNow has it take so long from now on.
func (s *fakeServer) takesNow(d engine.Time) { s.takes, s.plain = d, engine.Constant(d) }

func (s *fakeServer) Serve(_ uint64, now engine.Time) (engine.Time, Answer) {
	switch {
	case s.full:
		return 0, TurnedAway
	case s.errs:
		return now + s.takes, Erred
	default:
		return now + s.takes, Answered
	}
}

// fakeWorld has one node, whose rules say what verdict says.
type fakeWorld struct {
	verdict packet.Verdict
	servers []*fakeServer
	judged  []ledger.Fault
}

func (w *fakeWorld) FirstHop(Leg, uint64, int) Hop { return Hop{} }
func (w *fakeWorld) FirstHops(int) []Hop           { return nil } // it never says that it has changed
func (w *fakeWorld) Enter(int, int) *Way {
	way := &Way{Verdict: w.verdict}
	if w.verdict == packet.Endpoints {
		for i, s := range w.servers {
			way.Targets = append(way.Targets, &Target{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 80), Server: s})
		}
	}
	return way
}
func (w *fakeWorld) Resolve(int) ([]*Target, engine.Time) { return w.Enter(0, 0).Targets, 30 * sec }
func (w *fakeWorld) Began(int, int, int, *Target)         {}
func (w *fakeWorld) Judge(_ Leg, _, _ int, _ netip.AddrPort, f ledger.Fault) ledger.Blame {
	w.judged = append(w.judged, f)
	return ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}
}

func up() *fakeServer { return &fakeServer{id: 1, accepts: true, answers: true, takes: ms} }

// one is a stream of one request at 1 s.
func one(t *testing.T, spec Spec, w World) (*Traffic, *ledger.Ledger) {
	t.Helper()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 10, eng.Hash())
	spec.Interval, spec.Arrivals = sec, Constant
	tr := newKept(t, w, led, eng, []Spec{spec})
	tr.Stop(sec + 1)
	return tr, led
}

func last(t *testing.T, led *ledger.Ledger) ledger.Request {
	t.Helper()
	f := led.Failures()
	if len(f) == 0 {
		t.Fatalf("nothing failed: %+v", led.All())
	}
	return f[len(f)-1]
}

func TestFaultsBecomeOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		world   *fakeWorld
		outcome ledger.Outcome
		end     engine.Time
		fault   ledger.Fault
	}{
		{"rejected by the rules: refused after a round trip", &fakeWorld{verdict: packet.Reject}, ledger.Refused, sec + ms, ledger.FaultRejected},
		{"no listener: refused after a round trip", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, answers: true}}}, ledger.Refused, sec + ms, ledger.FaultNoListener},
		{"dropped by the rules: timeout", &fakeWorld{verdict: packet.Drop}, ledger.Timeout, 6 * sec, ledger.FaultDropped},
		{"no rule meets it: timeout", &fakeWorld{verdict: packet.None}, ledger.Timeout, 6 * sec, ledger.FaultDropped},
		{"nothing at the address: timeout", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1}}}, ledger.Timeout, 6 * sec, ledger.FaultNoAnswer},
		{"no room: 5xx", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, accepts: true, answers: true, full: true}}}, ledger.HTTP5xx, sec + ms, ledger.FaultTurnedAway},
		{"answered with an error: 5xx when the answer comes", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, accepts: true, answers: true, errs: true, takes: sec}}}, ledger.HTTP5xx, 2*sec + ms, ledger.FaultErred},
		{"an error that comes too late: timeout", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, accepts: true, answers: true, errs: true, takes: 9 * sec}}}, ledger.Timeout, 6 * sec, ledger.FaultLate},
		{"answered too late: timeout", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, accepts: true, answers: true, takes: 9 * sec}}}, ledger.Timeout, 6 * sec, ledger.FaultLate},
	} {
		tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, c.world)
		tr.RunUntil(engine.Never)
		got := last(t, led)
		if got.Outcome != c.outcome || got.End != c.end || c.world.judged[0] != c.fault {
			t.Errorf("%s: %s at %s, fault %d; want %s at %s, fault %d", c.name, got.Outcome, got.End.Seconds(), c.world.judged[0], c.outcome, c.end.Seconds(), c.fault)
		}
		if all := led.All(); all.Failed != 1 || all.Total != 1 || all.FailedAttempts != all.Attempts {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

func TestRetransmissionsFollowTheRulesOfTheirMoment(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{up()}}
	tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, w)
	tr.RunUntil(3 * sec) // SYNs at 1 and 2 s
	w.verdict = packet.Endpoints
	tr.RunUntil(engine.Never) // the next one at 4 s
	if all := led.All(); all.OK != 1 || all.Slow != 1 || all.Failed != 0 {
		t.Errorf("%+v", all)
	}
}

func TestRetransmissionsStayWithTheEndpointOnceChosen(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1}}}
	tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, w)
	tr.RunUntil(2 * sec)
	w.servers = []*fakeServer{up()}
	tr.RunUntil(engine.Never)
	if got := last(t, led); got.Outcome != ledger.Timeout || len(w.judged) != 1 {
		t.Errorf("%+v, judged %v", got, w.judged)
	}
}

func TestConnectTimeoutEndsBeforeTheRequestTimeout(t *testing.T) {
	t.Parallel()
	tr, led := one(t, Spec{Timeout: 5 * sec, ConnectTimeout: 2 * sec}, &fakeWorld{verdict: packet.Drop})
	tr.RunUntil(engine.Never)
	if got := last(t, led); got.End != 3*sec {
		t.Errorf("gave up at %s", got.End.Seconds())
	}
}

func TestARetryThatSucceedsIsRescued(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Reject, servers: []*fakeServer{up()}}
	tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms, Retries: 1, RetryDelay: 100 * ms}, w)
	tr.RunUntil(sec + 50*ms)
	w.verdict = packet.Endpoints
	tr.RunUntil(engine.Never)
	if all := led.All(); all.OK != 1 || all.Rescued != 1 || all.Slow != 0 || all.Attempts != 2 || all.FailedAttempts != 1 {
		t.Errorf("%+v", all)
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms, Retries: 2, RetryDelay: ms}, &fakeWorld{verdict: packet.Reject})
	tr.RunUntil(engine.Never)
	if got := last(t, led); got.Attempts != 3 || led.All().Failed != 1 {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsInFlightFailsWhenItIsCut(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 3 * sec
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := one(t, Spec{Timeout: 9 * sec, RTT: ms}, w)
	tr.RunUntil(2 * sec)
	if until := tr.Until(1, 2*sec); until != 4*sec+ms {
		t.Errorf("in flight until %s", until.Seconds())
	}
	tr.Cut(1, 2*sec, ledger.FaultKilled)
	got := last(t, led)
	if all := led.All(); got.Outcome != ledger.Reset || got.End != 2*sec+ms || all.OK != 0 || all.Failed != 1 || all.Attempts != 1 {
		t.Errorf("%+v %+v", got, all)
	}
	if tr.Until(1, 2*sec) != 2*sec {
		t.Error("still in flight")
	}
}

// An answer that has arrived is not cut with its server, not even at the moment at which it arrives; a moment earlier it is. The
// same holds behind a proxy.
func TestWhatWasAnsweredIsNotCut(t *testing.T) {
	t.Parallel()
	straight := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
	for name, c := range map[string]struct {
		proxy *Proxy
		world World
		end   engine.Time
	}{
		"straight":       {nil, straight, sec + 2*ms},
		"behind a proxy": {&Proxy{Served: true, RTT: ms, ConnectTimeout: sec}, newServedWorld(), sec + 3*ms},
	} {
		for cut, want := range map[engine.Time]uint64{2 * sec: 1, c.end: 1, c.end - 1: 0} {
			tr, led := one(t, Spec{Timeout: 9 * sec, RTT: ms, Proxy: c.proxy}, c.world)
			tr.RunUntil(cut)
			for server := range uint64(3) {
				tr.Cut(server, cut, ledger.FaultKilled)
			}
			if all := led.All(); all.OK != want || all.Failed != 1-want {
				t.Errorf("%s, answered at %s s and cut at %s s: %+v", name, c.end.Seconds(), cut.Seconds(), all)
			}
		}
	}
}

// An answer that would be an error is cut like any other: once, and not counted twice.
func TestAnErrorThatIsOnItsWayIsCut(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes, s.errs = 3*sec, true
	tr, led := one(t, Spec{Timeout: 9 * sec, RTT: ms}, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}})
	tr.RunUntil(2 * sec)
	tr.Cut(1, 2*sec, ledger.FaultKilled)
	tr.RunUntil(engine.Never)
	want := ledger.Totals{Total: 1, Failed: 1, Attempts: 1, FailedAttempts: 1}
	if got := last(t, led); got.Outcome != ledger.Reset || got.End != 2*sec+ms || led.All() != want {
		t.Errorf("%+v %+v", got, led.All())
	}
}

// Two clients that ask again when they are answered remain two, whatever is cut, and one that
// retries does not ask again meanwhile.
func TestClosedLoopClientsStayAsMany(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 1} {
		s := up()
		s.takes = sec
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 10, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{{Arrivals: ClosedLoop, Clients: 2, Timeout: 9 * sec, Retries: retries}})
		tr.RunUntil(500 * ms) // the two have asked
		tr.Cut(1, 500*ms, ledger.FaultKilled)
		tr.RunUntil(500*ms + 10*sec)
		// Both are cut at 0.5 s and ask again at once, again or as a retry; then each second.
		want := ledger.Totals{Total: 22, OK: 20, Failed: 2, Attempts: 22, FailedAttempts: 2}
		if retries == 1 {
			// Half a second later than they would have been: not slow.
			want = ledger.Totals{Total: 20, OK: 20, Rescued: 2, Attempts: 22, FailedAttempts: 2}
		}
		if led.All() != want {
			t.Errorf("%d retries: %+v, want %+v", retries, led.All(), want)
		}
	}
}

// pool is a keep-alive stream of one request each 100 ms.
func pool(t *testing.T, spec Spec, w World) (*Traffic, *ledger.Ledger) {
	t.Helper()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 10, eng.Hash())
	spec.Interval, spec.Arrivals, spec.KeepAlive = 100*ms, Constant, true
	return newKept(t, w, led, eng, []Spec{spec}), led
}

func TestAPoolKeepsItsConnectionWhateverTheRulesSay(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
	tr, led := pool(t, Spec{Clients: 2, Timeout: sec, RTT: ms}, w)
	tr.RunUntil(sec)
	w.verdict = packet.Reject
	tr.RunUntil(2 * sec)
	if all := led.All(); all.Failed != 0 || all.OK < 19 {
		t.Errorf("%+v", all)
	}
}

func TestAServerClosingIdleConnectionsRacesWithTheNextRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		closed engine.Time // requests come at 0.1, 0.2, ... s
		failed uint64
	}{
		{"closed just before the next request: it is written into the closing", sec - 200*engine.Microsecond, 1},
		{"closed half a round trip earlier: the client knows", sec - 600*engine.Microsecond, 0},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
		tr.RunUntil(c.closed)
		tr.CloseIdle(1, c.closed, false)
		tr.RunUntil(2 * sec)
		if all := led.All(); all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
		if c.failed == 1 && (last(t, led).Outcome != ledger.Reset || w.judged[0] != ledger.FaultIdleRace) {
			t.Errorf("%s: %+v", c.name, last(t, led))
		}
	}
}

// A proxy that writes into a connection that its server has closed for idleness a moment ago does not know yet: it hears of that half a round
// trip between the two later, however far away its client is.
func TestTheRaceOfAProxyIsAsWideAsItsOwnRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		clients, proxy engine.Time // round trips
		failed         uint64
	}{
		{"servers far from the proxy", ms, 8 * ms, 1},
		{"clients far from the proxy", 8 * ms, ms, 0},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: c.clients, Proxy: &Proxy{RTT: c.proxy}}, w)
		const closed = sec - 3*ms // 3 ms before the tenth request
		tr.RunUntil(closed)
		tr.CloseIdle(1, closed, false)
		tr.RunUntil(2 * sec)
		if all := led.All(); all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// A round trip of 1 ms. What is written half of it before the closing arrives after it, and
// what is written half of it after it does not know yet.
func TestTheRaceForAnIdleConnectionIsARoundTripWide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		closed engine.Time // the request is written at 1 s
		lost   uint64
	}{
		{"0.6 ms before the closing: served", sec + 600*engine.Microsecond, 0},
		{"0.4 ms before: it arrives too late", sec + 400*engine.Microsecond, 1},
		{"0.4 ms after: it does not know yet", sec - 400*engine.Microsecond, 1},
		{"0.6 ms after: a new connection", sec - 600*engine.Microsecond, 0},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
		tr.RunUntil(c.closed)
		tr.CloseIdle(1, c.closed, false)
		tr.RunUntil(1050 * ms)
		if all := led.All(); all.Failed != c.lost || all.OK != 10-c.lost {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// Requests come each 100 ms and take 1 ms and a round trip of 2 ms: the client is idle for
// 97 ms, the server for 1 ms more before it hears of the next request. It closes what was idle
// for its limit; the client knows a round trip after the last moment to write.
func TestAServerClosesWhatIsIdleTooLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		limit        engine.Time
		retries      int
		ok, rescued  uint64
		newEachTime  bool
		failedReused uint64
	}{
		{"a limit of more than a round trip over the pause: never closed", 99500 * engine.Microsecond, 0, 10, 0, false, 0},
		{"closed while the request is on its way: each second one fails", 98 * ms, 0, 5, 0, false, 5},
		{"rescued by one retry, which ends 2 ms later, so that the next pause is short enough", 98 * ms, 1, 10, 5, false, 0},
		{"closed, and the client knows: a new connection each time", 96 * ms, 0, 10, 0, true, 0},
	} {
		s := up()
		s.idle = c.limit
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: 2 * ms, Retries: c.retries}, w)
		tr.RunUntil(150 * ms)
		if c.newEachTime {
			w.verdict = packet.Reject
			tr.RunUntil(250 * ms)
			if led.All().Failed != 1 || w.judged[0] != ledger.FaultRejected {
				t.Errorf("%s: it rode the old connection", c.name)
			}
			continue
		}
		tr.RunUntil(1050 * ms)
		if all := led.All(); all.OK != c.ok || all.Rescued != c.rescued || all.Failed != c.failedReused {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

func TestABusyConnectionIsClosedAfterItsAnswer(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 60 * ms
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
	tr.RunUntil(130 * ms) // in the middle of the first answer
	tr.CloseIdle(1, 130*ms, false)
	w.verdict = packet.Reject
	tr.RunUntil(210 * ms) // the second request needs a new connection
	if all := led.All(); all.OK != 1 || all.Failed != 1 {
		t.Errorf("%+v", all)
	}
}

func TestAFullPoolWaits(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 250 * ms
	tr, led := pool(t, Spec{Clients: 1, Timeout: 5 * sec, RTT: 0}, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}})
	tr.Stop(550 * ms)
	tr.RunUntil(engine.Never)
	// 5 requests, one connection: the last waits for four answers.
	if all := led.All(); all.OK != 5 || all.Failed != 0 || all.Attempts != 5 {
		t.Errorf("%+v", all)
	}
}

func TestWhoWaitsForAConnectionThatHangsGivesUpInTime(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Drop}
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
	tr.Stop(250 * ms)
	tr.RunUntil(engine.Never)
	// The first request, at 0.1 s, hangs until 1.1 s. The second one, at 0.2 s, waits for its
	// connection, tries again itself and gives up at 1.2 s.
	if got := last(t, led); got.End != 1200*ms || got.Outcome != ledger.Timeout || led.All().Failed != 2 {
		t.Errorf("%+v %+v", got, led.All())
	}
}

func TestWhoWaitsForABusyConnectionWaitsForItsServer(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 800 * ms
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms}, w)
	tr.Stop(350 * ms)
	tr.RunUntil(engine.Never)
	// The first request, at 0.1 s, has the connection until 0.901 s. The second one takes it
	// then, and would be answered at 1.7 s: too late. So would the third, which waits for it.
	for _, f := range w.judged {
		if f != ledger.FaultLate {
			t.Errorf("judged as fault %d", f)
		}
	}
	if got := last(t, led); got.Outcome != ledger.Timeout || got.Blame.Cause == ledger.NoCause || led.All().Failed != 2 {
		t.Errorf("%+v %+v", got, led.All())
	}
}

// The connect timeout and the retransmissions count from the SYN, not from when the request
// began to wait for a place in the pool: nothing happens before the moment it follows.
func TestAConnectionBegunLateHasItsWholeConnectTimeout(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = 800 * ms
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: 5 * sec, ConnectTimeout: 500 * ms, RTT: ms}, w)
	tr.Stop(250 * ms)
	tr.RunUntil(300 * ms)
	tr.Cut(1, 300*ms, ledger.FaultCrashed)
	w.verdict = packet.Drop
	tr.RunUntil(engine.Never)
	// The second request waits from 0.2 s until the process ends, and gives its new connection 0.5 s.
	if got := last(t, led); got.Arrival != 200*ms || got.End != 800*ms {
		t.Errorf("%+v", got)
	}
}

func TestAClientClosesWhatIsIdleTooLong(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
	tr, led := pool(t, Spec{Clients: 1, ClientIdle: 50 * ms, Timeout: sec, RTT: ms}, w)
	tr.RunUntil(150 * ms)
	w.verdict = packet.Reject
	tr.RunUntil(250 * ms)
	if all := led.All(); all.Failed != 1 {
		t.Errorf("%+v", all)
	}
}

func TestPendingIsTakenInOrder(t *testing.T) {
	t.Parallel()
	var h heap[pending]
	s := engine.NewStream(1, "test", "pending")
	for i := uint64(0); i < 2000; i++ {
		h.push(pending{at: engine.Time(engine.Below(s.Draw(i), 100)), seq: i})
	}
	before := h.pop()
	for len(h) > 0 {
		p := h.pop()
		if p.at < before.at || p.at == before.at && p.seq < before.seq {
			t.Fatalf("%d/%d after %d/%d", p.at, p.seq, before.at, before.seq)
		}
		before = p
	}
}

// A SYN at 1 s is swallowed; the one of 2 s is accepted, and the answer takes 4.5 s: half a second
// too late, which it would not have been without the wait. One that takes 5.5 s would.
func TestAnAnswerThatIsLateForALostSYNIsPutDownToThat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes engine.Time
		want  []ledger.Fault
	}{
		{4500 * ms, []ledger.Fault{ledger.FaultDropped}},
		{5500 * ms, []ledger.Fault{ledger.FaultDropped, ledger.FaultLate}},
	} {
		s := up()
		s.takes = c.takes
		w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{s}}
		tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, w)
		tr.RunUntil(1500 * ms)
		w.verdict = packet.Endpoints
		tr.RunUntil(engine.Never)
		if got := last(t, led); got.Outcome != ledger.Timeout || got.End != 6*sec || !slices.Equal(w.judged, c.want) {
			t.Errorf("answered after %s s: %+v, judged %v", c.takes.Seconds(), got, w.judged)
		}
	}
}
