package traffic

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A question at 1 s over UDP: 2 s, no retry, a round trip of 1 ms.
func TestWhatBecomesOfAQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		world   *fakeWorld
		outcome ledger.Outcome
		end     engine.Time
		fault   ledger.Fault
	}{
		{"rejected by the rules: ICMP says so", &fakeWorld{verdict: packet.Reject}, ledger.Refused, sec + ms, ledger.FaultRejected},
		{"dropped: silence", &fakeWorld{verdict: packet.Drop}, ledger.Timeout, 3 * sec, ledger.FaultDropped},
		{"the pod's port is closed: ICMP says so", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1, answers: true}}}, ledger.Refused, sec + ms, ledger.FaultNoListener},
		{"nothing at the address: silence", &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1}}}, ledger.Timeout, 3 * sec, ledger.FaultNoAnswer},
	} {
		tr, led := one(t, Spec{Timeout: 2 * sec, RTT: ms, Kind: Datagram}, c.world)
		tr.RunUntil(engine.Never)
		if got := last(t, led); got.Outcome != c.outcome || got.End != c.end || len(c.world.judged) != 1 || c.world.judged[0] != c.fault {
			t.Errorf("%s: %+v, %v", c.name, got, c.world.judged)
		}
	}
}

// No SYN is repeated: the client itself asks again after 2 s, as a flow of its own.
func TestAQuestionIsAskedAgainByTheClientOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		from engine.Time // when the rules no longer drop
		ok   uint64
	}{
		{"rules that recover before it asks again", 2900 * ms, 1},
		{"rules that recover after that", 3100 * ms, 0},
	} {
		w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{up()}}
		tr, led := one(t, Spec{Timeout: 2 * sec, RTT: ms, Retries: 1, Kind: Datagram}, w)
		tr.RunUntil(c.from)
		w.verdict = packet.Endpoints
		tr.RunUntil(engine.Never)
		if all := led.All(); all.OK != c.ok || all.Rescued != c.ok || all.Attempts != 2 {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// Nothing tells a client over UDP that its server has ended: it waits for its 2 s.
func TestAnAnswerOverUDPThatIsCutIsATimeout(t *testing.T) {
	t.Parallel()
	s := up()
	s.takes = sec
	tr, led := one(t, Spec{Timeout: 2 * sec, RTT: ms, Kind: Datagram}, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{s}})
	tr.RunUntil(1500 * ms)
	tr.Cut(1, 1500*ms, ledger.FaultKilled)
	tr.RunUntil(engine.Never)
	if got := last(t, led); got.Outcome != ledger.Timeout || got.End != 3*sec || led.All().Failed != 1 {
		t.Errorf("%+v", got)
	}
}

// One client asks each 100 ms from one port. Its server is gone at 1.05 s, and the rules lead to
// another one since. The client's flow stays, until the clean-up of 2.05 s; those of a client
// with a port for each question move at once.
func TestAPinnedFlow(t *testing.T) {
	t.Parallel()
	other := netip.MustParseAddrPort("10.0.0.2:80")
	gone := netip.MustParseAddrPort("10.0.0.1:80")
	for _, c := range []struct {
		name    string
		kind    Kind
		serving []netip.AddrPort // what the clean-up finds
		answers bool             // the pod's kernel
		failed  uint64           // of the questions from 1.1 to 3.0 s
		outcome ledger.Outcome
		fault   ledger.Fault
	}{
		{"a port each: new flows, nothing lost", Datagram, nil, false, 0, 0, 0},
		{"one port: pinned until the clean-up", FixedFlow, []netip.AddrPort{other}, false, 10, ledger.Timeout, ledger.FaultPinned},
		{"the pod's kernel is still there: refused until the clean-up", FixedFlow, []netip.AddrPort{other}, true, 10, ledger.Refused, ledger.FaultPinnedShut},
		{"the endpoint is still said to serve: no clean-up", FixedFlow, []netip.AddrPort{gone, other}, false, 20, ledger.Timeout, ledger.FaultPinned},
		{"nothing serves: no clean-up", FixedFlow, nil, false, 20, ledger.Timeout, ledger.FaultPinned},
	} {
		old, next := up(), up()
		next.id = 2
		w := &moving{fakeWorld: fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{old, next}}}
		tr, led := calls(t, Spec{Kind: c.kind, Clients: 1, Timeout: 2 * sec, RTT: ms}, w)
		tr.RunUntil(1050 * ms)
		old.accepts, old.answers, w.only = false, c.answers, 1
		tr.RunUntil(2050 * ms)
		tr.Clean(0, 0, c.serving)
		tr.Stop(3050 * ms)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Total != 30 || all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
			continue
		}
		if c.failed > 0 && (last(t, led).Outcome != c.outcome || w.judged[0] != c.fault) {
			t.Errorf("%s: %+v, %v", c.name, last(t, led), w.judged)
		}
	}
}

// A flow is forgotten 120 s after its last answer, 30 s after a question without one.
func TestAFlowIsForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		dead   bool // from the beginning
		every  engine.Time
		failed uint64 // of two questions
	}{
		{"answered, asked again after 119 s: the same flow", false, 119 * sec, 1},
		{"answered, asked again after 121 s: a new one", false, 121 * sec, 0},
		{"not answered, asked again after 29 s", true, 29 * sec, 2},
		{"not answered, asked again after 31 s", true, 31 * sec, 1},
	} {
		old, next := up(), up()
		next.id = 2
		old.accepts, old.answers = !c.dead, !c.dead
		w := &moving{fakeWorld: fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{old, next}}}
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 10, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{{Kind: FixedFlow, Interval: c.every, Arrivals: Constant, Clients: 1, Timeout: 2 * sec, RTT: ms}})
		tr.RunUntil(c.every + 1)
		old.accepts, old.answers, w.only = false, false, 1
		tr.Stop(2*c.every + 1)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Total != 2 || all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// moving is a world whose rules lead to one of its servers.
type moving struct {
	fakeWorld
	only int
}

func (w *moving) Enter(stream, node int) *Way {
	way := w.fakeWorld.Enter(stream, node)
	way.Targets = way.Targets[w.only : w.only+1]
	return way
}
