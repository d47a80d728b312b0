package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// routed is a fakeWorld with two nodes: what is new goes to the one that it is set to, what went to a
// node before stays there if stays is set.
type routed struct {
	*fakeWorld
	node  int
	stays bool
}

func (w *routed) FirstHop(_ Leg, _ uint64, last int) Hop {
	if w.stays && last >= 0 {
		return Hop{Member: last, Node: last}
	}
	return Hop{Member: w.node, Node: w.node}
}

// A client asks each 100 ms, over connections through node 0, which is gone at 1.02 s; new ones go to
// node 1. A request that was written at 1 s is under way.
func TestConnectionsThroughANodeThatIsGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spec   Spec
		failed uint64      // all of them time out
		last   engine.Time // arrival of the last of them
		cuts   uint64
	}{
		// The one connection is taken for well until the request on it has timed out, at 2 s; the nine others
		// wait for it.
		{"a pool of one", Spec{KeepAlive: true, Clients: 1, Kind: PerRequest}, 1, sec, 0},
		{"HTTP/2: ten more calls are written until the first one times out", Spec{Kind: HTTP2, Clients: 1}, 11, 2 * sec, 1},
		{"a session", Spec{Kind: Session, Clients: 1}, 11, 2 * sec, 1},
		{"a connection each: the one under way", Spec{Kind: PerRequest}, 1, sec, 0},
		{"a flow over UDP: one that stood", Spec{Kind: FixedFlow, Clients: 1}, 1, sec, 0},
	} {
		world, _, _ := two()
		w := &routed{fakeWorld: world}
		c.spec.Timeout, c.spec.RTT, c.spec.Interval, c.spec.Arrivals = sec, ms, 100*ms, Constant
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 1000, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{c.spec})
		tr.RunUntil(1020 * ms)
		w.node = 1
		tr.NodeGone(0, nil, 1020*ms)
		tr.RunUntil(5 * sec)
		all := led.All()
		if all.Failed != c.failed || tr.Cuts(0) != c.cuts {
			t.Errorf("%s: %+v, %d cut", c.name, all, tr.Cuts(0))
			continue
		}
		if f := last(t, led); f.Outcome != ledger.Timeout || f.Arrival != c.last || f.End != f.Arrival+sec {
			t.Errorf("%s: %+v", c.name, f)
		}
		for _, fault := range w.judged {
			if fault != ledger.FaultNodeGone {
				t.Errorf("%s: judged as %d", c.name, fault)
			}
		}
	}
}

// A server that ends does not reach clients through a node that is gone: they find out by themselves.
func TestAServersEndDoesNotGetThroughANodeThatIsGone(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{{KeepAlive: true, Clients: 1}, {Kind: Session, Clients: 1}} {
		world, _, next := two()
		w := &routed{fakeWorld: world}
		spec.Timeout, spec.RTT, spec.Interval, spec.Arrivals = sec, ms, 100*ms, Constant
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 1000, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{spec})
		tr.RunUntil(1060 * ms) // nothing is under way
		w.node, w.servers = 1, []*fakeServer{next}
		tr.NodeGone(0, nil, 1060*ms)
		tr.Cut(1, 1070*ms, ledger.FaultExited)
		tr.CloseIdle(1, 1070*ms, true)
		tr.RunUntil(1090 * ms)
		tr.RunUntil(5 * sec)
		if f := led.Failures(); len(f) == 0 || f[0].Arrival != 1100*ms || f[0].Outcome != ledger.Timeout || f[0].End != 2100*ms {
			t.Errorf("%d: %+v", spec.Kind, f)
		}
	}
}

// A SYN to a node that is gone is not answered; the next one may be sent elsewhere, where it is: 1 s
// later. Where it stays, the client waits in vain.
func TestASYNToANodeThatIsGone(t *testing.T) {
	t.Parallel()
	for _, stays := range []bool{true, false} {
		world, _, _ := two()
		w := &routed{fakeWorld: world, stays: stays}
		tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, w)
		tr.NodeGone(0, nil, 0)
		tr.RunUntil(1500 * ms)
		w.node = 1
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Failed != uint64(btoi(stays)) || all.Slow != uint64(1-btoi(stays)) {
			t.Errorf("stays %v: %+v", stays, all)
		}
		for _, fault := range w.judged {
			if fault != ledger.FaultNodeDead {
				t.Errorf("judged as %d", fault)
			}
		}
		if stays && (last(t, led).Outcome != ledger.Timeout || last(t, led).End != 6*sec) {
			t.Errorf("%+v", last(t, led))
		}
	}
}

