package traffic

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// pooledRun is a stream over a pool to three servers. One closes its idle connections at 10 s, a load balancer
// cuts a third of all at 15 s, 16 s and 17 s, and another server ends at 20 s.
func pooledRun(t *testing.T, spec Spec, drawn bool) (account string, calm []bool, heard listens) {
	t.Helper()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 10000, eng.Hash())
	led.Listen(&heard)
	var servers []*fakeServer
	for i := range 3 {
		servers = append(servers, &fakeServer{id: uint64(i), accepts: true, answers: true, takes: engine.Time(20+10*i) * ms, idle: 3 * sec})
	}
	w := &telling{fakeWorld: &fakeWorld{verdict: packet.Endpoints, servers: servers}}
	tr := newKept(t, w, led, eng, []Spec{spec})
	if drawn {
		tr.DrawAll()
	}
	var until []engine.Time
	at := func(now engine.Time) {
		tr.RunUntil(now)
		calm = append(calm, tr.streams[0].calm.on)
		for i := range servers {
			until = append(until, tr.Until(uint64(i), now))
		}
	}
	at(5 * sec)
	at(10 * sec)
	tr.CloseIdle(0, 10*sec, false)
	at(13 * sec)
	at(15 * sec)
	for k := range uint64(3) {
		now := engine.Time(15+k) * sec
		tr.RunUntil(now)
		tr.CutVia(Leg{0, NoProxy}, now, func(flow uint64, _ int) bool { return flow%3 == k })
	}
	at(20 * sec)
	servers[1].accepts, servers[1].answers = false, false // connections to it that are opened now hang for 4 s
	tr.Changed(20 * sec)
	tr.Cut(1, 20*sec, ledger.FaultKilled)
	tr.CloseIdle(1, 20*sec, true)
	tr.RunUntil(22 * sec)
	w.servers, w.way = []*fakeServer{servers[0], servers[2]}, nil
	tr.Resynced(0, 22*sec)
	at(25 * sec)
	at(30 * sec)
	at(31 * sec)
	tr.Stop(60 * sec)
	tr.RunUntil(engine.Never)
	led.Seal()
	return fmt.Sprintf("%s %+v %v %+v", eng.Hash(), led.All(), until, led.Failures()), calm, heard
}

// Which connection a request takes is found out for many at a time while a stream is calm. The same requests are
// under way whenever somebody asks, and the same are lost, as where each is followed.
func TestAPoolThatIsCalmIsAsOneThatIsFollowed(t *testing.T) {
	t.Parallel()
	base := Spec{Interval: 5 * ms, Timeout: 4 * sec, RTT: 10 * ms, KeepAlive: true, Clients: 40, ClientIdle: sec}
	for _, c := range []struct {
		name   string
		change func(*Spec)
		calm   bool // most requests come while it is
	}{
		{"clients close idle connections", func(*Spec) {}, true},
		{"clients repeat what was reset", func(s *Spec) { s.RepeatReused = true }, true},
		{"clients retry", func(s *Spec) { s.Retries, s.RetryDelay = 2, 2*sec }, true},
		{"constant arrivals", func(s *Spec) { s.Arrivals = Constant }, true},
		{"requests are rare", func(s *Spec) { s.Interval, s.Clients = 150*ms, 10 }, true},
		{"a pool that has no room", func(s *Spec) { s.Clients = 9 }, false},
		{"servers close idle connections", func(s *Spec) { s.ClientIdle = 0 }, false},
		{"a load balancer forgets idle connections", func(s *Spec) { s.IdleLimit, s.IdleForgets = 500*ms, true }, false},
	} {
		spec := base
		c.change(&spec)
		calm := alike(t, c.name, mostly(c.calm, 10), func(drawn bool) (string, []bool, listens) { return pooledRun(t, spec, drawn) })
		if slices.Contains(calm, !c.calm) {
			t.Errorf("%s: calm: %v, want %v", c.name, calm, c.calm)
		}
	}
}

// alike compares a run whose requests are counted with one in which all are followed, and returns when it was calm. times is how many are
// counted for each that is followed, at least.
func alike(t *testing.T, name string, times uint64, run func(drawn bool) (account string, calm []bool, heard listens)) []bool {
	t.Helper()
	counted, calm, heard := run(false)
	drawn, _, all := run(true)
	if counted != drawn {
		t.Errorf("%s: counted\n%.400s\nfollowed\n%.400s", name, counted, drawn)
	}
	if all.counted != 0 || heard.counted < times*heard.begun {
		t.Errorf("%s: %+v, and %+v where all are followed", name, heard, all)
	}
	return calm
}

// mostly is that for a stream that is calm most of the time, 0 for others.
func mostly(calm bool, times uint64) uint64 {
	if calm {
		return times
	}
	return 0
}

// A pool with more than enough room opens one more connection when all are in use, where all answer; one with
// less has the request wait.
func TestAPoolWithMoreThanEnoughRoomNeverHasARequestWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clients int
		wider   bool
	}{{1, false}, {5, false}, {6, true}} {
		var accounts [2]string
		var tr [2]*Traffic
		for i := range tr {
			eng := engine.New(3, engine.Limits{})
			led := ledger.New(1, 10, eng.Hash())
			tr[i] = newKept(t, &telling{fakeWorld: &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}}, led, eng,
				[]Spec{{Interval: 2 * ms, RTT: ms / 10, Timeout: sec, KeepAlive: true, Clients: c.clients}})
			if i == 1 {
				tr[i].DrawAll()
			}
			tr[i].RunUntil(300 * sec)
			accounts[i] = fmt.Sprint(tr[i].Until(1, 300*sec), led.All(), len(tr[i].streams[0].pool))
		}
		if accounts[0] != accounts[1] {
			t.Errorf("%d clients: counted %s, followed %s", c.clients, accounts[0], accounts[1])
		}
		if got := len(tr[0].streams[0].pool); got > c.clients != c.wider || got > c.clients+3 {
			t.Errorf("%d clients have %d connections", c.clients, got)
		}
	}
}
