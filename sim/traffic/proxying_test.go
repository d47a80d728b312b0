package traffic

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// servedWorld has a proxy that is the Server 0, and two Servers behind it, of which flows choose
// one by chance.
type servedWorld struct {
	fakeWorld
	behind [2]*fakeServer
	chosen int // how often somebody behind the proxy was
}

func newServedWorld() *servedWorld {
	w := &servedWorld{behind: [2]*fakeServer{up(), up()}}
	w.servers = []*fakeServer{up()}
	w.servers[0].id, w.behind[1].id = 0, 2
	return w
}

func (w *servedWorld) FirstHop(leg Leg, flow uint64, last int) Hop {
	if leg.Proxy == NoProxy {
		return Hop{Member: 0, Node: -1, Target: &Target{Addr: netip.MustParseAddrPort("10.0.0.1:80"), Server: w.servers[0]}}
	}
	if w.chosen++; last < 0 {
		last = engine.Below(flow, len(w.behind))
	}
	return Hop{Member: last, Node: -1, Target: &Target{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(last)}), 80), Server: w.behind[last]}}
}

// silence has nobody answer behind the proxy.
func (w *servedWorld) silence(silent bool) {
	for _, s := range w.behind {
		s.answers, s.accepts = !silent, !silent
	}
}

// One connection of a client carries one request at a time, however often the proxy asks another
// pod for it: with a retry, each request takes 2 s here, and 5 come to their end in 10.5 s.
func TestAClientsConnectionIsBusyDuringRetries(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	w.silence(true)
	tr, led := pool(t, Spec{Clients: 1, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms, Retries: 1, ConnectTimeout: sec}}, w)
	tr.RunUntil(10500 * ms)
	if all := led.All(); all.Failed != 5 || led.Failures()[0].Outcome != ledger.HTTP5xx {
		t.Errorf("%+v, want 5 http-5xx", all)
	}
}

// How long the client takes to connect to the proxy is no matter of what the proxy waits for, nor is
// a proxy patient for ever that has no limit of its own: the client's timeout ends that.
func TestAProxyHasAConnectTimeoutOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		own     engine.Time
		outcome ledger.Outcome
		end     engine.Time
	}{
		{"its own is longer than the client's", 4 * sec, ledger.HTTP5xx, 5*sec + ms},
		{"it has none", 0, ledger.Timeout, 7 * sec},
		{"its answer is on the way when the client gives up", 6*sec - ms/2, ledger.Timeout, 7 * sec},
	} {
		w := newServedWorld()
		w.silence(true)
		tr, led := one(t, Spec{Timeout: 6 * sec, ConnectTimeout: 200 * ms, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms, ConnectTimeout: c.own}}, w)
		tr.RunUntil(20 * sec)
		if r := last(t, led); r.Outcome != c.outcome || r.End != c.end || r.Ingress == "" {
			t.Errorf("%s: %s at %s s, want %s at %s s", c.name, r.Outcome, r.End.Seconds(), c.outcome, c.end.Seconds())
		}
	}
}

// A proxy without a limit of its own waits for the pod that it tries last as long as the client
// does, and has work until then.
func TestAProxyIsNotDoneDuringRetries(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	for _, s := range w.behind {
		s.accepts = false // refused
	}
	tr, _ := one(t, Spec{Timeout: 6 * sec, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms, Retries: 1}}, w)
	tr.RunUntil(sec + ms) // refused once; the second try meets nobody
	w.silence(true)
	tr.RunUntil(2 * sec)
	if until := tr.Until(0, 2*sec); until < 7*sec {
		t.Errorf("done at %s s, the client waits until 7 s", until.Seconds())
	}
}

