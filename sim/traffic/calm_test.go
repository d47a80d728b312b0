package traffic

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// telling is a world whose one node is named, and that says when something changes.
type telling struct {
	*fakeWorld
	way *Way
}

func (w *telling) FirstHops(int) []Hop { return []Hop{{Member: 0, Node: 0}} }
func (w *telling) Enter(stream, node int) *Way {
	if w.way == nil {
		w.way = w.fakeWorld.Enter(stream, node)
	}
	return w.way
}

// listens counts the requests that are counted.
type listens struct{ counted, begun uint64 }

func (l *listens) Begin(int, uint64, engine.Time)                     { l.begun++ }
func (l *listens) Counted(_ int, _, n uint64)                         { l.counted += n }
func (*listens) AttemptFailed(int)                                    {}
func (*listens) Succeed(int, uint64, uint64, engine.Time, bool, bool) {}
func (*listens) Revoke(int, uint64, bool, bool)                       {}
func (*listens) Fail(*ledger.Request)                                 {}

// Of three servers one ends after 10 s, with requests in flight, another one 1 s later, and their node's
// rules hear of both at 12 s. Whether requests are counted or followed, the same ones are lost; counted are
// all that come while all servers answer, and of the others those that go to one that does.
func TestCountedAndFollowedRequestsAreLostAlike(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{
		{Interval: ms, Timeout: sec, RTT: ms},
		{Interval: ms, Arrivals: Constant, Timeout: sec, RTT: ms, Retries: 1, RetryDelay: ms},
		{Interval: 2 * ms, Timeout: sec, RTT: ms, KeepAlive: true, Clients: 100},
		{Interval: 2 * ms, Timeout: sec, RTT: ms, Kind: HTTP2, Clients: 20},
		{Interval: 2 * ms, Timeout: sec, RTT: ms, Kind: Datagram},
	} {
		var texts [2]string
		var heard [2]listens
		var until [2][2]engine.Time
		for i := range texts {
			eng := engine.New(1, engine.Limits{})
			led := ledger.New(1, 10000, eng.Hash())
			led.Listen(&heard[i])
			a, b, c := up(), up(), up()
			a.takes, b.id, b.takes, c.id, c.takes = 50*ms, 2, 20*ms, 3, 40*ms
			w := &telling{fakeWorld: &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{a, c, b}}}
			tr := newKept(t, w, led, eng, []Spec{spec})
			if i == 1 {
				tr.DrawAll()
			}
			for k, s := range []*fakeServer{a, c} {
				now := engine.Time(10+k) * sec
				tr.RunUntil(now - 100*ms)
				until[i][k] = tr.Until(s.id, now-100*ms)
				tr.RunUntil(now)
				s.accepts = false
				tr.Changed(now)
				tr.Cut(s.id, now, ledger.FaultKilled)
				tr.CloseIdle(s.id, now, true)
			}
			tr.RunUntil(12 * sec)
			w.servers, w.way = w.servers[2:], nil
			w.Enter(0, 0).Targets[0].Server = b
			tr.Resynced(0, 12*sec)
			tr.Stop(20 * sec)
			tr.RunUntil(engine.Never)
			led.Seal()
			texts[i] = fmt.Sprintf("%s %+v %+v", eng.Hash(), led.All(), led.Failures())
			if all := led.All(); all.Failed+all.Rescued < 5 {
				t.Errorf("%+v: too few were lost to compare: %+v", spec, all)
			}
		}
		if texts[0] != texts[1] || until[0] != until[1] {
			t.Errorf("%+v: counted\n%.300s\nfollowed\n%.300s\nin flight until %v and %v", spec, texts[0], texts[1], until[0], until[1])
		}
		if h := heard[0]; h.counted < 5*h.begun || heard[1].counted != 0 {
			t.Errorf("%+v: %+v, and %+v where all are followed", spec, heard[0], heard[1])
		}
	}
}
