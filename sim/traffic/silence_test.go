package traffic

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// sending is a load balancer in front of two nodes. It says when it sends connections elsewhere; whom it
// blames changes every second.
type sending struct {
	*fakeWorld
	hops   []Hop
	ways   [2]*Way
	judged int
	tr     *Traffic
}

func (w *sending) FirstHops(int) []Hop { return w.hops }
func (w *sending) FirstHop(_ Leg, flow uint64, last int) Hop {
	if len(w.hops) == 0 {
		return Hop{Member: -1, Node: -1, Fault: ledger.FaultNoTarget}
	}
	for _, f := range w.hops {
		if f.Member == last {
			return f
		}
	}
	return w.hops[engine.Below(flow, len(w.hops))]
}
func (w *sending) Enter(_, node int) *Way { return w.ways[node] }
func (w *sending) Judge(_ Leg, _, _ int, _ netip.AddrPort, f ledger.Fault) ledger.Blame {
	w.judged++
	return ledger.Blame{Cause: ledger.Cause(f) + 1, Actor: ledger.Actor(w.tr.Clock() / sec % engine.Time(ledger.NumActors))}
}

// newSending leads to a server through node 0, and to nothing through node 1: to its rules, which drop,
// or past them to an address where nothing is.
func newSending(past bool) *sending {
	w := &sending{fakeWorld: &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}}
	w.ways = [2]*Way{w.fakeWorld.Enter(0, 0), {Verdict: packet.Drop}}
	w.hops = []Hop{{Member: 0, Node: 0}, {Member: 1, Node: 1}}
	if past {
		w.hops[1] = Hop{Member: 1, Node: -1, Target: &Target{Addr: netip.MustParseAddrPort("10.9.9.9:80"), Server: &fakeServer{id: 7}}}
	}
	return w
}

// What comes to nothing at 10 s goes elsewhere by 16 s: to another node, to a rule, past all of them.
func TestRequestsThatNobodyHearsAreLostAlikeWhetherFollowedOrNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		past   bool
		change func(w *sending)
	}{
		{"as it was", false, func(*sending) {}},
		{"nothing at the address, as it was", true, func(*sending) {}},
		{"the load balancer leaves it out", true, func(w *sending) { w.hops = w.hops[:1]; w.tr.Redirected(0, 16*sec); w.tr.Redirected(1, 16*sec) }},
		{"nothing has changed", true, func(w *sending) { w.tr.Resynced(0, 16*sec) }},
		{"nothing has changed, and then the load balancer leaves it out", true, func(w *sending) {
			for at := 16 * sec; at < 20*sec; at += 300 * ms {
				w.tr.RunUntil(at)
				w.tr.Resynced(0, at)
			}
			w.hops = w.hops[:1]
			w.tr.Redirected(0, 20*sec)
			w.tr.Redirected(1, 20*sec)
		}},
		{"the load balancer has no target", false, func(w *sending) { w.hops = nil; w.tr.Redirected(0, 16*sec); w.tr.Redirected(1, 16*sec) }},
		{"the node has an endpoint", false, func(w *sending) { w.ways[1] = w.ways[0]; w.tr.Resynced(1, 16*sec) }},
		{"the node refuses", false, func(w *sending) { w.ways[1] = &Way{Verdict: packet.Reject}; w.tr.Resynced(1, 16*sec) }},
		{"the node dies", false, func(w *sending) { w.tr.NodeGone(1, nil, 16*sec) }},
	} {
		for _, arrivals := range []Arrivals{Poisson, Constant} {
			var texts [2]string
			var judged [2]int
			for i := range texts {
				w := newSending(c.past)
				eng := engine.New(1, engine.Limits{})
				led := ledger.New(2, 10000, eng.Hash())
				w.tr = newKept(t, w, led, eng, []Spec{
					{Interval: 20 * ms, Arrivals: arrivals, Timeout: 10 * sec, RTT: ms},
					{Interval: 20 * ms, Arrivals: arrivals, Timeout: 4 * sec, RTT: ms, Retries: 1},
				})
				if i == 1 {
					w.tr.DrawAll()
				}
				w.tr.RunUntil(16 * sec)
				if kept := len(w.tr.streams[0].silence.list) + len(w.tr.streams[1].silence.list); kept == 0 && i == 0 {
					t.Errorf("%s: each request is followed", c.name)
				}
				if passed := w.tr.streams[0].silence.passed; passed != (i == 0 && c.past && arrivals == Poisson) {
					t.Errorf("%s, arrivals %v, drawn %v: repeats are passed over: %v", c.name, arrivals, i == 1, passed)
				}
				c.change(w)
				w.tr.Stop(30 * sec)
				w.tr.RunUntil(engine.Never)
				led.Seal()
				texts[i], judged[i] = fmt.Sprintf("%s %+v %+v", eng.Hash(), led.All(), led.Failures()), w.judged
				if !w.tr.Idle() || led.All().Failed < 10 {
					t.Errorf("%s: idle %v, %+v", c.name, w.tr.Idle(), led.All())
				}
			}
			if texts[0] != texts[1] {
				t.Errorf("%s, arrivals %v: kept\n%.400s\nfollowed\n%.400s", c.name, arrivals, texts[0], texts[1])
			}
			if judged[0] > judged[1] {
				t.Errorf("%s: judged %d times, and %d where each is followed", c.name, judged[0], judged[1])
			}
		}
	}
}
