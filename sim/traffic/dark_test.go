package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Two sessions lose their server at 1.02 s; until 4 s the rules reject, and clients dial again at 2.02
// and some 1.6 s later, and then some 2.56 s later. Their operations wait and are answered late: a
// session is without a server for all that time.
func TestASessionWithoutAServerIsDarkWhoeverWaited(t *testing.T) {
	t.Parallel()
	w, old, next := two()
	tr, led := calls(t, Spec{Kind: Session, Clients: 2, Timeout: 30 * sec, RTT: ms}, w)
	at := 1060 * ms
	tr.RunUntil(at)
	w.verdict, old.accepts = packet.Reject, false
	tr.Cut(1, at, ledger.FaultExited)
	tr.CloseIdle(1, at, true)
	tr.RunUntil(4 * sec)
	w.verdict, w.servers = packet.Endpoints, []*fakeServer{next}
	tr.RunUntil(30 * sec)
	all, d := led.All(), tr.Dark(0, 30*sec)
	// A dial 1 s after the first, and one 1.28 to 1.92 s later, fail; the next one is 2.04 to 3.08 s later.
	low, high := 4320*ms, 6000*ms
	if all.Failed != 0 || d.Mean < low || d.Mean > high || d.Longest < d.Mean || d.Longest > high || d.All < low || d.All > d.Mean {
		t.Errorf("%+v, dark for %+v", all, d)
	}
	if late := engine.Time(all.Slow) * 100 * ms; late < d.Mean-2*sec || late > d.Mean {
		t.Errorf("%d slow", all.Slow)
	}
}

// Who is connected again at once was not without a server, and who never is was so until the end.
func TestDarknessHasAnEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		verdict packet.Verdict
		want    Dark
	}{
		{"another server is there", packet.Endpoints, Dark{}},
		{"no other comes", packet.Drop, Dark{Mean: 8 * sec, Longest: 8 * sec, All: 8 * sec}},
	} {
		w, old, next := two()
		tr, _ := calls(t, Spec{Kind: Session, Clients: 1, Timeout: sec}, w)
		tr.RunUntil(2 * sec)
		w.verdict, w.servers, old.accepts = c.verdict, []*fakeServer{next}, false
		tr.CloseIdle(1, 2*sec, true)
		tr.RunUntil(10 * sec)
		tr.Stop(10 * sec)
		if got := tr.Dark(0, 12*sec); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A node that is gone takes the server along at once, whenever the client finds out.
func TestASessionThroughANodeThatIsGoneIsDarkFromThenOn(t *testing.T) {
	t.Parallel()
	world, _, _ := two()
	w := &routed{fakeWorld: world}
	eng := engine.New(1, engine.Limits{})
	tr := newKept(t, w, ledger.New(1, 1000, eng.Hash()), eng, []Spec{{Kind: Session, Clients: 1, Timeout: sec, RTT: ms, Interval: 100 * ms, Arrivals: Constant}})
	tr.RunUntil(1020 * ms)
	w.node = 1
	tr.NodeGone(0, nil, 1020*ms)
	tr.RunUntil(5 * sec)
	// What was asked at 1 s times out at 2 s: then it dials, and node 1 has a server for it.
	if want := (Dark{980 * ms, 980 * ms, 980 * ms}); tr.Dark(0, 5*sec) != want {
		t.Errorf("%+v, want %+v", tr.Dark(0, 5*sec), want)
	}
}

// Who has a connection for each request has no session that could be dark.
func TestOnlySharedConnectionsAreDark(t *testing.T) {
	t.Parallel()
	tr, _ := one(t, Spec{Timeout: sec}, &fakeWorld{verdict: packet.Drop})
	tr.RunUntil(engine.Never)
	if d := tr.Dark(0, 5*sec); d != (Dark{}) {
		t.Errorf("%+v", d)
	}
}