// A client whose proxy ends asks again, and so does one that has an error of it.
func TestAClientRetriesWhatAProxyFailed(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		w := newServedWorld()
		w.silence(true)
		tr, led := one(t, Spec{Timeout: 20 * sec, RTT: ms, Retries: 1, Proxy: &Proxy{Served: true, RTT: ms, ConnectTimeout: sec}}, w)
		tr.RunUntil(1500 * ms)
		w.silence(false)
		if ends {
			tr.Cut(0, 1500*ms, ledger.FaultKilled)
			tr.CloseIdle(0, 1500*ms, true)
		}
		tr.RunUntil(30 * sec)
		if all := led.All(); all.OK != 1 || all.Rescued != 1 || !tr.Idle() {
			t.Errorf("the proxy ends %v: %+v, want one that was rescued", ends, all)
		}
	}
}

// rescues counts those that are told of, and of those that are taken back again.
type rescues struct{ told, revoked int }

func (*rescues) Begin(int, uint64, engine.Time) {}
func (*rescues) Counted(int, uint64, uint64)    {}
func (*rescues) AttemptFailed(int)              {}
func (*rescues) Fail(*ledger.Request)           {}
func (r *rescues) Succeed(_ int, _, _ uint64, _ engine.Time, rescued, _ bool) {
	if rescued {
		r.told++
	}
}

func (r *rescues) Revoke(_ int, _ uint64, rescued, _ bool) {
	if rescued {
		r.revoked++
	}
}

// The proxy has found another pod for a request, and ends before that has answered: nothing was
// rescued.
func TestARescueOfAProxyThatEndsIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	for _, s := range w.behind {
		s.accepts, s.takes = false, sec
	}
	tr, led := one(t, Spec{Timeout: 6 * sec, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms, Retries: 1}}, w)
	var heard rescues
	led.Listen(&heard)
	tr.RunUntil(sec + ms)
	w.silence(false)
	tr.RunUntil(1500 * ms)
	tr.Cut(0, 1500*ms, ledger.FaultKilled)
	if all := led.All(); heard != (rescues{1, 1}) || all.Rescued != 0 || all.Failed != 1 || last(t, led).Outcome != ledger.Reset {
		t.Errorf("%+v, %+v, want a rescue that was taken back", heard, all)
	}
}

// A proxy that shuts down closes a connection with the answer to what it carries, whenever that
// comes: what is asked after that goes over a new one.
func TestAProxyClosesAConnectionWithItsAnswer(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	w.silence(true)
	tr, led := pool(t, Spec{Clients: 1, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms, ConnectTimeout: 3 * sec}}, w)
	tr.Stop(150 * ms)
	tr.RunUntil(500 * ms) // the SYN of 0.1 s is repeated at 1.1 s
	tr.CloseIdle(0, 500*ms, false)
	w.silence(false)
	tr.RunUntil(1150 * ms)
	tr.Stop(3 * sec)
	tr.RunUntil(5 * sec)
	if all := led.All(); all.Failed != 0 || all.OK < 10 {
		t.Errorf("%+v", all)
	}
}

// A process of the proxy that comes after another one has none of its connections: with the same two
// pods behind it, it chooses twice for each that it opens, and once for each request over one.
func TestAProxyThatIsBackHasNoConnections(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms}}, w)
	tr.RunUntil(2050 * ms) // 20 requests, over two connections
	if w.chosen != 22 {
		t.Fatalf("chosen %d times, want 22", w.chosen)
	}
	tr.CloseIdle(0, 2060*ms, true)
	tr.RunUntil(4050 * ms)
	if all := led.All(); w.chosen != 44 || all.OK != 40 {
		t.Errorf("chosen %d times, want 44: %+v", w.chosen, all)
	}
}

// The way from a proxy to a pod and back is a part of each answer, beside the client's way to the proxy.
func TestTheWayBehindAProxyTakesItsTime(t *testing.T) {
	t.Parallel()
	answered := func(behind engine.Time) engine.Time {
		var ends answers
		tr, led := one(t, Spec{Timeout: 6 * sec, RTT: 10 * ms, Proxy: &Proxy{Served: true, RTT: behind, ConnectTimeout: sec}}, newServedWorld())
		led.Listen(&ends)
		tr.RunUntil(5 * sec)
		if len(ends) != 1 {
			t.Fatalf("%d answers", len(ends))
		}
		return ends[0]
	}
	if near, far := answered(0), answered(30*ms); near != sec+10*ms+ms || far != near+30*ms {
		t.Errorf("answered at %s s, and at %s s with 30 ms behind the proxy", near.Seconds(), far.Seconds())
	}
}