// What was answered before is none of it, and an error that was on its way is not counted twice.
func TestAnswersOfBefore(t *testing.T) {
	t.Parallel()
	for _, errs := range []bool{false, true} {
		world, old, _ := two()
		old.errs, old.takes = errs, 500*ms
		tr, led := one(t, Spec{Timeout: 5 * sec, RTT: ms}, &routed{fakeWorld: world})
		at := 1600 * ms
		if errs {
			at = 1400 * ms
		}
		tr.RunUntil(at)
		tr.NodeGone(0, nil, at)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Total != 1 || all.Failed != uint64(btoi(errs)) {
			t.Errorf("errors %v: %+v", errs, all)
		}
		if errs && last(t, led).Outcome != ledger.Timeout {
			t.Errorf("%+v", last(t, led))
		}
	}
}

// Without a timeout of its own the client's kernel gives up, some time.
func TestAClientWithoutPatienceOfItsOwn(t *testing.T) {
	t.Parallel()
	world, old, _ := two()
	old.takes = sec
	tr, led := one(t, Spec{RTT: ms}, &routed{fakeWorld: world})
	tr.RunUntil(1500 * ms)
	tr.NodeGone(0, nil, 1500*ms)
	tr.RunUntil(engine.Never)
	if f := last(t, led); f.End != 1500*ms+127*sec {
		t.Errorf("%+v", f)
	}
}

// A server dies with its machine, and a request comes to it by way of another node: it is not answered, be it under way, over a
// connection that stands or the SYN of a new one. No router knows that nothing is there.
func TestAServerThatGoesWithItsMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spec   Spec
		failed uint64
		fault  ledger.Fault // of the last
	}{
		{"a connection each", Spec{Kind: PerRequest}, 40, ledger.FaultNoAnswer},
		{"with a router that would say so", Spec{Kind: PerRequest, Unreachable: true, UnreachableAfter: 10 * ms}, 40, ledger.FaultNoAnswer},
		{"a pool of one", Spec{KeepAlive: true, Clients: 1, Kind: PerRequest}, 40, ledger.FaultNoAnswer},
		{"a flow over UDP", Spec{Kind: FixedFlow, Clients: 1}, 40, ledger.FaultNodeGone},
	} {
		w, old, _ := two()
		c.spec.Timeout, c.spec.RTT, c.spec.Interval, c.spec.Arrivals = sec, ms, 100*ms, Constant
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 1000, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{c.spec})
		tr.RunUntil(1020 * ms)
		old.accepts, old.answers = false, false
		tr.NodeGone(7, []uint64{old.id}, 1020*ms)
		tr.Stop(5 * sec)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
			continue
		}
		for _, f := range led.Failures() {
			if f.Outcome != ledger.Timeout {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if got := w.judged[len(w.judged)-1]; got != c.fault || w.judged[0] != ledger.FaultNodeGone {
			t.Errorf("%s: judged as %v", c.name, w.judged)
		}
	}
}

// When the machine is back, what is written over connections of before is answered with a reset, and new ones are accepted.
func TestAMachineThatComesBackKnowsNoConnections(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{{KeepAlive: true, Clients: 1}, {Kind: Session, Clients: 1}, {Kind: HTTP2, Clients: 1}} {
		w, old, _ := two()
		spec.Timeout, spec.RTT, spec.Interval, spec.Arrivals = sec, ms, 100*ms, Constant
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 1000, eng.Hash())
		tr := newKept(t, w, led, eng, []Spec{spec})
		tr.RunUntil(1070 * ms) // nothing is under way
		old.accepts, old.answers = false, false
		tr.NodeGone(7, []uint64{old.id}, 1070*ms)
		tr.RunUntil(1080 * ms)
		old.accepts, old.answers = true, true
		tr.NodeBack(7, []uint64{old.id}, 1080*ms)
		tr.Stop(5 * sec)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Failed != 0 || all.Total == 0 {
			t.Errorf("%+v: %+v", spec, all)
		}
	}
}