// Pods end all the time that are behind the proxy, and are none: the proxy keeps its connections to the others.
func TestAProxyKeepsItsConnectionsWhenAPodEnds(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms}}, w)
	tr.RunUntil(2050 * ms)         // 20 requests, over two connections
	tr.CloseIdle(1, 2060*ms, true) // one of the two
	tr.RunUntil(4050 * ms)
	if all := led.All(); w.chosen != 22+20+1 || all.OK != 40 || all.Failed != 0 {
		t.Errorf("chosen %d times, want 43: %+v", w.chosen, all)
	}
}

// takenBack counts answers that are taken back.
type takenBack struct {
	rescues
	n int
}

func (r *takenBack) Revoke(int, uint64, bool, bool) { r.n++ }

// A proxy waits for a pod whose machine is off, and has no answer of it that could be taken back once more when the proxy ends.
func TestAProxyEndsThatWaitsForAMachineThatIsOff(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	for _, s := range w.behind {
		s.takes = sec
	}
	tr, led := one(t, Spec{Timeout: 6 * sec, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms}}, w)
	var heard takenBack
	led.Listen(&heard)
	tr.RunUntil(1500 * ms)
	tr.NodeGone(7, []uint64{1, 2}, 1500*ms)
	tr.Cut(0, 1600*ms, ledger.FaultKilled)
	tr.RunUntil(20 * sec)
	if all := led.All(); heard.n != 1 || all.Failed != 1 || !tr.Idle() {
		t.Errorf("%d answers taken back, %+v", heard.n, all)
	}
}

// Judge blames whom a connection is to: the proxy, or a server behind it.
func (w *servedWorld) Judge(leg Leg, _, _ int, _ netip.AddrPort, _ ledger.Fault) ledger.Blame {
	if leg.Proxy == NoProxy {
		return ledger.Blame{Cause: ledger.StaleLB}
	}
	return ledger.Blame{Cause: ledger.StaleRules}
}

// A request that is answered too late tells of what it waited for: its client's connection to the proxy, of which the proxy knows
// nothing, or the proxy's to a server.
func TestALateRequestThroughAProxyTellsOfWhatItWaitedFor(t *testing.T) {
	t.Parallel()
	spec := Spec{Kind: HTTP2, Clients: 1, WaitForReady: true, Timeout: 1300 * ms, RTT: ms, Proxy: &Proxy{Served: true, RTT: ms}}
	for _, c := range []struct {
		name         string
		silent       func(w *servedWorld, silent bool)
		pod, ingress string
		cause        ledger.Cause
	}{
		{"the proxy is silent", func(w *servedWorld, silent bool) { w.servers[0].answers, w.servers[0].accepts = !silent, !silent }, "pod", "", ledger.StaleLB},
		{"a server is silent", (*servedWorld).silence, "next", "pod", ledger.StaleRules},
	} {
		w := newServedWorld()
		for _, s := range w.behind {
			s.id, s.takes = 2, 500*ms
		}
		tr, led := one(t, spec, w)
		c.silent(w, true)
		tr.RunUntil(1500 * ms) // it is asked at 1 s
		c.silent(w, false)
		tr.RunUntil(5 * sec)
		if r := last(t, led); r.Pod != c.pod || r.Ingress != c.ingress || r.Blame.Cause != c.cause || r.Outcome != ledger.Timeout {
			t.Errorf("%s: %s at %q through %q, put down to %v; want a timeout at %q through %q, put down to %v", c.name, r.Outcome, r.Pod, r.Ingress, r.Blame.Cause, c.pod, c.ingress, c.cause)
		}
	}
}
